"""The value of every support of a small problem, in exact arithmetic: every double is a fraction, and all are tried.

With x_j = m_j 2^e_j for vectors m_j of whole numbers, twice the value of a support S is a quotient of two determinants,
those of the ridge's matrix on S and y, and on S. Bareiss's elimination, which needs whole numbers only, has both.
`oracles.rational` solves one support's equations instead, and shares nothing with this: a test holds them together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Support = tuple[int, ...]


@dataclass
class ExactValues:
    """The values of all supports of X, for any gamma."""

    X: FloatArray
    y: FloatArray
    _values: dict[float, dict[Support, Fraction]] = field(default_factory=dict)
    _coefs: dict[tuple[float, Support], list[Fraction]] = field(default_factory=dict)
    # Of every support, without a ridge: the rank, and the determinant of its first independent columns.
    _volumes: dict[Support, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = [_whole(column) for column in self.X.T]
        self.target = _whole(self.y)
        m = [column for column, _ in self.whole] + [self.target[0]]
        self.products = [[dot(a, b) for b in m] for a in m]

    @property
    def half(self) -> Fraction:
        """1/2 |y|^2."""
        return Fraction(self.products[-1][-1]) * power(2 * self.target[1]) / 2

    def values(self, gamma: float) -> dict[Support, Fraction]:
        """The least 1/2 |y - X w|^2 + |w|^2 / (2 gamma) of every support; gamma may be inf, and columns dependent."""
        if gamma not in self._values:
            self._values[gamma] = self._enumerate(gamma)
        return self._values[gamma]

    def independent(self, support: Support, share: float, forced: frozenset[int] = frozenset()) -> bool:
        """Whether every column but the forced ones is outside the span of the others, by `share` of its norm."""
        self.values(math.inf)
        rank, volume = self._volumes[support]
        for j in set(support) - forced:
            own_rank, others = self._volumes[tuple(i for i in support if i != j)]
            square = Fraction(volume, others) if own_rank < rank else Fraction(0)
            if square == 0 or square < Fraction(share) ** 2 * self.products[j][j]:
                return False
        return True

    def best(self, k: int, gamma: float, penalty: float = 0.0) -> Fraction:
        """The least value of at most k columns, with their price."""
        price = Fraction(penalty)
        return min(value + price * len(S) for S, value in self.values(gamma).items() if len(S) <= k)

    def coef(self, support: Support, gamma: float) -> list[Fraction]:
        """The best coefficients on a support."""
        key = (gamma, support)
        if key not in self._coefs:
            self._coefs[key] = self._solve(support, gamma)
        return self._coefs[key]

    def _enumerate(self, gamma: float) -> dict[Support, Fraction]:
        p = len(self.whole)
        matrix = []
        for j, (_, exponent) in enumerate(self.whole):
            ridge = self._ridge(exponent, gamma)
            # A row may be multiplied by what makes it whole: both determinants have the factor.
            row = [ridge.denominator * value for value in self.products[j]]
            row[j] += ridge.numerator
            matrix.append(row)
        matrix.append(self.products[-1])
        unit = power(2 * self.target[1]) / 2
        out: dict[Support, Fraction] = {}
        stack: list[tuple[Support, list[int], list[list[int]], int, int]] = [((), list(range(p)), matrix, 1, 0)]
        while stack:
            support, later, rest, pivot, rank = stack.pop()
            out[support] = Fraction(rest[-1][-1], pivot) * unit
            if math.isinf(gamma):
                self._volumes[support] = (rank, pivot)
            for at, j in enumerate(later):
                after = later[at + 1 :]
                if rest[at][at]:
                    stack.append(((*support, j), after, _eliminate(rest, at, pivot), rest[at][at], rank + 1))
                else:
                    # It depends on those before it, and changes nothing.
                    stack.append(((*support, j), after, [row[at + 1 :] for row in rest[at + 1 :]], pivot, rank))
        return out

    def _ridge(self, exponent: int, gamma: float) -> Fraction:
        """1/gamma in the units of a column."""
        return Fraction(0) if math.isinf(gamma) else power(-2 * exponent) / Fraction(gamma)

    def _solve(self, support: Support, gamma: float) -> list[Fraction]:
        rows = []
        for j in support:
            row = [Fraction(self.products[j][i]) for i in support] + [Fraction(self.products[j][-1])]
            row[support.index(j)] += self._ridge(self.whole[j][1], gamma)
            rows.append(row)
        size = len(rows)
        for i in range(size):
            # Without a ridge a column may depend on those before it, and is not needed.
            for r in range(size) if rows[i][i] else ():
                if r != i:
                    factor = rows[r][i] / rows[i][i]
                    rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
        scale = self.target[1]
        return [
            rows[i][-1] / rows[i][i] * power(scale - self.whole[j][1]) if rows[i][i] else Fraction(0)
            for i, j in enumerate(support)
        ]


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b))


def _whole(column: FloatArray) -> tuple[list[int], int]:
    """Whole numbers m and an exponent e with column = m 2^e."""
    fractions = [Fraction(float(value)) for value in column]
    bits = max(f.denominator for f in fractions).bit_length() - 1
    numbers = [int(f * 2**bits) for f in fractions]
    common = math.gcd(*numbers)
    shift = (common & -common).bit_length() - 1 if common else 0
    return [number >> shift for number in numbers], shift - bits


def _eliminate(matrix: list[list[int]], at: int, last: int) -> list[list[int]]:
    """Bareiss's step on what comes after the pivot; `last` is the pivot before it."""
    row = matrix[at]
    pivot, tail = row[at], row[at + 1 :]
    return [
        [(pivot * value - other[at] * first) // last for value, first in zip(other[at + 1 :], tail)]
        for other in matrix[at + 1 :]
    ]
