"""`solve` against enumeration, degenerate problems and warm starts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from api.cases import MEDIUM, check, check_valid, hard_case
from oracles.enumeration import Case, random_case

BLOCKS, BLOCK = 24, 50
BRANCHING = ("largest", "fractional", "strong", "pseudo")


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


def tabular_case(rng: np.random.Generator) -> Case:
    """More rows than columns, correlated, partly whole numbers, weak ridge: what tightening and frames are for."""
    p = int(rng.integers(15, 20))
    n = int(rng.integers(p + 1, 150))
    k = int(rng.integers(2, 5))
    X = rng.standard_normal((n, p))
    if rng.random() < 0.5:
        X = np.sqrt(0.1) * X + np.sqrt(0.9) * rng.standard_normal((n, 1))
    else:
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    if rng.random() < 0.4:
        X[:, ::3] = np.round(3 * X[:, ::3])
        X[:, 1::3] = X[:, 1::3] > 0
    if rng.random() < 0.2:
        X[:, 3] = X[:, 7] + X[:, 11]
    if rng.random() < 0.2:
        X[:, 2] = -X[:, 9]
    if rng.random() < 0.3:
        X = X * 10 ** rng.uniform(-2, 3, p)
    signal_part = (X / np.maximum(X.std(axis=0), 1e-9)) @ (rng.standard_normal(p) * (rng.random(p) < 0.5))
    y = signal_part + rng.choice([0.3, 1.0, 3.0]) * rng.standard_normal(n)
    gamma = float(rng.choice([1.0, 1e2, 1e4, 1e6]))
    penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-4, -1)) if rng.random() < 0.3 else None
    return Case(X, y, gamma, k, penalty)


@pytest.mark.parametrize("block", range(16))
def test_tabular_data_against_enumeration(block: int) -> None:
    for seed in range(block * 10, (block + 1) * 10):
        case = tabular_case(np.random.default_rng((seed, 2)))
        solution = pf.solve(case.X, case.y, threads=1 + (seed // 4) % 2, branching=BRANCHING[seed % 4], **case.options)
        try:
            check(case, solution)
            assert solution.status == "optimal"
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


@pytest.mark.parametrize("name", MEDIUM)
def test_rules_and_threads_agree(name: str) -> None:
    case = MEDIUM[name]
    solutions = [
        pf.solve(case.X, case.y, branching=rule, threads=threads, **case.options)
        for rule in BRANCHING
        for threads in (1, 2)
    ]
    best = min(s.objective for s in solutions)
    assert solutions[0].stats["nodes"] > 1
    for solution in solutions:
        check_valid(case, solution)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert solution.lower_bound <= best * (1 + 1e-12)
        assert solution.lower_bound >= best * (1 - 1e-6)


def test_one_thread_is_repeatable() -> None:
    for case in MEDIUM.values():
        first, second = (pf.solve(case.X, case.y, threads=1, **case.options) for _ in range(2))
        assert first.objective == second.objective
        assert first.lower_bound == second.lower_bound
        assert first.coef.tobytes() == second.coef.tobytes()
        np.testing.assert_array_equal(first.support, second.support)
        for key in ("nodes", "reads", "linear_systems", "depth", "columns_left", "root_bound"):
            assert first.stats[key] == second.stats[key]


def test_layout_and_kind_do_not_matter() -> None:
    case = MEDIUM["penalty and k"]
    first = pf.solve(case.X, case.y, threads=1, **case.options)
    for X in (np.asfortranarray(case.X), pd.DataFrame(case.X), case.X.tolist(), pf.as_design(case.X)):
        again = pf.solve(X, case.y.tolist(), threads=1, **case.options)
        np.testing.assert_array_equal(again.support, first.support)
        assert again.objective == pytest.approx(first.objective, rel=1e-12)


def test_the_data_are_left_alone() -> None:
    case = MEDIUM["strong ridge"]
    X, y = case.X.copy(), case.y.copy()
    X.flags.writeable = y.flags.writeable = False
    support = np.array([3, 1])
    pf.solve(X, y, warm_start=support, **case.options)
    np.testing.assert_array_equal(X, case.X)
    np.testing.assert_array_equal(y, case.y)
    np.testing.assert_array_equal(support, [3, 1])


# Warm starts


@pytest.mark.parametrize("seed", range(20))
def test_a_warm_start_changes_nothing_but_the_way(seed: int) -> None:
    rng = np.random.default_rng((seed, 3))
    case = random_case(rng, least=4, most=9)
    supports = case.supports()
    start = np.array(supports[int(rng.integers(len(supports)))], dtype=int)
    mask = np.zeros(case.p, dtype=bool)
    mask[start] = True
    for warm_start in (start, start[::-1].tolist(), mask):
        check(case, pf.solve(case.X, case.y, warm_start=warm_start, threads=1, **case.options))


def test_never_worse_than_the_warm_start() -> None:
    case = hard_case()
    best = pf.solve(case.X, case.y, node_limit=200, **case.options)
    again = pf.solve(case.X, case.y, time_limit=0, warm_start=best.support, **case.options)
    assert again.objective <= best.objective * (1 + 1e-12)
    empty = pf.solve(case.X, case.y, time_limit=0, warm_start=[], **case.options)
    check_valid(case, empty)


# What comes with the answer


def test_auto_gamma() -> None:
    rng = np.random.default_rng(0)
    X, y = 3 * rng.standard_normal((50, 6)), rng.standard_normal(50)
    solution = pf.solve(X, y, k=2)
    assert solution.gamma == pytest.approx(np.sqrt(50) / np.mean(np.sum(X**2, axis=0)))
    check(Case(X, y, solution.gamma, 2), solution)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert pf.solve(X, y, k=2).gamma == pytest.approx(50**-0.5)
    assert pf.solve(np.zeros((4, 3)), np.ones(4), k=2).objective == pytest.approx(2.0)


def test_names() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a", "b", "c", "d"])
    y = (frame["a"] - 2 * frame["c"]).to_numpy()
    solution = pf.solve(frame, y, k=2, gamma=1.0)
    assert solution.selected == ["a", "c"]
    assert solution.feature_names == ("a", "b", "c", "d")
    assert str(solution).startswith("optimal: 2 columns [a, c]\nobjective ")
    assert pf.solve(frame, y, k=2, gamma=1.0, force_in=["d"], force_out=["c"]).selected == ["a", "d"]
    assert pf.solve(frame.to_numpy(), y, k=2, gamma=1.0).selected == ["x0", "x2"]


def test_copies_do_not_make_the_tree_explode() -> None:
    """Each of eight columns five times over: as many supports as ever, but only the first copies count."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((20, 8))
    y = base[:, :4].sum(axis=1) + rng.standard_normal(20)
    case = Case(np.repeat(base, 5, axis=1) * np.tile([1, -1, 1, 1, -1], 8), y, gamma=0.5, k=3)
    solution = pf.solve(case.X, case.y, threads=1, **case.options)
    check(case, solution)
    assert solution.status == "optimal"
    assert solution.stats["nodes"] < 1000


@pytest.mark.parametrize("k", [1, 3, 7, 100])
def test_no_response(k: int) -> None:
    solution = pf.solve(np.eye(5), np.zeros(5), k=k, gamma=1.0)
    assert solution.status == "optimal"
    assert solution.objective == solution.lower_bound == solution.gap == 0
    assert not solution.coef.any()
