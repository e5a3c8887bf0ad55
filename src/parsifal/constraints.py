"""Side constraints on which columns may be chosen together, for `solve` and its relatives.

Each is a statement about the indicator s (s_j = 1 if column j is chosen) and becomes rows ``lower <= a's <= upper``.
Columns are given by index or, where X has names, by name. The search and its certificates take the rows as whole
numbers (`SideRows`), so that what is allowed is beyond doubt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.design import Design
from parsifal.errors import InputError

__all__ = ["AtMost", "Constraint", "Exclude", "Implies", "Linear"]

Column: TypeAlias = int | str


@dataclass(frozen=True)
class AtMost:
    """At most `count` of the `columns` are chosen.

    Parameters
    ----------
    columns : sequence of indices or names
        A group of columns.
    count : int
        How many of them may be chosen, >= 0.
    """

    columns: Sequence[Column]
    count: int = 1


@dataclass(frozen=True)
class Exclude:
    """Of these columns at most one is chosen: ``Exclude(3, 7)``.

    Parameters
    ----------
    *columns : indices or names
        Two columns or more.
    """

    columns: tuple[Column, ...]

    def __init__(self, *columns: Column) -> None:
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True)
class Implies:
    """`column` is chosen only together with `needs` (an interaction only with its main effect, say).

    Parameters
    ----------
    column : index or name
        The column that depends on others.
    needs : index or name, or a sequence of them
        What has to be chosen too: all of them, or
    any : bool
        any one of them (a product needs one of its factors: weak hierarchy).
    """

    column: Column
    needs: Column | Sequence[Column]
    any: bool = field(default=False, kw_only=True)

    def __repr__(self) -> str:
        return f"Implies(column={self.column!r}, needs={self.needs!r}{', any=True' if self.any else ''})"


@dataclass(frozen=True)
class Linear:
    """``lower <= sum of coefs[j] over the chosen columns j <= upper``.

    Parameters
    ----------
    coefs : mapping from column to number, or array of shape (p,)
        The weights; columns that a mapping leaves out count nothing.
    lower, upper : float
        The limits; infinite where there is none.
    """

    coefs: Mapping[Column, float] | Any
    lower: float = -math.inf
    upper: float = math.inf


Constraint: TypeAlias = AtMost | Exclude | Implies | Linear


@dataclass(frozen=True, kw_only=True)
class Row:
    """``lower <= coef' s[index] <= upper``; the largest coefficient is 1 in size, and was `size` before."""

    index: IntArray
    coef: FloatArray
    lower: float
    upper: float
    size: float = 1.0

    def allows(self, support: IntArray) -> bool:
        """Whether the row holds for this support, up to rounding."""
        value = float(self.coef[np.isin(self.index, support)].sum())
        return self.lower - 1e-9 <= value <= self.upper + 1e-9


def make_rows(constraints: Constraint | Iterable[Constraint] | None, design: Design) -> list[Row]:
    """Turn constraints into rows; an error names the constraint and what is wrong with it."""
    return [row for constraint in _listed(constraints) for row in _rows(constraint, design)]


def _listed(constraints: Constraint | Iterable[Constraint] | None) -> Iterable[Constraint]:
    if constraints is None:
        return []
    if isinstance(constraints, (AtMost, Exclude, Implies, Linear)):
        return [constraints]
    if not isinstance(constraints, Iterable):
        raise InputError(f"constraints must be a sequence of constraints, not {constraints!r}")
    return constraints


