"""`parsifal predict`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf

HITTERS = ("-t", "Salary", "-k", 5, "--drop-missing", "--categorical", "auto")


def test_predictions_are_the_estimators(run, json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    run("fit", diabetes, "-t", "y", "-k", 4, "--out", "m.json")
    X = diabetes_frame.drop(columns="y")
    expected = pf.SparseRegressor(k=4).fit(X, diabetes_frame["y"]).predict(X)
    lines = run("predict", "m.json", diabetes).stdout.splitlines()
    assert lines[0] == "y (predicted)"
    np.testing.assert_allclose([float(line) for line in lines[1:]], expected, rtol=1e-9)
    # Columns that were not chosen need not be there, nor the target.
    X[["s5", "s1", "bp", "bmi"]].to_csv("few.csv", index=False)
    np.testing.assert_allclose(json_of("predict", "m.json", "few.csv")["predictions"], expected, rtol=1e-9)
    run("predict", "m.json", "few.csv", "--out", "p.npy")
    np.testing.assert_allclose(np.load("p.npy"), expected, rtol=1e-9)
    run("predict", "m.json", "few.csv", "--out", "p.csv", "--quiet")
    np.testing.assert_allclose(pd.read_csv("p.csv").iloc[:, 0], expected, rtol=1e-9)


def test_predict_encodes_as_training_did(run, json_of, hitters: Path) -> None:
    run("fit", hitters, *HITTERS, "--gamma", "1e6", "--out", "m.json")
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(hitters)
    found = json_of("predict", "m.json", hitters)["predictions"]
    assert len(found) == 322
    by_hand = model["intercept"] + sum(
        row["coefficient"] * ((frame["Division"] == "W") if row["name"] == "Division=W" else frame[row["name"]])
        for row in model["features"]
    )
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)


def test_predict_fills_gaps_with_the_training_median(run, json_of, diabetes_frame: pd.DataFrame) -> None:
    diabetes_frame.to_csv("train.csv", index=False)
    run("fit", "train.csv", "-t", "y", "-k", 2, "--impute", "median", "--out", "m.json")
    new = diabetes_frame.head(2).drop(columns="y")
    gap, full = new.copy(), new.copy()
    gap.loc[1, "bmi"] = np.nan
    full.loc[1, "bmi"] = diabetes_frame["bmi"].median()
    gap.to_csv("gap.csv", index=False)
    full.to_csv("full.csv", index=False)
    assert json_of("predict", "m.json", "gap.csv")["predictions"] == pytest.approx(
        json_of("predict", "m.json", "full.csv")["predictions"]
    )


def test_predict_refuses_other_columns(run, refused, hitters: Path) -> None:
    run("fit", hitters, *HITTERS, "--gamma", "1e6", "--out", "m.json")
    frame = pd.read_csv(hitters)
    frame.drop(columns="Hits").to_csv("missing.csv", index=False)
    assert (
        refused("predict", "m.json", "missing.csv") == "missing.csv has no column 'Hits', which the model needs; add it"
    )
    frame.assign(Height=1.0).to_csv("extra.csv", index=False)
    assert "column 'Height' was not in the training data; leave it aside with --drop Height" in refused(
        "predict", "m.json", "extra.csv"
    )
    run("predict", "m.json", "extra.csv", "--drop", "Height")
    frame.assign(Division=["X", *frame["Division"][1:]]).to_csv("level.csv", index=False)
    assert "'Division' is 'X' in row 1, a level that the training data did not have" in refused(
        "predict", "m.json", "level.csv", "--strict"
    )
    frame.assign(Hits=[None, *frame["Hits"][1:]]).to_csv("gap.csv", index=False)
    words = "'Hits' has no value in row 1; fill it, leave the row out, or fit with --impute median"
    assert words in refused("predict", "m.json", "gap.csv", "--strict")


def test_rows_that_cannot_be_predicted_get_nothing(run, json_of, hitters: Path) -> None:
    run("fit", hitters, *HITTERS, "--gamma", "1e6", "--out", "m.json")
    frame = pd.read_csv(hitters)
    whole = json_of("predict", "m.json", hitters)["predictions"]
    frame.loc[0, "Division"], frame.loc[2, "Hits"] = "X", None
    frame.to_csv("new.csv", index=False)
    some = json_of("predict", "m.json", "new.csv")["predictions"]
    assert (some[0], some[2]) == (None, None)
    assert some[1] == whole[1]
    assert some[3:] == whole[3:]
    result = run("predict", "m.json", "new.csv")
    assert result.stdout.splitlines()[1:4] == ["", repr(whole[1]), ""]
    assert "2 of 322 rows get no prediction" in result.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 3}, "is a model of version 3, and this Parsifal reads version 2"),
        ({"format": "other"}, "is not a Parsifal model"),
        ({"features": [{"name": "bmi"}]}, "is damaged"),
        ({"intercept": "many"}, "is damaged"),
        ({"recipe": None}, "is damaged"),
        ({"columns": [{"name": "bmi", "levels": None, "fill": "x"}]}, "is damaged"),
        ({"columns": [{"name": "bmi", "levels": None, "fill": None, "days": 1}]}, "is damaged"),
        ({"columns": [{"name": "bmi", "levels": None, "fill": None, "form": {"unit": "kg"}}]}, "is damaged"),
        ({"remarks": [{"rule": "x"}]}, "is damaged"),
    ],
)
def test_models_that_are_none(run, refused, diabetes: Path, change: dict[str, object], words: str) -> None:
    run("fit", diabetes, "-t", "y", "-k", 2, "--out", "m.json")
    values = json.loads(Path("m.json").read_text(encoding="utf-8"))
    Path("m.json").write_text(json.dumps(values | change), encoding="utf-8")
    assert words in refused("predict", "m.json", diabetes)


def test_a_model_that_is_missing_or_no_json(refused, diabetes: Path) -> None:
    assert "nothing.json does not exist" in refused("predict", "nothing.json", diabetes)
    assert "is not JSON" in refused("predict", diabetes, diabetes)
