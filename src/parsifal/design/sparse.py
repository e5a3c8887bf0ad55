"""SciPy matrices: compressed columns and rows, read where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.arrays import aligned
from parsifal.design.base import check_shape, check_slice
from parsifal.design.dense import address, rounding, unreadable_dtype
from parsifal.design.leaf import Leaf
from parsifal.errors import InputError


class SparseDesign(Leaf):
    """A canonical CSC or CSR matrix: indices sorted, none twice, values float32 or float64.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array
        Kept, never changed.
    start, stop : int
        The rows that are seen.
    parent : Leaf, optional
        The design that this one is a slice of.
    """

    shifts_entries = False

    def __init__(self, matrix: Any, start: int, stop: int, *, parent: Leaf | None = None) -> None:
        n, p = matrix.shape
        # Held here because the compiled side has addresses only.
        self._source = matrix
        data, indices, indptr = self._memory = (
            aligned(matrix.data),
            aligned(matrix.indices),
            aligned(matrix.indptr, matrix.indices.dtype),
        )
        super().__init__(
            _core.SparseMatrix(
                data=address(data),
                indices=address(indices),
                indptr=address(indptr),
                is_csc=matrix.format == "csc",
                is_f32=data.dtype == np.float32,
                is_i64=indices.dtype == np.int64,
                n=n,
                p=p,
                lo=start,
                hi=stop,
            ),
            (stop - start, p),
            feature_names=None,
            nbytes=(data.nbytes + indices.nbytes + indptr.nbytes) * (stop - start) // n,
            eps=rounding(data.dtype),
            parent=parent,
            first_row=start,
        )

    def rows(self, start: int, stop: int) -> SparseDesign:
        check_slice(start, stop, self.shape[0])
        first = self._first_row
        return SparseDesign(self._source, first + start, first + stop, parent=self)


def sparse_design(matrix: Any) -> SparseDesign:
    """Make a design of a SciPy sparse matrix; what is not canonical CSC or CSR is converted in a copy."""
    check_shape(matrix.shape)
    if matrix.dtype.kind not in "fiub":
        raise InputError(unreadable_dtype(matrix.dtype))
    matrix = compressed(matrix)
    _check_structure(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.astype(np.float64)
        matrix.sum_duplicates()
    return SparseDesign(matrix, 0, matrix.shape[0])


def compressed(matrix: Any) -> Any:
    """A sparse matrix of numbers as CSC or CSR of floats; entries that are there twice are added in float64.

    In a type of few bits their sum could overflow.
    """
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if matrix.format in ("csc", "csr"):
        return matrix
    converted = matrix.tocsc()
    return converted if converted.nnz == matrix.nnz else matrix.astype(np.float64).tocsc()


def _check_structure(matrix: Any) -> None:
    """Refuse indices that point outside the matrix, which SciPy itself lets pass."""
    major, minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    indices, indptr = matrix.indices, matrix.indptr
    stored = min(len(indices), len(matrix.data))
    sound = len(indptr) == major + 1 and indptr[0] == 0 and indptr[-1] <= stored and np.all(np.diff(indptr) >= 0)
    if sound and indptr[-1] > 0:
        used = indices[: indptr[-1]]
        sound = used.min() >= 0 and used.max() < minor
    if not sound:
        raise InputError("X has indices that point outside the matrix; X.check_format() says which")
