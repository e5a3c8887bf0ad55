"""A table made into a matrix and a response, by a recipe that leaves nothing to be decided (`settling` decides).

A categorical column with two levels gives one feature, for the later level; one with more levels gives a feature for
each, for it is the solver's task to say which level stands out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray
from parsifal.design import Design, open_design
from parsifal.design.dense import TableDesign
from parsifal.errors import DataError, InputError
from parsifal.tabular.column import Column, as_days, as_text, gaps, is_text, is_time, without_value
from parsifal.tabular.names import suggestion
from parsifal.tabular.reading import Table
from parsifal.tabular.recipe import Recipe
from parsifal.tabular.written import NumberForm, number_form

MOST_LEVELS = 200

Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class ColumnCode:
    """How one column becomes features.

    Attributes
    ----------
    name : str
    levels : tuple of str or None
        Of a categorical column.
    days : bool
        Dates, as days since 1970-01-01.
    form : NumberForm or None
        How numbers are written that are text.
    fill : float, str or None
        For its gaps; None refuses them.
    """

    name: str
    levels: tuple[str, ...] | None = None
    days: bool = False
    form: NumberForm | None = None
    fill: float | str | None = None

    @property
    def coded(self) -> tuple[str, ...]:
        """The levels that have a feature."""
        assert self.levels is not None
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def features(self) -> list[str]:
        if self.levels is None:
            return [self.name]
        return [f"{self.name}={level}" for level in self.coded]

    def values(self, column: Column, *, categorical: bool | None = None) -> Column:
        """The column as numbers with NaN, or as text with None for a gap."""
        if self.levels is not None if categorical is None else categorical:
            return as_text(column)
        if self.days and is_time(column):
            return as_days(column)
        if self.form is not None and is_text(column):
            return self.form.parse(column, self.name)
        _check_numbers(self.name, column)
        return column

    def apply(self, column: Column, wanted: Iterable[str] | None = None, skip: Rows | None = None) -> list[Column]:
        """The features as arrays, in order.

        Parameters
        ----------
        column : ndarray
            As it was read.
        wanted : iterable of str, optional
            Features; all by default.
        skip : ndarray of bool, optional
            Rows without a value that can be used are set in it, instead of refused.
        """
        values = self._filled(self.values(column), skip)
        if self.levels is None:
            return [values]
        chosen = None if wanted is None else set(wanted)
        pairs = zip(self.coded, self.features)
        return [values == level for level, feature in pairs if chosen is None or feature in chosen]

    def _filled(self, values: Column, skip: Rows | None) -> Column:
        bad = without_value(values)
        if bad.any():
            if self.fill is not None:
                values = np.where(bad, self.fill, values)
            elif skip is None:
                # The columns are settled by now, so leaving this one out is no way.
                raise missing(self.name, values, bad, "fill it, leave the row out, or fit with --impute median")
            else:
                skip |= bad
        if self.levels is not None:
            # A gap that is skipped is no level, and none is wanted for it.
            known = {*self.levels, None}
            strange = np.array([value not in known for value in values], dtype=bool)
            if strange.any() and skip is None:
                row = int(np.flatnonzero(strange)[0])
                raise DataError(
                    f"column {self.name!r} is {values[row]!r} in row {row + 1}, a level that the training data did not "
                    "have; correct it or leave the row out"
                )
            if skip is not None:
                skip |= strange
        return values


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """What a recipe makes of a table.

    Attributes
    ----------
    design, y, weight : the data for a fit
    codes : tuple of ColumnCode
        In the order of the table's columns.
    features : tuple of str
        Names of the design's columns.
    rows : int
        Rows used; the others had gaps.
    """

    design: Design
    y: FloatArray
    weight: FloatArray | None
    codes: tuple[ColumnCode, ...]
    features: tuple[str, ...]
    rows: int


def encode(table: Table, recipe: Recipe) -> Encoded:
    """Apply a recipe to a table; errors name the column, the row and the option that helps."""
    roles = roles_of(table, recipe)
    if not roles.used:
        if recipe.drop:
            raise InputError(f"{table.source.path} has no columns left to choose from; drop fewer")
        raise InputError(f"{table.source.path} has no columns to choose from beside {' and '.join(roles.reserved)}")
    first = {name: code_of(table, recipe, name) for name in roles.used}
    categorical = roles.categorical
    # Before rows are left out, so that a row's number is that of the file.
    values = {name: code.values(table[name], categorical=name in categorical) for name, code in first.items()}
    response = _reserved(table, recipe, roles.target, "target")
    weights = None if recipe.weights is None else _reserved(table, recipe, recipe.weights, "weight")
    needed = [response, *([] if weights is None else [weights]), *([] if recipe.impute else values.values())]
    keep = _rows(recipe, table.rows, needed)
    y = _response(response, roles.target, keep, recipe)
    weight = None if weights is None else _weights(weights, str(recipe.weights), keep)
    if keep is not None:
        values = {name: column[keep] for name, column in values.items()}
    codes = tuple(_code(first[name], column, name in categorical, recipe) for name, column in values.items())
    features = [feature for code in codes for feature in code.features]
    if len(set(features)) < len(features):
        twice = next(feature for feature in features if features.count(feature) > 1)
        raise DataError(f"two features would be named {twice!r}; rename a column")
    design: Design
    if streams(table, recipe):
        design = open_design(table.source.path)
    else:
        arrays = [array for code in codes for array in code.apply(values[code.name])]
        design = TableDesign(arrays, tuple(features))
    return Encoded(design=design, y=y, weight=weight, codes=codes, features=tuple(features), rows=y.size)


def streams(table: Table, recipe: Recipe) -> bool:
    """Whether the matrix is a file as it stands, so that a large one need not be in memory."""
    plain = not (recipe.drop or recipe.categorical or recipe.impute or recipe.drop_missing or recipe.weights)
    large = any(isinstance(column.base, np.memmap) for column in table.columns[:1])
    return plain and large and recipe.target.endswith(".npy")


# ---- Which column is what


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns of a table by what they are there for."""

    target: str
    reserved: tuple[str, ...]
    used: tuple[str, ...]
    categorical: frozenset[str]


