"""Tables from files: CSV, Parquet and Arrow through pyarrow, arrays through NumPy."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.archive import load_arrays, read_npy_header, unpacked_limit
from parsifal.design.dense import is_readable
from parsifal.errors import DataError, InputError, ParsifalError

Column = npt.NDArray[Any]

_CSV = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_ARRAYS = (".npy", ".npz")
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_COPIED = 1 << 30
_BLOCK = 1 << 24  # bytes of a text file looked at at a time; a row must fit in
_ENTRIES = 1 << 28  # of a Parquet file, whatever its size
# What the parsers of others raise for bytes that are not theirs; pyarrow's errors are of these kinds.
_ANY = (OSError, ValueError, EOFError, MemoryError, LookupError, TypeError, ArithmeticError, NotImplementedError)
_MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table came from: enough to tell whether another file is the same."""

    path: str
    sha256: str
    rows: int
    columns: int


@dataclass(frozen=True, kw_only=True)
class Table:
    """Named columns of equal length.

    Numbers are in float, integer or boolean arrays with NaN for a gap; text is in object arrays with None for a gap.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    source: Source

    @property
    def rows(self) -> int:
        return self.source.rows

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def __getitem__(self, name: str) -> Column:
        return self.columns[self._place[name]]


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    target: str | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.txt`` (also compressed), ``.parquet``, ``.arrow``, ``.feather``, ``.npy`` or ``.npz``.
    delimiter : str, optional
        Between the fields of a text file; a tab for ``.tsv``, otherwise a comma.
    decimal, encoding : str
        Of a text file.
    target : str, optional
        For arrays, where the response may be in a file or an array of its own (see `Recipe`).

    Returns
    -------
    Table
        Columns of an array are named ``x0``, ``x1``, ...
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist; check the name and the folder")
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty; give a file with a header and at least two rows")
    suffix = _suffix(path)
    try:
        if suffix == ".npy":
            names, columns = _from_npy(path, target)
        elif suffix == ".npz":
            names, columns = _from_npz(path, target)
        elif suffix in _CSV + _PARQUET + _ARROW:
            names, columns = _from_arrow(_arrow_table(path, suffix, delimiter, decimal, encoding), path)
        else:
            known = ", ".join((*_CSV, *_PARQUET, *_ARROW, *_ARRAYS))
            raise InputError(f"{path} has an ending that is not known; use one of {known}")
    except ParsifalError:
        raise
    except UnicodeDecodeError:
        raise DataError(f"{path} is not {encoding} text; give its encoding, for instance --encoding latin-1") from None
    except _ANY as error:
        raise DataError(f"{path} cannot be read: {_first_line(error)}") from error
    _check_names(names, path)
    rows = len(columns[0]) if columns else 0
    if rows == 0:
        raise DataError(f"{path} has no rows; give a file with a header and at least two rows")
    source = Source(path=str(path), sha256=sha256(path), rows=rows, columns=len(names))
    return Table(names=tuple(names), columns=tuple(columns), source=source)


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


def _arrow_table(path: Path, suffix: str, delimiter: str | None, decimal: str, encoding: str) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import csv, feather, parquet
    except ImportError:
        raise ParsifalError(f"reading {suffix} files needs pyarrow: pip install 'parsifal[cli]'") from None
    if suffix in _PARQUET:
        return _checked(_parquet(parquet, path))
    if suffix in _ARROW:
        try:
            return _checked(feather.read_table(str(path)))
        except pa.ArrowInvalid:
            with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
                return _checked(reader.read_all())
    between = ("\t" if suffix == ".tsv" else ",") if delimiter is None else delimiter
    if len(between) != 1:
        raise InputError(f"the delimiter must be one character, not {between!r}; for a tab write --delimiter tab")
    if len(decimal) != 1:
        raise InputError(f"the decimal point must be one character, not {decimal!r}")

    compressed = suffix != path.suffix.lower()

    def read(block: int) -> Any:
        return csv.read_csv(
            _Unpacked(pa.input_stream(str(path), compression="detect"), path) if compressed else str(path),
            read_options=csv.ReadOptions(encoding=encoding, block_size=block),
            parse_options=csv.ParseOptions(delimiter=between, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                null_values=_MISSING, strings_can_be_null=True, quoted_strings_can_be_null=True, decimal_point=decimal
            ),
        )

    try:
        try:
            table = read(_BLOCK)
        except pa.ArrowInvalid:
            # The kind of a column is taken from the first block, and a later one may be of another: read as one block.
            size = path.stat().st_size + 1
            if compressed or not _BLOCK < size < 1 << 31:
                raise
            table = read(size)
    except LookupError:
        raise InputError(f"encoding {encoding!r} is not known; try --encoding latin-1") from None
    if table.num_columns == 1:
        header = table.column_names[0]
        for other in (";", "\t", "|", ","):
            if other != between and other in header:
                name = "tab" if other == "\t" else f"'{other}'"
                raise DataError(f"{path} has one column only, {header!r}; try --delimiter {name}")
    return table


class _Unpacked(io.RawIOBase):
    """What a compressed text file unpacks to, as long as this is in proportion to the file."""

    def __init__(self, stream: Any, path: Path) -> None:
        self.stream, self.path = stream, path
        self.left = unpacked_limit(path.stat().st_size)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(self.left + 1 if size < 0 else size)
        self.left -= len(data)
        if self.left < 0:
            raise DataError(f"{self.path} unpacks to more than text of its size would; unpack it first")
        return data


def _parquet(parquet: Any, path: Path) -> Any:
    """Read, unless what the file promises is out of proportion to it: a value that repeats takes next to nothing."""
    with parquet.ParquetFile(str(path)) as file:
        entries = file.metadata.num_rows * max(1, file.metadata.num_columns)
        if entries > max(_ENTRIES, unpacked_limit(path.stat().st_size)):
            raise DataError(f"{path} promises {entries} entries in {path.stat().st_size} bytes; write it as .npy")
        return file.read()


def _checked(table: Any) -> Any:
    """Offsets and lengths inside a binary file are the file's word: look before they are used."""
    table.validate(full=True)
    return table


