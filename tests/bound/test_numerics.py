"""Bounds in exact arithmetic: what is claimed holds for the doubles as they are, without any tolerance."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import parsifal as pf
from oracles import rational
from oracles.exact import ExactValues
from parsifal.api.cells import CellSearch
from parsifal.bound.dual import safe_dual_value
from parsifal.bound.rounding import sum_unit
from parsifal.bound.tightening import tighten, tightening_diagonal
from parsifal.bound.working_set import WorkingSet, rounding_norms
from parsifal.design import View
from parsifal.problem.problem import make_problem
from parsifal.proof.checker import provable_bound
from parsifal.solver.options import Options
from parsifal.solver.root import Root


def conditioned(rng: np.random.Generator, n: int, p: int, condition: float) -> np.ndarray:
    """Columns whose matrix has this condition number."""
    left = np.linalg.qr(rng.standard_normal((n, n)))[0][:, : min(n, p)]
    right = np.linalg.qr(rng.standard_normal((p, p)))[0][:, : min(n, p)]
    return left * np.geomspace(1.0, 1 / condition, min(n, p)) @ right.T * 10 ** rng.uniform(-2, 2)


def problem(seed: int, condition: float) -> dict[str, object]:
    rng = np.random.default_rng((seed, int(np.log10(condition))))
    n, p = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    X = conditioned(rng, n, p, condition)
    if seed % 5 == 1:
        X[:, 0] = X[:, 1]
    if seed % 5 == 2:
        X = X * 10 ** rng.uniform(-4, 4, p)
    y = X @ rng.standard_normal(p) + (0.0 if seed % 3 == 0 else 10 ** rng.uniform(-6, 0)) * rng.standard_normal(n)
    gamma = 10 ** rng.uniform(-3, 8) / max(float((X**2).sum(axis=0).max()), 1e-300)
    half = 0.5 * float(y @ y)
    penalty = {} if seed % 2 else {"penalty": float(half * 10 ** rng.uniform(-4, -1))}
    k = {} if penalty and seed % 4 == 0 else {"k": int(rng.integers(1, p + 1))}
    return {"X": X, "y": y, "gamma": float(gamma), **k, **penalty}


def exact_optimum(arguments: dict[str, object]) -> Fraction:
    X = arguments["X"]
    assert isinstance(X, np.ndarray)
    return ExactValues(X, arguments["y"]).best(
        arguments.get("k", X.shape[1]), arguments["gamma"], arguments.get("penalty", 0.0)
    )


@pytest.mark.parametrize("condition", [1e0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("block", range(6))
def test_no_bound_is_above_the_exact_optimum(condition: float, block: int) -> None:
    for seed in range(block * 8, block * 8 + 8):
        arguments = problem(seed, condition)
        X, y = arguments["X"], arguments["y"]
        best = exact_optimum(arguments)
        sol = pf.solve(**arguments)
        assert Fraction(sol.lower_bound) <= best, (seed, sol.status, float(best))
        assert Fraction(pf.relax(**arguments).bound) <= best, seed
        # What the records prove, without the claim's margin, is below it too.
        assert sol.certificate is not None
        assert Fraction(provable_bound(sol.certificate, X, y)) <= best, seed
        assert pf.check(sol.certificate, X, y), seed
        coef = sol.coef[sol.support]
        value = rational.objective_of(X, y, sol.support, coef, sol.gamma, sol.penalty)
        assert best <= value
        assert abs(float(value - Fraction(sol.objective))) <= 1e-14 * (float(y @ y) + sol.objective), seed


@pytest.mark.parametrize("method", ["cutting-plane", "big-m"])
def test_no_bound_of_the_cutting_planes_either(method: str) -> None:
    for seed in range(12):
        arguments = problem(seed, 1e4)
        sol = pf.solve(**arguments, method=method, backend="highs", time_limit=5)
        assert Fraction(sol.lower_bound) <= exact_optimum(arguments), seed


@pytest.mark.parametrize("seed", range(30))
def test_a_dual_value_is_not_above_its_exact_one(seed: int) -> None:
    rng = np.random.default_rng((seed, 3))
    n, p = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    X = conditioned(rng, n, p, 10 ** rng.uniform(0, 12))
    y = rng.standard_normal(n) * 10 ** rng.uniform(-3, 3)
    for alpha in (y, rng.standard_normal(n), y - X @ np.linalg.lstsq(X, y, rcond=None)[0]):
        k, gamma, penalty = int(rng.integers(1, p + 1)), float(10 ** rng.uniform(-3, 10)), float(rng.uniform(0, 0.1))
        error = sum_unit(n) * np.linalg.norm(alpha) * np.linalg.norm(X, axis=0)
        bound, beta = safe_dual_value(
            y, alpha, X.T @ alpha, error, np.zeros(p, dtype=np.int8), gamma=gamma, penalty=penalty, k=k
        )
        truth = rational.dual_value(X, y, alpha, gamma, penalty, k)
        assert Fraction(bound) <= truth
        # Nor far below, where rounding is small beside the terms.
        size = float(abs(y @ alpha) + alpha @ alpha + gamma * np.sum(beta**2)) + k * penalty
        assert float(truth) - bound <= 1e-9 * size
        exact = [rational.dot(column, rational.exact(alpha)) for column in rational.rows(X.T)]
        assert all(abs(Fraction(padded)) >= abs(value) for padded, value in zip(beta.tolist(), exact))


@pytest.mark.parametrize("seed", range(24))
def test_the_node_bound_is_not_above_its_exact_dual_value(seed: int) -> None:
    """In inner products, around a reference point, plain and tightened."""
    rng = np.random.default_rng((seed, 5))
    n, p = int(rng.integers(6, 14)), int(rng.integers(2, 6))
    X = conditioned(rng, n, p, 10 ** rng.uniform(0, 5))
    if seed % 3 == 1:
        X[:, 0] = X[:, 1]
    y = X @ rng.standard_normal(p) + 0.1 * rng.standard_normal(n)
    gamma, k = float(10 ** rng.uniform(-1, 5) / (X**2).sum(axis=0).max()), int(rng.integers(1, p + 1))
    work = WorkingSet(make_problem(X, y, k=k, gamma=gamma))
    work.add(np.arange(p))
    work.round(np.zeros(p, dtype=np.int8), 1e-3 * float(y @ y))
    q = work.quadratic()
    fix = np.zeros(p, dtype=np.int8)
    node = q.relax(fix, np.zeros(p), tolerance=1e-9 * float(y @ y))
    w = rational.exact(node.best_v)
    alpha = [value - rational.dot(row, w) for value, row in zip(rational.exact(y), rational.rows(X))]
    gains = sorted((rational.dot(column, alpha) ** 2 for column in rational.rows(X.T)), reverse=True)
    dual = rational.dot(rational.exact(y), alpha) - rational.dot(alpha, alpha) / 2
    assert Fraction(node.bound) <= dual - Fraction(gamma) / 2 * sum(gains[:k], Fraction(0))

    diagonal = tightening_diagonal(q.gram, 1 / np.diag(q.gram), unit=q.rounding.unit + sum_unit(p), gamma=gamma)
    rest = rational.gram(X)
    for j, d in enumerate(rational.exact(diagonal)):
        rest[j][j] -= d
    assert rational.is_positive_semidefinite(rest)
    tight = tighten(q, diagonal).quadratic.relax(fix, np.zeros(p), tolerance=1e-9 * float(y @ y))
    assert Fraction(tight.bound) <= rational.optimum(X, y, k, gamma)
    if np.any(diagonal > 0.01 * np.diag(q.gram)):
        assert tight.bound >= node.bound - 1e-6 * float(y @ y)


@pytest.mark.parametrize("backend", [None, "scip", "highs"])
def test_a_penalty_that_nothing_is_worth_costs_no_digits(backend: str | None) -> None:
    """The stress program's: rounding was once relative to the penalty even where no column comes near it."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 12)), rng.standard_normal(40)
    method = {} if backend is None else {"method": "cutting-plane", "backend": backend}
    for penalty in (1e30, 1e300):
        sol = pf.solve(X, y, gamma=1.0, penalty=penalty, **method)
        assert sol.support.size == 0
        assert sol.status == "optimal"
        assert sol.rests_on is None
        assert sol.gap <= 1e-6
        assert pf.check(sol.certificate, X, y)


