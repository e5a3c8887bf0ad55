"""The truth about a choice among groups or kernels, in exact arithmetic: every set is tried."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from forge.referee import Question, Value
from oracles import rational
from oracles.exact import ExactValues, FloatArray, Support
from oracles.rational import Matrix

# The relative rounding that an objective is allowed (docs/numerics.md), and more.
_ROUNDING = Fraction(5, 10**12)
_SMALLEST = Fraction(5e-324)

Between = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class ChoiceQuestion(Question):
    """As of columns, priced one by one, with the number of observations, their weights, and the groups' columns."""

    observations: int = 0
    weight: tuple[float, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()


class ChoiceReferee:
    """What groups and kernels have in common: `loss` is the subclass's."""

    def __init__(self, y: FloatArray) -> None:
        self.y = y
        self.half = rational.dot(rational.exact(y), rational.exact(y)) / 2
        self._optima: dict[Question, Value] = {}

    def loss(self, support: Support, question: Any) -> Between:
        """Not above and not below the least value of a set without its price; the same where it is known exactly."""
        raise NotImplementedError

    def layout(self, certificate: Any) -> tuple[tuple[int, ...], ...]:
        """The columns of the groups, as the certificate says."""
        return ()

    def stands(self, question: Any) -> bool:
        """Whether it is about as many items as there are, whatever the rows."""
        raise NotImplementedError

    def numbers(self, question: Any) -> FloatArray:
        """All that the items consist of, weighted."""
        raise NotImplementedError

    def question(self, certificate: Any) -> Question | None:
        """What a certificate says was asked, taken as kindly as can be; None if that is no question."""
        c = certificate
        try:
            gamma, k, rows = float(c.gamma), int(c.k), int(c.rows)
            inside, outside = (frozenset(int(j) for j in np.asarray(a).ravel()) for a in (c.forced_in, c.forced_out))
            price, weight = (tuple(float(v) for v in np.asarray(a).ravel()) for a in (c.price, c.sample_weight))
            groups = self.layout(c)
        except (TypeError, ValueError, OverflowError, ArithmeticError, IndexError):
            return None
        numbers = (gamma, *price, *weight)
        if not (all(map(math.isfinite, numbers)) and gamma > 0 and min((*price, *weight, 0.0)) >= 0):
            return None
        return ChoiceQuestion(
            gamma=gamma,
            k=k,
            forced_in=inside,
            forced_out=outside,
            price=price,
            observations=rows,
            weight=weight,
            groups=groups,
        )

    def items(self, question: Any) -> int:
        """How many there are to choose among; 0 if the question is not about these data."""
        return len(question.price) if self.fits(question) and self.finite(question) else 0

    def fits(self, question: Any) -> bool:
        """Whether the question is about these data."""
        rows = question.observations == self.y.size and len(question.weight) in (0, self.y.size)
        return rows and self.stands(question)

    def finite(self, question: Any) -> bool:
        """Whether all numbers, weighted, are doubles."""
        with np.errstate(all="ignore"):
            return bool(np.isfinite(self.response(question)).all() and np.isfinite(self.numbers(question)).all())

    def optimum(self, question: Any) -> Value:
        """The least value of the sets that are allowed, or more; infinite if there is none, -inf without a question."""
        if question not in self._optima:
            items = self.items(question)
            if items == 0:
                # Weighted numbers that are no doubles are beyond this referee; the checker has units for them.
                beyond = bool(question.price) and self.fits(question) and not self.finite(question)
                return math.inf if beyond else -math.inf
            sets = (S for size in range(items + 1) for S in combinations(range(items), size))
            values = (self.loss(S, question)[1] + self.price(S, question) for S in sets if question.allows(S))
            self._optima[question] = min(values, default=math.inf)
        return self._optima[question]

    def price(self, support: Support, question: Any) -> Fraction:
        return sum((Fraction(question.price[j]) for j in support), Fraction(0))

    def least(self, support: Support, question: Any) -> Fraction:
        """The least objective of a set, or less, with its price."""
        return self.loss(tuple(sorted(support)), question)[0] + self.price(support, question)

    def blur(self, support: Support, question: Any) -> Fraction:
        """What rounding may be worth in the objective of a set: it does not grow with the coefficients."""
        return _ROUNDING * self.least(support, question) + _SMALLEST

    def response(self, question: Any) -> FloatArray:
        """y, its rows weighted."""
        return np.sqrt(np.array(question.weight)) * self.y if question.weight else self.y


class GroupReferee(ChoiceReferee):
    """Groups of the columns of X."""

    def __init__(self, X: FloatArray, y: FloatArray) -> None:
        super().__init__(y)
        self.X = X
        self._values: dict[Any, ExactValues] = {}

    def layout(self, certificate: Any) -> tuple[tuple[int, ...], ...]:
        columns = [int(j) for j in np.asarray(certificate.group_column).ravel()]
        ends = [int(j) for j in np.asarray(certificate.group_offset).ravel()]
        return tuple(tuple(columns[a:b]) for a, b in pairwise(ends))

    def stands(self, question: Any) -> bool:
        inside = all(0 <= j < self.X.shape[1] for group in question.groups for j in group)
        return inside and len(question.groups) == len(question.price)

    def numbers(self, question: Any) -> FloatArray:
        return self.members(question)

    def members(self, question: Any) -> FloatArray:
        """The columns of all groups side by side, their rows weighted."""
        block = self.X[:, [j for group in question.groups for j in group]]
        return np.sqrt(np.array(question.weight))[:, None] * block if question.weight else block

    def exact(self, question: Any) -> ExactValues:
        key = (question.groups, question.weight)
        if key not in self._values:
            self._values[key] = ExactValues(self.members(question), self.response(question))
        return self._values[key]

    def positions(self, support: Support, question: Any) -> list[int]:
        """The members of the groups of a support, in its order."""
        ends = np.cumsum([0, *(len(group) for group in question.groups)]).tolist()
        return [at for g in support for at in range(ends[g], ends[g + 1])]

    def loss(self, support: Support, question: Any) -> Between:
        value = self.exact(question).values(question.gamma)[tuple(sorted(self.positions(support, question)))]
        return value, value

    def width(self, support: Support, question: Any) -> int:
        return len(self.positions(support, question))

    def fit(self, support: Support, question: Any) -> list[Fraction]:
        return self.exact(question).coef(tuple(self.positions(support, question)), question.gamma)

    def worth(self, support: Support, coef: FloatArray, question: Any) -> Fraction:
        exact, at = self.exact(question), self.positions(support, question)
        value = rational.objective_of(exact.X, exact.y, np.array(at, dtype=int), coef, question.gamma, 0.0)
        return value + self.price(support, question)


class KernelReferee(ChoiceReferee):
    """Kernels: matrices and factors, and the positive parts of the matrices that are known to be indefinite."""

    def __init__(self, kernels: list[tuple[str, FloatArray]], positive: dict[int, Matrix], y: FloatArray) -> None:
        super().__init__(y)
        self.kernels, self.positive = kernels, positive
        self._exact: dict[Any, tuple[Matrix, Matrix, Matrix]] = {}
        self._solved: dict[Any, Between] = {}

    def stands(self, question: Any) -> bool:
        return len(question.price) == len(self.kernels)

    def numbers(self, question: Any) -> FloatArray:
        parts = [self.values(j, question).ravel() for j in range(len(self.kernels))]
        return np.concatenate([np.zeros(0), *parts])

    def values(self, j: int, question: Any) -> FloatArray:
        """A kernel's numbers, weighted."""
        kind, given = self.kernels[j]
        if not question.weight:
            return given
        root = np.sqrt(np.array(question.weight))
        return root[:, None] * given if kind == "factor" else np.outer(root, root) * given

    def exact(self, j: int, question: Any) -> tuple[Matrix, Matrix, Matrix]:
        """A kernel, a matrix that is not above its positive part, and one that is not below it."""
        key = (j, question.weight)
        if key not in self._exact:
            entries = rational.rows(self.values(j, question))
            if self.kernels[j][0] == "factor":
                K = [[rational.dot(a, b) for b in entries] for a in entries]
                self._exact[key] = (K, K, K)
            else:
                K = [[(a + b) / 2 for a, b in zip(row, column)] for row, column in zip(entries, zip(*entries))]
                known = self.positive.get(j) if not question.weight else None
                self._exact[key] = (K, known, known) if known is not None else (K, K, _lifted(K))
        return self._exact[key]

    def loss(self, support: Support, question: Any) -> Between:
        key = (support, question.gamma, question.weight)
        if key not in self._solved:
            kernels, y = [self.exact(j, question) for j in support], rational.exact(self.response(question))
            low, high = ([K[side] for K in kernels] for side in (2, 1))
            upper = _loss(high, y, question.gamma)
            self._solved[key] = (upper if low == high else _loss(low, y, question.gamma), upper)
        return self._solved[key]

    def width(self, support: Support, question: Any) -> int:
        return sum(self.kernels[j][1].shape[1] for j in support)

    def fit(self, support: Support, question: Any) -> list[Fraction]:
        gamma, y = Fraction(question.gamma), rational.exact(self.response(question))
        system = _system([self.exact(j, question)[0] for j in support], len(y), question.gamma)
        if any(not row[i] for i, row in enumerate(system)):
            return [Fraction(0)] * self.width(support, question)
        try:
            alpha = [gamma * value for value in rational.solve(system, y)]
        except ZeroDivisionError:
            return [Fraction(0)] * self.width(support, question)
        out: list[Fraction] = []
        for j in support:
            columns = rational.rows(self.values(j, question).T)
            out += [rational.dot(column, alpha) for column in columns] if self.kernels[j][0] == "factor" else alpha
        return out

    def worth(self, support: Support, coef: FloatArray, question: Any) -> Fraction:
        left, squares = rational.exact(self.response(question)), Fraction(0)
        at = 0
        for j in support:
            values, factor = self.values(j, question), self.kernels[j][0] == "factor"
            w = rational.exact(coef[at : at + values.shape[1]])
            at += values.shape[1]
            fit = [rational.dot(row, w) for row in (rational.rows(values) if factor else self.exact(j, question)[0])]
            squares += rational.dot(w, w if factor else fit)
            left = [a - b for a, b in zip(left, fit)]
        value = rational.dot(left, left) / 2 + squares / (2 * Fraction(question.gamma))
        return value + self.price(support, question)


def _system(kernels: list[Matrix], n: int, gamma: float) -> Matrix:
    weight = Fraction(gamma)
    return [
        [Fraction(int(i == j)) + weight * sum((K[i][j] for K in kernels), Fraction(0)) for j in range(n)]
        for i in range(n)
    ]


def _loss(kernels: list[Matrix], y: list[Fraction], gamma: float) -> Fraction:
    """1/2 y'(I + gamma K)^-1 y, or 1/2 y'y, which no kernel's positive part exceeds, where that is no kernel."""
    system = _system(kernels, len(y), gamma)
    half = rational.dot(y, y) / 2
    if not kernels or not rational.is_positive_definite(system):
        return half
    return min(rational.dot(y, rational.solve(system, y)) / 2, half)


def _lifted(K: Matrix) -> Matrix:
    """K, or K + e I, not below the positive part of K, for a power of two e that is as small as it may be."""
    size, n = max(abs(value) for row in K for value in row), len(K)
    lift = Fraction(0)
    while not rational.is_positive_semidefinite([[v + lift * (i == j) for j, v in enumerate(K[i])] for i in range(n)]):
        lift = max(2 * lift, size / 2**60)
    return [[v + lift * (i == j) for j, v in enumerate(K[i])] for i in range(n)]
