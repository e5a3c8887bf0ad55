"""What a kind of file has to know: how a rectangle of the matrix in it is loaded."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.design.dense import strided_matrix, table
from parsifal.errors import DataError


@dataclass(frozen=True)
class Tile:
    """A rectangle of X; `part` says where it lies (a file, a row group), and `nbytes` what loading it takes."""

    part: int
    row0: int
    row1: int
    col0: int
    col1: int
    nbytes: int


@dataclass(frozen=True)
class Loaded:
    """A tile in memory: the compiled matrix that reads it, and an array (or one a column) that holds it."""

    matrix: Any
    memory: npt.NDArray[Any] | Sequence[npt.NDArray[Any]]

    def column(self, j: int) -> npt.NDArray[Any]:
        return self.memory[:, j] if isinstance(self.memory, np.ndarray) else self.memory[j]


def loaded_array(array: npt.NDArray[Any]) -> Loaded:
    """A tile that is one array of any strides."""
    return Loaded(strided_matrix(array), array)


def loaded_columns(columns: Sequence[npt.NDArray[Any]]) -> Loaded:
    """A tile whose columns lie anywhere."""
    return Loaded(table(columns), columns)


class Source(ABC):
    """Where a matrix lies, and how a rectangle of it is loaded. Can be pickled; opens nothing before it is read."""

    shape: tuple[int, int]
    feature_names: tuple[str, ...] | None = None
    nbytes: int
    eps: float | FloatArray
    # A type that holds every entry.
    dtype: np.dtype[Any] = np.dtype(np.float64)
    # Whether a few rows cost about their share of a read.
    cheap_rows: bool = True
    # Bytes that are unpacked in one go, however small a tile is asked for.
    piece: int = 0

    @abstractmethod
    def tiles(self, row0: int, row1: int, block: int, wanted: IntArray | None = None) -> list[Tile]:
        """Rectangles of about `block` bytes that together hold the rows, or of these the (sorted) `wanted` columns."""

    @abstractmethod
    def load(self, tile: Tile, buffer: npt.NDArray[np.uint8]) -> Loaded:
        """Read a tile; `buffer` has at least ``tile.nbytes`` bytes and may be used or not."""

    @abstractmethod
    def place(self, i: int, j: int) -> str:
        """The file and position of an entry, for an error."""

    @abstractmethod
    def verify(self) -> None:
        """Raise `DataError` if the data have changed since they were opened."""


def runs(p: int, wanted: IntArray | None, step: int) -> Iterator[tuple[int, int]]:
    """The columns, or the (sorted) wanted ones, as ranges of at most `step`; neighbours share a range."""
    if wanted is None:
        for left in range(0, p, step):
            yield left, min(p, left + step)
        return
    for run in np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1):
        for left in range(int(run[0]), int(run[-1]) + 1, step):
            yield left, min(int(run[-1]) + 1, left + step)


@dataclass(frozen=True)
class Signature:
    """What tells a file from a changed one."""

    size: int
    modified: int

    @classmethod
    def of(cls, stat: os.stat_result) -> Signature:
        return cls(stat.st_size, stat.st_mtime_ns)

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Signature:
        """The signature of a file that must be there."""
        try:
            return cls.of(os.stat(path))
        except OSError as error:
            raise unreadable(path, error) from error


def has_changed(path: str) -> DataError:
    """The error of a file that is not what it was when it was opened."""
    return DataError(f"{path} has changed since it was opened; open it again when it is complete")


def unreadable(path: object, error: Exception) -> DataError:
    """The error of a file that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return DataError(f"{path} cannot be read: {reason}")
