"""The dual relaxation of a whole problem: a working set, priced by reads of X until nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parsifal._public import public
from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.dual import price_below, sum_below
from parsifal.bound.ridge_loss import fit_support, support_bound
from parsifal.bound.working_set import FIRST_TOLERANCE, WorkingSet, first_columns
from parsifal.deadline import TimeUp, seconds_left
from parsifal.problem.problem import Problem


@public
@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """The dual relaxation's solution.

    Attributes
    ----------
    bound : float
        D(alpha) over every column: no support has a smaller objective.
    primal : float
        Value of the relaxation at `s`, `coef`; the optimum of the relaxation lies between `bound` and this.
    s : array of shape (p,)
        Fractional indicator.
    coef : array of shape (p,)
        The relaxation's coefficients; ``alpha = y - X @ coef``.
    alpha : array of shape (n,)
        The dual vector.
    tau : float
        The threshold on ``|x_j' alpha|``.
    ones, ties, zeros : int arrays
        The split U (s = 1), T (0 < s < 1), Z (s = 0) of the columns.
    solves : int
        Linear systems solved.
    reads : float
        Full reads of X.
    """

    bound: float
    primal: float
    s: FloatArray
    coef: FloatArray
    alpha: FloatArray
    tau: float
    ones: IntArray
    ties: IntArray
    zeros: IntArray
    solves: int
    reads: float

    def __repr__(self) -> str:
        return (
            f"<Relaxation: bound {self.bound:.8g}, value {self.primal:.8g}; s is 1 for {self.ones.size} columns, "
            f"between for {self.ties.size}, 0 for {self.zeros.size}>"
        )


def relax_problem(problem: Problem, tolerance: float = 1e-6) -> Relaxation:
    """Solve the dual relaxation to a relative gap of `tolerance`."""
    if np.isinf(problem.gamma):
        return _relax_without_ridge(problem)
    reads = problem.design.reads
    work = WorkingSet(problem)
    work.add(first_columns(problem))
    # Early rounds need not be exact: the columns that are still missing move the solution anyway.
    inner = FIRST_TOLERANCE * problem.empty_objective
    best = last = work.round(problem.fix, inner)
    for _ in range(200):
        if last.point.bound > best.point.bound:
            best = last
        value = abs(last.node.primal)
        if last.node.primal - best.point.bound <= tolerance * value:
            break
        new = work.violators(last, problem.fix, max(100, work.index.size // 2))
        if seconds_left() == 0:
            break
        if new.size:
            work.add(new)
        elif inner <= 0.1 * tolerance * value and last.node.stop == "stalled":
            break
        # Below the gap that is left, or, where that came from this tolerance alone, well below it.
        least = min(0.1 * tolerance * value, 0.1 * inner)
        inner = max(min(inner, 0.05 * (last.node.primal - best.point.bound)), least) if new.size else least
        try:
            last = work.round(problem.fix, inner)
        except TimeUp:
            break
    s, coef = np.zeros(problem.p), np.zeros(problem.p)
    s[best.point.index] = best.node.s
    coef[best.point.index] = best.node.v
    return Relaxation(
        # alpha = 0 gives penalty times the columns forced in.
        bound=max(best.point.bound, price_floor(problem)),
        primal=best.node.primal,
        s=s,
        coef=coef,
        alpha=best.point.vector,
        tau=best.tau,
        ones=np.flatnonzero(s >= 1.0),
        ties=np.flatnonzero((s > 0) & (s < 1)),
        zeros=np.flatnonzero(s == 0),
        solves=work.solves,
        reads=problem.design.reads - reads,
    )


def price_floor(problem: Problem) -> float:
    """The bound of alpha = 0: the price of the columns forced in."""
    forced = np.flatnonzero(problem.fix == 1)
    return (
        price_below(problem.penalty, forced.size) if problem.rules is None else sum_below(problem.rules.price[forced])
    )


def _relax_without_ridge(problem: Problem) -> Relaxation:
    """Without a ridge every column with s_j > 0 counts in full: the relaxation is the least-squares fit of all of them.

    So it costs hardly any s, and its value is that fit's: zero wherever as many columns as rows are independent.
    """
    reads = problem.design.reads
    allowed = np.flatnonzero(problem.fix >= 0)
    free = None if problem.rules is None else replace(problem.rules, price=np.zeros(problem.p))
    fit = fit_support(problem.design, problem.y, allowed, problem.gamma, 0.0, rules=free)
    forced = int(np.count_nonzero(problem.fix == 1))
    s, coef = np.zeros(problem.p), np.zeros(problem.p)
    s[allowed] = min(1.0, max(0, problem.k - forced) / max(1, allowed.size))
    s[problem.fix == 1] = 1.0
    coef[fit.support] = fit.coef
    return Relaxation(
        bound=max(0.0, support_bound(problem.design, problem.y, fit, problem.gamma, free)) + price_floor(problem),
        primal=fit.objective + float((np.zeros(problem.p) + problem.prices) @ s),
        s=s,
        coef=coef,
        alpha=problem.y - problem.design.columns(fit.support) @ fit.coef,
        tau=0.0,
        ones=np.flatnonzero(s >= 1.0),
        ties=np.flatnonzero((s > 0) & (s < 1)),
        zeros=np.flatnonzero(s == 0),
        solves=1,
        reads=problem.design.reads - reads,
    )
