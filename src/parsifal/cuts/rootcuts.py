"""Cuts at fractional points before the tree: Kelley's method with in-out points, on the linear relaxation.

The cut at the relaxation's own optimum has the relaxation's bound as its minimum over {sum s <= k}: D(alpha) is the
least value of that cut. So where there are no side constraints one cut brings the master's root bound to the
relaxation's, and the rest of this file is for the cases where it does not.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, hstack, vstack

from parsifal.arrays import FloatArray, IntArray
from parsifal.cuts.master import Choices, Cut
from parsifal.cuts.planes import Planes
from parsifal.deadline import TimeUp, seconds_left
from parsifal.errors import InputError

# The linear relaxation counts as solved when its bound is this close to the loss at the best fractional point.
_CLOSE = 1e-3
# More than a solver's tolerance on a row.
_SPARE = 2e-6


def best_choice(choices: Choices, weight: FloatArray) -> IntArray:
    """The allowed support with the largest sum of weights (the paper's dual warm start)."""
    if not choices.rows:
        free = np.flatnonzero((choices.fix == 0) & (weight > 0))
        room = choices.k - int(np.count_nonzero(choices.fix == 1))
        if free.size > room:
            free = free[np.argsort(-weight[free], kind="stable")[:room]]
        return np.union1d(np.flatnonzero(choices.fix == 1), free).astype(np.int64)
    size = float(np.abs(weight).max(initial=0.0)) or 1.0
    matrix, lower, upper = _matrix(choices)
    up = np.where(np.isfinite(lower), 1 + np.abs(lower), 0.0)
    down = np.where(np.isfinite(upper), 1 + np.abs(upper), 0.0)
    # What the solver calls allowed may break a constraint by its tolerance: then once more, with that much to spare.
    for spare in (0.0, _SPARE):
        found = milp(
            -weight / size,
            integrality=np.ones(choices.size),
            bounds=Bounds(choices.lower, choices.upper),
            constraints=LinearConstraint(matrix, lower + spare * up, upper - spare * down),
            options=_time_option(),
        )
        if found.x is None and found.status == 1:
            raise TimeUp
        if found.x is None:
            break
        support = np.flatnonzero(found.x > 0.5).astype(np.int64)
        if choices.allows(support):
            return support
    raise InputError("no support satisfies the constraints together with k, force_in and force_out")


def _matrix(choices: Choices) -> tuple[coo_array, FloatArray, FloatArray]:
    """Cardinality and side constraints as ``lower <= A s <= upper``."""
    parts = [(np.arange(choices.size), np.ones(choices.size), -np.inf, float(choices.k))]
    parts += [(row.index, row.coef, row.lower, row.upper) for row in choices.rows]
    row = np.concatenate([np.full(index.size, i) for i, (index, _, _, _) in enumerate(parts)])
    column = np.concatenate([index for index, _, _, _ in parts])
    value = np.concatenate([coef for _, coef, _, _ in parts])
    matrix = coo_array((value, (row, column)), shape=(len(parts), choices.size))
    return matrix, np.array([part[2] for part in parts]), np.array([part[3] for part in parts])


def _time_option() -> dict[str, float]:
    left = seconds_left()
    return {} if math.isinf(left) else {"time_limit": max(left, 1e-3)}


def root_cuts(planes: Planes, relaxed: FloatArray | None, most: int, deadline: float) -> list[Cut]:
    """At most `most` cuts at fractional points, from `relaxed` on (a point in the middle where there is none)."""
    choices = planes.choices
    if most <= 0:
        return []
    price = planes.scaled_price
    inner = planes.incumbent()[0] if relaxed is None else relaxed
    value, cut = planes.cut_at(inner)
    cuts = [cut]
    upper = value + float(price @ inner)
    if not _inside(choices, inner):
        inner, upper = planes.incumbent()[0], np.inf
    while len(cuts) < most and time.monotonic() < deadline:
        solved = _relaxed_master(choices, cuts, price, planes.floor / planes.scale)
        if solved is None or upper - solved[1] <= _CLOSE * abs(upper):
            break
        middle = 0.5 * (inner + solved[0])
        value, cut = planes.cut_at(middle)
        cuts.append(cut)
        if value + float(price @ middle) < upper:
            inner, upper = middle, value + float(price @ middle)
    planes.inner = inner
    return cuts


def _inside(choices: Choices, s: FloatArray) -> bool:
    matrix, lower, upper = _matrix(choices)
    value = matrix @ s
    return bool(np.all(value >= lower - 1e-6) and np.all(value <= upper + 1e-6))


def _relaxed_master(
    choices: Choices, cuts: list[Cut], price: FloatArray, floor: float
) -> tuple[FloatArray, float] | None:
    """The master without integrality: its s and its value."""
    m = choices.size
    matrix, lower, upper = _matrix(choices)
    sides = matrix.tocsr()
    below, above = np.isfinite(upper), np.isfinite(lower)
    planes = coo_array(np.column_stack([np.stack([cut.slope for cut in cuts]), -np.ones(len(cuts))]))
    zero = coo_array((int(below.sum() + above.sum()), 1))
    rows = vstack([planes, hstack([vstack([sides[below], -sides[above]]), zero])]).tocsr()
    right = np.concatenate([[-cut.constant for cut in cuts], upper[below], -lower[above]])
    bounds = np.column_stack([np.append(choices.lower, floor), np.append(choices.upper, np.inf)])
    found = linprog(np.append(price, 1.0), A_ub=rows, b_ub=right, bounds=bounds, method="highs", options=_time_option())
    return None if found.x is None else (np.clip(found.x[:m], 0.0, 1.0), float(found.fun))
