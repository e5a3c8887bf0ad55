"""The dual value over all columns, and safe fixing.

For any alpha = y - X v with beta = X'alpha and a_j = gamma/2 beta_j^2 - penalty,

    D = 1/2 |alpha|^2 + v'beta - sum_{in} a_j - (sum of the k - |in| largest positive a_j among the free columns)

is a lower bound on every support that respects the fixes. With a cutoff that an improving solution must stay below, a
column whose entry (or absence) would lift D above the cutoff is fixed for good.
"""

from __future__ import annotations

import numpy as np

import parsifal._core as _core
from parsifal.problem import FixArray, FloatArray


def dual_value(
    alpha: FloatArray,
    fit: float,
    beta: FloatArray,
    fix: FixArray,
    *,
    gamma: float,
    penalty: float,
    k: int,
) -> float:
    """Return D for ``alpha = y - X v``; `fit` is v'beta and `beta` must be X'alpha over every column."""
    taken, _, _ = _core.choose(beta, fix, gamma, penalty, k)
    return 0.5 * float(alpha @ alpha) + fit - float(taken)


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
