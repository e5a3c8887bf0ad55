"""The funnel for one problem: root, search, certificate, and the answer put together.

A search that ends because double precision resolves no more (status "precision") is looked at once more: supports are
compared by their columns, and a second search that prunes by the relative gap alone, of few nodes, may close it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.blas import quiet_blas
from parsifal.bound.polish import MOST_ENTRIES, Polish
from parsifal.bound.rounding import sum_unit
from parsifal.bound.working_set import SLICE_BYTES
from parsifal.deadline import TimeUp, limited
from parsifal.problem.gap import Status, settled
from parsifal.problem.problem import Problem
from parsifal.problem.progress import Progress, Reporter
from parsifal.problem.solution import Incumbent, Solution
from parsifal.proof.certificate import EXHAUSTED, Certificate
from parsifal.proof.checker import check, provable_bound
from parsifal.proof.supports import OutOfEffort
from parsifal.solver.checkpoint import Checkpoint
from parsifal.solver.options import Options
from parsifal.solver.record import make_certificate
from parsifal.solver.reuse import Handover
from parsifal.solver.root import Root
from parsifal.solver.rounds import solve_root
from parsifal.solver.start import start_root
from parsifal.solver.straight import goes_straight, solve_straight
from parsifal.solver.tree import SearchResult, run_search

_MOST_RECHECKED = 2000  # records of a proof
_MOST_PLACES, _PLACES_A_SECOND = 10_000, 500  # that are gone through for its exhausted records
_SMALL = 1 << 21  # entries of X
_BEFORE_RECHECK = 0.6  # of the time left, for the search whose records will be gone through
_FINER_WORK = 2e7  # nodes of the second search times the square of its columns


def run(
    problem: Problem,
    options: Options,
    *,
    starts: Sequence[IntArray | Incumbent] = (),
    reporter: Reporter | None = None,
    handover: Handover | None = None,
    ceiling: float = math.inf,
    checkpoint: Checkpoint | None = None,
) -> Solution:
    """Solve a problem.

    Parameters
    ----------
    problem, options
        What and how.
    starts : supports, or fits for the same y, gamma and prices
        The first incumbents; each respects what is forced.
    reporter : Reporter, optional
        Gets the progress.
    handover : Handover, optional
        What an earlier solve on the same design and y has left; takes what this one leaves.
    ceiling : float
        Supports with a larger objective are of no interest: if there are only such, the solve ends with a bound close
        to the ceiling, an incumbent above it, and status "gap_open".
    checkpoint : Checkpoint, optional
        Where the state of the solve is kept, and taken up from.
    """
    reporter = Reporter(False) if reporter is None else reporter
    handover = Handover() if handover is None else handover
    if checkpoint is None and not reporter.active and goes_straight(problem, options, ceiling):
        answer = solve_straight(problem, options, starts, handover)
        if answer is not None:
            return answer
    solve = _Solve(
        problem=problem,
        options=options,
        reporter=reporter,
        handover=handover,
        ceiling=ceiling,
        checkpoint=checkpoint,
    )
    if checkpoint is not None:
        starts = [*starts, *checkpoint.starts(problem, options.rel_gap)]
        solve.handover.sketch = checkpoint.sketch
    with quiet_blas():
        return solve.run(starts)


@dataclass(kw_only=True)
class _Attempt:
    """A root and the search below it: where they stand, and how they ended ("optimal", "precision": nothing left)."""

    root: Root
    found: SearchResult | None = None
    status: Status = "gap_open"
    at_root: float = 0.0

    @property
    def nodes(self) -> int:
        return 0 if self.found is None else self.found.nodes

    @property
    def by_sets(self) -> bool:
        """Whether going through sets of columns is all of the proof: there is no dual value to round."""
        tree = None if self.found is None else self.found.tree
        return tree is not None and len(self.root.steps) == 1 and bool(np.all(tree["kind"] == EXHAUSTED))

    @property
    def exhausted(self) -> bool:
        """Whether nothing below the cutoff is left."""
        return self.status in ("optimal", "precision")


@dataclass(kw_only=True)
class _Solve:
    """One solve: what it has been asked, and the attempts at it."""

    problem: Problem
    options: Options
    reporter: Reporter
    handover: Handover
    ceiling: float
    checkpoint: Checkpoint | None
    started: float = field(default_factory=time.monotonic)
    reads: float = 0.0  # of the design before this solve

    def run(self, starts: Sequence[IntArray | Incumbent]) -> Solution:
        self.reads = self.problem.design.reads
        first = best = _Attempt(root=self._root(starts))
        with self.reporter:
            self._attempt(first, self.options.node_limit, self.checkpoint)
            try:
                best = self._finer(first) or first
            except KeyboardInterrupt:
                first.status = "interrupted"
            if self.reporter.active and best.status != "interrupted":
                root = best.root
                shown = self._snapshot(
                    root, root.incumbent.objective, root.lower_bound, best.nodes, int(best.status != "optimal")
                )
                self.reporter.show(shown, last=True)
        try:
            answer = self._conclude(best, first)
            if answer.status == "precision" and best is not first:
                answer = max(answer, self._conclude(first, first), key=lambda solution: solution.lower_bound)
            if answer.status == "precision" and self._polished(best.root):
                answer = self._conclude(best, first)
            return answer
        except KeyboardInterrupt:
            best.status = "interrupted"
            return self._conclude(best, first)

    def _root(self, starts: Sequence[IntArray | Incumbent], *, relative: bool = False) -> Root:
        options = self.options
        return start_root(
            self.problem,
            rel_gap=options.rel_gap,
            starts=starts,
            ceiling=self.ceiling,
            memory_limit=options.memory_limit,
            node_limit=options.node_limit,
            relative=relative,
        )

    def _attempt(self, at: _Attempt, node_limit: float, checkpoint: Checkpoint | None) -> None:
        """Root and search; whatever ends them, what is in `at` is a true answer."""
        root, options = at.root, self.options

        def report(root: Root) -> None:
            if checkpoint is not None:
                checkpoint.save_root(root, self.handover)
            if self.reporter.active:
                poll(root.incumbent.objective, root.lower_bound, 0, 1, 0.0)

        def poll(objective: float, lower_bound: float, nodes: float, open_nodes: float, seconds: float) -> None:
            self.reporter.show(self._snapshot(root, objective, lower_bound, nodes, open_nodes))

        try:
            with limited(threads=options.threads):
                if checkpoint is None or not checkpoint.resume(root, self.handover):
                    solve_root(root, deadline=self._deadline, report=report, handover=self.handover)
            at.at_root = self._seconds
            late = root.late or at.at_root >= options.time_limit
            at.status = root.settled("optimal" if root.exhausted else "time_limit" if late else "gap_open")
        except KeyboardInterrupt:
            # The root keeps its incumbent and bound up to date.
            at.at_root = self._seconds
            at.status = "interrupted"
        if at.status != "gap_open" or root.reduced is None:
            return
        try:
            at.found = run_search(
                root,
                time_limit=max(0.0, options.time_limit - self._seconds)
                * (_BEFORE_RECHECK if root.beyond_double else 1.0),
                node_limit=node_limit,
                threads=options.threads,
                branching=options.branching,
                memory_limit=options.memory_limit,
                certificate_limit=options.certificate_limit,
                poll=poll if self.reporter.active else None,
                checkpoint=checkpoint,
            )
            at.status = at.found.status
        except KeyboardInterrupt:
            # Before the compiled search listens, or after it.
            at.status = "interrupted"
            root.withdraw()

    def _polished(self, root: Root) -> bool:
        """Whether a look at the columns has found a better support."""
        p, before = self.problem, root.incumbent.objective
        if p.n * p.p > MOST_ENTRIES or not self._in_time or p.rules is not None:
            return False
        with suppress(TimeUp), limited(deadline=self._deadline, threads=self.options.threads):
            root.offer(Polish(p).best(root.incumbent))
        return root.incumbent.objective < before

    def _finer(self, first: _Attempt) -> _Attempt | None:
        """After "precision": a second search that prunes by the relative gap alone; None if it proves no more."""
        root, p = first.root, self.problem
        if first.status != "precision" or self._above(root) or not self._in_time:
            return None
        best = root.incumbent.objective
        # Not where X is large, since it would be read again, nor where a dual value's rounding alone is too much.
        rounding = sum_unit(p.n) * math.sqrt(4 * best * p.empty_objective)
        if p.design.nbytes > SLICE_BYTES or self.options.rel_gap * best < rounding:
            return None
        second = _Attempt(root=self._root([root.incumbent], relative=True))
        # About as long as the first, or a moment.
        columns = int(np.count_nonzero(root.fix >= 0))
        nodes = max(first.nodes, min(2000.0, _FINER_WORK // max(1, columns**2)), 1)
        self._attempt(second, min(nodes, self.options.node_limit), None)
        if second.status == "interrupted":
            raise KeyboardInterrupt
        root.offer(second.root.incumbent)
        # Where all completions were gone through, inner products may have told no more, and the data do (`_conclude`).
        if not second.exhausted and second.root.claim(second.root.lower_bound) <= root.claim(root.lower_bound):
            return None
        # What the second search has left open is beyond what double precision resolves: the first has looked.
        second.status = second.root.settled("optimal")
        return second

    def _conclude(self, at: _Attempt, first: _Attempt) -> Solution:
        root, options = at.root, self.options
        lower_bound, objective = root.claim(root.lower_bound), root.incumbent.objective
        if not at.exhausted:
            # Nothing closes here, so more may be kept for the arithmetic of a check than a tiny `rel_gap` leaves.
            kept = 4 * sum_unit(self.problem.n) * 2 * self.problem.empty_objective
            lower_bound = max(lower_bound - kept, root.policy.floor)
        short = at.status == "precision" and not self._above(root) and self._in_time
        delicate = (root.beyond_double and not at.by_sets) or at is not first or root.policy.blind
        certificate = make_certificate(root, at.found, lower_bound, options.certificate_limit)
        proven = None
        if (short or delicate) and certificate.complete and certificate.records <= _MOST_RECHECKED:
            # Short: nothing is left to search, and what is missing was taken off for the rounding of inner products;
            # the data themselves round less. Delicate: the checker's alpha, rounded otherwise, may prove less.
            # Half of the claim's margin is left for another machine's arithmetic; where that is delicate, all that the
            # gap allows.
            effort = min(_MOST_PLACES, _PLACES_A_SECOND * max(self._deadline - time.monotonic(), 0.0))
            proven = _provable(certificate, self.problem, delicate, effort)
            if proven is not None:
                proven = max(proven - 0.5 * root.margin, root.policy.floor)
                proven = min(proven, root.policy.enough(objective)) if delicate else proven
                lower_bound = min(proven if short else min(proven, lower_bound), objective)
        if proven is None and delicate and certificate.complete:
            lower_bound = max(lower_bound - root.blur, root.policy.floor)
        if lower_bound != certificate.lower_bound:
            certificate = replace(certificate, lower_bound=lower_bound)
        if root.policy.blind and not all(check(certificate, X, y) for X, y in _rounded_otherwise(self.problem)):
            lower_bound = root.policy.floor
            certificate = replace(certificate, lower_bound=lower_bound)
        if self._above(root):
            status: Status = "gap_open" if at.exhausted else at.status
        else:
            status = settled("optimal" if at.exhausted else at.status, objective, lower_bound, root.rel_gap)
        return self._solution(at, first, status, lower_bound, certificate)

    def _solution(
        self, at: _Attempt, first: _Attempt, status: Status, lower_bound: float, certificate: Certificate
    ) -> Solution:
        problem, root, best = self.problem, at.root, at.root.incumbent
        coef = np.zeros(problem.p)
        coef[best.support] = best.coef
        both = [first] if at is first else [first, at]
        searches = [attempt.found for attempt in both if attempt.found is not None]
        return Solution(
            support=best.support,
            coef=coef,
            objective=best.objective,
            lower_bound=lower_bound,
            status=status,
            rel_gap=root.rel_gap,
            k=problem.k,
            penalty=problem.prices,
            gamma=problem.gamma,
            stats={
                "nodes": sum(found.nodes for found in searches),
                "reads": problem.design.reads - self.reads,
                "seconds": {
                    "root": first.at_root,
                    "search": sum(found.seconds for found in searches),
                    "total": self._seconds,
                },
                "columns_left": int(np.count_nonzero(root.fix >= 0)),
                "root_bound": root.root_bound,
                "linear_systems": sum(a.root.solves for a in both) + sum(found.solves for found in searches),
                "depth": max((found.depth for found in searches), default=0),
                "empty_objective": problem.empty_objective,
            },
            feature_names=problem.design.feature_names,
            certificate=certificate,
        )

    def _snapshot(self, root: Root, objective: float, lower_bound: float, nodes: float, open_nodes: float) -> Progress:
        return Progress(
            objective=min(objective, root.incumbent.objective),
            lower_bound=root.claim(max(root.lower_bound, lower_bound)),
            nodes=int(nodes),
            open_nodes=int(open_nodes),
            seconds=self._seconds,
            reads=self.problem.design.reads - self.reads,
        )

    def _above(self, root: Root) -> bool:
        """Whether all that was found is above what is of interest."""
        return self.ceiling < root.incumbent.objective

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def _deadline(self) -> float:
        return self.started + self.options.time_limit

    @property
    def _in_time(self) -> bool:
        """Whether there is time for more than the search."""
        return self._seconds < _BEFORE_RECHECK * self.options.time_limit


def _provable(certificate: Certificate, problem: Problem, delicate: bool, effort: float) -> float | None:
    """What the checker proves from the design; where the last digits matter, less what it varies by when the same sums
    are rounded otherwise. None where that would take long: then the claim is the solver's own, less `Root.blur`."""
    data = _rounded_otherwise(problem) if delicate else [(problem.design, problem.y)]
    try:
        bounds = [provable_bound(certificate, X, y, effort=effort) for X, y in data]
    except OutOfEffort:
        return None
    least = min(bounds)
    return least - (max(bounds) - least) if math.isfinite(least) else least


def _rounded_otherwise(problem: Problem) -> list[tuple[Any, FloatArray]]:
    """The data, and if they are small as two arrays besides, in whose products the same terms are added otherwise."""
    data: list[tuple[Any, FloatArray]] = [(problem.design, problem.y)]
    if problem.n * problem.p <= _SMALL:
        X = problem.design.columns(np.arange(problem.p))
        data += [(X, problem.y), (X[::-1], problem.y[::-1])]
    return data
