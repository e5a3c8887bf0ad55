"""The solver in the checker's place: what it says on the same data, held against the exact optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import parsifal as pf
from forge.honest import LIMITS
from forge.problems import ForgeProblem
from forge.referee import Question, Support, Value, nearest
from forge.structure import Rng

REL_GAP = Fraction(1, 10**6)
_SLACK = Fraction(1, 10**9)
_SMALLEST = Fraction(5e-324)

Fault = tuple[str, str]
Call = Callable[[], list[Fault]]


def calls(problem: ForgeProblem, rng: Rng, solve: Any) -> Iterator[tuple[str, Call]]:
    """The questions that are put for a problem, by name."""
    yield "solve", lambda: _solve(problem, problem.question, solve, {})
    if rng.random() < 0.3 or "level" in problem.traits:
        start = _some_support(rng, problem)
        yield "solve, warm start", lambda: _solve(problem, problem.question, solve, {"warm_start": list(start)})
    if rng.random() < 0.3:
        inside = frozenset(_some_support(rng, problem)) - problem.question.forced_out
        q = problem.question
        forced = replace(q, forced_in=inside)
        yield "solve, force_in", lambda: _solve(problem, forced, solve, {})
    if rng.random() < 0.2:
        yield "path", lambda: _path(problem)
    if rng.random() < 0.2:
        count = int(rng.integers(1, 6))
        yield "k_best", lambda: _k_best(problem, count)
    if rng.random() < 0.25:
        labels = rng.integers(0, max(1, problem.p // 2) + 1, problem.p).tolist()
        yield "solve_groups", lambda: _groups(problem, labels)


def _options(question: Question) -> dict[str, Any]:
    return {
        "gamma": question.gamma,
        "penalty": question.penalty or None,
        "force_in": sorted(question.forced_in) or None,
        "force_out": sorted(question.forced_out) or None,
    }


def _solve(problem: ForgeProblem, question: Question, solve: Any, more: dict[str, Any]) -> list[Fault]:
    solution = solve(problem.X, problem.y, k=question.k, **_options(question), **more, **LIMITS)
    return _faults_of(problem, question, solution)


def _path(problem: ForgeProblem) -> list[Fault]:
    q = problem.question
    ks = range(max(1, len(q.forced_in)), q.k + 1)
    path = pf.path(problem.X, problem.y, ks, **_options(q), **LIMITS)
    questions = [replace(q, k=k) for k in ks]
    return [fault for question, solution in zip(questions, path) for fault in _faults_of(problem, question, solution)]


def _k_best(problem: ForgeProblem, count: int) -> list[Fault]:
    q, referee = problem.question, problem.referee
    ranking = pf.k_best(problem.X, problem.y, q.k, count=count, **_options(q), **LIMITS)
    sizes = range(q.k + 1) if q.penalty else [q.k]
    listed = [tuple(int(j) for j in entry.support) for entry in ranking.entries]
    asked = [s for s in referee.values(q.gamma) if q.allows(s) and len(s) in sizes]
    exact = {s: referee.least(s, q) for s in asked if referee.counts(s, q)}
    left = min((value for support, value in exact.items() if support not in listed), default=math.inf)
    out = []
    for support, entry in zip(listed, ranking.entries):
        least = referee.least(support, q)
        if not q.allows(support):
            out.append(("support", f"lists {list(support)}, which is not allowed"))
        elif entry.objective < least - referee.blur(support, q):
            out.append(("objective", f"lists {entry.objective!r} for a support whose least is {nearest(least)!r}"))
        # Of a support that no claim is about, since its columns depend on each other, all that is said is that the
        # coefficients of the list are worth so much.
        exact.setdefault(support, Fraction(entry.objective) if math.isfinite(entry.objective) else least)
    if not ranking.lower_bound <= left:
        text = f"says that no other support is below {ranking.lower_bound!r}, but one has {nearest(left)!r}"
        out.append(("bound", text))
    if ranking.status == "optimal":
        for entry, value in zip(ranking.entries, sorted(exact.values())):
            out += _optimal(entry.objective, value)
        if len(listed) < min(count, len(exact)):
            out.append(("optimal", f"lists {len(listed)} of {len(exact)} supports, {count} were wanted"))
    return out


def _groups(problem: ForgeProblem, labels: list[int]) -> list[Fault]:
    q, referee = problem.question, problem.referee
    k = max(1, min(q.k, len(set(labels))))
    options = {"penalty": q.penalty or None, "node_limit": LIMITS["node_limit"], "time_limit": LIMITS["time_limit"]}
    solution = pf.solve_groups(problem.X, problem.y, labels, k, q.gamma, **options)
    groups = [[j for j, other in enumerate(labels) if other == label] for label in sorted(set(labels))]
    values, price = referee.values(q.gamma), Fraction(q.penalty)
    optimum = min(
        values[tuple(sorted(j for group in chosen for j in group))] + price * size
        for size in range(k + 1)
        for chosen in combinations(groups, size)
    )
    return told(solution, optimum)


def _faults_of(problem: ForgeProblem, question: Question, solution: Any) -> list[Fault]:
    """What is wrong with an answer."""
    support: Support = tuple(sorted(int(j) for j in solution.support))
    if not question.allows(support):
        return [("support", f"chose {list(support)}, which is not allowed")]
    out = told(solution, problem.referee.optimum(question))
    least = problem.referee.least(support, question)
    if math.isfinite(solution.objective) and solution.objective < least - problem.referee.blur(support, question):
        out.append(("objective", f"told {solution.objective!r} for a support whose least is {nearest(least)!r}"))
    return out


def told(solution: Any, optimum: Value) -> list[Fault]:
    """What is wrong with the objective and the bound of an answer."""
    out = _optimal(solution.objective, optimum) if solution.status == "optimal" else []
    if not math.isfinite(solution.objective):
        out = [("not finite", f"has the objective {solution.objective!r}, status {solution.status}")]
    if not solution.lower_bound <= optimum:
        out.append(("bound", f"has the bound {solution.lower_bound!r}, the optimum is {nearest(optimum)!r}"))
    return out


def _optimal(objective: float, optimum: Value) -> list[Fault]:
    """An objective that is called optimal."""
    if isinstance(optimum, float) or not math.isfinite(objective):
        return [("not finite", f"calls {objective!r} optimal, the optimum is {optimum!r}")]
    if Fraction(float(objective)) <= optimum * (1 + REL_GAP + _SLACK) + _SMALLEST:
        return []
    return [("optimal", f"calls {float(objective)!r} optimal, the optimum is {nearest(optimum)!r}")]


def _some_support(rng: Rng, problem: ForgeProblem) -> list[int]:
    """Random columns that are allowed, with those that are forced."""
    q = problem.question
    free = [j for j in range(problem.p) if j not in q.forced_in | q.forced_out]
    room = min(q.k - len(q.forced_in), len(free))
    chosen = [int(j) for j in rng.permutation(free)[: int(rng.integers(0, room + 1))]] if free else []
    return sorted({*q.forced_in, *chosen})
