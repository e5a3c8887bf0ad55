"""Sheets of Excel files (.xlsx) through openpyxl: values only, row by row, in memory in proportion to the file.

The first row with anything in it has the names. Formulas count by the values that were saved with them.
"""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsifal.errors import DataError, InputError, ParsifalError
from parsifal.files.untrusted import check_unpacked
from parsifal.tabular.column import MISSING, Column, column_of

EXCEL = (".xlsx", ".xlsm")
_PER_ENTRY = 16  # bytes of a cell: a reference to a value, and a number once it is in an array
_PER_NODE = 12  # bytes that a byte of shared text takes at most: the least entry of its list has six, and is a str
_EVERY = 100
_MOST_ROWS = 1 << 20  # of a sheet


def sheet_columns(path: Path, sheet: str | None) -> tuple[list[str], list[Column]]:
    """The columns of a sheet by name: of the one that is named, or of the first with anything in it."""
    try:
        import openpyxl
    except ImportError:
        raise ParsifalError("reading .xlsx files needs openpyxl: pip install 'parsifal[cli]'") from None
    _check_archive(path)
    try:
        with warnings.catch_warnings():
            # About styles and validations, which are not read.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
            try:
                return _columns(book, path, sheet)
            finally:
                book.close()
    except ParsifalError:
        raise
    except Exception as error:  # openpyxl's parsers raise many kinds for damaged bytes
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(f"{path} cannot be read: {reason[:200]}") from error


def _check_archive(path: Path) -> None:
    """Raise if the parts would unpack to far more than the file; zipfile reads no more than its directory says."""
    try:
        with zipfile.ZipFile(path) as archive:
            needed = sum(
                part.file_size * (_PER_NODE if part.filename.endswith("sharedStrings.xml") else 1)
                for part in archive.infolist()
            )
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise DataError(f"{path} is not an Excel file (.xlsx); save it as one, or as .csv") from error
    check_unpacked(path, needed)


def _columns(book: Any, path: Path, sheet: str | None) -> tuple[list[str], list[Column]]:
    # Sheets of pictures have no rows.
    sheets = [one for one in book.worksheets if hasattr(one, "iter_rows")]
    if sheet is not None:
        sheets = [one for one in sheets if one.title == sheet]
        if not sheets:
            raise InputError(f"{path} has no sheet {sheet!r}; its sheets are {', '.join(book.sheetnames)}")
    for one in sheets:
        rows = _rows(one)
        header = next(rows, None)
        if header is not None:
            return _table(header, rows, path)
    return [], []


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Rows with anything in them; what the sheet says of its own size is not believed, nor a row beyond all sheets, up
    to which openpyxl would make empty ones."""
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number == _MOST_ROWS:
            raise DataError(f"a sheet has {_MOST_ROWS} rows at most, and this one has more: the file is damaged")
        if any(value is not None for value in row):
            yield row


def _table(header: tuple[Any, ...], rows: Iterator[tuple[Any, ...]], path: Path) -> tuple[list[str], list[Column]]:
    columns: list[list[Any]] = [[] for _ in header]
    count = 0
    for row in rows:
        while len(row) > len(columns):
            check_unpacked(path, _PER_ENTRY * (count + 1) * (len(columns) + 1))
            columns.append([None] * count)
        for place, column in enumerate(columns):
            column.append(_value(row[place]) if place < len(row) else None)
        count += 1
        if count % _EVERY == 0:
            check_unpacked(path, _PER_ENTRY * count * len(columns))
    check_unpacked(path, _PER_ENTRY * count * len(columns))
    names = ["" if name is None else str(name) for name in header] + [""] * (len(columns) - len(header))
    # Cells that were only formatted leave columns without a name and a value.
    there = [place for place, name in enumerate(names) if name.strip() or any(v is not None for v in columns[place])]
    return [names[place] for place in there], [column_of(columns[place]) for place in there]


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return None if value.strip() in MISSING else value
    if value is None or isinstance(value, (bool, int, float, datetime.date, datetime.timedelta)):
        return value
    return str(value)
