"""Safe fixing: no support below the cutoff is ever lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parsifal as pf
from oracles.enumeration import Case, random_case
from parsifal.bound.dual import safe_dual_value
from parsifal.bound.fixing import fix_columns
from parsifal.bound.rounding import sum_unit


def survives(support: tuple[int, ...], fix: np.ndarray) -> bool:
    inside = np.zeros(fix.size, dtype=bool)
    inside[list(support)] = True
    return not np.any(inside & (fix < 0)) and not np.any(~inside & (fix > 0))


def start(case: Case) -> np.ndarray:
    fix = np.zeros(case.p, dtype=np.int8)
    fix[list(case.force_in)] = 1
    fix[list(case.force_out)] = -1
    return fix


def fix_at(case: Case, v: np.ndarray, cutoff: float) -> tuple[np.ndarray, int, float]:
    alpha = case.y - case.dense @ v
    beta = case.dense.T @ alpha
    options = {"gamma": case.gamma, "penalty": case.penalty or 0.0, "k": case.most}
    fix = start(case)
    error = sum_unit(alpha.size) * np.linalg.norm(alpha) * np.linalg.norm(case.dense, axis=0)
    bound, safe_beta = safe_dual_value(case.y, alpha, beta, error, fix, **options)
    before = fix.copy()
    new, count = fix_columns(safe_beta, fix, bound=bound, cutoff=cutoff, **options)
    assert np.array_equal(fix, before)
    return new, count, bound


def check_fixing(case: Case, v: np.ndarray, cutoff: float, supports: list[tuple[int, ...]], values: np.ndarray) -> int:
    new, count, bound = fix_at(case, v, cutoff)
    fix = start(case)
    # Values this near to the cutoff may fall on either side of it in double precision.
    rounding = 1e-11 * (case.half + abs(bound))
    below = [support for support, value in zip(supports, values) if value < cutoff - rounding]
    if count < 0:
        assert not below
        return count
    assert np.array_equal(new[fix != 0], fix[fix != 0])
    assert count == np.count_nonzero(new != fix)
    for support in below:
        assert survives(support, new), (support, new, cutoff)
    return count


@settings(derandomize=True, deadline=None, max_examples=400)
@given(
    seed=st.integers(0, 10**6),
    where=st.sampled_from(["zero", "random", "relaxation", "near the relaxation", "a support"]),
    quantile=st.floats(0, 1),
)
def test_nothing_below_the_cutoff_is_lost(seed: int, where: str, quantile: float) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng, most=8)
    supports, values = case.all_values()
    v = np.zeros(case.p)
    if where == "random":
        v = rng.standard_normal(case.p) * 10 ** rng.uniform(-3, 1)
    elif where == "a support":
        support = list(supports[int(rng.integers(len(supports)))])
        if support:
            v[support] = np.linalg.lstsq(case.dense[:, support], case.y, rcond=None)[0]
    elif where != "zero":
        v = pf.relax(case.X, case.y, **case.options).coef
        if where == "near the relaxation":
            v = v * (1 + 0.1 * rng.standard_normal(case.p))
    for cutoff in (float(np.quantile(values, quantile)), float(values.min()), float(values.min()) * (1 + 1e-6)):
        check_fixing(case, v, cutoff, supports, values)


def dual_with(case: Case, v: np.ndarray, fix: np.ndarray) -> float:
    """D at alpha = y - X v, from the definition."""
    alpha = case.y - case.dense @ v
    gain = 0.5 * case.gamma * (case.dense.T @ alpha) ** 2 - (case.penalty or 0.0)
    room = case.most - np.count_nonzero(fix == 1)
    if room < 0:
        return np.inf
    free = np.sort(np.maximum(gain[fix == 0], 0.0))[::-1][:room]
    return float(case.y @ alpha - 0.5 * alpha @ alpha - gain[fix == 1].sum() - free.sum())


@settings(derandomize=True, deadline=None, max_examples=300)
@given(seed=st.integers(0, 10**6), exact=st.booleans(), slack=st.floats(-9, 0))
def test_fixes_all_that_the_dual_point_allows(seed: int, exact: bool, slack: float) -> None:
    """A column is fixed if and only if D with the contrary forced is above the cutoff."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 60)), int(rng.integers(2, 12))
    X = rng.standard_normal((n, p))
    y = X[:, : min(p, 3)].sum(axis=1) + rng.choice([0.1, 1.0]) * rng.standard_normal(n)
    case = Case(X, y, gamma=float(10 ** rng.uniform(-2, 2)), k=int(rng.integers(1, p + 1)))
    if rng.random() < 0.5:
        case.penalty = case.half * float(10 ** rng.uniform(-4, -1))
    if rng.random() < 0.3:
        order = [int(j) for j in rng.permutation(p)]
        case.force_in, case.force_out = tuple(order[:1]), tuple(order[1:2])
    v = pf.relax(X, y, **case.options).coef if exact else 0.3 * rng.standard_normal(p)
    cutoff = case.optimum()[0] * (1 + 10**slack)
    new, count, bound = fix_at(case, v, cutoff)
    fix, margin = start(case), 1e-9 * (case.half + abs(bound))
    if count < 0:
        assert bound > cutoff - margin
        return
    for j in np.flatnonzero(fix == 0):
        for value in (1, -1):
            forced = fix.copy()
            forced[j] = value
            excess = dual_with(case, v, forced) - cutoff
            if abs(excess) > margin:
                assert (new[j] == -value) == (excess > 0), (j, value, excess)


@pytest.mark.parametrize("seed", range(30))
def test_easy_data_lose_columns_but_not_the_best_support(seed: int) -> None:
    rng = np.random.default_rng((seed, 6))
    X = rng.standard_normal((60, 12))
    y = X[:, [1, 4, 7]] @ np.array([1.0, -1.0, 2.0]) + 0.1 * rng.standard_normal(60)
    case = Case(X, y, gamma=1.0, k=3, penalty=[None, 0.01, 0.5][seed % 3])
    supports, values = case.all_values()
    v = pf.relax(X, y, **case.options).coef
    cutoff = float(values.min()) * (1 + 1e-3)
    assert check_fixing(case, v, cutoff, supports, values) > 0
    assert survives((1, 4, 7), fix_at(case, v, cutoff)[0])


def test_a_bound_above_the_cutoff_leaves_nothing() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    case = Case(X, y, gamma=1.0, k=2)
    assert fix_at(case, np.zeros(6), -1e9)[1] == -1


def test_no_room_rules_the_rest_out() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    case = Case(X, y, gamma=1.0, k=2, force_in=(0, 3))
    new, count, _ = fix_at(case, np.zeros(6), 1e9)
    assert count == 4
    np.testing.assert_array_equal(new, [1, -1, -1, 1, -1, -1])


def test_ties_are_left_open() -> None:
    """Of equal columns none may be ruled out or in for the other's sake."""
    x = np.array([1.0, 2.0, -1.0, 0.5])
    case = Case(np.column_stack([x, x, x]), 3 * x, gamma=1.0, k=1)
    best = case.optimum()[0]
    new, count, _ = fix_at(case, np.array([0.5, 0.5, 0.5]), best * (1 + 1e-9))
    assert count == 0
    assert not new.any()


def test_an_infinite_cutoff_fixes_nothing() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    new, count, _ = fix_at(Case(X, y, gamma=1.0, k=2), rng.standard_normal(6), np.inf)
    assert count == 0
    assert not new.any()
