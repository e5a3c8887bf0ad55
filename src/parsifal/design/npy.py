"""Arrays in `.npy` files: one file, or a folder of files that hold blocks of columns.

Blocks are read into buffers, never mapped, so that what is resident stays bounded. Every read checks that
the file still has the size and the time stamp it was opened with.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.design.dense import is_readable, rounding, unreadable_dtype
from parsifal.design.source import Loaded, Signature, Source, Tile, loaded_array, runs, unreadable
from parsifal.errors import DataError, InputError
from parsifal.files import system
from parsifal.files.untrusted import Unreadable, read_npy_header

# Pieces of a line (a column of a Fortran-ordered file, a row of a C-ordered one) shorter than this are not read one by
# one: the whole lines are, in one go.
_WORTH_SKIPPING = 1 << 14
_WORTH_ANNOUNCING = 1 << 22  # bytes that are read in one piece
# At most this many bytes are asked for in one system call, which Linux cuts at 2 GB.
_ONE_CALL = 1 << 30


@dataclass(frozen=True)
class FileArray:
    """A dense matrix at an offset of a file."""

    path: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int
    signature: Signature

    @property
    def lines(self) -> int:
        """Columns of a Fortran-ordered array, rows of a C-ordered one: what lies in one piece."""
        return self.shape[1] if self.fortran else self.shape[0]

    @property
    def length(self) -> int:
        """Entries of a line."""
        return self.shape[0] if self.fortran else self.shape[1]

    def check(self) -> None:
        """Raise if the file is not what it was."""
        self._compare(Signature.at(self.path))

    def _compare(self, now: Signature) -> None:
        if now != self.signature:
            what = f"{self.signature.size} bytes, now {now.size}" if now.size != self.signature.size else "new contents"
            raise DataError(f"{self.path} has changed since it was opened ({what}); open it again when it is complete")

    def read(self, lines: tuple[int, int], entries: tuple[int, int], raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Entries of lines into `raw`, which has room for them or for the whole lines, and then gets those."""
        (line0, line1), (first, last) = lines, entries
        item, length, count = self.dtype.itemsize, self.length, line1 - line0
        try:
            handle = os.open(self.path, os.O_RDONLY | system.BINARY)
        except OSError as error:
            raise unreadable(self.path, error) from error
        try:
            self._compare(Signature.of(os.fstat(handle)))
            if raw.size == count * length * item:
                if raw.size >= _WORTH_ANNOUNCING:
                    system.announce_order(handle)
                self._fill(handle, self.offset + line0 * length * item, raw)
                array = raw.view(self.dtype).reshape(count, length)[:, first:last]
            else:
                array = raw.view(self.dtype).reshape(count, last - first)
                pieces = raw.reshape(count, (last - first) * item)
                for piece, line in zip(pieces, range(line0, line1)):
                    self._fill(handle, self.offset + (line * length + first) * item, piece)
        except OSError as error:
            raise unreadable(self.path, error) from error
        finally:
            os.close(handle)
        return array.T if self.fortran else array

    def _takes_whole_lines(self, entries: int) -> bool:
        return entries * 4 >= self.length or self.length * self.dtype.itemsize <= _WORTH_SKIPPING

    def _fill(self, handle: int, at: int, raw: npt.NDArray[np.uint8]) -> None:
        view = raw.data
        while len(view):
            count = system.read_into(handle, view[:_ONE_CALL], at)
            if count == 0:
                raise DataError(f"{self.path} ends at byte {at}, before its last entry; it was truncated")
            view, at = view[count:], at + count

    def tiles(
        self, part: int, row0: int, row1: int, col0: int, block: int, wanted: IntArray | None = None
    ) -> Iterator[Tile]:
        """Cut the rows, of all columns or of the `wanted` ones, into tiles; `col0` is where the array's columns
        start."""
        item, p = self.dtype.itemsize, self.shape[1]
        if self.fortran:
            whole = self._takes_whole_lines(row1 - row0) and self.shape[0] * item <= block
            stored = self.shape[0] if whole else row1 - row0
            if stored * item > block:
                piece = max(1, block // item)
                for left, right in runs(p, wanted, 1):
                    for top in range(row0, row1, piece):
                        bottom = min(row1, top + piece)
                        yield Tile(part, top, bottom, col0 + left, col0 + right, (bottom - top) * item)
                return
            for left, right in runs(p, wanted, block // (stored * item)):
                yield Tile(part, row0, row1, col0 + left, col0 + right, (right - left) * stored * item)
            return
        if p * item <= block:
            step = block // (p * item)
            for top in range(row0, row1, step):
                bottom = min(row1, top + step)
                yield Tile(part, top, bottom, col0, col0 + p, (bottom - top) * p * item)
            return
        step = max(1, block // item)
        for top in range(row0, row1):
            for left, right in runs(p, wanted, step):
                yield Tile(part, top, top + 1, col0 + left, col0 + right, (right - left) * item)


class NpySource(Source):
    """Blocks of columns side by side, each a `FileArray`.

    Parameters
    ----------
    arrays : sequence of FileArray
        In the order of the columns, all with the same number of rows.
    """

    def __init__(self, arrays: list[FileArray]) -> None:
        self.arrays = arrays
        widths = [array.shape[1] for array in arrays]
        self.starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self.shape = (arrays[0].shape[0], int(self.starts[-1]))
        self.nbytes = sum(array.shape[0] * array.shape[1] * array.dtype.itemsize for array in arrays)
        self.dtype = np.result_type(*{array.dtype for array in arrays})
        errors = [rounding(array.dtype) for array in arrays]
        self.eps: float | FloatArray = errors[0] if len(set(errors)) == 1 else np.repeat(errors, widths)

    def tiles(self, row0: int, row1: int, block: int, wanted: IntArray | None = None) -> list[Tile]:
        tiles: list[Tile] = []
        for part, array in enumerate(self.arrays):
            start, stop = int(self.starts[part]), int(self.starts[part + 1])
            mine = None
            if wanted is not None:
                low, high = np.searchsorted(wanted, (start, stop))
                if low == high:
                    continue
                mine = wanted[low:high] - start
            tiles.extend(array.tiles(part, row0, row1, start, block, mine))
        return tiles

    def load(self, tile: Tile, buffer: npt.NDArray[np.uint8]) -> Loaded:
        array, start = self.arrays[tile.part], int(self.starts[tile.part])
        rows, columns = (tile.row0, tile.row1), (tile.col0 - start, tile.col1 - start)
        lines, entries = (columns, rows) if array.fortran else (rows, columns)
        return loaded_array(array.read(lines, entries, buffer[: tile.nbytes]))

    def place(self, i: int, j: int) -> str:
        part = int(np.searchsorted(self.starts, j, side="right")) - 1
        path = self.arrays[part].path
        if len(self.arrays) == 1:
            return path
        return f"{path} (block {part}), row {i}, column {j - int(self.starts[part])}"

    def verify(self) -> None:
        for array in self.arrays:
            array.check()


def npy_source(path: Path) -> NpySource:
    """A source of one `.npy` file."""
    return NpySource([read_header(path)])


def folder_source(path: Path, files: list[Path]) -> NpySource:
    """A source of a folder of `.npy` files, whose blocks of columns are in the natural order of their names."""
    arrays = [read_header(file) for file in sorted(files, key=natural)]
    n = arrays[0].shape[0]
    for number, array in enumerate(arrays):
        if array.shape[0] != n:
            raise DataError(
                f"block {number} of {path}, {Path(array.path).name}, has {array.shape[0]} rows, but block 0, "
                f"{Path(arrays[0].path).name}, has {n}; every block must hold all rows of its columns"
            )
    return NpySource(arrays)


def natural(path: Path) -> list[Any]:
    """Order names as people count: block2 before block10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", path.name) if part]


def read_header(path: Path) -> FileArray:
    """Read the header of a `.npy` file, or say what is wrong with the file."""
    try:
        with open(path, "rb") as file:
            signature = Signature.of(os.fstat(file.fileno()))
            try:
                shape, fortran, dtype = read_npy_header(file)
            except Unreadable as error:
                raise DataError(f"{path} is no .npy file: {error}") from error
            offset = file.tell()
    except OSError as error:
        raise unreadable(path, error) from error
    if len(shape) == 1:
        shape = (*shape, 1)
    if len(shape) != 2 or 0 in shape:
        raise DataError(f"{path} holds an array of shape {shape}; a matrix with rows and columns is needed")
    if not is_readable(dtype):
        raise InputError(f"{path}: {unreadable_dtype(dtype)}")
    needed = offset + shape[0] * shape[1] * dtype.itemsize
    if signature.size < needed:
        raise DataError(f"{path} is truncated: it has {signature.size} bytes, its header promises {needed}")
    return FileArray(str(path), (int(shape[0]), int(shape[1])), dtype, bool(fortran), offset, signature)


def memmap_source(array: np.memmap[Any, Any]) -> NpySource | None:
    """A source of the file behind a memory map; None if the map is not simply a matrix in a file."""
    path = array.filename
    if path is None or array.mode == "c" or not isinstance(array.base, mmap.mmap):
        return None
    if array.ndim != 2 or 0 in array.shape or not is_readable(array.dtype):
        return None
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        return None
    try:
        signature = Signature.of(os.stat(path))
    except OSError:
        return None
    if signature.size < array.offset + array.nbytes:
        return None
    fortran = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
    shape = (int(array.shape[0]), int(array.shape[1]))
    return NpySource([FileArray(str(path), shape, array.dtype, fortran, int(array.offset), signature)])
