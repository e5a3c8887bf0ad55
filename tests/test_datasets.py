from __future__ import annotations

import math

import numpy as np
import pytest

import parsifal as pf
from parsifal.datasets import make_sparse_regression
from parsifal.errors import InputError


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.7, 0.95])
def test_columns_are_correlated_as_asked(rho: float) -> None:
    X = make_sparse_regression(20_000, 12, 3, rho=rho, random_state=1).X
    expected = rho ** np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    # An entry of a sample covariance has a standard deviation of at most sqrt(2 / n) = 0.01.
    np.testing.assert_allclose(X.T @ X / X.shape[0], expected, atol=0.05)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.05)


def test_rows_are_independent() -> None:
    X = make_sparse_regression(3000, 40, 3, rho=0.9, random_state=2).X
    neighbours = np.mean(X[:-1] * X[1:], axis=0)
    np.testing.assert_allclose(neighbours, 0.0, atol=0.1)


def test_correlation_goes_on_where_blocks_meet() -> None:
    # 1024 rows are drawn 64 columns at a time.
    X = make_sparse_regression(1024, 256, 3, rho=0.9, random_state=3).X
    neighbours = np.mean(X[:, :-1] * X[:, 1:], axis=0)
    np.testing.assert_allclose(neighbours, 0.9, atol=0.2)
    np.testing.assert_allclose(np.mean(X**2, axis=0), 1.0, atol=0.25)


@pytest.mark.parametrize("sqrt_snr", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_signal_to_noise_ratio_is_exact(sqrt_snr: float, dtype: type) -> None:
    data = make_sparse_regression(200, 50, 5, rho=0.3, sqrt_snr=sqrt_snr, random_state=4, dtype=dtype)
    signal = data.X.astype(float) @ data.coef
    assert np.linalg.norm(signal) / np.linalg.norm(data.y - signal) == pytest.approx(sqrt_snr, rel=1e-9)


def test_without_noise_the_response_is_the_signal() -> None:
    data = make_sparse_regression(30, 10, 4, sqrt_snr=math.inf, random_state=5)
    np.testing.assert_allclose(data.y, data.X @ data.coef, rtol=1e-13)


def test_support_and_coefficients() -> None:
    data = make_sparse_regression(20, 300, 40, random_state=6)
    assert data.support.size == 40
    assert np.array_equal(data.support, np.flatnonzero(data.coef))
    assert set(data.coef[data.support]) == {-1.0, 1.0}


def test_places_are_uniform() -> None:
    rng = np.random.default_rng(7)
    counts = np.zeros(10)
    for _ in range(2000):
        counts[make_sparse_regression(1, 10, 3, random_state=rng).support] += 1
    np.testing.assert_allclose(counts, 600, atol=100)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_does_not_change_the_data(dtype: type) -> None:
    # More than one block of rows and of columns.
    c = make_sparse_regression(1500, 150, 5, rho=0.4, random_state=8, dtype=dtype, order="C")
    f = make_sparse_regression(1500, 150, 5, rho=0.4, random_state=8, dtype=dtype, order="F")
    assert c.X.flags.c_contiguous
    assert f.X.flags.f_contiguous
    assert c.X.dtype == f.X.dtype == dtype
    assert np.array_equal(c.X, f.X)
    assert np.array_equal(c.support, f.support)
    np.testing.assert_allclose(c.y, f.y, rtol=1e-12)


def test_seeds() -> None:
    a, b, c = (make_sparse_regression(20, 10, 2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert not np.array_equal(a.X, c.X)
    single = make_sparse_regression(20, 10, 2, random_state=1, dtype="float32")
    assert np.array_equal(single.coef, a.coef)
    assert single.y.dtype == np.float64


def test_unpacks_to_what_a_solve_needs() -> None:
    X, y, support = pf.datasets.make_sparse_regression(100, 60, 3, random_state=9)
    assert np.array_equal(pf.solve(X, y, k=3, gamma=0.1).support, support)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be >= 1"),
        ({"n_features": 2.5}, "n_features must be a whole number"),
        ({"k": 0}, "k must be >= 1"),
        ({"k": 11}, "k = 11 nonzero coefficients do not fit into n_features = 10"),
        ({"rho": 1.0}, r"rho must be in \[0, 1\)"),
        ({"rho": -0.1}, "rho must be a finite number >= 0"),
        ({"rho": "a"}, "rho must be a number"),
        ({"sqrt_snr": 0.0}, "sqrt_snr must be > 0"),
        ({"sqrt_snr": math.nan}, "sqrt_snr must be a finite number"),
        ({"dtype": int}, "dtype must be float64 or float32"),
        ({"dtype": "no such"}, "dtype must be float64 or float32"),
        ({"order": "K"}, 'order must be "C" or "F"'),
        ({"random_state": -1}, "random_state must be >= 0"),
        ({"random_state": "a"}, "random_state must be a whole number"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_sparse_regression(**{"n_samples": 20, "n_features": 10, "k": 2, **arguments})
