"""The problem of a certificate in units in which nothing over- or underflows, and what rounding can be worth there.

With y' = 2^a y and x_j' = 2^(b_j) x_j, the coefficients are w_j' = 2^(a - b_j) w_j, the objective is 2^(2a) times as
large, the ridge 1/gamma becomes ridge_j' = 2^(2 b_j) / gamma, a column of its own each, and a diagonal d_j becomes
2^(2 b_j) d_j. The largest entry of every column is in [1, 2), and that of y' too unless prices make the objective so
large that it would not fit: then y' is smaller. Where a ridge or a price does not fit into a double it is made smaller:
that lowers the objective of every support, so a bound stays a bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from parsifal.proof.certificate import BoolArray, Certificate, FloatArray, IntArray, fingerprint
from parsifal.proof.columns import Columns
from parsifal.proof.preconditions import require

_ROUNDOFF = 2.0**-53
_OBJECTIVE = 1e-12
# What underflow and the scaling of tiny entries can change in a sum of products of scaled numbers: at most 2^40 times
# 2^400 times 2^-1074, and far less than the relative error wherever the numbers are larger than that.
UNDERFLOW = 2.0**-600
_TINY, _HUGE = 2.0**-900, 2.0**600
_CANCEL = 10.0
_HIGHEST_PRICE = 2.0**1000
_LARGEST_EXPONENT = 890
_LARGEST = 2.0**900
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


def unit(terms: int) -> float:
    """The relative error of a sum of so many products in any order, of entries off by a few roundings themselves."""
    return 1.01 * (terms + 8) * _ROUNDOFF


def objective_tolerance(value: float, terms: int) -> float:
    """How far an objective may be from that of its coefficients: a relative 1e-12, and the rounding of a sum."""
    return (_OBJECTIVE + 4 * unit(terms)) * value


def inner(a: FloatArray, b: FloatArray) -> float:
    """a'b without a BLAS, whose threads take longer to wake than the product of two vectors does."""
    return float(np.einsum("i,i", a, b))


def length(v: FloatArray) -> float:
    """|v|."""
    return math.sqrt(inner(v, v))


def below(value: float) -> float:
    """The next double: what a correctly rounded sum cannot be above of its exact value."""
    return math.nextafter(value, -math.inf)


