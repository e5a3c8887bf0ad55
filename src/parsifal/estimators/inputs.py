"""What estimators are given, checked before scikit-learn looks at it, whose words often name no place and no remedy.

The phrases that scikit-learn's common tests look for ("Reshape your data", "Complex data not supported", ...) are in
these messages too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from parsifal.arguments import refuse_lazy
from parsifal.arrays import FloatArray
from parsifal.design import Design, as_design
from parsifal.design.base import LARGEST, check_names
from parsifal.errors import InputError, NonFiniteError, suggestion

T = TypeVar("T")


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]
    """An estimator was asked for what only `fit` can give."""

    def __init__(self) -> None:
        super().__init__("the model is not fitted; call fit first")

    def __reduce__(self) -> tuple[type[UnfittedError], tuple[()]]:
        # An exception is made anew from its message, which is no argument here.
        return UnfittedError, ()


_KINDS = "an array, a pandas or polars DataFrame, or a SciPy sparse matrix"


def check_matrix_like(X: Any, *, rows: int = 1) -> None:
    """Raise unless X can be taken for a matrix of numbers; entries are looked at only where they are objects."""
    if isinstance(X, Design):
        return
    if sp.issparse(X):
        _refuse_complex(X.dtype, "X")
        return
    if X is None or isinstance(X, (str, bytes, dict)) or callable(X):
        raise InputError(f"X is a {type(X).__name__}; pass {_KINDS}")
    if isinstance(X, np.ma.MaskedArray):
        as_design(X)  # which refuses a mask; NumPy would drop it
    # The type is asked, for a frame has its columns for attributes, whatever they are called.
    kind = type(X)
    if hasattr(kind, "columns"):
        check_named_alike(X.columns)
        check_names(list(X.columns))
        dtypes = [str(dtype).lower() for dtype in getattr(X, "dtypes", ())]
        if any(dtype.startswith("complex") for dtype in dtypes):
            as_design(X)  # which names the column
        if "object" in dtypes:
            _refuse_complex_entries(np.asarray(X), "X")
        return
    if kind is not np.ndarray and hasattr(kind, "dtype") and hasattr(kind, "shape"):
        _refuse_complex(X.dtype, "X")
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
    _refuse_complex(array.dtype, "X")
    _refuse_complex_entries(array, "X")
    if array.dtype.kind not in "fiubO":
        raise InputError(f"X has dtype {array.dtype}; encode it as numbers first")
    for size, what, least in ((shape[0], "sample(s)", rows), (shape[1], "feature(s)", 1)):
        if size < least:
            raise InputError(f"X has {size} {what} (shape={shape}) while a minimum of {least} is required.")


def check_named_alike(columns: Any) -> None:
    """Raise where some column names are strings and others are not: scikit-learn could not tell which are names."""
    kinds = sorted({type(name).__name__ for name in columns})
    if len(kinds) > 1 and "str" in kinds:
        raise InputError(
            f"the column names of X are of types {', '.join(kinds)}; make all of them strings: "
            "X.columns = X.columns.astype(str)"
        )


def _refuse_complex(dtype: Any, name: str) -> None:
    if getattr(dtype, "kind", "") == "c":
        remedy = "np.hstack([X.real, X.imag])" if name == "X" else "y.real"
        raise InputError(f"Complex data not supported: {name} has dtype {dtype}; pass real numbers, e.g. {remedy}")


def _refuse_complex_entries(array: Any, name: str) -> None:
    """Name the first complex number in an array of objects."""
    if array.dtype.kind == "O":
        for place, value in np.ndenumerate(array):
            if isinstance(value, (complex, np.complexfloating)):
                where = ", ".join(str(i) for i in place)
                raise InputError(f"Complex data not supported: {name}[{where}] is {value}; pass real numbers")


def check_target_like(y: Any, n: int, estimator: str) -> None:
    """Raise unless y can be taken for n numbers."""
    if y is None:
        raise InputError(f"This {estimator} estimator requires y to be passed, but the target y is None.")
    refuse_lazy(y, "y")
    try:
        array = np.asarray(y)
    except ValueError:
        raise InputError(f"y does not make a vector; pass {n} numbers") from None
    if array.ndim == 2 and array.shape[1] > 1 and array.shape[0] == n:
        raise InputError(
            f"y has {array.shape[1]} columns; fit one model a column, e.g. with "
            "sklearn.multioutput.MultiOutputRegressor(model).fit(X, y)"
        )
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] != 1):
        raise InputError(f"y has shape {array.shape}; a vector of length {n} is needed")
    if array.shape[0] != n:
        raise InputError(f"y has {array.shape[0]} entries but X has {n} rows")
    _refuse_complex(array.dtype, "y")
    _refuse_complex_entries(array, "y")
    if array.dtype.kind == "O":
        # NumPy would make numbers of strings that look like them.
        for row, value in enumerate(array.ravel()):
            if isinstance(value, (str, bytes)):
                raise InputError(f"y[{row}] is the string {value!r}; numbers are needed (try y.astype(float))")
    if array.dtype.kind not in "fiubO":
        raise InputError(f"y has dtype {array.dtype}; numbers are needed (try y.astype(float))")


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


# What other libraries call it, and what it is here.
_ELSEWHERE = {
    "alpha": "the ridge is 1/gamma (large gamma: weak ridge), the number of features is k",
    "lambda_": "the ridge is 1/gamma (large gamma: weak ridge), the number of features is k",
    "lam": "the ridge is 1/gamma (large gamma: weak ridge), the number of features is k",
    "l1_ratio": "there is no l1 norm here: k is the number of features, gamma the weight of the ridge",
    "n_nonzero_coefs": "the number of features is k",
    "n_features_to_select": "the number of features is k",
    "max_features": "the number of features is k",
    "nvmax": "the number of features is k",
    "normalize": "standardize=True is the default",
    "max_iter": "limits are time_limit (seconds) and node_limit",
    "tol": "the relative gap that counts as proven is rel_gap",
    "random_state": "a fit has no randomness; with n_jobs=None it is repeatable bit for bit",
}


class UnknownParameterError(InputError, TypeError):
    """A constructor was given a parameter that it does not have."""


def check_parameters(estimator: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise for a parameter that the constructor does not have, with a hint at what is meant."""
    known = list(known)
    for name in given:
        if name not in known:
            hint = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else suggestion(name, known)
            raise UnknownParameterError(f"{estimator} has no parameter {name!r}{hint}")
