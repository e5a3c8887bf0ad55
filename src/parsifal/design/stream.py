"""Matrices that are not in memory: threads load tiles and compute on them, some loading while others compute.

A `Source` knows how to load a rectangle of X. What is resident is a buffer a thread, the columns that were asked for,
and vectors of n and p numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.deadline import seconds_left, thread_limit
from parsifal.design.base import check_finite, check_slice
from parsifal.design.leaf import entry_name, refuse_unusable
from parsifal.design.read import Read, Scan, scan_compiled
from parsifal.design.readers import Result, in_order
from parsifal.design.remote import Remote
from parsifal.design.source import Loaded, Source, Tile
from parsifal.errors import InputError

DEFAULT_MEMORY = 1 << 30
_LEAST_MEMORY = 1 << 20
# Share of the memory limit; see design/remote.py for the rest.
_BUFFER_SHARE = 0.25
# Larger blocks fall out of the cache between loading and computing; smaller ones cost more calls.
_LARGEST_BLOCK = 1 << 23
_MOST_THREADS = 16


class Stream:
    """The rows [lo, hi) of a source, read in tiles."""

    def __init__(self, source: Source, lo: int, hi: int, memory_limit: int) -> None:
        self.source, self.lo, self.hi = source, lo, hi
        self.block = min(_LARGEST_BLOCK, max(1 << 12, int(_BUFFER_SHARE * memory_limit) // _MOST_THREADS))

    def scan(self, request: Read, out: Scan, seconds: float) -> bool:
        """Add the results of every tile to `out`; returns whether all are finite."""
        check_finite(request.v, "v")

        def scan_of(tile: Tile, data: Loaded) -> Scan:
            part = request.part(slice(tile.row0 - self.lo, tile.row1 - self.lo), slice(tile.col0, tile.col1))
            scan = Scan.zeros(tile.col1 - tile.col0, stats=request.stats)
            if not scan_compiled(data.matrix, part, scan):
                self._refuse(tile, data, part.shift)
            return scan

        tiles = self.source.tiles(self.lo, self.hi, self.block)
        for tile, scan in self._each(tiles, scan_of, request.thread_count, seconds):
            out.add(slice(tile.col0, tile.col1), scan)
        return out.is_finite()

    def gather(self, idx: IntArray, out: FloatArray, seconds: float) -> int:
        """Copy columns to `out`; returns the bytes that were loaded for it."""
        unique, inverse = np.unique(idx, return_inverse=True)
        tiles = self.source.tiles(self.lo, self.hi, self.block, unique)

        def columns_of(tile: Tile, data: Loaded) -> None:
            first, last = np.searchsorted(unique, (tile.col0, tile.col1))
            part = np.empty((tile.row1 - tile.row0, last - first), order="F")
            data.matrix.gather(unique[first:last] - tile.col0, part, 1)
            to = np.flatnonzero((inverse >= first) & (inverse < last))
            out[tile.row0 - self.lo : tile.row1 - self.lo, to] = part[:, inverse[to] - first]

        for _ in self._each(tiles, columns_of, thread_limit(), seconds):
            pass
        return sum(tile.nbytes for tile in tiles)

    def _each(
        self, tiles: list[Tile], use: Callable[[Tile, Loaded], Result], threads: int, seconds: float
    ) -> Iterator[tuple[Tile, Result]]:
        """Load and use tiles on several threads; results come in the order of the tiles."""
        workers = min(_MOST_THREADS, max(2, threads))
        yield from in_order(tiles, self.source.load, use, workers, seconds)
        self.source.verify()

    def _refuse(self, tile: Tile, data: Loaded, shift: FloatArray | None) -> None:
        """Name the entry that made a tile's sums infinite or NaN, if it is one entry."""
        for j in range(tile.col1 - tile.col0):
            column = np.asarray(data.column(j), dtype=np.float64)
            below = 0.0 if shift is None else float(shift[j])
            refuse_unusable(column, below, partial(self._place, tile, tile.col0 + j))

    def _place(self, tile: Tile, j: int, i: int) -> str:
        i += tile.row0
        return f"{entry_name(i, j, self.source.feature_names)} in {self.source.place(i, j)}"


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

    _matrix: Stream

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

    def _fulfil(self, request: Read, out: Scan) -> bool:
        return self._matrix.scan(request, out, seconds_left())

    def _fetch(self, index: IntArray, out: FloatArray) -> float:
        touched = self._matrix.gather(index, out, seconds_left())
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
