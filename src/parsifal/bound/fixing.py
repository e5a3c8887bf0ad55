"""Safe fixing: with a cutoff that an improving solution must stay below, a column whose entry (or absence) would lift
the dual value above the cutoff is fixed for good.
"""

from __future__ import annotations

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray
from parsifal.problem.column_rules import ColumnRules


def fix_columns(
    beta: FloatArray,
    fix: FixArray,
    *,
    bound: float,
    cutoff: float,
    gamma: float,
    penalty: float,
    k: int,
    rules: ColumnRules | None = None,
) -> tuple[FixArray, int]:
    """Fix what no solution below `cutoff` can contradict; `bound` is the dual value that belongs to `beta`.

    Returns
    -------
    fix : int8 array
        The old fixes and the new ones.
    count : int
        How many are new; -1 if no solution below the cutoff exists at all.
    """
    new, count = _core.fix_columns(
        beta,
        fix,
        bound=bound,
        cutoff=cutoff,
        gamma=gamma,
        penalty=penalty,
        k=k,
        rules=None if rules is None else rules.compiled,
    )
    return np.asarray(new, dtype=np.int8), int(count)
