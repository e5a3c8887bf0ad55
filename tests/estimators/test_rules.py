"""positive=, sign= and prices in the estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from parsifal.constraints import Implies


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 6)) + 3, columns=list("abcdef"))
    return X, (X["a"] - X["b"] + 0.5 * X["c"] + rng.normal(size=60)).to_numpy()


def test_positive_and_sign() -> None:
    X, y = table()
    model = pf.SparseRegressor(k=3, positive=True).fit(X, y)
    assert np.all(model.coef_ >= 0)
    assert model.status_ == "optimal"
    assert model.check(X, y)
    model = pf.SparseRegressor(k=3, sign={"b": 1, "a": 1}).fit(X, y)
    assert np.all(model.coef_[:2] >= 0)
    assert "b" not in model.get_feature_names_out()
    with pytest.raises(pf.InputError, match="positive=True or sign, not both"):
        pf.SparseRegressor(k=3, positive=True, sign={"a": 1}).fit(X, y)
    with pytest.raises(pf.InputError, match="does not keep signs"):
        pf.SparseRegressor(k=3, positive=True, refit="ols").fit(X, y)
    with pytest.raises(pf.InputError, match="names 'z', which is not a column"):
        pf.SparseRegressor(k=3, sign={"z": 1}).fit(X, y)


def test_prices_by_name() -> None:
    X, y = table()
    dear = pf.SparseRegressor(k=3, penalty={"a": 1e6}).fit(X, y)
    assert "a" not in dear.get_feature_names_out()
    assert np.size(dear.solution_.penalty) == 6


def test_constraints_with_the_search() -> None:
    X, y = table()
    model = pf.SparseRegressor(k=2, constraints=[Implies("a", "f")]).fit(X, y)
    names = set(model.get_feature_names_out())
    assert "a" not in names or "f" in names
    assert model.check(X, y)
    again = pf.SparseRegressor(k=2, warm_start=True).fit(X, y)
    first = again.support_
    again.set_params(constraints=[Implies(int(first[0]), 5), Implies(int(first[1]), 5)]).fit(X, y)
    assert not np.array_equal(again.support_, first)


def test_cross_validation() -> None:
    X, y = table()
    model = pf.SparseRegressorCV(ks=[1, 2, 3], positive=True, cv=3).fit(X, y)
    assert np.all(model.coef_ >= 0)
    without = pf.SparseRegressorCV(ks=[1, 2], gammas=[np.inf], positive=True, cv=3).fit(X, y)
    assert np.all(without.coef_ >= 0)
    assert without.gamma_ == np.inf
    assert without.check(X, y)
