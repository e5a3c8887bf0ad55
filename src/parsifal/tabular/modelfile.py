"""Models in files: plain JSON with a version, readable by people and by any language; no pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parsifal.archive import parse_json
from parsifal.errors import DataError
from parsifal.problem import FloatArray
from parsifal.solution import Solution
from parsifal.storage import replacing
from parsifal.tabular.encoding import ColumnCode, Encoded
from parsifal.tabular.proof import source_from
from parsifal.tabular.reading import Source, Table
from parsifal.tabular.recipe import Recipe

KIND = "parsifal-model"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    """A fitted model with everything that predicting from a file takes.

    Attributes
    ----------
    features : tuple of str
        The chosen features.
    coefficients, standardized : tuples of float
        For the columns as they are, and for standardised ones.
    intercept : float
    recipe, codes, source
        How the training table was encoded, and which it was.
    problem, result : dict
        What was asked (k, gamma, penalty), and objective, lower bound, gap, status and so on.
    command : str
        What made the model.
    version : str
        Parsifal's.
    """

    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    standardized: tuple[float, ...]
    intercept: float
    recipe: Recipe
    codes: tuple[ColumnCode, ...]
    source: Source
    problem: dict[str, Any]
    result: dict[str, Any]
    command: str
    version: str

    def to_dict(self) -> dict[str, Any]:
        features = [
            {"name": name, "coefficient": coef, "standardized": unit}
            for name, coef, unit in zip(self.features, self.coefficients, self.standardized)
        ]
        return {
            "format": KIND,
            "version": VERSION,
            "parsifal": self.version,
            "command": self.command,
            "target": self.recipe.target,
            "features": features,
            "intercept": self.intercept,
            "problem": self.problem,
            "result": without_nan(self.result),
            "data": asdict(self.source),
            "recipe": asdict(self.recipe),
            "columns": [asdict(code) for code in self.codes],
        }

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        with replacing(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | Path) -> SavedModel:
        """Read what `save` wrote; a DataError says what is wrong with any other file."""
        path = Path(path)
        if path.is_dir():
            raise DataError(f"{path} is a folder; give a file")
        if not path.is_file():
            raise DataError(f"{path} does not exist; --out of parsifal fit writes one")
        try:
            values = parse_json(path.read_text(encoding="utf-8"))
        except (ValueError, OSError):
            raise DataError(f"{path} is not JSON; --out of parsifal fit writes a model") from None
        if not isinstance(values, dict) or values.get("format") != KIND:
            raise DataError(f"{path} is not a Parsifal model; --out of parsifal fit writes one")
        if values.get("version") != VERSION:
            raise DataError(
                f"{path} is a model of version {values.get('version')!r}, and this Parsifal reads version {VERSION}; "
                "fit it again, or use the Parsifal that wrote it"
            )
        try:
            return cls(
                features=tuple(str(row["name"]) for row in values["features"]),
                coefficients=tuple(_finite(row["coefficient"]) for row in values["features"]),
                standardized=tuple(_finite(row["standardized"]) for row in values["features"]),
                intercept=_finite(values["intercept"]),
                recipe=Recipe.from_dict(values["recipe"], str(path)),
                codes=tuple(_code(row) for row in values["columns"]),
                source=source_from(values["data"], str(path)),
                problem=dict(values["problem"]),
                result=dict(values["result"]),
                command=str(values["command"]),
                version=str(values["parsifal"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise DataError(f"{path} is damaged ({type(error).__name__}: {error}); fit the model again") from None

    def predict(self, table: Table, drop: Sequence[str] = ()) -> FloatArray:
        """Predict for every row of a table; only the columns of chosen features are needed.

        Parameters
        ----------
        table : Table
            New data. Columns that the training data did not have are refused, unless dropped.
        drop : sequence of str
            Columns to leave aside.
        """
        known = {code.name for code in self.codes} | {self.recipe.target, *self.recipe.drop}
        known |= set() if self.recipe.weights is None else {self.recipe.weights}
        for name in drop:
            if name not in table:
                raise DataError(f"--drop {name} is not a column of {table.source.path}")
        for name in table.names:
            if name not in known and name not in drop:
                raise DataError(f"column {name!r} was not in the training data; leave it aside with --drop {name}")
        coef = dict(zip(self.features, self.coefficients))
        out = np.full(table.rows, self.intercept)
        for code in self.codes:
            wanted = [feature for feature in code.features if feature in coef]
            if not wanted:
                continue
            if code.name not in table or code.name in drop:
                raise DataError(f"{table.source.path} has no column {code.name!r}, which the model needs; add it")
            for feature, values in zip(wanted, code.apply(table[code.name], wanted)):
                out += coef[feature] * values.astype(np.float64)
        return out


def saved_model(
    *,
    solution: Solution,
    coef: FloatArray,
    intercept: float,
    encoded: Encoded,
    recipe: Recipe,
    source: Source,
    command: str,
    version: str,
    more: dict[str, Any] | None = None,
) -> SavedModel:
    """Gather what a fit on encoded data gave."""
    chosen = solution.support
    return SavedModel(
        features=tuple(encoded.features[j] for j in chosen),
        coefficients=tuple(float(coef[j]) for j in chosen),
        standardized=tuple(float(solution.coef[j]) for j in chosen),
        intercept=float(intercept),
        recipe=recipe,
        codes=encoded.codes,
        source=source,
        problem={"k": solution.k, "gamma": solution.gamma, "penalty": solution.penalty},
        result={
            "status": solution.status,
            "objective": solution.objective,
            "lower_bound": finite_or_none(solution.lower_bound),
            "gap": finite_or_none(solution.gap),
            "rests_on": solution.rests_on,
            "rows": encoded.rows,
            "features": len(encoded.features),
            "nodes": solution.stats.get("nodes"),
            "seconds": solution.stats.get("seconds", {}).get("total"),
            **(more or {}),
        },
        command=command,
        version=version,
    )


def finite_or_none(value: float) -> float | None:
    """A number that JSON can hold."""
    return float(value) if math.isfinite(value) else None


def without_nan(value: Any) -> Any:
    """With null wherever JSON has no number: what was never computed, or is infinite."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(entry) for entry in value]
    return finite_or_none(value) if isinstance(value, float) else value


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return number


def _code(row: Any) -> ColumnCode:
    levels, fill = row["levels"], row["fill"]
    if fill is not None and not isinstance(fill, str if levels is not None else (int, float)):
        raise ValueError(f"the fill of {row['name']!r} is {fill!r}")
    return ColumnCode(
        name=str(row["name"]), levels=None if levels is None else tuple(str(level) for level in levels), fill=fill
    )
