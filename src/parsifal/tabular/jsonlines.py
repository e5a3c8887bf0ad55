"""Lines of JSON as columns: one object a line, its keys the columns; memory in proportion to the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsifal.errors import DataError
from parsifal.files.untrusted import Unreadable, check_unpacked, parse_json
from parsifal.tabular.column import Column, column_of

JSON_LINES = (".jsonl", ".ndjson")
_PER_ENTRY = 16  # bytes of an entry: a reference to a value, and a number once it is in an array
_EVERY = 1000  # rows between two looks at how large the table has become


def json_columns(path: Path) -> tuple[list[str], list[Column], dict[str, str]]:
    """Names, columns, and what is in those that are neither numbers nor text; a key that a line lacks is a gap."""
    values: dict[str, list[Any]] = {}
    nested: dict[str, str] = {}
    rows = 0
    for row in _objects(path):
        for name, value in row.items():
            if isinstance(value, (list, dict)):
                nested[name] = "list" if isinstance(value, list) else "object"
                value = None
            column = values.get(name)
            if column is None:
                # A key that comes late has no value in the rows before: this, too, is to be held.
                _check_size(path, rows, len(values) + 1)
                column = values[name] = [None] * rows
            column.append(value)
        rows += 1
        for column in values.values():
            if len(column) < rows:
                column.append(None)
        if rows % _EVERY == 0:
            _check_size(path, rows, len(values))
    _check_size(path, rows, len(values))
    return list(values), [column_of(column) for column in values.values()], nested


def _check_size(path: Path, rows: int, columns: int) -> None:
    check_unpacked(path, _PER_ENTRY * rows * columns)


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = parse_json(line, finite=False)
            except Unreadable as error:
                raise DataError(f"line {number} of {path} is no JSON: {error}; one object a line is needed") from None
            if not isinstance(row, dict):
                kind = "list" if isinstance(row, list) else type(row).__name__
                raise DataError(f"line {number} of {path} is a {kind}, not an object; one object a line is needed")
            yield row
