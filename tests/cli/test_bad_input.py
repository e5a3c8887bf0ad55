"""Whatever is wrong with a table or an option is said in one sentence with the remedy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

TABLE = "a,b,c,y\n1,2,x,3\n2,1,y,5\n3,5,x,4\n4,4,y,9\n5,1,x,7\n6,2,y,8\n"

CASES = {
    "no file": (None, (), "does not exist; check the name"),
    "empty": ("", (), "is empty; give a file with a header"),
    "header only": ("a,b,y\n", (), "has no rows"),
    "ragged": ("a,b,y\n1,2,3\n1,2\n", (), "cannot be read: fields in its header: 3, in a row: 2 ('1,2'); give"),
    "text target": ("a,y\n1,low\n2,high\n", (), "the target 'y' is not a number in row 1 ('low')"),
    "constant target": ("a,y\n1,4\n2,4\n3,4\n", (), "the target 'y' is 4 in every row, so there is nothing to explain"),
    "unknown target": (TABLE, ("--target", "z"), "--target z is not a column of data.csv; its columns are a, b, c, y"),
    "unknown drop": (TABLE, ("--drop", "z"), "--drop z is not a column"),
    "unknown category": (TABLE, ("--categorical", "z"), "--categorical z is not a column"),
    "unknown weights": (TABLE, ("--weights", "z"), "--weights z is not a column"),
    "negative weights": ("a,w,y\n1,1,2\n2,-1,3\n3,1,1\n", ("--weights", "w"), "the weight 'w' is -1 in row 2"),
    "target dropped": (TABLE, ("--drop", "y"), "'y' is dropped but needed"),
    "nothing left": (TABLE, ("--drop", "a,b,c"), "has no columns left to choose from"),
    "one column": ("y\n1\n2\n3\n", (), "has no columns to choose from beside y"),
    "k zero": (TABLE, ("--drop", "c", "-k", "0"), "k must be >= 1"),
    "gamma": (TABLE, ("--drop", "c", "--gamma", "strong"), "--gamma must be a number > 0 or auto, not 'strong'"),
    "negative gamma": (TABLE, ("--drop", "c", "--gamma", "-1"), "gamma must be a number > 0 (large means a weak"),
    "forced": (TABLE, ("--drop", "c", "--force-in", "q"), "--force-in q is not a feature; the features are a, b"),
    "folder": (TABLE, ("--drop", "c", "--out", "nowhere/m.json"), "the folder of nowhere/m.json does not exist"),
    "one row": ("a,y\n1,2\n", (), "at least two are needed"),
    "only identifiers": (
        "id,name,y\n1,a,3\n2,b,5\n3,c,4\n",
        (),
        "no columns left to choose from: id (it counts the rows), name (text with 3 different values in 3 rows)",
    ),
    "misspelt target": ("salary,years\n1,2\n3,4\n", ("--target", "Salry"), "did you mean 'salary'? Its columns are"),
    "a date for a target": ("a,y\n1,1/2/2020\n3,1/3/2020\n", (), "the target 'y' is not a number in row 1"),
    "two ways at once": (
        TABLE,
        ("--dates", "c", "--categorical", "c"),
        "given as two of categorical, dates and numbers",
    ),
    "no dates": (TABLE, ("--dates", "c"), "column 'c' is not numeric"),
    "no numbers": (TABLE, ("--numbers", "c"), "column 'c' is 'x' in row 1, which is no number"),
    "no row without gaps": ("a,b,y\n1,,2\n,1,3\n2,,4\n,2,5\n", ("--drop-missing",), "every row has a missing value"),
    "encoding": (TABLE, ("--encoding", "martian"), "encoding 'martian' is not known"),
    "long delimiter": (TABLE, ("--delimiter", "::"), "the delimiter must be one character"),
    "identifiers": (
        "id,a,y\n" + "".join(f"p{i},{i % 7},{i % 5}\n" for i in range(30)),
        ("--categorical", "id"),
        "'id' has 30 levels, too many for indicators; leave it out with --drop id",
    ),
    "colliding names": (
        "c,c=x,y\nx,1,2\ny,2,3\nz,3,1\n",
        ("--categorical", "c"),
        "two features would be named 'c=x'; rename a column",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(refused, case: str) -> None:
    content, options, words = CASES[case]
    if isinstance(content, bytes):
        Path("data.csv").write_bytes(content)
    elif content is not None:
        Path("data.csv").write_text(content, encoding="utf-8")
    target = () if "--target" in options else ("--target", "y")
    k = () if "-k" in options else ("-k", 1)
    assert words in refused("fit", "data.csv", *target, *k, *options)


def test_errors_as_json_too(run) -> None:
    result = run("fit", "nothing.csv", "-t", "y", "--json", code=2)
    values = json.loads(result.stdout)
    assert values["code"] == 2
    assert "does not exist" in values["error"]


def test_debug_shows_the_traceback(run) -> None:
    from parsifal.errors import DataError

    result = run("fit", "nothing.csv", "-t", "y", "--debug", code=1)
    assert isinstance(result.exception, DataError)


@pytest.mark.parametrize(
    "arguments",
    [("fit",), ("fit", "data.csv"), ("fit", "d.csv", "-t", "y", "--impute", "mean"), ("fly",), ("fit", "--what")],
)
def test_wrong_usage_is_exit_code_two(run, arguments: tuple[str, ...]) -> None:
    run(*arguments, code=2)


def test_other_files(refused) -> None:
    Path("data.xyz").write_bytes(b"PK")
    assert "an ending that is not known" in refused("fit", "data.xyz", "-t", "y")
    Path("data.xlsx").write_bytes(b"PK")
    assert "data.xlsx is not an Excel file" in refused("fit", "data.xlsx", "-t", "y")
    assert "did you mean data.xlsx?" in refused("fit", "date.xlsx", "-t", "y")
    words = refused("fit", "https://a.org/d.csv", "-t", "y")
    assert words.startswith("https://a.org/d.csv is an address, and files are read from this machine only")
    Path("folder.csv").mkdir()
    assert "is a folder" in refused("fit", "folder.csv", "-t", "y")
    Path("bad.parquet").write_bytes(b"not parquet at all")
    assert "bad.parquet cannot be read" in refused("fit", "bad.parquet", "-t", "y")
    Path("bad.npy").write_bytes(b"\x93NUMPY\x01")
    assert "bad.npy cannot be read" in refused("fit", "bad.npy", "-t", "0")
    np.save("vector.npy", np.zeros(5))
    assert "a matrix, rows by columns, is needed" in refused("fit", "vector.npy", "-t", "0")
    np.save("m.npy", np.arange(12.0).reshape(4, 3))
    assert "has columns 0 to 2" in refused("fit", "m.npy", "-t", "7")
    assert "y.npy does not exist" in refused("fit", "m.npy", "-t", "y.npy")
    np.save("y.npy", np.zeros(3))
    assert "4 numbers are needed" in refused("fit", "m.npy", "-t", "y.npy")
    np.savez("two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 2)))
    assert "2 matrices" in refused("fit", "two.npz", "-t", "y")
    np.save("o.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    assert "cannot be read" in refused("fit", "o.npy", "-t", "0")


@pytest.mark.parametrize("ks", ["", "a-b", "0-3", "1-", "5-2"])
def test_sizes(refused, ks: str) -> None:
    Path("data.csv").write_text(TABLE, encoding="utf-8")
    assert "--ks must be" in refused("path", "data.csv", "-t", "y", "--drop", "c", "--ks", ks)


def test_folds(refused) -> None:
    Path("data.csv").write_text(TABLE, encoding="utf-8")
    common = ("data.csv", "-t", "y", "--drop", "c", "--ks", "1")
    assert "--folds 9 is more than the 6 rows" in refused("cv", *common, "--folds", 9)
    assert "--gammas must be numbers" in refused("cv", *common, "--gammas", "x")
    assert "only 1 row" not in refused("cv", *common, "--gammas", "-3")
