"""What a forgery claims: a solution that is feasible and worth what it says, and a bound that is false on purpose."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from forge.draft import Draft
from forge.problems import ForgeProblem
from forge.referee import Question, Value, above, nearest
from forge.structure import Rng
from parsifal.proof.certificate import fingerprint

_STEPS = (
    Fraction(1, 10**15),
    Fraction(1, 10**12),
    Fraction(1, 10**9),
    Fraction(1, 10**6),
    Fraction(1, 100),
    Fraction(1),
)


def make_claim(rng: Rng, draft: Draft, problem: ForgeProblem) -> Value | None:
    """Choose a solution and a bound above the optimum; returns that optimum, or None if the draft asks no question."""
    question = problem.referee.question(draft.build())
    items = 0 if question is None else problem.referee.items(question)
    if question is None or items == 0 or not question.forced_in | question.forced_out <= set(range(items)):
        return None
    if rng.random() < 0.8:
        _choose(rng, draft, problem, question)
    optimum = problem.referee.optimum(question)
    worth = _worth(draft, problem, question)
    if worth is not None:
        draft.claim["objective"] = nearest(worth)
    if rng.random() < 0.12:
        _lower_objective(rng, draft, problem, question)
    else:
        draft.claim["lower_bound"] = _false_bound(rng, draft, problem, optimum)
    if rng.random() < 0.95:
        draft.claim["fingerprint"] = fingerprint_of(draft, problem)
    return optimum


def _choose(rng: Rng, draft: Draft, problem: ForgeProblem, question: Question) -> None:
    """A feasible support, mostly not the best, with its best coefficients or worse ones."""
    items = range(problem.referee.items(question))
    free = [j for j in items if j not in question.forced_in | question.forced_out]
    room = min(question.k - len(question.forced_in), len(free))
    if room < 0:
        return
    size = int(rng.choice([0, room, rng.integers(0, room + 1)]))
    chosen = [int(j) for j in rng.permutation(free)[:size]] if free else []
    support = tuple(sorted({*question.forced_in, *chosen}))
    coef = [nearest(w) for w in problem.referee.fit(support, question)]
    chance = rng.random()
    if chance < 0.1:
        coef = [0.0] * len(coef)
    elif chance < 0.2:
        coef = [w * (1 + 10 ** rng.uniform(-12, 0)) for w in coef]
    elif chance < 0.3 and len(coef) > 1:
        coef = _cancelling(rng, problem.block(draft, support), coef)
    draft.support, draft.coef = list(support), coef


def _cancelling(rng: Rng, block: np.ndarray, coef: list[float]) -> list[float]:
    """Huge coefficients that cancel where they can: what rounding may be worth grows with them."""
    sizes = np.abs(block).max(axis=0)
    sizes[sizes == 0] = 1.0
    with np.errstate(all="ignore"):
        direction = np.linalg.svd(block / sizes)[2][-1] / sizes
        return np.asarray(np.array(coef) + 10 ** rng.uniform(0, 16) * direction).tolist()


def _worth(draft: Draft, problem: ForgeProblem, question: Question) -> Fraction | None:
    if not all(0 <= j < problem.referee.items(question) for j in draft.support):
        return None
    width = problem.referee.width(tuple(draft.support), question)
    if len(draft.coef) != width or not all(math.isfinite(w) for w in draft.coef):
        return None
    return problem.referee.worth(tuple(draft.support), np.array(draft.coef), question)


def _false_bound(rng: Rng, draft: Draft, problem: ForgeProblem, optimum: Value) -> float:
    """Between the optimum and what is wanted: from one unit in the last place to the objective and 1/2 |y|^2."""
    if isinstance(optimum, float):
        return float(draft.claim["objective"])
    lowest = above(optimum)
    half = nearest(problem.referee.half * (1 - Fraction(1, 10**9)))
    wanted = [lowest, *(nearest(optimum * (1 + step)) for step in _STEPS)]
    wanted += [half, half, nearest(problem.referee.half)]
    wanted += [float(draft.claim["objective"])] * 3
    value = wanted[int(rng.integers(len(wanted)))]
    # More than the objective is refused at once.
    value = min(value, float(draft.claim["objective"]))
    return value if value > lowest else lowest


def _lower_objective(rng: Rng, draft: Draft, problem: ForgeProblem, question: Question) -> None:
    """An objective below what the support can have, with a bound that is no higher."""
    support = tuple(sorted(draft.support))
    if not set(support) <= set(range(problem.referee.items(question))) or len(set(support)) < len(support):
        return
    step = Fraction(10 ** float(rng.uniform(-11, 0)))
    least = problem.referee.least(support, question)
    draft.claim["objective"] = nearest(least * (1 - step) - 2 * problem.referee.blur(support, question))
    draft.claim["lower_bound"] = min(draft.claim["lower_bound"], draft.claim["objective"])


def fingerprint_of(draft: Draft, problem: ForgeProblem) -> float:
    """What the first record makes of the data."""
    w = np.zeros(problem.dense.shape[1])
    first = draft.records[0]
    for j, value in zip(first.index, first.value):
        if 0 <= j < w.size:
            w[j] = value
    with np.errstate(all="ignore"):
        return fingerprint(problem.marks(draft, w))
