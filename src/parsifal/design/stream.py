"""Matrices that are not in memory: threads load tiles and compute on them, some loading while others compute.

A `Source` knows how to load a rectangle of X; everything else is here. What is resident is a buffer a thread, the
columns that were asked for, and vectors of n and p numbers.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import parsifal._core as _core
from parsifal.design.base import LARGEST, FloatArray, IntArray, check_finite, check_slice
from parsifal.design.dense import CODES, address
from parsifal.design.remote import Remote
from parsifal.errors import DataError, InputError, NonFiniteError
from parsifal.limits import TimeUp, seconds_left, thread_limit

DEFAULT_MEMORY = 1 << 30
_LEAST_MEMORY = 1 << 20
# Share of the memory limit; see design/remote.py for the rest.
_BUFFER_SHARE = 0.25
# Larger blocks fall out of the cache between loading and computing; smaller ones cost more calls.
_LARGEST_BLOCK = 1 << 23
_MOST_THREADS = 16

Result = TypeVar("Result")


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
    n, p = array.shape
    return Loaded(_core.StridedMatrix(address(array), CODES[array.dtype], n, p, *array.strides), array)


def loaded_columns(columns: Sequence[npt.NDArray[Any]]) -> Loaded:
    """A tile whose columns lie anywhere."""
    table = _core.Table(
        len(columns[0]),
        [address(column) for column in columns],
        [column.strides[0] for column in columns],
        [CODES[column.dtype] for column in columns],
    )
    return Loaded(table, columns)


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


class Stream:
    """The rows [lo, hi) of a source, with the two verbs of a compiled matrix."""

    def __init__(self, source: Source, lo: int, hi: int, memory_limit: int) -> None:
        self.source, self.lo, self.hi = source, lo, hi
        self.block = min(_LARGEST_BLOCK, max(1 << 12, int(_BUFFER_SHARE * memory_limit) // _MOST_THREADS))

    def scan(
        self,
        v: FloatArray,
        shift: FloatArray | None,
        sum_weight: FloatArray | None,
        square_weight: FloatArray | None,
        xv: FloatArray,
        sums: FloatArray | None,
        squares: FloatArray | None,
        threads: int,
        seconds: float = math.inf,
    ) -> bool:
        check_finite(v, "v")
        totals = [out for out in (xv, sums, squares) if out is not None]
        for out in totals:
            out[:] = 0.0

        def sums_of(tile: Tile, data: Loaded) -> list[FloatArray]:
            rows, columns = slice(tile.row0 - self.lo, tile.row1 - self.lo), slice(tile.col0, tile.col1)
            parts = [np.empty(tile.col1 - tile.col0) for _ in totals]
            below = None if shift is None else shift[columns]
            a = None if sum_weight is None else sum_weight[rows]
            b = None if square_weight is None else square_weight[rows]
            if not data.matrix.scan(v[rows], below, a, b, *parts, *[None] * (3 - len(parts)), 1):
                self._refuse(tile, data, shift)
            return parts

        tiles = self.source.tiles(self.lo, self.hi, self.block)
        for tile, parts in self._each(tiles, sums_of, threads, seconds):
            for out, part in zip(totals, parts):
                out[tile.col0 : tile.col1] += part
        return all(bool(np.isfinite(out).all()) for out in totals)

    def gather(self, idx: IntArray, out: FloatArray, threads: int = 0, seconds: float = math.inf) -> int:
        """Copy columns to `out`; returns the bytes that were loaded for it."""
        unique, inverse = np.unique(idx, return_inverse=True)
        tiles = self.source.tiles(self.lo, self.hi, self.block, unique)

        def columns_of(tile: Tile, data: Loaded) -> None:
            first, last = np.searchsorted(unique, (tile.col0, tile.col1))
            part = np.empty((tile.row1 - tile.row0, last - first), order="F")
            data.matrix.gather(unique[first:last] - tile.col0, part, 1)
            to = np.flatnonzero((inverse >= first) & (inverse < last))
            out[tile.row0 - self.lo : tile.row1 - self.lo, to] = part[:, inverse[to] - first]

        for _ in self._each(tiles, columns_of, threads, seconds):
            pass
        return sum(tile.nbytes for tile in tiles)

    def _each(
        self, tiles: list[Tile], use: Callable[[Tile, Loaded], Result], threads: int, seconds: float
    ) -> Iterator[tuple[Tile, Result]]:
        """Load and use tiles on several threads; results come in the order of the tiles."""
        workers = min(_MOST_THREADS, max(2, threads or thread_limit()))
        yield from in_order(tiles, self.source.load, use, workers, seconds)
        self.source.verify()

    def _refuse(self, tile: Tile, data: Loaded, shift: FloatArray | None) -> None:
        """Name the entry that made a tile's sums infinite or NaN, if it is one entry."""
        for j in range(tile.col1 - tile.col0):
            column = np.asarray(data.column(j), dtype=np.float64)
            size = np.abs(column if shift is None else column - shift[tile.col0 + j])
            bad = np.flatnonzero(~(size <= LARGEST))
            if len(bad):
                i, value = int(bad[0]), float(column[bad[0]])
                raise NonFiniteError(self._complaint(tile.row0 + i, tile.col0 + j, value))

    def _complaint(self, i: int, j: int, value: float) -> str:
        names = self.source.feature_names
        name = "" if names is None else f" (column {names[j]!r})"
        place = f"X[{i}, {j}]{name} in {self.source.place(i, j)}"
        if np.isfinite(value):
            return f"{place} is {value:.3g}, too large to square; rescale the column"
        if np.isnan(value):
            return f"{place} is NaN; drop or impute missing values"
        return f"{place} is {value}; drop or replace infinite values"


