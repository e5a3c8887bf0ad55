"""`parsifal path`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

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