def test_exact_arithmetic_is_right() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 4)), rng.standard_normal(6)
    w = np.linalg.solve(X.T @ X + np.eye(4) / 0.7, X.T @ y)
    expected = 0.5 * float((y - X @ w) @ (y - X @ w)) + float(w @ w) / 1.4
    assert float(rational.value_of(X, y, range(4), 0.7)) == pytest.approx(expected, rel=1e-12)
    third = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1)]]
    assert rational.is_positive_semidefinite(third)
    third[1][1] -= Fraction(1, 10**30)
    assert not rational.is_positive_semidefinite(third)


@pytest.mark.parametrize("kind", ["weighted, then centred", "sparse, centred, then weighted"])
@pytest.mark.parametrize("seed", range(8))
def test_what_a_read_rounds_relative_to(kind: str, seed: int) -> None:
    """A view that subtracts sums, not entries, says so: exact products are within what it says."""
    rng = np.random.default_rng(seed)
    n, p = 7, 4
    X = np.round(rng.standard_normal((n, p)), 3) + 1e7
    weight, v = rng.random(n) + 0.1, rng.standard_normal(n)
    center = np.full(p, 1e7)
    if kind == "weighted, then centred":
        X = X / weight[:, None]
        view = View(View(pf.as_design(X), row_weight=weight), center=center)
        terms = [[Fraction(w) * x - Fraction(1e7) for x in row] for w, row in zip(weight, rational.rows(X))]
    else:
        view = View(View(pf.as_design(sp.csr_array(X)), center=center), row_weight=weight)
        terms = [[Fraction(w) * (x - Fraction(1e7)) for x in row] for w, row in zip(weight, rational.rows(X))]
    scan = view.scan(v, stats=True)
    allowed = sum_unit(n) * rounding_norms(view, scan) * float(np.linalg.norm(v))
    for j in range(p):
        exact = sum((terms[i][j] * Fraction(v[i]) for i in range(n)), Fraction(0))
        assert abs(Fraction(scan.xv[j]) - exact) <= Fraction(allowed[j])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weight", [1.0, 1e8, 1e12])
