"""The dual value: any alpha is a lower bound on every support.

With beta = X'alpha over every column, a_j = gamma/2 beta_j^2 - penalty (`dual_terms`; with prices and signs of their
own, gamma/2 max(0, sign_j beta_j)^2 - price_j, `ColumnRules`), and the columns that are in, out and free,

    D(alpha) = y'alpha - 1/2 |alpha|^2 - sum_{in} a_j - (sum of the k - |in| largest positive a_j of the free ones).

Every bound that is reported is such a value, with what rounding can be worth taken off (`safe_dual_value`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import overload

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.rounding import sum_unit
from parsifal.problem.column_rules import ColumnRules
from parsifal.problem.problem import Problem


@overload
def dual_terms(square: float, gamma: float, penalty: float = 0.0) -> float: ...
@overload
def dual_terms(square: FloatArray, gamma: float, penalty: float | FloatArray = 0.0) -> FloatArray: ...
def dual_terms(square: float | FloatArray, gamma: float, penalty: float | FloatArray = 0.0) -> float | FloatArray:
    """a_j = gamma/2 beta_j^2 - penalty, from beta_j^2 (alpha'K_j alpha for a kernel)."""
    return 0.5 * gamma * square - penalty


def threshold(
    beta: FloatArray, fix: FixArray, *, gamma: float, penalty: float, k: int, rules: ColumnRules | None = None
) -> float:
    """tau: the smallest |beta_j| (with rules, `ColumnRules.sizes`) that the dual's best completion takes."""
    floor = float(np.sqrt(2 * penalty / gamma)) if rules is None else 0.0
    free = np.abs(beta[fix == 0]) if rules is None else rules.sizes(beta, gamma)[fix == 0]
    room = k - int(np.count_nonzero(fix == 1))
    if room <= 0:
        return np.inf
    if free.size <= room:
        return floor
    return max(floor, float(-np.partition(-free, room - 1)[room - 1]))


def price_below(penalty: float, count: int) -> float:
    """penalty times count, rounded down where it rounds: the bound of alpha = 0 with so many columns in."""
    price = penalty * count
    if price == 0:
        return 0.0
    return price if Fraction(price) <= count * Fraction(penalty) else math.nextafter(price, 0.0)


def sum_below(prices: FloatArray) -> float:
    """The sum of prices, not above its exact value."""
    total = math.fsum(prices.tolist())
    exact = sum((Fraction(price) for price in prices.tolist()), Fraction(0))
    return total if Fraction(total) <= exact else math.nextafter(total, 0.0)


def safe_dual_value(
    y: FloatArray,
    alpha: FloatArray,
    beta: FloatArray,
    error: FloatArray | float,
    fix: FixArray,
    *,
    gamma: float,
    penalty: float,
    k: int,
    rules: ColumnRules | None = None,
) -> tuple[float, FloatArray]:
    """D(alpha), less all that rounding can be worth: a lower bound on every support that respects the fixes.

    `error` bounds the rounding error of every entry of `beta`. Returns the bound, and beta lengthened by its errors:
    what safe fixing has to be done with.
    """
    padded = lengthened(beta, error, rules)
    compiled = None if rules is None else rules.compiled
    taken = float(_core.choose(padded, fix, gamma=gamma, penalty=penalty, k=k, rules=compiled)[0])
    if rules is not None:
        penalty = float(rules.price.max(initial=0.0))
    terms, inside = min(k, beta.size), int(np.count_nonzero(fix == 1))
    # a_j rounds relative to the penalty only where it is chosen, and hence about as large as the penalty, or in.
    largest = dual_terms(float(np.max(padded**2, initial=0.0)), gamma)
    priced = inside * penalty + terms * min(penalty, largest)
    first, second = float(y @ alpha), 0.5 * float(alpha @ alpha)
    blur = _blur(y, alpha, second) + sum_unit(terms) * (abs(first) + second + abs(taken) + 2 * priced)
    return first - second - taken - blur, padded


def safe_dual_values(
    y: FloatArray,
    alpha: FloatArray,
    beta: FloatArray,
    error: FloatArray | float,
    fix: FixArray,
    *,
    gamma: float,
    most: int,
) -> FloatArray:
    """`safe_dual_value` without a penalty, for every k from the number of columns in up to `most`, from one sort.

    At least `most` columns are not out.
    """
    terms = dual_terms(lengthened(beta, error) ** 2, gamma)
    room = most - int(np.count_nonzero(fix == 1))
    largest = np.sort(terms[fix == 0])[::-1][:room]
    taken = float(terms[fix == 1].sum()) + np.concatenate([[0.0], np.cumsum(largest)])
    first, second = float(y @ alpha), 0.5 * float(alpha @ alpha)
    blur = _blur(y, alpha, second) + sum_unit(most) * (abs(first) + second + taken)
    return np.asarray(first - second - taken - blur)


def lengthened(beta: FloatArray, error: FloatArray | float, rules: ColumnRules | None = None) -> FloatArray:
    """beta away from zero by its errors, or to the side of its sign: no |beta_j| is larger in exact arithmetic."""
    return beta + np.copysign(error, beta) if rules is None else rules.lengthened(beta, error)


def _blur(y: FloatArray, alpha: FloatArray, half_square: float) -> float:
    """What rounding can be worth in the computed y'alpha - 1/2 |alpha|^2."""
    return sum_unit(y.size) * (float(np.linalg.norm(y)) * float(np.linalg.norm(alpha)) + half_square)


@dataclass(frozen=True, kw_only=True, eq=False)
class DualPoint:
    """A dual vector alpha = y - X w, and the bound that it is for a problem.

    The vector itself is no one's: for another k, gamma, penalty or other fixes, `priced` gives its bound there.

    Attributes
    ----------
    index, coef : arrays
        w: ``coef`` on the columns ``index``, zero elsewhere.
    beta : array
        X'alpha over the columns in question, as computed.
    error : array or float
        By how much rounding has changed each beta_j, at most; 0 where it has been lengthened already.
    bound : float
        D(alpha) for the problem that it was priced for, less what rounding can be worth.
    alpha : array of shape (n,) or None
        None where the point lives in inner products only and no other problem can use it.
    """

    index: IntArray
    coef: FloatArray
    beta: FloatArray
    error: FloatArray | float = 0.0
    bound: float = -math.inf
    alpha: FloatArray | None = None

    def safe_beta(self, rules: ColumnRules | None = None) -> FloatArray:
        """beta lengthened by its errors: what safe fixing has to be done with."""
        return lengthened(self.beta, self.error, rules)

    def priced(self, problem: Problem, fix: FixArray) -> DualPoint:
        """The same point with its bound for this problem, whatever problem it came from."""
        p = problem
        bound, _ = safe_dual_value(
            p.y, self.vector, self.beta, self.error, fix, gamma=p.gamma, penalty=p.penalty, k=p.k, rules=p.rules
        )
        return replace(self, bound=bound)

    def bounds(self, problem: Problem, most: int) -> FloatArray:
        """Its dual values without the penalty, for every k from the number of columns forced in up to `most`."""
        p = problem
        return safe_dual_values(p.y, self.vector, self.beta, self.error, p.fix, gamma=p.gamma, most=most)

    @property
    def sparse(self) -> DualPoint:
        """The same point without the zeros of w."""
        active = np.flatnonzero(self.coef)
        return replace(self, index=self.index[active], coef=self.coef[active])

    @property
    def vector(self) -> FloatArray:
        """alpha, of a point that has it."""
        if self.alpha is None:
            raise ValueError("a point in inner products has a bound for its own problem only")
        return self.alpha
