"""Text files through pyarrow: delimiter, decimal point and encoding are found out where they are not given.

A delimiter is looked for where the usual one leaves the header whole; the decimal point is a comma where fields are
separated by semicolons and numbers have commas that separate no thousands; text that is not UTF-8 is Windows-1252.
"""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parsifal.errors import DataError, InputError
from parsifal.files.untrusted import check_unpacked, unpacked_limit
from parsifal.tabular.column import MISSING

CSV = (".csv", ".tsv", ".txt")
_BLOCK = 1 << 24  # bytes of a text file looked at at a time; a row must fit in
_PER_COLUMN = 9_000  # bytes that pyarrow's CSV reader takes for a column, however few rows there are
_PER_ENTRY = 24  # bytes that an entry of a text file takes while it is read
_OTHERS = (";", "\t", "|", ",")
_SAMPLE = 1 << 16  # characters that the decimal point is looked for in
_FALLBACK = "cp1252"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a text file is written; None is to be found out."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def usual(self, suffix: str) -> Dialect:
        """With what is usual for what is not known."""
        return Dialect(
            delimiter=("\t" if suffix == ".tsv" else ",") if self.delimiter is None else self.delimiter,
            decimal="." if self.decimal is None else self.decimal,
            encoding="utf-8" if self.encoding is None else self.encoding,
        )


def read_text(path: Path, suffix: str, given: Dialect) -> tuple[Any, Dialect]:
    """The table of a text file, and how it is written.

    Parameters
    ----------
    path, suffix
        The file, and its ending but for that of a compression.
    given : Dialect
        What is known.
    """
    import pyarrow as pa

    _check(given)
    compressed = suffix != path.suffix.lower()
    with pa.input_stream(str(path), compression="detect" if compressed else None) as file:
        head = file.read(_BLOCK)
    guessed = given.encoding is None
    try:
        found = _found(head, suffix, replace(given, encoding=_encoding(head)) if guessed else given)
    except LookupError:
        raise InputError(f"encoding {given.encoding!r} is not known; try --encoding latin-1") from None
    check_unpacked(path, _PER_COLUMN * _header_columns(_decoded(head, found), str(found.delimiter)))
    table = _in_encoding(path, found, compressed)
    if table is None and guessed and found.encoding == "utf-8":
        found = replace(found, encoding=_FALLBACK)
        table = _in_encoding(path, found, compressed)
    if table is None:
        raise DataError(f"{path} is not {found.encoding} text; give its encoding, for instance --encoding latin-1")
    _check_columns(table, path, str(found.delimiter))
    return table, found


def _encoding(head: bytes) -> str:
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    try:
        # Not final: the last character of the block may be cut.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return _FALLBACK
    return "utf-8"


def _in_encoding(path: Path, dialect: Dialect, compressed: bool) -> Any:
    """The table, None if the file is in another encoding."""
    import pyarrow as pa

    try:
        table = _read(path, dialect, compressed)
    except UnicodeDecodeError:
        return None
    # Bytes that are not UTF-8 come as such.
    return None if any(pa.types.is_binary(field.type) for field in table.schema) else table


def _check(given: Dialect) -> None:
    if given.delimiter is not None and len(given.delimiter) != 1:
        raise InputError(
            f"the delimiter must be one character, not {given.delimiter!r}; for a tab write --delimiter tab"
        )
    if given.decimal is not None and len(given.decimal) != 1:
        raise InputError(f"the decimal point must be one character, not {given.decimal!r}")


def _decoded(head: bytes, dialect: Dialect) -> str:
    return head.decode(dialect.encoding or "utf-8", "ignore").removeprefix("\ufeff")


def _found(head: bytes, suffix: str, given: Dialect) -> Dialect:
    usual = given.usual(suffix)
    text = _decoded(head, usual)
    between = str(usual.delimiter)
    if given.delimiter is None and _header_columns(text, between) == 1:
        fields = {other: _header_columns(text, other) for other in _OTHERS if other != between}
        best = max(fields, key=lambda other: fields[other])
        between = best if fields[best] > 1 else between
    decimal = usual.decimal
    if given.decimal is None and between == ";" and _has_decimal_commas(text[:_SAMPLE]):
        decimal = ","
    return replace(usual, delimiter=between, decimal=decimal)


def _has_decimal_commas(text: str) -> bool:
    """Whether numbers between semicolons have commas that can only be decimal points, and none has a point."""
    fields = [field.strip(' "') for line in text.splitlines()[1:] for field in line.split(";")]
    commas = [field for field in fields if re.fullmatch(r"-?\d+,\d+", field)]
    points = any(re.fullmatch(r"-?\d*\.\d+", field) for field in fields)
    return not points and any(not re.fullmatch(r"-?[1-9]\d{0,2},\d{3}", field) for field in commas)


def _read(path: Path, dialect: Dialect, compressed: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    between = str(dialect.delimiter)

    def stream() -> Any:
        return _Unpacked(pa.input_stream(str(path), compression="detect"), path, between) if compressed else str(path)

    def read(block: int) -> Any:
        return csv.read_csv(
            stream(),
            read_options=csv.ReadOptions(encoding=dialect.encoding, block_size=block),
            parse_options=csv.ParseOptions(delimiter=between, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                null_values=list(MISSING),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                decimal_point=dialect.decimal,
            ),
        )

    try:
        return read(_BLOCK)
    except pa.ArrowInvalid:
        # The kind of a column is taken from the first block, and a later one may be of another: read as one block.
        size = path.stat().st_size + 1
        if compressed or not _BLOCK < size < 1 << 31:
            raise
        return read(size)


def _check_columns(table: Any, path: Path, between: str) -> None:
    header = table.column_names[0] if table.num_columns == 1 else ""
    for other in _OTHERS:
        if other != between and other in header:
            name = "tab" if other == "\t" else f"'{other}'"
            raise DataError(f"{path} has one column only, {header!r}; try --delimiter {name}")


def _header_columns(text: str, delimiter: str) -> int:
    """How many fields the first line with anything in it has; a field in quotes may hold delimiters and line ends."""
    stop = re.compile(f"[{re.escape(delimiter)}\r\n]")
    at, count = len(text) - len(text.lstrip("\r\n")), 1
    while True:
        if text[at : at + 1] == '"':
            at = _after_quotes(text, at + 1)
        found = stop.search(text, at)
        if found is None or found.group() != delimiter:
            return count
        count, at = count + 1, found.end()


def _after_quotes(text: str, at: int) -> int:
    """The place after the closing quote; two quotes in a row are a character."""
    while (at := text.find('"', at) + 1) > 0:
        if text[at : at + 1] != '"':
            return at
        at += 1
    return len(text)


class _Unpacked(io.RawIOBase):
    """What a compressed text file unpacks to, as long as this is in proportion to the file."""

    def __init__(self, stream: Any, path: Path, delimiter: str) -> None:
        self.stream, self.path = stream, path
        self.separators = (delimiter.encode(), b"\n")
        self.left = unpacked_limit(path.stat().st_size)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(self.left + 1 if size < 0 else size)
        self.left -= len(data) + _PER_ENTRY * sum(data.count(one) for one in self.separators)
        if self.left < 0:
            raise DataError(f"{self.path} unpacks to more than text of its size would; unpack it first")
        return data
