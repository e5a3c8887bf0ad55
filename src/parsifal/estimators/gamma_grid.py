"""The ridge weights that a cross-validation tries: a coarse grid, then a finer one where it was best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsifal.arguments import check_gamma
from parsifal.errors import InputError
from parsifal.problem.standardise import Training

# Times 1/sqrt(n), on standardised columns: from a ridge that matters to next to none.
_COARSE = (0.1, 1.0, 10.0, 100.0)
# Rows a column from which on no ridge at all is tried. With fewer, columns soon span the rows: without a ridge any of
# them then fit as well as any other, what they predict is arbitrary, and no proof of the last fit would end.
_ROWS_A_COLUMN = 2
_FINE = math.sqrt(10.0)
# A ridge that shrinks no combination of columns by more than a part in so many is none: infinity stands for it.
_SAME_AS_NONE = 1000.0
_ALWAYS_TRIED = 2  # of the coarse grid


def coarse_grid(gammas: Any, training: Training, least: float) -> list[float]:
    """The ridge weights that are meant, in growing order; "auto": decades, and infinity where rows are many.

    `least` is as in `differing_from_none`, 0 where it is not known.
    """
    if isinstance(gammas, str):
        if gammas != "auto":
            raise InputError(f'gammas must be positive numbers or "auto", not {gammas!r}')
        unit = training.paper_gamma()
        finite = [factor * unit for factor in _COARSE]
        if training.mass < _ROWS_A_COLUMN * training.scale.size:
            return finite
        return differing_from_none([*finite, math.inf], least, _ALWAYS_TRIED)
    if np.ndim(gammas) == 0:
        return [check_gamma(gammas, ridgeless=True)]
    checked = sorted({check_gamma(gamma, ridgeless=True) for gamma in gammas})
    if not checked:
        raise InputError("gammas is empty; give at least one ridge weight")
    return checked


def finer_grid(coarse: Sequence[float], best: float, least: float) -> list[float]:
    """Half a decade to either side of the best of the coarse grid; beyond it, where the best is its end. Without those
    for which infinity stands, if it is there."""
    around = _around(coarse, best)
    return differing_from_none(around, least) if math.isinf(coarse[-1]) else around


def _around(coarse: Sequence[float], best: float) -> list[float]:
    if math.isinf(best):
        return [coarse[-2] * _FINE, coarse[-2] * _FINE**2]
    if best == coarse[0]:
        return [best / _FINE**2, best / _FINE]
    if best == coarse[-1]:
        return [best * _FINE, best * _FINE**2]
    return [best / _FINE, best * _FINE]


def differing_from_none(gammas: Sequence[float], least: float, kept: int = 0) -> list[float]:
    """The gammas that differ from infinity, the first `kept` of them in any case; `least` is the smallest eigenvalue of
    X'X on any training rows.

    With gamma least >= 1000 every fit is within a thousandth of that of least squares: the bias which that adds is a
    millionth of what the fit explains, and of its variance it takes two thousandths at most.
    """
    return [
        gamma
        for place, gamma in enumerate(gammas)
        if place < kept or math.isinf(gamma) or not gamma * least >= _SAME_AS_NONE
    ]


def edge_note(gammas: Sequence[float], chosen: int) -> str | None:
    """What to say if the best of three or more is the last one on its side; nothing is beyond infinity."""
    gamma = gammas[chosen]
    if len(gammas) < 3 or 0 < chosen < len(gammas) - 1 or math.isinf(gamma):
        return None
    side, other = ("smallest", "smaller ones") if chosen == 0 else ("largest", "larger ones, up to np.inf,")
    return f"the {side} of the gammas, {gamma:.4g}, is the best; {other} may be better still: give them as gammas"
