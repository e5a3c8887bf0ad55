"""Side constraints on which columns may be chosen together, for `solve` with ``method="cutting-plane"`` or ``"big-m"``.

Each is a statement about the indicator s (s_j = 1 if column j is chosen) and becomes rows ``lower <= a's <= upper``.
Columns are given by index or, where X has names, by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        What has to be chosen too: all of them.
    """

    column: Column
    needs: Column | Sequence[Column]


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
    """``lower <= coef' s[index] <= upper``; the largest coefficient is 1 in size."""

    index: IntArray
    coef: FloatArray
    lower: float
    upper: float

    def allows(self, support: IntArray) -> bool:
        """Whether the row holds for this support, up to rounding."""
        value = float(self.coef[np.isin(self.index, support)].sum())
        return self.lower - 1e-9 <= value <= self.upper + 1e-9


def make_rows(constraints: Constraint | Iterable[Constraint] | None, design: Design) -> list[Row]:
    """Turn constraints into rows; an error names the constraint and what is wrong with it."""
    if constraints is None:
        return []
    if isinstance(constraints, (AtMost, Exclude, Implies, Linear)):
        constraints = [constraints]
    if not isinstance(constraints, Iterable):
        raise InputError(f"constraints must be a sequence of constraints, not {constraints!r}")
    return [row for constraint in constraints for row in _rows(constraint, design)]


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
    return Row(index=index, coef=coef / size, lower=lower / size, upper=upper / size)


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
