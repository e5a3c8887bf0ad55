"""One read of all columns: what is asked for, and the answer.

A read gives, for every column j at once and with d_ij = x_ij - shift_j,

    xv_j = sum_i v_i d_ij,   sums_j = sum_i a_i d_ij,   squares_j = sum_i b_i d_ij^2,

and shows whether every entry is finite: with a finite v, the results are finite only if the entries are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray
from parsifal.deadline import thread_limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """What is asked of every column; vectors are contiguous float64, of the right lengths.

    Parameters
    ----------
    v : ndarray of shape (n,)
        The vector to multiply with.
    shift : ndarray of shape (p,), optional
        Subtracted from the columns, entry by entry.
    sum_weight, square_weight : ndarray of shape (n,), optional
        The weights a and b of the rows in the statistics, ones by default.
    stats : bool
        Whether to give column sums and sums of squares too.
    threads : int
        Threads for a large read; 0 means as many as the solve around it has. The result does not depend on it.
    """

    v: FloatArray
    shift: FloatArray | None = None
    sum_weight: FloatArray | None = None
    square_weight: FloatArray | None = None
    stats: bool = False
    threads: int = 0

    @property
    def thread_count(self) -> int:
        """Threads that the read may use."""
        return self.threads or thread_limit()

    def part(self, rows: slice, columns: slice) -> Read:
        """The same of a rectangle, on one thread: rectangles are what a large read is shared out in."""
        shift, a, b = self.shift, self.sum_weight, self.square_weight
        return Read(
            v=self.v[rows],
            shift=None if shift is None else shift[columns],
            sum_weight=None if a is None else a[rows],
            square_weight=None if b is None else b[rows],
            stats=self.stats,
            threads=1,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """The result of one read.

    Parameters
    ----------
    xv : ndarray of shape (p,)
        X'v.
    sums, squares : ndarray of shape (p,) or None
        Column sums and column sums of squares, if asked for.
    """

    xv: FloatArray
    sums: FloatArray | None
    squares: FloatArray | None

    @classmethod
    def zeros(cls, p: int, *, stats: bool) -> Scan:
        """The results of no rows, to add to."""
        return cls(xv=np.zeros(p), sums=np.zeros(p) if stats else None, squares=np.zeros(p) if stats else None)

    def add(self, columns: slice, part: Scan) -> None:
        """Add, in place, the results of some rows of these columns."""
        for total, values in zip(self._arrays(), part._arrays()):
            total[columns] += values

    def scale(self, factor: FloatArray) -> None:
        """Change, in place, to the results for columns that are multiplied by the factor."""
        np.multiply(self.xv, factor, out=self.xv)
        if self.sums is not None and self.squares is not None:
            np.multiply(self.sums, factor, out=self.sums)
            np.multiply(self.squares, factor * factor, out=self.squares)

    def is_finite(self) -> bool:
        """Whether every result is a number."""
        return all(bool(np.isfinite(values).all()) for values in self._arrays())

    def _arrays(self) -> list[FloatArray]:
        return [values for values in (self.xv, self.sums, self.squares) if values is not None]


def scan_compiled(matrix: Any, request: Read, out: Scan, seconds: float = math.inf) -> bool:
    """Have a matrix of `parsifal._core` fulfil a request.

    Parameters
    ----------
    matrix : object of parsifal._core
        What is read.
    request : Read
        What is asked for.
    out : Scan
        Gets the results.
    seconds : float
        Time after which `TimeUp` is raised.

    Returns
    -------
    bool
        Whether all results are finite.
    """
    finite: bool = matrix.scan(
        v=request.v,
        shift=request.shift,
        sum_weight=request.sum_weight,
        square_weight=request.square_weight,
        xv=out.xv,
        sums=out.sums,
        squares=out.squares,
        threads=request.thread_count,
        seconds=seconds,
    )
    return finite
