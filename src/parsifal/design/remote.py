"""Designs whose columns are expensive to fetch: those that were asked for once are kept, as far as memory allows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.design.leaf import Leaf
from parsifal.design.read import Read, Scan

# Shares of the memory limit: columns kept here; columns that the solver holds. Buffers take the rest.
CACHE_SHARE, HELD_SHARE = 0.25, 0.4


class Remote(Leaf):
    """A leaf that fetches columns from elsewhere. Counts what it fetches as a fraction of a read.

    Attributes
    ----------
    memory_limit : int
        Bytes that this design and what a solve keeps of it may take.
    """

    memory_limit: int

    @abstractmethod
    def _fulfil(self, request: Read, out: Scan) -> bool:
        """As in `Leaf`."""

    @abstractmethod
    def _fetch(self, index: IntArray, out: FloatArray) -> float:
        """Copy the columns to `out`; returns how much of a full read that took."""

    @property
    def cheap_columns(self) -> bool:
        return False

    @property
    def held_bytes(self) -> int:
        return int(HELD_SHARE * self.memory_limit)

    @property
    def _cache(self) -> dict[int, FloatArray]:
        cache: dict[int, FloatArray] = self.__dict__.setdefault("_kept_columns", {})
        return cache

    def _gather(self, index: IntArray, out: FloatArray) -> None:
        kept = self._kept(index)
        missing = np.flatnonzero([column is None for column in kept])
        for place, column in enumerate(kept):
            if column is not None:
                out[:, place] = column
        if len(missing) == 0:
            return
        fresh = np.empty((self.shape[0], len(missing)), order="F") if len(missing) < len(index) else out
        self._count(self._fetch(index[missing], fresh))
        if fresh is not out:
            out[:, missing] = fresh
        room = int(CACHE_SHARE * self.memory_limit) // (8 * self.shape[0]) - len(self._cache)
        for place in missing[: max(0, room)]:
            self._cache[int(index[place])] = out[:, place].copy()

    def _kept(self, index: IntArray) -> list[FloatArray | None]:
        kept: list[FloatArray | None] = [self._cache.get(int(j)) for j in index]
        if isinstance(self._parent, Remote) and any(column is None for column in kept):
            start = self._first_row - self._parent._first_row
            rows = slice(start, start + self.shape[0])
            above = self._parent._kept(index)
            kept = [mine if mine is not None or theirs is None else theirs[rows] for mine, theirs in zip(kept, above)]
        return kept

    @property
    def _columns_at_a_time(self) -> int:
        # As many as memory allows: fetching some may take a read of everything.
        return max(1, self.held_bytes // (8 * self.shape[0]))
