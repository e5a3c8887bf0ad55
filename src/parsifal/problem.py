"""What is asked: the data, the sparsity, the ridge, and what the user has already decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from parsifal.design import Design, Scan, as_design
from parsifal.design.base import aligned
from parsifal.errors import InputError, NonFiniteError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FixArray = npt.NDArray[np.int8]  # -1 out, 0 free, 1 in
Gamma = float | Literal["auto"]

# Sums of squares below this have lost digits, or all of them.
SMALLEST_SQUARE = 1e-280


@dataclass(frozen=True, kw_only=True)
class Problem:
    """min over supports S of ``c(S) + penalty |S|`` with ``|S| <= k``, checked and ready to be solved.

    Attributes
    ----------
    design : Design
        The columns.
    y : array of shape (n,)
        The response, float64.
    k : int
        Largest number of columns; the number of columns itself where only a penalty was given.
    penalty : float
        Price of a column, 0 where only `k` was given.
    gamma : float
        Ridge weight: the objective has ``1/(2 gamma) |w|^2``.
    fix : int8 array of shape (p,)
        1 for columns forced in, -1 for columns forced out, 0 for the rest.
    xty : array of shape (p,) or None
        X'y if a read has already given it.
    """

    design: Design
    y: FloatArray
    k: int
    penalty: float
    gamma: float
    fix: FixArray
    xty: FloatArray | None = None

    @property
    def n(self) -> int:
        return self.design.shape[0]

    @property
    def p(self) -> int:
        return self.design.shape[1]


def make_problem(
    X: Any,
    y: Any,
    *,
    k: int | None = None,
    gamma: Gamma = "auto",
    penalty: float | None = None,
    force_in: Sequence[int] | npt.NDArray[Any] | None = None,
    force_out: Sequence[int] | npt.NDArray[Any] | None = None,
) -> Problem:
    """Check every argument and gather them in a `Problem`; errors name the argument and what would do."""
    design = as_design(X)
    n, p = design.shape
    if n == 0 or p == 0:
        raise InputError(f"X has shape ({n}, {p}); at least one row and one column are needed")
    response = check_response(y, n)
    if k is None and penalty is None:
        raise InputError("give k (how many columns), penalty (the price of a column), or both")
    size = p if k is None else min(check_count(k, "k"), p)
    price = 0.0 if penalty is None else check_number(penalty, "penalty", minimum=0.0)
    fix = check_forced(design, force_in, force_out)
    forced = int(np.count_nonzero(fix == 1))
    if forced > size:
        raise InputError(f"force_in names {forced} columns, but k = {size}; raise k or force fewer columns in")
    weight, xty = resolve_gamma(design, response, gamma)
    return Problem(design=design, y=response, k=size, penalty=price, gamma=weight, fix=fix, xty=xty)


def resolve_gamma(design: Design, y: FloatArray, gamma: Gamma) -> tuple[float, FloatArray | None]:
    """Return gamma as a number; ``"auto"`` = sqrt(n) / mean squared norm costs a read, whose X'y is returned too."""
    if not isinstance(gamma, str):
        return check_gamma(gamma), None
    if gamma != "auto":
        raise InputError(f'gamma must be a positive number or "auto", not {gamma!r}')
    scan = design.scan(y, stats=True)
    return auto_gamma(math.sqrt(design.shape[0]), scan), scan.xv


def auto_gamma(root: float, scan: Scan) -> float:
    """`root` over the columns' mean sum of squares."""
    assert scan.squares is not None
    assert scan.sums is not None
    mean = float(np.mean(scan.squares))
    if mean < SMALLEST_SQUARE:
        if scan.xv.any() or scan.sums.any() or mean > 0:
            raise InputError("the entries of X are too small to square; multiply X by a power of ten")
        # All columns zero: every gamma gives the same fit.
        return 1.0
    return root / mean


def check_response(y: Any, n: int) -> FloatArray:
    """Return y as a float64 vector of length n, or say what is wrong with it."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        raise InputError(f"y has shape {array.shape}; a vector is needed: pass y.ravel()")
    if array.ndim != 1:
        raise InputError(f"y has shape {array.shape}; a vector of length {n} is needed")
    if array.shape[0] != n:
        raise InputError(f"y has {array.shape[0]} entries but X has {n} rows")
    if array.dtype.kind not in "fiub":
        raise InputError(f"y has dtype {array.dtype}; numbers are needed (try y.astype(float))")
    response = aligned(array, np.float64)
    bad = np.flatnonzero(~np.isfinite(response))
    if bad.size:
        raise NonFiniteError(f"y[{bad[0]}] is {response[bad[0]]}; drop the row or impute the value")
    with np.errstate(over="ignore"):
        if not math.isfinite(float(response @ response)):
            row = int(np.argmax(np.abs(response)))
            raise NonFiniteError(f"y[{row}] is {response[row]:g}, too large to square; rescale y")
    if float(response @ response) < SMALLEST_SQUARE and response.any():
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


def check_gamma(value: Any) -> float:
    """Return a ridge weight, or say what is wrong with it."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        # Beyond these the ridge itself overflows.
        if not 1e-300 <= float(value) <= 1e300:
            raise InputError(f"gamma must be a finite number > 0 (large means a weak ridge), not {value}")
        return float(value)
    raise InputError(f"gamma must be a number, not {value!r}")


def check_support(support: Any, p: int, name: str = "support") -> IntArray:
    """Return column indices, sorted and unique, from indices or a boolean mask."""
    array = np.asarray(support)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; a vector of column indices is needed")
    if array.dtype.kind == "b":
        if array.shape[0] != p:
            raise InputError(f"{name} is a mask of length {array.shape[0]}, but X has {p} columns")
        return np.flatnonzero(array).astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} has dtype {array.dtype}; whole column indices or a boolean mask are needed")
    index = array.astype(np.int64)
    bad = index[(index < 0) | (index >= p)]
    if bad.size:
        raise InputError(f"{name} names column {bad[0]}, but X has columns 0 to {p - 1}")
    unique = np.unique(index)
    if unique.size != index.size:
        raise InputError(f"{name} names a column twice")
    return unique


def check_forced(design: Design, force_in: Any, force_out: Any) -> FixArray:
    """Turn force_in and force_out (indices, a mask, or names) into one int8 vector."""
    fix = np.zeros(design.shape[1], dtype=np.int8)
    for value, mark, name in ((force_in, 1, "force_in"), (force_out, -1, "force_out")):
        if value is None:
            continue
        index = check_support(_named(design, value, name), design.shape[1], name)
        both = index[fix[index] != 0]
        if both.size:
            raise InputError(f"column {both[0]} is both in force_in and in force_out")
        fix[index] = mark
    return fix


def _named(design: Design, value: Any, name: str) -> Any:
    """Replace feature names by their indices; anything else passes through."""
    array = np.asarray(value)
    if array.ndim != 1 or array.size == 0 or not all(isinstance(item, str) for item in array.tolist()):
        return value
    if design.feature_names is None:
        raise InputError(f"{name} names columns, but X has no column names; give indices")
    position = {feature: j for j, feature in enumerate(design.feature_names)}
    for item in array.tolist():
        if item not in position:
            raise InputError(f"{name} names {item!r}, which is not a column of X")
    return np.array([position[item] for item in array.tolist()], dtype=np.int64)
