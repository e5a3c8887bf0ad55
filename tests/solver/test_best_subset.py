"""Best subset selection without a ridge, or with hardly one, held against enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import parsifal as pf
import parsifal._core as core
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.solver.root import Root

SEEDS = range(60)
REL_GAP = 1e-6


def case(seed: int) -> dict[str, Any]:
    """A small problem: plain, correlated, with equal or dependent columns, either form, some columns forced."""
    rng = np.random.default_rng([18, seed])
    n, p = int(rng.integers(6, 30)), int(rng.integers(3, 12))
    X = rng.standard_normal((n, p))
    if rng.random() < 0.4:
        X = X @ (np.eye(p) + 2 * rng.random() * rng.standard_normal((p, p)) * (rng.random((p, p)) < 0.3))
    if rng.random() < 0.25:
        X[:, 0] = X[:, -1]
    if rng.random() < 0.25:
        X[:, 1] = X[:, -1] + X[:, 0]
    y = X @ (rng.standard_normal(p) * (rng.random(p) < 0.4)) + (0.1 + rng.random()) * rng.standard_normal(n)
    order = rng.permutation(p)
    return {
        "X": X,
        "y": y,
        "k": int(rng.integers(1, min(p, 6) + 1)),
        "gamma": float(rng.choice([np.inf, np.inf, 1e8, 1e5, 0.5])),
        "penalty": float(rng.choice([0.0, 0.0, 0.3])),
        "force_in": [int(order[0])] if rng.random() < 0.3 else None,
        "force_out": [int(order[1])] if rng.random() < 0.3 else None,
    }


def optimum(X: Any, y: Any, k: int, gamma: float, penalty: float, force_in: Any, force_out: Any) -> float:
    """The least objective, by NumPy's least squares on every support."""
    forced = list(force_in or [])
    free = [j for j in range(X.shape[1]) if j not in forced and j not in (force_out or [])]
    ridge, best = 0.0 if np.isinf(gamma) else 1 / gamma, np.inf
    for size in range(k - len(forced) + 1):
        for more in combinations(free, size):
            support = forced + list(more)
            A = np.vstack([X[:, support], np.sqrt(ridge) * np.eye(len(support))])
            b = np.concatenate([y, np.zeros(len(support))])
            w = np.linalg.lstsq(A, b, rcond=1e-11)[0]
            best = min(best, 0.5 * float(np.sum((b - A @ w) ** 2)) + penalty * len(support))
    return best


def quadratic(X: Any, y: Any, k: int, gamma: float, penalty: float) -> Quadratic:
    gram = np.asfortranarray(X.T @ X)
    unit, size = sum_unit(X.shape[0]), float(np.linalg.norm(y))
    errors = Rounding(
        norm=np.sqrt(np.diag(gram)), unit=unit, error=unit * size, base=unit * size**2, drift=0.0, reach=size
    )
    return Quadratic(
        gram=gram, v0=np.zeros(X.shape[1]), beta0=X.T @ y, ls0=0.5 * float(y @ y), gamma=gamma, penalty=penalty, k=k,
        rounding=errors,
    )  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_solve_against_enumeration(seed: int) -> None:
    asked = case(seed)
    best, size = optimum(**asked), 0.5 * float(asked["y"] @ asked["y"])
    sol = pf.solve(**asked, threads=1 + seed % 2)
    assert sol.lower_bound <= best + 1e-9 * size
    assert sol.objective == pytest.approx(best, rel=2 * REL_GAP, abs=1e-9 * size)
    assert sol.status == "optimal"
    assert pf.check(sol.certificate, asked["X"], asked["y"])


@pytest.mark.parametrize("seed", SEEDS)
def test_completions_against_enumeration(seed: int) -> None:
    """Whatever the work allowed: the bound is one, and what is closed has been found."""
    asked = case(seed)
    X, y, k = asked["X"], asked["y"], asked["k"]
    best, size = optimum(**asked), 0.5 * float(y @ y)
    fix = np.zeros(X.shape[1], dtype=np.int8)
    fix[asked["force_in"] or []] = 1
    fix[asked["force_out"] or []] = -1
    q = quadratic(X, y, k, asked["gamma"], asked["penalty"])
    for objective in (best, 1.3 * best + 0.1, size + asked["penalty"] * k):
        for work in (np.inf, 300.0, 0.0):
            found = core.complete(q.compiled, fix=fix, objective=objective, rel_gap=REL_GAP, most_work=work)
            assert found["bound"] <= best + 1e-9 * size
            if not found["closed"]:
                assert found["done"] <= len(found["branch"])
                continue
            if best < objective * (1 - REL_GAP) - 1e-9 * size and found["bound"] > 0.5 * best:
                assert found["value"] == pytest.approx(best, rel=2 * REL_GAP, abs=1e-9 * size)