def roles_of(table: Table, recipe: Recipe) -> Roles:
    """The columns by what a recipe says of them; a name that is not there is an error."""
    target = target_name(table, recipe.target)
    reserved = (target, *(() if recipe.weights is None else (_known(table, recipe.weights, "--weights"),)))
    drop = {_known(table, name, "--drop") for name in recipe.drop}
    if set(reserved) & drop:
        raise InputError(f"column {sorted(set(reserved) & drop)[0]!r} is dropped but needed as target or weight")
    used = tuple(name for name in table.names if name not in drop and name not in reserved)
    chosen = {_known(table, name, "--categorical") for name in recipe.categorical if name != "auto"}
    days = {_known(table, name, "--dates") for name in recipe.dates}
    numbers = {_known(table, name, "--numbers") for name in recipe.numbers}
    for name in (chosen & days) | (chosen & numbers) | (days & numbers):
        raise InputError(f"column {name!r} is given as two of categorical, dates and numbers; decide for one")
    if "auto" in recipe.categorical:
        readable = [name for name in used if name not in numbers and name not in table.unread]
        chosen |= {name for name in readable if is_text(table[name])}
    return Roles(target=target, reserved=reserved, used=used, categorical=frozenset(chosen))


def target_name(table: Table, name: str) -> str:
    """The column that `Recipe.target` means."""
    if name in table:
        return name
    if Path(table.source.path).suffix.lower() in (".npy", ".npz") and name.lstrip("-").isdigit():
        place = int(name)
        features = [other for other in table.names if other.startswith("x")]
        if -len(features) <= place < len(features):
            return features[place]
        raise InputError(f"--target {name} is no column: {table.source.path} has columns 0 to {len(features) - 1}")
    return _known(table, name, "--target")


def _known(table: Table, name: str, option: str) -> str:
    if name not in table:
        there = suggestion(name, table.names, "its columns")
        raise InputError(f"{option} {name} is not a column of {table.source.path}; {there}")
    return name


def code_of(table: Table, recipe: Recipe, name: str) -> ColumnCode:
    """How a column is read, as far as the recipe says it; levels and fills follow from the rows."""
    if name in recipe.numbers:
        return ColumnCode(name=name, form=form_of(table, recipe, name))
    return ColumnCode(name=name, days=name in recipe.dates)


def form_of(table: Table, recipe: Recipe, name: str) -> NumberForm | None:
    """How the numbers of a column of text are written; that it has a form at all is the recipe's word."""
    column = table[name]
    if not is_text(column):
        return None
    decimal = (recipe.decimal or ".") if table.dialect is None else (table.dialect.decimal or ".")
    found = number_form(column, decimal=decimal, delimiter=None)
    # The word of the recipe is taken: what does not fit is refused with its row.
    return NumberForm(decimal=decimal, thousands="," if decimal == "." else ".") if found is None else found


