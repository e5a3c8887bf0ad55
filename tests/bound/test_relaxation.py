"""`relax` against a conic solver, weak duality, and the split of the columns.

With a_j = gamma/2 (x_j'alpha)^2 - penalty, the relaxation is max over alpha of

    y'alpha - 1/2 |alpha|^2 - sum_{in} a_j - min_{t >= 0} [ room t + sum_{free} max(0, a_j - t) ].
"""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import parsifal as pf
from oracles.enumeration import Case, random_case
from parsifal.bound.dual import safe_dual_value
from parsifal.bound.rounding import sum_unit


def marks(case: Case) -> np.ndarray:
    fix = np.zeros(case.p, dtype=np.int8)
    fix[list(case.force_in)] = 1
    fix[list(case.force_out)] = -1
    return fix


def dual(case: Case, alpha: np.ndarray) -> float:
    """D(alpha), from the definition."""
    gain = 0.5 * case.gamma * (case.dense.T @ alpha) ** 2 - (case.penalty or 0.0)
    fix = marks(case)
    free = np.sort(np.maximum(gain[fix == 0], 0.0))[::-1][: case.most - len(case.force_in)]
    return float(case.y @ alpha - 0.5 * alpha @ alpha - gain[fix == 1].sum() - free.sum())


def primal(case: Case, s: np.ndarray, w: np.ndarray) -> float:
    """The relaxation's objective at a feasible (s, w)."""
    used = s > 0
    assert not w[~used].any()
    residual = case.y - case.dense @ w
    ridge = np.sum(w[used] ** 2 / s[used]) / (2 * case.gamma)
    return float(0.5 * residual @ residual + ridge + (case.penalty or 0.0) * s.sum())


def conic_value(case: Case) -> float:
    """The relaxation's value by an interior-point method; variables alpha, u (one a free column), t."""
    X, y, gamma, penalty = case.dense, case.y, case.gamma, case.penalty or 0.0
    n = X.shape[0]
    fix = marks(case)
    inside, free = X[:, fix == 1], X[:, fix == 0]
    f = free.shape[1]
    room = case.most - inside.shape[1]
    # In units of |y| the solver's tolerances mean what they say.
    unit = np.linalg.norm(y)
    y, penalty = y / unit, penalty / unit**2
    size = n + f + 1
    quadratic = sp.block_diag([np.eye(n) + gamma * inside @ inside.T, sp.csc_matrix((f + 1, f + 1))], format="csc")
    linear = np.concatenate([-y, np.ones(f), [room]])
    # u, t >= 0
    blocks = [sp.hstack([sp.csc_matrix((f + 1, n)), -sp.eye(f + 1)])]
    offset = [np.zeros(f + 1)]
    cones: list[Any] = [clarabel.NonnegativeConeT(f + 1)]
    for j in range(f):
        # gamma/2 beta^2 <= z = u + t + penalty, as |(sqrt(2 gamma) beta, z - 1)| <= z + 1
        z = np.zeros(size)
        z[[n + j, size - 1]] = 1
        root = np.zeros(size)
        root[:n] = np.sqrt(2 * gamma) * free[:, j]
        blocks.append(sp.csc_matrix(-np.array([z, z, root])))
        offset.append(np.array([penalty + 1, penalty - 1, 0.0]))
        cones.append(clarabel.SecondOrderConeT(3))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.triu(quadratic, format="csc"),
        linear,
        sp.vstack(blocks, format="csc"),
        np.concatenate(offset),
        cones,
        options,
    )
    result = solver.solve()
    assert str(result.status) in ("Solved", "AlmostSolved"), result.status
    value = -0.5 * (result.obj_val + result.obj_val_dual) + penalty * inside.shape[1]
    return float(value * unit**2)


