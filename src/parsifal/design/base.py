"""What the method asks of a matrix: its shape, one read of all columns, a few columns, a product with a few.

One read gives, for every column j at once and with d_ij = x_ij - shift_j,

    xv_j = sum_i v_i d_ij,   sums_j = sum_i a_i d_ij,   squares_j = sum_i b_i d_ij^2,

and tells whether every entry is finite: with a finite v, the results are finite only if the entries are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError, NonFiniteError
from parsifal.limits import seconds_left, thread_limit

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# A column of entries up to this size can be squared and summed over 1e8 rows without overflow.
LARGEST = 1e150

# Columns that a solve may hold of any matrix.
_HELD_BYTES = 1 << 26

# Columns that matvec holds at a time: 4 MB of doubles, which stay in the cache between copy and product.
_MATVEC_ENTRIES = 1 << 19


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


class Design(ABC):
    """A matrix that can be read by columns; see `as_design`.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    feature_names : tuple of str or None
        Names of the columns, if the data came with names.
    nbytes : int
        Bytes that one full read touches.
    reads : float
        Full reads so far; reading a slice of the rows counts as its fraction, for the whole matrix too.
    """

    shape: tuple[int, int]
    feature_names: tuple[str, ...] | None
    nbytes: int
    reads: float
    # Relative rounding error of the entries as stored, one number or one a column.
    eps: float | FloatArray

    @property
    def cheap_rows(self) -> bool:
        """Whether reading a few rows costs about their share of a full read."""
        return True

    @property
    def cheap_columns(self) -> bool:
        """Whether a few columns can be had in a moment."""
        return True

    @property
    def held_bytes(self) -> int:
        """Bytes of columns that a solve may keep in memory: a small part of X, or of what there is room for."""
        return max(_HELD_BYTES, self.nbytes // 20)

    def scan(self, v: npt.ArrayLike, *, stats: bool = False, threads: int = 0) -> Scan:
        """Read every entry once.

        Parameters
        ----------
        v : array-like of shape (n,)
            The vector to multiply with.
        stats : bool
            Whether to give column sums and sums of squares too.
        threads : int
            Threads for a large read; 0 means as many as the solve around it has, or every core that this process may
            use. The result does not depend on it.

        Returns
        -------
        Scan
            X'v, and the statistics if asked for.
        """
        if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 0:
            raise InputError(f"threads must be a whole number >= 0 (0: every core), not {threads!r}")
        return self.read(check_vector(v, self.shape[0], "v"), stats=stats, threads=int(threads))

    @abstractmethod
    def read(
        self,
        v: FloatArray,
        *,
        shift: FloatArray | None = None,
        sum_weight: FloatArray | None = None,
        square_weight: FloatArray | None = None,
        stats: bool = False,
        threads: int = 0,
    ) -> Scan:
        """Scan with a shift of the columns and weights of the rows, on vectors that are known to be right.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Contiguous float64.
        shift : ndarray of shape (p,), optional
            Subtracted from the columns, entry by entry.
        sum_weight, square_weight : ndarray of shape (n,), optional
            The weights a and b of the rows in the statistics.
        stats, threads
            As in `scan`.
        """

    @abstractmethod
    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        """Copy the columns `idx` to a new Fortran-ordered float64 array."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Design:
        """The rows from `start` up to `stop` as a design of its own, without a copy."""

    # Whether a read forms x_ij - shift_j entry by entry; a sparse one does not.
    shifts_entries: bool = True

    def rounding_norms(self, norms: FloatArray) -> FloatArray:
        """What the rounding errors of X'v are relative to, per column: the columns' norms, unless a read cancels."""
        return norms + self.cancelled()

    def cancelled(self) -> FloatArray | float:
        """What a read adds to the columns' norms by subtracting sums instead of entries."""
        return 0.0

    def matvec(self, idx: npt.ArrayLike, coef: npt.ArrayLike) -> FloatArray:
        """Multiply the columns `idx` with `coef`, holding a block of columns at a time."""
        index = check_index(idx, self.shape[1])
        weights = check_vector(coef, len(index), "coef")
        n = self.shape[0]
        out = np.zeros(n)
        block = max(1, _MATVEC_ENTRIES // n)
        for start in range(0, len(index), block):
            part = slice(start, start + block)
            out += self.columns(index[part]) @ weights[part]
        return out


class Leaf(Design):
    """A design that owns data: a compiled matrix `_matrix`, and the memory it points to.

    Parameters
    ----------
    matrix : object of parsifal._core
        Has `scan` and `gather`.
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

    def read(
        self,
        v: FloatArray,
        *,
        shift: FloatArray | None = None,
        sum_weight: FloatArray | None = None,
        square_weight: FloatArray | None = None,
        stats: bool = False,
        threads: int = 0,
    ) -> Scan:
        p = self.shape[1]
        xv = np.empty(p)
        sums = np.empty(p) if stats else None
        squares = np.empty(p) if stats else None
        finite = self._matrix.scan(
            v, shift, sum_weight, square_weight, xv, sums, squares, threads or thread_limit(), seconds_left()
        )
        self._count(1.0)
        if not finite:
            self._explain(v, shift, xv, squares)
        return Scan(xv=xv, sums=sums, squares=squares)

    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        index = check_index(idx, self.shape[1])
        out = np.empty((self.shape[0], len(index)), order="F")
        self._gather(index, out)
        return out

    def _gather(self, index: IntArray, out: FloatArray) -> None:
        self._matrix.gather(index, out, thread_limit(), seconds_left())

    def _count(self, reads: float) -> None:
        self.reads += reads
        if self._parent is not None:
            self._parent._count(reads * self.shape[0] / self._parent.shape[0])

    def _explain(self, v: FloatArray, shift: FloatArray | None, xv: FloatArray, squares: FloatArray | None) -> NoReturn:
        """Find the entry that made a result infinite or NaN, and say where it is."""
        check_finite(v, "v")
        finite = np.isfinite(xv) if squares is None else np.isfinite(xv) & np.isfinite(squares)
        for j in np.flatnonzero(~finite):
            column = self.columns([j])[:, 0]
            size = np.abs(column if shift is None else column - shift[j])
            bad = np.flatnonzero(~(size <= LARGEST))
            if len(bad):
                raise NonFiniteError(self._describe(int(bad[0]), int(j), float(column[bad[0]])))
        raise NonFiniteError("X'v overflows although every entry of X is of a usable size; scale v down")

    def _describe(self, i: int, j: int, value: float) -> str:
        name = "" if self.feature_names is None else f" (column {self.feature_names[j]!r})"
        place = f"X[{self._first_row + i}, {j}]{name}"
        if np.isnan(value):
            return f"{place} is NaN; drop or impute missing values"
        if np.isinf(value):
            return f"{place} is {value}; drop or replace infinite values"
        return f"{place} is {value:.3g}, too large to square; rescale the column"


def aligned(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """In C order, and with entries where their type wants them, as compiled loops need it; a copy if it must be.

    Bytes from a file or a network message may start anywhere.
    """
    return np.require(values, dtype, ("C_CONTIGUOUS", "ALIGNED", "ENSUREARRAY"))


def check_vector(v: npt.ArrayLike, length: int, name: str) -> FloatArray:
    """Give `v` as a contiguous float64 vector of the length, or say why it is none."""
    if type(v) is np.ndarray and v.dtype == np.float64 and v.shape == (length,) and v.flags.carray:
        return v
    try:
        if np.asarray(v).dtype.kind == "c":
            raise TypeError
        vector = aligned(v, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a vector of {length} numbers") from None
    if np.shape(v) != (length,):
        raise InputError(f"{name} has shape {np.shape(v)}; it must have shape ({length},)")
    return vector


def check_finite(v: FloatArray, name: str) -> None:
    """Raise if an entry of the vector is NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(v))
    if len(bad):
        raise NonFiniteError(f"{name}[{bad[0]}] is {v[bad[0]]}; it must be finite")