def test_bounds_of_every_size_are_exact_bounds(seed: int, weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """`k_best` with a penalty starts from a bound for every size: none is above the exact dual value of its point.

    Columns at the threshold have gamma/2 beta^2 = penalty, so with a weak ridge the last digit of beta counts.
    """
    # Relaxations of the problem as it is, before any diagonal.
    monkeypatch.setattr(Root, "overshadowed", lambda root, columns: False)
    rng = np.random.default_rng([71, seed])
    n, p = 200, 6
    X = rng.standard_normal((n, p)) + 1.0
    y = X @ rng.uniform(1.0, 1.1, p) + rng.standard_normal(n)
    gamma, penalty = weight / float((X**2).sum(axis=0).mean()), 0.004 * float(y @ y)
    search = CellSearch(
        problem=make_problem(X, y, gamma=gamma, penalty=penalty), options=Options(threads=1), deadline=np.inf
    )
    cells = list(search.first_cells())
    assert search.handover.points
    for cell in cells:
        exact = [rational.dual_value(X, y, point.alpha, gamma, 0.0, cell.size) for point in search.handover.points]
        assert Fraction(cell.bound) <= max(*exact, Fraction(0)) + Fraction(penalty) * cell.size


def test_the_bound_on_what_is_not_listed_is_a_dual_value() -> None:
    """A list that is cut short, and one that leaves single supports over: the least value of the rest is exact."""
    for seed in range(12):
        rng = np.random.default_rng([72, seed])
        X = rng.standard_normal((9, 5)) + 2.0
        y = X[:, :2] @ np.ones(2) + 1e-6 * rng.standard_normal(9)
        for count in (1, 3, 9):
            found = pf.k_best(X, y, k=2, gamma=1e6, count=count, threads=1)
            listed = {tuple(entry.support.tolist()) for entry in found}
            rest = [rational.value_of(X, y, S, 1e6) for S in combinations(range(5), 2) if S not in listed]
            if rest:
                assert Fraction(found.lower_bound) <= min(rest)
