"""`solve` against enumeration, degenerate problems, limits, warm starts and progress."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import Case, random_case

import parsifal as pf

BLOCKS, BLOCK = 48, 50


def check(case: Case, solution: pf.Solution, optimum: float | None = None) -> None:
    """The solution is the optimum, is proven, and means what it says."""
    if optimum is None:
        optimum = case.optimum()[0]
    # Below this, double precision cannot tell objectives apart.
    floor = 1e-12 * case.half
    check_valid(case, solution, optimum)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=floor)
    assert solution.gap <= 1e-6


def check_valid(case: Case, solution: pf.Solution, optimum: float) -> None:
    """What every solution must satisfy, proven or not: feasible, consistent, and bounded from below."""
    floor = 1e-12 * case.half
    support, coef = solution.support, solution.coef
    assert np.array_equal(support, np.unique(support))
    assert support.size <= case.most
    assert set(case.force_in) <= set(support.tolist())
    assert not set(case.force_out) & set(support.tolist())
    assert coef.shape == (case.p,)
    assert not np.delete(coef, support).any()
    value = 0.5 * np.sum((case.y - case.dense @ coef) ** 2) + coef @ coef / (2 * case.gamma)
    value += (case.penalty or 0.0) * support.size
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=floor)
    assert solution.objective >= optimum * (1 - 1e-9) - floor
    assert solution.lower_bound <= optimum * (1 + 1e-9) + floor
    assert solution.lower_bound <= solution.objective
    assert 0 < solution.stats["reads"] < 100
    assert solution.stats["nodes"] >= 0


@pytest.mark.parametrize("block", range(BLOCKS))
def test_against_enumeration(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        case = random_case(np.random.default_rng(seed))
        optimum = case.optimum()[0]
        try:
            check(case, pf.solve(case.X, case.y, threads=1 + seed % 2, **case.options), optimum)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


@pytest.mark.parametrize("block", range(8))
def test_more_columns_against_enumeration(block: int) -> None:
    for seed in range(block * 50, (block + 1) * 50):
        case = random_case(np.random.default_rng((seed, 1)), least=15, most=26, largest_k=3)
        optimum = case.optimum()[0]
        try:
            check(case, pf.solve(case.X, case.y, threads=1 + seed % 2, **case.options), optimum)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


# Columns that safe fixing decides to the last one below the root: the leaf's own fit is the answer.
FOUND = {
    "one column or none": Case(
        np.array([[-2.6, -0.83], [-8.0, -3.1], [-0.052, -1.0], [-1.6, -0.33], [-0.03, 0.8], [-6.5, -1.6]]),
        np.array([1000.0, 40.0, -600.0, 2000.0, 2000.0, -1000.0]),
        gamma=100.0,
        k=1,
        penalty=287598.0,
    ),
    "three of four, scales 1e-3 to 1e6": Case(
        np.array([[2000.0, 0.007, 0.007, -3e5], [5000.0, 0.02, 0.05, 9e5], [-4000.0, -0.004, -0.01, 5e5]]),
        np.array([-0.5, 2.0, 1.0]),
        gamma=1e4,
        k=3,
    ),
    "three of four, one column at 1e6": Case(
        np.array(
            [
                [-0.092, -490000.0, 0.19, 0.32],
                [0.25, -1100000.0, 1.5, 0.74],
                [0.26, -810000.0, 1.2, 0.54],
                [-0.21, 1300000.0, -0.7, -0.89],
                [0.13, -1700000.0, 0.29, 1.1],
            ]
        ),
        np.array([0.0009, -0.001, 0.0008, 0.002, 0.002]),
        gamma=100.0,
        k=3,
    ),
    "penalty, scales 1e-5 to 1e6": Case(
        np.array(
            [
                [2e-05, 300.0, -0.04, -300000.0, -70.0],
                [3e-05, 100.0, -0.1, -400000.0, 50.0],
                [-1e-05, -300.0, 0.04, -600000.0, 6.0],
                [1e-05, 200.0, 0.6, -200000.0, -20.0],
                [2e-05, -300.0, -0.09, -600000.0, -70.0],
            ]
        ),
        np.array([0.001, -0.001, 0.002, -0.001, 1e-05]),
        gamma=1e6,
        penalty=3.234036821886384e-11,
    ),
    "zero column": Case(
        np.array(
            [
                [0.008, -3.0, 0.0, -0.0007, 70.0],
                [-0.004, 2.0, 0.0, -0.0003, 40000.0],
                [0.01, -0.2, 0.0, -0.0001, -10000.0],
                [-0.003, 0.9, 0.0, -0.0007, 9000.0],
                [0.006, -0.7, 0.0, 0.0002, 400.0],
            ]
        ),
        np.array([-0.4, 1.0, -2.0, -1.0, 0.9]),
        gamma=1e6,
        k=3,
    ),
    "one row": Case(np.array([[-3000.0, -1e6]]), np.array([-3000.0]), gamma=1e6, k=2),
    "one row, small response": Case(np.array([[-2e5, -1e5]]), np.array([-2e-4]), gamma=1e4, k=2),
}


@pytest.mark.parametrize("name", FOUND)
def test_decided_leaves(name: str) -> None:
    case = FOUND[name]
    check(case, pf.solve(case.X, case.y, threads=1, **case.options))
