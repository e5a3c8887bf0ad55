"""Tables through pyarrow: CSV, Parquet and Arrow files as columns of NumPy, in memory in proportion to the file.

A value that repeats takes next to nothing in such a file and its full size in an array. So what the file will unpack
to is found out first, text is kept once however often it repeats, and types that are neither numbers, text nor dates
are not read at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import DataError, ParsifalError
from parsifal.files.untrusted import check_unpacked
from parsifal.tabular.column import Column
from parsifal.tabular.ipc import unpacked_size
from parsifal.tabular.textfile import CSV, Dialect, read_text

# Columns by name, the types of those that cannot be read, whose entries are all missing, and how a text is written.
Columns = tuple[list[str], list[Column], dict[str, str], Dialect | None]

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
_FEW = 1 << 10  # rows that are unpacked before it is looked at how large they are
_SLICE = 1 << 14  # texts converted at a time, and kept to be shared
_PER_TEXT = 60  # bytes of a text as Python holds it, but for its characters


def arrow_columns(path: Path, suffix: str, given: Dialect) -> Columns:
    """The columns of a file of one of these kinds, as numbers, text or dates."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ParsifalError(f"reading {suffix} files needs pyarrow: pip install 'parsifal[cli]'") from None
    found: Dialect | None = None
    if suffix in PARQUET:
        schema, table = _parquet(path)
    elif suffix in ARROW:
        table = _ipc(path)
        schema = table.schema
    else:
        table, found = read_text(path, suffix, given)
        schema = table.schema
    if suffix not in CSV:
        # Offsets and lengths inside a binary file are the file's word: look before they are used.
        table.validate(full=True)
    names = list(schema.names)
    columns: list[Column] = []
    unread: dict[str, str] = {}
    there = iter(table.columns)
    for field, name in zip(schema, names):
        if _is_readable(field.type):
            columns.append(_values(next(there), path))
            continue
        if suffix in CSV:
            raise DataError(f"column {name!r} of {path} is not UTF-8 text; give --encoding, for instance latin-1")
        if suffix in ARROW:
            next(there)
        unread[name] = str(field.type)
        columns.append(np.full(table.num_rows, None, dtype=object))
    return names, columns, unread, found


def arrow_table_columns(table: Any) -> list[Column]:
    """The columns of a pyarrow table that is in memory; what cannot be read is refused by name."""
    for field in table.schema:
        if not _is_readable(field.type):
            raise DataError(f"column {field.name!r} has type {field.type}, which is neither numbers, text nor dates")
    return [_values(column, None) for column in table.columns]


# ---- Files


def _parquet(path: Path) -> tuple[Any, Any]:
    """The schema, and a table of the columns that are numbers or text; text that repeats stays a dictionary."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(str(path)) as file:
        schema, metadata = file.schema_arrow, file.metadata
    # The sizes of single columns are not looked at: pyarrow ends the process where they are damaged.
    stored = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    entries = metadata.num_rows * sum(_width(field.type) for field in schema)
    check_unpacked(path, max(stored, entries))
    readable = [field.name for field in schema if _is_readable(field.type)]
    chosen = None if len(readable) == len(schema) else readable
    try:
        with parquet.ParquetFile(str(path), read_dictionary=[f.name for f in schema if _is_text(f.type)]) as file:
            return schema, file.read(chosen)
    except (pa.ArrowNotImplementedError, OSError) as error:
        # An encoding of text that pyarrow cannot keep as a dictionary.
        if "Not yet implemented" not in str(error):
            raise
        with parquet.ParquetFile(str(path)) as file:
            return schema, pa.Table.from_batches(_in_bounds(file.iter_batches(_FEW, columns=chosen), path))


def _in_bounds(batches: Iterable[Any], path: Path) -> Iterator[Any]:
    total = 0
    for batch in batches:
        total += batch.nbytes
        check_unpacked(path, total)
        yield batch


def _ipc(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import feather

    check_unpacked(path, unpacked_size(path))
    try:
        return feather.read_table(str(path))
    except pa.ArrowInvalid:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
            return reader.read_all()


# ---- Columns


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_readable(kind: Any) -> bool:
    """Whether the type is one of numbers, of text, or of times; times of day are shown as text."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return not types.is_dictionary(kind.value_type) and _is_readable(kind.value_type)
    return bool(_is_text(kind) or types.is_null(kind) or _is_number(kind) or types.is_temporal(kind))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(is_it(kind) for is_it in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal))


def _is_date(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind))


def _width(kind: Any) -> int:
    """Bytes that an entry takes in memory, whatever it takes in the file; of text, a reference to it."""
    from pyarrow import types

    if types.is_temporal(kind) and not _is_date(kind):
        return 8 + _PER_TEXT
    return max(8, kind.bit_width // 8) if types.is_decimal(kind) else 8


def _values(column: Any, path: Path | None) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_dictionary(kind) and (_is_number(kind.value_type) or _is_date(kind.value_type)):
        column = column.cast(kind.value_type)
        kind = column.type
    if _is_date(kind):
        return np.ascontiguousarray(column.to_numpy())
    if not _is_number(kind):
        return _texts(column, path)
    if pa.types.is_decimal(kind) or (column.null_count and not pa.types.is_float64(kind)):
        column = column.cast(pa.float64(), safe=False)
    array = column.to_numpy()
    return np.ascontiguousarray(array, dtype=bool if array.dtype == object else None)


def _texts(column: Any, path: Path | None) -> Column:
    """Entries as text, None for a gap; an array of references, to one text for entries that are equal."""
    import pyarrow as pa

    if pa.types.is_string_view(column.type):
        column = column.dictionary_encode()
    pool = _Pool(path)
    out = np.full(len(column), None, dtype=object)
    if not pa.types.is_dictionary(column.type):
        for start in range(0, len(column), _SLICE):
            out[start : start + _SLICE] = pool.texts(column.slice(start, _SLICE).to_pylist())
        return out
    at, column = 0, column.unify_dictionaries()
    texts: npt.NDArray[Any] | None = None
    for chunk in column.chunks:
        if texts is None:
            texts = np.array([None, *pool.texts(chunk.dictionary.to_pylist())], dtype=object)
        index = chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        np.take(texts, index + 1, out=out[at : at + len(index)])
        at += len(index)
    return out


class _Pool:
    """Texts, kept once as long as there are not very many; their memory is in proportion to the file."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.kept, self.held = path, dict[str, str](), 0

    def texts(self, values: list[Any]) -> list[str | None]:
        found = [None if value is None else self._one(str(value)) for value in values]
        if self.path is not None:
            check_unpacked(self.path, self.held)
        return found

    def _one(self, text: str) -> str:
        known = self.kept.get(text)
        if known is not None:
            return known
        self.held += _PER_TEXT + len(text)
        if len(self.kept) < _SLICE:
            self.kept[text] = text
        return text
