"""The reduced problem in inner products, and the compiled verbs on it.

Everything after the columns have been gathered needs only G = X'X and the least-squares part LS around a reference
point v0: its value ``ls0`` and ``beta0 = X'(y - X v0)``. Differences from v0 keep LS accurate when the fit is nearly
perfect. Tightening (`tighten`) gives another problem of the same form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.rounding import Rounding
from parsifal.deadline import seconds_left
from parsifal.problem.column_rules import ColumnRules


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


class Survivors(ABC):
    """The columns that are left, as the compiled searches take them: `Quadratic` here, `HeldColumns` elsewhere."""

    k: int

    @property
    @abstractmethod
    def size(self) -> int:
        """Columns."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that they take, with what is planned for their products."""

    @property
    @abstractmethod
    def compiled(self) -> _core.Survivors:
        """The problem as the compiled verbs take it; it refers to the arrays, and keeps them."""

    def local_search(
        self, fix: FixArray, support: IntArray, *, greedy: bool = False, max_moves: int = 10_000
    ) -> tuple[IntArray, float]:
        """Improve a support by single additions, removals and swaps; returns it sorted, with its value."""
        found, value = _core.local_search(
            self.compiled,
            fix=fix,
            support=support.tolist(),
            greedy=greedy,
            max_moves=max_moves,
            seconds=seconds_left(),
        )
        return np.sort(np.asarray(found, dtype=np.int64)), value

    def restarts(self, fix: FixArray, s: FloatArray, count: int) -> IntArray:
        """Return the best of `count` local searches from random supports among the columns with s > 0."""
        found, _ = _core.restarts(self.compiled, fix=fix, s=s, count=count, seconds=seconds_left())
        return np.sort(np.asarray(found, dtype=np.int64))


@dataclass(frozen=True, kw_only=True)
class Quadratic(Survivors):
    """min over S and v on S of ``LS(v) + |v|^2 / (2 gamma) + penalty |S|``, ``|S| <= k``.

    Attributes
    ----------
    gram : Fortran-ordered array of shape (m, m)
        Positive semidefinite.
    v0, beta0, ls0 : reference point, -grad LS and LS there.
    gamma, penalty, k : as in `Problem`.
    rounding : Rounding
        How far all these may be off.
    rules : ColumnRules or None
        Of these columns.
    """

    gram: FloatArray
    v0: FloatArray
    beta0: FloatArray
    ls0: float
    gamma: float
    penalty: float
    k: int
    rounding: Rounding
    rules: ColumnRules | None = None

    @property
    def size(self) -> int:
        return int(self.gram.shape[0])

    @property
    def nbytes(self) -> int:
        return self.gram.nbytes

    @property
    def compiled(self) -> _core.Quadratic:
        return _core.Quadratic(
            gram=self.gram,
            v0=self.v0,
            beta0=self.beta0,
            ls0=self.ls0,
            gamma=self.gamma,
            penalty=self.penalty,
            k=self.k,
            rounding=self.rounding.compiled,
            rules=None if self.rules is None else self.rules.compiled,
        )

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
            self.compiled,
            fix=fix,
            start=start,
            cutoff=cutoff,
            tolerance=tolerance,
            max_solves=max_solves,
            seconds=seconds_left(),
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
