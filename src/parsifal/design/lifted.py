"""Nonlinear features of the columns of another design, computed when they are read and never held.

An atom is a function of one column; a feature is an atom or the product of two atoms. Reading a block of features
means fetching the columns below it, applying the functions to a part of the rows that fits the cache, and handing
the result to the compiled scan. One thread does it: shared out by Python, the calls are too short to gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.deadline import check_time
from parsifal.design.base import LARGEST, Design, check_finite, check_index, check_slice
from parsifal.design.dense import DenseDesign
from parsifal.design.read import Read, Scan
from parsifal.errors import NonFiniteError

# Entries that are computed at a time: 1 MB of doubles, which stay in the cache between function and scan.
_ENTRIES = 1 << 17
# Rows of such a block; with more rows, fewer features would share the cost of a call.
_ROWS = 1 << 13
# Entries of the columns below that are fetched at a time.
_FETCHED = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Lift:
    """Which features are made of which columns, and what stands in for values that are no numbers.

    Attributes
    ----------
    calls : tuple of callable
        Functions of an array, entry by entry.
    formulas : tuple of str
        Their names, for error messages.
    column, function : int array of shape (atoms,)
        What an atom is made of.
    left, right : int array of shape (features,)
        The atoms that make up a feature; `right` is -1 where there is one.
    low, high : float array of shape (atoms,) or None
        Stand in for values below and above what can be used; None: such a value is an error.
    feature_low, feature_high : float array of shape (features,) or None
        The same for products.
    """

    calls: tuple[Callable[[FloatArray], FloatArray], ...]
    formulas: tuple[str, ...]
    column: IntArray
    function: IntArray
    left: IntArray
    right: IntArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    feature_low: FloatArray | None = None
    feature_high: FloatArray | None = None

    def atoms_of(self, features: IntArray) -> IntArray:
        """The atoms that the features are made of, sorted."""
        right = self.right[features]
        return np.unique(np.concatenate([self.left[features], right[right >= 0]]))

    def evaluate_atoms(self, atoms: IntArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Atoms as rows, from the rows `values` that hold the sorted columns; not yet checked."""
        at = np.searchsorted(columns, self.column[atoms])
        out = np.empty((len(atoms), values.shape[1]))
        function = self.function[atoms]
        with np.errstate(all="ignore"):
            for f in np.unique(function):
                rows = np.flatnonzero(function == f)
                source = at[rows]
                whole = len(source) == len(values) and np.array_equal(source, np.arange(len(values)))
                out[rows] = self.calls[f](values if whole else values[source])
        return out

    def evaluate(
        self, features: IntArray, columns: IntArray, values: FloatArray, first_row: int = 0, *, raw: bool = False
    ) -> FloatArray:
        """Features as rows, every entry usable (of products only if not `raw`); see `evaluate_atoms`."""
        atoms = self.atoms_of(features)
        atom_values = self.evaluate_atoms(atoms, columns, values)
        if not usable(atom_values):
            low, high = _at(self.low, atoms), _at(self.high, atoms)
            settle(atom_values, low, high, lambda a, i: self._complain_atom(atoms[a], i, columns, values, first_row))
        left, right = np.searchsorted(atoms, self.left[features]), self.right[features]
        paired = np.flatnonzero(right >= 0)
        if len(paired) == 0:
            return atom_values if np.array_equal(left, np.arange(len(atoms))) else atom_values[left]
        right = np.where(right < 0, -1, np.searchsorted(atoms, right))
        out = np.empty((len(features), values.shape[1]))
        # Features come in runs that share their left atom, with neighbours on the right: one call each, no gathering.
        runs = np.flatnonzero((np.diff(left) != 0) | (np.diff(right) != 1) | (right[1:] < 1)) + 1
        for start, stop in zip([0, *runs.tolist()], [*runs.tolist(), len(features)]):
            r = right[start]
            if r < 0:
                out[start] = atom_values[left[start]]
            else:
                np.multiply(atom_values[left[start]], atom_values[r : r + stop - start], out=out[start:stop])
        if not raw and not usable(out):
            low, high = _at(self.feature_low, features), _at(self.feature_high, features)
            settle(out, low, high, lambda f, i: self._complain_product(features[f], i, first_row))
        return out

    def _complain_atom(self, atom: int, i: int, columns: IntArray, values: FloatArray, first_row: int) -> str:
        j = int(self.column[atom])
        x = float(values[np.searchsorted(columns, j), i])
        return describe(self.formulas[self.function[atom]], x, first_row + i, j)

    def _complain_product(self, feature: int, i: int, first_row: int) -> str:
        names = [
            f"{self.formulas[self.function[a]]} of column {self.column[a]}"
            for a in (self.left[feature], self.right[feature])
        ]
        return f"the product of {names[0]} and {names[1]} is too large to square in row {first_row + i}"


