"""What is asked of single columns, where they are not all alike: prices, signs, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import parsifal._core as _core
from parsifal.arguments import check_number
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.constraints import NO_ROWS, SideRows
from parsifal.design import Design
from parsifal.errors import InputError, suggestion

SignArray = npt.NDArray[np.int8]


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnRules:
    """Prices, signs and side constraints of some columns.

    Attributes
    ----------
    price : array of shape (m,)
        What each column costs, >= 0.
    sign : int8 array of shape (m,)
        1 where a coefficient must be >= 0, -1 where it must be <= 0, 0 where it may be either.
    rows : SideRows
        Which supports are allowed.
    cap, most : int arrays
        Which of the rows that cap groups without a common column names each column, -1: none, and how many it allows;
        of all rows, where these are on some columns alone.
    """

    price: FloatArray
    sign: SignArray
    rows: SideRows = NO_ROWS
    cap: IntArray | None = None
    most: IntArray | None = None

    @cached_property
    def _caps(self) -> tuple[IntArray, IntArray]:
        return self.rows.caps(self.price.size) if self.cap is None or self.most is None else (self.cap, self.most)

    @cached_property
    def compiled(self) -> _core.ColumnRules:
        """As the compiled verbs take it."""
        rows, (cap, most) = self.rows, self._caps
        return _core.ColumnRules(
            price=self.price,
            sign=self.sign,
            row_offset=rows.offset,
            row_column=rows.column,
            row_coef=rows.coef,
            row_upper=rows.upper,
            cap=cap.tolist() if most.size else [],
            most=most.tolist(),
        )

    @property
    def signed(self) -> bool:
        """Whether any coefficient has a sign."""
        return bool(np.any(self.sign))

    @property
    def uniform(self) -> bool:
        """Whether all columns cost the same."""
        return self.price.size == 0 or bool(np.all(self.price == self.price[0]))

    def take(self, index: IntArray) -> ColumnRules:
        """On these columns alone, all others being out."""
        rows, (cap, most) = self.rows.take(index, self.price.size), self._caps
        return ColumnRules(price=self.price[index], sign=self.sign[index], rows=rows, cap=cap[index], most=most)

    def with_rows(self, rows: SideRows) -> ColumnRules:
        """The same prices and signs with other side constraints."""
        return replace(self, rows=rows, cap=None, most=None)

    def propagate(self, fix: FixArray) -> tuple[FixArray, bool]:
        """The fixes with what the side constraints imply, and whether they allow anything that agrees with them."""
        if self.rows.count == 0:
            return fix, True
        implied, possible = self.compiled.propagate(fix)
        return np.asarray(implied, dtype=np.int8), bool(possible)

    def reach(self, beta: FloatArray) -> FloatArray:
        """How far each beta_j reaches on the side that its sign allows; |beta_j| without one."""
        return np.where(self.sign == 0, np.abs(beta), np.maximum(0.0, self.sign * beta))

    def lengthened(self, beta: FloatArray, error: FloatArray | float) -> FloatArray:
        """beta away from zero by its errors; with a sign, to that side."""
        return beta + np.where(self.sign == 0, np.copysign(1.0, beta), self.sign) * error

    def sizes(self, beta: FloatArray, gamma: float) -> FloatArray:
        """The |beta_j| that columns without price and sign would have for the same terms."""
        return np.asarray(np.sqrt(np.maximum(0.0, self.reach(beta) ** 2 - 2 * self.price / gamma)))


def check_prices(design: Design, penalty: Any) -> FloatArray | None:
    """One price a column from an array, or a mapping from names or indices; None if it is neither."""
    p = design.shape[1]
    if isinstance(penalty, Mapping):
        price = np.zeros(p)
        for column, value in penalty.items():
            j = _position(design, column, "penalty")
            price[j] = check_number(value, f"the penalty of {column!r}", minimum=0.0)
        return price
    array = _vector(penalty, p, "penalty")
    if array is None:
        return None
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise InputError(f"penalty of column {bad[0]} is {float(array[bad[0]])!r}; prices are finite numbers >= 0")
    return array


def check_signs(design: Design, sign: Any) -> SignArray:
    """One of -1, 0, 1 a column, from one for all, an array, or a mapping from names or indices."""
    p = design.shape[1]
    if sign is None:
        return np.zeros(p, dtype=np.int8)
    if isinstance(sign, Mapping):
        signs = np.zeros(p, dtype=np.int8)
        for column, value in sign.items():
            signs[_position(design, column, "sign")] = _one_sign(value, f"the sign of {column!r}")
        return signs
    array = _vector(sign, p, "sign")
    if array is None:
        return np.full(p, _one_sign(sign, "sign"), dtype=np.int8)
    bad = np.flatnonzero(~np.isin(array, (-1, 0, 1)))
    if bad.size:
        raise InputError(f"sign of column {bad[0]} is {array[bad[0]]:g}; it must be 1 (>= 0), -1 (<= 0) or 0 (either)")
    return array.astype(np.int8)


def _one_sign(value: Any, name: str) -> int:
    whole = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not whole or value not in (-1, 0, 1):
        raise InputError(f"{name} must be 1 (coefficients >= 0), -1 (<= 0) or 0 (either), not {value!r}")
    return int(value)


def _vector(value: Any, p: int, name: str) -> FloatArray | None:
    """A vector of p numbers; None if it is a single value."""
    if isinstance(value, (str, bytes)) or np.ndim(value) == 0:
        return None
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold one number a column") from None
    if array.shape != (p,):
        raise InputError(f"{name} has shape {array.shape}, but X has {p} columns; give one entry a column")
    return array


def _position(design: Design, column: Any, name: str) -> int:
    names, p = design.feature_names, design.shape[1]
    if isinstance(column, str):
        if names is None:
            raise InputError(f"{name} names columns, but X has no column names; give indices")
        if column not in names:
            raise InputError(f"{name} names {column!r}, which is not a column of X{suggestion(column, names)}")
        return names.index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < p:
        return int(column)
    raise InputError(f"{name} names column {column!r}, but X has columns 0 to {p - 1}")
