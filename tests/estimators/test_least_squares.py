"""Least squares on the chosen features, beside NumPy's and the textbook's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from oracles.reference import make_data


def textbook(X: Any, y: Any, weight: Any = None, *, intercept: bool = True) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients (the intercept last), standard errors and R2, by the normal equations of rows written out."""
    rows = np.column_stack([X, np.ones(len(y))]) if intercept else X
    w = np.ones(len(y)) if weight is None else weight
    gram = rows.T @ (w[:, None] * rows)
    coef = np.linalg.solve(gram, rows.T @ (w * y))
    rest = y - rows @ coef
    sigma2 = (w @ rest**2) / (w.sum() - rows.shape[1])
    mean = w @ y / w.sum() if intercept else 0.0
    return coef, np.sqrt(sigma2 * np.diag(np.linalg.inv(gram))), 1 - (w @ rest**2) / (w @ (y - mean) ** 2)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": False}])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_the_textbook(options: dict[str, Any], weighted: bool) -> None:
    X, y = make_data(3, noise=2.0)
    weight = np.linspace(0.5, 3, len(y)) if weighted else None
    est = pf.SparseRegressor(k=3, gamma=0.05, **options).fit(X, y, sample_weight=weight)
    intercept = options.get("fit_intercept", True)
    coef, error, r2 = textbook(X[:, est.support_], y, weight, intercept=intercept)
    found = est.least_squares_
    np.testing.assert_allclose(found.coef, coef[:3], rtol=1e-9)
    np.testing.assert_allclose(found.standard_error, error[:3], rtol=1e-9)
    assert found.r2 == pytest.approx(r2)
    assert found.intercept == pytest.approx(coef[3] if intercept else 0.0)
    fit = est.predict(X)
    w = np.ones(len(y)) if weight is None else weight
    mean = w @ y / w.sum() if intercept else 0.0
    assert found.ridge_r2 == pytest.approx(1 - (w @ (y - fit) ** 2) / (w @ (y - mean) ** 2))
    assert found.ridge_r2 < found.r2


def test_refit_predicts_with_least_squares_and_proves_the_ridge() -> None:
    X, y = make_data(3, noise=2.0)
    ridge, refit = (pf.SparseRegressor(k=3, gamma=0.05, refit=r).fit(X, y) for r in (None, "ols"))
    assert refit.objective_ == ridge.objective_
    assert refit.check(X, y)
    np.testing.assert_array_equal(refit.coef_[refit.support_], refit.least_squares_.coef)
    coef, _, _ = textbook(X[:, refit.support_], y)
    np.testing.assert_allclose(refit.predict(X), X[:, refit.support_] @ coef[:3] + coef[3])
    rows = refit.summary().rows
    np.testing.assert_allclose([row.coef for row in rows], ridge.coef_[ridge.support_])
    np.testing.assert_allclose([row.least_squares for row in rows], coef[:3])


def test_cross_validation_refits_in_every_fold() -> None:
    X, y = make_data(3, noise=2.0)
    splits = [(np.arange(10, 40), np.arange(10)), (np.arange(30), np.arange(30, 40))]
    model = pf.SparseRegressorCV(ks=(2, 3), gammas=0.05, cv=splits, refit="ols").fit(X, y)
    for f, (train, test) in enumerate(splits):
        for i in range(2):
            support = model.support_path_[0][i][f]
            coef, _, _ = textbook(X[train][:, support], y[train])
            error = np.mean((y[test] - X[test][:, support] @ coef[:-1] - coef[-1]) ** 2)
            assert model.mse_path_[0, i, f] == pytest.approx(error)


def test_features_that_depend_on_each_other_have_no_standard_errors() -> None:
    X, y = make_data(1)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
    est = pf.SparseRegressor(k=3).fit(X, y)
    assert np.isnan(est.least_squares_.standard_error).all()
    assert np.isfinite(est.least_squares_.coef).all()
    assert " - " in str(est.summary())


def test_the_summary_says_what_it_is_not() -> None:
    X, y = make_data(1)
    text = str(pf.SparseRegressor(k=2).fit(X, y).summary())
    assert "after selection they are too small" in text
    assert "R2" in text
    assert "std. error" in text


@pytest.mark.parametrize(("fit_intercept", "standardize"), [(True, True), (True, False), (False, True)])
def test_solve_with_an_intercept_is_the_estimator(fit_intercept: bool, standardize: bool) -> None:
    X, y = make_data(2)
    X, y = X + 100, y + 1000
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    options = {"fit_intercept": fit_intercept, "standardize": standardize}
    est = pf.SparseRegressor(k=3, gamma=0.5, **options).fit(frame, y)
    sol = pf.solve(frame, y, k=3, gamma=0.5, **options)
    np.testing.assert_allclose(sol.coef, est.coef_)
    assert sol.intercept == pytest.approx(est.intercept_)
    assert sol.objective == pytest.approx(est.objective_)
    assert sol.check(frame, y)
    assert sol.check(frame, y, exact=True)
    assert not sol.check(frame, y + frame["a"])
    rows, expected = sol.summary(frame, y).rows, est.summary().rows
    for name in ("coef", "standardized", "least_squares", "standard_error"):
        np.testing.assert_allclose([getattr(r, name) for r in rows], [getattr(r, name) for r in expected])
    path = pf.path(frame, y, (2, 3), 0.5, **options)
    np.testing.assert_allclose(path[1].coef, est.coef_)
    assert path.r2[1] == pytest.approx(est.least_squares_.ridge_r2)
    assert list(path.to_frame()["k"]) == [2, 3]


def test_a_level_is_warned_of_once_and_where_the_user_is() -> None:
    X, y = make_data(2)
    for call in (pf.solve, pf.path):
        arguments = {"k": 2} if call is pf.solve else {"ks": (1, 2)}
        with pytest.warns(UserWarning, match="no intercept is fitted") as caught:
            call(X + 100, y + 1000, **arguments)
        assert [warning.filename for warning in caught] == [__file__]
        call(X + 100, y + 1000, fit_intercept=False, **arguments)
        call(X + 100, y + 1000, fit_intercept=True, **arguments)
        call(X, y - y.mean(), **arguments)