@dataclass(frozen=True, kw_only=True, eq=False)
class SideRows:
    """Rows of whole numbers: a support is allowed if in each the coefficients of its columns sum up to at most `upper`.

    Attributes
    ----------
    offset, column, coef : int arrays
        The columns of row r, and their coefficients, are those from ``offset[r]`` to ``offset[r + 1]``.
    upper : int array
        One number a row.
    labels : tuple of str
        The constraint that each row comes from, for messages.
    """

    offset: IntArray
    column: IntArray
    coef: IntArray
    upper: IntArray
    labels: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.upper.size)

    @cached_property
    def _row(self) -> IntArray:
        return np.repeat(np.arange(self.count), np.diff(self.offset))

    def values(self, support: IntArray) -> IntArray:
        """The left-hand side of every row for a support."""
        chosen = np.isin(self.column, support)
        value = np.zeros(self.count, dtype=np.int64)
        np.add.at(value, self._row[chosen], self.coef[chosen])
        return value

    def allow(self, support: IntArray) -> bool:
        """Whether every row holds for this support."""
        return self.count == 0 or bool(np.all(self.values(support) <= self.upper))

    def broken(self, support: IntArray) -> list[str]:
        """The constraints that this support breaks."""
        return [self.labels[r] for r in np.flatnonzero(self.values(support) > self.upper)]

    def take(self, index: IntArray, p: int) -> SideRows:
        """The rows on the columns `index` alone, in positions of `index`; all other columns are out."""
        if self.count == 0:
            return self
        position = np.full(p, -1, dtype=np.int64)
        position[index] = np.arange(index.size)
        keep = position[self.column] >= 0
        counts = np.bincount(self._row[keep], minlength=self.count)
        return SideRows(
            offset=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            column=position[self.column[keep]],
            coef=self.coef[keep],
            upper=self.upper,
            labels=self.labels,
        )

    def caps(self, p: int) -> tuple[IntArray, IntArray]:
        """The rows that say "at most so many of these" and name no column of an earlier such row: for every one of p
        columns the number of its cap, or -1, and what the caps allow."""
        cap: IntArray = np.full(p, -1, dtype=np.int64)
        most: list[int] = []
        for r in range(self.count):
            part = slice(self.offset[r], self.offset[r + 1])
            if self.upper[r] >= 0 and np.all(self.coef[part] == 1) and np.all(cap[self.column[part]] < 0):
                cap[self.column[part]] = len(most)
                most.append(int(self.upper[r]))
        return cap, np.array(most, dtype=np.int64)

    def without(self, labels: set[str]) -> SideRows:
        """The rows that do not come from these constraints."""
        return join_rows([self.row(r) for r in range(self.count) if self.labels[r] not in labels])

    def row(self, r: int) -> SideRows:
        """One row of them."""
        part = slice(self.offset[r], self.offset[r + 1])
        size = int(self.offset[r + 1] - self.offset[r])
        return SideRows(
            offset=np.array([0, size]),
            column=self.column[part],
            coef=self.coef[part],
            upper=self.upper[r : r + 1],
            labels=self.labels[r : r + 1],
        )


NO_ROWS = SideRows(
    offset=np.zeros(1, dtype=np.int64),
    column=np.zeros(0, dtype=np.int64),
    coef=np.zeros(0, dtype=np.int64),
    upper=np.zeros(0, dtype=np.int64),
)


def join_rows(parts: Sequence[SideRows]) -> SideRows:
    """All rows of these."""
    counts = [np.diff(part.offset) for part in parts]
    none = np.zeros(0, dtype=np.int64)
    return SideRows(
        offset=np.concatenate([[0], np.cumsum(np.concatenate([none, *counts]))]).astype(np.int64),
        column=np.concatenate([none, *(part.column for part in parts)]).astype(np.int64),
        coef=np.concatenate([none, *(part.coef for part in parts)]).astype(np.int64),
        upper=np.concatenate([none, *(part.upper for part in parts)]).astype(np.int64),
        labels=tuple(label for part in parts for label in part.labels),
    )


def at_least(count: int, p: int) -> SideRows:
    """The row that at least so many of all columns are chosen."""
    return SideRows(
        offset=np.array([0, p]),
        column=np.arange(p),
        coef=np.full(p, -1, dtype=np.int64),
        upper=np.array([-count]),
        labels=(f"at least {count} columns",),
    )


def side_rows(constraints: Constraint | Iterable[Constraint] | None, design: Design) -> SideRows:
    """The constraints as rows of whole numbers."""
    return join_rows(
        [
            side
            for constraint in _listed(constraints)
            for row in _rows(constraint, design)
            for side in _whole(row, str(constraint))
        ]
    )


# Whole numbers up to it are taken as they are; other coefficients are put on a grid.
_MOST_WHOLE = 2.0**40
_SLACK = 1e-9  # what a row may be exceeded by, relative to its largest coefficient: as the cutting planes have it


def _whole(row: Row, label: str) -> Iterator[SideRows]:
    coef, limits = row.coef * row.size, np.array([row.lower, row.upper]) * row.size
    finite = limits[np.isfinite(limits)]
    numbers = np.concatenate([coef, finite])
    # Divided by the row's size and multiplied again, whole numbers come back but for a rounding.
    near = np.abs(numbers - np.round(numbers)) <= 1e-12 * np.abs(numbers)
    if np.all(near) and np.all(np.abs(numbers) < _MOST_WHOLE):
        limits, unit, slack = np.round(limits), 1.0, 0.0
    else:
        bits = 60 - int(np.ceil(np.log2(max(row.coef.size, 2))))
        coef, limits, unit, slack = row.coef, np.array([row.lower, row.upper]), 2.0 ** min(bits, 50), _SLACK
        if row.coef.size / unit > 0.1 * _SLACK:
            raise InputError(
                f"{label} has {row.coef.size} coefficients that are no whole numbers, too many for the search; "
                'use whole numbers, or method="cutting-plane"'
            )
    whole = np.round(coef * unit).astype(np.int64)
    most = float(np.abs(whole).sum())
    for sign, limit in ((1, limits[1]), (-1, -limits[0])):
        edge = np.floor((limit + slack) * unit)
        if edge >= most:
            continue  # nothing breaks it
        yield SideRows(
            offset=np.array([0, row.index.size]),
            column=row.index,
            coef=sign * whole,
            upper=np.array([int(max(edge, -most - 1))]),
            labels=(label,),
        )


