"""The root: few reads of X, an incumbent, a bound, and as many columns as possible fixed for good.

A *cutoff* is the value below which a solution counts as better than the incumbent: its objective less (nearly, see
MARGIN) the gap that is allowed. Fixing and pruning keep every support below the cutoff, so once none is left the cutoff
itself is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from parsifal.fixing import fix_columns
from parsifal.handover import DualPoint, Handover
from parsifal.heuristics import best_support, restart_count, round_relaxation
from parsifal.limits import TimeUp, limited, seconds_left
from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, IntArray, Problem
from parsifal.quadratic import Quadratic
from parsifal.reduce import Reduced, fit_in_time, most_columns, reduce
from parsifal.relaxation import FIRST_TOLERANCE, SLICE_BYTES, Round, WorkingSet
from parsifal.rounding import sum_unit
from parsifal.solution import Incumbent, reconcile, relative_gap
from parsifal.tighten import Tightened, strain, tighten, tightening_diagonal

# The part of the allowed gap that the claim keeps as a distance from what was computed, so that a check in other
# arithmetic reaches it; pruning leaves a little more.
MARGIN = 0.09
_PRUNE = 0.9
_BEYOND_DOUBLE = 1e11

# An open gap beyond this is often an incumbent's fault: worth random restarts before a tree grows.
_RESTART_GAP = 0.01

# Seconds that the first round gets however short the limit: an answer without it would be the warm start and no bound.
_FIRST_ROUND = 0.2


@dataclass(frozen=True, kw_only=True)
class ProofStep:
    """One round of the root, for the certificate: a dual point as sparse coefficients and what it fixes.

    ``alpha = y - X[:, index] @ coef``; `columns` and `diagonal` are the surviving columns and the tightening in force,
    None in the rounds over all columns.
    """

    index: IntArray
    coef: FloatArray
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
    steps: list[ProofStep] = field(default_factory=list)
    first_beta: FloatArray = field(default_factory=lambda: np.empty(0))
    solves: int = 0
    largest_square: float = 0.0  # of the columns' norms, among those gathered
    strain: float = 0.0  # what the rounding of alpha can be worth in a tightened bound
    root_bound: float = -np.inf
    ceiling: float = np.inf  # supports above it are of no interest
    most_columns: int = 5000  # that may be gathered
    late: bool = False  # the deadline has cut the stage short

    @property
    def target(self) -> float:
        """What the bound has to reach, up to the gap."""
        return min(self.incumbent.objective, self.ceiling)

    @property
    def cutoff(self) -> float:
        # Less than the gap allows, so that the margin of the claim and the last roundings fit in.
        value = self.target
        return value - max(self.prune_gap * abs(value), self.prune_abs_gap)

    @property
    def prune_gap(self) -> float:
        return _PRUNE * self.rel_gap

    @property
    def prune_abs_gap(self) -> float:
        return _PRUNE * self.abs_gap

    @property
    def abs_gap(self) -> float:
        """Where a fit is perfect up to rounding, a difference at the rounding level of 1/2 |y|^2 is no difference."""
        return 1e-14 * float(self.problem.y @ self.problem.y)

    @property
    def gap(self) -> float:
        return relative_gap(self.incumbent.objective, self.lower_bound)

    @property
    def closed(self) -> bool:
        value = self.target
        return value - self.lower_bound <= (1 - MARGIN) * max(self.rel_gap * abs(value), self.abs_gap)

    def offer(self, candidate: Incumbent) -> None:
        """Take over a better solution, if it respects what is forced."""
        p, support = self.problem, candidate.support
        allowed = support.size <= p.k and not np.any(p.fix[support] < 0)
        complete = np.count_nonzero(p.fix[support] == 1) == np.count_nonzero(p.fix == 1)
        if candidate.objective < self.incumbent.objective and allowed and complete:
            self.incumbent = candidate

    def claim(self, lower_bound: float) -> float:
        """The bound as it is told: `lower_bound` less the margin, never above the objective."""
        p, value = self.problem, self.incumbent.objective
        return max(reconcile(value, lower_bound, 0.5 * float(p.y @ p.y)) - self.margin, self.floor)

    @property
    def margin(self) -> float:
        """What the claim keeps below what was computed."""
        return MARGIN * max(self.rel_gap * abs(self.target), self.abs_gap)

    @property
    def floor(self) -> float:
        """The bound of alpha = 0: every term of the objective is nonnegative."""
        return self.problem.penalty * int(np.count_nonzero(self.problem.fix == 1))

    def allows(self, lower_bound: float) -> bool:
        """Whether this bound leaves no more than the gap that is allowed."""
        value = self.incumbent.objective
        return value - lower_bound <= max(self.rel_gap * abs(value), self.abs_gap)

    @property
    def beyond_double(self) -> bool:
        """Whether the last digits of alpha = y - X w show in the dual value: where gamma |x_j|^2 is large, or what they
        can be worth in a tightened one is not small beside the claim's margin."""
        return self.problem.gamma * self.largest_square > _BEYOND_DOUBLE or self.strain > 0.3 * self.margin

    def may_tighten(self, columns: int) -> bool:
        """Whether what rounding costs a tightened bound (see `check`) is small beside the gap that is allowed.

        It is not where the fit is nearly perfect; but then the relaxation hardly needs tightening.
        """
        size = float(self.problem.y @ self.problem.y)
        allowed = max(self.rel_gap * abs(self.incumbent.objective), self.abs_gap)
        return 30 * sum_unit(self.problem.n + columns) * size <= 0.05 * allowed

    def raise_bound(self, bound: float) -> None:
        """Take over a bound on the supports that fixing has left; those it has not are bounded by the cutoff."""
        self.lower_bound = max(self.lower_bound, min(bound, self.cutoff) if self._fixed else bound)

    @property
    def _fixed(self) -> bool:
        return any(step.out.size + step.into.size for step in self.steps)

    def fix_with(
        self, dual: DualPoint, old: FixArray, index: IntArray | None, diagonal: FloatArray | None
    ) -> tuple[FixArray, int]:
        """Note the round for the certificate, take over its bound, and fix what `dual` allows.

        `index` are the columns that `old` and the dual point's beta are for; None: all. Returns the new fixes and how
        many there are; -1 if nothing below the cutoff is left.
        """
        p, fixed_before = self.problem, self._fixed
        new, count = fix_columns(
            dual.beta, old, bound=dual.bound, cutoff=self.cutoff, gamma=p.gamma, penalty=p.penalty, k=p.k
        )
        changed = np.flatnonzero(new != old)
        columns = changed if index is None else index[changed]
        active = np.flatnonzero(dual.coef)
        active = active[np.argsort(dual.index[active])]
        self.steps.append(
            ProofStep(
                index=dual.index[active],
                coef=dual.coef[active],
                out=columns[new[changed] < 0],
                into=columns[new[changed] > 0],
                columns=index,
                diagonal=None if index is None else np.zeros(index.size) if diagonal is None else diagonal,
            )
        )
        # In this order, since Ctrl-C may come between any two lines: no bound without the record that proves it.
        self.lower_bound = max(self.lower_bound, min(dual.bound, self.cutoff) if fixed_before else dual.bound)
        self.fix[columns] = new[changed]
        if count < 0:
            self.raise_bound(self.cutoff)
        return new, count


