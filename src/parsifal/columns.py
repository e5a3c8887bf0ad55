"""Column access to whatever X is, for the checker: NumPy and nothing of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsifal.certificate import FloatArray, IntArray

_BLOCK = 1 << 22  # entries of X looked at at a time


class Columns:
    """Column access to whatever X is, a block at a time, in float64."""

    def __init__(self, X: Any) -> None:
        self.design = X if hasattr(X, "scan") and hasattr(X, "columns") and not hasattr(X, "dtype") else None
        if self.design is None and hasattr(X, "to_numpy"):
            X = X.to_numpy()
        if self.design is None and not hasattr(X, "tocsc"):
            X = np.asarray(X)
        self.X = X.tocsc() if hasattr(X, "tocsc") else X
        self.shape: tuple[int, ...] = tuple(int(size) for size in self.X.shape)

    def take(self, index: IntArray) -> FloatArray:
        if self.design is not None:
            return np.asarray(self.design.columns(index), dtype=np.float64)
        block = self.X[:, index]
        return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)

    def transpose_times(self, v: FloatArray) -> FloatArray:
        if self.design is not None:
            return np.asarray(self.design.scan(v).xv)
        if hasattr(self.X, "toarray"):
            return np.asarray(self.X.T @ v, dtype=np.float64)
        step = max(1, _BLOCK // max(1, self.shape[0]))
        parts = [
            np.asarray(self.X[:, start : start + step], dtype=np.float64).T @ v
            for start in range(0, self.shape[1], step)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def rounding_norms(self) -> FloatArray:
        """What the rounding errors of X'v are relative to: the columns' norms, unless a design knows better."""
        norms = self.norms()
        better = getattr(self.design, "rounding_norms", None)
        return norms if better is None else np.asarray(better(norms))

    def norms(self) -> FloatArray:
        if self.design is not None:
            return np.asarray(np.sqrt(self.design.scan(np.zeros(self.shape[0]), stats=True).squares))
        if hasattr(self.X, "toarray"):
            squares = np.asarray(self.X.multiply(self.X).sum(axis=0), dtype=np.float64)
            return np.asarray(np.sqrt(squares).ravel(), dtype=np.float64)
        step = max(1, _BLOCK // max(1, self.shape[0]))
        parts = [
            np.linalg.norm(np.asarray(self.X[:, start : start + step], dtype=np.float64), axis=0)
            for start in range(0, self.shape[1], step)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)
