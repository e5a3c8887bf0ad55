"""The scikit-learn contract of the estimators."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import parsifal as pf

ESTIMATORS = [
    pf.SparseRegressor(),
    pf.SparseRegressor(k=2, fit_intercept=False, standardize=False),
    pf.SparseRegressor(penalty=0.1),
    pf.SparseRegressorCV(ks=(1, 2), gammas=(0.1, 1.0), cv=3, fit_intercept=False, standardize=False),
    pf.SparseRegressorCV(cv=3),
]


@pytest.mark.filterwarnings("ignore:the .* of the gammas")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
