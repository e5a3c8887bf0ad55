"""What rounding can be worth, so that a reported bound holds in exact arithmetic.

With u = 2^-53 a sum of n products in double precision is off by at most n u / (1 - n u) times the sum of their sizes,
in whatever order it is taken (docs/numerics.md has the whole argument). So ``x_j'alpha`` is off by at most
``sum_unit(n) |x_j| |alpha|``, and a dual value is safe once every |beta_j| is lengthened by its error and the error of
the other terms is taken off. `Rounding` does the same for a problem in inner products.

The search keeps the same books on its own subproblems, compiled. tests/bound/test_twins.py holds the two together:

======================================  ============================================================
here                                    compiled
======================================  ============================================================
`sum_unit`, `Rounding.unit`             ``Rounding::unit_for`` (cpp/bound/rounding.hpp)
`WorkingSet.rounding` at v = 0          ``Rounding::at_response``
`Rounding.moved`                        ``Rounding::moved``
`Rounding.tightened`                    ``Rounding::tightened``
`tightening.tighten`, `Reduced.shrink`  ``make_frame`` (cpp/search/frame.cpp)
`dual.safe_dual_value`                  ``Relaxation::safe_bound`` (cpp/bound/relaxation.cpp)
`dual.dual_terms`, `dual.threshold`     ``choose``: the sum and the last term in it (cpp/bound/dual.cpp)
======================================  ============================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FloatArray

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
    def compiled(self) -> _core.Rounding:
        """As the compiled verbs take it."""
        return _core.Rounding(
            norm=self.norm, unit=self.unit, error=self.error, base=self.base, drift=self.drift, reach=self.reach
        )

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


def safe_sum(bound: float | FloatArray, price: float | FloatArray) -> FloatArray:
    """A bound and a price, which is a rounded product or difference, so that the result is not above the exact sum."""
    return np.asarray(bound + price - 4 * UNIT_ROUNDOFF * (np.abs(bound) + np.abs(price)))