# ---- Rows and values


def _reserved(table: Table, recipe: Recipe, name: str, what: str) -> Column:
    """Target or weights as numbers."""
    column = table[name]
    code = code_of(table, recipe, name)
    if (is_text(column) and code.form is None) or (is_time(column) and not code.days):
        there, option = np.flatnonzero(~gaps(column)), "--weights" if what == "weight" else f"--{what}"
        if not there.size:
            raise DataError(f"the {what} {name!r} has no value in any row; choose another {option}")
        raise DataError(
            f"the {what} {name!r} is not a number in row {there[0] + 1} ({str(column[there[0]])!r}); choose another "
            f"{option}"
        )
    return code.values(column)


def _rows(recipe: Recipe, rows: int, needed: list[Column]) -> Rows | None:
    """The rows to keep, None for all."""
    if not recipe.drop_missing:
        return None
    keep = np.ones(rows, dtype=bool)
    for column in needed:
        keep &= ~without_value(column)
    if not keep.any():
        raise DataError("every row has a missing value; use --impute median, or --drop the columns with many gaps")
    return None if keep.all() else keep


def _response(column: Column, name: str, keep: Rows | None, recipe: Recipe) -> FloatArray:
    empty = without_value(column)
    if keep is None and empty.any():
        raise DataError(
            f"the target {name!r} is missing in row {np.flatnonzero(empty)[0] + 1} and {empty.sum() - 1} more; "
            "leave such rows out with --drop-missing"
        )
    y = np.ascontiguousarray(column if keep is None else column[keep], dtype=np.float64)
    if y.size < 2:
        raise DataError(f"only {y.size} row has a target; at least two are needed")
    if recipe.intercept and np.ptp(y) == 0:
        raise DataError(f"the target {name!r} is {y[0]:g} in every row, so there is nothing to explain; choose another")
    return y


def _weights(column: Column, name: str, keep: Rows | None) -> FloatArray:
    weight = np.ascontiguousarray(column if keep is None else column[keep], dtype=np.float64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = np.flatnonzero(bad)[0]
        raise DataError(f"the weight {name!r} is {weight[row]:g} in row {row + 1}; weights are numbers >= 0")
    return weight


def _code(first: ColumnCode, values: Column, categorical: bool, recipe: Recipe) -> ColumnCode:
    """The code with levels and fill, from the values of the rows that are kept."""
    name, empty = first.name, without_value(values)
    if empty.all():
        raise DataError(f"column {name!r} has no values at all; leave it out with --drop {name}")
    if empty.any() and not recipe.impute:
        raise missing(name, values, empty)
    if not categorical:
        # A median is stored whether or not it is needed here: new data may have gaps.
        return replace(first, fill=float(np.median(values[~empty])) if recipe.impute else None)
    # Not as an array of text, where every entry is as long as the longest.
    counts = Counter(value for value in values if value is not None)
    if len(counts) > MOST_LEVELS or (len(counts) == values.size and len(counts) > 10):
        raise DataError(
            f"column {name!r} has {len(counts)} levels, too many for indicators; leave it out with --drop {name}"
        )
    # Of levels that are equally frequent, the first.
    common = min(counts, key=lambda level: (-counts[level], level))
    return replace(first, levels=tuple(_sorted_levels(sorted(counts))), fill=common if recipe.impute else None)


def _sorted_levels(levels: list[str]) -> list[str]:
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels)


def missing(name: str, column: Column, empty: Rows, remedy: str | None = None) -> DataError:
    count, row = int(empty.sum()), int(np.flatnonzero(empty)[0])
    more = "" if count == 1 else f" and in {count - 1} more"
    what = "is infinite" if column.dtype.kind == "f" and np.isinf(column[row]) else "has no value"
    remedy = f"use --impute median, --drop-missing or --drop {name}" if remedy is None else remedy
    return DataError(f"column {name!r} {what} in row {row + 1}{more}; {remedy}")


def _check_numbers(name: str, column: Column) -> None:
    if is_time(column):
        raise DataError(f"column {name!r} has dates; use --dates {name}, --categorical {name} or --drop {name}")
    if is_text(column):
        # The value that is least like a number tells most.
        row = next((i for i, value in enumerate(column) if value is not None and not _is_number(value)), 0)
        raise DataError(
            f"column {name!r} is not numeric (row {row + 1} is {column[row]!r}); "
            f"use --categorical {name} or --drop {name}"
        )


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
