"""`loss` against the n x n formula of the paper, its gradient against finite differences."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import parsifal as pf
from oracles.enumeration import random_case
from parsifal.bound.ridge_loss import precise_residual


def kernel_value(X: np.ndarray, y: np.ndarray, s: np.ndarray, gamma: float) -> float:
    """1/2 y' (I + gamma sum_j s_j x_j x_j')^-1 y."""
    return float(0.5 * y @ np.linalg.solve(np.eye(len(y)) + gamma * (X * s) @ X.T, y))


def kernel_gradient(X: np.ndarray, y: np.ndarray, s: np.ndarray, gamma: float) -> np.ndarray:
    alpha = np.linalg.solve(np.eye(len(y)) + gamma * (X * s) @ X.T, y)
    return np.asarray(-0.5 * gamma * (X.T @ alpha) ** 2)


def data(seed: int) -> tuple[np.ndarray, np.ndarray, float, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 16)), int(rng.integers(1, 16))
    return rng.standard_normal((n, p)), rng.standard_normal(n), float(10 ** rng.uniform(-3, 3)), rng


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.integers(0, 10**6))
def test_value_and_gradient(seed: int) -> None:
    X, y, gamma, rng = data(seed)
    s = np.clip(rng.uniform(-0.5, 1.5, X.shape[1]), 0, 1)
    value, gradient = pf.loss(X, y, s, gamma)
    assert value == pytest.approx(kernel_value(X, y, s, gamma), rel=1e-9)
    expected = kernel_gradient(X, y, s, gamma)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    assert np.all(gradient <= 0)


@pytest.mark.parametrize("seed", range(50))
def test_gradient_against_finite_differences(seed: int) -> None:
    X, y, gamma, rng = data(seed)
    p = X.shape[1]
    gamma = min(gamma, 10.0)
    s = rng.uniform(0.2, 0.8, p)
    gradient = pf.loss(X, y, s, gamma).gradient
    step = 1e-3
    # The rule of order six: its error is far below the tolerance here.
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    for j in range(p):
        unit = np.eye(p)[j] * step
        slope = sum(
            c * (pf.loss(X, y, s + m * unit, gamma).value - pf.loss(X, y, s - m * unit, gamma).value) / step
            for m, c in weights.items()
        )
        assert slope == pytest.approx(gradient[j], rel=1e-6, abs=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("seed", range(20))
def test_ways_to_name_a_support(seed: int) -> None:
    X, y, gamma, rng = data(seed)
    p = X.shape[1]
    mask = rng.random(p) < 0.5
    index = np.flatnonzero(mask)
    value, gradient = pf.loss(X, y, mask, gamma)
    assert value == pytest.approx(kernel_value(X, y, mask.astype(float), gamma), rel=1e-9)
    for same in (index, index[::-1], index.tolist(), tuple(index), index.astype(np.uint8), mask.tolist()):
        assert pf.loss(X, y, same, gamma).value == value
        np.testing.assert_array_equal(pf.loss(X, y, same, gamma).gradient, gradient)
    other = pf.loss(X, y, mask.astype(float), gamma)
    assert other.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(other.gradient, gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("empty", [[], (), np.zeros(0), np.zeros(0, int), np.zeros(3), np.zeros(3, bool)], ids=repr)
def test_the_empty_support(empty: object) -> None:
    X, y = np.arange(12.0).reshape(4, 3), np.array([1.0, -1.0, 2.0, 0.5])
    value, gradient = pf.loss(X, y, empty, 2.0)
    assert value == pytest.approx(0.5 * y @ y)
    np.testing.assert_allclose(gradient, -((X.T @ y) ** 2))


@pytest.mark.parametrize("block", range(4))
def test_degenerate_columns(block: int) -> None:
    """Duplicates, collinear groups, zeros and scales from 1e-6 to 1e6, against a QR factorisation."""
    for seed in range(50 * block, 50 * (block + 1)):
        case = random_case(np.random.default_rng((seed, 2)))
        case.penalty = None
        support = case.supports()[-1]
        value, gradient = pf.loss(case.X, case.y, np.array(support, dtype=int), case.gamma)
        assert value == pytest.approx(case.objective(support), rel=1e-6, abs=1e-12 * case.half), f"seed {seed}: {case}"
        assert gradient.shape == (case.p,)
        assert np.all(gradient <= 0)


def test_kinds_of_matrix_agree() -> None:
    X, y, gamma, _ = data(5)
    X = np.round(4 * X)
    value, gradient = pf.loss(X, y, [0], gamma)
    for same in (
        np.asfortranarray(X),
        X.astype(np.float32),
        X.astype(int),
        X.tolist(),
        sp.csr_matrix(X),
        sp.csc_array(X),
    ):
        other = pf.loss(same, y, [0], gamma)
        assert other.value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(other.gradient, gradient, rtol=1e-9, atol=1e-12)


def test_convex_along_lines() -> None:
    X, y, gamma, rng = data(11)
    a, b = rng.random((2, X.shape[1]))
    values = [pf.loss(X, y, a + t * (b - a), gamma).value for t in np.linspace(0, 1, 21)]
    assert np.all(np.diff(values, 2) >= -1e-12)


def test_no_warning_from_a_perfect_fit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pf.loss(np.eye(3), np.zeros(3), [0, 1, 2], 1e6).value == 0


def test_a_residual_with_twice_the_digits_is_rounded_once() -> None:
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((20, 4)) * [1.0, 1e8, 1e-8, 1.0]
    w = np.array([3.0, 1e-3, 7.0, -2.0]) / 7
    y = columns @ w + 1e-12 * rng.standard_normal(20)
    found = precise_residual(y, columns, w)
    for i in range(20):
        terms = [-Fraction(x) * Fraction(c) for x, c in zip(columns[i].tolist(), w.tolist())]
        exact = Fraction(float(y[i])) + sum(terms)
        size = abs(float(y[i])) + sum(abs(float(term)) for term in terms)
        assert abs(float(Fraction(float(found[i])) - exact)) <= 2.0**-52 * abs(float(exact)) + 2.0**-98 * size
