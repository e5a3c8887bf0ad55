"""The ridge weight: a number, or "auto" = sqrt(rows) / mean square of what is chosen among.

The square of a column is its sum of squares, that of a kernel its trace; with weights on the rows, their sum counts as
the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from parsifal.arguments import SMALLEST_SQUARE, check_gamma
from parsifal.design import Scan
from parsifal.errors import InputError


def resolve_gamma(gamma: Any, auto: Callable[[], float], *, ridgeless: bool = True) -> float:
    """Return gamma as a checked number, infinity if `ridgeless`; `auto` is called for "auto", and may cost a read."""
    if not isinstance(gamma, str):
        return check_gamma(gamma, ridgeless=ridgeless)
    if gamma != "auto":
        raise InputError(f'gamma must be a positive number or "auto", not {gamma!r}')
    return auto()


def auto_gamma(rows: float, mean_square: float) -> float:
    """What "auto" stands for; 1 where all is zero, since every gamma then gives the same fit."""
    return math.sqrt(rows) / mean_square if mean_square > 0.0 else 1.0


def column_gamma(rows: float, scan: Scan) -> float:
    """What "auto" stands for on the columns of a read with statistics."""
    assert scan.squares is not None
    assert scan.sums is not None
    mean = float(np.mean(scan.squares))
    if mean < SMALLEST_SQUARE and (scan.xv.any() or scan.sums.any() or mean > 0):
        raise InputError("the entries of X are too small to square; multiply X by a power of ten")
    return auto_gamma(rows, mean)