def test_more_columns_than_rows_and_k_beyond_them() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 20)), rng.standard_normal(8)
    sol = pf.solve(X, y, k=12, gamma=np.inf)
    assert sol.objective == pytest.approx(0.0, abs=1e-20)
    assert sol.support.size <= 12


def test_no_ridge_is_the_limit_of_weak_ones() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(60, 40, 4, rho=0.5, sqrt_snr=3.0, random_state=1)
    without, weak = (pf.solve(X, y, k=4, gamma=gamma) for gamma in (np.inf, 1e9))
    assert without.status == weak.status == "optimal"
    assert np.array_equal(without.support, weak.support)
    assert without.objective == pytest.approx(weak.objective, rel=1e-6)


def test_more_columns_than_rows_is_proven() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(60, 200, 3, sqrt_snr=3.0, random_state=0)
    one, two = (pf.solve(X, y, k=3, gamma=np.inf, threads=threads) for threads in (1, 2))
    assert one.status == two.status == "optimal"
    assert one.objective == pytest.approx(two.objective, rel=1e-9)
    assert pf.check(one.certificate, X, y)
    assert not pf.check(one.certificate, X, y + 0.1)


@pytest.mark.parametrize("collinear", [0.0, 3.0, 300.0])
@pytest.mark.parametrize("seed", range(3))
def test_few_columns_go_straight_through(seed: int, collinear: float) -> None:
    """No relaxation, and the same answer as by trying all sets, however near the columns are to each other."""
    rng = np.random.default_rng([5, seed])
    X = rng.standard_normal((80, 14)) + collinear * rng.standard_normal((80, 1))
    y = X[:, :5] @ np.array([1.0, 0.5, 0.3, 0.2, 0.1]) + rng.standard_normal(80)
    sol = pf.solve(X, y, k=6, gamma=np.inf)
    assert sol.status == "optimal"
    assert sol.stats["linear_systems"] == 0
    values = (0.5 * float(np.linalg.lstsq(X[:, S], y, rcond=None)[1][0]) for S in map(list, combinations(range(14), 6)))
    assert sol.objective == pytest.approx(min(values), rel=1e-6)
    assert pf.check(sol.certificate, X, y)
    assert pf.check(sol.certificate, X, y, exact=True)


