"""Columns to adjust for: the same as fitting them, unshrunk and uncounted, by hand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

import parsifal as pf
from parsifal.problem.standardise import prepare


def data(seed: int, n: int = 40, p: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1)) + rng.standard_normal(p)
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n) + 3.0


def by_hand(
    X: np.ndarray, y: np.ndarray, adjust: list[int], k: int, gamma: float, weight: np.ndarray, *, standardize: bool
) -> tuple[float, tuple[int, ...], np.ndarray]:
    """The least objective over all supports, with intercept and adjusted columns fitted without a ridge."""
    p = X.shape[1]
    mean = weight @ X / weight.sum()
    scale = np.sqrt(weight @ (X - mean) ** 2 / weight.sum()) if standardize else np.ones(p)
    root = np.sqrt(weight)[:, None]
    Z, always = root * (X - mean) / scale, np.column_stack([root[:, 0], root * X[:, adjust]])
    best: tuple[float, tuple[int, ...], np.ndarray] = (np.inf, (), np.zeros(p))
    for support in combinations([j for j in range(p) if j not in adjust], k):
        columns = np.column_stack([always, Z[:, support]])
        ridge = np.zeros((k, columns.shape[1]))
        ridge[:, always.shape[1] :] = np.eye(k) / np.sqrt(gamma)
        w = np.linalg.lstsq(np.vstack([columns, ridge]), np.concatenate([root[:, 0] * y, np.zeros(k)]), rcond=None)[0]
        rest, short = root[:, 0] * y - columns @ w, w[always.shape[1] :]
        value = 0.5 * rest @ rest + short @ short / (2 * gamma)
        if value < best[0]:
            best = (value, support, (columns @ w) / root[:, 0])
    return best


@pytest.mark.parametrize("seed", range(8))
def test_adjusting_is_fitting_by_hand(seed: int) -> None:
    X, y = data(seed)
    weight = np.ones(40) if seed % 2 else np.random.default_rng(seed).uniform(0.5, 2.0, 40)
    model = pf.SparseRegressor(k=2, gamma=0.3, adjust=[1, 4], standardize=seed % 3 > 0)
    model.fit(X, y, sample_weight=weight)
    value, support, fitted = by_hand(X, y, [1, 4], 2, 0.3, weight, standardize=seed % 3 > 0)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert tuple(model.support_) == support
    assert model.adjusted_.tolist() == [1, 4]
    np.testing.assert_allclose(model.predict(X), fitted, rtol=1e-8, atol=1e-8)
    assert model.check(X, y, sample_weight=weight)
    training = prepare(
        pf.as_design(X), y, weight=weight, adjust=np.array([1, 4]), fit_intercept=True, standardize=seed % 3 > 0
    )
    assert model.certificate_ is not None
    assert pf.check(model.certificate_, training.design, training.y, exact=True)
    assert not pf.check(model.certificate_, X, y)


def test_columns_that_depend_on_each_other_are_no_error() -> None:
    X, y = data(1)
    X[:, 3] = 2 * X[:, 1] - X[:, 2] + 5.0
    one = pf.SparseRegressor(k=2, gamma=1.0, adjust=[1, 2]).fit(X, y)
    three = pf.SparseRegressor(k=2, gamma=1.0, adjust=[1, 2, 3]).fit(X, y)
    assert three.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(one.predict(X), three.predict(X), rtol=1e-8)
    # Nothing is left of a column in the span of those adjusted for, so it is not chosen.
    assert 3 not in one.support_
    assert three.check(X, y)


def test_constant_columns_are_no_error() -> None:
    X, y = data(2)
    X[:, 0] = 4.0
    model = pf.SparseRegressor(k=2, gamma=1.0, adjust=[0]).fit(X, y)
    expected = pf.SparseRegressor(k=2, gamma=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kind", ["frame", "sparse", "fortran"])
def test_kinds_of_matrices(kind: str) -> None:
    X, y = data(3)
    X[np.abs(X) < 0.5] = 0.0
    as_kind: dict[str, Any] = {
        "frame": pd.DataFrame(X, columns=list("abcdefg")),
        "sparse": sp.csr_matrix(X),
        "fortran": np.asfortranarray(X),
    }
    adjust = ["b", "f"] if kind == "frame" else [1, 5]
    model = pf.SparseRegressor(k=2, gamma=0.2, adjust=adjust).fit(as_kind[kind], y)
    plain = pf.SparseRegressor(k=2, gamma=0.2, adjust=[1, 5]).fit(X, y)
    assert model.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    assert model.check(as_kind[kind], y)


def test_cross_validation_adjusts_in_every_fold() -> None:
    X, y = data(4, n=60)
    y = y + 20 * X[:, 0]
    model = pf.SparseRegressorCV(ks=(1, 2), gammas=(0.2,), cv=KFold(3), adjust=[0]).fit(X, y)
    assert 0 not in model.support_
    assert model.coef_[0] == pytest.approx(20, abs=3)
    train, test = np.arange(20, 60), np.arange(20)
    one = pf.SparseRegressor(k=1, gamma=0.2, adjust=[0]).fit(X[train], y[train])
    assert model.mse_path_[0, 0, 0] == pytest.approx(np.mean((one.predict(X[test]) - y[test]) ** 2), rel=1e-9)
    assert model.check(X, y)


def test_summary_names_what_was_adjusted_for() -> None:
    X, y = data(5)
    text = str(pf.SparseRegressor(k=2, adjust=[6]).fit(X, y).summary())
    assert "adjusted for: x6 (" in text


def test_a_column_that_cannot_be_both_is_named() -> None:
    X, y = data(1)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(7)])
    with pytest.raises(pf.InputError, match="column 'x2' is both in adjust and in force_in"):
        pf.SparseRegressor(k=2, adjust=["x2"], force_in=["x2"]).fit(frame, y)
    with pytest.raises(pf.InputError, match="column 'x3' is both in force_in and in force_out"):
        pf.SparseRegressor(k=2, force_in=["x3"], force_out=["x3"]).fit(frame, y)
