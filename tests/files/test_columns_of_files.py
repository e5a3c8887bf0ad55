"""Columns of tables are what was written, whatever the file keeps them as; the bounds of `test_memory` lose nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import parsifal as pf
from parsifal.tabular import encode, read_table
from parsifal.tabular.ipc import unpacked_size
from parsifal.tabular.recipe import Recipe


def _mixed() -> pa.Table:
    return pa.table(
        {
            "text": ["a", None, "b", "a"] * 5000,
            "large": pa.array(["é", "b", None, "longer text"] * 5000, pa.large_string()),
            "levels": pa.array([None, "b", "c", "c"] * 5000).dictionary_encode(),
            "codes": pa.array([1.5, None, 2.0, 2.0] * 5000).dictionary_encode(),
            "when": pa.array([0, 1, None, 2] * 5000, pa.timestamp("s")),
            "day": pa.array([0, 1, None, 2] * 5000, pa.date32()),
            "hour": pa.array([0, 1, None, 2] * 5000, pa.time32("s")),
            "money": pa.array([1, 2, None, 4] * 5000).cast(pa.decimal128(25, 2)),
            "flag": [True, False, True, True] * 5000,
            "gaps": [True, None, True, True] * 5000,
            "int": pa.array([1, 2, 3, 4] * 5000, pa.int8()),
            "single": pa.array([1, None, 3, 4] * 5000, pa.float32()),
            "half": pa.array(np.array([1, 2, 3, 4] * 5000, np.float16)),
            "none": pa.nulls(20_000),
            "lists": pa.array([[1], [2, 3], None, []] * 5000),
            "bytes": pa.array([b"a", b"b", None, b"c"] * 5000),
        }
    )


EXPECTED = {
    "text": ["a", None, "b", "a"],
    "large": ["é", "b", None, "longer text"],
    "levels": [None, "b", "c", "c"],
    "codes": [1.5, np.nan, 2.0, 2.0],
    "when": np.array(["1970-01-01T00:00:00", "1970-01-01T00:00:01", "NaT", "1970-01-01T00:00:02"], "M8[s]").tolist(),
    "day": np.array(["1970-01-01", "1970-01-02", "NaT", "1970-01-03"], "M8[D]").tolist(),
    "hour": ["00:00:00", "00:00:01", None, "00:00:02"],
    "money": [1.0, 2.0, np.nan, 4.0],
    "flag": [True, False, True, True],
    "gaps": [1.0, np.nan, 1.0, 1.0],
    "int": [1, 2, 3, 4],
    "single": [1.0, np.nan, 3.0, 4.0],
    "half": [1.0, 2.0, 3.0, 4.0],
    "none": [np.nan] * 4,
}


@pytest.mark.parametrize("form", ["parquet", "groups", "plain", "feather", "uncompressed", "stream", "views"])
def test_columns_come_as_they_are(form: str, tmp_path: Path) -> None:
    table = _mixed()
    path = tmp_path / ("x.parquet" if form in ("parquet", "groups", "plain") else "x.feather")
    if form == "stream":
        with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    elif form in ("feather", "uncompressed", "views"):
        if form == "views":
            table = table.set_column(0, "text", table["text"].cast(pa.string_view()))
        feather.write_feather(table, path, compression="uncompressed" if form == "uncompressed" else "lz4")
    else:
        half = table.drop_columns(["half"]) if form == "plain" else table
        parquet.write_table(
            half, path, row_group_size=333 if form == "groups" else 20_000, use_dictionary=form != "plain"
        )
    found = read_table(path)
    for name in found.names:
        if name in ("lists", "bytes"):
            with pytest.raises(
                pf.DataError, match=f"column '{name}' of .* has type .*neither numbers, text nor dates; leave"
            ):
                found[name]
            continue
        column, expected = found[name], EXPECTED[name] * 5000
        if name in ("when", "day"):
            expected = np.array(expected, column.dtype)
        assert column.dtype.kind == ("O" if isinstance(expected[3], str) else np.asarray(expected).dtype.kind)
        if column.dtype.kind == "O":
            assert all(a == b for a, b in zip(column, expected, strict=True))
        else:
            np.testing.assert_array_equal(column, expected)


def test_equal_texts_are_one(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"a": ["some text", "other"] * 1000}), tmp_path / "x.feather")
    column = read_table(tmp_path / "x.feather")["a"]
    assert len({id(text) for text in column}) == 2


def test_the_most_frequent_level_fills_gaps(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("c,y\nb,1\na,2\n,3\na,5\nb,4\nc,1\n")
    encoded = encode(read_table(tmp_path / "x.csv"), Recipe(target="y", categorical=("c",), impute="median"))
    (code,) = encoded.codes
    assert code.levels == ("a", "b", "c")
    assert code.fill == "a"


def test_the_size_of_an_arrow_file_is_that_of_its_buffers(tmp_path: Path) -> None:
    table = pa.table({"a": np.random.default_rng(0).standard_normal(10_000), "s": ["text"] * 10_000})
    for compression in ("uncompressed", "lz4", "zstd"):
        feather.write_feather(table, tmp_path / "x.feather", compression=compression, chunksize=999)
        needed = unpacked_size(tmp_path / "x.feather")
        assert table.nbytes <= needed <= 1.2 * table.nbytes + 10_000
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=999)
    assert table.nbytes <= unpacked_size(tmp_path / "x.arrow") <= 1.2 * table.nbytes + 10_000


def test_a_header_in_quotes_is_counted_as_it_is_read(tmp_path: Path) -> None:
    from parsifal.tabular.textfile import _header_columns

    for header, count in (
        ("a,b\n", 2),
        ('"a,b",c\r\n1', 2),
        ('"a\n""x"",b",c', 2),
        ('a"b,c\n', 2),
        ('"open,', 1),
        ("", 1),
    ):
        assert _header_columns(header, ",") == count
    assert _header_columns("\n\na;b;c\n1;2;3", ";") == 3
