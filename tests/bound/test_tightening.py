"""Tightening: a verified diagonal, the same objective on every support, a bound that does not get worse."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import rational
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.bound.tightening import tighten, tighten_evenly
from parsifal.bound.tightening import tightening_diagonal as diagonal_of


def tightening_diagonal(gram: np.ndarray, weight: np.ndarray | None = None, gamma: float = 0.0) -> np.ndarray:
    return diagonal_of(gram, weight, unit=sum_unit(60 + len(gram)), gamma=gamma)


def rounding(gram: np.ndarray, v0: np.ndarray, ls: float) -> Rounding:
    """The errors of products that were computed from some 50 rows."""
    norm, unit = np.sqrt(np.diag(gram)), sum_unit(60 + len(gram))
    size = float(np.sqrt(2 * max(ls, 0.0)) + np.abs(v0) @ norm)
    return Rounding(norm=norm, unit=unit, error=unit * size, base=unit * size**2, drift=unit * size, reach=size)


def quadratic(X: np.ndarray, y: np.ndarray, *, gamma: float, k: int, penalty: float = 0.0) -> Quadratic:
    p = X.shape[1]
    return Quadratic(
        gram=np.asfortranarray(X.T @ X),
        v0=np.zeros(p),
        beta0=X.T @ y,
        ls0=0.5 * float(y @ y),
        gamma=gamma,
        penalty=penalty,
        k=k,
        rounding=rounding(X.T @ X, np.zeros(p), 0.5 * float(y @ y)),
    )


def around(q: Quadratic, v0: np.ndarray) -> Quadratic:
    """The same problem with another reference point."""
    step = v0 - q.v0
    return Quadratic(
        gram=q.gram,
        v0=v0,
        beta0=q.beta0 - q.gram @ step,
        ls0=float(q.ls0 - q.beta0 @ step + 0.5 * step @ q.gram @ step),
        gamma=q.gamma,
        penalty=q.penalty,
        k=q.k,
        rounding=rounding(q.gram, v0, q.ls0),
    )


def value(q: Quadratic, v: np.ndarray) -> float:
    """LS(v) + |v|^2 / (2 gamma)."""
    step = v - q.v0
    return float(q.ls0 - q.beta0 @ step + 0.5 * step @ q.gram @ step + v @ v / (2 * q.gamma))


def best_on(q: Quadratic, support: list[int]) -> float:
    """The smallest value on a support, by the normal equations."""
    S = np.array(support, dtype=int)
    origin = around(q, np.zeros(q.size))
    if S.size == 0:
        return origin.ls0
    system = origin.gram[np.ix_(S, S)] + np.eye(S.size) / q.gamma
    return float(origin.ls0 - 0.5 * origin.beta0[S] @ np.linalg.solve(system, origin.beta0[S]))


def assert_verified(gram: np.ndarray, d: np.ndarray) -> None:
    """gram - diag(d) is positive semidefinite in the columns' own units and in unit ones."""
    assert d.shape == (gram.shape[0],)
    assert np.all(np.isfinite(d))
    # What is taken off for rounding is all that may be below zero.
    assert np.all(d >= -1e-10 * np.diag(gram))
    assert np.all(d <= np.diag(gram) * (1 + 1e-12))
    rest = gram - np.diag(d)
    assert np.linalg.eigvalsh(rest)[0] >= -1e-10 * np.abs(gram).max()
    norms = np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1.0))
    assert np.linalg.eigvalsh(rest / np.outer(norms, norms))[0] >= -1e-10


