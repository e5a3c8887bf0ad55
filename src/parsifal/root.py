"""The root: few reads of X, an incumbent, a bound, and as many columns as possible fixed for good.

A *cutoff* is the value below which a solution counts as better than the incumbent: ``objective (1 - rel_gap)``. Fixing and
pruning keep every support below the cutoff, so once none is left the cutoff itself is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from parsifal.fixing import fix_columns
from parsifal.heuristics import best_support, round_relaxation
from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, IntArray, Problem
from parsifal.quadratic import Quadratic
from parsifal.reduce import MOST_COLUMNS, Reduced, reduce
from parsifal.relaxation import Round, WorkingSet, first_columns
from parsifal.solution import Incumbent
from parsifal.tighten import Tightened, tighten, tightening_diagonal


@dataclass(frozen=True, kw_only=True)
class FixingStep:
    """What justifies a set of fixings: a dual point as sparse coefficients, and the cutoff it was held against.

    ``alpha = y - X[:, index] @ coef``; `diagonal` (on `columns`) is the tightening in force, or None.
    """

    index: IntArray
    coef: FloatArray
    cutoff: float
    out: IntArray
    into: IntArray
    columns: IntArray | None = None
    diagonal: FloatArray | None = None


@dataclass(kw_only=True)
class Root:
    """The state of the root stage, and what it hands on to the search."""

    problem: Problem
    rel_gap: float
    fix: FixArray
    incumbent: Incumbent
    lower_bound: float = -np.inf
    reduced: Reduced | None = None
    tightened: Tightened | None = None
    v: FloatArray | None = None
    steps: list[FixingStep] = field(default_factory=list)
    solves: int = 0
    root_bound: float = -np.inf

    @property
    def cutoff(self) -> float:
        # A hair above what would do, so that the rounding of the last few operations cannot spoil the promise.
        value = self.incumbent.objective
        return value - max(self.prune_gap * abs(value), 0.99 * self.abs_gap)

    @property
    def prune_gap(self) -> float:
        return 0.99 * self.rel_gap

    @property
    def abs_gap(self) -> float:
        """Where a fit is perfect up to rounding, a difference at the rounding level of 1/2 |y|^2 is no difference."""
        return 1e-14 * float(self.problem.y @ self.problem.y)

    @property
    def closed(self) -> bool:
        value = self.incumbent.objective
        return value - self.lower_bound <= max(self.rel_gap * abs(value), self.abs_gap)

    def offer(self, candidate: Incumbent) -> bool:
        if candidate.objective < self.incumbent.objective:
            self.incumbent = candidate
            return True
        return False

    def raise_bound(self, bound: float) -> None:
        """Take over a bound on the supports that fixing has left; those it has not are bounded by the cutoff."""
        self.lower_bound = max(self.lower_bound, min(bound, self.cutoff) if self.steps else bound)

    def apply_fixing(
        self, new: FixArray, step: tuple[IntArray, FloatArray], **tightening: FloatArray | IntArray
    ) -> None:
        changed = np.flatnonzero(new != self.fix)
        self.steps.append(
            FixingStep(
                index=step[0],
                coef=step[1],
                cutoff=self.cutoff,
                out=changed[new[changed] < 0],
                into=changed[new[changed] > 0],
                **tightening,
            )
        )
        self.fix = new


def solve_root(
    problem: Problem,
    *,
    rel_gap: float,
    warm_start: IntArray | None = None,
    deadline: float = np.inf,
    report: Callable[[Root], None] = lambda root: None,
) -> Root:
    """Run the root stage until the gap is closed, nothing moves any more, or the deadline passes."""
    forced = np.flatnonzero(problem.fix == 1).astype(np.int64)
    start = forced if warm_start is None else warm_start
    root = Root(
        problem=problem,
        rel_gap=rel_gap,
        fix=problem.fix.copy(),
        incumbent=fit_support(problem.design, problem.y, start, problem.gamma, problem.penalty),
    )
    work = WorkingSet(problem)
    work.add(first_columns(problem))
    _read_rounds(root, work, deadline, report)
    root.solves += work.solves
    if not root.closed and np.count_nonzero(root.fix >= 0) <= MOST_COLUMNS and time.monotonic() < deadline:
        _reduced_rounds(root, work, deadline, report)
    root.root_bound = root.lower_bound
    return root


def _read_rounds(root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None]) -> None:
    """Rounds that read X: solve on the working set, price, find incumbents, fix."""
    p = root.problem
    scale = 0.5 * float(p.y @ p.y)
    inner = 1e-6 * scale
    while True:
        last = work.round(root.fix, inner)
        root.raise_bound(last.bound)
        _improve_on_working_set(root, work, last)
        report(root)
        if root.closed or time.monotonic() >= deadline:
            return
        new, count = fix_columns(
            last.beta,
            root.fix,
            bound=last.bound,
            cutoff=root.cutoff,
            gamma=p.gamma,
            penalty=p.penalty,
            k=p.k,
        )
        if count < 0:
            root.raise_bound(root.cutoff)
            return
        if count > 0:
            active = np.flatnonzero(work.v)
            root.apply_fixing(new, (work.index[active], work.v[active]))
        left = int(np.count_nonzero(root.fix >= 0))
        if left <= min(max(200, 3 * work.index.size), MOST_COLUMNS):
            return
        added = work.violators(last, root.fix, max(100, work.index.size // 2))
        if added.size:
            work.add(added)
        elif inner > 1e-2 * (root.incumbent.objective - root.cutoff) and last.node.stop != "stalled":
            inner = max(0.1 * inner, 1e-3 * (root.incumbent.objective - root.cutoff))
        else:
            return


def _improve_on_working_set(root: Root, work: WorkingSet, last: Round) -> None:
    fix = root.fix[work.index]
    usable = work.quadratic()
    support = best_support(usable, fix, _starts(root, usable, fix, last.node.s, last.node.v, work.index))
    columns = None if work.columns is None else work.columns[:, support]
    p = root.problem
    root.offer(fit_support(p.design, p.y, work.index[support], p.gamma, p.penalty, columns))


def _starts(root: Root, q: Quadratic, fix: FixArray, s: FloatArray, v: FloatArray, index: IntArray) -> list[IntArray]:
    """Supports worth improving: the relaxation rounded, and the incumbent."""
    starts = [round_relaxation(s, v, fix, q.k)]
    position = np.flatnonzero(np.isin(index, root.incumbent.support))
    if position.size == root.incumbent.support.size and not np.any(fix[position] < 0):
        starts.append(position.astype(np.int64))
    return starts


def _reduced_rounds(root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None]) -> None:
    """Rounds in memory: relax, improve, fix, shrink; with a tightened Gram matrix once fewer columns than rows are left."""
    p = root.problem
    reduced = reduce(p, work, root.fix)
    v = reduced.quadratic.v0
    tightened: Tightened | None = None
    while True:
        q = reduced.quadratic if tightened is None else tightened.quadratic
        scale = np.ones(q.size) if tightened is None else tightened.scale
        tolerance = 0.1 * (root.incumbent.objective - root.cutoff)
        node = q.relax(reduced.fix, v / scale, cutoff=root.cutoff, tolerance=tolerance)
        root.solves += node.solves
        v = node.v * scale
        root.raise_bound(node.bound)
        support = best_support(
            reduced.quadratic,
            reduced.fix,
            _starts(root, reduced.quadratic, reduced.fix, node.s, v, reduced.index),
        )
        root.offer(reduced.fit(support))
        report(root)
        root.reduced, root.tightened, root.v = reduced, tightened, v
        if root.closed or time.monotonic() >= deadline:
            return
        new, count = fix_columns(
            node.best_beta,
            reduced.fix,
            bound=node.bound,
            cutoff=root.cutoff,
            gamma=p.gamma,
            penalty=p.penalty,
            k=p.k,
        )
        if count < 0:
            root.raise_bound(root.cutoff)
            return
        if count > 0:
            whole = root.fix.copy()
            whole[reduced.index] = new
            best = node.best_v * scale
            active = np.flatnonzero(best)
            extra = {} if tightened is None else {"columns": reduced.index, "diagonal": tightened.diagonal}
            root.apply_fixing(whole, (reduced.index[active], best[active]), **extra)
            v = v[new >= 0]
            reduced = reduced.shrink(new)
        m = reduced.index.size
        can_tighten = m < p.n and m <= 500
        if count > 0 and (tightened is None or can_tighten):
            tightened = _tightened(reduced) if can_tighten else None
        elif tightened is None and can_tighten:
            tightened = _tightened(reduced)
            if tightened is None:
                return
        else:
            return


def _tightened(reduced: Reduced) -> Tightened | None:
    diagonal = tightening_diagonal(reduced.quadratic.gram)
    return tighten(reduced.quadratic, diagonal) if np.any(diagonal > 0) else None
