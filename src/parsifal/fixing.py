"""Safe fixing: with a cutoff that an improving solution must stay below, a column whose entry (or absence) would lift
the dual value above the cutoff is fixed for good.
"""

from __future__ import annotations

import numpy as np

import parsifal._core as _core
from parsifal.problem import FixArray, FloatArray


def fix_columns(
    beta: FloatArray,
    fix: FixArray,
    *,
    bound: float,
    cutoff: float,
    gamma: float,
    penalty: float,
    k: int,
) -> tuple[FixArray, int]:
    """Fix what no solution below `cutoff` can contradict; `bound` is the dual value that belongs to `beta`.

    Returns
    -------
    fix : int8 array
        The old fixes and the new ones.
    count : int
        How many are new; -1 if no solution below the cutoff exists at all.
    """
    new, count = _core.fix_columns(beta, bound, cutoff, fix, gamma, penalty, k)
    return np.asarray(new, dtype=np.int8), int(count)


def threshold(beta: FloatArray, fix: FixArray, *, gamma: float, penalty: float, k: int) -> float:
    """tau: the smallest |beta_j| that the dual's best completion takes."""
    floor = float(np.sqrt(2 * penalty / gamma))
    free = np.abs(beta[fix == 0])
    room = k - int(np.count_nonzero(fix == 1))
    if room <= 0:
        return np.inf
    if free.size <= room:
        return floor
    return max(floor, float(-np.partition(-free, room - 1)[room - 1]))