def check_index(idx: npt.ArrayLike, length: int, name: str = "idx", what: str = "columns") -> IntArray:
    """Give `idx` as int64 positions in [0, length), or say which one is not."""
    index = np.asarray(idx)
    if index.ndim != 1:
        raise InputError(f"{name} has shape {index.shape}; it must be a vector of {what}")
    if index.size == 0:
        return np.empty(0, dtype=np.int64)
    if index.dtype.kind not in "iu":
        raise InputError(f"{name} has dtype {index.dtype}; it must hold integers")
    low, high = index.min(), index.max()
    if low < 0 or high >= length:
        wrong = low if low < 0 else high
        raise InputError(f"{name} holds {wrong}, but the {what} are 0 to {length - 1}")
    return aligned(index, np.int64)


def check_slice(start: int, stop: int, n: int) -> None:
    """Raise unless the rows from `start` up to `stop` are there and not none."""
    whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in (start, stop))
    if not whole or not 0 <= start < stop <= n:
        raise InputError(f"rows {start} to {stop} do not make a slice of {n} rows")


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """Give column names as strings; a name that stands for two columns is refused."""
    out = tuple(str(name) for name in names)
    if len(set(out)) < len(out):
        first: dict[str, int] = {}
        for j, name in enumerate(out):
            if name in first:
                raise InputError(f"columns {first[name]} and {j} are both named {name!r}; rename one of them")
            first[name] = j
    return out
