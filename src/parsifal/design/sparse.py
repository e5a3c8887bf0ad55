"""SciPy matrices: compressed columns and rows, read where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.design.base import Leaf, aligned, check_slice
from parsifal.design.dense import address, rounding
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
    if matrix.ndim != 2:
        raise InputError(f"X has shape {matrix.shape}; it must have two dimensions")
    if 0 in matrix.shape:
        raise InputError(f"X has shape {matrix.shape}; it needs at least one row and one column")
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"X has dtype {matrix.dtype}; pass real numbers")
    if matrix.format not in ("csc", "csr"):
        matrix = matrix.tocsc()
    _check_structure(matrix)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseDesign(matrix, 0, matrix.shape[0])


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
