"""`solve(..., method="cutting-plane")`: the start, the loop on the columns that are left, and what is claimed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from parsifal.arrays import IntArray
from parsifal.bound.rounding import safe_sum
from parsifal.constraints import Row, restrict
from parsifal.cuts.claim import make_solution
from parsifal.cuts.loop import CutResult, cutting_plane
from parsifal.cuts.master import load_backend
from parsifal.cuts.options import CutOptions
from parsifal.cuts.oracle import RegressionOracle
from parsifal.cuts.planes import Report
from parsifal.cuts.start import Start, first_start, prepare
from parsifal.deadline import TimeUp, limited
from parsifal.problem.gap import Status
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Solution, reconcile


def solve_cutting_plane(
    problem: Problem,
    rows: Sequence[Row],
    options: CutOptions,
    *,
    warm_start: IntArray | None,
    report: Report,
) -> Solution:
    """Solve by the paper's method."""
    load_backend(options.backend)  # what is missing is reported before any work is done
    reads, deadline, screening = problem.design.reads, options.deadline, options.screening
    start = first_start(problem, rows, options.rel_gap, warm_start)
    result: CutResult | None = None
    status: Status = "gap_open"
    try:
        with limited(deadline=deadline, threads=options.threads):
            if time.monotonic() < deadline:
                prepare(start, screening, report)
        if screening:
            nothing_left = start.lower_bound >= start.pruned_at
            status = start.settled("optimal" if nothing_left else "gap_open", start.lower_bound)
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
            with limited(deadline=deadline, threads=options.threads):
                result = _run(start, options, report)
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
        lower_bound = reconcile(start.incumbent.objective, lower_bound, p.empty_objective)
        status = start.settled(result.status, lower_bound)
    return make_solution(
        start,
        result,
        status=status,
        lower_bound=lower_bound,
        root_bound=root_bound,
        reads=problem.design.reads - reads,
        seconds={
            "root": at_root - options.started,
            "master": time.monotonic() - at_root,
            "total": time.monotonic() - options.started,
        },
    )


def _run(start: Start, options: CutOptions, report: Report) -> CutResult:
    """The loop on the columns that are left."""
    p, root_bound = start.problem, start.lower_bound
    index = np.flatnonzero(start.fix >= 0).astype(np.int64)
    return cutting_plane(
        RegressionOracle(p.design, p.y, p.gamma, index, p.rules_on(index)),
        p.k,
        penalty=p.penalty if p.rules is None else p.rules.price[index],
        fix=start.fix[index],
        rows=restrict(start.rows, index, p.p),
        backend=options.backend,
        start=np.flatnonzero(np.isin(index, start.incumbent.support)).astype(np.int64),
        relaxed=None if start.relaxation is None else start.relaxation.s[index],
        floor=_floor(start) if options.root_cuts > 0 or options.screening else 0.0,
        most_root_cuts=options.root_cuts,
        fractional=options.fractional_cuts,
        rel_gap=start.rel_gap,
        deadline=options.deadline,
        node_limit=options.node_limit,
        threads=options.threads,
        report=lambda value, bound, nodes, left: report(value, max(root_bound, min(bound, value)), nodes, left),
    )


def _floor(start: Start) -> float:
    """A bound on the loss alone: the objective's bound less what k columns cost, and a little for rounding."""
    p = start.problem
    # What is left of two large numbers is off by their rounding, however small it is.
    dearest = p.penalty * p.k if p.rules is None else float(np.sort(p.rules.price)[::-1][: p.k].sum())
    rest = float(safe_sum(start.lower_bound, -dearest))
    return max(0.0, rest * (1 - 1e-9) - 1e-15 * float(p.y @ p.y))