def start_root(
    problem: Problem,
    *,
    rel_gap: float,
    starts: Sequence[IntArray] = (),
    ceiling: float = np.inf,
    memory_limit: float = 0.0,
) -> Root:
    """A root with a first incumbent: the best of the starts, or the columns forced in alone."""
    forced = np.flatnonzero(problem.fix == 1).astype(np.int64)
    fits = [fit_support(problem.design, problem.y, s, problem.gamma, problem.penalty) for s in starts or [forced]]
    return Root(
        problem=problem,
        rel_gap=rel_gap,
        fix=problem.fix.copy(),
        incumbent=min(fits, key=lambda fit: fit.objective),
        # alpha = 0: every term of the objective is nonnegative.
        lower_bound=problem.penalty * forced.size,
        ceiling=ceiling,
        most_columns=most_columns(memory_limit),
    )


def solve_root(
    root: Root,
    *,
    deadline: float = np.inf,
    report: Callable[[Root], None] = lambda root: None,
    handover: Handover | None = None,
) -> None:
    """Run the root stage until the gap is closed, nothing moves any more, or the deadline passes.

    Works on `root` in place: whatever interrupts it, the root holds the best incumbent and a valid bound. `handover`
    is what an earlier solve on the same X and y has left, and takes what this one leaves.
    """
    handover = Handover() if handover is None else handover
    solves = 0 if handover.work is None else handover.work.solves
    try:
        with limited(deadline=max(deadline, time.monotonic() + _FIRST_ROUND)):
            work = handover.working_set(root.problem)
            missing = np.setdiff1d(root.incumbent.support, work.index)
            if missing.size:
                work.add(missing)
            if not _begin_with(root, work, handover):
                _read_rounds(root, work, deadline, report, handover)
            few = np.count_nonzero(root.fix >= 0) <= root.most_columns
            if not root.closed and few and time.monotonic() < deadline:
                _reduced_rounds(root, work, deadline, report)
    except TimeUp:
        root.late = True
    finally:
        if handover.work is not None:
            root.solves += max(0, handover.work.solves - solves)
            root.largest_square = float(np.diag(handover.work.gram).max(initial=0.0))
        root.root_bound = root.lower_bound