def well_scaled_case(rng: np.random.Generator, least: int = 1, most: int = 30) -> Case:
    """A problem on which a conic solver reaches six digits."""
    p = int(rng.integers(least, most + 1))
    n = int(rng.integers(1, 40))
    X = rng.standard_normal((n, p))
    if rng.random() < 0.3:
        X = np.sqrt(0.3) * X + np.sqrt(0.7) * rng.standard_normal((n, 1))
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.1:
        X[:, rng.integers(p)] = 0
    y = X[:, : min(p, 3)].sum(axis=1) + rng.standard_normal(n)
    gamma = float(10 ** rng.uniform(-2.5, 1.5))
    k: int | None = int(rng.integers(1, min(p, 8) + 1))
    penalty = None
    form = rng.choice(["k", "penalty", "both"])
    if form != "k":
        penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-3.5, -0.5))
    if form == "penalty":
        k = None
    order = [int(j) for j in rng.permutation(p)]
    inside = outside = 0
    if rng.random() < 0.4:
        inside = int(rng.integers(0, min(k or p, 3, p) + 1))
        outside = int(rng.integers(0, p - inside + 1)) if rng.random() < 0.5 else min(1, p - inside)
    return Case(X, y, gamma, k, penalty, tuple(order[:inside]), tuple(order[inside : inside + outside]))


def check_relaxation(case: Case, r: pf.Relaxation, tolerance: float = 1e-6) -> None:
    """What the answer promises, recomputed from the data alone: together a proof that it is the optimum."""
    fix, half, penalty = marks(case), case.half, case.penalty or 0.0
    rounding = 1e-12 * half
    assert r.s.shape == r.coef.shape == (case.p,)
    assert np.all((r.s >= 0) & (r.s <= 1))
    assert r.s.sum() <= case.most * (1 + 1e-9)
    assert np.all(r.s[fix == 1] == 1)
    assert np.all(r.s[fix == -1] == 0)
    np.testing.assert_allclose(r.alpha, case.y - case.dense @ r.coef, atol=1e-9 * np.sqrt(2 * half))
    assert r.bound == pytest.approx(dual(case, r.alpha), rel=1e-9, abs=rounding)
    assert r.primal == pytest.approx(primal(case, r.s, r.coef), rel=1e-9, abs=rounding)
    assert r.bound <= r.primal + rounding
    assert r.primal - r.bound <= tolerance * abs(r.primal) + rounding
    # U, T, Z are a partition, by s.
    assert np.array_equal(np.sort(np.concatenate([r.ones, r.ties, r.zeros])), np.arange(case.p))
    assert np.all(r.s[r.ones] == 1)
    assert np.all(r.s[r.zeros] == 0)
    assert np.all((r.s[r.ties] > 0) & (r.s[r.ties] < 1))
    # With alpha = y - X w the gap is a sum of terms >= 0, among them these: every column is on its side of tau, as
    # far as a gap of this size can tell.
    beta = np.abs(case.dense.T @ r.alpha)
    gap = max(r.primal - r.bound, 0.0) + rounding
    if np.isfinite(r.tau):
        above = 0.5 * case.gamma * (beta**2 - r.tau**2)
        free = fix == 0
        assert np.all(((1 - r.s) * above)[free] <= gap * (1 + 1e-6))
        assert np.all((r.s * -above)[free] <= gap * (1 + 1e-6))
        assert 0.5 * case.gamma * r.tau**2 >= penalty * (1 - 1e-12)
    used = r.s > 0
    ideal = case.gamma * r.s * np.sign(case.dense.T @ r.alpha) * beta
    assert np.all((r.coef - ideal)[used] ** 2 / (2 * case.gamma * r.s[used]) <= gap * (1 + 1e-6))


def solve_relaxation(case: Case, **options: Any) -> pf.Relaxation:
    return pf.relax(case.X, case.y, **case.options, **options)


@pytest.mark.parametrize("block", range(10))
def test_against_a_conic_solver(block: int) -> None:
    for seed in range(40 * block, 40 * (block + 1)):
        case = well_scaled_case(np.random.default_rng((seed, 3)))
        r = solve_relaxation(case)
        try:
            check_relaxation(case, r)
            expected = conic_value(case)
            assert r.bound <= expected * (1 + 1e-7)
            assert r.bound == pytest.approx(expected, rel=1.1e-6)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


