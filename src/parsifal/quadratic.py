"""The reduced problem in inner products, and the compiled verbs on it.

Everything after the columns have been gathered needs only G = X'X and the least-squares part LS around a reference
point v0: its value ``ls0`` and ``beta0 = X'(y - X v0)``. Differences from v0 keep LS accurate when the fit is nearly
perfect. Tightening (`tighten`) gives another problem of the same form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

import parsifal._core as _core
from parsifal.limits import seconds_left
from parsifal.problem import FixArray, FloatArray, IntArray
from parsifal.rounding import Rounding


@dataclass(frozen=True, kw_only=True)
class NodeRelaxation:
    """The relaxation of one node.

    ``bound`` is the best dual value seen, less what rounding can be worth; it belongs to ``best_v`` and ``best_beta``,
    whose entries are lengthened by their rounding errors.
    """

    bound: float
    primal: float
    stop: Literal["converged", "cutoff", "stalled"]
    solves: int
    v: FloatArray
    beta: FloatArray
    s: FloatArray
    best_v: FloatArray
    best_beta: FloatArray


@dataclass(frozen=True, kw_only=True)
class Quadratic:
    """min over S and v on S of ``LS(v) + |v|^2 / (2 gamma) + penalty |S|``, ``|S| <= k``.

    Attributes
    ----------
    gram : Fortran-ordered array of shape (m, m)
        Positive semidefinite.
    v0, beta0, ls0 : reference point, -grad LS and LS there.
    gamma, penalty, k : as in `Problem`.
    rounding : Rounding
        How far all these may be off.
    """

    gram: FloatArray
    v0: FloatArray
    beta0: FloatArray
    ls0: float
    gamma: float
    penalty: float
    k: int
    rounding: Rounding

    @property
    def size(self) -> int:
        return int(self.gram.shape[0])

    @property
    def arguments(self) -> tuple[FloatArray, FloatArray, FloatArray, float, float, float, int]:
        """The problem in the order in which every compiled verb takes it."""
        return self.gram, self.v0, self.beta0, self.ls0, self.gamma, self.penalty, self.k

    def relax(
        self,
        fix: FixArray,
        start: FloatArray,
        *,
        cutoff: float = np.inf,
        tolerance: float,
        max_solves: int = 1000,
    ) -> NodeRelaxation:
        """Solve the relaxation from `start` until ``primal - bound <= tolerance``, ``bound > cutoff`` or time is up."""
        r = _core.relax(
            *self.arguments,
            fix,
            start,
            cutoff,
            tolerance,
            max_solves,
            *self.rounding.arguments,
            seconds_left(),
        )
        return NodeRelaxation(
            bound=r["bound"],
            primal=r["primal"],
            stop=r["stop"],
            solves=r["solves"],
            v=r["v"],
            beta=r["beta"],
            s=r["s"],
            best_v=r["best_v"],
            best_beta=r["best_beta"],
        )

    def local_search(
        self, fix: FixArray, support: IntArray, *, greedy: bool = False, max_moves: int = 10_000
    ) -> tuple[IntArray, float]:
        """Improve a support by single additions, removals and swaps; returns it sorted, with its value."""
        found, value = _core.local_search(
            *self.arguments,
            fix,
            support.tolist(),
            greedy,
            max_moves,
            seconds_left(),
        )
        return np.sort(np.asarray(found, dtype=np.int64)), value

    def restarts(self, fix: FixArray, s: FloatArray, count: int) -> IntArray:
        """Return the best of `count` local searches from random supports among the columns with s > 0."""
        found, _ = _core.restarts(*self.arguments, fix, s, count, seconds_left())
        return np.sort(np.asarray(found, dtype=np.int64))
