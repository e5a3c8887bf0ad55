"""The truth about a claim, in exact arithmetic: what was asked, what is best, and what rounding may be worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
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
    price: tuple[float, ...] = ()  # of every column; none: the penalty
    sign: tuple[int, ...] = ()  # of every coefficient; none: any
    rows: tuple[tuple[tuple[tuple[int, int], ...], int], ...] = ()  # columns with coefficients, and the limit

    def allows(self, support: Support) -> bool:
        """Whether the support may be chosen."""
        chosen = set(support)
        within = all(sum(a for j, a in row if j in chosen) <= most for row, most in self.rows)
        return within and len(support) <= self.k and chosen >= self.forced_in and not chosen & self.forced_out

    def price_of(self, support: Support) -> Fraction:
        """What the columns cost."""
        if not self.price:
            return Fraction(self.penalty) * len(support)
        return sum((Fraction(self.price[j]) for j in support), Fraction(0))

    @property
    def ruled(self) -> bool:
        """Whether columns are not all alike."""
        return bool(self.price or self.sign)


@dataclass
class Referee(ExactValues):
    """Knows the value of every support of X for every gamma, and what is asked of them."""

    _optima: dict[Question, Value] = field(default_factory=dict)
    _coefs: dict[tuple[Support, float], list[Fraction]] = field(default_factory=dict)

    def optimum(self, question: Question) -> Value:
        """The least value of the supports that are allowed, with their price; infinite if there is none."""
        if question not in self._optima and question.ruled:
            every = (s for s in self.values(question.gamma) if question.allows(s) and self.counts(s, question))
            self._optima[question] = min((self.least(s, question) for s in every), default=math.inf)
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
        return Fraction(squares + ridge) / 2 + question.price_of(support)

    def fit(self, support: Support, question: Question) -> list[Fraction]:
        """The best coefficients of a support, with their signs: of the subsets whose plain fit has them, the best."""
        plain = self.coef(support, question.gamma)
        if not question.sign:
            return plain
        values, best = self.values(question.gamma), (self.half, [Fraction(0)] * len(support))
        for size in range(1, len(support) + 1):
            for part in combinations(sorted(support), size):
                w = dict(zip(part, self._coef(part, question.gamma)))
                if values[part] < best[0] and all(question.sign[j] * value >= 0 for j, value in w.items()):
                    best = (values[part], [w.get(j, Fraction(0)) for j in support])
        return best[1]

    def _coef(self, support: Support, gamma: float) -> list[Fraction]:
        if (support, gamma) not in self._coefs:
            self._coefs[support, gamma] = list(self.coef(support, gamma))
        return self._coefs[support, gamma]

    def least(self, support: Support, question: Question) -> Fraction:
        """The least objective of a support, with its price."""
        value = self.values(question.gamma)[tuple(sorted(support))]
        if question.sign:
            chosen = tuple(j for j, w in zip(support, self.fit(support, question)) if w != 0)
            value = self.values(question.gamma)[tuple(sorted(chosen))]
        return value + question.price_of(support)

    def blur(self, support: Support, question: Question) -> Fraction:
        """What rounding may be worth in the objective of a support's best coefficients (docs/numerics.md), and more."""
        coef = self.fit(support, question)
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
        price, sign, rows = _rules_of(c)
    except (TypeError, ValueError, OverflowError, ArithmeticError, IndexError):
        return None
    p = int(c.shape[1])
    if len(price) not in (0, p) or len(sign) not in (0, p) or any(value not in (-1, 0, 1) for value in sign):
        return None
    if not all(math.isfinite(value) and value >= 0 for value in price):
        return None
    if not (math.isfinite(penalty) and gamma > 0 and penalty >= 0):
        return None
    if not 0 <= independence <= (INDEPENDENCE if math.isinf(gamma) else 0.0):
        return None
    return Question(gamma, k, penalty, inside, outside, independence, price, sign, rows)


def _rules_of(c: Certificate) -> tuple[tuple[float, ...], tuple[int, ...], Any]:
    """Prices, signs and rows of a certificate."""
    price = tuple(float(value) for value in np.asarray(c.price).ravel())
    sign = tuple(int(value) for value in np.asarray(c.sign).ravel())
    offset, column, coef, upper = (
        [int(value) for value in np.asarray(a).ravel()] for a in (c.row_offset, c.row_column, c.row_coef, c.row_upper)
    )
    if len(offset) != len(upper) + 1 or len(column) != len(coef):
        raise ValueError
    spans = zip(offset, offset[1:], upper)
    rows = tuple((tuple(zip(column[start:stop], coef[start:stop])), most) for start, stop, most in spans)
    return price, sign if any(sign) else (), rows


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
    sign = getattr(question, "sign", ())  # of columns alone
    coef = np.asarray(certificate.coef).ravel()
    if sign and any(sign[j] * float(w) < 0 for j, w in zip(support, coef)):
        return "a coefficient has a sign that is not allowed"
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
