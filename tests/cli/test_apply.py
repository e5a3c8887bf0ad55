"""`parsifal predict` and `parsifal check`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from parsifal.tabular import Recipe, load_proof, read_table, save_proof

HITTERS = ("-t", "Salary", "-k", 5, "--drop-missing", "--categorical", "auto")


def test_predictions_are_the_estimators(run, json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    run("fit", diabetes, "-t", "y", "-k", 4, "--out", "m.json")
    X = diabetes_frame.drop(columns="y")
    expected = pf.SparseRegressor(k=4).fit(X, diabetes_frame["y"]).predict(X)
    lines = run("predict", "m.json", diabetes).stdout.splitlines()
    assert lines[0] == "y (predicted)"
    np.testing.assert_allclose([float(line) for line in lines[1:]], expected, rtol=1e-9)
    # Columns that were not chosen need not be there, nor the target.
    X[["s5", "s3", "bp", "bmi"]].to_csv("few.csv", index=False)
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
        "predict", "m.json", "level.csv"
    )
    frame.assign(Hits=[None, *frame["Hits"][1:]]).to_csv("gap.csv", index=False)
    assert "'Hits' has no value in row 1" in refused("predict", "m.json", "gap.csv")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "is a model of version 2, and this Parsifal reads version 1"),
        ({"format": "other"}, "is not a Parsifal model"),
        ({"features": [{"name": "bmi"}]}, "is damaged"),
        ({"intercept": "many"}, "is damaged"),
        ({"recipe": None}, "is damaged"),
        ({"columns": [{"name": "bmi", "levels": None, "fill": "x"}]}, "is damaged"),
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


@pytest.mark.parametrize(
    "options", [(), ("--no-intercept",), ("--no-standardize", "--gamma", "1e-6"), ("--impute", "median")]
)
def test_check_is_valid_for_what_was_fitted(run, json_of, hitters: Path, options: tuple[str, ...]) -> None:
    run("fit", hitters, *HITTERS, *options, "--certificate", "p.npz", "--quiet")
    assert run("check", "p.npz", hitters).stdout.startswith("valid: ")
    values = json_of("check", "p.npz", hitters)
    assert values["valid"] is True
    assert values["same_file"] is True
    assert len(values["features"]) == 5


def test_check_with_weights_and_forced_features(run, diabetes_frame: pd.DataFrame) -> None:
    diabetes_frame.assign(m=np.arange(442) % 4).to_csv("d.csv", index=False)
    run("fit", "d.csv", "-t", "y", "-k", 3, "--weights", "m", "--force-in", "age", "--certificate", "p.npz")
    run("check", "p.npz", "d.csv")


def test_check_says_no_to_other_data(run, json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    run("fit", diabetes, "-t", "y", "-k", 4, "--certificate", "p.npz")
    changed = diabetes_frame.copy()
    changed.loc[7, "bmi"] += 0.01
    changed.to_csv("changed.csv", index=False)
    result = run("check", "p.npz", "changed.csv", code=4)
    assert result.stdout.startswith("INVALID: ")
    assert "is not byte for byte the file of the fit" in result.stderr
    assert json_of("check", "p.npz", "changed.csv", code=4)["valid"] is False
    diabetes_frame.head(400).to_csv("short.csv", index=False)
    run("check", "p.npz", "short.csv", code=4)
    # The same numbers in another file are the same data.
    diabetes_frame.to_parquet("same.parquet")
    assert json_of("check", "p.npz", "same.parquet")["same_file"] is False


def test_check_says_no_to_a_claim_that_is_too_good(run, diabetes: Path) -> None:
    from dataclasses import replace

    run("fit", diabetes, "-t", "y", "-k", 4, "--certificate", "p.npz")
    certificate, recipe, source = load_proof("p.npz")
    assert recipe is not None
    assert source is not None
    forged = replace(certificate, lower_bound=certificate.lower_bound * 1.01)
    save_proof("forged.npz", forged, recipe, source)
    run("check", "forged.npz", diabetes, code=4)


def test_check_of_a_proof_saved_from_python(run, refused, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    X, y = diabetes_frame.drop(columns="y"), diabetes_frame["y"]
    pf.solve(X, y, k=3, gamma=1.0).certificate.save("raw.npz")
    run("check", "raw.npz", diabetes, "--target", "y", "--no-intercept", "--no-standardize")
    run("check", "raw.npz", diabetes, "--target", "y", code=4)
    assert "give --target" in refused("check", "raw.npz", diabetes)


def test_proofs_that_are_none(run, refused, diabetes: Path) -> None:
    assert "nothing.npz does not exist" in refused("check", "nothing.npz", diabetes)
    run("fit", diabetes, "-t", "y", "-k", 4, "--certificate", "p.npz")
    whole = Path("p.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    assert "cut.npz is not a readable Parsifal certificate" in refused("check", "cut.npz", diabetes)
    assert "leave out --drop" in refused("check", "p.npz", diabetes, "--drop", "s1")
    assert "the proof is about 'y', not 's1'" in refused("check", "p.npz", diabetes, "--target", "s1")
    np.savez("other.npz", a=np.zeros(3))
    assert "Parsifal certificate" in refused("check", "other.npz", diabetes)


def test_a_recipe_survives_its_file(run, diabetes: Path) -> None:
    table = read_table(diabetes)
    recipe = Recipe(
        target="y", drop=("s1", "s2"), categorical=("sex",), impute="median", delimiter=";", intercept=False
    )
    run("fit", diabetes, "-t", "y", "-k", 2, "--certificate", "p.npz")
    save_proof("again.npz", load_proof("p.npz")[0], recipe, table.source)
    assert load_proof("again.npz")[1:] == (recipe, table.source)
