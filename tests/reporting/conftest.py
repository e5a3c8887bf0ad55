"""A report of a cross-validated fit, and one of a fit that ended at a limit."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

import parsifal as pf


@pytest.fixture(scope="session")
def data() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    # What would break a page that does not escape.
    return X.rename(columns={"s3": '<s3 & "friends">'}), y


@pytest.fixture(scope="session")
def page(data: tuple[pd.DataFrame, pd.Series], tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = data
    model = pf.SparseRegressorCV(ks=range(1, 7), gammas=[0.05, 0.5], cv=4, progress=pf.History()).fit(X, y)
    file = tmp_path_factory.mktemp("report") / "report.html"
    pf.report(model, X, y, file, target="progression", time_limit=10, data=[("file", "diabetes <copy>.csv")])
    return file


@pytest.fixture(scope="session")
def open_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 150)), rng.standard_normal(60)
    history = pf.History()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = pf.SparseRegressor(k=12, gamma=10.0, node_limit=30, progress=history).fit(X, y)
    file = tmp_path_factory.mktemp("report") / "open.html"
    pf.report(model, X, y, file, time_limit=1.0)
    return file
