"""The table of a fitted model: what each chosen feature is worth, and what would take its place.

With G = X_S'X_S + I/gamma: without j the loss is c(S) + w_j^2 / (2 (G^-1)_jj); with i in j's place, R = S without j and
alpha_R its residual,

    c(R + i) = c(R) - (x_i'alpha_R)^2 / (2 (1/gamma + x_i'x_i - x_i'X_R G_R^-1 X_R'x_i)).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsifal.design import Design
from parsifal.loss import fit_support
from parsifal.problem import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a chosen column is worth: objectives, computed from the data.

    `replacement` is the column that would take its place, -1 if there is none; `replaced` the objective with it.
    """

    column: int
    left_out: float
    replacement: int
    replaced: float


def worth(
    design: Design, y: FloatArray, support: IntArray, gamma: float, penalty: float, barred: IntArray
) -> list[Worth]:
    """Find, for every chosen column, the loss without it and the best replacement: |support| + 1 reads.

    Columns that are `barred` (forced out) replace none.
    """
    p = design.shape[1]
    columns = design.columns(support)
    first = design.scan(y, stats=True)
    assert first.squares is not None
    cross = np.array([design.scan(np.ascontiguousarray(c)).xv for c in columns.T]).reshape(support.size, p)
    out: list[Worth] = []
    for position, j in enumerate(support):
        rest = np.delete(np.arange(support.size), position)
        left = fit_support(design, y, support[rest], gamma, penalty, columns[:, rest])
        inner = np.linalg.inv(columns[:, rest].T @ columns[:, rest] + np.eye(rest.size) / gamma)
        beta = first.xv - left.coef @ cross[rest]
        explained = np.einsum("ip,ij,jp->p", cross[rest], inner, cross[rest], optimize=True)
        gain = beta**2 / (1.0 / gamma + np.maximum(first.squares - explained, 0.0))
        gain[support] = gain[barred] = -1.0
        replacement, value = -1, np.inf
        if p > support.size + barred.size:
            replacement = int(np.argmax(gain))
            swapped = np.append(support[rest], replacement)
            value = fit_support(design, y, swapped, gamma, penalty).objective
        out.append(Worth(column=int(j), left_out=left.objective, replacement=replacement, replaced=value))
    return out


@dataclass(frozen=True, kw_only=True)
class Row:
    """One chosen feature; changes are relative to the objective, None where they were not computed."""

    feature: str
    coef: float
    standardized: float
    left_out: float | None
    replacement: str | None
    replaced: float | None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A fitted model as a table: prints as text, shows as HTML in a notebook, `to_frame` gives pandas."""

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Row]

    HEAD = ("feature", "coefficient", "standardized", "loss if left out", "best replacement", "loss with it")

    def cells(self) -> list[tuple[str, ...]]:
        """The table's body as text."""
        return [
            (
                r.feature,
                f"{r.coef:.6g}",
                f"{r.standardized:.4g}",
                _change(r.left_out),
                r.replacement or "-",
                _change(r.replaced),
            )
            for r in self.rows
        ]

    def to_frame(self) -> object:
        """The table as a pandas DataFrame; changes of the loss are fractions."""
        import pandas as pd

        return pd.DataFrame([vars(r) for r in self.rows], columns=list(Row.__dataclass_fields__))

    def __str__(self) -> str:
        body = self.cells()
        width = [max(len(row[i]) for row in [self.HEAD, *body]) for i in range(len(self.HEAD))]
        lines = [self.title, *(f"  {name}: {value}" for name, value in self.facts), ""]
        for row in (self.HEAD, tuple("-" * w for w in width), *body):
            cells = [cell.ljust(w) if i in (0, 4) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def row(tag: str, cells: Sequence[str]) -> str:
            align = ["left" if i in (0, 4) else "right" for i in range(len(cells))]
            inner = "".join(f'<{tag} style="text-align:{a}">{html.escape(c)}</{tag}>' for a, c in zip(align, cells))
            return f"<tr>{inner}</tr>"

        facts = " &middot; ".join(f"{html.escape(name)} <b>{html.escape(value)}</b>" for name, value in self.facts)
        body = "".join(row("td", cells) for cells in self.cells())
        return (
            f"<div><b>{html.escape(self.title)}</b><p>{facts}</p>"
            f"<table><thead>{row('th', self.HEAD)}</thead><tbody>{body}</tbody></table></div>"
        )


def _change(value: float | None) -> str:
    return "-" if value is None or not np.isfinite(value) else f"{value:+.2%}"
