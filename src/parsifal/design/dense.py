"""Dense matrices in memory, read where they lie: any dtype, order and strides, also columns that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import parsifal._core as _core
from parsifal.arrays import FloatArray
from parsifal.design.base import check_shape, check_slice
from parsifal.design.leaf import Leaf
from parsifal.errors import InputError

# The order of `DType` in cpp/read/scan.hpp. A bool is a byte that is 0 or 1.
_FLOATS = ("float64", "float32", "float16")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
CODES = {np.dtype(name): code for code, name in enumerate(_FLOATS + _INTEGERS)}
CODES[np.dtype(bool)] = CODES[np.dtype("uint8")]


def is_readable(dtype: np.dtype[Any]) -> bool:
    """Whether the compiled core reads this dtype."""
    return dtype in CODES


def rounding(dtype: np.dtype[Any]) -> float:
    """Relative rounding error of values stored in `dtype`."""
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else float(np.finfo(np.float64).eps)


def address(array: npt.NDArray[Any]) -> int:
    """Address of the first entry, also of an array that is read-only; the caller keeps the array alive."""
    return int(array.__array_interface__["data"][0])


def strided_matrix(array: npt.NDArray[Any]) -> _core.StridedMatrix:
    """The compiled matrix that reads an array of any strides; the caller keeps the array alive."""
    n, p = array.shape
    return _core.StridedMatrix(address(array), CODES[array.dtype], n, p, *array.strides)


def table(columns: Sequence[npt.NDArray[Any]]) -> _core.Table:
    """The compiled matrix that reads columns that lie anywhere; the caller keeps them alive."""
    return _core.Table(
        len(columns[0]),
        [address(column) for column in columns],
        [column.strides[0] for column in columns],
        [CODES[column.dtype] for column in columns],
    )


class DenseDesign(Leaf):
    """A two-dimensional array of any strides, read without a copy.

    Parameters
    ----------
    array : ndarray of shape (n, p)
        Of a dtype that `is_readable`.
    feature_names : tuple of str, optional
        Names of the columns.
    parent, first_row
        As in `Leaf`.
    """

    def __init__(
        self,
        array: npt.NDArray[Any],
        feature_names: tuple[str, ...] | None = None,
        *,
        parent: Leaf | None = None,
        first_row: int = 0,
    ) -> None:
        n, p = array.shape
        self._array = array
        super().__init__(
            strided_matrix(array),
            (n, p),
            feature_names=feature_names,
            nbytes=n * p * array.itemsize,
            eps=rounding(array.dtype),
            parent=parent,
            first_row=first_row,
        )

    def whole(self) -> FloatArray:
        array = self._array
        if array.dtype != np.float64 or not array.flags.f_contiguous or not array.flags.aligned:
            return super().whole()
        self._count(1.0)
        return array

    def rows(self, start: int, stop: int) -> DenseDesign:
        check_slice(start, stop, self.shape[0])
        return DenseDesign(self._array[start:stop], self.feature_names, parent=self, first_row=self._first_row + start)


class TableDesign(Leaf):
    """Columns that lie anywhere in memory, each with its own dtype and stride, read without a copy.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n,)
        Of dtypes that are `is_readable`.
    feature_names : tuple of str, optional
        Names of the columns.
    """

    def __init__(self, columns: Sequence[npt.NDArray[Any]], feature_names: tuple[str, ...] | None = None) -> None:
        n = len(columns[0])
        self._memory = tuple(columns)
        eps: FloatArray = np.array([rounding(column.dtype) for column in columns])
        super().__init__(
            table(columns),
            (n, len(columns)),
            feature_names=feature_names,
            nbytes=n * sum(column.itemsize for column in columns),
            eps=eps,
        )

    def rows(self, start: int, stop: int) -> TableDesign:
        check_slice(start, stop, self.shape[0])
        part = object.__new__(TableDesign)
        part._memory = self._memory
        Leaf.__init__(
            part,
            self._matrix.rows(start, stop),
            (stop - start, self.shape[1]),
            feature_names=self.feature_names,
            nbytes=self.nbytes // self.shape[0] * (stop - start),
            eps=self.eps,
            parent=self,
            first_row=self._first_row + start,
        )
        return part


def dense_design(array: npt.NDArray[Any], feature_names: tuple[str, ...] | None = None) -> DenseDesign:
    """Make a design of an array, or say what is wrong with the array."""
    if isinstance(array, np.ma.MaskedArray):
        raise InputError("X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)")
    if isinstance(array, np.matrix):
        raise InputError("X is an np.matrix; pass np.asarray(X)")
    if array.ndim != 2:
        hint = "X.reshape(-1, 1)" if array.ndim == 1 else "X.reshape(len(X), -1)"
        raise InputError(f"X has shape {array.shape}; it must have two dimensions, e.g. {hint}")
    check_shape(array.shape)
    if not is_readable(array.dtype):
        raise InputError(unreadable_dtype(array.dtype))
    return DenseDesign(np.asarray(array), feature_names)


def unreadable_dtype(dtype: np.dtype[Any]) -> str:
    if not dtype.isnative:
        return f"X has dtype {dtype} in foreign byte order; convert it with X.astype({dtype.name!r})"
    if dtype.kind == "O":
        return "X has dtype object; if its entries are numbers, convert it with X.astype(float)"
    if dtype.kind == "c":
        return f"X has dtype {dtype}; pass real numbers, e.g. np.hstack([X.real, X.imag])"
    if dtype.kind == "f":
        return f"X has dtype {dtype}; convert it with X.astype(float)"
    return f"X has dtype {dtype}; encode it as numbers first"
