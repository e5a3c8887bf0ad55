"""The data of an exact check as whole numbers: objectives as fractions, dual values on a grid.

Every double is a whole number times a power of two, and so is every sum and product of them. A bound is computed from
below on a grid far finer than any double in it: what is subtracted is rounded up to the grid and the rest down, in
whole numbers, and the result is compared with the claim as it is. A dual point may be any vector (any w), so w is
shortened first, and where no diagonal asks for alpha = y - X w, alpha is rounded to doubles: under a weak ridge the
bound depends on these digits, and it is the point of the other check that the claim is about. Nothing that follows is
shortened.

In the coordinates of the whole matrix Z, x_j = 2^unit_j z_j, a frame's diagonal is D_j = d_j / 4^unit_j, the ridge is
1 / (gamma 4^unit_j), w_j is W_j = 2^unit_j w_j, and a_j is (z_j'alpha + D_j W_j)^2 / (2 (ridge_j + D_j)) - price_j,
where a column with a sign has 0 in place of a product of the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from parsifal.proof.certificate import Certificate, FixArray, fingerprint
from parsifal.proof.exact_arithmetic import (
    Digits,
    FloatArray,
    IntArray,
    Whole,
    as_doubles,
    digit_bits,
    dot,
    longest,
    lowest_bit,
    scaled,
    shifted,
    split,
    whole_numbers,
)
from parsifal.proof.exact_diagonal import guard_bits, lowering, whole_diagonal
from parsifal.proof.exact_input import require

# Bits that w is shortened to, with room for terms of X w that cancel, and those of the grid below 1/2 y'y: more than
# any double needs.
_COEFFICIENT, _GRID = 128, 192


@dataclass(frozen=True)
class Frame:
    """Columns, their digits, the diagonal (None if it is zero) and 1 / (2 (ridge + D)) as two whole numbers.

    Where ridge + D is not positive the first is zero, and `unbounded` says so: 0 if ridge + D is zero, else -1.
    """

    columns: IntArray
    digits: Digits
    diagonal: Whole | None
    numerator: Whole
    denominator: Whole
    unbounded: dict[int, int]


class Problem:
    """The data as whole numbers, and dual values on the grid: whole numbers in units of 2^-grid."""

    def __init__(self, c: Certificate, X: FloatArray, y: FloatArray) -> None:
        self.c, self.X, self.y = c, X, y
        with np.errstate(over="ignore", under="ignore"):
            self.norms = np.linalg.norm(X, axis=0)
        self.digits = split(np.ascontiguousarray(X.T), digit_bits(max(c.shape)))
        self.guard = guard_bits(self.digits.bits)
        self.empty = np.asarray(~X.any(axis=0))
        self.response, self.unit = whole_numbers(y)
        self.ridge = Fraction(0) if np.isinf(c.gamma) else 1 / Fraction(c.gamma)
        # The penalty and the claim are on the grid, whatever they are.
        below = _GRID - 2 * (longest(self.response) + self.unit)
        own = c.price.tolist() if c.price.size else [c.penalty] * c.shape[1]
        self.grid = max(below, -lowest_bit(c.lower_bound), *(-lowest_bit(value) for value in {c.penalty, *own}))
        self.claim = scaled(c.lower_bound, self.grid)
        on_grid = {value: scaled(value, self.grid) for value in set(own)}
        self.price: Whole = np.array([on_grid[value] for value in own], dtype=object)
        self.own = own
        self.whole = self.frame(np.arange(c.shape[1]), None)

    def safe_diagonal(self, columns: IntArray, diagonal: FloatArray) -> Whole:
        """D, lowered where it has to be to leave a positive semidefinite matrix; `NotSemidefinite` if by too much."""
        digits = self.digits.take(columns)
        whole = whole_diagonal(digits, diagonal)
        return np.asarray(whole - lowering(digits, whole))

    def frame(self, columns: IntArray, diagonal: Whole | None) -> Frame:
        """A frame for a diagonal of `safe_diagonal`, or for none."""
        # Columns of a frame are in order.
        digits = self.digits if columns.size == self.c.shape[1] else self.digits.take(columns)
        numerator, denominator = np.full(columns.size, 0, dtype=object), np.full(columns.size, 1, dtype=object)
        unbounded = {}
        for at, unit in enumerate(digits.unit):
            # ridge + D times 2^power and the ridge's denominator.
            power = max(self.guard, 2 * unit)
            own = 0 if diagonal is None else diagonal[at] << power - self.guard
            total = (self.ridge.numerator << power - 2 * unit) + own * self.ridge.denominator
            if total <= 0:
                unbounded[at] = -1 if total < 0 else 0
                continue
            zeros = min(power, (total & -total).bit_length() - 1)
            numerator[at], denominator[at] = self.ridge.denominator << power - zeros, total >> zeros << 1
        return Frame(columns, digits, diagonal, numerator, denominator, unbounded)

    def price_of(self, columns: IntArray) -> int:
        """What these columns cost, on the grid."""
        return sum(self.price[columns].tolist())

    def size_of(self, index: IntArray, w: FloatArray) -> float:
        """What the rounding of y - X w in doubles is relative to."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return float(np.linalg.norm(self.y)) + float(np.abs(w) @ self.norms[index])

    def residual(self, index: IntArray, w: FloatArray, *, shorten: bool) -> tuple[Whole, int, Whole, int]:
        """alpha = y - X w with its unit; and W, for which this is exactly so, with its unit."""
        whole, unit = np.full(w.size, 0, dtype=object), 0
        some = np.flatnonzero((w != 0) & ~self.empty[index])
        if some.size == 0:
            return self.response, self.unit, whole, unit
        digits, values = self.digits.take(index[some]), w[some].tolist()
        unit = min(lowest_bit(value) + own for value, own in zip(values, digits.unit))
        if shorten:
            unit = max(unit, int(np.max(np.frexp(w[some])[1] + np.array(digits.unit))) - _COEFFICIENT)
        whole[some] = [scaled(value, own - unit) for value, own in zip(values, digits.unit)]
        common = min(unit, self.unit)
        fit = digits.transpose_times(whole[some])
        return (self.response << self.unit - common) - (fit << unit - common), common, whole, unit

    def objective(self, support: IntArray, coef: FloatArray) -> Fraction:
        """1/2 |y - X w|^2 + |w|^2 / (2 gamma) + the price of S."""
        alpha, unit, _, _ = self.residual(support, coef, shorten=False)
        squares = sum((Fraction(value) ** 2 for value in coef.tolist()), Fraction(0))
        least = dot(alpha, alpha) * Fraction(4) ** unit + self.ridge * squares
        return least / 2 + sum((Fraction(self.own[j]) for j in support.tolist()), Fraction(0))

    def dual_point(self, frame: Frame, index: IntArray, w: FloatArray) -> tuple[int, Whole]:
        """What D starts from, rounded down to the grid, and a_j over the frame's columns, rounded up to it."""
        alpha, unit, whole, w_unit = self.residual(index, w, shorten=True)
        diagonal = frame.diagonal
        if diagonal is None:
            alpha, unit = as_doubles(alpha, unit)
        products = frame.digits.times(alpha)
        base = _Sum([(dot(self.response, alpha), self.unit + unit), (-dot(alpha, alpha), 2 * unit - 1)])
        if diagonal is not None:
            at = np.searchsorted(frame.columns, index)
            own = diagonal[at] * whole
            base.add(dot(own, whole), 2 * w_unit - self.guard - 1)
            common = min(unit, w_unit - self.guard)
            products = products << unit - common
            products[at] += own << w_unit - self.guard - common
            unit = common
        if self.c.sign.size:
            # With w_j on the other side of zero only, the product takes nothing off.
            products[products * self.c.sign[frame.columns].astype(object) < 0] = 0
        a = products * products * frame.numerator
        by = 2 * unit + self.grid
        a = -((-a << by) // frame.denominator) if by >= 0 else -(-a // (frame.denominator << -by))
        lower, a = base.floor(self.grid), a - self.price[frame.columns]
        self.raise_unbounded(frame, products, lower, a)
        return lower, a

    def raise_unbounded(self, frame: Frame, products: Whole, lower: int, a: Whole) -> None:
        """Where a ridge is taken away a_j is infinite: here, so large that no sum with it leaves the claim."""
        infinite = [at for at, sign in frame.unbounded.items() if sign < 0 or products[at] != 0]
        if infinite:
            a[infinite] = max(lower - self.claim, 0) + sum(max(-value, 0) for value in a.tolist()) + 1

    def check_fingerprint(self, index: IntArray, w: FloatArray, fix: FixArray) -> None:
        """The data's fingerprint: X'alpha at the first record, over the columns that are not forced out."""
        alpha, unit, _, _ = self.residual(index, w, shorten=True)
        products = self.digits.times(alpha).tolist()
        beta = np.array([to_double(value, unit + own) for value, own in zip(products, self.digits.unit)])
        beta[fix < 0] = 0.0
        # The one that was stored was computed in doubles: alpha rounds relative to the terms of y - X w.
        size = self.size_of(index, w) * float(self.norms[fix >= 0].sum())
        require(
            abs(fingerprint(beta) - self.c.fingerprint) <= 1e-9 * float(np.abs(beta).sum()) + 1e-13 * size,
            "the data are not those the certificate was made for (the fingerprint differs)",
        )


class _Sum:
    """A sum of whole numbers times powers of two."""

    def __init__(self, terms: list[tuple[int, int]]) -> None:
        self.terms = terms

    def add(self, value: int, unit: int) -> None:
        self.terms.append((value, unit))

    def floor(self, grid: int) -> int:
        """The sum in units of 2^-grid, rounded down."""
        unit = min(unit for _, unit in self.terms)
        return int(shifted(sum(value << own - unit for value, own in self.terms), unit + grid))


def to_double(value: Fraction | int, unit: int = 0) -> float:
    """value * 2^unit, for messages and for the fingerprint."""
    try:
        return float(value * Fraction(2) ** unit)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
