"""Before the master problem: the relaxation, a good support, and safe fixing. What they give is a proof of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parsifal.constraints import Row
from parsifal.cuts.master import Choices
from parsifal.cuts.planes import Report
from parsifal.cuts.rootcuts import best_choice
from parsifal.fixing import fix_columns
from parsifal.heuristics import best_support, restart_count, round_relaxation
from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, IntArray, Problem
from parsifal.relaxation import Relaxation, WorkingSet, relax, rounding_norms
from parsifal.rounding import safe_dual_value, sum_unit
from parsifal.solution import Incumbent

# The part of the allowed gap that safe fixing uses up; the backend's tolerances take some of the rest.
_PRUNE = 0.8
# Columns that the local search looks at.
_NEAR = 300


@dataclass(kw_only=True)
class Start:
    """The state before the master problem; whatever interrupts it, incumbent and bound are true.

    Attributes
    ----------
    problem, rows : the problem, and the side constraints.
    rel_gap : float
        The gap that is allowed.
    incumbent : Incumbent
        The best support so far.
    lower_bound : float
        The largest dual value over all columns so far.
    fix : int8 array of shape (p,)
        What is forced, and what safe fixing has decided.
    cutoff : float
        What the supports that safe fixing has excluded are not below; infinite if it has excluded none.
    """

    problem: Problem
    rows: Sequence[Row]
    rel_gap: float
    incumbent: Incumbent
    lower_bound: float
    fix: FixArray
    cutoff: float = np.inf
    relaxation: Relaxation | None = None
    dual: float = -np.inf  # the dual value that belongs to beta
    beta: FloatArray = field(default_factory=lambda: np.empty(0))
    safe_beta: FloatArray = field(default_factory=lambda: np.empty(0))  # lengthened by its rounding errors
    norms: FloatArray = field(default_factory=lambda: np.empty(0))  # of the columns

    @property
    def choices(self) -> Choices:
        """The supports that the user allows."""
        return Choices(size=self.problem.p, k=self.problem.k, fix=self.problem.fix, rows=self.rows)

    @property
    def abs_gap(self) -> float:
        """As in the search: where a fit is perfect up to rounding, what counts as no difference."""
        return 1e-14 * float(self.problem.y @ self.problem.y)

    def allows(self, lower_bound: float) -> bool:
        """Whether this bound leaves no more than the gap that is allowed."""
        value = self.incumbent.objective
        return value - lower_bound <= max(self.rel_gap * abs(value), self.abs_gap)

    def offer(self, support: IntArray) -> None:
        """Fit a support, and take it over if it is allowed and better."""
        if self.choices.allows(support):
            p = self.problem
            candidate = fit_support(p.design, p.y, support, p.gamma, p.penalty)
            if candidate.objective < self.incumbent.objective:
                self.incumbent = candidate


def first_start(problem: Problem, rows: Sequence[Row], rel_gap: float, warm_start: IntArray | None) -> Start:
    """The warm start, or the smallest support that is allowed."""
    choices = Choices(size=problem.p, k=problem.k, fix=problem.fix, rows=rows)
    support = best_choice(choices, np.full(problem.p, -1.0)) if warm_start is None else warm_start
    return Start(
        problem=problem,
        rows=rows,
        rel_gap=rel_gap,
        incumbent=fit_support(problem.design, problem.y, support, problem.gamma, problem.penalty),
        # alpha = 0: every term of the objective is nonnegative.
        lower_bound=problem.penalty * int(np.count_nonzero(problem.fix == 1)),
        fix=problem.fix.copy(),
    )


def solve_relaxation(start: Start) -> None:
    """The dual relaxation, which knows nothing of the side constraints: a bound all the same."""
    p = start.problem
    forced = [np.flatnonzero(p.fix == mark) for mark in (1, -1)]
    found = relax(p.design, p.y, p.k, p.gamma, penalty=p.penalty, force_in=forced[0], force_out=forced[1])
    start.lower_bound = max(start.lower_bound, found.bound)
    scan = p.design.scan(found.alpha, stats=True)
    start.beta, start.norms = scan.xv, rounding_norms(p.design, scan)
    error = sum_unit(p.n) * float(np.linalg.norm(found.alpha)) * start.norms
    bound, start.safe_beta = safe_dual_value(
        p.y, found.alpha, start.beta, error, p.fix, gamma=p.gamma, penalty=p.penalty, k=p.k
    )
    start.relaxation, start.dual = found, bound
    start.lower_bound = max(start.lower_bound, bound)


def find_supports(start: Start) -> None:
    """The paper's dual warm start, then greedy and swaps among the columns that the dual vector favours."""
    p, found = start.problem, start.relaxation
    if found is None:
        return
    start.offer(best_choice(start.choices, 0.5 * p.gamma * start.beta**2 - p.penalty))
    favour = np.where(p.fix >= 0, np.abs(start.beta), -1.0)
    favour[found.s > 0] = np.inf
    favour[start.incumbent.support] = np.inf
    favour[p.fix == 1] = np.inf
    near = np.sort(np.argsort(-favour, kind="stable")[: max(_NEAR, int(np.isinf(favour).sum()))])
    near = near[p.fix[near] >= 0].astype(np.int64)
    work = WorkingSet(p)
    work.add(near)
    quadratic, fix, s = work.quadratic(), p.fix[near], found.s[near]
    starts = [
        round_relaxation(s, found.coef[near], fix, p.k),
        np.flatnonzero(np.isin(near, start.incumbent.support)).astype(np.int64),
    ]
    start.offer(near[best_support(quadratic, fix, starts)])
    if not start.allows(start.lower_bound) and np.any(s > 0):
        size = int(np.count_nonzero(s > 0))
        start.offer(near[quadratic.restarts(fix, s, restart_count(near.size, min(p.k, size)))])


def screen(start: Start) -> None:
    """Safe fixing: columns that no support below the cutoff has, or lacks."""
    p = start.problem
    if start.relaxation is None:
        return
    value = start.incumbent.objective
    cutoff = value - _PRUNE * max(start.rel_gap * abs(value), start.abs_gap)
    fix, count = fix_columns(
        start.safe_beta,
        start.fix,
        bound=start.dual,
        cutoff=cutoff,
        gamma=p.gamma,
        penalty=p.penalty,
        k=p.k,
    )
    if count < 0:
        start.lower_bound = max(start.lower_bound, cutoff)
    elif count > 0:
        # The incumbent is not below the cutoff and may have been fixed against; the master starts from it, so keep it.
        inside = np.zeros(fix.size, dtype=bool)
        inside[start.incumbent.support] = True
        against = np.where(inside, fix < 0, fix > 0)
        start.fix, start.cutoff = np.where(against, start.fix, fix).astype(np.int8), cutoff


def prepare(start: Start, screening: bool, report: Report) -> None:
    """Relaxation, incumbent, safe fixing; the incumbent's fit, the bound and the fixes stay true at every step."""
    solve_relaxation(start)
    report(start.incumbent.objective, start.lower_bound, 0, 1)
    find_supports(start)
    if screening:
        screen(start)
    report(start.incumbent.objective, start.lower_bound, 0, 1)
