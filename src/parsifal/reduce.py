"""The reduced problem: the columns that survive safe fixing, in memory and small.

Only inner products matter from here on: the Gram matrix of the survivors around a reference point stands in for the
data, so that nothing later depends on n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import parsifal._core as _core
from parsifal.limits import check_time, seconds_left, thread_limit, unhurried
from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, IntArray, Problem
from parsifal.products import product
from parsifal.quadratic import Quadratic
from parsifal.relaxation import WorkingSet
from parsifal.solution import Incumbent

# A Gram matrix of this many columns is 200 MB, whatever the memory limit is.
_ALWAYS_COLUMNS = 5000
_HELD_BYTES = 1 << 28
_MOMENT = 1 << 27  # multiplications of a fit


def room(memory_limit: float) -> float:
    """What may be planned for, so that the unplanned (threads, freed blocks, vectors) stays within the limit too."""
    return max(0.0, 0.95 * memory_limit - 12e6)


def most_columns(memory_limit: float) -> int:
    """How many survivors may be gathered: their Gram matrix, and a copy of it on the way, within the limit."""
    return max(_ALWAYS_COLUMNS, int(np.sqrt(room(memory_limit) / 16)))


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """The surviving columns as a `Quadratic`.

    Attributes
    ----------
    problem : Problem
        The whole problem.
    index : int array of shape (m,)
        The surviving columns.
    fix : int8 array of shape (m,)
        Those among them that are fixed in have 1; none has -1.
    quadratic : Quadratic
        The problem on them (not tightened).
    """

    problem: Problem
    index: IntArray
    fix: FixArray
    quadratic: Quadratic

    def fit(self, support: IntArray) -> Incumbent:
        """Fit a support (positions among the survivors) on the whole data."""
        return fit_in_time(self.problem, self.index[support])

    def shrink(self, fix: FixArray) -> Reduced:
        """Drop the columns that `fix` rules out, and put the rest in the order of X; LS stays the same function."""
        keep = np.flatnonzero(fix >= 0)
        keep = keep[np.argsort(self.index[keep])]
        q = self.quadratic
        dropped = np.flatnonzero((fix < 0) & (q.v0 != 0))
        v0, ls0, beta0, rounding = q.v0, q.ls0, q.beta0, q.rounding
        if dropped.size:
            # Move the reference point to one that the survivors span.
            change = q.gram[:, dropped] @ v0[dropped]
            ls0 = ls0 + float(v0[dropped] @ beta0[dropped]) + 0.5 * float(v0[dropped] @ change[dropped])
            v0, beta0 = v0.copy(), beta0 + change
            v0[dropped] = 0.0
            rounding = rounding.moved(q.v0 - v0)
        quadratic = replace(
            q,
            gram=np.asarray(_core.submatrix(q.gram, keep.tolist(), thread_limit(), seconds_left())),
            v0=v0[keep],
            beta0=beta0[keep],
            ls0=ls0,
            rounding=replace(rounding, norm=rounding.norm[keep]),
        )
        return Reduced(problem=self.problem, index=self.index[keep], fix=fix[keep], quadratic=quadratic)


def fit_in_time(problem: Problem, support: IntArray, columns: FloatArray | None = None) -> Incumbent:
    """Fit a support, past the deadline too if it takes only a moment: what was found should not be lost by it."""
    p = problem
    if p.n * support.size**2 <= _MOMENT and (columns is not None or p.design.cheap_columns):
        with unhurried():
            return fit_support(p.design, p.y, support, p.gamma, p.penalty, columns)
    check_time()
    return fit_support(p.design, p.y, support, p.gamma, p.penalty, columns)


def reduce(problem: Problem, work: WorkingSet, fix: FixArray) -> Reduced:
    """Gather the columns that `fix` leaves; the point of the last read becomes the reference point."""
    index = np.flatnonzero(fix >= 0).astype(np.int64)
    missing = np.setdiff1d(index, work.index)
    outside = np.flatnonzero((work.v != 0) & (fix[work.index] < 0))
    fits = 8 * problem.n * index.size <= min(_HELD_BYTES, problem.design.held_bytes)
    if missing.size > work.index.size and outside.size == 0 and fits:
        # Most survivors are new: one product over all of them beats growing the working set's matrix.
        columns = problem.design.columns(index)
        v0 = np.zeros(index.size)
        inside = np.isin(work.index, index)
        v0[np.searchsorted(index, work.index[inside])] = work.v[inside]
        gram = product(columns, columns)
        quadratic = replace(
            work.quadratic(),
            gram=gram,
            v0=v0,
            beta0=product(columns, work.alpha[:, None])[:, 0],
            rounding=work.rounding(gram),
        )
        return Reduced(problem=problem, index=index, fix=fix[index], quadratic=quadratic)
    if missing.size:
        work.add(missing)
    gathered = Reduced(problem=problem, index=work.index, fix=fix[work.index], quadratic=work.quadratic())
    return gathered.shrink(gathered.fix)