@pytest.mark.parametrize("gamma", [np.inf, 1e7])
def test_many_rows_are_proven_by_the_tightened_relaxation(gamma: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((600, 40))
    y = X[:, :9] @ np.array([1.0, 0.7, 0.5, 0.5, 0.5, 0.4, 0.4, 0.3, 0.3]) + rng.standard_normal(600)
    sol = pf.solve(X, y, k=9, gamma=gamma)
    assert sol.status == "optimal"
    assert sol.stats["root_bound"] > 0.9 * sol.objective, "the relaxation was left out"
    assert sol.certificate.frame_diagonal.max() > 0
    assert sol.support.tolist() == list(range(9))
    assert pf.check(sol.certificate, X, y)
    assert pf.check(sol.certificate, X, y, exact=True)
    assert not pf.check(sol.certificate, X, y + 0.1)


def test_few_supports_are_gone_through_without_one() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((100, 12)), rng.standard_normal(100)
    sol = pf.solve(X, y, k=3, gamma=np.inf)
    assert sol.status == "optimal"
    assert sol.stats["root_bound"] == 0.0
    best = min(float(np.linalg.lstsq(X[:, S], y, rcond=None)[1][0]) for S in map(list, combinations(range(12), 3)))
    assert sol.objective == pytest.approx(best / 2, rel=1e-6)


@pytest.mark.parametrize("gamma", [np.inf, 10.0])
def test_a_better_fit_rules_out_tightening_again_and_the_proof_still_holds(
    gamma: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((300, 40)) + rng.standard_normal((300, 1))
    y = X[:, :5] @ np.array([1.0, 0.5, 0.3, 0.2, 0.1]) + 2 * rng.standard_normal(300)
    asked: list[int] = []

    def only_at_first(root: Root, columns: int) -> bool:
        asked.append(columns)
        # With a ridge it is asked whether a diagonal comes before reading, too.
        return len(asked) <= (1 if np.isinf(gamma) else 2)

    expected = pf.solve(X, y, k=4, gamma=gamma)
    monkeypatch.setattr(Root, "may_tighten", only_at_first)
    sol = pf.solve(X, y, k=4, gamma=gamma)
    assert min(asked) < 40, "nothing was fixed after the first tightening"
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, expected.support)
    assert pf.check(sol.certificate, X, y)


# ---- Where the relaxation says next to nothing


@pytest.mark.parametrize("gamma", [1.0, 1e4, np.inf])
def test_more_columns_than_a_diagonal_in_detail_is_looked_for(gamma: float) -> None:
    """The same part of all squares makes a relaxation that is all but tight, in place of one that says nothing."""
    X, y, _ = pf.datasets.make_sparse_regression(1100, 520, 5, rho=0.3, sqrt_snr=1.0, random_state=0)
    sol = pf.solve(X, y, k=5, gamma=gamma, node_limit=60)
    assert sol.status == "optimal"
    assert sol.stats["root_bound"] > 0.9 * sol.objective
    assert pf.check(sol.certificate, X, y)
    diagonal = sol.certificate.frame_diagonal
    assert diagonal.max() > 0
    # More than they have would be no bound, and is none to the checker.
    raised = replace(sol.certificate, frame_diagonal=1.2 * diagonal)
    assert not pf.check(raised, X, y)


@pytest.mark.parametrize("p", [300, 120, 40])
@pytest.mark.parametrize("clean", [False, True])
def test_the_same_part_first_and_the_better_diagonal_if_it_is_not_enough(p: int, clean: bool) -> None:
    rng = np.random.default_rng(p)
    X = rng.standard_normal((400, p)) + (0.0 if clean else 1.5) * rng.standard_normal((400, 1))
    y = X[:, :4].sum(axis=1) + (0.1 if clean else 3.0) * rng.standard_normal(400)
    answers = [pf.solve(X, y, k=4, gamma=gamma) for gamma in (10.0, 1e9, np.inf)]
    for sol in answers:
        assert sol.status == "optimal"
        assert np.array_equal(sol.support, answers[0].support)
        assert pf.check(sol.certificate, X, y)


@pytest.mark.parametrize("gamma", [1.0, 10.0, 1e3, 1e6])
def test_sets_of_few_columns_get_as_much_work_with_a_weak_ridge_as_without_one(gamma: float) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(200, 1000, 5, rho=0.3, sqrt_snr=3.0, random_state=0)
    sol = pf.solve(X, y, k=5, gamma=gamma, node_limit=5)
    assert sol.status == "optimal"
    assert sol.certificate is not None
    assert np.array_equal(sol.support, pf.solve(X, y, k=5, gamma=np.inf).support)


def test_there_is_room_for_products_of_columns_that_are_held() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(120, 3200, 2, sqrt_snr=2.0, random_state=1)
    sol = pf.solve(X, y, k=2, gamma=10.0, node_limit=5)
    assert sol.status == "optimal"
    # Not where the memory has none.
    less = pf.solve(X, y, k=2, gamma=10.0, node_limit=5, memory_limit=100e6)
    assert less.status == "node_limit"
    assert less.lower_bound <= sol.objective * (1 + 1e-6)


def test_a_set_is_asked_of_the_data_where_the_reference_point_blurs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relaxation with a weak ridge fits y by hundreds of coefficients, around which products round more."""
    monkeypatch.setattr("parsifal.solver.funnel._Solve._finer", lambda solve, first: None)
    X, y, _ = pf.datasets.make_sparse_regression(150, 600, 3, sqrt_snr=100.0, random_state=1)
    sol = pf.solve(X, y, k=3, gamma=1e3)
    assert sol.status == "optimal"
    monkeypatch.setattr("parsifal.solver.tree._blurred", lambda root, reduced: False)
    monkeypatch.setattr("parsifal.solver.funnel._MOST_RECHECKED", 0)
    assert pf.solve(X, y, k=3, gamma=1e3).status == "precision"
