"""The table of a fit: one row a chosen feature; what was not computed is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.display import html_table, text_table
from parsifal.problem.least_squares import SELECTION_NOTE, LeastSquares


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a chosen column is worth: objectives, computed from the data.

    `replacement` is the column that would take its place, -1 if there is none; `replaced` the objective with it.
    """

    column: int
    left_out: float
    replacement: int
    replaced: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """One chosen feature; changes are relative to the objective, None where they were not computed."""

    feature: str
    coef: float
    standardized: float
    least_squares: float | None = None
    standard_error: float | None = None
    left_out: float | None = None
    replacement: str | None = None
    replaced: float | None = None


def rows_of(
    support: IntArray,
    objective: float,
    *,
    coef: FloatArray,
    standardized: FloatArray,
    names: Sequence[str],
    values: Sequence[Worth] | None = None,
    refit: LeastSquares | None = None,
) -> list[Row]:
    """One row a chosen feature, in the order of the columns; the coefficients are those of all columns."""
    by_column = {value.column: value for value in values or ()}
    rows = []
    for place, j in enumerate(support.tolist()):
        value = by_column.get(j)
        other = None if value is None or value.replacement < 0 else value
        rows.append(
            Row(
                feature=names[j],
                coef=float(coef[j]),
                standardized=float(standardized[j]),
                least_squares=None if refit is None else float(refit.coef[place]),
                standard_error=None if refit is None else float(refit.standard_error[place]),
                left_out=None if value is None else _relative(value.left_out, objective),
                replacement=None if other is None else names[other.replacement],
                replaced=None if other is None else _relative(other.replaced, objective),
            )
        )
    return rows


@dataclass(frozen=True, kw_only=True)
class _Column:
    title: str
    cell: Callable[[Row], str]
    left: bool = False


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or not np.isfinite(value) else format(value, form)


def change_text(value: float | None) -> str:
    """A relative change for a table."""
    return _number(value, "+.2%")


_ALWAYS = (
    _Column(title="feature", cell=lambda r: r.feature, left=True),
    _Column(title="coefficient", cell=lambda r: f"{r.coef:.6g}"),
    _Column(title="standardized", cell=lambda r: f"{r.standardized:.4g}"),
)
_REFIT = (
    _Column(title="least squares", cell=lambda r: _number(r.least_squares, ".6g")),
    _Column(title="std. error", cell=lambda r: _number(r.standard_error, ".3g")),
)
_WORTH = (
    _Column(title="loss if left out", cell=lambda r: change_text(r.left_out)),
    _Column(title="best replacement", cell=lambda r: r.replacement or "-", left=True),
    _Column(title="loss with it", cell=lambda r: change_text(r.replaced)),
)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A fitted model as a table: prints as text, shows as HTML in a notebook, `to_frame` gives pandas."""

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Row]

    def _columns(self) -> list[_Column]:
        """The columns that some row has something for."""
        refit = any(row.least_squares is not None for row in self.rows)
        worth = any(row.left_out is not None for row in self.rows)
        return [*_ALWAYS, *(_REFIT if refit else ()), *(_WORTH if worth else ())]

    def _table(self) -> tuple[list[str], list[list[str]], list[int]]:
        columns = self._columns()
        body = [[column.cell(row) for column in columns] for row in self.rows]
        return [c.title for c in columns], body, [i for i, c in enumerate(columns) if c.left]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame; changes of the loss are fractions."""
        import pandas as pd

        return pd.DataFrame([vars(r) for r in self.rows], columns=list(Row.__dataclass_fields__))

    def __str__(self) -> str:
        lines = [self.title, *(f"  {name}: {value}" for name, value in self.facts), ""]
        return "\n".join([*lines, *text_table(*self._table())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self.title, self.facts, *self._table())


def fit_facts(refit: LeastSquares) -> list[tuple[str, str]]:
    """What the least-squares fit adds to the facts of a summary."""
    facts = [("R2", f"{_number(refit.ridge_r2, '.4f')} (least squares {_number(refit.r2, '.4f')})")]
    if np.isfinite(refit.sigma):
        facts.append(("residual deviation", f"{refit.sigma:.4g} on {refit.df:.6g} degrees of freedom"))
    if refit.support.size:
        facts.append(("note", SELECTION_NOTE))
    return facts


def _relative(value: float, objective: float) -> float:
    return (value - objective) / objective if objective > 0 else float("nan")