def random_columns(rng: np.random.Generator) -> np.ndarray:
    p = int(rng.integers(1, 15))
    n = int(rng.integers(1, 60))
    X = rng.standard_normal((n, p))
    kind = rng.integers(0, 6)
    if kind == 1:
        X = np.sqrt(0.1) * X + np.sqrt(0.9) * rng.standard_normal((n, 1))
    elif kind == 2 and p > 1:
        X[:, 0] = rng.choice([1.0, -1.0, 2.0]) * X[:, 1]
    elif kind == 3 and p > 2:
        X[:, 0] = X[:, 1] - X[:, 2]
    elif kind == 4:
        X[:, 0] = 0
    elif kind == 5:
        X = np.round(3 * X)
    if rng.random() < 0.4:
        X = X * 10 ** rng.uniform(-4, 4, p)
    return X


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.integers(0, 10**6))
def test_the_diagonal_is_verified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_columns(rng)
    gram = np.asfortranarray(X.T @ X)
    before = gram.copy()
    assert_verified(gram, tightening_diagonal(gram))
    assert_verified(gram, tightening_diagonal(gram, rng.random(gram.shape[0])))
    np.testing.assert_array_equal(gram, before)


def even_diagonal(gram: np.ndarray, gamma: float = np.inf, rows: int = 60) -> np.ndarray:
    return diagonal_of(gram, unit=sum_unit(rows + len(gram)), gamma=gamma, max_newton=0)


@pytest.mark.parametrize("seed", range(40))
def test_the_same_part_of_all_squares_is_below_the_gram_matrix_exactly(seed: int) -> None:
    """In rational arithmetic, for integer columns, whose products are exact, and for those with rounded ones."""
    rng = np.random.default_rng([91, seed])
    p = int(rng.integers(2, 7))
    n = p + int(rng.integers(1, 12))
    X = np.round(4 * rng.standard_normal((n, p))) + 0.0
    if seed % 2:
        X = X @ (np.eye(p) + 0.3 * rng.standard_normal((p, p)))
    if seed % 3 == 0:
        X = X * 2.0 ** rng.integers(-20, 20, p)
    d = even_diagonal(np.asfortranarray(X.T @ X))
    rest = rational.gram(X)
    for j in range(p):
        rest[j][j] -= Fraction(float(d[j]))
    assert rational.is_positive_semidefinite(rest)
    squares = np.diag(X.T @ X)
    least = np.linalg.eigvalsh(X.T @ X / np.sqrt(np.outer(squares, squares)))[0]
    if least > 1e-3:
        # And it is nearly the largest of its kind: a little more of it is too much.
        assert np.allclose(d / squares, (d / squares)[0], rtol=1e-9)
        assert 0.5 * least < d[0] / squares[0] < least


@pytest.mark.parametrize("m", [60, 501, 700])
def test_many_columns_have_the_same_part_of_their_squares(m: int) -> None:
    rng = np.random.default_rng(m)
    X = rng.standard_normal((2 * m, m)) * 10 ** rng.uniform(-3, 3, m)
    gram = np.asfortranarray(X.T @ X)
    newton = 0 if m <= 500 else 20
    d = diagonal_of(gram, unit=sum_unit(3 * m), gamma=1.0, max_newton=newton)
    assert_verified(gram, d)
    assert np.ptp(d / np.diag(gram)) < 1e-9
    assert d[0] / gram[0, 0] > 0.05
    # A ridge that it would be nothing beside.
    assert not diagonal_of(gram, unit=sum_unit(3 * m), gamma=1e-9 / gram.max(), max_newton=newton).any()


def test_columns_that_depend_on_each_other_have_no_part_of_the_same_size() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    X[:, 3] = X[:, 1] - 2 * X[:, 5]
    assert not even_diagonal(np.asfortranarray(X.T @ X)).any()
    assert tighten_evenly(quadratic(X, X[:, 0], gamma=1.0, k=2)) is None
    X[:, 3] = 0
    d = even_diagonal(np.asfortranarray(X.T @ X))
    assert d[3] == 0
    assert (np.delete(d, 3) > 0).all()


