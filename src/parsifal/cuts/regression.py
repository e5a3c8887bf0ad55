"""`solve(..., method="cutting-plane")`: the start, the loop on the columns that are left, and what is claimed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from parsifal.constraints import Row, restrict
from parsifal.cuts.claim import make_solution
from parsifal.cuts.loop import CutResult, cutting_plane
from parsifal.cuts.master import load_backend
from parsifal.cuts.oracle import RegressionOracle
from parsifal.cuts.planes import Report
from parsifal.cuts.start import Start, first_start, prepare
from parsifal.limits import TimeUp, limited
from parsifal.problem import IntArray, Problem
from parsifal.solution import Solution, Status, reconcile


def solve_cutting_plane(
    problem: Problem,
    rows: Sequence[Row],
    *,
    backend: str,
    root_cuts: int,
    fractional_cuts: bool,
    screening: bool,
    rel_gap: float,
    started: float,
    time_limit: float,
    node_limit: float,
    threads: int,
    warm_start: IntArray | None,
    report: Report,
) -> Solution:
    """Solve by the paper's method; the arguments are those of `solve`, checked."""
    load_backend(backend)  # what is missing is told before any work is done
    reads = problem.design.reads
    deadline = started + time_limit
    start = first_start(problem, rows, rel_gap, warm_start)
    result: CutResult | None = None
    status: Status = "gap_open"
    try:
        with limited(deadline=deadline, threads=threads):
            if time.monotonic() < deadline:
                prepare(start, screening, report)
        status = "optimal" if start.allows(start.lower_bound) and screening else "gap_open"
    except TimeUp:
        status = "time_limit"
    except KeyboardInterrupt:
        status = "interrupted"
    at_root = time.monotonic()
    if status == "gap_open" and at_root >= deadline:
        status = "time_limit"
    root_bound = lower_bound = start.lower_bound
    if status == "gap_open":
        try:
            with limited(deadline=deadline, threads=threads):
                result = _run(
                    start, screening, backend, root_cuts, fractional_cuts, node_limit, deadline, threads, report
                )
        except TimeUp:
            status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
    if result is not None:
        index = np.flatnonzero(start.fix >= 0).astype(np.int64)
        p = problem
        start.offer(index[result.support])
        # What safe fixing has excluded is not below its cutoff.
        lower_bound = max(root_bound, min(result.lower_bound, start.cutoff))
        lower_bound = reconcile(start.incumbent.objective, lower_bound, 0.5 * float(p.y @ p.y))
        status = "optimal" if start.allows(lower_bound) else "gap_open" if result.status == "optimal" else result.status
    return make_solution(
        start,
        result,
        status=status,
        lower_bound=lower_bound,
        root_bound=root_bound,
        reads=problem.design.reads - reads,
        seconds={"root": at_root - started, "master": time.monotonic() - at_root, "total": time.monotonic() - started},
    )


def _run(
    start: Start,
    screening: bool,
    backend: str,
    root_cuts: int,
    fractional_cuts: bool,
    node_limit: float,
    deadline: float,
    threads: int,
    report: Report,
) -> CutResult:
    """The loop on the columns that are left."""
    p, root_bound = start.problem, start.lower_bound
    index = np.flatnonzero(start.fix >= 0).astype(np.int64)
    return cutting_plane(
        RegressionOracle(p.design, p.y, p.gamma, index),
        p.k,
        penalty=p.penalty,
        fix=start.fix[index],
        rows=restrict(start.rows, index, p.p),
        backend=backend,
        start=np.flatnonzero(np.isin(index, start.incumbent.support)).astype(np.int64),
        relaxed=None if start.relaxation is None else start.relaxation.s[index],
        floor=_floor(start) if root_cuts > 0 or screening else 0.0,
        most_root_cuts=root_cuts,
        fractional=fractional_cuts,
        rel_gap=start.rel_gap,
        deadline=deadline,
        node_limit=node_limit,
        threads=threads,
        report=lambda value, bound, nodes, left: report(value, max(root_bound, min(bound, value)), nodes, left),
    )


def _floor(start: Start) -> float:
    """A bound on the loss alone: the objective's bound less what k columns cost, and a little for rounding."""
    p = start.problem
    return max(0.0, (start.lower_bound - p.penalty * p.k) * (1 - 1e-9) - 1e-15 * float(p.y @ p.y))
