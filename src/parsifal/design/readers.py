"""Threads that load tiles and compute on them, while results are taken in the order of the tiles.

Each thread computes on a tile while it is in the cache; meanwhile another one waits for the disk.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from parsifal.deadline import TimeUp
from parsifal.design.source import Loaded, Tile

Result = TypeVar("Result")
Load = Callable[[Tile, npt.NDArray[np.uint8]], Loaded]


def in_order(
    tiles: list[Tile], load: Load, use: Callable[[Tile, Loaded], Result], workers: int, seconds: float
) -> Iterator[tuple[Tile, Result]]:
    """Give the results of `use` on every tile, in order.

    Parameters
    ----------
    tiles : list of Tile
        What is loaded.
    load : callable
        Loads a tile, given a buffer.
    use : callable
        Computes on a loaded tile. What it or `load` raises is raised here, when its turn comes.
    workers : int
        Threads.
    seconds : float
        Time after which `TimeUp` is raised.
    """
    deadline = time.monotonic() + seconds
    if len(tiles) <= 1:
        for tile in tiles:
            if time.monotonic() >= deadline:
                raise TimeUp
            yield tile, use(tile, load(tile, np.empty(tile.nbytes, np.uint8)))
        return
    readers = _Readers(tiles, load, use, min(workers, len(tiles)))
    try:
        for tile in tiles:
            yield tile, readers.next_result(deadline)
    finally:
        readers.stop()


class _Readers(Generic[Result]):
    """Running threads; the fields below `_turn` are changed only by who holds it.

    Parameters
    ----------
    tiles, load, use
        As in `in_order`.
    workers : int
        Threads to start.
    """

    def __init__(self, tiles: list[Tile], load: Load, use: Callable[[Tile, Loaded], Result], workers: int) -> None:
        self._tiles, self._load, self._use = tiles, load, use
        self._largest = max(tile.nbytes for tile in tiles)
        self._most_ahead = 4 * workers
        self._turn = threading.Condition()
        self._done: dict[int, Result | BaseException] = {}
        self._taken = self._given = 0
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._work, name=f"parsifal-reader-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def next_result(self, deadline: float) -> Result:
        """Wait for the result of the tile that comes next."""
        with self._turn:
            left = None if math.isinf(deadline) else max(0.0, deadline - time.monotonic())
            if not self._turn.wait_for(lambda: self._given in self._done, left):
                raise TimeUp
            outcome = self._done.pop(self._given)
            self._given += 1
            self._turn.notify_all()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def stop(self) -> None:
        """Wait until no thread is at work."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        buffer = np.empty(self._largest, np.uint8)
        while (number := self._take()) is not None:
            tile = self._tiles[number]
            outcome: Result | BaseException
            try:
                outcome = self._use(tile, self._load(tile, buffer))
            except BaseException as error:  # handed over, not swallowed
                outcome = error
            with self._turn:
                self._done[number] = outcome
                self._turn.notify_all()

    def _take(self) -> int | None:
        """The number of a tile that no other thread has; None if there is nothing left to do."""
        with self._turn:
            # Not far ahead of what has been handed on, whose memory would pile up.
            self._turn.wait_for(lambda: self._stopped or self._taken - self._given < self._most_ahead)
            if self._stopped or self._taken == len(self._tiles):
                return None
            self._taken += 1
            return self._taken - 1
