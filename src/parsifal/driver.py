"""The funnel for one problem: root, search, certificate, and the answer put together."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsifal.certificate import Certificate
from parsifal.check import provable_bound
from parsifal.checkpoint import Checkpoint
from parsifal.handover import Handover
from parsifal.limits import limited
from parsifal.problem import IntArray, Problem
from parsifal.progress import Progress, Reporter
from parsifal.proof import make_certificate
from parsifal.root import Root, solve_root, start_root
from parsifal.search import SearchResult, run_search
from parsifal.solution import Solution, Status

_MOST_RECHECKED = 2000  # records of a proof
_SMALL = 1 << 21  # entries of X
_BEFORE_RECHECK = 0.6  # of the time left, for the search whose records will be gone through


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to solve, checked; `solve` documents each."""

    rel_gap: float = 1e-6
    time_limit: float = math.inf
    node_limit: float = math.inf
    threads: int = 1
    branching: str = "pseudo"
    memory_limit: float = 2e9
    certificate_limit: float = 64e6


def run(
    problem: Problem,
    options: Options,
    *,
    starts: Sequence[IntArray] = (),
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
    starts : supports
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
    started = time.monotonic()
    limit = options.time_limit
    reads = problem.design.reads
    reporter = Reporter(False) if reporter is None else reporter

    handover = Handover() if handover is None else handover
    if checkpoint is not None:
        starts = [*starts, *checkpoint.starts(problem, options.rel_gap)]
        handover.sketch = checkpoint.sketch

    def report(root: Root) -> None:
        if checkpoint is not None:
            checkpoint.save_root(root, handover)
        poll(root.incumbent.objective, root.lower_bound, 0, 1, 0.0)

    def poll(objective: float, lower_bound: float, nodes: float, open_nodes: float, seconds: float) -> None:
        reporter.show(snapshot(objective, lower_bound, nodes, open_nodes))

    def snapshot(objective: float, lower_bound: float, nodes: float, open_nodes: float) -> Progress:
        return Progress(
            objective=min(objective, root.incumbent.objective),
            lower_bound=root.claim(max(root.lower_bound, lower_bound)),
            nodes=int(nodes),
            open_nodes=int(open_nodes),
            seconds=time.monotonic() - started,
            reads=problem.design.reads - reads,
        )

    root = start_root(
        problem, rel_gap=options.rel_gap, starts=starts, ceiling=ceiling, memory_limit=options.memory_limit
    )
    found: SearchResult | None = None
    status: Status
    with reporter:
        try:
            with limited(threads=options.threads):
                if checkpoint is None or not checkpoint.resume(root, handover):
                    solve_root(root, deadline=started + limit, report=report, handover=handover)
            at_root = time.monotonic() - started
            late = root.late or at_root >= limit
            status = "optimal" if root.closed else "time_limit" if late else "gap_open"
        except KeyboardInterrupt:
            # The root keeps its incumbent and bound up to date, so what it has is a true answer.
            at_root = time.monotonic() - started
            status = "interrupted"
        if status == "gap_open" and root.reduced is not None:
            try:
                found = run_search(
                    root,
                    time_limit=max(0.0, limit - at_root) * (_BEFORE_RECHECK if root.beyond_double else 1.0),
                    node_limit=options.node_limit,
                    threads=options.threads,
                    branching=options.branching,
                    memory_limit=options.memory_limit,
                    certificate_limit=options.certificate_limit,
                    poll=poll if reporter.active else None,
                    checkpoint=checkpoint,
                )
                status = found.status
            except KeyboardInterrupt:
                # Before the compiled search listens, or after it: what the root has is a true answer.
                status = "interrupted"
                root.lower_bound = min(root.lower_bound, root.root_bound)
        if reporter.active and status != "interrupted":
            nodes, left = (0, 0) if found is None else (found.nodes, int(status != "optimal"))
            reporter.show(snapshot(root.incumbent.objective, root.lower_bound, nodes, left), last=True)

    def conclude(status: Status) -> Solution:
        lower_bound = root.claim(root.lower_bound)
        short = (
            status == "gap_open"
            and root.reduced is not None
            and ceiling >= root.incumbent.objective
            and time.monotonic() - started < _BEFORE_RECHECK * limit
        )
        if status == "optimal" and ceiling < root.incumbent.objective:
            status = "gap_open"
        certificate = make_certificate(root, found, lower_bound, options.certificate_limit)
        if (short or root.beyond_double) and certificate.complete and certificate.records <= _MOST_RECHECKED:
            # Short: nothing is left to search, and what is missing was taken off for the rounding of inner products;
            # the data themselves round less. Beyond double: the checker's alpha, rounded otherwise, may prove less.
            # Half of the claim's margin is left for another machine's arithmetic.
            proven = max(_provable(certificate, problem, root.beyond_double) - 0.5 * root.margin, root.floor)
            lower_bound = min(proven if short else min(proven, lower_bound), root.incumbent.objective)
            certificate = replace(certificate, lower_bound=lower_bound)
            if status in ("optimal", "gap_open") and ceiling >= root.incumbent.objective:
                status = "optimal" if root.allows(lower_bound) else "gap_open"
        return _solution(root, status, found, started, at_root, problem.design.reads - reads, lower_bound, certificate)

    try:
        return conclude(status)
    except KeyboardInterrupt:
        return conclude("interrupted")


def _provable(certificate: Certificate, problem: Problem, delicate: bool) -> float:
    """What the checker proves from the design; where the last digits matter, also from the plain array, whose products
    round otherwise."""
    X: list[Any] = [problem.design]
    if delicate and problem.n * problem.p <= _SMALL:
        X.append(problem.design.columns(np.arange(problem.p)))
    return min(provable_bound(certificate, data, problem.y) for data in X)


def _solution(
    root: Root,
    status: Status,
    found: SearchResult | None,
    started: float,
    at_root: float,
    reads: float,
    lower_bound: float,
    certificate: Certificate,
) -> Solution:
    problem, best = root.problem, root.incumbent
    coef = np.zeros(problem.p)
    coef[best.support] = best.coef
    total = time.monotonic() - started
    return Solution(
        support=best.support,
        coef=coef,
        objective=best.objective,
        lower_bound=lower_bound,
        status=status,
        k=problem.k,
        penalty=problem.penalty,
        gamma=problem.gamma,
        stats={
            "nodes": 0 if found is None else found.nodes,
            "reads": reads,
            "seconds": {"root": at_root, "search": 0.0 if found is None else found.seconds, "total": total},
            "columns_left": int(np.count_nonzero(root.fix >= 0)),
            "root_bound": root.root_bound,
            "linear_systems": root.solves + (0 if found is None else found.solves),
            "depth": 0 if found is None else found.depth,
        },
        feature_names=problem.design.feature_names,
        certificate=certificate,
    )