@pytest.mark.parametrize("seed", range(12))
def test_working_sets(seed: int) -> None:
    """More columns than a first working set takes: the bound must hold over all of them."""
    rng = np.random.default_rng((seed, 4))
    n, p = int(rng.integers(20, 80)), int(rng.integers(300, 900))
    X = rng.standard_normal((n, p))
    if seed % 3 == 0:
        X *= rng.uniform(0.2, 5, p)
    y = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    case = Case(X, y, gamma=float(10 ** rng.uniform(-2, 1)), k=int(rng.integers(1, 12)))
    if seed % 4 == 1:
        case.penalty = 0.01 * case.half
    if seed % 4 == 2:
        case.force_in, case.force_out = (p - 1, 17), (0, 1, 2)
        case.k = 6
    check_relaxation(case, solve_relaxation(case))


def test_a_larger_one_against_the_conic_solver() -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 500))
    y = X[:, :8].sum(axis=1) + 0.5 * rng.standard_normal(60)
    case = Case(X, y, gamma=60**-0.5, k=8)
    assert solve_relaxation(case).bound == pytest.approx(conic_value(case), rel=1e-6)


@pytest.mark.parametrize("block", range(4))
def test_degenerate_problems(block: int) -> None:
    """Bound below every support, primal above the bound, whatever the columns are like."""
    for seed in range(50 * block, 50 * (block + 1)):
        case = random_case(np.random.default_rng((seed, 5)), most=8)
        r = solve_relaxation(case)
        optimum = case.optimum()[0]
        assert r.bound <= optimum * (1 + 1e-9) + 1e-13 * case.half, f"seed {seed}: {case}"
        assert r.bound <= r.primal + 1e-12 * case.half, f"seed {seed}: {case}"
        assert np.all((r.s >= 0) & (r.s <= 1))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_weak_duality(seed: int, size: float) -> None:
    """D at any alpha is below every support's objective."""
    rng = np.random.default_rng(seed)
    case = well_scaled_case(rng, most=8)
    fix = marks(case)
    optimum = case.optimum()[0]
    for v in (
        np.zeros(case.p),
        10**size * rng.standard_normal(case.p),
        solve_relaxation(case).coef * (1 + 0.1 * size * rng.standard_normal(case.p)),
    ):
        alpha = case.y - case.dense @ v
        beta = case.dense.T @ alpha
        error = sum_unit(alpha.size) * np.linalg.norm(alpha) * np.linalg.norm(case.dense, axis=0)
        bound, _ = safe_dual_value(
            case.y, alpha, beta, error, fix, gamma=case.gamma, penalty=case.penalty or 0.0, k=case.most
        )
        assert bound == pytest.approx(dual(case, alpha), rel=1e-9, abs=1e-12 * (case.half + alpha @ alpha))
        assert bound <= optimum + 1e-12 * (case.half + alpha @ alpha)
    alpha = rng.standard_normal(case.y.size) * np.linalg.norm(case.y)
    assert dual(case, alpha) <= optimum


def test_orthogonal_columns_in_closed_form() -> None:
    """With orthonormal columns the relaxation is tight: it keeps the k largest |x_j'y|."""
    rng = np.random.default_rng(2)
    X = np.linalg.qr(rng.standard_normal((20, 10)))[0]
    y = rng.standard_normal(20)
    largest = np.sort(np.argsort(-np.abs(X.T @ y))[:3])
    r = pf.relax(X, y, k=3, gamma=2.0)
    exact = 0.5 * (y @ y - (2 / 3) * np.sum((X.T @ y)[largest] ** 2))
    # Not tight in general, yet never above.
    assert r.bound <= exact * (1 + 1e-12)
    assert r.bound == pytest.approx(conic_value(Case(X, y, 2.0, 3)), rel=1.1e-6)


def test_every_column_allowed_is_plain_ridge() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((15, 6)), rng.standard_normal(15)
    r = pf.relax(X, y, k=6, gamma=0.7)
    assert r.bound == pytest.approx(pf.loss(X, y, range(6), 0.7).value, rel=1e-6)
    np.testing.assert_array_equal(r.ones, range(6))
    assert r.ties.size == r.zeros.size == 0


