"""The rounds of the root: few reads of X, an incumbent, a bound, and as many columns as possible fixed for good.

First over all columns, each round a solve on the working set and a read that prices it; then, once few columns are
left, in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import DualPoint
from parsifal.bound.held import HeldColumns
from parsifal.bound.incumbents import best_support, restart_count, round_relaxation
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.tightening import (
    EVEN_FIRST,
    MOST_IN_DETAIL,
    Tightened,
    strain,
    tighten,
    tighten_all,
    tighten_evenly,
)
from parsifal.bound.working_set import FIRST_TOLERANCE, SLICE_BYTES, Round, WorkingSet
from parsifal.deadline import TimeUp, limited, seconds_left
from parsifal.errors import InputError
from parsifal.problem.gap import relative_gap
from parsifal.solver.reduce import Reduced, columns_fit, fit_in_time, gram_pays, hold, reduce
from parsifal.solver.reuse import Handover
from parsifal.solver.root import Remainder, Root

# An open gap beyond this is often an incumbent's fault: worth random restarts before a tree grows.
_RESTART_GAP = 0.01
_WIDE_GAP = 0.2  # by which all of the restarts are worth their time

# Seconds that the first round gets however short the limit: an answer without it would be the warm start and no bound.
_FIRST_ROUND = 0.2
# Squares of smaller norms are no longer exact in all their digits.
_LEAST_NORM = 1e-140
_COLUMNS_AT_ONCE = 256
_FEW_WALKED = 5000  # columns, all products of which are computed in a moment


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
            work.add_missing(root.incumbent.support)
            left = int(np.count_nonzero(root.fix >= 0))
            at_once = np.isinf(root.problem.gamma) or root.at_once(left)
            if at_once or (not handover.points and root.overshadowed(left)):
                _gather_all(root, work)
            elif not _begin_with(root, work, handover):
                _read_rounds(root, work, deadline, report, handover)
            few = root.at_once(int(np.count_nonzero(root.fix >= 0)))  # a moment, whatever the limit
            if not root.done and (few or time.monotonic() < deadline):
                if np.isfinite(root.problem.gamma) and not _gram_pays(root):
                    _hold_columns(root, work, report, handover)
                if not root.done and _gram_pays(root):
                    _reduced_rounds(root, work, deadline, report)
    except TimeUp:
        root.cut_short()
    finally:
        held = handover.work
        root.end(
            solves=0 if held is None else max(0, held.solves - solves),
            largest_square=0.0 if held is None else float(np.diag(held.gram).max(initial=0.0)),
        )


def _gram_pays(root: Root) -> bool:
    return gram_pays(root.problem, int(np.count_nonzero(root.fix >= 0)), root.memory_limit)


def _refuse_underflow(root: Root, norms: FloatArray) -> None:
    """A column whose squares underflow looks like one of zeros, and without a ridge its units do not matter."""
    small = np.flatnonzero((norms < _LEAST_NORM) & (root.fix >= 0))
    for start in range(0, small.size, _COLUMNS_AT_ONCE):
        index = small[start : start + _COLUMNS_AT_ONCE]
        size = np.abs(root.problem.design.columns(index)).max(axis=0, initial=0.0)
        for j, largest in zip(index[size > 0], size[size > 0]):
            raise InputError(f"column {j} has entries of about {largest:.0e}, too small to square; rescale the column")


def _gather_all(root: Root, work: WorkingSet) -> None:
    """Where no read fixes a column, or few columns need none to be fixed, all are gathered if they are not too many."""
    beta, norms = work.read_response()
    if np.isinf(root.problem.gamma):
        _refuse_underflow(root, norms)
    root.begin_with_response(beta)
    if gram_pays(root.problem, int(np.count_nonzero(root.fix >= 0)), root.memory_limit):
        work.add_missing(np.flatnonzero(root.fix >= 0))


def _begin_with(root: Root, work: WorkingSet, handover: Handover) -> bool:
    """Use what was handed over; whether it leaves so few columns that X need not be read."""
    if not handover.points:
        return False
    q, fix = work.quadratic(), root.fix[work.index]
    _offer_best(root, work, best_support(q, fix, _incumbent_in(root, fix, work.index)))
    for point in reversed(handover.points):
        _, count = root.fix_with(point.priced(root.problem, root.fix), root.fix, None, None)
        if root.done or count < 0:
            return True
    return _few_left(root, work)


def _few_left(root: Root, work: WorkingSet) -> bool:
    """Whether the survivors are few enough to be gathered."""
    left = int(np.count_nonzero(root.fix >= 0))
    return left <= max(200, 3 * work.index.size) and gram_pays(root.problem, left, root.memory_limit)


def _read_rounds(
    root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None], handover: Handover
) -> None:
    """Rounds that read X: solve on the working set, price, find incumbents, fix."""
    p = root.problem
    # Where a read is cheap, early rounds need not be exact: columns still missing move the solution anyway.
    inner = (FIRST_TOLERANCE if p.design.nbytes < SLICE_BYTES else 1e-6) * p.empty_objective
    while True:
        last = work.round(root.fix, inner)
        handover.keep(last)
        try:
            with suppress(TimeUp):
                _improve_on_working_set(root, work, last)
        finally:
            # Whatever ends the round, its bound and its record are kept.
            _, count = root.fix_with(last.point, root.fix, None, None)
        report(root)
        if root.done or count < 0 or time.monotonic() >= deadline:
            return
        if _few_left(root, work):
            return
        added = work.violators(last, root.fix, max(100, work.index.size // 2))
        if added.size:
            work.add(added)
            least = 0.1 * (root.target - root.cutoff)
            inner = max(min(inner, 0.05 * (last.node.primal - last.point.bound)), least)
        elif last.hurried:
            # Once more, if the read took less than was kept for it.
            if seconds_left() <= work.reserve:
                root.cut_short()
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
    if root.holds(work.index[support]):
        return
    columns = None if work.columns is None else work.columns[:, support]
    root.offer(fit_in_time(root.problem, work.index[support], columns))


def _offer_reduced(root: Root, reduced: Reduced, support: IntArray) -> None:
    if not root.holds(reduced.index[support]):
        root.offer(reduced.fit(support))


def _starts(root: Root, q: Quadratic, fix: FixArray, s: FloatArray, v: FloatArray, index: IntArray) -> list[IntArray]:
    """Supports worth improving: the relaxation rounded, and the incumbent."""
    return [round_relaxation(s, v, fix, q.k), *_incumbent_in(root, fix, index)]


def _restarts(root: Root, size: int, s: FloatArray) -> int:
    """How many random restarts a relaxation is worth, over so many columns: the more, the wider the gap; of a search
    that may look at a few nodes only, about as many."""
    p = root.problem
    gap = relative_gap(root.incumbent.objective, root.lower_bound)
    most = restart_count(size, min(p.k, int(np.count_nonzero(s > 0))), ruled=p.rules is not None)
    return int(max(16, min(most * min(1.0, gap / _WIDE_GAP), root.node_limit)))


def _incumbent_in(root: Root, fix: FixArray, index: IntArray) -> list[IntArray]:
    """The incumbent as positions in `index`, if it is there and `fix` allows it."""
    if root.incumbent.support.size == 0:
        return [root.incumbent.support]
    chosen = np.zeros(root.problem.p, dtype=bool)
    chosen[root.incumbent.support] = True
    position = np.flatnonzero(chosen[index])
    whole = position.size == root.incumbent.support.size and not np.any(fix[position] < 0)
    return [position.astype(np.int64)] if whole else []


def _reduced_rounds(root: Root, work: WorkingSet, deadline: float, report: Callable[[Root], None]) -> None:
    """Rounds in memory: relax, improve, fix, shrink; tightened once fewer columns than rows are left."""
    p = root.problem
    reduced = reduce(p, work, root.fix)
    v = reduced.quadratic.v0
    tightened: Tightened | None = None
    detailed = restarted = False
    m = reduced.index.size
    if root.unrelaxed or root.at_once(m):
        starts = _incumbent_in(root, reduced.fix, reduced.index)
        _offer_reduced(root, reduced, best_support(reduced.quadratic, reduced.fix, starts))
        if root.at_once(m):
            root.leave(Remainder(reduced=reduced, tightened=None, v=v))
            report(root)
            return
        # Whether it pays depends on how good a fit there is.
        if root.tightens(reduced):
            tightened, detailed = _tightened(reduced, detailed=False)
    while True:
        if tightened is None and np.isinf(p.gamma):
            _improve_without_relaxation(root, reduced)
            return
        q = reduced.quadratic if tightened is None else tightened.quadratic
        scale = np.ones(q.size) if tightened is None else tightened.scale
        tolerance = 0.1 * (root.target - root.cutoff)
        node = q.relax(reduced.fix, v / scale, cutoff=root.cutoff, tolerance=tolerance)
        within = 0.0 if tightened is None else strain(q, p.y, node, reduced.fix)
        root.count(node.solves, within)
        v = node.v * scale
        dual = DualPoint(index=reduced.index, coef=node.best_v * scale, beta=node.best_beta, bound=node.bound)
        diagonal = None if tightened is None else tightened.diagonal
        try:
            with suppress(TimeUp):
                starts = _starts(root, reduced.quadratic, reduced.fix, node.s, v, reduced.index)
                _offer_reduced(root, reduced, best_support(reduced.quadratic, reduced.fix, starts))
                gap = relative_gap(root.incumbent.objective, max(root.lower_bound, node.bound))
                missed = node.stop != "cutoff" and gap > max(_RESTART_GAP, root.rel_gap)
                if missed and not restarted and time.monotonic() < deadline:
                    restarted = True
                    count = _restarts(root, reduced.index.size, node.s)
                    _offer_reduced(root, reduced, reduced.quadratic.restarts(reduced.fix, node.s, count))
        finally:
            root.leave(Remainder(reduced=reduced, tightened=tightened, v=v))
            new, count = root.fix_with(dual, reduced.fix, reduced.index, diagonal, q.gamma)
        report(root)
        if root.done or count < 0 or time.monotonic() >= deadline:
            return
        if count > 0:
            v, reduced = v[new >= 0], reduced.shrink(new)
        if count > 0 and root.tightens(reduced):
            tightened, detailed = _tightened(reduced, detailed=detailed)
        elif count > 0 and tightened is not None:
            # A better incumbent has ruled it out; what these columns had to give they still have.
            tightened = tighten(reduced.quadratic, tightened.diagonal[new >= 0])
        elif count == 0:
            if detailed or not root.tightens(reduced):
                return
            better, detailed = _tightened(reduced, detailed=tightened is not None)
            if better is None:
                return
            tightened = better


def _tightened(reduced: Reduced, *, detailed: bool) -> tuple[Tightened | None, bool]:
    """A diagonal for the columns that are left, and whether it is as good as any: first one that is there in a moment,
    if it has much to give."""
    m, q = reduced.index.size, reduced.quadratic
    if not detailed and m > EVEN_FIRST:
        even = tighten_evenly(q)
        if even is not None:
            return even, m > MOST_IN_DETAIL
    return tighten_all(q), True


def _hold_columns(root: Root, work: WorkingSet, report: Callable[[Root], None], handover: Handover) -> None:
    """Hand the survivors on as columns: nothing is left to do but to look for a better incumbent, and to fix by it."""
    before = root.incumbent.objective
    q, fix = work.quadratic(), root.fix[work.index]
    node = q.relax(fix, work.v, cutoff=root.cutoff, tolerance=0.1 * (root.target - root.cutoff))
    root.count(node.solves)
    missed = relative_gap(root.incumbent.objective, root.lower_bound) > max(_RESTART_GAP, root.rel_gap)
    few = int(np.count_nonzero(root.fix >= 0)) <= _FEW_WALKED
    if missed and not few:
        # On the working set, whose products are at hand.
        _offer_best(root, work, q.restarts(fix, node.s, _restarts(root, work.index.size, node.s)))
        if root.incumbent.objective < before:
            _fix_again(root, handover, report)
    if root.done or not _leave_held(root, work, node.v, handover):
        return
    reduced, before = root.reduced, root.incumbent.objective
    # The support may gain by a column outside the working set; with columns that have to be read, that would take long.
    if reduced is not None and isinstance(reduced.survivors, HeldColumns):
        for start in _incumbent_in(root, reduced.fix, reduced.index):
            support, value = reduced.survivors.local_search(reduced.fix, start)
            if value < root.incumbent.objective:
                root.offer(reduced.fit(support))
        if missed and few:
            s = _spread(work, node.s, reduced.index)
            root.offer(reduced.fit(reduced.survivors.restarts(reduced.fix, s, _restarts(root, s.size, s))))
            if root.incumbent.objective < before and _fix_again(root, handover, report) and not root.done:
                _leave_held(root, work, node.v, handover)
    report(root)


def _spread(work: WorkingSet, values: FloatArray, index: IntArray) -> FloatArray:
    """Values on the working set as values on the columns `index`, in order; zero elsewhere."""
    out = np.zeros(index.size)
    inside = np.isin(work.index, index)
    out[np.searchsorted(index, work.index[inside])] = values[inside]
    return out


def _leave_held(root: Root, work: WorkingSet, v: FloatArray, handover: Handover) -> bool:
    """Hold the columns that are left, for the search; whether they fit."""
    p = root.problem
    index = np.flatnonzero(root.fix >= 0).astype(np.int64)
    if not columns_fit(index.size, root.memory_limit):
        return False
    beta = handover.points[-1].beta if handover.points else root.first_beta
    reduced = hold(p, index, root.fix[index], root.memory_limit, alpha=work.alpha, beta=beta)
    _ = reduced.survivors.compiled  # here, since it may take a read, and the deadline is known
    root.leave(Remainder(reduced=reduced, tightened=None, v=_spread(work, v, reduced.index)))
    return True


def _fix_again(root: Root, handover: Handover, report: Callable[[Root], None]) -> int:
    """Fix what the last point that was read allows by a better incumbent; how many columns (-1: all is decided)."""
    if not handover.points:
        return 0
    _, count = root.fix_with(handover.points[-1].priced(root.problem, root.fix), root.fix, None, None)
    report(root)
    return count


def _improve_without_relaxation(root: Root, reduced: Reduced) -> None:
    """Without ridge and tightening: incumbents by greedy, swaps and restarts; the rest is the search's."""
    q = reduced.quadratic
    root.leave(Remainder(reduced=reduced, tightened=None, v=np.zeros(q.size)))
    with suppress(TimeUp):
        starts = _incumbent_in(root, reduced.fix, reduced.index)
        _offer_reduced(root, reduced, best_support(q, reduced.fix, starts))
        # Restarts draw from the columns that explain most by themselves.
        squares = np.maximum(np.diag(q.gram), np.finfo(np.float64).tiny)
        alone = (q.beta0 + q.gram @ q.v0) ** 2 / squares
        likely = np.argsort(-alone)[: max(50, 4 * min(q.k, q.size))]
        s = np.zeros(q.size)
        s[likely] = min(1.0, q.k / likely.size)
        count = min(30, restart_count(q.size, min(q.k, q.size)))
        _offer_reduced(root, reduced, q.restarts(reduced.fix, s, count))
