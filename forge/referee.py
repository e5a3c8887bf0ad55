"""The truth about a claim, in exact arithmetic: what was asked, what is best, and what rounding may be worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.exact import ExactValues, FloatArray, Support, dot, power
from parsifal.proof.certificate import INDEPENDENCE, Certificate

# An infinite optimum: no support is allowed.
Value = Fraction | float


@dataclass(frozen=True)
class Question:
    """What is minimised over what, apart from the data."""

    gamma: float
    k: int
    penalty: float = 0.0
    forced_in: frozenset[int] = frozenset()
    forced_out: frozenset[int] = frozenset()
    independence: float = 0.0

    def allows(self, support: Support) -> bool:
        """Whether the support may be chosen."""
        chosen = set(support)
        return len(support) <= self.k and chosen >= self.forced_in and not chosen & self.forced_out


@dataclass
class Referee(ExactValues):
    """Knows the value of every support of X for every gamma, and what is asked of them."""

    _optima: dict[Question, Value] = field(default_factory=dict)

    def optimum(self, question: Question) -> Value:
        """The least value of the supports that are allowed, with their price; infinite if there is none."""
        if question not in self._optima:
            least: dict[int, Fraction] = {}
            for support, value in self.values(question.gamma).items():
                size = len(support)
                better = question.allows(support) and (size not in least or value < least[size])
                if better and self.counts(support, question):
                    least[size] = value
            price = Fraction(question.penalty)
            self._optima[question] = min((value + price * size for size, value in least.items()), default=math.inf)
        return self._optima[question]

    def question(self, certificate: Any) -> Question | None:
        """What a certificate says was asked."""
        return question_of(certificate)

    def items(self, question: Question) -> int:
        """How many there are to choose among; 0 if the question is not about these data."""
        return len(self.whole)

    def fit(self, support: Support, question: Question) -> list[Fraction]:
        """The best coefficients on a support."""
        return self.coef(support, question.gamma)

    def width(self, support: Support, question: Question) -> int:
        """How many coefficients a support has."""
        return len(support)

    def counts(self, support: Support, question: Question) -> bool:
        """Whether the question is about this support: without a ridge, only if its columns are independent."""
        return question.independence == 0 or self.independent(support, question.independence, question.forced_in)

    def worth(self, support: Support, coef: FloatArray, question: Question) -> Fraction:
        """The objective of these very coefficients."""
        w = [Fraction(float(value)) for value in coef]
        columns = [[Fraction(float(v)) for v in self.X[:, j]] for j in support]
        alpha = [Fraction(float(v)) - dot(w, row) for v, row in zip(self.y, zip(*columns))] if columns else []
        squares = dot(alpha, alpha) if columns else 2 * self.half
        ridge = Fraction(0) if math.isinf(question.gamma) else dot(w, w) / Fraction(question.gamma)
        return Fraction(squares + ridge) / 2 + Fraction(question.penalty) * len(support)

    def least(self, support: Support, question: Question) -> Fraction:
        """The least objective of a support, with its price."""
        return self.values(question.gamma)[tuple(sorted(support))] + Fraction(question.penalty) * len(support)

    def blur(self, support: Support, question: Question) -> Fraction:
        """What rounding may be worth in the objective of a support's best coefficients (docs/numerics.md), and more."""
        coef = self.coef(support, question.gamma)
        terms = _length(self.y) + sum(abs(w) * _length(self.X[:, j]) for w, j in zip(coef, support))
        unit = Fraction(8 * (self.y.size + len(support) + 8), 2**53)
        least = self.least(support, question)
        underflow = unit * power(53 - 1074)
        return unit * (least + terms * terms * unit + terms * _root(2 * least)) + least / 10**12 + underflow


def question_of(certificate: Certificate) -> Question | None:
    """What a certificate says was asked, taken as kindly as can be; None if that is no question."""
    c = certificate
    try:
        gamma, penalty, k, independence = float(c.gamma), float(c.penalty), int(c.k), float(c.independence)
        inside, outside = (frozenset(int(j) for j in np.asarray(a).ravel()) for a in (c.forced_in, c.forced_out))
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None
    if not (math.isfinite(penalty) and gamma > 0 and penalty >= 0):
        return None
    if not 0 <= independence <= (INDEPENDENCE if math.isinf(gamma) else 0.0):
        return None
    return Question(gamma, k, penalty, inside, outside, independence)


def falsehood(referee: Any, certificate: Any) -> str | None:
    """What is false about a certificate's claim; None if it is true, or false by rounding of its objective alone."""
    question = referee.question(certificate)
    if question is None:
        return "gamma, penalty, k or the forced columns make no question"
    try:
        bound, objective = float(certificate.lower_bound), float(certificate.objective)
        support = tuple(int(j) for j in np.asarray(certificate.support).ravel())
    except (TypeError, ValueError, OverflowError):
        return "the claim holds no numbers"
    if not question.allows(support) or len(set(support)) < len(support):
        return f"the support {list(support)} is not allowed"
    if not set(support) <= set(range(referee.items(question))):
        return f"the support {list(support)} has items that are not there"
    optimum = referee.optimum(question)
    if not bound <= optimum:
        return f"the bound {bound!r} is above the optimum {nearest(optimum)!r}"
    ordered = tuple(sorted(support))
    least = referee.least(ordered, question)
    if not objective >= least - referee.blur(ordered, question):
        return f"the objective {objective!r} is below the least of its support, {nearest(least)!r}"
    return None


def nearest(value: Value) -> float:
    """The double next to a fraction."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def above(value: Value) -> float:
    """The smallest double that is larger."""
    out = nearest(value)
    return float(np.nextafter(out, np.inf)) if math.isfinite(out) and Fraction(out) <= value else out


def _length(v: FloatArray) -> Fraction:
    """At least the norm."""
    return sum((abs(Fraction(float(value))) for value in v), Fraction(0))


def _root(value: Fraction) -> Fraction:
    """A square root, a little too large."""
    if value <= 0:
        return Fraction(0)
    shift = max(0, 128 + value.denominator.bit_length() - value.numerator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt(int(value * 2**shift)) + 1, 2 ** (shift // 2))
