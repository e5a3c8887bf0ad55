"""The referee: values recomputed in extended precision from the plain matrix, and what must hold between answers.

An answer's coefficients have a value F(w) that is right whoever made them, so the optimum is at most the least of these
values. No lower bound may be above it, whatever method it is from. No method has to finish for that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oracles.enumeration import coefficients, values
from parsifal import Solution
from stress.columns import FloatArray
from stress.problems import StressProblem

REL_GAP = 1e-6
MOST_SUPPORTS = 3000
# What rounding may be worth: in the objective as it is reported, and in a bound.
ROUNDING, FLOOR = 1e-9, 1e-13


@dataclass(kw_only=True)
class Answer:
    """What a method said, and what its coefficients are worth."""

    method: str
    support: npt.NDArray[np.int64]
    coef: FloatArray
    objective: float
    lower_bound: float
    status: str
    value: float
    constrained: bool = False


def value_of(problem: StressProblem, coef: FloatArray, size: int) -> float:
    """1/2 |y - X w|^2 + |w|^2 / (2 gamma) + penalty * size, in extended precision."""
    active = np.flatnonzero(coef)
    w = coef[active].astype(np.longdouble)
    residual = problem.y.astype(np.longdouble) - problem.dense[:, active].astype(np.longdouble) @ w
    value = (residual @ residual) / 2 + (w @ w) / (2 * np.longdouble(problem.gamma))
    return float(value + np.longdouble(problem.penalty or 0.0) * size)


def answer_of(problem: StressProblem, method: str, solution: Solution, *, constrained: bool = False) -> Answer:
    """Take an answer over, with its value as the referee sees it."""
    return Answer(
        method=method,
        support=solution.support,
        coef=solution.coef,
        objective=solution.objective,
        lower_bound=solution.lower_bound,
        status=solution.status,
        value=value_of(problem, solution.coef, solution.support.size),
        constrained=constrained,
    )


def rounding_of(problem: StressProblem, answer: Answer) -> float:
    """What docs/numerics.md allows an objective to be off by: y - X w rounds relative to its terms, which are far above
    it where coefficients of nearly equal columns cancel."""
    active = np.flatnonzero(answer.coef)
    norms = np.linalg.norm(problem.dense[:, active], axis=0)
    terms = float(np.linalg.norm(problem.y)) + float(np.abs(answer.coef[active]) @ norms)
    blur = 2.0**-53 * (active.size + 8) * terms
    return blur * (float(np.sqrt(2 * max(answer.value, 0.0))) + blur)


def faults_of(problem: StressProblem, answer: Answer) -> list[str]:
    """What is wrong with one answer by itself."""
    faults, name = [], answer.method
    support = answer.support
    slack = ROUNDING * abs(answer.value) + FLOOR * problem.half + rounding_of(problem, answer)
    if support.size > problem.most or np.any(np.diff(support) <= 0):
        faults.append(f"{name}: support {support.tolist()} is not sorted, or larger than k")
    if not set(problem.force_in) <= set(support.tolist()) or set(problem.force_out) & set(support.tolist()):
        faults.append(f"{name}: support {support.tolist()} is not what was forced")
    if not np.isfinite(answer.coef).all() or not np.isin(np.flatnonzero(answer.coef), support).all():
        faults.append(f"{name}: coefficients outside the support, or not finite")
    if not abs(answer.objective - answer.value) <= slack:
        faults.append(f"{name}: objective {answer.objective!r}, but its coefficients are worth {answer.value!r}")
    if not answer.lower_bound <= answer.objective:
        faults.append(f"{name}: lower bound {answer.lower_bound!r} above its objective {answer.objective!r}")
    gap = answer.objective - answer.lower_bound
    if answer.status == "optimal" and not gap <= 1.0001 * REL_GAP * abs(answer.objective):
        faults.append(f"{name}: optimal with a gap of {gap!r} on {answer.objective!r}")
    return faults


def disagreements(problem: StressProblem, answers: list[Answer]) -> list[str]:
    """Every lower bound against every value; a bound without side constraints holds with them too."""
    faults = []
    for a in answers:
        for b in answers:
            if a.constrained and not b.constrained:
                continue
            if not a.lower_bound <= b.value + ROUNDING * abs(b.value) + FLOOR * problem.half:
                faults.append(
                    f"{a.method} ({a.status}) has the bound {a.lower_bound!r}, but {b.method} found {b.value!r} "
                    f"with {b.support.tolist()}"
                )
    return faults


def excess(problem: StressProblem, answers: list[Answer]) -> float:
    """How far the highest bound is above the least value, relative to 1/2 |y|^2; rounding is what it should be."""
    plain = [a for a in answers if not a.constrained]
    if not plain or problem.half == 0.0:
        return -1.0
    return (max(a.lower_bound for a in plain) - min(a.value for a in plain)) / problem.half


def enumerate_supports(problem: StressProblem) -> list[tuple[int, ...]] | None:
    """Every support that is allowed, or None if there are too many."""
    return problem.supports() if problem.count() <= MOST_SUPPORTS else None


def enumerated(problem: StressProblem, supports: list[tuple[int, ...]], *, constrained: bool = False) -> Answer:
    """The best support by trying all: no bound but an upper one, for the value is that of its coefficients."""
    best: tuple[float, tuple[int, ...]] = (np.inf, ())
    by_size: dict[int, list[tuple[int, ...]]] = {}
    for support in supports:
        by_size.setdefault(len(support), []).append(support)
    for size, group in by_size.items():
        part = np.array(group, dtype=np.int64).reshape(len(group), size)
        losses = values(problem.dense, problem.y, problem.gamma, part) + (problem.penalty or 0.0) * size
        at = int(np.argmin(losses))
        best = min(best, (float(losses[at]), tuple(part[at].tolist())))
    coef = np.zeros(problem.p)
    chosen = np.array(best[1], dtype=np.int64)
    coef[chosen] = coefficients(problem.dense, problem.y, problem.gamma, chosen)
    value = value_of(problem, coef, chosen.size)
    slack = ROUNDING * abs(value) + FLOOR * problem.half
    return Answer(
        method="enumeration",
        support=chosen,
        coef=coef,
        objective=value,
        lower_bound=best[0] - slack,
        status="enumerated",
        value=value,
        constrained=constrained,
    )
