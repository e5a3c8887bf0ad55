"""Clocks."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, sleep
from typing import TypeVar

T = TypeVar("T")

# OpenBLAS threads go on spinning for some 30 ms after a product and would take a core from the next call.
PAUSE = 0.1


def timed(call: Callable[[], T], pause: float = PAUSE) -> tuple[float, T]:
    """Return the seconds that a call took, and what it returned."""
    sleep(pause)
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def best(*calls: Callable[[], object], repeats: int) -> list[float]:
    """Shortest time of each call; the calls take turns, so that a noisy neighbour disturbs all alike."""
    times = [float("inf")] * len(calls)
    for _ in range(repeats):
        for number, call in enumerate(calls):
            times[number] = min(times[number], timed(call)[0])
    return times
