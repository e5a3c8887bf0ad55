"""Problems for `solve`, and what every answer to them must satisfy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case


def check(case: Case, solution: pf.Solution, optimum: float | None = None) -> None:
    """The solution is the optimum, is proven, and means what it says.

    Only where the fit is perfect to nine digits or so may double precision be too short to show the bound.
    """
    if optimum is None:
        optimum = case.optimum()[0]
    check_valid(case, solution, optimum)
    if solution.status == "precision":
        assert solution.objective < 1e-8 * square(case)
        assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-14 * square(case))
        return
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(optimum, rel=1e-6)
    assert solution.gap <= 1e-6


def check_valid(case: Case, solution: pf.Solution, optimum: float | None = None) -> None:
    """What every solution must satisfy, proven or not: feasible, consistent, and bounded from below."""
    support, coef = solution.support, solution.coef
    assert np.array_equal(support, np.unique(support))
    assert support.size <= case.most
    assert set(case.force_in) <= set(support.tolist())
    assert not set(case.force_out) & set(support.tolist())
    assert coef.shape == (case.p,)
    assert not np.delete(coef, support).any()
    value = 0.5 * np.sum((case.y - case.dense @ coef) ** 2) + coef @ coef / (2 * case.gamma)
    value += (case.penalty or 0.0) * support.size
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-13 * square(case))
    assert solution.lower_bound <= solution.objective
    assert solution.gap == pytest.approx(
        (solution.objective - solution.lower_bound) / max(solution.objective, np.finfo(float).tiny)
    )
    assert 0 < solution.stats["reads"] < 100
    assert solution.stats["nodes"] >= 0
    if optimum is not None:
        assert solution.objective >= optimum * (1 - 1e-9) - 1e-13 * square(case)
        assert solution.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * square(case)


def square(case: Case) -> float:
    return 2 * case.half


def correlated_case(n: int, p: int, k: int, gamma: float, **options: Any) -> Case:
    rng = np.random.default_rng(p)
    X = np.sqrt(0.5) * rng.standard_normal((n, p)) + np.sqrt(0.5) * rng.standard_normal((n, 1))
    y = X[:, :k].sum(axis=1) + 2 * rng.standard_normal(n)
    return Case(X, y, gamma, k, **options)


MEDIUM = {
    "weak ridge": correlated_case(100, 40, 8, 1e3),
    "more columns than rows": correlated_case(60, 80, 5, 0.3),
    "strong ridge": correlated_case(40, 70, 8, 0.1),
    "penalty and k": correlated_case(60, 60, 6, 0.3, penalty=3.0),
    "forced": correlated_case(60, 60, 6, 0.3, force_in=(50, 51), force_out=(0, 1)),
}


def hard_case() -> Case:
    """Fewer rows than columns and next to no ridge: the relaxation interpolates, the tree is endless."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
    return Case(X, y, gamma=1e3, k=10)
