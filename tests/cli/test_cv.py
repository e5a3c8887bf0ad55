"""`parsifal cv`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import parsifal as pf


def test_cv_agrees_with_the_estimator(json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    values = json_of("cv", diabetes, "-t", "y", "--ks", "1-6", "--gammas", "0.01,0.1", "--folds", 4, "--seed", 3)
    model = pf.SparseRegressorCV(ks=range(1, 7), gammas=[0.01, 0.1], cv=KFold(4, shuffle=True, random_state=3))
    model.fit(diabetes_frame.drop(columns="y"), diabetes_frame["y"])
    found = values["result"]["cross_validation"]
    assert found["chosen"] == {"k": model.k_, "gamma": pytest.approx(model.gamma_)}
    np.testing.assert_allclose(found["mse"], model.mse_path_.mean(axis=2), rtol=1e-6)
    assert [row["name"] for row in values["features"]] == list(model.get_feature_names_out())


def test_cv_shows_the_table_and_the_choice(run, diabetes: Path) -> None:
    text = run("cv", diabetes, "-t", "y", "--ks", "2-4", "--folds", 3, "--one-se", "--no-shuffle").stdout
    assert "Mean squared error over 3 folds" in text
    assert "Chosen: k = " in text
    assert "Proven" in text


def test_cv_progress_reaches_a_callable(diabetes_frame: pd.DataFrame) -> None:
    class Listener(pf.History):
        ticks: list[tuple[int, int]] = []  # noqa: RUF012

        def fits(self, done: int, total: int, seconds: float) -> None:
            self.ticks.append((done, total))

    listener = Listener()
    model = pf.SparseRegressorCV(ks=[2, 3], gammas=[0.1], cv=3, progress=listener)
    model.fit(diabetes_frame.drop(columns="y"), diabetes_frame["y"])
    assert listener.ticks == [(i, 6) for i in range(1, 7)]
    assert listener[-1].objective == pytest.approx(model.objective_)
