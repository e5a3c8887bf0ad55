"""Designs that own data, and what they say of an entry that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.deadline import seconds_left, thread_limit
from parsifal.design.base import LARGEST, Design, check_finite, check_index
from parsifal.design.read import Read, Scan, scan_compiled
from parsifal.errors import NonFiniteError

_FEW_ENTRIES = 1 << 15  # which are copied before another thread has started


class Leaf(Design):
    """A design that owns data, or knows where they are.

    Parameters
    ----------
    matrix : object of parsifal._core, or what a kind has in its place
        Reads the data; the kind keeps the memory that it points to.
    shape, feature_names, nbytes, eps
        As in `Design`.
    parent : Leaf, optional
        The design that this one is a slice of.
    first_row : int
        Where the slice starts, in rows of the data that the user handed in.
    """

    def __init__(
        self,
        matrix: Any,
        shape: tuple[int, int],
        *,
        feature_names: tuple[str, ...] | None,
        nbytes: int,
        eps: float | FloatArray,
        parent: Leaf | None = None,
        first_row: int = 0,
    ) -> None:
        self._matrix = matrix
        self.shape = shape
        self.feature_names = feature_names
        self.nbytes = nbytes
        self.eps = eps
        self.reads = 0.0
        self._parent = parent
        self._first_row = first_row

    def read(self, request: Read) -> Scan:
        scan = Scan.zeros(self.shape[1], stats=request.stats)
        finite = self._fulfil(request, scan)
        self._count(1.0)
        if not finite:
            self._explain(request, scan)
        return scan

    def _fulfil(self, request: Read, out: Scan) -> bool:
        """Read into `out`, which holds zeros; returns whether every result is finite."""
        return scan_compiled(self._matrix, request, out, seconds_left())

    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        index = check_index(idx, self.shape[1])
        out = np.empty((self.shape[0], len(index)), order="F")
        self._gather(index, out)
        return out

    def _gather(self, index: IntArray, out: FloatArray) -> None:
        threads = thread_limit() if out.size > _FEW_ENTRIES else 1
        self._matrix.gather(index, out, threads, seconds_left())

    def _explain(self, request: Read, scan: Scan) -> NoReturn:
        """Find the entry that made a result infinite or NaN, and say where it is."""
        check_finite(request.v, "v")
        finite = np.isfinite(scan.xv)
        if scan.squares is not None:
            finite &= np.isfinite(scan.squares)
        for j in np.flatnonzero(~finite).tolist():
            shift = 0.0 if request.shift is None else float(request.shift[j])
            refuse_unusable(self.columns([j])[:, 0], shift, partial(self._place, j))
        raise NonFiniteError("X'v overflows although every entry of X is of a usable size; scale v down")

    def _place(self, j: int, i: int) -> str:
        return entry_name(self._first_row + i, j, self.feature_names)


def entry_name(i: int, j: int, feature_names: tuple[str, ...] | None) -> str:
    """How an error names an entry of X."""
    return f"X[{i}, {j}]" if feature_names is None else f"X[{i}, {j}] (column {feature_names[j]!r})"


def refuse_unusable(column: FloatArray, shift: float, place: Callable[[int], str]) -> None:
    """Raise if an entry of a column, less its shift, cannot be squared and summed; `place` names the entry of a row."""
    bad = np.flatnonzero(~(np.abs(column - shift) <= LARGEST))
    if len(bad) == 0:
        return
    i, value = int(bad[0]), float(column[bad[0]])
    if np.isnan(value):
        raise NonFiniteError(f"{place(i)} is NaN; drop or impute missing values")
    if np.isinf(value):
        raise NonFiniteError(f"{place(i)} is {value}; drop or replace infinite values")
    raise NonFiniteError(f"{place(i)} is {value:.3g}, too large to square; rescale the column")
