"""Arguments that many calls share: what is taken, and the error that says what would do."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from parsifal.arrays import FloatArray, IntArray, aligned
from parsifal.errors import InputError, NonFiniteError

Gamma = float | Literal["auto"]

# Sums of squares below this have lost digits, or all of them.
SMALLEST_SQUARE = 1e-280


def refuse_lazy(value: Any, name: str) -> None:
    """Refuse a polars LazyFrame, which has no rows yet."""
    kind = type(value)
    if kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars":
        raise InputError(f"{name} is a polars LazyFrame; pass {name}.collect()")


def sum_of_squares(v: FloatArray) -> float:
    """v'v without a BLAS, whose threads would spin on: for what is computed before they are held back."""
    with np.errstate(all="ignore"):
        return float(np.einsum("i,i", v, v))


def check_response(y: Any, n: int) -> FloatArray:
    """Return y as a float64 vector of length n, or say what is wrong with it."""
    refuse_lazy(y, "y")
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        raise InputError(f"y has shape {array.shape}; a vector is needed: pass y.ravel()")
    if array.ndim != 1:
        raise InputError(f"y has shape {array.shape}; a vector of length {n} is needed")
    if array.shape[0] != n:
        raise InputError(f"y has {array.shape[0]} entries but X has {n} rows")
    if array.dtype.kind == "c":
        raise InputError(f"y has dtype {array.dtype}; pass real numbers, e.g. y.real")
    if array.dtype.kind not in "fiub":
        raise InputError(f"y has dtype {array.dtype}; numbers are needed (try y.astype(float))")
    response = aligned(array, np.float64)
    square = sum_of_squares(response)
    if not math.isfinite(square):
        bad = np.flatnonzero(~np.isfinite(response))
        if bad.size:
            raise NonFiniteError(f"y[{bad[0]}] is {response[bad[0]]}; drop the row or impute the value")
        row = int(np.argmax(np.abs(response)))
        raise NonFiniteError(f"y[{row}] is {response[row]:g}, too large to square; rescale y")
    if square < SMALLEST_SQUARE and response.any():
        raise InputError(f"no entry of y is beyond {np.abs(response).max():g}, too small to square; rescale y")
    return response


def check_count(value: Any, name: str) -> int:
    """Return a whole number >= 1, or say what is wrong with it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            value = int(value)
        else:
            raise InputError(f"{name} must be a whole number >= 1, not {value!r}")
    if value < 1:
        raise InputError(f"{name} must be >= 1, not {value}")
    return int(value)


def check_number(value: Any, name: str, *, minimum: float) -> float:
    """Return a finite float >= minimum, or say what is wrong with it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name} must be a number, not {value!r}")
    number = float(value)
    if not math.isfinite(number) or number < minimum:
        raise InputError(f"{name} must be a finite number >= {minimum:g}, not {value}")
    return number


def check_flag(value: Any, name: str) -> bool:
    """Return True or False, or say that it is neither: the word "no" would count as true."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{name} must be True or False, not {value!r}")


def check_gamma(value: Any, *, ridgeless: bool = False) -> float:
    """Return a ridge weight, or say what is wrong with it; infinity, no ridge at all, only if `ridgeless`."""
    if ridgeless and isinstance(value, (float, np.floating)) and value == np.inf:
        return math.inf
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        # Beyond these the ridge itself overflows.
        if not 1e-300 <= float(value) <= 1e300:
            raise InputError(
                f"gamma must be a {'' if ridgeless else 'finite '}number > 0 (large means a weak ridge), not {value}"
            )
        return float(value)
    raise InputError(f"gamma must be a number, not {value!r}")


def check_support(support: Any, p: int, name: str = "support", *, noun: str = "column") -> IntArray:
    """Return column indices, sorted and unique, from indices or a boolean mask; of a `noun` that is no column alike."""
    count, last = f"X has {p} columns", f"X has columns 0 to {p - 1}"
    if noun != "column":
        count = last = f"there are {p}"
    array = np.asarray(support)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; a vector of {noun} indices is needed")
    if array.dtype.kind == "b":
        if array.shape[0] != p:
            raise InputError(f"{name} is a mask of length {array.shape[0]}, but {count}")
        return np.flatnonzero(array).astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} has dtype {array.dtype}; whole {noun} indices or a boolean mask are needed")
    index = array.astype(np.int64)
    bad = index[(index < 0) | (index >= p)]
    if bad.size:
        raise InputError(f"{name} names {noun} {bad[0]}, but {last}")
    unique = np.unique(index)
    if unique.size != index.size:
        raise InputError(f"{name} names a {noun} twice")
    return unique


def check_weight(weight: Any, n: int) -> FloatArray | None:
    """Sample weights as n numbers >= 0, or None; a single number is the weight of every row."""
    if weight is None:
        return None
    try:
        array = np.asarray(weight)
        if array.dtype.kind == "c":
            raise TypeError
        vector = np.full(n, array, dtype=np.float64) if array.ndim == 0 else array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight must be {n} numbers, or one for all rows") from None
    if vector.shape != (n,):
        raise InputError(f"sample_weight has shape {vector.shape}; it must have shape ({n},)")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise NonFiniteError(f"sample_weight[{bad[0]}] is {vector[bad[0]]}; a weight must be a finite number >= 0")
    bad = np.flatnonzero(vector < 0)
    if bad.size:
        raise InputError(f"sample_weight[{bad[0]}] is {vector[bad[0]]:g}; a weight must be a finite number >= 0")
    if not vector.any():
        raise InputError("sample_weight is zero everywhere; at least one row must count")
    return vector
