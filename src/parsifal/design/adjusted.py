"""Columns adjusted for others: what is left of each once its projection onto a few columns is taken out.

With Q a basis of the columns to adjust for (orthonormal up to rounding) and C = Q'X as it was read, column j is
x_j - Q c_j, for the stored Q and C exactly. A read of it is a read of the matrix below and q products,

    sum_i v_i (x_ij - q_i'c_j) = x_j'v - c_j'(Q'v),

so X is not copied. Columns that lie in the span of Q, those adjusted for among them, are zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.design.base import Design, check_index, check_slice
from parsifal.design.read import Read, Scan

# A column of which less than this part of its norm is left lies in the span, up to what its rounding hides.
_INDEPENDENT = 1e-6


class Adjusted(Design):
    """A design with a basis projected out of its columns; `adjust_for` makes one.

    Parameters
    ----------
    base : Design
        What is looked at.
    basis : array of shape (n, q)
        Q.
    cross : array of shape (q, p)
        C.
    zero : int array
        Columns in the span.
    size : array of shape (p,)
        What rounding errors of products are relative to, besides the columns' own norms.
    """

    def __init__(self, base: Design, basis: FloatArray, cross: FloatArray, zero: IntArray, size: FloatArray) -> None:
        self._base, self._basis, self._cross, self._zero, self._size = base, basis, cross, zero, size
        self.shape = base.shape
        self.feature_names = base.feature_names
        self.nbytes = base.nbytes
        self.eps = base.eps
        self.reads = 0.0
        # The cross products of the whole design: a slice of the rows has others.
        self._whole = True

    @property
    def basis(self) -> FloatArray:
        """Q."""
        return self._basis

    @property
    def cross(self) -> FloatArray:
        """C = Q'X."""
        return self._cross

    @property
    def cheap_rows(self) -> bool:
        return self._base.cheap_rows

    @property
    def cheap_columns(self) -> bool:
        return self._base.cheap_columns

    @property
    def held_bytes(self) -> int:
        return self._base.held_bytes

    def read(self, request: Read) -> Scan:
        scan = self._base.read(request)
        self._count(1.0)
        Q, C, shift = self._basis, self._cross, request.shift
        a, b = request.sum_weight, request.square_weight
        scan.xv[:] -= C.T @ (Q.T @ request.v)
        if scan.sums is not None and scan.squares is not None:
            scan.sums[:] -= C.T @ (Q.sum(axis=0) if a is None else Q.T @ a)
            weighted = Q if b is None else Q * b[:, None]
            cross = C if self._whole and b is None and shift is None else self._weighted_cross(weighted, request)
            scan.squares[:] += np.einsum("qp,qp->p", C, (Q.T @ weighted) @ C - 2.0 * cross)
            np.maximum(scan.squares, 0.0, out=scan.squares)
        self._clear(scan, request)
        return scan

    def _weighted_cross(self, weighted: FloatArray, request: Read) -> FloatArray:
        """The cross term of the squares, one read for each column of the basis."""
        rows = [
            self._base.read(Read(v=np.ascontiguousarray(v), shift=request.shift, threads=request.threads)).xv
            for v in weighted.T
        ]
        return np.array(rows).reshape(self._cross.shape)

    def _clear(self, scan: Scan, request: Read) -> None:
        """The results of columns that are zero, in place: all that is left of them is the shift."""
        n, zero = self.shape[0], self._zero
        shift = np.zeros(zero.size) if request.shift is None else -request.shift[zero]
        a, b = request.sum_weight, request.square_weight
        scan.xv[zero] = shift * request.v.sum()
        if scan.sums is not None and scan.squares is not None:
            scan.sums[zero] = shift * (n if a is None else a.sum())
            scan.squares[zero] = shift**2 * (n if b is None else b.sum())

    # A product is a difference of sums, not a sum of differences.
    shifts_entries = False

    def cancelled(self) -> FloatArray | float:
        return self._base.cancelled() + self._size

    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        index = check_index(idx, self.shape[1])
        columns = self._base.columns(index)
        # Entry by entry, so that a column comes out the same whatever others are asked for with it.
        for q, c in zip(self._basis.T, self._cross[:, index]):
            columns -= q[:, None] * c
        columns[:, np.isin(index, self._zero)] = 0.0
        return columns

    def rows(self, start: int, stop: int) -> Adjusted:
        check_slice(start, stop, self.shape[0])
        part = Adjusted(
            self._base.rows(start, stop),
            np.asfortranarray(self._basis[start:stop]),
            self._cross,
            self._zero,
            self._size,
        )
        part._whole = False
        part._parent = self
        return part


def adjust_for(design: Design, index: IntArray) -> Adjusted:
    """The design with the columns `index` projected out of all, at the price of one read for each of them.

    Columns that depend on each other are no error: together they count by their span.
    """
    basis = orthonormal(design.columns(index))
    q = basis.shape[1]
    scans = [design.scan(v, stats=at == 0) for at, v in enumerate(basis.T)]
    squares = scans[0].squares if scans else design.scan(np.zeros(design.shape[0]), stats=True).squares
    if squares is None:
        raise AssertionError("a scan with statistics gives them")
    cross = np.array([scan.xv for scan in scans]).reshape(q, design.shape[1])
    inside = np.einsum("qp,qp->p", cross, cross)
    zero = np.flatnonzero(squares - inside <= _INDEPENDENT**2 * squares)
    # Sums of n + q products for x_j'v, Q'v and c_j'(Q'v), and the entries' own roundings (docs/numerics.md).
    size = (3.0 + 4.0 * np.sqrt(q)) * np.sqrt(np.maximum(squares, inside))
    return Adjusted(design, basis, cross, np.union1d(zero, index).astype(np.int64), size)


def orthonormal(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of the columns' span (Gram-Schmidt, twice), without those that depend on the others."""
    basis: list[FloatArray] = []
    for column in columns.T:
        norm = float(np.linalg.norm(column))
        rest = column / norm if norm > 0 else column.copy()
        for _ in range(2):
            for q in basis:
                rest = rest - q * float(q @ rest)
        left = float(np.linalg.norm(rest))
        if norm > 0 and left > _INDEPENDENT:
            rest = rest / left
            for q in basis:
                rest = rest - q * float(q @ rest)
            basis.append(rest / float(np.linalg.norm(rest)))
    return np.asfortranarray(np.array(basis).reshape(len(basis), columns.shape[0]).T)