def _begin_with(root: Root, work: WorkingSet, handover: Handover) -> bool:
    """Use what was handed over; whether it leaves so few columns that X need not be read."""
    if not handover.points:
        return False
    q, fix = work.quadratic(), root.fix[work.index]
    _offer_best(root, work, best_support(q, fix, _incumbent_in(root, fix, work.index)))
    for point in reversed(handover.points):
        dual = point.bound(root.problem, root.fix)
        if not root.steps:
            root.first_beta = point.beta
        _, count = root.fix_with(dual, root.fix, None, None)
        if root.closed or count < 0:
            return True
    return _few_left(root, work)


def _few_left(root: Root, work: WorkingSet) -> bool:
    """Whether the survivors are few enough to be gathered."""
    left = int(np.count_nonzero(root.fix >= 0))
    return left <= min(max(200, 3 * work.index.size), root.most_columns)


def _read_rounds(
    root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None], handover: Handover
) -> None:
    """Rounds that read X: solve on the working set, price, find incumbents, fix."""
    p = root.problem
    scale = 0.5 * float(p.y @ p.y)
    # Where a read is cheap, early rounds need not be exact: columns still missing move the solution anyway.
    inner = (FIRST_TOLERANCE if p.design.nbytes < SLICE_BYTES else 1e-6) * scale
    while True:
        last = work.round(root.fix, inner)
        handover.keep(last, work.v)
        dual = DualPoint(index=work.index, coef=work.v, beta=last.safe_beta, bound=last.bound)
        try:
            with suppress(TimeUp):
                _improve_on_working_set(root, work, last)
        finally:
            # Whatever ends the round, its bound and its record are kept.
            if not root.steps:
                root.first_beta = last.beta
            _, count = root.fix_with(dual, root.fix, None, None)
        report(root)
        if root.closed or count < 0 or time.monotonic() >= deadline:
            return
        if _few_left(root, work):
            return
        added = work.violators(last, root.fix, max(100, work.index.size // 2))
        if added.size:
            work.add(added)
            least = 0.1 * (root.target - root.cutoff)
            inner = max(min(inner, 0.05 * (last.node.primal - last.bound)), least)
        elif last.hurried:
            # Once more, if the read took less than was kept for it.
            if seconds_left() <= work.reserve:
                root.late = True
                return
        elif inner > 1e-2 * (root.target - root.cutoff) and last.node.stop != "stalled":
            inner = max(0.1 * inner, 1e-3 * (root.target - root.cutoff))
        else:
            return


def _improve_on_working_set(root: Root, work: WorkingSet, last: Round) -> None:
    fix = root.fix[work.index]
    usable = work.quadratic()
    _offer_best(root, work, best_support(usable, fix, _starts(root, usable, fix, last.node.s, last.node.v, work.index)))


def _offer_best(root: Root, work: WorkingSet, support: IntArray) -> None:
    columns = None if work.columns is None else work.columns[:, support]
    root.offer(fit_in_time(root.problem, work.index[support], columns))


def _starts(root: Root, q: Quadratic, fix: FixArray, s: FloatArray, v: FloatArray, index: IntArray) -> list[IntArray]:
    """Supports worth improving: the relaxation rounded, and the incumbent."""
    return [round_relaxation(s, v, fix, q.k), *_incumbent_in(root, fix, index)]


def _incumbent_in(root: Root, fix: FixArray, index: IntArray) -> list[IntArray]:
    """The incumbent as positions in `index`, if it is there and `fix` allows it."""
    position = np.flatnonzero(np.isin(index, root.incumbent.support))
    whole = position.size == root.incumbent.support.size and not np.any(fix[position] < 0)
    return [position.astype(np.int64)] if whole else []


def _reduced_rounds(root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None]) -> None:
    """Rounds in memory: relax, improve, fix, shrink; tightened once fewer columns than rows are left."""
    p = root.problem
    reduced = reduce(p, work, root.fix)
    v = reduced.quadratic.v0
    tightened: Tightened | None = None
    restarted = False
    while True:
        q = reduced.quadratic if tightened is None else tightened.quadratic
        scale = np.ones(q.size) if tightened is None else tightened.scale
        tolerance = 0.1 * (root.target - root.cutoff)
        node = q.relax(reduced.fix, v / scale, cutoff=root.cutoff, tolerance=tolerance)
        root.solves += node.solves
        v = node.v * scale
        dual = DualPoint(index=reduced.index, coef=node.best_v * scale, beta=node.best_beta, bound=node.bound)
        diagonal = None if tightened is None else tightened.diagonal
        if tightened is not None:
            root.strain = max(root.strain, strain(p, q.rounding.norm, node, reduced.fix))
        try:
            with suppress(TimeUp):
                starts = _starts(root, reduced.quadratic, reduced.fix, node.s, v, reduced.index)
                root.offer(reduced.fit(best_support(reduced.quadratic, reduced.fix, starts)))
                gap = relative_gap(root.incumbent.objective, max(root.lower_bound, node.bound))
                missed = node.stop != "cutoff" and gap > max(_RESTART_GAP, root.rel_gap)
                if missed and not restarted and time.monotonic() < deadline:
                    restarted = True
                    count = restart_count(reduced.index.size, min(p.k, int(np.count_nonzero(node.s > 0))))
                    root.offer(reduced.fit(reduced.quadratic.restarts(reduced.fix, node.s, count)))
        finally:
            root.reduced, root.tightened, root.v = reduced, tightened, v
            new, count = root.fix_with(dual, reduced.fix, reduced.index, diagonal)
        report(root)
        if root.closed or count < 0 or time.monotonic() >= deadline:
            return
        if count > 0:
            v = v[new >= 0]
            reduced = reduced.shrink(new)
        m = reduced.index.size
        can_tighten = m < p.n and m <= 500 and root.may_tighten(m)
        if count > 0 and (tightened is None or can_tighten):
            tightened = _tightened(reduced) if can_tighten else None
        elif tightened is None and can_tighten:
            tightened = _tightened(reduced)
            if tightened is None:
                return
        else:
            return


def _tightened(reduced: Reduced) -> Tightened | None:
    q = reduced.quadratic
    # Columns count alike whatever their units.
    squares = np.maximum(np.diag(q.gram), np.finfo(np.float64).tiny)
    diagonal = tightening_diagonal(q.gram, 1.0 / squares, unit=q.rounding.unit + sum_unit(q.size), gamma=q.gamma)
    return tighten(reduced.quadratic, diagonal) if np.any(diagonal > 0) else None
