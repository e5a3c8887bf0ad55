"""What is done to a table: said before the result, in the model, the report and the proof; `--strict` refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from parsifal.cli.app import app
from parsifal.tabular import SavedModel, load_proof


@pytest.fixture
def messy() -> pd.DataFrame:
    """Text, dates, prices, gaps, row names, a constant; the target follows from a few of them."""
    rng = np.random.default_rng(2)
    n = 60
    frame = pd.DataFrame(
        {
            "": np.arange(1, n + 1),
            "name": [f"house {i}" for i in range(n)],
            "sold": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "town, place": rng.choice(["A", "B", "C"], n),
            "price": [f"${1000 + 37 * (i * 17 % n):,}" for i in range(n)],
            "size": rng.standard_normal(n).round(3),
            "tax": 5,
        }
    )
    frame["y"] = frame["size"] + 2.0 * (frame["town, place"] == "B") + np.arange(n) / 20
    frame.loc[4, "size"] = np.nan
    frame.to_csv("messy.csv", index=False)
    return frame


FIT = ("fit", "messy.csv", "-t", "y", "-k", 3)
SAID = [
    "left out: column1 (it counts the rows), name (text with 60 different values in 60 rows), "
    "tax (it is 5 in every row)",
    "as indicators: town, place",
    "read as numbers: price (with $ and thousands separated by ,)",
    "as days since 1970-01-01: sold (dates)",
    "rows left out: 1 of 60 have gaps, in size (1)",
]


def test_it_is_said_before_the_result_and_in_every_file(run, messy: pd.DataFrame) -> None:
    result = run(*FIT, "--out", "m.json", "--certificate", "p.npz", "--report", "r.html", "--report-time", 0)
    assert result.stderr.splitlines() == SAID
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in model["features"]} == {"size", "town, place=B", "sold"}
    assert [(row["rule"], row["column"]) for row in model["remarks"]] == [
        ("left out", "column1"),
        ("left out", "name"),
        ("left out", "tax"),
        ("as indicators", "town, place"),
        ("read as numbers", "price"),
        ("as days since 1970-01-01", "sold"),
        ("rows left out", None),
    ]
    assert len(SavedModel.load("m.json").remarks) == 7
    page = Path("r.html").read_text(encoding="utf-8")
    for words in (
        "name (text with 60 different values in 60 rows)",
        "price (with $",
        "59 of 60 (1 with gaps left out)",
    ):
        assert words in page
    _, recipe, _ = load_proof("p.npz")
    assert recipe is not None
    assert recipe.drop == ("column1", "name", "tax")
    assert (recipe.categorical, recipe.numbers, recipe.dates) == (("town, place",), ("price",), ("sold",))
    assert recipe.drop_missing


def test_how_target_and_weights_are_written_is_said_in_every_file(run) -> None:
    rows = [
        f'{i * 7 % 30},{i * 11 % 17},"€{1000 + 35 * i:,}",2020-01-{1 + i % 28:02},{10 + i % 4} %' for i in range(30)
    ]
    Path("prices.csv").write_text("\n".join(["a,b,price,sold,share", *rows]), encoding="utf-8")
    words = ("-k", 1, "--certificate", "p.npz", "--report", "r.html", "--report-time", 0)
    run("fit", "prices.csv", "-t", "price", "--weights", "share", *words)
    fact = "price (with € and thousands separated by ,), share (with %)"
    assert f"text read as numbers: {fact}" in run("check", "p.npz", "prices.csv").stdout.splitlines()
    assert fact in Path("r.html").read_text(encoding="utf-8")
    run("fit", "prices.csv", "-t", "sold", *words)
    assert "dates as days since 1970-01-01: sold" in run("check", "p.npz", "prices.csv").stdout.splitlines()


def test_check_and_predict_follow_the_same_rules(run, json_of, messy: pd.DataFrame) -> None:
    run(*FIT, "--out", "m.json", "--certificate", "p.npz")
    lines = run("check", "p.npz", "messy.csv").stdout.splitlines()
    for fact in (
        "columns left out: column1, name, tax",
        "one-hot encoded: town, place",
        "text read as numbers: price (with $ and thousands separated by ,)",
        "dates as days since 1970-01-01: sold",
        "rows: 59 of 60 (1 with gaps left out)",
    ):
        assert fact in lines
    assert json_of("check", "p.npz", "messy.csv")["numbers"] == ["price"]
    found = json_of("predict", "m.json", "messy.csv")["predictions"]
    assert [row for row, value in enumerate(found) if value is None] == [4]
    whole = [value for value in found if value is not None]
    assert np.corrcoef(whole, messy["y"].drop(4))[0, 1] > 0.99
    # A proof is about the table: another date, another matrix.
    messy.assign(sold=["1999-01-01", *messy["sold"][1:]]).to_csv("other.csv", index=False)
    run("check", "p.npz", "other.csv", code=4)


def test_strict_lists_every_fault_and_a_command_that_does(run, json_of, messy: pd.DataFrame) -> None:
    result = run(*FIT, "--strict", code=2)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0] == "error: messy.csv is refused by --strict:"
    assert lines[1:-1] == [
        "  column 'column1': it counts the rows",
        "  column 'name': text with 60 different values in 60 rows",
        "  column 'tax': it is 5 in every row",
        "  column 'town, place': text",
        "  column 'price': with $ and thousands separated by ,",
        "  column 'sold': dates",
        "  1 of 60 have gaps, in size (1)",
    ]
    command = shlex.split(lines[-1].removeprefix("This would do: "))
    assert command[0] == "parsifal"
    strict = json_of(*command[1:])
    assert strict["remarks"] == []
    assert strict["features"] == json_of(*FIT)["features"]
    assert "refused by --strict" in json.loads(run(*FIT, "--strict", "--json", code=2).stdout)["error"]


@pytest.mark.parametrize("command", ["path", "cv", "diagnose"])
def test_other_commands_do_the_same(run, messy: pd.DataFrame, command: str) -> None:
    words = {"path": ("--ks", "1-2"), "cv": ("--ks", "1", "--gammas", "1"), "diagnose": ("--time-limit", "0.5")}[
        command
    ]
    assert run(command, "messy.csv", "-t", "y", *words).stderr.splitlines()[:5] == SAID
    assert (
        "This would do: parsifal " + command in run(command, "messy.csv", "-t", "y", *words, "--strict", code=2).stderr
    )


def test_a_size_beyond_the_features_is_all_of_them(run, messy: pd.DataFrame) -> None:
    result = run("fit", "messy.csv", "-t", "y", "-k", 50)
    assert "there are 6 features only, so k is 6" in result.stderr
    words = ("--drop", '"town, place",name,sold,price,tax')
    assert "there is 1 feature only, so k is 1" in run("fit", "messy.csv", "-t", "y", "-k", 2, *words).stderr
    words = ("--drop", "column1,name,sold,price,tax", "--drop", '"town, place"', "--drop-missing", "--strict")
    assert (
        "k = 50, but X has 1 feature(s); choose k <= 1"
        in run("fit", "messy.csv", "-t", "y", "-k", 50, *words, code=2).stderr
    )


def test_a_table_may_come_through_a_pipe(json_of, messy: pd.DataFrame) -> None:
    expected = json_of(*FIT)
    words = ["fit", "-", "-t", "y", "-k", "3", "--out", "m.json"]
    result = CliRunner().invoke(app, words, input=Path("messy.csv").read_bytes())
    assert result.exit_code == 0, result.output
    model = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert model["features"] == expected["features"]
    assert model["data"] == {**expected["data"], "path": "-"}


def test_a_name_cannot_look_like_a_line(run, messy: pd.DataFrame) -> None:
    messy.rename(columns={"town, place": "town\nleft out: y\x1b[2K"}).to_csv("messy.csv", index=False)
    assert r"as indicators: town\nleft out: y\x1b[2K" in run(*FIT).stderr.splitlines()
    assert len([line for line in run(*FIT, "--strict", code=2).stderr.splitlines() if "column " in line]) == 6


def test_models_of_version_one_are_read(run, json_of, diabetes: Path) -> None:
    run("fit", diabetes, "-t", "y", "-k", 2, "--out", "m.json")
    values = json.loads(Path("m.json").read_text(encoding="utf-8"))
    expected = json_of("predict", "m.json", diabetes)["predictions"]
    values["version"] = 1
    del values["remarks"]
    for name in ("dates", "numbers", "sheet", "adjust"):
        del values["recipe"][name]
    for row in values["columns"]:
        del row["days"], row["form"]
    Path("old.json").write_text(json.dumps(values), encoding="utf-8")
    assert json_of("predict", "old.json", diabetes)["predictions"] == expected


def test_the_tour_runs_every_command_it_shows(run, refused) -> None:
    shown = run("tour", "there").stdout
    for words in ("$ parsifal fit", "Proven:", "$ parsifal check", "valid:", "$ parsifal predict", "$ parsifal path"):
        assert words in shown
    for name in ("diabetes.csv", "model.json", "proof.npz", "report.html", "predictions.csv"):
        assert (Path("there") / name).stat().st_size > 0
    run("tour", "there", "--no-pause")
    (Path("there") / "diabetes.csv").write_text("mine", encoding="utf-8")
    assert "is there already, and is not the tour's" in refused("tour", "there")
