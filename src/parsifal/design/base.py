"""What the method asks of a matrix: its shape, one read of all columns, a few columns, a product with a few."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray, aligned
from parsifal.design.read import Read, Scan
from parsifal.errors import InputError, NonFiniteError

# A column of entries up to this size can be squared and summed over 1e8 rows without overflow.
LARGEST = 1e150

# Columns that a solve may hold of any matrix.
_HELD_BYTES = 1 << 26

# Columns that matvec holds at a time: 4 MB of doubles, which stay in the cache between copy and product.
_MATVEC_ENTRIES = 1 << 19


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
    # The design that this one is a slice of, whose reads it adds to.
    _parent: Design | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.shape[0]} rows, {self.shape[1]} columns>"

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
        return self.read(Read(v=check_vector(v, self.shape[0], "v"), stats=stats, threads=int(threads)))

    @abstractmethod
    def read(self, request: Read) -> Scan:
        """Scan with a shift of the columns and weights of the rows, on vectors that are known to be right."""

    @abstractmethod
    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        """Copy the columns `idx` to a new Fortran-ordered float64 array."""

    def whole(self) -> FloatArray:
        """All columns, as `columns` gives them, to be looked at only; it counts as a read."""
        columns = self.columns(np.arange(self.shape[1]))
        self._count(1.0)
        return columns

    @abstractmethod
    def rows(self, start: int, stop: int) -> Design:
        """The rows from `start` up to `stop` as a design of its own, without a copy."""

    def _count(self, reads: float) -> None:
        """Add to the reads of this design, and their share to those of the one it is a slice of."""
        self.reads += reads
        if self._parent is not None:
            self._parent._count(reads * self.shape[0] / self._parent.shape[0])

    # Whether a read forms x_ij - shift_j entry by entry; a sparse one does not.
    shifts_entries: bool = True

    def rounding_norms(self, norms: FloatArray) -> FloatArray:
        """What the rounding errors of X'v are relative to, per column: the columns' norms, unless a read cancels."""
        return norms + self.cancelled()

    def cancelled(self) -> FloatArray | float:
        """What a read adds to the columns' norms by subtracting sums instead of entries."""
        return 0.0

    @property
    def _columns_at_a_time(self) -> int:
        """Columns that `matvec` holds."""
        return max(1, _MATVEC_ENTRIES // self.shape[0])

    def matvec(self, idx: npt.ArrayLike, coef: npt.ArrayLike) -> FloatArray:
        """Multiply the columns `idx` with `coef`, holding a block of columns at a time."""
        index = check_index(idx, self.shape[1])
        weights = check_vector(coef, len(index), "coef")
        out = np.zeros(self.shape[0])
        block = self._columns_at_a_time
        for start in range(0, len(index), block):
            part = slice(start, start + block)
            out += self.columns(index[part]) @ weights[part]
        return out


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless this is the shape of a matrix that has entries."""
    if len(shape) != 2:
        raise InputError(f"X has shape {shape}; it must have two dimensions")
    if 0 in shape:
        raise InputError(f"X has shape {shape}; it needs at least one row and one column")


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
