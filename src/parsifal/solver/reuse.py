"""What one solve leaves for the next on the same X and y: for another k, another gamma, other forced columns.

The working set's Gram matrix depends on none of these. A dual point alpha with beta = X'alpha over every column is a
bound for each of them, D_k(alpha) being another sum over the same beta: so the next problem starts with columns fixed
before it has read X at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FloatArray
from parsifal.bound.dual import DualPoint
from parsifal.bound.working_set import Round, WorkingSet, first_columns
from parsifal.design import Design
from parsifal.design.identity import Sketch
from parsifal.problem.problem import Problem

_KEPT = 3  # dual points; each is p numbers


@dataclass(frozen=True, kw_only=True)
class Few:
    """Few columns with all their products, and what they are columns of."""

    design: Design
    y: FloatArray
    compiled: _core.FewColumns


@dataclass(kw_only=True)
class Handover:
    """The working set and the last priced points, or all of few columns; empty before the first solve."""

    work: WorkingSet | None = None
    few: Few | None = None
    points: list[DualPoint] = field(default_factory=list)
    sketch: Sketch | None = None  # to be filled by a read, for a checkpoint

    def working_set(self, problem: Problem) -> WorkingSet:
        """The working set for this problem: the one at hand, or a new one with its first columns."""
        work = self.work
        if work is None or work.problem.design is not problem.design or work.problem.y is not problem.y:
            self.points.clear()
            self.work = None
            work = WorkingSet(problem)
            work.sketch = self.sketch
            work.add(first_columns(problem))
            self.work = work
            return work
        work.problem, work.sketch = problem, self.sketch
        work.add_missing(np.flatnonzero(problem.fix == 1))
        return work

    def few_at_hand(self, problem: Problem) -> _core.FewColumns | None:
        """All columns of this problem with their products, if an earlier solve has gathered them."""
        few = self.few
        at_hand = few is not None and few.design is problem.design and few.y is problem.y
        return few.compiled if few is not None and at_hand else None

    def few_columns(self, problem: Problem) -> _core.FewColumns:
        """The same, gathered by a read where they are not at hand."""
        few = self.few_at_hand(problem)
        if few is None:
            few = _core.FewColumns(problem.design.whole(), problem.y)
            self.few = Few(design=problem.design, y=problem.y, compiled=few)
        return few

    def keep(self, last: Round) -> None:
        """Keep the point of a round that has read all of X."""
        if last.priced:
            self.points.append(last.point.sparse)
            del self.points[:-_KEPT]