def test_a_small_part_is_left_to_the_better_diagonal() -> None:
    rng = np.random.default_rng(1)
    common = rng.standard_normal((200, 1))
    near, apart = 0.1 * rng.standard_normal((200, 70)) + common, rng.standard_normal((200, 70))
    assert tighten_evenly(quadratic(near, near[:, 0], gamma=10.0, k=3)) is None
    found = tighten_evenly(quadratic(apart, apart[:, 0], gamma=10.0, k=3))
    assert found is not None
    assert found.diagonal.min() > 1


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(0, 10**6))
def test_the_objective_stays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 40)), int(rng.integers(1, 8))
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    if p > 2 and seed % 2:
        X[:, 0] = X[:, 1]
    q = quadratic(X, y, gamma=float(10 ** rng.uniform(-2, 3)), k=p)
    q = around(q, rng.standard_normal(p))
    tightened = tighten(q, tightening_diagonal(q.gram, gamma=q.gamma))
    t = tightened.quadratic
    np.testing.assert_allclose(tightened.scale, 1 / np.sqrt(1 + q.gamma * tightened.diagonal))
    for _ in range(5):
        w = rng.standard_normal(p)
        assert value(t, w / tightened.scale) == pytest.approx(value(q, w), rel=1e-9)
    for size in range(p + 1):
        for support in combinations(range(p), size):
            plain = 0.5 * float(y @ y)
            if size:
                S = list(support)
                plain -= (
                    0.5 * (X[:, S].T @ y) @ np.linalg.solve(X[:, S].T @ X[:, S] + np.eye(size) / q.gamma, X[:, S].T @ y)
                )
            assert best_on(t, list(support)) == pytest.approx(plain, rel=1e-7, abs=1e-9 * float(y @ y))


def relaxed(q: Quadratic, tolerance: float) -> float:
    return q.relax(np.zeros(q.size, dtype=np.int8), np.zeros(q.size), tolerance=tolerance).bound


@pytest.mark.parametrize("seed", range(120))
def test_the_bound_does_not_get_worse(seed: int) -> None:
    rng = np.random.default_rng((seed, 7))
    n, p = int(rng.integers(10, 60)), int(rng.integers(2, 9))
    X = rng.standard_normal((n, p))
    if seed % 3 == 0:
        X = np.sqrt(0.3) * X + np.sqrt(0.7) * rng.standard_normal((n, 1))
    if seed % 5 == 0:
        X[:, 0] = -X[:, 1]
    y = X[:, : min(p, 3)].sum(axis=1) + rng.standard_normal(n)
    half = 0.5 * float(y @ y)
    k = int(rng.integers(1, p + 1))
    penalty = 0.0 if seed % 2 else 0.01 * half
    q = quadratic(X, y, gamma=float(10 ** rng.uniform(-2, 4)), k=k, penalty=penalty)
    t = tighten(q, tightening_diagonal(q.gram, gamma=q.gamma)).quadratic
    plain, tight = relaxed(q, 1e-9 * half), relaxed(t, 1e-9 * half)
    optimum = min(best_on(q, list(S)) + penalty * r for r in range(k + 1) for S in combinations(range(p), r))
    assert tight >= plain - 1e-8 * half
    assert tight <= optimum * (1 + 1e-9) + 1e-12 * half
    # Independent columns give a diagonal, and the relaxation gains wherever it had anything to gain.
    if seed % 5 and optimum - plain > 1e-3 * half:
        assert tight > plain


def dependent_columns(name: str, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """Columns, and those of them that take part in a dependency."""
    X = rng.standard_normal((50, 8))
    if name == "duplicate":
        X[:, 3] = X[:, 1]
        return X, [1, 3]
    if name == "negated and scaled":
        X[:, 3] = -1e3 * X[:, 1]
        return X, [1, 3]
    if name == "three equal":
        X[:, 3] = X[:, 5] = X[:, 1]
        return X, [1, 3, 5]
    if name == "collinear":
        X[:, 6] = X[:, 0] - 2 * X[:, 2]
        return X, [0, 2, 6]
    if name == "two groups":
        X[:, 6] = X[:, 0] - 2 * X[:, 2]
        X[:, 3] = X[:, 1]
        return X, [0, 1, 2, 3, 6]
    if name == "zero":
        X[:, 4] = 0
        return X, [4]
    if name == "one-hot and constant":
        level = rng.integers(0, 3, 50)
        X[:, :3] = level[:, None] == np.arange(3)
        X[:, 3] = 1
        return X, [0, 1, 2, 3]
    raise AssertionError(name)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "name",
    ["duplicate", "negated and scaled", "three equal", "collinear", "two groups", "zero", "one-hot and constant"],
)
def test_dependent_columns_cost_the_others_nothing(name: str, scaled: bool) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, dependent = dependent_columns(name, rng)
        if scaled:
            X = X * 10 ** rng.uniform(-3, 3, X.shape[1])
        gram = np.asfortranarray(X.T @ X)
        d = tightening_diagonal(gram)
        assert_verified(gram, d)
        share = d / np.where(np.diag(gram) > 0, np.diag(gram), 1.0)
        others = np.setdiff1d(np.arange(8), dependent)
        assert np.all(share[dependent] <= 1e-6)
        # The columns are far from collinear otherwise: much of each can go to the ridge. The weight is in the user's
        # units, so scaled columns only share what is worth sharing.
        if scaled:
            assert share[others].max() > 0.1
            assert np.all(share[others] > 0)
        else:
            assert np.all(share[others] > 0.05)


