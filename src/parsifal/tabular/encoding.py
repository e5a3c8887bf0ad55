"""A table made into a matrix and a response: indicators for categories, medians for gaps, errors for all else.

A categorical column with two levels gives one feature, for the later level; one with more levels gives a feature for
each, for it is the solver's task to say which level stands out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.design import Design, open_design
from parsifal.design.dense import TableDesign
from parsifal.errors import DataError, InputError
from parsifal.problem import FloatArray
from parsifal.tabular.reading import Column, Table
from parsifal.tabular.recipe import Recipe

_MOST_LEVELS = 200


@dataclass(frozen=True, kw_only=True)
class ColumnCode:
    """How one column becomes features; `levels` of a categorical column, `fill` for its gaps (None: refuse them)."""

    name: str
    levels: tuple[str, ...] | None = None
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

    def apply(self, column: Column, wanted: Iterable[str] | None = None) -> list[Column]:
        """The features as arrays, in order; of `wanted` only, if given."""
        wanted = None if wanted is None else set(wanted)
        if self.levels is None:
            return [self._numbers(column)]
        text = self._text(column)
        return [
            text == level for level, feature in zip(self.coded, self.features) if wanted is None or feature in wanted
        ]

    def _numbers(self, column: Column) -> Column:
        _check_numbers(self.name, column)
        if column.dtype.kind != "f":
            return column
        bad = ~np.isfinite(column)
        if not bad.any():
            return column
        if self.fill is None:
            raise missing(self.name, bad)
        return np.where(bad, self.fill, column)

    def _text(self, column: Column) -> npt.NDArray[Any]:
        text = as_text(column)
        gaps = np.array([value is None for value in text])
        if gaps.any():
            if self.fill is None:
                raise missing(self.name, gaps)
            text[gaps] = self.fill
        known = set(self.levels or ())
        for row, value in enumerate(text):
            if value not in known:
                raise DataError(
                    f"column {self.name!r} is {value!r} in row {row + 1}, a level that the training data did not have; "
                    "correct it or leave the row out"
                )
        return text


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
    target = target_name(table, recipe.target)
    reserved = [target] + ([] if recipe.weights is None else [_known(table, recipe.weights, "--weights")])
    drop = {_known(table, name, "--drop") for name in recipe.drop}
    if set(reserved) & drop:
        raise InputError(f"column {sorted(set(reserved) & drop)[0]!r} is dropped but needed as target or weight")
    used = [name for name in table.names if name not in drop and name not in reserved]
    if not used:
        raise InputError(f"{table.source.path} has no columns left to choose from; drop fewer")
    categorical = _categorical(table, recipe, used)
    for name in used:
        # Before rows are left out, so that a row's number is that of the file.
        if name not in categorical:
            _check_numbers(name, table[name])
    keep = _rows(table, recipe, [*reserved, *([] if recipe.impute else used)])
    y = _response(table[target], target, keep, recipe)
    weight = None if recipe.weights is None else _weights(table[recipe.weights], recipe.weights, keep)
    columns = {name: table[name] if keep is None else table[name][keep] for name in used}
    codes = tuple(_code(name, columns[name], name in categorical, recipe) for name in used)
    features = [feature for code in codes for feature in code.features]
    if len(set(features)) < len(features):
        twice = next(feature for feature in features if features.count(feature) > 1)
        raise DataError(f"two features would be named {twice!r}; rename a column")
    design: Design
    if _streams(table, recipe):
        design = open_design(table.source.path)
    else:
        design = TableDesign([array for code in codes for array in code.apply(columns[code.name])], tuple(features))
    return Encoded(design=design, y=y, weight=weight, codes=codes, features=tuple(features), rows=y.size)


def _streams(table: Table, recipe: Recipe) -> bool:
    """Whether the matrix is a file as it stands, so that a large one need not be in memory."""
    plain = not (recipe.drop or recipe.categorical or recipe.impute or recipe.drop_missing or recipe.weights)
    large = any(isinstance(column.base, np.memmap) for column in table.columns[:1])
    return plain and large and recipe.target.endswith(".npy")


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
    raise InputError(_unknown(table, name, "--target"))


def _known(table: Table, name: str, option: str) -> str:
    if name not in table:
        raise InputError(_unknown(table, name, option))
    return name


def _unknown(table: Table, name: str, option: str) -> str:
    listed = ", ".join(table.names[:12]) + (", ..." if len(table.names) > 12 else "")
    return f"{option} {name} is not a column of {table.source.path}; its columns are {listed}"


def _categorical(table: Table, recipe: Recipe, used: list[str]) -> set[str]:
    chosen = {name for name in recipe.categorical if name != "auto"}
    for name in chosen:
        _known(table, name, "--categorical")
    if "auto" in recipe.categorical:
        chosen |= {name for name in used if table[name].dtype.kind == "O"}
    return chosen


def _rows(table: Table, recipe: Recipe, names: list[str]) -> npt.NDArray[np.bool_] | None:
    """The rows to keep, None for all."""
    if not recipe.drop_missing:
        return None
    keep = np.ones(table.rows, dtype=bool)
    for name in names:
        keep &= ~gaps(table[name])
    if not keep.any():
        raise DataError("every row has a missing value; use --impute median, or --drop the columns with many gaps")
    return None if keep.all() else keep


def _response(column: Column, name: str, keep: npt.NDArray[np.bool_] | None, recipe: Recipe) -> FloatArray:
    if column.dtype.kind == "O":
        row = int(np.flatnonzero([value is not None for value in column])[0])
        raise DataError(
            f"the target {name!r} is not a number in row {row + 1} ({column[row]!r}); choose another --target"
        )
    empty = gaps(column)
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


def _weights(column: Column, name: str, keep: npt.NDArray[np.bool_] | None) -> FloatArray:
    if column.dtype.kind == "O":
        raise DataError(f"the weights {name!r} are not numbers; choose another column")
    weight = np.ascontiguousarray(column if keep is None else column[keep], dtype=np.float64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = np.flatnonzero(bad)[0]
        raise DataError(f"the weight {name!r} is {weight[row]:g} in row {row + 1}; weights are numbers >= 0")
    return weight


def _code(name: str, column: Column, categorical: bool, recipe: Recipe) -> ColumnCode:
    empty = gaps(column)
    if empty.all():
        raise DataError(f"column {name!r} has no values at all; leave it out with --drop {name}")
    if not categorical:
        if not empty.any():
            # A median is stored whether or not it is needed here: new data may have gaps.
            return ColumnCode(name=name, fill=float(np.median(column)) if recipe.impute else None)
        if not recipe.impute:
            raise missing(name, empty)
        return ColumnCode(name=name, fill=float(np.median(column[~empty])))
    text = as_text(column)
    present = [value for value in text if value is not None]
    levels, counts = np.unique(np.array(present, dtype=str), return_counts=True)
    if levels.size > _MOST_LEVELS or (levels.size == column.size and levels.size > 10):
        raise DataError(
            f"column {name!r} has {levels.size} levels, too many for indicators; leave it out with --drop {name}"
        )
    order = _sorted_levels(levels.tolist())
    if empty.any() and not recipe.impute:
        raise missing(name, empty)
    common = str(levels[int(np.argmax(counts))])
    return ColumnCode(name=name, levels=tuple(order), fill=common if recipe.impute else None)


def _sorted_levels(levels: list[str]) -> list[str]:
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels)


def gaps(column: Column) -> npt.NDArray[np.bool_]:
    """Where a column has no value."""
    if column.dtype.kind == "O":
        return np.array([value is None for value in column], dtype=bool)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(column.shape, dtype=bool)


def as_text(column: Column) -> npt.NDArray[Any]:
    """The values as text, None for a gap; 1 and 1.0 are the same level."""
    if column.dtype.kind == "O":
        return column.copy()
    if column.dtype.kind == "b":
        return np.array(["true" if value else "false" for value in column], dtype=object)
    values = [None if value != value else f"{value:.15g}" for value in column.tolist()]
    return np.array(values, dtype=object)


def missing(name: str, empty: npt.NDArray[np.bool_]) -> DataError:
    count = int(empty.sum())
    more = "" if count == 1 else f" and in {count - 1} more"
    return DataError(
        f"column {name!r} has no value in row {np.flatnonzero(empty)[0] + 1}{more}; "
        f"use --impute median, --drop-missing or --drop {name}"
    )


def _check_numbers(name: str, column: Column) -> None:
    if column.dtype.kind == "O":
        # The value that is least like a number tells most.
        row = next((i for i, value in enumerate(column) if value is not None and not _is_number(value)), 0)
        raise DataError(
            f"column {name!r} is not numeric (row {row + 1} is {column[row]!r}); "
            f"use --categorical {name} or --drop {name}"
        )
    infinite = np.flatnonzero(np.isinf(column) if column.dtype.kind == "f" else ())
    if infinite.size:
        raise DataError(f"column {name!r} is infinite in row {infinite[0] + 1}; correct it or --drop {name}")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
