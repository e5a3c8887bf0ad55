"""The objective of coefficients on kernels with twice the digits of a double: NumPy and nothing of the solver.

Where the ridge is weak, K u is a difference of large terms, and u'Ku, which is what is left of them, smaller still.
Every product is therefore a sum of two doubles, and the errors that are left are unit^2 of the terms' sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsifal.proof.certificate import FloatArray
from parsifal.proof.scaled import product_error, residual_parts, unit

# What underflow, in products and in entries that were scaled, can change: some 2^-1071 for each of at most 2^60 terms,
# times the coefficients.
_LOST = 2.0**-1000


@dataclass(frozen=True)
class Part:
    """A kernel of the sum: a factor, or a symmetric matrix of `values` and of `rest` where that is not None."""

    values: FloatArray
    rest: FloatArray | None
    factor: bool


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """y less the fits, off by at most `error`; for every kernel |w|^2 or w'Kw, and by how much it is off at most."""

    residual: FloatArray
    error: float
    squares: list[tuple[float, float]]


def mean_parts(K: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """The symmetric part of K as a sum of two matrices, exactly; None for the second where it is zero (Knuth's sum)."""
    high = K + K.T
    part = high - K
    low = (K - (high - part)) + (K.T - part)
    return 0.5 * high, 0.5 * low if np.any(low) else None


def fitted(y: FloatArray, parts: Sequence[Part], coef: Sequence[FloatArray]) -> Fitted:
    """The residual and the squares of these very coefficients.

    Proof: `residual_parts` is off by unit(k)^2 of the sizes of its k terms, and the sum of its two by a unit of itself.
    """
    columns, stacked = [np.zeros((y.size, 0))], [np.zeros(0)]
    for part, w in zip(parts, coef):
        columns += [part.values] if part.rest is None else [part.values, part.rest]
        stacked += [w] if part.rest is None else [w, w]
    block, all_coef = np.hstack(columns), np.concatenate(stacked)
    high, low = residual_parts(y, block, all_coef)
    residual = high + low
    lost = _LOST * (float(np.any(y)) + float(np.abs(all_coef).sum()))
    sizes = float(np.linalg.norm(y)) + float(np.abs(all_coef) @ np.linalg.norm(block, axis=0))
    error = unit(0) * float(np.linalg.norm(residual)) + 4 * unit(all_coef.size) ** 2 * sizes + lost
    return Fitted(residual=residual, error=error, squares=[_square(part, w) for part, w in zip(parts, coef)])


def _square(part: Part, w: FloatArray) -> tuple[float, float]:
    """|w|^2 or w'Kw, and how far it is off at most.

    Proof: Kw is known as f + g, off by unit(k)^2 |K| |w| in every entry. The products of w and f are sums of two
    doubles, which `math.fsum` adds without an error but the last; those of w and g are off by a rounding each.
    """
    length = float(np.abs(w).sum())
    lost = _LOST * length * (1.0 + length)
    if part.factor:
        value = float(w @ w)
        return value, unit(w.size) * value + lost
    block = part.values if part.rest is None else np.hstack([part.values, part.rest])
    twice = w if part.rest is None else np.concatenate([w, w])
    high, low = residual_parts(np.zeros(len(w)), block, -twice)
    products = w * high
    small = w * low
    exact = [*products.tolist(), *product_error(w, high, products).tolist(), *small.tolist()]
    value = math.fsum(exact) if np.isfinite(exact).all() else math.nan
    sizes = float(np.abs(w) @ (np.abs(block) @ np.abs(twice)))
    error = 4 * unit(twice.size) ** 2 * sizes + unit(w.size) * float(np.abs(small).sum()) + unit(0) * abs(value)
    return value, error + lost
