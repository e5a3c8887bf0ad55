"""Parquet files: row groups of columns, decoded a few columns at a time. Needs pyarrow."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import IntArray
from parsifal.design.base import check_names
from parsifal.design.dense import is_readable
from parsifal.design.npy import natural
from parsifal.design.source import Loaded, Signature, Source, Tile, has_changed, loaded_columns, runs, unreadable
from parsifal.errors import DataError, InputError
from parsifal.files.untrusted import how_to_allow, unpacked_limit

# Columns decoded in one call: enough to share its overhead.
_MOST_COLUMNS = 512


class ParquetSource(Source):
    """One file, or several whose rows follow each other in the natural order of their names.

    Parameters
    ----------
    paths : list of Path
        Files with the same columns, all numeric or boolean.
    """

    def __init__(self, paths: list[Path]) -> None:
        self.paths = [str(path) for path in sorted(paths, key=natural)]
        self.signatures = [Signature.at(path) for path in self.paths]
        self.groups: list[tuple[int, int]] = []  # (file, row group)
        starts, names = [0], None
        for number, path in enumerate(self.paths):
            file = _open(path)
            if names is None:
                names = _numeric_names(path, file.schema_arrow)
            elif list(file.schema_arrow.names) != list(names):
                raise DataError(f"{path} has other columns than {self.paths[0]}; every file must have the same ones")
            for group, rows in enumerate(_group_rows(path, file.metadata)):
                if rows:
                    self.groups.append((number, group))
                    starts.append(starts[-1] + rows)
        if not names or not self.groups:
            raise InputError(f"{self.paths[0]} has no rows or no columns")
        self.starts = np.array(starts, dtype=np.int64)
        self.feature_names = names
        self.shape = (starts[-1], len(names))
        self.nbytes = 8 * starts[-1] * len(names)
        self.eps = float(np.finfo(np.float64).eps)
        # A row group is decoded whole: a few rows of a file with few groups cost as much as many.
        self.cheap_rows = len(self.groups) >= 16
        self._last: tuple[Any, list[npt.NDArray[Any]]] | None = None
        self._file: tuple[str, Any] | None = None
        # pyarrow decodes on threads of its own; its files are not for several of ours.
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None, "_file": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def tiles(self, row0: int, row1: int, block: int, wanted: IntArray | None = None) -> list[Tile]:
        tiles = []
        for part in range(len(self.groups)):
            top, bottom = max(row0, int(self.starts[part])), min(row1, int(self.starts[part + 1]))
            if top >= bottom:
                continue
            height = int(self.starts[part + 1] - self.starts[part])
            step = int(min(max(1, block // (8 * height)), _MOST_COLUMNS))
            for left, right in runs(self.shape[1], wanted, step):
                tiles.append(Tile(part, top, bottom, left, right, 8 * height * (right - left)))
        return tiles

    def load(self, tile: Tile, buffer: npt.NDArray[np.uint8]) -> Loaded:
        key = (tile.part, tile.col0, tile.col1)
        first, height = int(self.starts[tile.part]), int(self.starts[tile.part + 1] - self.starts[tile.part])
        with self._lock:
            # Row slices walk through a group in steps: the group is decoded once.
            if self._last is not None and self._last[0] == key:
                arrays = self._last[1]
            else:
                arrays = self._decode(tile)
                self._last = (key, arrays) if tile.row1 - tile.row0 < height else None
        return loaded_columns([array[tile.row0 - first : tile.row1 - first] for array in arrays])

    def _decode(self, tile: Tile) -> list[npt.NDArray[Any]]:
        number, group = self.groups[tile.part]
        path = self.paths[number]
        self._check(number)
        assert self.feature_names is not None
        names = list(self.feature_names[tile.col0 : tile.col1])
        try:
            if self._file is None or self._file[0] != path:
                self._file = (path, _open(path))
            table = self._file[1].read_row_group(group, columns=names)
            arrays = [_values(table.column(name)) for name in names]
        # A damaged page can ask for more memory than there is.
        except (OSError, ValueError, MemoryError) as error:
            raise unreadable(path, error) from error
        height = int(self.starts[tile.part + 1] - self.starts[tile.part])
        for name, array in zip(names, arrays):
            if len(array) != height:
                raise DataError(
                    f"{path} is damaged: column {name!r} of row group {group} has {len(array)} entries, not {height}"
                )
        return arrays

    def place(self, i: int, j: int) -> str:
        part = int(np.searchsorted(self.starts, i, side="right")) - 1
        number, group = self.groups[part]
        return f"{self.paths[number]}, row group {group}, row {i - int(self.starts[part])} of it"

    def verify(self) -> None:
        for number in range(len(self.paths)):
            self._check(number)

    def _check(self, number: int) -> None:
        if Signature.at(self.paths[number]) != self.signatures[number]:
            raise has_changed(self.paths[number])


def _open(path: str) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(f'{path} needs pyarrow: pip install "parsifal[parquet]"') from None
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _group_rows(path: str, metadata: Any) -> list[int]:
    """Rows of every group, as far as the file agrees with itself about them and has the bytes for them.

    What it says of its columns is not looked at: pyarrow ends the process where that is damaged. They are counted when
    they are read.
    """
    rows = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows < 0:
            raise DataError(f"{path} is damaged: its row group {number} says that it has {group.num_rows} rows")
        rows.append(group.num_rows)
    if sum(rows) != metadata.num_rows:
        raise DataError(f"{path} is damaged: it says that it has {metadata.num_rows} rows, its row groups {sum(rows)}")
    size = os.stat(path).st_size
    if 8 * sum(rows) > unpacked_limit(size):
        raise DataError(
            f"{path} promises {sum(rows)} rows in {size} bytes; write it as .npy, or {how_to_allow(8 * sum(rows))}"
        )
    return rows


def _numeric_names(path: str, schema: Any) -> tuple[str, ...]:
    from pyarrow import types

    for field in schema:
        kind = field.type
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
            raise InputError(f"{path}: column {field.name!r} has type {kind}; drop it or encode it as numbers")
    return check_names(schema.names)


def _values(column: Any) -> npt.NDArray[Any]:
    """A column as a contiguous array; null becomes NaN, which a read reports with its place."""
    from pyarrow import float64, types

    # Decimals would become Python objects.
    array = (column.cast(float64()) if types.is_decimal(column.type) else column).to_numpy()
    return array if is_readable(array.dtype) else np.asarray(array, dtype=np.float64)
