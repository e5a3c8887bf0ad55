"""What a fit or a proof from a table is about, in words: someone who reads nothing else must not be misled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parsifal.arrays import IntArray
from parsifal.cli.job import adjusted_columns
from parsifal.proof.certificate import Certificate
from parsifal.tabular import Encoded, Recipe, Remark, Table
from parsifal.tabular.encoding import code_of
from parsifal.tabular.names import printable

_SHOWN = 10

Facts = list[tuple[str, str]]


def few(names: Sequence[str]) -> str:
    """The first names, and how many there are if these are not all."""
    more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def plain(facts: Facts) -> Facts:
    """With line ends and control characters of names written out."""
    return [(name, printable(value)) for name, value in facts]


def encoding_facts(recipe: Recipe, table: Table, encoded: Encoded, remarks: Sequence[Remark] = ()) -> Facts:
    """How the table became a matrix: what was left out, weighted, filled in, scaled; with reasons where they are known.

    Parameters
    ----------
    recipe, table, encoded
        By which rules, from what, and what came out.
    remarks : sequence of Remark
        What was decided that the user had not said.
    """
    reasons = {one.column: one.why for one in remarks if one.column is not None}
    facts = [
        ("target", recipe.target),
        ("rows", _rows(table, encoded)),
        ("features to choose from", f"{_choices(recipe, encoded)}, of {len(encoded.codes)} columns"),
    ]
    if recipe.drop:
        facts.append(("columns left out", few([_with_reason(name, reasons) for name in recipe.drop])))
    if recipe.weights is not None:
        facts.append(("weights of the rows", f"column {recipe.weights}"))
    # What is explained and what weighs the rows may be written as text, too.
    reserved = [code_of(table, recipe, name) for name in (recipe.target, recipe.weights) if name is not None]
    codes = (*reserved, *encoded.codes)
    categorical = [code.name for code in encoded.codes if code.levels is not None]
    if categorical:
        facts.append(("one-hot encoded", few(categorical)))
    written = [f"{code.name} ({code.form})" for code in codes if code.form is not None]
    if written:
        facts.append(("text read as numbers", few(written)))
    days = [code.name for code in codes if code.days]
    if days:
        facts.append(("dates as days since 1970-01-01", few(days)))
    for rule in dict.fromkeys(one.rule for one in remarks if one.column is None):
        facts.append((rule, "; ".join(one.why for one in remarks if one.column is None and one.rule == rule)))
    if recipe.impute is not None:
        facts.append(("gaps filled with", f"the {recipe.impute}, of a category with the most frequent level"))
    if recipe.adjust:
        facts.append(("adjusted for", f"{few(recipe.adjust)}; always in the model, neither counted nor shrunk"))
    facts.append(("intercept", "fitted, outside the ridge" if recipe.intercept else "none"))
    scaled = "standardised; objective and gamma are for columns of deviation 1"
    facts.append(("columns", scaled if recipe.standardize else "not standardised"))
    return plain(facts)


def _with_reason(name: str, reasons: Mapping[str, str]) -> str:
    return f"{name} ({reasons[name]})" if name in reasons else name


def _rows(table: Table, encoded: Encoded) -> str:
    words = []
    if encoded.rows < table.rows:
        words.append(f"{table.rows - encoded.rows} with gaps left out")
    unweighted = 0 if encoded.weight is None else int(np.count_nonzero(encoded.weight == 0))
    if unweighted:
        words.append(f"{unweighted} of weight 0 left out")
    used = encoded.rows - unweighted
    return f"{used} of {table.rows} ({', '.join(words)})" if words else str(table.rows)


def problem_facts(certificate: Certificate, recipe: Recipe, encoded: Encoded) -> Facts:
    """What the claim was restricted to, and what was chosen, by the names of the features."""
    features = encoded.features
    facts = [("chosen", ", ".join(_named(certificate.support, features)) or "nothing")]
    for side, columns in (("in", certificate.forced_in), ("out", _forced_out(certificate, recipe, encoded))):
        if columns.size:
            facts.append((f"forced {side}", few(_named(columns, features))))
    for mark, words in ((1, "coefficients >= 0"), (-1, "coefficients <= 0")):
        signed = np.flatnonzero(certificate.sign == mark)
        if signed.size:
            every = signed.size == certificate.shape[1]
            facts.append((words, "all" if every else few(_named(signed, features))))
    return plain(facts)


def _choices(recipe: Recipe, encoded: Encoded) -> int:
    """The number of features to choose from."""
    return len(encoded.features) - adjusted_columns(encoded, recipe).size


def _forced_out(certificate: Certificate, recipe: Recipe, encoded: Encoded) -> IntArray:
    """What could not be chosen, but for what was adjusted for."""
    return np.setdiff1d(certificate.forced_out, adjusted_columns(encoded, recipe))


def claim_as_json(certificate: Certificate, recipe: Recipe, table: Table, encoded: Encoded) -> dict[str, Any]:
    """The same for programs, with nothing cut."""
    return {
        "target": recipe.target,
        "features": _named(certificate.support, encoded.features),
        "forced_in": _named(certificate.forced_in, encoded.features),
        "forced_out": _named(_forced_out(certificate, recipe, encoded), encoded.features),
        "candidates": _choices(recipe, encoded),
        "dropped_columns": list(recipe.drop),
        "rows": certificate.shape[0],
        "rows_in_file": table.rows,
        "weights": recipe.weights,
        "adjusted_for": list(recipe.adjust),
        "impute": recipe.impute,
        "categorical": [code.name for code in encoded.codes if code.levels is not None],
        "dates": list(recipe.dates),
        "numbers": list(recipe.numbers),
        "intercept": recipe.intercept,
        "standardized": recipe.standardize,
    }


def _named(columns: Any, features: Sequence[str]) -> list[str]:
    return [features[j] if 0 <= j < len(features) else f"column {j}" for j in columns.tolist()]
