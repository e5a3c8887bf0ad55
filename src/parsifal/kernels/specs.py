"""What a user can call a kernel: a name, a callable, a matrix, a factor, or a group of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from parsifal.arguments import check_support
from parsifal.arrays import FloatArray, IntArray
from parsifal.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One kernel.

    Attributes
    ----------
    label : str
        How it is shown.
    call : callable or None
        K(A, B) of two sets of rows; None where the user gives values.
    columns : int array or None
        The columns that the kernel sees; None: all.
    given : array or None
        A kernel matrix or a factor of the training rows.
    factor : bool
        Whether `given`, or the columns themselves, are a factor.
    """

    label: str
    call: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    columns: IntArray | None = None
    given: FloatArray | None = None
    factor: bool = False

    def see(self, X: FloatArray) -> FloatArray:
        """The columns of X that the kernel is about."""
        return X if self.columns is None else X[:, self.columns]

    def between(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """K(A, B) for a kernel that is computed."""
        A, B = self.see(A), self.see(B)
        if self.call is None:
            return np.asarray(A @ B.T)
        out = np.asarray(self.call(A, B))
        if out.dtype.kind == "c":
            raise InputError(f"{self.label} gave complex numbers; a kernel of real numbers is needed")
        out = np.asarray(out, dtype=np.float64)
        if out.shape != (len(A), len(B)):
            raise InputError(f"{self.label} gave shape {out.shape} for {len(A)} and {len(B)} rows")
        return out


def default_specs(names: list[str]) -> list[Spec]:
    """For every feature a linear and an RBF kernel."""
    out = []
    for j, name in enumerate(names):
        column = np.array([j])
        out.append(Spec(label=f"linear({name})", columns=column, factor=True))
        out.append(Spec(label=f"rbf({name})", call=partial(pairwise_kernels, metric="rbf", gamma=0.5), columns=column))
    return out


def group_specs(groups: list[IntArray], names: list[str]) -> list[Spec]:
    """One linear kernel a group of columns."""
    return [Spec(label=f"[{', '.join(names[j] for j in g)}]", columns=g, factor=True) for g in groups]


def make_specs(kernels: Any, names: list[str], n: int) -> list[Spec]:
    """Check the kernels of a `SparseKernelRegressor`; errors say which one is wrong."""
    if isinstance(kernels, str) or callable(kernels):
        kernels = [kernels]
    try:
        items = list(kernels)
    except TypeError:
        raise InputError(f"kernels must be a sequence, not {kernels!r}") from None
    if not items:
        raise InputError("kernels is empty; give at least one")
    return [_one(item, f"kernels[{j}]", names, n) for j, item in enumerate(items)]


def _one(item: Any, place: str, names: list[str], n: int) -> Spec:
    if isinstance(item, Spec):
        return item
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and item[0] in ("factor", "matrix"):
        return _given(np.asarray(item[1]), place, n, factor=item[0] == "factor")
    if isinstance(item, np.ndarray):
        return _given(item, place, n, factor=item.ndim == 2 and item.shape[1] != n)
    parts = list(item) if isinstance(item, (tuple, list)) else [item]
    head, *rest = parts or [None]
    params: Mapping[str, Any] = {}
    columns: IntArray | None = None
    for part in rest:
        if isinstance(part, Mapping):
            params = part
        elif columns is None and part is not None:
            columns = _columns(part, place, names)
    shown = "" if columns is None else ", ".join(names[j] for j in columns)
    if isinstance(head, str):
        if head not in PAIRWISE_KERNEL_FUNCTIONS:
            known = ", ".join(sorted(PAIRWISE_KERNEL_FUNCTIONS))
            raise InputError(f"{place} names {head!r}, which is no kernel of scikit-learn; known are {known}")
        values = "; ".join(f"{key}={value}" for key, value in params.items())
        inside = "; ".join(text for text in (shown, values) if text)
        if head == "linear" and not params:
            return Spec(label=f"linear({shown})", columns=columns, factor=True)
        return Spec(
            label=f"{head}({inside})", call=partial(pairwise_kernels, **{**params, "metric": head}), columns=columns
        )
    if callable(head):
        if params:
            raise InputError(f"{place} has parameters for a callable; bind them first, e.g. with functools.partial")
        return Spec(label=f"{getattr(head, '__name__', 'kernel')}({shown})", call=head, columns=columns)
    raise InputError(f"{place} is {item!r}; give a kernel's name, (name, parameters), a callable, or an array")


def _given(array: Any, place: str, n: int, *, factor: bool) -> Spec:
    if array.ndim != 2 or array.dtype.kind not in "fiub" or len(array) != n or not (factor or array.shape[1] == n):
        raise InputError(f"{place} has shape {array.shape}; a kernel matrix or factor of {n} rows is needed")
    return Spec(label=f"{place} (given)", given=np.asarray(array, dtype=np.float64), factor=factor)


def _columns(part: Any, place: str, names: list[str]) -> IntArray:
    values = list(np.atleast_1d(np.asarray(part)).tolist())
    for value in values:
        if isinstance(value, str) and value not in names:
            raise InputError(f"{place} names column {value!r}, which is not there")
    index = [names.index(value) if isinstance(value, str) else value for value in values]
    return check_support(np.asarray(index), len(names), place)
