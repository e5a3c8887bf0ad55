"""Tables from files: text, Parquet and Arrow through pyarrow, Excel through openpyxl, lines of JSON, arrays."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from parsifal.errors import DataError, InputError, ParsifalError
from parsifal.tabular.arrayfiles import ARRAYS, array_columns
from parsifal.tabular.arrow import ARROW, PARQUET, arrow_columns
from parsifal.tabular.column import Column
from parsifal.tabular.excel import EXCEL, sheet_columns
from parsifal.tabular.jsonlines import JSON_LINES, json_columns
from parsifal.tabular.names import closest, unique_names
from parsifal.tabular.textfile import CSV, Dialect

STDIN = "-"
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_KNOWN = (*CSV, *PARQUET, *ARROW, *EXCEL, *JSON_LINES, *ARRAYS)
# How files begin that can come through a pipe; what begins otherwise is taken for comma-separated text.
_BEGINS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"\x1f\x8b": ".csv.gz",
    b"{": ".jsonl",
}
# What the parsers of others raise for bytes that are not theirs; pyarrow's errors are of these kinds.
_ANY = (OSError, ValueError, EOFError, MemoryError, LookupError, TypeError, ArithmeticError, NotImplementedError)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table came from: enough to tell whether another file is the same."""

    path: str
    sha256: str
    rows: int
    columns: int


@dataclass(frozen=True, kw_only=True)
class Table:
    """Named columns of equal length (see `column`).

    Columns that are neither numbers, text nor dates are not read; their types are in `unread`. A name that was there
    twice has been changed; `renamed` has the old ones. `dialect` is how a text file turned out to be written, and
    `suffix` its kind.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    source: Source
    unread: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    dialect: Dialect | None = None
    suffix: str = ""

    @property
    def rows(self) -> int:
        return self.source.rows

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def __getitem__(self, name: str) -> Column:
        if name in self.unread:
            raise DataError(
                f"column {name!r} of {self.source.path} has type {self.unread[name]}, neither numbers, text nor dates; "
                f"leave it out with --drop {name}"
            )
        return self.columns[self._place[name]]


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    target: str | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.txt`` (also compressed), ``.xlsx``, ``.jsonl``, ``.parquet``, ``.arrow``, ``.feather``,
        ``.npy`` or ``.npz``; ``-`` is standard input.
    delimiter, decimal, encoding : str, optional
        Of a text file; found out if not given.
    sheet : str, optional
        Of an Excel file; by default the first with anything in it.
    target : str, optional
        For arrays, where the response may be in a file or an array of its own (see `Recipe`).

    Returns
    -------
    Table
        Columns of an array are named ``x0``, ``x1``, ...
    """
    given = Dialect(delimiter=delimiter, decimal=decimal, encoding=encoding)
    if str(path) == STDIN:
        return _from_stdin(given, sheet)
    _check_place(str(path))
    return _read(Path(path), given, sheet, target)


def _check_place(name: str) -> None:
    path = Path(name)
    # As a path, an address has lost one of its slashes.
    address = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/+", r"\1://", name)
    if address != name or "://" in name:
        raise DataError(
            f"{address} is an address, and files are read from this machine only; download it first, or pipe "
            "it in: curl -L ADDRESS | parsifal fit - ..."
        )
    if not path.exists():
        raise DataError(f"{path} does not exist; {_other_file(path)}")
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty; give a file with a header and at least two rows")


def _other_file(path: Path) -> str:
    try:
        there = [one.name for one in path.parent.iterdir()]
    except OSError:
        return f"neither does its folder {path.parent}; check the name"
    near = closest(path.name, there)
    return "check the name and the folder" if near is None else f"did you mean {path.with_name(near)}?"


def _read(path: Path, given: Dialect, sheet: str | None, target: str | None) -> Table:
    suffix = _suffix(path)
    unread: dict[str, str] = {}
    dialect: Dialect | None = None
    try:
        if suffix in ARRAYS:
            names, columns = array_columns(path, suffix, target)
        elif suffix in EXCEL:
            names, columns = sheet_columns(path, sheet)
        elif suffix in JSON_LINES:
            names, columns, unread = json_columns(path)
        elif suffix in CSV + PARQUET + ARROW:
            names, columns, unread, dialect = arrow_columns(path, suffix, given)
        else:
            raise InputError(f"{path} has an ending that is not known; use one of {', '.join(_KNOWN)}")
    except ParsifalError:
        raise
    except UnicodeDecodeError:
        words = "give its encoding, for instance --encoding latin-1"
        raise DataError(f"{path} is not {given.encoding or 'UTF-8'} text; {words}") from None
    except _ANY as error:
        raise DataError(f"{path} cannot be read: {_reason(error)}") from error
    rows = len(columns[0]) if columns else 0
    if rows == 0:
        raise DataError(f"{path} has no rows; give a file with a header and at least two rows")
    new, renamed = unique_names(names)
    return Table(
        names=tuple(new),
        columns=tuple(columns),
        source=Source(path=str(path), sha256=sha256(path), rows=rows, columns=len(names)),
        unread={name: unread[old] for name, old in zip(new, names) if old in unread},
        renamed=renamed,
        dialect=dialect,
        suffix=suffix,
    )


def _from_stdin(given: Dialect, sheet: str | None) -> Table:
    """What comes through a pipe, put into a file first: most kinds are not read from beginning to end."""
    stream = sys.stdin.buffer
    if stream.isatty():
        raise InputError("- is standard input, which is the keyboard here; pipe a table in, or give a file")
    with tempfile.TemporaryDirectory(prefix="parsifal-") as folder:
        place = Path(folder) / "stdin"
        with open(place, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        with open(place, "rb") as file:
            begin = file.read(8)
        if not begin:
            raise DataError("standard input is empty; pipe a table with a header and at least two rows in")
        suffix = next((kind for magic, kind in _BEGINS.items() if begin.startswith(magic)), ".csv")
        path = place.rename(place.with_name(f"standard input{suffix}"))
        try:
            table = _read(path, given, sheet, None)
        except ParsifalError as error:
            raise type(error)(str(error).replace(str(path), "standard input")) from error
    return replace(table, source=replace(table.source, path=STDIN))


def sha256(path: Path) -> str:
    """The file's SHA-256, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED and len(suffixes) > 1:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _reason(error: BaseException) -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    uneven = re.search(r"Expected (\d+) columns, got (\d+): (.*)", text)
    if uneven is None:
        return text
    header, fields, row = uneven.groups()
    return (
        f"fields in its header: {header}, in a row: {fields} ({row[:60]!r}); give every row as many, and no lines "
        "above the header"
    )