def in_order(
    tiles: list[Tile],
    load: Callable[[Tile, npt.NDArray[np.uint8]], Loaded],
    use: Callable[[Tile, Loaded], Result],
    workers: int,
    seconds: float = math.inf,
) -> Iterator[tuple[Tile, Result]]:
    """Results of `use` on every tile, in order. Each thread loads a tile and computes on it while it is in the cache;
    meanwhile another one waits for the disk. What one raises is raised here, when its turn comes; after `seconds`,
    `TimeUp`."""
    deadline = time.monotonic() + seconds
    largest = max((tile.nbytes for tile in tiles), default=0)
    if len(tiles) <= 1:
        for tile in tiles:
            yield tile, use(tile, load(tile, np.empty(largest, np.uint8)))
        return
    turn = threading.Condition()
    done: dict[int, Result | BaseException] = {}
    taken = given = 0
    stopped = False

    def may_go_on() -> bool:
        return stopped or taken - given < 4 * workers

    def work() -> None:
        nonlocal taken
        buffer = np.empty(largest, np.uint8)
        while True:
            with turn:
                # Not far ahead of what has been handed on, whose memory would pile up.
                turn.wait_for(may_go_on)
                if stopped or taken == len(tiles):
                    return
                number, taken = taken, taken + 1
            outcome: Result | BaseException
            try:
                outcome = use(tiles[number], load(tiles[number], buffer))
            except BaseException as error:  # handed over, not swallowed
                outcome = error
            with turn:
                done[number] = outcome
                turn.notify_all()

    threads = [
        threading.Thread(target=work, name=f"parsifal-reader-{t}", daemon=True) for t in range(min(workers, len(tiles)))
    ]
    for thread in threads:
        thread.start()
    try:
        for number, tile in enumerate(tiles):
            with turn:
                left = None if math.isinf(seconds) else max(0.0, deadline - time.monotonic())
                if not turn.wait_for(lambda: number in done, left):  # noqa: B023 (used at once)
                    raise TimeUp
                outcome = done.pop(number)
                given = number + 1
                turn.notify_all()
            if isinstance(outcome, BaseException):
                raise outcome
            yield tile, outcome
    finally:
        with turn:
            stopped = True
            turn.notify_all()
        for thread in threads:
            thread.join()


class StreamedDesign(Remote):
    """A design whose entries are loaded from a `Source` each time they are read.

    Parameters
    ----------
    source : Source
        Where the matrix lies.
    memory_limit : int
        Bytes that buffers, and columns asked for, may take.
    start, stop : int, optional
        The rows that are seen.
    parent : StreamedDesign, optional
        The design that this one is a slice of.
    """

    def __init__(
        self,
        source: Source,
        memory_limit: int,
        start: int = 0,
        stop: int | None = None,
        *,
        parent: StreamedDesign | None = None,
    ) -> None:
        n, p = source.shape
        stop = n if stop is None else stop
        self._source = source
        self.memory_limit = memory_limit
        super().__init__(
            Stream(source, start, stop, memory_limit),
            (stop - start, p),
            feature_names=source.feature_names,
            nbytes=source.nbytes * (stop - start) // n,
            eps=source.eps,
            parent=parent,
            first_row=start,
        )

    @property
    def cheap_rows(self) -> bool:
        return self._source.cheap_rows

    def rows(self, start: int, stop: int) -> StreamedDesign:
        check_slice(start, stop, self.shape[0])
        first = self._first_row
        return StreamedDesign(self._source, self.memory_limit, first + start, first + stop, parent=self)

    def _fetch(self, index: IntArray, out: FloatArray) -> float:
        touched = self._matrix.gather(index, out, thread_limit(), seconds_left())
        return float(touched / max(1, self.nbytes))

    def __reduce__(self) -> tuple[Any, ...]:
        start = self._first_row
        return StreamedDesign, (self._source, self.memory_limit, start, start + self.shape[0])


def check_memory(memory_limit: Any) -> int:
    """Give a memory limit in bytes, or say why it is none."""
    if memory_limit is None:
        return DEFAULT_MEMORY
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, (int, float, np.integer, np.floating)):
        raise InputError(f"memory_limit must be a number of bytes, not {memory_limit!r}")
    if not memory_limit >= _LEAST_MEMORY:
        raise InputError(f"memory_limit is {memory_limit} bytes; at least {_LEAST_MEMORY} are needed")
    return int(min(memory_limit, 1 << 62))


def unreadable(path: object, error: Exception) -> DataError:
    """The error of a file that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return DataError(f"{path} cannot be read: {reason}")
