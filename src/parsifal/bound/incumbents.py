"""Good supports before any tree: rounding of the relaxation, greedy, and swaps until none helps."""

from __future__ import annotations

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.quadratic import Quadratic


def round_relaxation(s: FloatArray, v: FloatArray, fix: FixArray, k: int) -> IntArray:
    """Keep the columns fixed in and, of the rest, as many as s sums up to (at most k in all): the largest s, by |v|
    where s ties."""
    forced = np.flatnonzero(fix == 1)
    free = np.flatnonzero((fix == 0) & (s > 0))
    order = np.lexsort((-np.abs(v[free]), -s[free]))
    room = min(max(0, k - forced.size), round(float(s[free].sum())) + 1)
    return np.sort(np.concatenate([forced, free[order[:room]]])).astype(np.int64)


def restart_count(size: int, k: int, *, ruled: bool = False) -> int:
    """How many random restarts are worth about a fifth of a second.

    A walk makes some k/2 + 10 moves of k m operations each, its start included; where columns have rules, k^2 m.
    """
    k = max(k, 1)
    return int(np.clip(3e7 / (size * k**2) if ruled else 5e8 / (size * k * (10 + k / 2)), 16, 200 if ruled else 2000))


def best_support(problem: Quadratic, fix: FixArray, starts: list[IntArray]) -> IntArray:
    """Improve every start and a greedy support by local search; return the best support found."""
    forced = np.flatnonzero(fix == 1).astype(np.int64)
    best, value = problem.local_search(fix, forced, greedy=True)
    seen: set[tuple[int, ...]] = set()
    for start in starts:
        key = tuple(start.tolist())
        if key in seen or start.size > problem.k:
            continue
        seen.add(key)
        support, found = problem.local_search(fix, start)
        if found < value:
            best, value = support, found
    return best