def _at(bounds: FloatArray | None, index: IntArray) -> FloatArray | None:
    return None if bounds is None else bounds[index]


def describe(formula: str, x: float, i: int, j: int) -> str:
    """Say that a function has no usable value at an entry of the data."""
    if not np.isfinite(x):
        return f"X[{i}, {j}] is {x}; drop or impute missing and infinite values"
    return f"{formula} has no usable value at X[{i}, {j}] = {x:g}"


def usable(values: FloatArray) -> bool:
    """Whether every entry can be squared and summed; False may be a false alarm, True never is."""
    flat = values.reshape(-1)
    with np.errstate(all="ignore"):
        # Not np.dot: the threads of a BLAS go on spinning after a call.
        return bool(np.einsum("i,i->", flat, flat) <= LARGEST * LARGEST)


def settle(
    values: FloatArray, low: FloatArray | None, high: FloatArray | None, complain: Callable[[int, int], str]
) -> None:
    """Replace, in place, entries that cannot be used by the bounds of their row, or say where they are."""
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(values) <= LARGEST)
    for r in np.flatnonzero(bad.any(axis=1)):
        row = values[r]
        lost = np.flatnonzero(bad[r] if low is None else np.isnan(row))
        if len(lost) or low is None or high is None:
            raise NonFiniteError(complain(int(r), int(lost[0])))
        row[bad[r]] = np.where(row[bad[r]] > 0.0, high[r], low[r])


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What the features look like over all rows: the range of usable values, and the first row without one.

    Attributes
    ----------
    low, high : float array of shape (features,)
        Of the usable values; inf and -inf where there are none.
    unusable, undefined : int array of shape (features,)
        First row with a value that is infinite, too large or NaN, and with NaN; -1 where there is none.
    """

    low: FloatArray
    high: FloatArray
    unusable: IntArray
    undefined: IntArray

    def add(self, features: slice, values: FloatArray, first_row: int) -> None:
        """Take note of more rows, which come in any order of features but in their own order."""
        if usable(values):
            self.low[features] = np.minimum(self.low[features], values.min(axis=1))
            self.high[features] = np.maximum(self.high[features], values.max(axis=1))
            return
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(values) <= LARGEST)
        self.low[features] = np.minimum(self.low[features], np.where(bad, np.inf, values).min(axis=1))
        self.high[features] = np.maximum(self.high[features], np.where(bad, -np.inf, values).max(axis=1))
        for record, mask in ((self.unusable, bad), (self.undefined, np.isnan(values))):
            new = mask.any(axis=1) & (record[features] < 0)
            record[features][new] = first_row + mask.argmax(axis=1)[new]


class LiftedDesign(Design):
    """Nonlinear features of the columns of `base`, computed on the fly.

    Parameters
    ----------
    base : Design
        Where the columns are.
    lift : Lift
        What is made of them.
    feature_names : tuple of str
        Names of the features.
    parent : LiftedDesign, optional
        The design that this one is a slice of.
    first_row : int
        Where the slice starts.
    """

    def __init__(
        self,
        base: Design,
        lift: Lift,
        feature_names: tuple[str, ...] | None = None,
        *,
        parent: LiftedDesign | None = None,
        first_row: int = 0,
    ) -> None:
        self._base = base
        self._lift = lift
        self._parent = parent
        self._first_row = first_row
        self.shape = (base.shape[0], len(lift.left))
        self.feature_names = feature_names
        self.nbytes = base.nbytes
        # The columns' rounding is the features' own, up to how steep the functions are.
        self.eps = base.eps
        if not isinstance(base.eps, float):
            atom_eps = np.append(np.asarray(base.eps)[lift.column], 0.0)
            self.eps = np.maximum(atom_eps[lift.left], atom_eps[lift.right])
        self.reads = 0.0

    @property
    def cheap_columns(self) -> bool:
        return self._base.cheap_columns

    def read(self, request: Read) -> Scan:
        check_finite(request.v, "v")
        n, p = self.shape
        scan = Scan.zeros(p, stats=request.stats)
        for features, columns, values in self.blocks():
            where = slice(int(features[0]), int(features[-1]) + 1)
            for start in range(0, n, _ROWS):
                check_time()
                rows = slice(start, min(n, start + _ROWS))
                block = self._lift.evaluate(features, columns, values[:, rows], self._first_row + start)
                scan.add(where, DenseDesign(block.T).read(request.part(rows, where)))
        self._count(1.0)
        return scan

    def columns(self, idx: npt.ArrayLike) -> FloatArray:
        index = check_index(idx, self.shape[1])
        n = self.shape[0]
        out = np.empty((n, len(index)), order="F")
        at_a_time = max(1, _FETCHED // (2 * n))
        for begin in range(0, len(index), at_a_time):
            features = index[begin : begin + at_a_time]
            columns, values = self._fetch(features)
            for start in range(0, n, _ROWS):
                check_time()
                rows = slice(start, min(n, start + _ROWS))
                block = self._lift.evaluate(features, columns, values[:, rows], self._first_row + start)
                out[rows, begin : begin + at_a_time] = block.T
        return out

    def rows(self, start: int, stop: int) -> LiftedDesign:
        check_slice(start, stop, self.shape[0])
        return LiftedDesign(
            self._base.rows(start, stop),
            self._lift,
            self.feature_names,
            parent=self,
            first_row=self._first_row + start,
        )

    def survey(self) -> Survey:
        """Look at every feature once, before any rule about unusable values; NaN in the data below is an error."""
        n, p = self.shape
        nowhere = np.full(p, -1, dtype=np.int64)
        found = Survey(low=np.full(p, np.inf), high=np.full(p, -np.inf), unusable=nowhere, undefined=nowhere.copy())
        lift = self._lift
        products = bool(np.any(lift.right >= 0))

        for features, columns, values in self.blocks():
            where = slice(int(features[0]), int(features[-1]) + 1)
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                c, i = bad[0]
                raise NonFiniteError(describe("x", float(values[c, i]), self._first_row + int(i), int(columns[c])))
            for start in range(0, n, _ROWS):
                part = values[:, start : start + _ROWS]
                if products:
                    out = lift.evaluate(features, columns, part, self._first_row + start, raw=True)
                else:
                    out = lift.evaluate_atoms(lift.left[features], columns, part)
                found.add(where, out, start)
        return found

    def blocks(self) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Runs of features, each with the columns below it and their values as rows."""
        n, p = self.shape
        at_a_time = max(1, _ENTRIES // min(n, _ROWS))
        if n > _ROWS:
            at_a_time = min(at_a_time, max(8, _FETCHED // n))
        for start in range(0, p, at_a_time):
            features = np.arange(start, min(p, start + at_a_time))
            yield (features, *self._fetch(features))

    def _fetch(self, features: IntArray) -> tuple[IntArray, FloatArray]:
        columns = np.unique(self._lift.column[self._lift.atoms_of(features)])
        return columns, self._base.columns(columns).T
