"""Rows chosen, weighted, and columns centred and scaled, without a copy of the matrix.

Column j of a view is w * (x_j[rows] - c_j) * s_j. A read of it is a read of the matrix below: with u the
vector w v scattered to the chosen rows (zeros elsewhere),

    sum_i v_i w_i (x_ij - c_j) s_j = s_j sum_i u_i (x_ij - c_j),

where the kernel forms x_ij - c_j entry by entry, so a mean much larger than the deviations does no harm.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.design.base import Design, check_finite, check_index, check_slice, check_vector
from parsifal.design.read import Read, Scan
from parsifal.errors import InputError, NonFiniteError

# Squares of entries below this have lost digits, or all of them.
_TOO_SMALL = 1e-140


class View(Design):
    """A design seen through a choice and weighting of rows and a centring and scaling of columns.

    Every entry of the base must be finite, also in rows between the chosen ones.

    Parameters
    ----------
    base : Design
        What is looked at.
    rows : array of int, boolean mask, slice or None
        The rows to keep, none twice; None keeps all.
    row_weight : array-like of shape (rows kept,), optional
        Factor of every kept row.
    center : array-like of shape (p,), optional
        Subtracted from the columns.
    scale : array-like of shape (p,), optional
        Factor of every column, after centring; nowhere zero.
    """

    def __init__(
        self,
        base: Design,
        rows: npt.ArrayLike | slice | None = None,
        row_weight: npt.ArrayLike | None = None,
        center: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
    ) -> None:
        p = base.shape[1]
        inner, index = _choose(base, rows)
        n = inner.shape[0] if index is None else len(index)
        weight = _optional(row_weight, n, "row_weight")
        shift = _optional(center, p, "center")
        factor = _optional(scale, p, "scale")
        if factor is not None and not np.all(factor):
            raise InputError(f"scale[{np.flatnonzero(factor == 0.0)[0]}] is 0; a scale must not be zero")

        # A view of a view becomes one view of what lies below, unless a centring has to follow a weighting.
        nested = isinstance(inner, View) and inner._weight is not None and shift is not None
        if isinstance(inner, View) and not nested:
            if shift is None:
                shift = inner._center
            else:
                below = shift if inner._scale is None else shift / inner._scale
                shift = below if inner._center is None else inner._center + below
            factor = _product(inner._scale, factor)
            inner_weight = inner._weight
            if inner_weight is not None and index is not None:
                inner_weight = inner_weight[index]
            weight = _product(inner_weight, weight)
            if inner._index is not None:
                index = inner._index if index is None else inner._index[index]
            inner = inner._base
        # A nested view reads through the one below, which then counts for itself.
        self._parent = base if isinstance(base, View) and not nested else None
        self._base: Design = inner
        self._index: IntArray | None = index
        self._weight: FloatArray | None = weight
        self._center: FloatArray | None = shift
        self._scale: FloatArray | None = factor
        self.shape = (n, p)
        self.feature_names = base.feature_names
        self.nbytes = inner.nbytes
        self.eps = base.eps
        self.reads = 0.0

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
        try:
            scan = self._base.read(self._rewritten(request))
        except NonFiniteError:
            # The base counts the entries of v in its own rows.
            check_finite(request.v, "v")
            raise
        self._count(1.0)
        if self._scale is not None:
            scan.scale(self._scale)
        if request.shift is not None and self._weight is not None:
            self._subtract(request.shift, self._weight, request, scan)
        if scan.squares is not None:
            # Made by subtraction, a sum of squares may be a rounding below zero.
            np.maximum(scan.squares, 0.0, out=scan.squares)
        return scan

    def _rewritten(self, request: Read) -> Read:
        """The read as one of the base, before scaling; a shift that follows a weighting is left out."""
        weight, shift = self._weight, self._center
        if request.shift is not None and weight is None:
            below = request.shift if self._scale is None else request.shift / self._scale
            shift = below if shift is None else shift + below
        sum_weight = square_weight = None
        if request.stats:
            sum_weight = self._scatter_weight(_product(request.sum_weight, weight))
            squared = None if weight is None else weight * weight
            square_weight = self._scatter_weight(_product(request.square_weight, squared))
        return Read(
            v=self._scatter(_times(request.v, weight)),
            shift=shift,
            sum_weight=sum_weight,
            square_weight=square_weight,
            stats=request.stats,
            threads=request.threads,
        )

    def _subtract(self, shift: FloatArray, weight: FloatArray, request: Read, scan: Scan) -> None:
        """Change, in place, the results for d = w (x - c) s into those for d - shift.

        The square has a cross term, which is one more read.
        """
        a, b = request.sum_weight, request.square_weight
        xv, sums, squares = scan.xv, scan.sums, scan.squares
        xv -= shift * request.v.sum()
        if sums is None or squares is None:
            return
        n = self.shape[0]
        product = Read(v=self._scatter(_times(weight, b)), shift=self._center, threads=request.threads)
        cross = self._base.read(product).xv
        if self._scale is not None:
            cross *= self._scale
        sums -= shift * (n if a is None else a.sum())
        squares += shift * (shift * (n if b is None else b.sum()) - 2.0 * cross)

    @property
    def shifts_entries(self) -> bool:  # type: ignore[override]
        return self._weight is None and self._base.shifts_entries

    def cancelled(self) -> FloatArray | float:
        below = self._base.cancelled() * (1.0 if self._weight is None else float(np.abs(self._weight).max()))
        if self._scale is not None:
            below = below * np.abs(self._scale)
        if self._center is None or self._base.shifts_entries:
            return below
        # A difference of sums over all rows: the zeros' share of a sparse column, or the shift of a weighted view.
        weight = np.sqrt(self.shape[0]) if self._weight is None else float(np.linalg.norm(self._weight))
        return below + 2 * weight * np.abs(self._center if self._scale is None else self._center * self._scale)

    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        index = check_index(idx, self.shape[1])
        columns = self._base.columns(index)
        if self._index is not None:
            columns = np.asfortranarray(columns[self._index])
        if self._center is not None:
            columns -= self._center[index]
        if self._scale is not None:
            columns *= self._scale[index]
        if self._weight is not None:
            columns *= self._weight[:, None]
        return columns

    def rows(self, start: int, stop: int) -> View:
        check_slice(start, stop, self.shape[0])
        # Cut below the view, so that a slice of a slice reads no more than it needs.
        part = View(
            self._base,
            rows=slice(start, stop) if self._index is None else self._index[start:stop],
            row_weight=None if self._weight is None else self._weight[start:stop],
            center=self._center,
            scale=self._scale,
        )
        part._parent = self
        return part

    def _scatter(self, vector: FloatArray) -> FloatArray:
        if self._index is None:
            return vector
        full = np.zeros(self._base.shape[0])
        full[self._index] = vector
        return full

    def _scatter_weight(self, weight: FloatArray | None) -> FloatArray | None:
        if self._index is None:
            return weight
        return self._scatter(np.ones(len(self._index)) if weight is None else weight)


def standardized(
    design: Design, *, with_mean: bool, with_std: bool, row_weight: npt.ArrayLike | None = None
) -> tuple[View, FloatArray, FloatArray]:
    """Centre columns on their mean and divide them by their standard deviation, at the price of one read.

    The read is shifted by the first row, so variances do not cancel; a column whose first entry is far from
    the others is looked at once more, alone. Weights are the roots of observation weights: means and
    deviations are taken with row_weight^2, and the columns of the result have mean 0 and sum of squares
    sum(row_weight^2), which is n without weights.

    Parameters
    ----------
    design : Design
        What to standardise.
    with_mean, with_std : bool
        Whether to centre, whether to scale. Deviations are from the mean in any case.
    row_weight : array-like of shape (n,), optional
        Row weights of the view.

    Returns
    -------
    view : View
        The design with weighted rows and standardised columns.
    center, scale : ndarray of shape (p,)
        What is subtracted, and the factor that follows. The scale of a column that is constant up to the
        rounding of its values is 1.
    """
    n, p = design.shape
    r = _optional(row_weight, n, "row_weight")
    center, scale = np.zeros(p), np.ones(p)
    if with_mean or with_std:
        weight = None if r is None else r * r
        mass = float(n) if weight is None else float(weight.sum())
        if mass <= 0.0:
            raise InputError("row_weight is zero everywhere")
        first = 0 if weight is None else int(np.flatnonzero(weight)[0])
        shift = design.rows(first, first + 1).scan(np.ones(1)).xv
        scan = design.read(Read(v=np.zeros(n), shift=shift, sum_weight=weight, square_weight=weight, stats=True))
        if scan.sums is None or scan.squares is None:
            raise AssertionError("a scan with statistics gives them")
        offset = scan.sums / mass
        mean = shift + offset
        variance = np.maximum(scan.squares / mass - offset * offset, 0.0)
        _look_again(design, weight, mass, offset, mean, variance)
        if with_mean:
            center = mean
        if with_std:
            size = np.abs(shift) + np.abs(offset) + np.abs(scan.sums)
            tiny = np.flatnonzero((size > 0.0) & (size < _TOO_SMALL) & (variance < _TOO_SMALL**2))
            if tiny.size:
                raise InputError(
                    f"column {tiny[0]} has entries of about {size[tiny[0]]:.0e}, too small to square; "
                    "multiply it by a power of ten, or drop it"
                )
            deviation = np.sqrt(variance)
            varies = deviation > design.eps * np.abs(mean)
            scale[varies] = 1.0 / deviation[varies]
    view = View(design, row_weight=r, center=center if with_mean else None, scale=scale if with_std else None)
    return view, center, scale


def _look_again(
    design: Design,
    weight: FloatArray | None,
    mass: float,
    offset: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Redo, in place, the columns whose first entry was too far from the mean to shift by."""
    far = np.flatnonzero(offset * offset > 1e4 * variance)
    block = max(1, (1 << 19) // design.shape[0])
    for start in range(0, len(far), block):
        idx = far[start : start + block]
        columns = design.columns(idx)
        for j, column in zip(idx, columns.T):
            d = column - mean[j]
            correction = (d.sum() if weight is None else weight @ d) / mass
            d -= correction
            mean[j] += correction
            variance[j] = (d @ d if weight is None else weight @ (d * d)) / mass


def _choose(base: Design, rows: npt.ArrayLike | slice | None) -> tuple[Design, IntArray | None]:
    """The smallest slice of `base` that holds the rows, and their places in it (None: all, in order)."""
    n = base.shape[0]
    if rows is None:
        return base, None
    if isinstance(rows, slice):
        start, stop, step = rows.indices(n)
        if step == 1:
            check_slice(start, stop, n)
            return (base, None) if stop - start == n else (base.rows(start, stop), None)
        index: IntArray = np.arange(start, stop, step, dtype=np.int64)
    else:
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            if chosen.shape != (n,):
                raise InputError(f"rows is a mask of shape {chosen.shape}; it must have shape ({n},)")
            chosen = np.flatnonzero(chosen)
        index = check_index(chosen, n, "rows", "rows")
    if len(index) == 0:
        raise InputError("rows is empty; a view needs at least one row")
    count = np.bincount(index)
    if count.max() > 1:
        raise InputError(f"rows holds {count.argmax()} more than once; use row_weight to count a row twice")
    low, high = int(index.min()), int(index.max()) + 1
    if high - low < n:
        base = base.rows(low, high)
        index = index - low
    return base, None if np.array_equal(index, np.arange(high - low)) else index


def _optional(values: npt.ArrayLike | None, length: int, name: str) -> FloatArray | None:
    if values is None:
        return None
    vector = check_vector(values, length, name)
    check_finite(vector, name)
    return vector


def _times(vector: FloatArray, factor: FloatArray | None) -> FloatArray:
    return vector if factor is None else vector * factor


def _product(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    """Product of two vectors, None standing for ones."""
    return second if first is None else _times(first, second)
