"""What estimators are given, checked before scikit-learn looks at it, whose words often name no place and no remedy.

The phrases that scikit-learn's common tests look for ("Reshape your data", "Complex data not supported", ...) are in
these messages too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from parsifal.design import Design, as_design
from parsifal.design.base import LARGEST, check_names
from parsifal.errors import InputError, NonFiniteError
from parsifal.problem import FloatArray

T = TypeVar("T")


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]
    """An estimator was asked for what only `fit` can give."""

    def __init__(self) -> None:
        super().__init__("the model is not fitted; call fit first")


_KINDS = "an array, a pandas or polars DataFrame, or a SciPy sparse matrix"


def check_matrix_like(X: Any, *, rows: int = 1) -> None:
    """Raise unless X can be taken for a matrix of numbers; entries are not looked at."""
    if isinstance(X, Design) or sp.issparse(X):
        return
    if X is None or isinstance(X, (str, bytes, dict)) or callable(X):
        raise InputError(f"X is a {type(X).__name__}; pass {_KINDS}")
    if isinstance(X, np.ma.MaskedArray):
        as_design(X)  # which refuses a mask; NumPy would drop it
    if hasattr(X, "columns"):
        check_names(list(X.columns))
        return
    if type(X) is not np.ndarray and hasattr(X, "dtype") and hasattr(X, "shape"):
        return
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(f"X is a {type(X).__name__} that does not make a matrix: {error}") from None
    shape = array.shape
    if array.ndim < 2:
        raise InputError(
            f"X has shape {shape}; it must have two dimensions. Reshape your data: X.reshape(-1, 1) is one feature, "
            "X.reshape(1, -1) is one row"
        )
    if array.ndim > 2:
        raise InputError(f"X has shape {shape}; it must have two dimensions, e.g. X.reshape(len(X), -1)")
    if array.dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: X has dtype {array.dtype}; "
            "pass real numbers, e.g. np.hstack([X.real, X.imag])"
        )
    if array.dtype.kind not in "fiubO":
        raise InputError(f"X has dtype {array.dtype}; encode it as numbers first")
    for size, what, least in ((shape[0], "sample(s)", rows), (shape[1], "feature(s)", 1)):
        if size < least:
            raise InputError(f"X has {size} {what} (shape={shape}) while a minimum of {least} is required.")


def check_target_like(y: Any, n: int, estimator: str) -> None:
    """Raise unless y can be taken for n numbers."""
    if y is None:
        raise InputError(f"This {estimator} estimator requires y to be passed, but the target y is None.")
    try:
        array = np.asarray(y)
    except ValueError:
        raise InputError(f"y does not make a vector; pass {n} numbers") from None
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] != 1):
        raise InputError(f"y has shape {array.shape}; a vector of length {n} is needed")
    if array.shape[0] != n:
        raise InputError(f"y has {array.shape[0]} entries but X has {n} rows")
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: y has dtype {array.dtype}; pass real numbers")
    if array.dtype.kind not in "fiubO":
        raise InputError(f"y has dtype {array.dtype}; numbers are needed (try y.astype(float))")


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


def check_jobs(jobs: Any) -> None:
    """Raise unless it says how many to run at a time."""
    fine = jobs is None or (isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool) and jobs != 0)
    if not fine:
        raise InputError(f"n_jobs must be a whole number other than 0 (-1: all cores) or None, not {jobs!r}")


def in_our_words(call: Callable[..., T], *args: Any, **options: Any) -> T:
    """Call scikit-learn's check, and make one sentence of what it says."""
    try:
        return call(*args, **options)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error


def check_largest(X: FloatArray) -> None:
    """Raise if an entry is too large to square."""
    size = np.abs(X)
    if size.size and float(size.max()) > LARGEST:
        i, j = np.unravel_index(int(np.argmax(size)), size.shape)
        raise NonFiniteError(f"X[{i}, {j}] is {X[i, j]:.3g}, too large to square; rescale the column")
