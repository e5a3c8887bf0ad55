"""Column access to whatever X is, for the checker: NumPy and nothing of the solver.

Every column is seen times a power of two that brings it to the size of one, so that squares and products neither
over- nor underflow whatever the units of X are. Powers of two change no digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.preconditions import Refused, require

_BLOCK = 1 << 22  # entries of X looked at at a time
_ORDINARY = 400  # powers of two of a column that products may be taken with before they are scaled


class Columns:
    """X in float64, a block of columns at a time, each column times ``2.0**exponent`` of its own.

    Attributes
    ----------
    shape : tuple
        Of X.
    exponent : int array of shape (p,)
        Such that the largest entry of a scaled column is in [1, 2) (of a `Design`: its norm); 0 for zero columns.
    norms : array of shape (p,)
        What the rounding errors of `transpose_times` are relative to, scaled as the columns are.
    finite : bool array of shape (p,)
        Whether all entries of the column are finite.
    """

    def __init__(self, X: Any) -> None:
        # Asked of the type: a data frame has its columns as attributes, and one may be called scan.
        kind = type(X)
        self._design = X if hasattr(kind, "scan") and hasattr(kind, "columns") and not hasattr(kind, "dtype") else None
        self._X = self._given = X if self._design is not None else _matrix(X)
        self.shape: tuple[int, ...] = tuple(int(size) for size in self._X.shape)
        require(len(self.shape) == 2, f"X has shape {self.shape}, a matrix is needed")
        sizes, norms = self._sizes_and_norms() if self._design is None else self._measured_by_design()
        self.finite = np.isfinite(sizes)
        usable = self.finite & (sizes > 0)
        self.exponent = np.where(usable, 1 - np.frexp(np.where(usable, sizes, 1.0))[1], 0).astype(np.int64)
        self._pending = self.exponent  # what the columns have still to be scaled by
        if np.any(np.abs(self.exponent) > _ORDINARY):
            require(self._design is None, "a column's norm is beyond what a design can be checked for; rescale X")
            # Products of such columns could overflow before they are scaled, and their squares have.
            if hasattr(self._X, "indptr"):
                self._X = self._given.copy()
                self._X.data = np.ldexp(self._X.data, np.repeat(self.exponent, np.diff(self._X.indptr)))
            else:
                self._X = np.ldexp(np.asarray(self._X, dtype=np.float64), self.exponent)
            self._pending = np.zeros_like(self.exponent)
            self.norms = self._sizes_and_norms()[1]
        else:
            self.norms = np.ldexp(norms, self.exponent)

    @property
    def has_rows(self) -> bool:
        """Whether `take` can give some rows without giving all."""
        return self._design is None or hasattr(type(self._design), "rows")

    def take(self, index: IntArray, rows: slice | None = None) -> FloatArray:
        """The columns of this index, scaled; all rows of them, or these."""
        if self._design is not None:
            design = self._design if rows is None else self._design.rows(rows.start, rows.stop)
            block = np.asarray(design.columns(index), dtype=np.float64)
        elif rows is None:
            block = _dense(self._X[:, index])
            if block.flags.owndata and type(self._X) is np.ndarray:  # a copy of ours: an index makes one
                block *= np.ldexp(1.0, self._pending[index])
                return block
        elif hasattr(self._X, "indptr"):
            block = _dense(self._X[:, index][rows])
        else:
            block = _dense(self._X[rows][:, index])
        return np.asarray(block * np.ldexp(1.0, self._pending[index]))

    def unscaled(self, index: IntArray) -> FloatArray:
        """The columns of this index as they were given."""
        if self._design is not None:
            return np.asarray(self._design.columns(index), dtype=np.float64)
        return _dense(self._given[:, index])

    def transpose_times(self, v: FloatArray) -> FloatArray:
        """X'v for the scaled X."""
        if self._design is not None:
            product = np.asarray(self._design.scan(v).xv, dtype=np.float64)
        elif hasattr(self._X, "toarray"):
            product = np.asarray(self._X.T @ v, dtype=np.float64)
        else:
            product = np.concatenate([np.zeros(0), *(block.T @ v for block in self._blocks())])
        return np.asarray(np.ldexp(product, self._pending))

    def _blocks(self) -> Iterator[FloatArray]:
        step = max(1, _BLOCK // max(1, self.shape[0]))
        for start in range(0, self.shape[1], step):
            yield _dense(self._X[:, start : start + step])

    def _sizes_and_norms(self) -> tuple[FloatArray, FloatArray]:
        """The largest entry of every column in size, and the columns' norms."""
        if hasattr(self._X, "indptr"):
            sizes, squares = np.zeros(self.shape[1]), np.zeros(self.shape[1])
            filled = np.flatnonzero(np.diff(self._X.indptr))
            start = self._X.indptr[filled]
            if filled.size:
                sizes[filled] = np.maximum.reduceat(np.abs(self._X.data), start)
                squares[filled] = np.add.reduceat(self._X.data**2, start)
            return sizes, np.sqrt(squares)
        parts = [(_largest(block), np.sqrt(np.einsum("ij,ij->j", block, block))) for block in self._blocks()]
        empty = np.zeros(0)
        return np.concatenate([empty, *(size for size, _ in parts)]), np.concatenate(
            [empty, *(norm for _, norm in parts)]
        )

    def _measured_by_design(self) -> tuple[FloatArray, FloatArray]:
        """The columns' norms, for both; the second as the design knows that they round."""
        design: Any = self._design
        norms = np.sqrt(np.asarray(design.scan(np.zeros(self.shape[0]), stats=True).squares, dtype=np.float64))
        better = getattr(design, "rounding_norms", None)
        return norms, norms if better is None else np.asarray(better(norms), dtype=np.float64)


def _largest(block: FloatArray) -> FloatArray:
    """The largest entry of every column in size; NaN where there is one."""
    return np.asarray(np.maximum(block.max(axis=0, initial=0.0), -block.min(axis=0, initial=0.0)))


def _dense(block: Any) -> FloatArray:
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)


def _matrix(X: Any) -> Any:
    """X as a sparse matrix or an array of real numbers."""
    require(not isinstance(X, np.ma.MaskedArray), "X is a masked array; fill or drop what is masked")
    if hasattr(type(X), "tocsc"):
        require(len(X.shape) == 2, f"X has shape {X.shape}, a matrix is needed")
        require(X.dtype.kind in "fiub", f"X holds {X.dtype}, not real numbers")
        X = X.astype(np.float64).tocsc(copy=True)  # as doubles first: entries stored twice are added up
        X.sum_duplicates()
        return X
    try:
        X = np.asarray(X.to_numpy() if hasattr(type(X), "to_numpy") else X)
        X = X.astype(np.float64) if X.dtype.kind == "O" else X
    except (TypeError, ValueError, OverflowError):
        raise Refused("X holds something that is not a number, or rows of different length") from None
    require(X.dtype.kind in "fiub", f"X holds {X.dtype}, not real numbers")
    return X