def test_orthogonal_columns_give_everything() -> None:
    gram = np.asfortranarray(np.diag([1.0, 4.0, 9.0, 1e-4, 1e6]))
    d = tightening_diagonal(gram, 1 / np.diag(gram))
    assert_verified(gram, d)
    np.testing.assert_array_less(0.9 * np.diag(gram), d)
    assert tightening_diagonal(gram).sum() > 0.98 * np.trace(gram)


@pytest.mark.parametrize("seed", range(30))
def test_better_than_the_smallest_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng((seed, 8))
    p = int(rng.integers(2, 12))
    X = rng.standard_normal((40, p)) + 0.5 * rng.standard_normal((40, 1))
    gram = np.asfortranarray(X.T @ X)
    assert tightening_diagonal(gram).sum() >= 0.98 * p * np.linalg.eigvalsh(gram)[0]


@pytest.mark.parametrize("seed", range(30))
def test_units_do_not_matter(seed: int) -> None:
    """Scaling columns and weights alike scales the answer alike."""
    rng = np.random.default_rng((seed, 9))
    p = int(rng.integers(1, 10))
    X = rng.standard_normal((40, p))
    units = 10 ** rng.uniform(-3, 3, p)
    d = tightening_diagonal(np.asfortranarray(X.T @ X))
    Y = X * units
    other = tightening_diagonal(np.asfortranarray(Y.T @ Y), units**-2.0)
    np.testing.assert_allclose(other, d * units**2, rtol=1e-6)


def test_nothing_to_give() -> None:
    x = np.arange(1.0, 6.0)[:, None]
    assert not tightening_diagonal(np.asfortranarray(np.zeros((3, 3)))).any()
    X = np.hstack([x, x])
    d = tightening_diagonal(np.asfortranarray(X.T @ X))
    assert not d.any()
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((4, 9))
    assert_verified(wide.T @ wide, tightening_diagonal(np.asfortranarray(wide.T @ wide)))


def test_no_diagonal_no_change() -> None:
    rng = np.random.default_rng(0)
    q = quadratic(rng.standard_normal((9, 4)), rng.standard_normal(9), gamma=2.0, k=2)
    t = tighten(q, np.zeros(4))
    np.testing.assert_array_equal(t.quadratic.gram, q.gram)
    np.testing.assert_array_equal(t.quadratic.beta0, q.beta0)
    np.testing.assert_array_equal(t.scale, 1)


def test_without_a_ridge_independent_columns_are_tightened_and_dependent_ones_not() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 12))
    d = tightening_diagonal(X.T @ X, gamma=np.inf)
    assert_verified(X.T @ X, d)
    assert np.all(d > 0.5 * np.diag(X.T @ X))
    # The same diagonal as with a weak ridge: what rounding takes off is small beside it, and no column is left without.
    assert np.array_equal(d, tightening_diagonal(X.T @ X, gamma=1e9))
    X[:, 3] = X[:, 1] + X[:, 2]
    for gamma in (np.inf, 1e12):
        assert not tightening_diagonal(X.T @ X, gamma=gamma).any()
