"""Where the root stage begins: the best of the supports and fits that are known, and the bound that needs no read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsifal.arrays import IntArray
from parsifal.bound.dual import price_below, sum_below
from parsifal.bound.ridge_loss import fit_support
from parsifal.errors import InputError
from parsifal.problem.feasible import first_allowed
from parsifal.problem.gap import resolution
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent
from parsifal.solver.gap_policy import GapPolicy
from parsifal.solver.root import Root, without_idle


def start_root(
    problem: Problem,
    *,
    rel_gap: float,
    starts: Sequence[IntArray | Incumbent] = (),
    ceiling: float = np.inf,
    memory_limit: float = 0.0,
    node_limit: float = np.inf,
    relative: bool = False,
) -> Root:
    """A root with a first incumbent: the best of the starts (supports, or fits for the same y, gamma and prices), or
    the columns forced in alone.

    With `relative`, pruning goes by the relative gap alone, however small the objective is.
    """
    forced = np.flatnonzero(problem.fix == 1).astype(np.int64)
    p = problem
    fits = [
        start if isinstance(start, Incumbent) else fit_support(p.design, p.y, start, p.gamma, p.penalty, rules=p.rules)
        for start in [start for start in starts if p.allows(_support_of(start))] or [_first_start(p, forced)]
    ]
    floor = price_below(p.penalty, forced.size) if p.rules is None else sum_below(p.rules.price[forced])
    return Root(
        problem=problem,
        policy=GapPolicy(
            rel_gap=rel_gap,
            resolution=0.0 if relative else resolution(problem.y),
            floor=floor,
            empty=problem.empty_objective,
            ceiling=ceiling,
            blind=p.forced_nearly_depend,
        ),
        incumbent=without_idle(p, min(fits, key=lambda fit: fit.objective)),
        fix=problem.fix.copy(),
        lower_bound=floor,
        memory_limit=memory_limit,
        node_limit=node_limit,
    )


def _first_start(problem: Problem, forced: IntArray) -> IntArray:
    """The columns forced in, with what side constraints ask for besides."""
    if problem.rules is None or problem.rules.rows.count == 0:
        return forced
    found = first_allowed(problem.rules, problem.fix, problem.k)
    if found is None:
        raise InputError("no support satisfies the constraints; drop one of them, or raise k")
    return found


def _support_of(start: IntArray | Incumbent) -> IntArray:
    return start.support if isinstance(start, Incumbent) else start
