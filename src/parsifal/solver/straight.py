"""Few columns straight through: one compiled call finds the best support and its proof, and is wrapped here.

A small table is solved in less time than the stages of the funnel take to hand it on. Where the call does not settle
it (cpp/bound/few_columns.hpp), or limits and listeners are in force, the funnel begins from the beginning.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from parsifal.arrays import IntArray
from parsifal.bound.dual import price_below
from parsifal.deadline import seconds_left
from parsifal.problem.gap import closes, resolution_of
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent, Solution
from parsifal.solver.gap_policy import GapPolicy
from parsifal.solver.options import Options
from parsifal.solver.record import certificate_of_sets
from parsifal.solver.reuse import Handover
from parsifal.solver.root import in_a_moment

_MOST_ENTRIES = 1 << 22  # of X: all of them in memory, and multiplied, in some hundredths of a second
_LEAST_SECONDS = 0.5  # of a time limit: with less, every stage has to ask for what is left
_LEAST_CERTIFICATE = 1024  # bytes


def goes_straight(problem: Problem, options: Options, ceiling: float) -> bool:
    """Whether all is plain: few columns that are all alike, and no limit that could strike."""
    p = problem
    if np.isinf(p.gamma) and np.count_nonzero(p.fix == 1) > 1:
        return False  # those may depend on each other, which the funnel looks at
    if p.rules is not None or p.n * p.p > _MOST_ENTRIES or ceiling < math.inf or not p.design.cheap_columns:
        return False
    if min(options.time_limit, seconds_left()) < _LEAST_SECONDS or options.certificate_limit < _LEAST_CERTIFICATE:
        return False
    return in_a_moment(p, int(np.count_nonzero(p.fix >= 0)))


def solve_straight(
    problem: Problem, options: Options, starts: Sequence[IntArray | Incumbent], handover: Handover
) -> Solution | None:
    """The proven optimum, or None where the call does not settle it; arguments are those of `funnel.run`."""
    p, started, reads = problem, time.monotonic(), problem.design.reads
    few = handover.few_columns(p)
    gathered = time.monotonic()
    size = few.y_square
    policy = GapPolicy(
        rel_gap=options.rel_gap,
        resolution=resolution_of(size),
        floor=price_below(p.penalty, int(np.count_nonzero(p.fix == 1))),
        empty=0.5 * size,
    )
    known = min(
        (start for start in starts if isinstance(start, Incumbent)), key=lambda start: start.objective, default=None
    )
    supports = [start.support if isinstance(start, Incumbent) else start for start in starts]
    relative, absolute = policy.pruning
    found = few.solve(
        k=p.k,
        gamma=p.gamma,
        penalty=p.penalty,
        fix=p.fix,
        starts=[support.tolist() for support in supports if support.size <= p.k],
        known=math.inf if known is None else known.objective,
        rel_gap=relative,
        abs_gap=absolute,
        seconds=options.time_limit,
    )
    if found is None:
        return None
    support, coef, objective, bound = found
    best = Incumbent(support=support.astype(np.int64), coef=coef, objective=objective)
    if known is not None and known.objective <= objective:
        best = known
    lower_bound = policy.claim(best.objective, max(bound, policy.floor))
    if not closes(best.objective, lower_bound, options.rel_gap):
        return None
    dense = np.zeros(p.p)
    dense[best.support] = best.coef
    ended = time.monotonic()
    return Solution(
        support=best.support,
        coef=dense,
        objective=best.objective,
        lower_bound=lower_bound,
        status="optimal",
        rel_gap=options.rel_gap,
        k=p.k,
        penalty=p.penalty,
        gamma=p.gamma,
        stats={
            "nodes": 0,
            "reads": p.design.reads - reads,
            "seconds": {"root": gathered - started, "search": ended - gathered, "total": ended - started},
            "columns_left": int(np.count_nonzero(p.fix >= 0)),
            "root_bound": policy.floor,
            "linear_systems": 0,
            "depth": 0,
            "empty_objective": policy.empty,
        },
        feature_names=p.design.feature_names,
        certificate=certificate_of_sets(p, best, lower_bound, few.product),
    )
