"""Signs, prices and side constraints in the search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from parsifal.constraints import AtMost, Exclude, Implies, Linear
from stress.asked import faults_of


@pytest.mark.parametrize("block", range(4))
def test_every_combination_against_all_supports(block: int) -> None:
    for seed in range(32 * block, 32 * block + 32):
        _, faults = faults_of(
            seed, exact=seed % 7 == 0, planes="highs" if seed % 3 == 0 else None, ranked=seed % 5 == 0
        )
        assert not faults, (seed, faults)


def table(seed: int = 0, n: int = 60, p: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1))
    return X, X[:, :4] @ [1.0, -1.0, 0.7, -0.5] + rng.normal(size=n)


def test_a_price_for_all_is_the_penalty() -> None:
    X, y = table()
    one = pf.solve(X, y, 6, 0.1, penalty=2.0, threads=1)
    each = pf.solve(X, y, 6, 0.1, penalty=np.full(30, 2.0), threads=1)
    assert np.array_equal(one.support, each.support)
    assert one.objective == pytest.approx(each.objective, rel=1e-9)
    named = pf.solve(X, y, 6, 0.1, penalty=dict.fromkeys(range(30), 2.0), threads=1)
    assert named.objective == pytest.approx(each.objective, rel=1e-9)


def test_nothing_asked_changes_nothing() -> None:
    X, y = table(1)
    plain = pf.solve(X, y, 5, 0.1, threads=1)
    asked = pf.solve(X, y, 5, 0.1, threads=1, sign=0, constraints=[])
    assert plain.objective == asked.objective
    assert plain.lower_bound == asked.lower_bound
    assert plain.stats["nodes"] == asked.stats["nodes"]


def test_zero_coefficients_are_no_choice() -> None:
    """With y against every column, no column is chosen, though k would let them in."""
    X = np.abs(np.random.default_rng(0).normal(size=(20, 4)))
    found = pf.solve(X, -X.sum(axis=1), 3, 1.0, sign=1, fit_intercept=False)
    assert found.support.size == 0
    assert found.status == "optimal"


@pytest.mark.parametrize("p", [400, 3400])
def test_wide_frames(p: int) -> None:
    """Focused solves (more than 300 columns) and held columns (more than 3000) know the rules, too."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(40, p))
    truth = np.zeros(p)
    truth[:3] = [3.0, -3.0, 2.0]
    y = X @ truth + rng.normal(size=40)
    sign = np.where(rng.random(p) < 0.5, 1, -1)
    sign[:3] = [1, -1, 0]
    price = rng.random(p)
    rows = [AtMost(range(3, p), 2), Implies(0, 1)]
    found = pf.solve(X, y, 4, 0.5, sign=sign, penalty=price, constraints=rows, node_limit=60, threads=1)
    assert np.all(sign * found.coef >= 0)
    assert found.check(X, y)
    assert found.status == "node_limit"
    assert found.support[:3].tolist() == [0, 1, 2]
    assert found.support.size == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_checkpoints(threads: int, tmp_path: Path) -> None:
    X, y = table(3, n=40, p=40)
    asked: dict[str, Any] = {
        "sign": {0: 1, 1: -1, 5: 1},
        "penalty": np.linspace(0, 0.5, 40),
        "constraints": [AtMost([0, 1, 2], 2), Implies(3, 2), Exclude(5, 6)],
    }
    whole = pf.solve(X, y, 6, 0.3, threads=threads, **asked)
    assert whole.status == "optimal"
    file = tmp_path / "state.npz"
    pf.solve(X, y, 6, 0.3, threads=threads, node_limit=3, checkpoint=file, **asked)
    after = pf.solve(X, y, 6, 0.3, threads=threads, checkpoint=file, **asked)
    assert after.objective == pytest.approx(whole.objective, rel=2e-6)
    assert after.check(X, y)
    if file.exists():
        with pytest.raises(pf.InputError, match="other signs, prices or constraints"):
            pf.solve(X, y, 6, 0.3, checkpoint=file, **{**asked, "constraints": [Exclude(5, 7)]})


def test_path_under_rules() -> None:
    X, y = table(4)
    found = pf.path(X, y, range(1, 6), 0.1, sign=1, constraints=[Implies(0, 2)])
    for solution in found:
        assert np.all(solution.coef >= 0)
        assert 0 not in solution.support or 2 in solution.support
        assert solution.check(X, y)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([Implies(0, 1), Exclude(0, 1)], ["Implies(column=0", "Exclude(columns=(0, 1))"]),
        ([Linear({2: 1.0, 3: 1.0}, lower=3), AtMost([5, 6], 1)], ["Linear("]),
    ],
)
def test_constraints_that_allow_nothing_are_named(constraints: list[Any], words: list[str]) -> None:
    X, y = table()
    with pytest.raises(pf.InputError, match="no support of at most 4 columns") as caught:
        pf.solve(X, y, 4, 0.1, constraints=constraints, force_in=[0])
    assert all(word in str(caught.value) for word in words)
    assert "AtMost" not in str(caught.value)


@pytest.mark.parametrize("asked", [{"sign": 1}, {"penalty": np.linspace(0, 1, 30)}, {"constraints": [Exclude(0, 1)]}])
def test_no_ridge(asked: dict[str, Any]) -> None:
    """Classical best subset selection takes them too; a very weak ridge has the same answer."""
    X, y = table()
    found = pf.solve(X, y, 4, np.inf, fit_intercept=False, **asked)
    weak = pf.solve(X, y, 4, 1e9, fit_intercept=False, **asked)
    assert found.status == "optimal"
    assert np.array_equal(found.support, weak.support)
    assert found.objective == pytest.approx(weak.objective, rel=1e-6)
    assert found.check(X, y)
    assert found.check(X, y, exact=True)


def test_a_node_that_constraints_leave_nothing_of() -> None:
    """Neither side of the last decision allows anything, which propagation sees only there: the proof says so."""
    _, faults = faults_of(5143)
    assert not faults


def test_hierarchy() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    y = 2 * X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=80)
    for kind, least in (("strong", 2), ("weak", 1)):
        lift = pf.NonlinearFeatures(["x"], products=True, hierarchy=kind).fit(X)
        Z = lift.transform(X)
        found = pf.solve(Z, y, 4, 0.1, constraints=lift.constraints_, fit_intercept=True)
        chosen = set(found.support.tolist())
        parents = lift.parents_
        products = [j for j in chosen if parents[j, 1] >= 0]
        assert products
        for j in products:
            assert len(chosen & set(parents[j].tolist())) >= least
        assert found.check(Z, y)
    with pytest.raises(pf.InputError, match="hierarchy must be one of"):
        pf.NonlinearFeatures(hierarchy="both").fit(X)
    with pytest.raises(pf.InputError, match='add "x" to functions'):
        _ = pf.NonlinearFeatures(["x^2"], products=True, hierarchy="weak").fit(X).constraints_
