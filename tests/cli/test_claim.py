"""What `parsifal check` says was proven: everything that the claim is restricted to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from parsifal.cli.claim import few

FIT = ("fit", "d.csv", "-t", "y", "-k", 4, "--certificate", "p.npz")


@pytest.fixture
def table(diabetes_frame: pd.DataFrame) -> pd.DataFrame:
    frame = diabetes_frame.assign(m=np.arange(442) % 4, g=["a", "b"] * 221)
    frame.loc[3, "bmi"] = np.nan
    frame.to_csv("d.csv", index=False)
    return frame


def said(run, *arguments: object) -> dict[str, str]:
    """The lines of a valid check, by what they are about."""
    lines = run("check", *arguments).stdout.splitlines()
    assert lines[0].startswith("valid: ")
    assert lines[1].startswith("no support of ")
    facts = dict(line.split(": ", 1) for line in lines[2:])
    return {"claim": lines[1], **facts}


def test_everything_that_the_claim_is_about_is_said(run, json_of, table: pd.DataFrame) -> None:
    restricted = ("--weights", "m", "--drop", "s1,s2", "--drop-missing", "--force-in", "age", "--force-out", "s3,s4")
    run(*FIT, *restricted, "--categorical", "g", "--no-intercept", "--no-standardize", "--gamma", 2.5, "--penalty", 100)
    facts = said(run, "p.npz", "d.csv")
    assert "at most 4 of 9 columns, with column 0 forced in and columns 4, 5 forced out, has" in facts["claim"]
    assert "(gamma 2.5, penalty 100 a column)" in facts["claim"]
    assert facts["forced in"] == "age"
    assert facts["forced out"] == "s3, s4"
    assert facts["target"] == "y"
    # Rows 0, 4, 8, ... weigh nothing, and row 3 has a gap.
    assert facts["rows"] == "330 of 442 (1 with gaps left out, 111 of weight 0 left out)"
    assert facts["columns left out"] == "s1, s2"
    assert facts["weights of the rows"] == "column m"
    assert facts["one-hot encoded"] == "g"
    assert facts["intercept"] == "none"
    assert facts["columns"] == "not standardised"
    values = json_of("check", "p.npz", "d.csv")
    assert values["forced_in"] == ["age"]
    assert values["forced_out"] == ["s3", "s4"]
    assert values["dropped_columns"] == ["s1", "s2"]
    assert (values["rows"], values["rows_in_file"], values["candidates"]) == (330, 442, 9)
    assert (values["weights"], values["intercept"], values["standardized"]) == ("m", False, False)
    assert facts["chosen"].split(", ") == values["features"]


def test_nothing_is_said_of_what_is_not_there(run, json_of, table: pd.DataFrame) -> None:
    table.drop(columns=["m", "g"]).fillna(0.0).to_csv("d.csv", index=False)
    run(*FIT)
    facts = said(run, "p.npz", "d.csv")
    assert set(facts) == {"claim", "chosen", "target", "rows", "features to choose from", "intercept", "columns"}
    assert facts["rows"] == "442"
    assert facts["intercept"] == "fitted, outside the ridge"
    assert facts["columns"].startswith("standardised")
    assert "forced" not in facts["claim"]
    assert json_of("check", "p.npz", "d.csv")["impute"] is None


def test_filled_gaps_are_said(run, table: pd.DataFrame) -> None:
    run(*FIT, "--impute", "median", "--categorical", "g", "--drop", "m")
    facts = said(run, "p.npz", "d.csv")
    assert facts["gaps filled with"].startswith("the median")
    assert facts["rows"] == "442"


def test_a_proof_that_does_not_know_its_table_says_so(run, diabetes: Path, diabetes_frame: pd.DataFrame) -> None:
    X, y = diabetes_frame.drop(columns="y"), diabetes_frame["y"]
    pf.solve(X, y, k=3, gamma=1.0).certificate.save("raw.npz")
    facts = said(run, "raw.npz", diabetes, "--target", "y", "--no-intercept", "--no-standardize")
    assert "the proof does not say how its table was encoded" in facts["encoding"]


def test_a_check_that_fails_claims_nothing(run, table: pd.DataFrame) -> None:
    run(*FIT, "--impute", "median", "--categorical", "g", "--drop", "m")
    table.assign(age=table["age"] * 2 + table["bp"]).to_csv("other.csv", index=False)
    (line,) = run("check", "p.npz", "other.csv", code=4).stdout.splitlines()
    assert line.startswith("INVALID: ")


def test_a_name_cannot_look_like_a_line(run, diabetes_frame: pd.DataFrame) -> None:
    name = "age\nforced in: nothing\nvalid\x1b[2K"
    diabetes_frame.rename(columns={"age": name}).to_csv("d.csv", index=False)
    run(*FIT, "--drop", "s1")
    lines = run("check", "p.npz", "d.csv").stdout.splitlines()
    assert not any(line.startswith("forced in") for line in lines)
    run(*FIT, "--force-in", name)
    lines = run("check", "p.npz", "d.csv").stdout.splitlines()
    assert r"forced in: age\nforced in: nothing\nvalid\x1b[2K" in lines


def test_the_fit_says_what_was_forced(run, table: pd.DataFrame) -> None:
    words = ("--drop", "g,m", "--impute", "median", "--force-in", "age", "--force-out", "s1,s2")
    assert "of the 10 features, with 1 forced in and 2 forced out, has a smaller objective" in run(*FIT, *words).stdout


def test_long_lists_are_cut_with_a_count() -> None:
    assert few(["a", "b"]) == "a, b"
    assert few([f"c{j}" for j in range(12)]) == "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ... (12 in all)"