def _from_arrow(table: Any, path: Path) -> tuple[list[str], list[Column]]:
    names = [name if name.strip() else f"column{i + 1}" for i, name in enumerate(table.column_names)]
    return names, [_arrow_column(column, name, path) for column, name in zip(table.columns, names)]


def _arrow_column(column: Any, name: str, path: Path) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.float64()), pa.float64()
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        if column.null_count:
            column = column.cast(pa.float64(), safe=False)
        array = column.to_numpy()
        return np.ascontiguousarray(array, dtype=bool if pa.types.is_boolean(kind) and not column.null_count else None)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(f"column {name!r} of {path} is not UTF-8 text; give --encoding, for instance latin-1")
    return np.array([None if value is None else str(value) for value in column.to_pylist()], dtype=object)


def _from_npy(path: Path, target: str | None) -> tuple[list[str], list[Column]]:
    names, columns = _matrix_columns(_npy_file(path), path)
    if target is not None and target.endswith(".npy"):
        if not Path(target).exists():
            raise DataError(f"{target} does not exist; --target takes a column number or a .npy file with the response")
        names, columns = _with_response(names, columns, _npy_file(Path(target)), target)
    return names, columns


def _npy_file(path: Path) -> Column:
    """Mapped, where it lies; what the header promises must be there."""
    with open(path, "rb") as file:
        shape, fortran, dtype = read_npy_header(file)
        offset, size = file.tell(), path.stat().st_size
    needed = math.prod(shape) * dtype.itemsize
    if offset + needed > size:
        raise DataError(f"{path} is truncated: it has {size} bytes, its header promises {offset + needed}")
    if needed == 0:
        return np.zeros(shape if 0 in shape else (), dtype)
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def _from_npz(path: Path, target: str | None) -> tuple[list[str], list[Column]]:
    arrays = load_arrays(path)
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) != 1 and "X" not in matrices:
        raise DataError(f"{path} has {len(matrices)} matrices; keep one, or name the one with the features X")
    names, columns = _matrix_columns(arrays["X" if "X" in matrices else matrices[0]], path)
    for name, array in arrays.items():
        if array.ndim == 1 and array.shape[0] == len(columns[0]) and (name == target or array.dtype.kind in "fiub"):
            names, columns = _with_response(names, columns, array, name)
    return names, columns


def _matrix_columns(matrix: Column, path: Path) -> tuple[list[str], list[Column]]:
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(f"{path} holds an array of shape {matrix.shape}; a matrix, rows by columns, is needed")
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"{path} holds {matrix.dtype}; numbers are needed")
    # The other byte order, and types that only some machines have, are converted.
    dtype = matrix.dtype.newbyteorder("=")
    if dtype != matrix.dtype or not is_readable(dtype):
        matrix = matrix.astype(dtype if is_readable(dtype) else np.float64)
    # Column by column is how everything downstream reads; what is too large to copy is read where it lies.
    block = np.asfortranarray(matrix) if matrix.nbytes <= _COPIED else matrix
    return [f"x{j}" for j in range(block.shape[1])], [block[:, j] for j in range(block.shape[1])]


def _with_response(
    names: list[str], columns: list[Column], response: Column, name: str
) -> tuple[list[str], list[Column]]:
    if response.ndim == 2 and 1 in response.shape:
        response = response.ravel()
    if response.shape != columns[0].shape or response.dtype.kind not in "fiub":
        raise DataError(
            f"{name} has shape {response.shape} and type {response.dtype}; {len(columns[0])} numbers are needed"
        )
    return [*names, name], [*columns, response]


def _check_names(names: Sequence[str], path: Path) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{path} has two columns named {name!r}; rename one of them")
        seen.add(name)


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")