def test_all_columns_forced() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((15, 4)), rng.standard_normal(15)
    r = pf.relax(X, y, k=2, gamma=0.7, force_in=[1, 3], force_out=[0])
    assert r.bound == pytest.approx(pf.loss(X, y, [1, 3], 0.7).value, rel=1e-6)
    np.testing.assert_array_equal(r.s, [0, 1, 0, 1])
    nothing = pf.relax(X, y, k=2, gamma=0.7, force_out=[0, 1, 2, 3])
    assert nothing.bound == pytest.approx(0.5 * y @ y, rel=1e-6)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-8])
def test_tolerance(tolerance: float) -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 400))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(50)
    case = Case(X, y, gamma=0.3, k=5)
    check_relaxation(case, solve_relaxation(case, tolerance=tolerance), tolerance)


def test_more_room_never_raises_the_bound() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((30, 20)), rng.standard_normal(30)
    bounds = [pf.relax(X, y, k=k, gamma=1.0, tolerance=1e-9).bound for k in range(1, 21)]
    assert np.all(np.diff(bounds) <= 1e-9 * bounds[0])


def test_repeatable() -> None:
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((40, 300)), rng.standard_normal(40)
    first, second = (pf.relax(X, y, k=7, gamma=0.5) for _ in range(2))
    assert first.bound == second.bound
    np.testing.assert_array_equal(first.alpha, second.alpha)
    np.testing.assert_array_equal(first.s, second.s)
    assert first.reads == second.reads > 0
    assert first.solves == second.solves > 0


# Columns of different scale and a weak ridge, where an active-set method may stall.
SCALES = {
    "penalty, two rows": Case(
        np.array([[-0.048, 120.0, -0.95, 0.44, -78.0, -6.8], [98.0, 110.0, 1.1, 1.4, 100.0, -6.3]]),
        np.array([20.0, 6.7]),
        gamma=130.0,
        k=2,
        penalty=6.4,
    ),
    "penalty, small": Case(
        np.array([[1.03, 18.5, 15.1, 1.55, 12.4, 55.0, 18.2], [1.19, 43.6, 6.44, -3.94, 2.3, -50.8, 21.9]]),
        np.array([-4.12, 0.472]),
        gamma=2.43,
        k=5,
        penalty=0.0101,
    ),
    "seven rows": Case(
        np.array(
            [
                [-1.0, -0.15, 45.0, 11.0, -0.022, -0.015],
                [-5.8, 0.35, 36.0, 41.0, 0.037, 0.00012],
                [2.9, -0.24, -20.0, 7.3, 0.0057, 0.013],
                [4.3, 0.014, 30.0, -81.0, 0.01, -0.0022],
                [-1.0, -0.46, 29.0, 70.0, 0.0091, -0.0091],
                [8.4, 0.7, 44.0, 72.0, 0.015, 0.021],
                [0.59, -0.063, 5.0, -23.0, -0.035, -0.0035],
            ]
        ),
        np.array([-1.1, -4.6, 2.5, 3.7, -1.6, 7.6, 0.89]),
        gamma=8.4,
        k=3,
    ),
    "five rows": Case(
        np.array(
            [
                [0.122, 61.9, -15.5, 0.0292, -20.4],
                [0.0242, 16.9, -4.57, 0.0653, 10.4],
                [0.101, -8.32, 8.01, 0.00353, -20.8],
                [0.266, -46.0, 10.1, -0.0916, -19.0],
                [0.0697, 139.0, 6.28, 0.0123, 16.2],
            ]
        ),
        np.array([44.6, 13.2, -0.298, -35.2, 145.0]),
        gamma=1.74,
        k=4,
    ),
}


@pytest.mark.parametrize("name", SCALES)
def test_columns_of_different_scale(name: str) -> None:
    check_relaxation(SCALES[name], solve_relaxation(SCALES[name]))


@pytest.mark.parametrize("seed", [24, 63, 106, 175, 266])
def test_working_sets_of_different_scale(seed: int) -> None:
    rng = np.random.default_rng((seed, 9))
    n, p = int(rng.integers(2, 120)), int(rng.integers(257, 1500))
    X = rng.standard_normal((n, p)) * 10 ** rng.uniform(-2, 2, p)
    y = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    case = Case(X, y, gamma=30.0, k=5)
    if seed % 2:
        case.penalty = 1e-4 * case.half
    check_relaxation(case, solve_relaxation(case))