def scaling_power(y: FloatArray, objective: float) -> int:
    """The power a of two that brings the largest entry of y into [1, 2), lowered where the objective would not fit; if
    y is zero, the objective near one."""
    largest, claimed = float(np.abs(y).max(initial=0.0)), math.frexp(objective)[1] if math.isfinite(objective) else 0
    if largest == 0:
        return -claimed // 2
    return min(1 - math.frexp(largest)[1], (_LARGEST_EXPONENT - claimed) // 2)


class Scaled:
    """The data and the claim of a (plain) certificate in scaled units.

    Attributes
    ----------
    X : Columns
        The columns, each scaled to the size of one.
    y : array
        The response, scaled to the size of one, or less.
    ridge : array of shape (p,)
        1/gamma in the units of each column, or less.
    price : array of shape (p,)
        The price of each column, or less.
    sign : int array of shape (p,)
        The sign that its coefficient must have, 0: either.
    """

    def __init__(self, c: Certificate, X: Columns, y: FloatArray) -> None:
        require(X.shape == c.shape, f"X has shape {X.shape}, the certificate is for {c.shape}")
        require(y.shape == (c.shape[0],), f"y has shape {y.shape}, the certificate is for {c.shape[0]} rows")
        require(np.isfinite(y).all(), "y holds a non-finite number")
        self.X, self.n = X, c.shape[0]
        self._power = scaling_power(y, c.objective)
        self.y: FloatArray = np.ldexp(y, self._power)
        self.size = length(self.y)
        # 1/gamma itself may be beyond double precision where gamma is subnormal.
        fraction, power = math.frexp(c.gamma)
        ridge = np.ldexp((1.0 - 2.0**-51) / fraction, 2 * X.exponent - power)
        self.ridge: FloatArray = np.where(ridge < _TINY, 0.0, np.minimum(ridge, _HUGE))
        with np.errstate(over="ignore"):
            price = np.ldexp(_prices(c), 2 * self._power)
        self.price: FloatArray = np.where(price < _TINY, 0.0, np.minimum(price, _HIGHEST_PRICE))
        self.sign: IntArray = c.sign if c.sign.size else np.zeros(c.shape[1], dtype=np.int64)

    def value(self, number: float) -> float:
        """An objective or a bound in scaled units, not less than it is."""
        scaled = ldexp(number, 2 * self._power)
        if number > 0:
            return max(scaled, _TINY)
        return 0.0 if scaled > -_TINY else max(scaled, -_LARGEST)

    def in_units(self, number: float) -> float:
        """A bound in the units of the data, not more than it is."""
        unscaled = min(ldexp(number, -2 * self._power), _LARGEST_FLOAT)
        return unscaled if abs(unscaled) >= _TINY or number == 0 else below(unscaled)

    def coefficients(self, index: IntArray, w: FloatArray) -> FloatArray:
        """Coefficients in scaled units."""
        return np.asarray(np.ldexp(w, self._power - self.X.exponent[index]))

    def diagonal(self, index: IntArray, d: FloatArray) -> FloatArray:
        """A diagonal in scaled units, an entry that is nothing there as zero."""
        scaled = np.ldexp(d, 2 * self.X.exponent[index])
        return np.where(np.abs(scaled) < _TINY, 0.0, scaled)

    def products(self, beta: FloatArray) -> FloatArray:
        """Products X'alpha in the units of the data."""
        return np.asarray(np.ldexp(beta, -self._power - self.X.exponent))

    def check_fingerprint(self, claimed: float, beta: FloatArray, reach: float, allowed: BoolArray) -> None:
        """The data's fingerprint: X'alpha at the first record, over the columns that are not forced out.

        Ties the certificate to its data; no bound rests on it. `reach`: the sizes of the terms that alpha is the sum
        of, which a good fit leaves far above alpha itself.
        """
        products = np.where(allowed, self.products(beta), 0.0)
        size = reach * float(self.products(self.X.norms)[allowed].sum())
        near = abs(fingerprint(products) - claimed) <= 1e-9 * float(np.abs(products).sum()) + 1e-13 * size
        require(
            np.isfinite(size) and near,
            "the data are not those the certificate was made for (the fingerprint differs)",
        )

    def price_of(self, columns: IntArray) -> float:
        """The largest double that is not above what these columns cost."""
        prices = self.price[columns].tolist()
        price = math.fsum(prices)
        return below(price) if Fraction(price) > sum(map(Fraction, prices)) else price

    def objective(self, index: IntArray, w: FloatArray, c: Certificate) -> tuple[float, float]:
        """1/2 |y - Xw|^2 + |w|^2 / (2 gamma) + the price of S, and how far it is off at most (inf: all underflows).

        S is the whole `index`, also where w is zero. Here the ridge and the price are those that were given. The
        residual has twice the digits, so that large terms may cancel in it: it is off by a rounding of itself, and of
        the terms by unit(k)^2. Where they cancel so far that this is too much, its terms are added up exactly.
        """
        columns, scaled = self.X.take(index), self.coefficients(index, w)
        residual = precise_residual(self.y, columns, scaled)
        size = self.size + float(np.abs(scaled) @ np.linalg.norm(columns, axis=0))
        lost = 4 * unit(index.size) ** 2 * size
        if lost > _OBJECTIVE / 4 * length(residual) and size < _LARGEST:
            residual, lost = rounded_residual(self.y, columns, scaled), UNDERFLOW
        square = inner(residual, residual)
        rest = math.sqrt(square)
        fraction, power = math.frexp(c.gamma)
        even = power - power % 2
        root = np.ldexp(w, self._power - even // 2) / math.sqrt(fraction * 2 ** (power - even))
        try:
            price = ldexp(math.fsum(_prices(c)[index].tolist()), 2 * self._power) if index.size else 0.0
        except OverflowError:
            return math.inf, math.inf
        value = 0.5 * square + 0.5 * float(root @ root) + price
        if value < _TINY and (np.any(self.y) or np.any(w)):
            return value, math.inf
        off = unit(0) * rest + lost
        return value, unit(self.n + index.size) * value + off * (rest + off)

    def plain_base(self, alpha: FloatArray) -> float:
        """A lower bound on y'alpha - 1/2 |alpha|^2, right for any vector alpha however it was rounded.

        Proof: the computed products are off by at most unit(n) |y| |alpha| and unit(n) 1/2 |alpha|^2.
        """
        first, square = inner(self.y, alpha), inner(alpha, alpha)
        charge = unit(self.n) * (self.size * math.sqrt(square) + square) + UNDERFLOW
        return total(first, -0.5 * square, -charge)

    def terms(self, beta: FloatArray, error: FloatArray, columns: IntArray, d: FloatArray | None) -> FloatArray:
        """Upper bounds on a_j = beta_j^2 / (2 (ridge_j + d_j)) - price_j, for beta known up to its errors.

        With a sign, max(0, sign_j beta_j)^2 in place of beta_j^2: over the w_j of that sign, and no others, beta_j w_j
        less (ridge_j + d_j) / 2 w_j^2 is at most so much.

        Where ridge_j + d_j is not positive, nothing bounds what the column takes off, and a_j is infinite.
        """
        curvature = self.ridge[columns] if d is None else self.ridge[columns] + d
        with np.errstate(divide="ignore"):
            sign = self.sign[columns]
            reach = np.where(sign == 0, np.abs(beta) + error, np.maximum(sign * beta + error, 0.0))
            half = reach / np.sqrt(2.0 * np.maximum(curvature, 0.0))
        a = np.nextafter(half * half * (1.0 + 32 * _ROUNDOFF) + _TINY - self.price[columns], np.inf)
        return np.where(np.isnan(a), np.inf, a)


def _prices(c: Certificate) -> FloatArray:
    """What every column costs, as the certificate says it."""
    return c.price if c.price.size else np.full(c.shape[1], c.penalty)


def cancel(y: FloatArray, w: FloatArray, norms: FloatArray) -> bool:
    """Whether the terms of y - X w are so far above y that those of another order, rounded otherwise, differ by what a
    weak ridge makes much of."""
    return bool(float(np.abs(w) @ norms) > _CANCEL * length(y))


def precise_residual(y: FloatArray, columns: FloatArray, w: FloatArray) -> FloatArray:
    """y - columns @ w with twice the digits of a double, rounded once at the end (Ogita, Rump and Oishi's Dot2)."""
    high, low = residual_parts(y, columns, w)
    return high + low


def residual_parts(y: FloatArray, columns: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """y - columns @ w as a sum of two vectors, off by at most unit(k)^2 of the sizes of its k terms."""
    high, low = y.copy(), np.zeros_like(y)
    for x, factor in zip(columns.T, -w):
        product = x * factor
        lost = product_error(x, factor, product)
        moved = high + product
        part = moved - high
        low += ((high - (moved - part)) + (product - part)) + lost
        high = moved
    return high, low


def rounded_residual(y: FloatArray, columns: FloatArray, w: FloatArray) -> FloatArray:
    """y - columns @ w, every entry correctly rounded where no product underflows: slow, row by row."""
    products = columns * -w
    terms = np.column_stack([y, products, product_error(columns, -w, products)])
    return np.array([math.fsum(row) for row in terms.tolist()])


def product_error(a: Any, b: Any, product: Any) -> Any:
    """a b less the computed product, exactly where nothing underflows (Dekker)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(x: Any) -> tuple[Any, Any]:
    """The upper 26 bits of every number, and the rest (Veltkamp's splitting)."""
    big = (2.0**27 + 1.0) * x
    upper = big - (big - x)
    return upper, x - upper


def total(*parts: Any) -> float:
    """The sum of numbers, correctly rounded and then lowered by a digit: not above the exact sum.

    -inf where a part is no number, or so large that a partial sum might not be one.
    """
    numbers = [float(part) for part in parts]
    usable = all(abs(number) < _LARGEST for number in numbers)
    return below(math.fsum(numbers)) if usable else -math.inf


def ldexp(value: float, power: int) -> float:
    """value 2^power, infinite where that is beyond all doubles."""
    try:
        return math.ldexp(value, power)
    except OverflowError:
        return math.copysign(math.inf, value)
