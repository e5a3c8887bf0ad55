"""Kinds of files: Excel, lines of JSON, standard input; the same table gives the same model in each."""

from __future__ import annotations

import datetime
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from parsifal.errors import DataError, InputError
from parsifal.tabular import Recipe, encode, read_table, settle


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "when": pd.date_range("2021-03-01", periods=30).strftime("%Y-%m-%d"),
            "town": rng.choice(["A", "B", "C"], 30),
            "old": rng.choice([True, False], 30),
            "size": rng.standard_normal(30).round(3),
            "rooms": rng.integers(1, 6, 30),
            "y": rng.standard_normal(30).round(3),
        }
    )


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(list(frame.columns))
        for row in frame.astype(object).itertuples(index=False):
            book.active.append([datetime.date.fromisoformat(row[0]), *(_plain(value) for value in row[1:])])
        book.save(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif path.suffix == ".parquet":
        frame.assign(when=pd.to_datetime(frame["when"])).to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def matrix(path: Path | str) -> tuple[tuple[str, ...], np.ndarray]:
    table = read_table(path)
    found = settle(table, Recipe(target="y"))
    encoded = encode(table, found.recipe)
    return encoded.features, encoded.design.columns(range(len(encoded.features)))


@pytest.mark.parametrize("kind", [".xlsx", ".jsonl", ".parquet"])
def test_the_same_table_in_every_kind_of_file(frame: pd.DataFrame, tmp_path: Path, kind: str) -> None:
    names, expected = matrix(write(frame, tmp_path / "d.csv"))
    assert names == ("when", "town=A", "town=B", "town=C", "old", "size", "rooms")
    found, values = matrix(write(frame, tmp_path / f"d{kind}"))
    assert found == names
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("kind", [".csv", ".xlsx", ".jsonl", ".parquet"])
def test_a_table_through_a_pipe(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = write(frame, tmp_path / f"d{kind}")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    table = read_table("-")
    there = read_table(path)
    assert table.names == there.names
    assert table.source.path == "-"
    assert table.source.sha256 == there.source.sha256


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "standard input is empty"), (b"a,b\n1,2\n3\n", "standard input cannot be read")]
)
def test_a_pipe_with_nothing_of_use(monkeypatch: pytest.MonkeyPatch, content: bytes, words: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(DataError, match=words):
        read_table("-")


def test_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "empty"
    sheet = book.create_sheet("data")
    for row in ([], ["a", None, "y", None], [1, "x", 2, None], [None, None, None], ["NA", "#DIV/0!", 3.5, None]):
        sheet.append(row)
    sheet["E9"].number_format = "0.00"
    other = book.create_sheet("other")
    for row in (["b", "y"], [1, 2], [True, datetime.datetime(2020, 1, 2, 12)]):
        other.append(row)
    book.save(tmp_path / "d.xlsx")
    table = read_table(tmp_path / "d.xlsx")
    assert table.names == ("a", "column2", "y")
    np.testing.assert_array_equal(table["a"], [1.0, np.nan])
    assert table["column2"].tolist() == ["x", "#DIV/0!"]
    assert table["y"].tolist() == [2.0, 3.5]
    assert read_table(tmp_path / "d.xlsx", sheet="other").names == ("b", "y")
    with pytest.raises(InputError, match="has no sheet 'third'; its sheets are empty, data, other"):
        read_table(tmp_path / "d.xlsx", sheet="third")
    with pytest.raises(DataError, match="has no rows"):
        read_table(tmp_path / "d.xlsx", sheet="empty")


@pytest.mark.parametrize("content", [b"PK\x03\x04 no archive", b"text", b"\xd0\xcf\x11\xe0 the old format"])
def test_files_that_are_no_excel(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "d.xlsx").write_bytes(content)
    with pytest.raises(DataError, match=r"d\.xlsx is not an Excel file"):
        read_table(tmp_path / "d.xlsx")


def test_lines_of_json(tmp_path: Path) -> None:
    rows = [{"a": 1, "g": "u"}, {"a": None, "b": [1, 2], "g": None}, {"b": 3, "a": 2.5, "g": "NA", "late": True}]
    (tmp_path / "d.jsonl").write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    table = read_table(tmp_path / "d.jsonl")
    assert table.names == ("a", "g", "b", "late")
    np.testing.assert_array_equal(table["a"], [1.0, np.nan, 2.5])
    assert table["g"].tolist() == ["u", None, None]
    assert table.unread == {"b": "list"}
    np.testing.assert_array_equal(table["late"], [np.nan, np.nan, 1.0])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a": 1', "line 2 of .* is no JSON"),
        ("[1, 2]", "line 2 of .* is a list, not an object; one object a line is needed"),
        ("3", "line 2 of .* is a int, not an object"),
        ('{"a": 1, "a": 2}', "a key is there twice"),
        ("[" * 100_000, "nested too deeply|no JSON"),
    ],
)
def test_lines_that_are_no_objects(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "d.jsonl").write_text('{"a": 1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=words):
        read_table(tmp_path / "d.jsonl")
