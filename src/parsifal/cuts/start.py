"""Before the master problem: the relaxation, a good support, and safe fixing. What they give is a proof of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import DualPoint, dual_terms
from parsifal.bound.fixing import fix_columns
from parsifal.bound.incumbents import best_support, restart_count, round_relaxation
from parsifal.bound.polish import MOST_ENTRIES, Polish
from parsifal.bound.relaxation import Relaxation, price_floor, relax_problem
from parsifal.bound.ridge_loss import fit_support
from parsifal.bound.rounding import sum_unit
from parsifal.bound.working_set import WorkingSet, rounding_norms
from parsifal.constraints import Row
from parsifal.cuts.master import Choices
from parsifal.cuts.planes import Report
from parsifal.cuts.rootcuts import best_choice
from parsifal.problem.gap import PRUNE_BEFORE_MASTER, Status, closes, cutoff, resolution, settled
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent

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
    point: DualPoint | None = None  # the relaxation's
    norms: FloatArray = field(default_factory=lambda: np.empty(0))  # of the columns

    @property
    def choices(self) -> Choices:
        """The supports that the user allows."""
        return Choices(size=self.problem.p, k=self.problem.k, fix=self.problem.fix, rows=self.rows)

    def closes(self, lower_bound: float) -> bool:
        """Whether this bound leaves no more than the gap that is allowed."""
        return closes(self.incumbent.objective, lower_bound, self.rel_gap)

    def settled(self, ended: Status, lower_bound: float) -> Status:
        """The status with this bound, of a solve that ended so."""
        return settled(ended, self.incumbent.objective, lower_bound, self.rel_gap)

    @property
    def pruned_at(self) -> float:
        """The cutoff of safe fixing."""
        return cutoff(
            self.incumbent.objective,
            rel_gap=self.rel_gap,
            resolution=resolution(self.problem.y),
            share=PRUNE_BEFORE_MASTER,
        )

    def polish(self) -> None:
        """Compare supports by their columns, where what is left of the gap is rounding."""
        p = self.problem
        if p.n * p.p <= MOST_ENTRIES and p.rules is None:
            self.offer(Polish(p).best(self.incumbent).support)

    def offer(self, support: IntArray) -> None:
        """Fit a support, and take it over if it is allowed and better."""
        if self.choices.allows(support):
            p = self.problem
            candidate = fit_support(p.design, p.y, support, p.gamma, p.penalty, rules=p.rules)
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
        incumbent=fit_support(problem.design, problem.y, support, problem.gamma, problem.penalty, rules=problem.rules),
        # alpha = 0: every term of the objective is nonnegative.
        lower_bound=price_floor(problem),
        fix=problem.fix.copy(),
    )


def solve_relaxation(start: Start) -> None:
    """The dual relaxation, which knows nothing of the side constraints: a bound all the same."""
    p = start.problem
    found = relax_problem(p)
    start.lower_bound = max(start.lower_bound, found.bound)
    scan = p.design.scan(found.alpha, stats=True)
    start.norms = rounding_norms(p.design, scan)
    error = sum_unit(p.n) * float(np.linalg.norm(found.alpha)) * start.norms
    every = DualPoint(index=np.arange(p.p), coef=found.coef, beta=scan.xv, error=error, alpha=found.alpha)
    point = every.sparse.priced(p, p.fix)
    start.relaxation, start.point = found, point
    start.lower_bound = max(start.lower_bound, point.bound)


def find_supports(start: Start) -> None:
    """The paper's dual warm start, then greedy and swaps among the columns that the dual vector favours."""
    p, found, point = start.problem, start.relaxation, start.point
    if found is None or point is None:
        return
    reach = np.abs(point.beta) if p.rules is None else p.rules.reach(point.beta)
    start.offer(best_choice(start.choices, dual_terms(reach**2, p.gamma, p.prices)))
    favour = np.where(p.fix >= 0, reach, -1.0)
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
    if not start.closes(start.lower_bound) and np.any(s > 0):
        size = int(np.count_nonzero(s > 0))
        start.offer(near[quadratic.restarts(fix, s, restart_count(near.size, min(p.k, size)))])


def screen(start: Start) -> None:
    """Safe fixing: columns that no support below the cutoff has, or lacks."""
    p, point = start.problem, start.point
    if point is None:
        return
    at = start.pruned_at
    fix, count = fix_columns(
        point.safe_beta(p.rules),
        start.fix,
        bound=point.bound,
        cutoff=at,
        gamma=p.gamma,
        penalty=p.penalty,
        k=p.k,
        rules=p.rules,
    )
    if count < 0:
        start.lower_bound = max(start.lower_bound, at)
    elif count > 0:
        # The incumbent is not below the cutoff and may have been fixed against; the master starts from it, so keep it.
        inside = np.zeros(fix.size, dtype=bool)
        inside[start.incumbent.support] = True
        against = np.where(inside, fix < 0, fix > 0)
        start.fix, start.cutoff = np.where(against, start.fix, fix).astype(np.int8), at


def prepare(start: Start, screening: bool, report: Report) -> None:
    """Relaxation, incumbent, safe fixing; the incumbent's fit, the bound and the fixes stay true at every step."""
    solve_relaxation(start)
    report(start.incumbent.objective, start.lower_bound, 0, 1)
    find_supports(start)
    if screening:
        screen(start)
    report(start.incumbent.objective, start.lower_bound, 0, 1)
