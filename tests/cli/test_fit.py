"""`parsifal fit`: the same answers as the estimators, in every file format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import parsifal as pf
from parsifal.tabular import load_proof


def model_of(frame: pd.DataFrame, **parameters: object) -> pf.SparseRegressor:
    return pf.SparseRegressor(**parameters).fit(frame.drop(columns="y"), frame["y"])


def test_fit_shows_features_and_the_proof_in_a_sentence(run, diabetes: Path) -> None:
    result = run("fit", diabetes, "--target", "y", "--k", 4)
    for name in ("bmi", "bp", "s1", "s5", "(intercept)"):
        assert name in result.stdout
    assert "Proven: no other choice of at most 4 of the 10 features" in result.stdout


def test_json_agrees_with_the_estimator(json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    values = json_of("fit", diabetes, "--target", "y", "--k", 4)
    model = model_of(diabetes_frame, k=4)
    assert values["proven"] is True
    found = {row["name"]: row["coefficient"] for row in values["features"]}
    assert list(found) == list(model.get_feature_names_out())
    np.testing.assert_allclose(list(found.values()), model.coef_[model.support_], rtol=1e-9)
    assert values["intercept"] == pytest.approx(model.intercept_, rel=1e-9)
    assert values["result"]["objective"] == pytest.approx(model.objective_, rel=1e-9)
    assert values["result"]["lower_bound"] <= values["result"]["objective"]


def test_quiet_prints_nothing(run, diabetes: Path) -> None:
    result = run("fit", diabetes, "-t", "y", "-k", 3, "--quiet", "--out", "m.json")
    assert result.output == ""
    assert Path("m.json").exists()


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".parquet", ".arrow", ".feather"])
def test_every_table_format_gives_the_same_model(json_of, diabetes_frame: pd.DataFrame, suffix: str) -> None:
    file = Path("data" + suffix)
    if suffix == ".parquet":
        diabetes_frame.to_parquet(file)
    elif suffix == ".feather":
        diabetes_frame.to_feather(file)
    elif suffix == ".arrow":
        pl.from_pandas(diabetes_frame).write_ipc_stream(file)
    else:
        diabetes_frame.to_csv(file, index=False, sep="\t" if suffix == ".tsv" else ",")
    values = json_of("fit", file, "--target", "y", "--k", 4)
    assert [row["name"] for row in values["features"]] == ["bmi", "bp", "s1", "s5"]


def test_arrays_name_their_target_by_number_file_or_name(json_of, diabetes_frame: pd.DataFrame) -> None:
    whole = diabetes_frame.to_numpy()
    np.save("all.npy", whole)
    np.save("X.npy", whole[:, :-1])
    np.save("y.npy", whole[:, -1])
    np.savez("both.npz", X=whole[:, :-1], response=whole[:, -1])
    for arguments in (
        ("all.npy", "--target", "-1"),
        ("all.npy", "--target", "10"),
        ("all.npy", "--target", "x10"),
        ("X.npy", "--target", "y.npy"),
        ("both.npz", "--target", "response"),
    ):
        values = json_of("fit", *arguments, "--k", 4)
        assert [row["name"] for row in values["features"]] == ["x2", "x3", "x4", "x8"], arguments


def test_a_large_array_is_read_from_its_file(json_of, diabetes_frame: pd.DataFrame, monkeypatch) -> None:
    whole = diabetes_frame.to_numpy()
    np.save("X.npy", whole[:, :-1])
    np.save("y.npy", whole[:, -1])
    small = json_of("fit", "X.npy", "--target", "y.npy", "--k", 4)
    monkeypatch.setattr("parsifal.tabular.arrayfiles._COPIED", 0)
    opened = []
    monkeypatch.setattr(
        "parsifal.tabular.encoding.open_design", lambda path: opened.append(path) or pf.open_design(path)
    )
    large = json_of("fit", "X.npy", "--target", "y.npy", "--k", 4)
    assert opened == ["X.npy"]
    assert large["features"] == small["features"]


def test_a_column_may_change_its_kind_far_down(json_of, diabetes_frame: pd.DataFrame, monkeypatch) -> None:
    whole = diabetes_frame.assign(bmi=[0] * 40 + [1.5] * 402, colour=["1"] * 400 + ["blue"] * 42)
    whole.to_csv("late.csv", index=False)
    first = json_of("fit", "late.csv", "-t", "y", "-k", 3, "--categorical", "colour")
    monkeypatch.setattr("parsifal.tabular.textfile._BLOCK", 2000)
    assert json_of("fit", "late.csv", "-t", "y", "-k", 3, "--categorical", "colour")["features"] == first["features"]


def test_weights_are_a_row_written_twice(json_of, diabetes_frame: pd.DataFrame) -> None:
    part = diabetes_frame.head(60)
    part.assign(m=[2.0] * 20 + [1.0] * 40).to_csv("weighted.csv", index=False)
    pd.concat([part.head(20), part]).to_csv("twice.csv", index=False)
    weighted = json_of("fit", "weighted.csv", "-t", "y", "-k", 3, "--weights", "m")
    twice = json_of("fit", "twice.csv", "-t", "y", "-k", 3)
    for one, other in zip(weighted["features"], twice["features"], strict=True):
        assert one["name"] == other["name"]
        assert one["coefficient"] == pytest.approx(other["coefficient"], rel=1e-8)


def test_options_reach_the_estimator(json_of, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    values = json_of(
        *("fit", diabetes, "-t", "y", "-k", 5, "--gamma", "0.5", "--penalty", "100", "--no-intercept"),
        *("--no-standardize", "--force-in", "age", "--force-out", "bmi,bp", "--drop", "s6", "--threads", 1),
    )
    model = pf.SparseRegressor(
        k=5,
        gamma=0.5,
        penalty=100,
        fit_intercept=False,
        standardize=False,
        force_in=["age"],
        force_out=["bmi", "bp"],
    ).fit(diabetes_frame.drop(columns=["y", "s6"]), diabetes_frame["y"])
    assert [row["name"] for row in values["features"]] == list(model.get_feature_names_out())
    assert values["result"]["objective"] == pytest.approx(model.objective_)
    assert values["intercept"] == 0.0


def test_hitters_with_categories_matches_the_published_subset(json_of, hitters: Path) -> None:
    values = json_of(
        "fit", hitters, "-t", "Salary", "-k", 6, "--gamma", "1e6", "--drop-missing", "--categorical", "auto"
    )
    published = {"AtBat", "Hits", "Walks", "CRBI", "Division=W", "PutOuts"}
    assert {row["name"] for row in values["features"]} == published
    assert values["result"]["rows"] == 263
    assert values["result"]["features"] == 19


def test_imputation_is_the_median_and_the_most_frequent_level(json_of) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((50, 3)), columns=["a", "b", "c"])
    frame["colour"] = rng.choice(["red", "green", "blue"], 50, p=[0.6, 0.2, 0.2])
    frame["y"] = frame["a"] - frame["b"] + 2.0 * (frame["colour"] == "green")
    frame.loc[3, "a"] = np.nan
    frame.loc[[5, 6], "colour"] = None
    frame.to_csv("gaps.csv", index=False)
    values = json_of("fit", "gaps.csv", "-t", "y", "-k", 3, "--impute", "median", "--categorical", "colour")
    filled = frame.assign(a=frame["a"].fillna(frame["a"].median()), colour=frame["colour"].fillna("red"))
    for level in ("blue", "green", "red"):
        filled[f"colour={level}"] = (filled["colour"] == level).astype(float)
    model = model_of(filled.drop(columns="colour"), k=3)
    assert {row["name"] for row in values["features"]} == set(model.get_feature_names_out())
    assert values["result"]["objective"] == pytest.approx(model.objective_)
    fills = {row["name"]: row["fill"] for row in values["columns"]}
    assert fills["a"] == pytest.approx(frame["a"].median())
    assert fills["colour"] == "red"


def test_forcing_a_category_forces_its_indicators(json_of, hitters: Path) -> None:
    values = json_of(
        *("fit", hitters, "-t", "Salary", "-k", 3, "--drop-missing", "--categorical", "League,Division,NewLeague"),
        *("--force-in", "League"),
    )
    assert "League=N" in {row["name"] for row in values["features"]}


def test_a_limit_is_exit_code_three_with_the_gap(run, json_of, hard: Path) -> None:
    result = run("fit", hard, "-t", "y", "-k", 15, "--gamma", 10, "--node-limit", 3, code=3)
    assert "Not proven: the node limit ended the search" in result.stdout
    values = json_of("fit", hard, "-t", "y", "-k", 15, "--gamma", 10, "--node-limit", 3, code=3)
    assert values["proven"] is False
    assert values["result"]["status"] == "node_limit"
    assert values["result"]["gap"] > 1e-6


def test_a_checkpoint_is_written_and_taken_up(json_of, diabetes: Path) -> None:
    first = json_of("fit", diabetes, "-t", "y", "-k", 4, "--checkpoint", "state.ckpt")
    assert Path("state.ckpt").exists()
    assert json_of("fit", diabetes, "-t", "y", "-k", 4, "--checkpoint", "state.ckpt")["features"] == first["features"]


def test_the_papers_cutting_planes_say_on_whose_word(run, json_of, diabetes: Path) -> None:
    pytest.importorskip("highspy")
    common = ("fit", diabetes, "-t", "y", "-k", 4, "--method", "cutting-plane", "--backend", "highs")
    values = json_of(*common)
    assert [row["name"] for row in values["features"]] == ["bmi", "bp", "s1", "s5"]
    result = run(*common, "--certificate", "p.npz", "--report", "r.html", "--report-time", 1)
    if values["result"]["rests_on"] is not None:
        assert "Optimal: no other choice" in result.stdout
        assert "is not the whole proof" in result.stderr
        assert "Not all of this is in the certificate" in Path("r.html").read_text(encoding="utf-8")
    run("check", "p.npz", diabetes)


def test_files_are_written_and_name_the_command(run, diabetes: Path) -> None:
    run("fit", diabetes, "-t", "y", "-k", 4, "--out", "m.json", "--certificate", "p.npz", "--report", "r.html")
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert model["format"] == "parsifal-model"
    assert model["version"] == 2
    assert model["command"].startswith("parsifal fit diabetes.csv -t y -k 4 --out m.json")
    assert model["data"]["rows"] == 442
    certificate, recipe, source = load_proof("p.npz")
    assert certificate.complete
    assert recipe is not None
    assert recipe.target == "y"
    assert source is not None
    assert source.sha256 == model["data"]["sha256"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert model["command"] in page
    assert model["data"]["sha256"] in page
    assert not list(Path().glob("*.part"))