def restrict(rows: Sequence[Row], index: IntArray, p: int) -> list[Row]:
    """The rows on the columns `index` alone, in positions of `index`; all other columns are out."""
    position = np.full(p, -1, dtype=np.int64)
    position[index] = np.arange(index.size)
    small = []
    for row in rows:
        keep = position[row.index] >= 0
        small.append(
            Row(index=position[row.index[keep]], coef=row.coef[keep], lower=row.lower, upper=row.upper),
        )
    return small


def _rows(constraint: Constraint, design: Design) -> Iterator[Row]:
    if isinstance(constraint, Implies):
        needs = constraint.needs
        others = list(needs) if isinstance(needs, Iterable) and not isinstance(needs, str) else [needs]
        if not isinstance(constraint.any, (bool, np.bool_)):
            raise InputError(f"{constraint}: any must be True or False")
        if constraint.any:
            if not others:
                raise InputError(f"{constraint} names nothing that the column needs")
            index = _columns([constraint.column, *others], design, constraint)
            coef = np.concatenate([[1.0], np.full(len(others), -1.0)])
            yield Row(index=index, coef=coef, lower=-math.inf, upper=0.0)
            return
        for other in others:
            pair = _columns([constraint.column, other], design, constraint)
            yield Row(index=pair, coef=np.array([1.0, -1.0]), lower=-math.inf, upper=0.0)
    elif isinstance(constraint, Exclude):
        if len(constraint.columns) < 2:
            raise InputError(f"{constraint} names fewer than two columns")
        index = _columns(constraint.columns, design, constraint)
        yield Row(index=index, coef=np.ones(index.size), lower=-math.inf, upper=1.0)
    elif isinstance(constraint, AtMost):
        count = constraint.count
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise InputError(f"{constraint}: count must be a whole number >= 0")
        index = _columns(constraint.columns, design, constraint)
        yield Row(index=index, coef=np.ones(index.size), lower=-math.inf, upper=float(count))
    elif isinstance(constraint, Linear):
        yield _linear(constraint, design)
    else:
        raise InputError(
            f"{constraint!r} is no constraint; use AtMost, Implies, Exclude or Linear of parsifal.constraints"
        )


def _linear(constraint: Linear, design: Design) -> Row:
    p = design.shape[1]
    if isinstance(constraint.coefs, Mapping):
        index = _columns(list(constraint.coefs), design, constraint)
        coef = np.array([_number(value, constraint) for value in constraint.coefs.values()])
    else:
        try:
            coef = np.asarray(constraint.coefs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("Linear: coefs must be a mapping from columns to numbers, or a vector") from None
        if coef.shape != (p,):
            raise InputError(f"Linear: coefs has shape {coef.shape}, but X has {p} columns")
        index = np.arange(p)
    try:
        lower, upper = float(constraint.lower), float(constraint.upper)
    except (TypeError, ValueError):
        raise InputError("Linear: coefs must be finite, and lower and upper numbers") from None
    if not np.isfinite(coef).all() or math.isnan(lower) or math.isnan(upper):
        raise InputError("Linear: coefs must be finite, and lower and upper numbers")
    if lower > upper:
        raise InputError(f"Linear: lower = {lower} is above upper = {upper}")
    nonzero = np.flatnonzero(coef)
    index, coef = index[nonzero].astype(np.int64), coef[nonzero]
    # A row of size one means the same to every backend's tolerance.
    size = float(np.abs(coef).max(initial=0.0)) or 1.0
    return Row(index=index, coef=coef / size, lower=lower / size, upper=upper / size, size=size)


def _number(value: Any, constraint: Constraint) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{constraint}: {value!r} is no number") from None


def _columns(columns: Iterable[Any], design: Design, constraint: Constraint) -> IntArray:
    names, p = design.feature_names, design.shape[1]
    found = []
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"{constraint}: columns must be a sequence of indices or names")
    for column in columns:
        if isinstance(column, str):
            if names is None or column not in names:
                raise InputError(f"{constraint} names column {column!r}, which X does not have")
            found.append(names.index(column))
        elif isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < p:
            found.append(int(column))
        else:
            raise InputError(f"{constraint} names column {column!r}, but X has columns 0 to {p - 1}")
    if len(set(found)) < len(found):
        raise InputError(f"{constraint} names a column twice")
    return np.array(found, dtype=np.int64)
