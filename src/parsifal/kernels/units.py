"""Units: powers of two that bring y and the kernels to the size of one, so that no square under- or overflows.

With y = 2^r y' and Z_j = 2^f Z_j' (K_j = 4^f K_j'), gamma' = 4^f gamma and penalty' = penalty / 4^r, objectives are 4^r
times those of the problem in y' and Z', exactly: powers of two do not round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError

FloatArray = npt.NDArray[np.float64]

# Smaller than this, kernels do nothing that double precision could see, and more of the ridge does not either.
_LEAST_GAMMA = 1e-300
_MOST_GAMMA = 1e150  # whose square is a number
_MOST = 1e300
_NORMAL = 1022  # 2 to the power of plus or minus this is a normal number


@dataclass(frozen=True, kw_only=True)
class Given:
    """A kernel as it was given and checked: a factor or a matrix, its name, the rounding error of its entries."""

    values: FloatArray
    factor: bool
    name: str
    eps: float = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, kw_only=True)
class Units:
    """The exponents r of the response and f of the factors."""

    response: int = 0
    factor: int = 0

    @classmethod
    def of(cls, kernels: Iterable[Given], y: FloatArray) -> Units:
        """Those in which the largest entries, of y and of all kernels, are about one."""
        factors = [_exponent(K.values) for K in kernels if K.factor]
        matrices = [_exponent(K.values) for K in kernels if not K.factor]
        exponents = [*factors, *(None if e is None else -(-e // 2) for e in matrices)]
        return cls(response=_exponent(y) or 0, factor=max((e for e in exponents if e is not None), default=0))

    def scaled(self, kernels: Sequence[Given]) -> list[Given]:
        """The kernels in these units."""
        return [
            Given(
                values=scaled_by(K.values, -self.factor if K.factor else -2 * self.factor),
                factor=K.factor,
                name=K.name,
                eps=K.eps,
            )
            for K in kernels
        ]

    def gamma(self, gamma: float) -> float:
        """A ridge weight in these units."""
        with np.errstate(over="ignore"):
            out = float(np.ldexp(gamma, 2 * self.factor))
        if not out <= _MOST_GAMMA:
            raise InputError(
                f"gamma = {gamma:g} times the squares of the kernels' entries is beyond double precision; "
                "use a smaller gamma or rescale the kernels"
            )
        return max(out, _LEAST_GAMMA)

    def penalty(self, penalty: float) -> float:
        """A price in these units."""
        with np.errstate(over="ignore"):
            out = float(np.ldexp(penalty, -2 * self.response))
        if not out <= _MOST:
            raise InputError(f"penalty = {penalty:g} is beyond 1e300 times y'y; use a smaller one or rescale y")
        return out

    def gamma_as_given(self, gamma: float) -> float:
        """A ridge weight that was found in these units."""
        with np.errstate(over="ignore"):
            out = float(np.ldexp(gamma, -2 * self.factor))
        if not 1 / _MOST <= out <= _MOST:
            raise InputError("the kernels' entries are too small or too large to square; rescale them, or give gamma")
        return out

    def objective(self, value: float) -> float:
        """An objective as it is reported."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(value, 2 * self.response))

    def bound(self, value: float) -> float:
        """A lower bound as it is reported: rounded down where it is too small to be exact."""
        out = self.objective(value)
        if math.isfinite(out) and float(np.ldexp(out, -2 * self.response)) > value:
            return math.nextafter(out, -math.inf)
        return out

    def residual(self, alpha: FloatArray) -> FloatArray:
        """A residual as it is reported."""
        return np.asarray(np.ldexp(alpha, self.response))

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Coefficients as they are reported."""
        with np.errstate(over="ignore"):
            out = np.ldexp(w, self.response - self.factor)
        if not np.isfinite(out).all():
            raise InputError("coefficients are too large for double precision; rescale X or y")
        return np.asarray(out)


def scaled_by(values: FloatArray, exponent: int) -> FloatArray:
    """2^exponent times a matrix, as `ldexp` has it: by the faster product where 2^exponent is a normal number."""
    if exponent == 0:
        return values
    if abs(exponent) <= _NORMAL:
        return np.asarray(values * math.ldexp(1.0, exponent))
    return np.asarray(np.ldexp(values, exponent))


def _exponent(values: Any) -> int | None:
    """e with 2^e <= the largest entry < 2^(e+1); None if all are zero."""
    # Without a copy of the matrix for its signs.
    size = max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))
    return None if size == 0.0 else math.frexp(size)[1] - 1
