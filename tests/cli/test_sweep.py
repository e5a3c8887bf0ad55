"""`parsifal path`, `parsifal cv` and `parsifal diagnose`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import parsifal as pf


def test_path_lists_every_size(run, json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    values = json_of("path", diabetes, "-t", "y", "--ks", "1-3,5")
    rows = values["result"]["path"]
    assert [row["k"] for row in rows] == [1, 2, 3, 5]
    for row in rows:
        model = pf.SparseRegressor(k=row["k"]).fit(diabetes_frame.drop(columns="y"), diabetes_frame["y"])
        assert row["features"] == list(model.get_feature_names_out())
        assert row["objective"] == pytest.approx(model.objective_)
        assert row["r2"] == pytest.approx(model.score(diabetes_frame.drop(columns="y"), diabetes_frame["y"]))
    least = min(rows, key=lambda row: row["ebic"])
    assert [row["name"] for row in values["features"]] == least["features"]
    text = run("path", diabetes, "-t", "y", "--ks", "1-3").stdout
    assert "The best model of every size" in text
    assert "ebic prefers k = 3" in text


def test_path_writes_the_chosen_model_and_its_proof(run, diabetes: Path) -> None:
    run("path", diabetes, "-t", "y", "--ks", "1-4", "--criterion", "bic", "--out", "m.json", "--certificate", "p.npz")
    run("check", "p.npz", diabetes)
    run("predict", "m.json", diabetes)


def test_path_with_a_size_that_is_not_proven(json_of, hard: Path) -> None:
    values = json_of("path", hard, "-t", "y", "--ks", "1,12", "--gamma", 10, "--node-limit", 1, code=3)
    assert values["result"]["path"][1]["status"] == "node_limit"


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


def test_diagnose_of_an_easy_table(run, json_of, diabetes: Path) -> None:
    text = run("diagnose", diabetes, "-t", "y", "--time-limit", 5).stdout
    for words in ("n0 = ", "n1 = ", "gap at the root", "proven", "With n = 442 beyond n1"):
        assert words in text
    values = json_of("diagnose", diabetes, "-t", "y", "--ks", "2,4", "--k", 4, "--time-limit", 5)
    assert [size["k"] for size in values["sizes"]] == [2, 4]
    assert all(size["solved"] for size in values["sizes"])
    assert 0 < values["n0"] < values["n1"] < 442


def test_diagnose_of_noise_says_so(json_of, hard: Path) -> None:
    values = json_of("diagnose", hard, "-t", "y", "--gamma", 10, "--ks", 12, "--k", 8, "--time-limit", 3)
    assert values["snr"] == 0
    assert values["n0"] is None
    assert values["verdict"].startswith("No signal stands out")
    assert values["sizes"][0]["solved"] is False
    assert values["sizes"][0]["root_gap"] > 0


def test_bench_outside_a_checkout_says_where_to_find_it(refused) -> None:
    assert "clone the repository" in refused("bench")


def test_reproduce_hands_on_to_the_papers_command(run) -> None:
    text = run("reproduce", "--help").stdout
    assert "parsifal reproduce" in text
    assert "--draw-only" in text
    run("reproduce", code=2)
    run("reproduce", "figure1", "--what", code=2)
    result = run("reproduce", "figure7", code=2)
    assert result.stderr.startswith("error: there is no experiment 'figure7'; choose one of table1, figure1")
    result = run("reproduce", "figure1", "--draw-only", code=2)
    assert "leave out --draw-only" in result.stderr
    assert isinstance(run("reproduce", "figure7", "--debug", code=1).exception, pf.InputError)
