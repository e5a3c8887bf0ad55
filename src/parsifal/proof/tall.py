"""Some columns of X as the checker multiplies them: held where that is little, else gone through by blocks of rows.

Sums over blocks are sums in another order, which `scaled.unit` allows for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.columns import Columns
from parsifal.proof.scaled import cancel, precise_residual

_HELD = 1 << 23  # entries: 64 MB
_BLOCK = 1 << 20


class Tall:
    """Columns of X, of this shape."""

    def __init__(self, X: Columns, index: IntArray) -> None:
        self._X, self._index = X, index
        self.shape = (X.shape[0], index.size)
        small = self.shape[0] * index.size <= _HELD or not X.has_rows
        self._held: FloatArray | None = X.take(index) if small else None

    @classmethod
    def of(cls, block: FloatArray) -> Tall:
        """Columns that are at hand."""
        out = cls.__new__(cls)
        out._held, out.shape = block, (block.shape[0], block.shape[1])
        return out

    @property
    def entries(self) -> int:
        """Numbers that are held."""
        return 0 if self._held is None else self._held.size

    @cached_property
    def norms(self) -> FloatArray:
        """The columns' norms."""
        if self._held is not None:
            return np.asarray(np.linalg.norm(self._held, axis=0))
        squares = np.zeros(self.shape[1])
        for _, block in self._blocks():
            squares += np.linalg.norm(block, axis=0) ** 2
        return np.sqrt(squares)

    @property
    def sizes(self) -> FloatArray:
        """The largest entry of every column in size."""
        return np.asarray(np.max([np.abs(block).max(axis=0, initial=0.0) for _, block in self._blocks()], axis=0))

    def take(self, places: IntArray) -> Tall:
        """Some of these columns, by place."""
        return Tall(self._X, self._index[places]) if self._held is None else Tall.of(self._held[:, places])

    def residual(self, y: FloatArray, w: FloatArray) -> FloatArray:
        """y less the product with coefficients; where the terms cancel, with twice the digits of a double."""
        some = np.flatnonzero(w)
        if cancel(y, w, self.norms):
            parts = [precise_residual(y[rows], block[:, some], w[some]) for rows, block in self._blocks()]
        else:
            parts = [y[rows] - block @ w for rows, block in self._blocks()]
        return np.concatenate([np.zeros(0), *parts])

    def transpose_times(self, v: FloatArray) -> FloatArray:
        """The products with a vector of the rows."""
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            out += block.T @ v[rows]
        return out

    def gram(self) -> FloatArray:
        """The products of the columns with each other, each over its norm, which is positive."""
        out = np.zeros((self.shape[1], self.shape[1]))
        for _, block in self._blocks():
            unit = block / self.norms
            out += unit.T @ unit
        return out

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        n, m = self.shape
        if self._held is not None:
            yield slice(0, n), self._held
            return
        step = max(1, _BLOCK // max(1, m))
        for start in range(0, n, step):
            rows = slice(start, min(n, start + step))
            yield rows, self._X.take(self._index, rows)
