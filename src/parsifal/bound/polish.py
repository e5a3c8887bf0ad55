"""Better supports where inner products have lost the digits that tell them apart: greedy and swaps on the columns.

With R a support, Q an orthonormal basis of [X_R; I/sqrt(gamma)] and a tilde for what is left of a column, or of y, once
Q is taken out of it,

    c(R + i) = 1/2 |y~|^2 - (x_i'y~)^2 / (2 (1/gamma + |x~_i|^2)),

in which y'y does not appear: differences far below its rounding are seen.
"""

from __future__ import annotations

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.ridge_loss import fit_support
from parsifal.deadline import check_time
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent

MOST_ENTRIES = 1 << 21  # of X, that it is worth while for
_SWEEPS = 20
_KICKS = 12
_SEED = 0
_LESS = 1e-9  # relative: what counts as better
_MOST_WORK = 4e8  # multiplications
_SPANNED = 1e-12  # squared length that is left of a column, relative: rounding


class Polish:
    """Local search on columns that are held in memory.

    Parameters
    ----------
    problem : Problem
        What is asked.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._allowed = np.flatnonzero(problem.fix >= 0).astype(np.int64)
        self._columns = problem.design.columns(self._allowed)
        self._squares = np.einsum("ij,ij->j", self._columns, self._columns) if np.isinf(problem.gamma) else -1.0
        self._place = {int(j): at for at, j in enumerate(self._allowed)}
        self._work = 0.0
        self._forced = np.flatnonzero(problem.fix == 1).astype(np.int64)

    def best(self, incumbent: Incumbent) -> Incumbent:
        """The best of the incumbent and the greedy support, each improved by swaps and a few random changes."""
        starts = [incumbent, self._grown(self._fit(self._forced))]
        best = min((self._swapped(start) for start in starts), key=lambda candidate: candidate.objective)
        rng = np.random.default_rng(_SEED)
        for _ in range(_KICKS):
            best = min(best, self._swapped(self._kicked(best, rng)), key=lambda candidate: candidate.objective)
        return best

    def _kicked(self, current: Incumbent, rng: np.random.Generator) -> Incumbent:
        """Half of the columns replaced at random: away from a support that no single swap improves."""
        free = np.setdiff1d(current.support, self._forced)
        kept = np.union1d(self._forced, rng.choice(free, free.size // 2, replace=False))
        others = np.setdiff1d(self._allowed, kept)
        new = rng.choice(others, min(current.support.size - kept.size, others.size), replace=False)
        return self._fit(np.union1d(kept, new).astype(np.int64))

    def _grown(self, current: Incumbent) -> Incumbent:
        while current.support.size < self._problem.k:
            better = self._better(current, current.support)
            if better is None:
                break
            current = better
        return current

    def _swapped(self, current: Incumbent) -> Incumbent:
        for _ in range(_SWEEPS):
            before = current.objective
            for j in np.setdiff1d(current.support, self._forced):
                if j in current.support:
                    current = self._better(current, current.support[current.support != j]) or current
            current = self._grown(current)
            if not current.objective < before:
                break
        return current

    def _better(self, current: Incumbent, rest: IntArray) -> Incumbent | None:
        """The best support of `rest` and at most one column more, if it is better than the current one."""
        check_time()
        p = self._problem
        # A call costs something however small it is.
        self._work += 2.0 * p.n * self._allowed.size * (rest.size + 1) + _MOST_WORK / 2000
        if self._work > _MOST_WORK:
            return None
        base, gains = self._gains(rest)
        gains -= p.penalty
        inside = np.array([self._place[int(j)] for j in rest], dtype=np.int64)
        gains[inside] = -np.inf
        at = int(np.argmax(gains))
        support = np.append(rest, self._allowed[at]) if gains[at] > 0 else rest
        value = base + p.penalty * rest.size - max(float(gains[at]), 0.0)
        if not value < current.objective * (1 - _LESS):
            return None
        fit = self._fit(support)
        return fit if fit.objective < current.objective * (1 - _LESS) else None

    def _gains(self, rest: IntArray) -> tuple[float, FloatArray]:
        """c(R), and how much each column would take off it."""
        p, X = self._problem, self._columns
        chosen = X[:, [self._place[int(j)] for j in rest]]
        # Columns of unit size: the same space, and nothing in it is lost beside the ridge.
        norms = np.sqrt(np.einsum("ij,ij->j", chosen, chosen) + 1 / p.gamma)
        norms[norms == 0] = 1.0
        stacked = np.vstack([chosen / norms, np.diag(1 / (np.sqrt(p.gamma) * norms))])
        Q = np.linalg.qr(stacked)[0]
        left = np.concatenate([p.y, np.zeros(rest.size)])
        # Twice, since the first time leaves a rounding of the whole.
        for _ in range(2):
            left = left - Q @ (Q.T @ left)
        part = Q[: p.n].T @ X
        others, ridge = X - Q[: p.n] @ part, Q[p.n :] @ part
        squares = np.einsum("ij,ij->j", others, others) + np.einsum("ij,ij->j", ridge, ridge) + 1 / p.gamma
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = 0.5 * (X.T @ left[: p.n]) ** 2 / squares
        # Without a ridge, a column in the span of the others has nothing to add.
        gains[squares <= _SPANNED * self._squares] = 0.0
        return 0.5 * float(left @ left), gains

    def _fit(self, support: IntArray) -> Incumbent:
        p = self._problem
        columns = self._columns[:, [self._place[int(j)] for j in support]]
        return fit_support(p.design, p.y, support, p.gamma, p.penalty, columns)
