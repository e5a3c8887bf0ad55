"""What rounding can be worth, so that a bound that is told holds in exact arithmetic.

With u = 2^-53 a sum of n products in double precision is off by at most n u / (1 - n u) times the sum of their sizes,
in whatever order it is taken (docs/numerics.md has the whole argument). So ``x_j'alpha`` is off by at most
``sum_unit(n) |x_j| |alpha|``, and a dual value is safe once every |beta_j| is lengthened by its error and the error of
the other terms is taken off. `Rounding` does the same for a problem in inner products (cpp/rounding.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import parsifal._core as _core
from parsifal.problem import FixArray, FloatArray

UNIT_ROUNDOFF = 2.0**-53


def sum_unit(terms: int) -> float:
    """The relative error of a sum of so many products, of entries that are themselves off by a few roundings."""
    return 1.01 * (terms + 8) * UNIT_ROUNDOFF


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """The errors of a `Quadratic`; with T = reach + sum |v_j - v0_j| norm_j and unit' = unit + sum_unit(m), at any v

    - beta_j is off by at most ``norm_j (error + unit' T)``,
    - ``LS(v) + v'beta`` by ``base + drift T + 2 (error + unit' T) (T + sum |v_j| norm_j)``.

    Attributes
    ----------
    norm : array of shape (m,)
        The columns' norms.
    unit : float
        Of a sum over the rows.
    error : float
        Of beta0, relative to `norm`.
    base : float
        Of LS(v0).
    drift : float
        Bounds ``|alpha0 - (y - X v0)|`` for the residual alpha0 that the reference point was computed with.
    reach : float
        ``|alpha0|``, and the way that the reference point has moved since.
    """

    norm: FloatArray
    unit: float
    error: float
    base: float
    drift: float
    reach: float

    @property
    def arguments(self) -> tuple[FloatArray, tuple[float, float, float, float, float]]:
        """As the compiled verbs take it."""
        return self.norm, (self.unit, self.error, self.base, self.drift, self.reach)

    def moved(self, change: FloatArray) -> Rounding:
        """The reference point moved by `change`."""
        reach = self.reach + float(np.abs(change) @ self.norm)
        error = self.error + (self.unit + sum_unit(int(np.count_nonzero(change)))) * reach
        return replace(self, reach=reach, error=error, base=self.base + 2 * error * reach)

    def tightened(self, scale: FloatArray, w: FloatArray) -> Rounding:
        """For the tightened problem around w: there alpha must be y - X w, so the drift is an error of everything."""
        size = float(np.abs(w) @ self.norm)
        return Rounding(
            norm=self.norm * scale,
            unit=self.unit,
            error=self.error + self.drift + 8 * UNIT_ROUNDOFF * size,
            base=self.base + self.drift * (self.reach + self.drift) + (self.unit + sum_unit(w.size)) * size**2,
            drift=0.0,
            reach=self.reach + size,
        )


def safe_dual_value(
    y: FloatArray,
    alpha: FloatArray,
    beta: FloatArray,
    error: FloatArray,
    fix: FixArray,
    *,
    gamma: float,
    penalty: float,
    k: int,
) -> tuple[float, FloatArray]:
    """The dual value D(alpha), less all that rounding can be worth.

    With beta = X'alpha over every column and a_j = gamma/2 beta_j^2 - penalty,

        D = y'alpha - 1/2 |alpha|^2 - sum_{in} a_j - (sum of the k - |in| largest positive a_j among the free columns)

    is a lower bound on every support that respects the fixes, for any alpha. `error` bounds the rounding error of every
    entry of `beta`. Returns the bound, and beta lengthened by its errors: what safe fixing has to be done with.
    """
    padded = beta + np.copysign(error, beta)
    taken = float(_core.choose(padded, fix, gamma, penalty, k)[0])
    first, second = float(y @ alpha), 0.5 * float(alpha @ alpha)
    sizes = float(np.linalg.norm(y)) * float(np.linalg.norm(alpha)) + second
    terms, inside = min(k, beta.size), int(np.count_nonzero(fix == 1))
    # a_j rounds relative to the penalty only where it is chosen, and hence about as large as the penalty, or in.
    largest = 0.5 * gamma * float(np.max(padded**2, initial=0.0))
    priced = inside * penalty + terms * min(penalty, largest)
    blur = sum_unit(y.size) * sizes + sum_unit(terms) * (abs(first) + second + abs(taken) + 2 * priced)
    return first - second - taken - blur, padded
