"""The reduced problem: the columns that survive safe fixing, in memory and small.

Only inner products matter from here on. Where fewer columns than rows are left, a QR factorisation of [X_m, y] can
stand in for the data, so that nothing later depends on n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, IntArray, Problem
from parsifal.quadratic import Quadratic
from parsifal.relaxation import WorkingSet
from parsifal.solution import Incumbent

# A Gram matrix of this many columns is 200 MB; more survivors than this are left to the working set.
MOST_COLUMNS = 5000


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
        p = self.problem
        return fit_support(p.design, p.y, self.index[support], p.gamma, p.penalty)

    def shrink(self, fix: FixArray) -> Reduced:
        """Drop the columns that `fix` rules out (the reference point stays, so LS is the same function)."""
        keep = np.flatnonzero(fix >= 0)
        q = self.quadratic
        dropped = np.flatnonzero((fix < 0) & (q.v0 != 0))
        v0, ls0, beta0 = q.v0, q.ls0, q.beta0
        if dropped.size:
            # Move the reference point to one that the survivors span.
            step = np.zeros(q.size)
            step[dropped] = -v0[dropped]
            change = q.gram[:, dropped] @ v0[dropped]
            ls0 = ls0 - float(step @ beta0) + 0.5 * float(step @ -change)
            v0, beta0 = v0 + step, beta0 + change
        quadratic = replace(
            q, gram=np.asfortranarray(q.gram[np.ix_(keep, keep)]), v0=v0[keep], beta0=beta0[keep], ls0=ls0
        )
        return Reduced(problem=self.problem, index=self.index[keep], fix=fix[keep], quadratic=quadratic)

    def sort(self) -> Reduced:
        """The same problem with its columns in the order of X."""
        order = np.argsort(self.index)
        q = self.quadratic
        quadratic = replace(
            q, gram=np.asfortranarray(q.gram[np.ix_(order, order)]), v0=q.v0[order], beta0=q.beta0[order]
        )
        return Reduced(problem=self.problem, index=self.index[order], fix=self.fix[order], quadratic=quadratic)


def compress(columns: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (R, z) with as few rows as possible and |z - R w| = |y - columns w| for every w."""
    n, m = columns.shape
    if n <= m + 1:
        return columns, y
    r = scipy.linalg.qr(np.column_stack([columns, y]), mode="r", overwrite_a=True, check_finite=False, pivoting=False)[
        0
    ][: m + 1]
    return np.asfortranarray(r[:, :m]), np.ascontiguousarray(r[:, m])


def reduce(problem: Problem, work: WorkingSet, fix: FixArray) -> Reduced:
    """Gather the columns that `fix` leaves; the point of the last read becomes the reference point."""
    missing = np.setdiff1d(np.flatnonzero(fix >= 0), work.index)
    if missing.size:
        work.add(missing.astype(np.int64))
    gathered = Reduced(problem=problem, index=work.index, fix=fix[work.index], quadratic=work.quadratic())
    return gathered.shrink(gathered.fix).sort()
