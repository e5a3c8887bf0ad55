"""`parsifal check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import parsifal as pf
from parsifal.tabular import Recipe, load_proof, read_table, save_proof

HITTERS = ("-t", "Salary", "-k", 5, "--drop-missing", "--categorical", "auto")


@pytest.mark.parametrize(
    "options", [(), ("--no-intercept",), ("--no-standardize", "--gamma", "1e-6"), ("--impute", "median")]
)
def test_check_is_valid_for_what_was_fitted(run, json_of, hitters: Path, options: tuple[str, ...]) -> None:
    run("fit", hitters, *HITTERS, *options, "--certificate", "p.npz", "--quiet")
    assert run("check", "p.npz", hitters).stdout.startswith("valid: ")
    values = json_of("check", "p.npz", hitters)
    assert values["valid"] is True
    assert values["same_file"] is True
    assert values["exact"] is False
    assert len(values["features"]) == 5


def test_check_in_exact_arithmetic(run, json_of, hitters: Path, diabetes: Path) -> None:
    for options in ((), ("--no-standardize", "--gamma", "1e-6")):
        run("fit", hitters, *HITTERS, *options, "--certificate", "p.npz", "--quiet")
        first = run("check", "p.npz", hitters, "--exact").stdout.splitlines()[0]
        assert first.startswith("valid: ")
        assert first.endswith("records in exact arithmetic.")
        assert json_of("check", "p.npz", hitters, "--exact")["exact"] is True
    run("fit", diabetes, "-t", "y", "-k", 4, "--certificate", "p.npz", "--quiet")
    certificate, recipe, source = load_proof("p.npz")
    assert recipe is not None
    assert source is not None
    save_proof("forged.npz", replace(certificate, lower_bound=certificate.lower_bound * 1.01), recipe, source)
    assert run("check", "forged.npz", diabetes, "--exact", code=4).stdout.startswith("INVALID: ")


def test_check_of_a_fit_that_adjusts(run, json_of, hitters: Path) -> None:
    """A categorical column's name stands for its indicators, which depend on each other beside an intercept."""
    options = ("--adjust", "League,Years", "--certificate", "p.npz", "--out", "m.json")
    values = json_of("fit", hitters, *HITTERS, *options)
    assert [row["name"] for row in values["adjusted"]] == ["Years", "League=N"]
    assert not {"Years", "League=N"} & {row["name"] for row in values["features"]}
    assert json_of("check", "p.npz", hitters)["adjusted_for"] == ["League", "Years"]
    assert run("check", "p.npz", hitters, "--exact").stdout.startswith("valid: ")
    certificate, recipe, source = load_proof("p.npz")
    assert recipe is not None
    assert source is not None
    save_proof("other.npz", certificate, replace(recipe, adjust=("Years",)), source)
    assert run("check", "other.npz", hitters, code=4).stdout.startswith("INVALID: ")
    frame = pd.read_csv(hitters).dropna()
    frame.to_csv("new.csv", index=False)
    run("predict", "m.json", "new.csv", "--out", "predicted.csv")
    coded = frame.drop(columns="Salary").assign(
        **{
            f"{name}={last}": frame[name] == last
            for name, last in (("League", "N"), ("Division", "W"), ("NewLeague", "N"))
        }
    )
    coef = {row["name"]: row["coefficient"] for row in values["features"] + values["adjusted"]}
    by_hand = values["intercept"] + sum(coef[name] * coded[name].astype(float) for name in coef)
    np.testing.assert_allclose(pd.read_csv("predicted.csv").iloc[:, -1], by_hand, rtol=1e-8)


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
