"""The survivors as columns, where their Gram matrix would not fit or not pay: products on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.quadratic import Survivors
from parsifal.deadline import check_time
from parsifal.design import Design
from parsifal.problem.column_rules import ColumnRules

_BLOCK_BYTES = 1 << 21


@dataclass(frozen=True, kw_only=True)
class HeldColumns(Survivors):
    """Columns, and the problem on them, as in `Quadratic` but for the products.

    Attributes
    ----------
    columns : Fortran-ordered array of shape (n, m)
        Of float32 or float64.
    y, gamma, penalty, k : as in `Problem`.
    rules : ColumnRules or None
        Of these columns.
    cache : float
        Bytes that products of columns may take.
    own : bool
        Whether the columns are a copy; if not, they take no memory besides X.
    """

    columns: npt.NDArray[Any]
    y: FloatArray
    gamma: float
    penalty: float
    k: int
    cache: float
    own: bool = True
    rules: ColumnRules | None = None

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def nbytes(self) -> int:
        return self.columns.nbytes * self.own + self.columns.size + int(self.cache)

    @cached_property
    def compiled(self) -> _core.Survivors:
        make = _core.FloatColumns if self.columns.dtype == np.float32 else _core.Columns
        return make(
            columns=self.columns,
            y=self.y,
            gamma=self.gamma,
            penalty=self.penalty,
            k=self.k,
            cache=self.cache,
            rules=None if self.rules is None else self.rules.compiled,
        )


@dataclass(frozen=True, kw_only=True)
class DistantColumns(Survivors):
    """Columns that do not fit into memory: coarse copies of some do, and single ones are read when they are needed.

    Attributes
    ----------
    design, index : where the columns are, and which of them.
    copied : int8 array of shape (m,)
        1 for the columns that a coarse copy is kept of.
    reference : array of shape (n,)
        The vector whose products with the other columns are noted: how far a node's is from it bounds theirs.
    y, gamma, penalty, k, cache, rules : as in `HeldColumns`.
    kept : float
        Bytes that columns that were read may take.
    """

    design: Design
    index: IntArray
    copied: FixArray
    reference: FloatArray
    y: FloatArray
    gamma: float
    penalty: float
    k: int
    kept: float
    cache: float
    rules: ColumnRules | None = None

    @property
    def size(self) -> int:
        return int(self.index.size)

    @property
    def nbytes(self) -> int:
        return int(self.design.shape[0] * np.count_nonzero(self.copied) + self.kept + self.cache)

    @cached_property
    def compiled(self) -> _core.Survivors:
        # Not self, which keeps what is returned here: Python would never find that neither is needed any more.
        design, index = self.design, self.index
        return _core.DistantColumns(
            load=lambda positions: design.columns(index[positions]),
            y=self.y,
            copied=self.copied,
            reference=self.reference,
            gamma=self.gamma,
            penalty=self.penalty,
            k=self.k,
            kept=self.kept,
            cache=self.cache,
            rules=None if self.rules is None else self.rules.compiled,
        )


def search_bytes(columns: int, *, threads: int, k: int = 0) -> float:
    """What a search keeps for so many columns besides the columns: the tree, and each thread; with `k`, whole columns
    of their Gram matrix for a local search too."""
    return columns * 8.0 * (threads * (24 + 2 * k) + 16)


def held_bytes(n: int, columns: int, *, own: bool, threads: int, k: int) -> float:
    """What so many columns take as bytes, and as doubles if they are a copy, with what a search keeps for every one."""
    return (9.0 if own else 1.0) * n * columns + search_bytes(columns, threads=threads, k=k)


def gather_columns(design: Design, index: IntArray) -> npt.NDArray[Any]:
    """The columns in Fortran order, as float32 where that holds every entry as it is."""
    n = design.shape[0]
    step = max(1, _BLOCK_BYTES // (8 * n))
    out: npt.NDArray[Any] = np.empty((n, index.size), dtype=np.float32, order="F")
    for start in range(0, index.size, step):
        check_time()
        block = design.columns(index[start : start + step])
        if out.dtype == np.float32:
            with np.errstate(over="ignore"):
                if np.array_equal(block.astype(np.float32), block):
                    out[:, start : start + step] = block
                    continue
            wider = np.empty((n, index.size), order="F")
            wider[:, :start] = out[:, :start]
            out = wider
        out[:, start : start + step] = block
    return out
