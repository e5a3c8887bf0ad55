"""Models in files: plain JSON with a version, readable by people and by any language; no pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parsifal.arrays import FloatArray
from parsifal.errors import DataError
from parsifal.files.atomic import replacing
from parsifal.files.untrusted import parse_json
from parsifal.problem.solution import Solution
from parsifal.tabular.encoding import ColumnCode, Encoded
from parsifal.tabular.proof import source_from
from parsifal.tabular.reading import Source, Table
from parsifal.tabular.recipe import Recipe
from parsifal.tabular.settling import Remark
from parsifal.tabular.written import NumberForm

KIND = "parsifal-model"
VERSION = 2
_READ = (1, 2)


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
    adjusted : tuple of (str, float)
        The features that were adjusted for, with their coefficients.
    recipe, codes, source, remarks
        How the training table was encoded, which it was, and what was decided about it that nobody had said.
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
    remarks: tuple[Remark, ...] = ()
    adjusted: tuple[tuple[str, float], ...] = ()

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
            "adjusted": [{"name": name, "coefficient": coef} for name, coef in self.adjusted],
            "intercept": self.intercept,
            "problem": self.problem,
            "result": without_nan(self.result),
            "data": asdict(self.source),
            "recipe": asdict(self.recipe),
            "columns": [asdict(code) for code in self.codes],
            "remarks": [asdict(remark) for remark in self.remarks],
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
        if values.get("version") not in _READ:
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
                codes=tuple(column_code(row) for row in values["columns"]),
                source=source_from(values["data"], str(path)),
                problem=dict(values["problem"]),
                result=dict(values["result"]),
                command=str(values["command"]),
                version=str(values["parsifal"]),
                remarks=tuple(_remark(row) for row in values.get("remarks", ())),
                adjusted=tuple((str(row["name"]), _finite(row["coefficient"])) for row in values.get("adjusted", ())),
            )
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise DataError(f"{path} is damaged ({type(error).__name__}: {error}); fit the model again") from None

    def predict(self, table: Table, drop: Sequence[str] = (), *, strict: bool = True) -> FloatArray:
        """Predict for every row of a table; only the columns of chosen features are needed.

        Parameters
        ----------
        table : Table
            New data. Columns that the training data did not have are refused, unless dropped.
        drop : sequence of str
            Columns to leave aside.
        strict : bool
            Whether a gap, or a level that the training data did not have, is refused; otherwise such rows get NaN.
        """
        known = {code.name for code in self.codes} | {self.recipe.target, *self.recipe.drop}
        known |= set() if self.recipe.weights is None else {self.recipe.weights}
        for name in drop:
            if name not in table:
                raise DataError(f"--drop {name} is not a column of {table.source.path}")
        for name in table.names:
            if name not in known and name not in drop:
                raise DataError(f"column {name!r} was not in the training data; leave it aside with --drop {name}")
        coef = {**dict(zip(self.features, self.coefficients)), **dict(self.adjusted)}
        out = np.full(table.rows, self.intercept)
        skip = None if strict else np.zeros(table.rows, dtype=bool)
        for code in self.codes:
            wanted = [feature for feature in code.features if feature in coef]
            if not wanted:
                continue
            if code.name not in table or code.name in drop:
                raise DataError(f"{table.source.path} has no column {code.name!r}, which the model needs; add it")
            for feature, values in zip(wanted, code.apply(table[code.name], wanted, skip)):
                out += coef[feature] * values.astype(np.float64)
        if skip is not None:
            out[skip] = np.nan
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
    remarks: Sequence[Remark] = (),
    adjusted: Sequence[int] = (),
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
        problem={"k": solution.k, "gamma": solution.gamma, "penalty": np.asarray(solution.penalty).tolist()},
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
        remarks=tuple(remarks),
        adjusted=tuple((encoded.features[j], float(coef[j])) for j in adjusted),
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


def column_code(row: Any) -> ColumnCode:
    """How a column becomes features, from what `asdict` gave, with every value's type checked."""
    levels, fill, form, days = row["levels"], row["fill"], row.get("form"), row.get("days", False)
    if fill is not None and not isinstance(fill, str if levels is not None else (int, float)):
        raise ValueError(f"the fill of {row['name']!r} is {fill!r}")
    if not isinstance(days, bool):
        raise ValueError(f"days of {row['name']!r} is {days!r}")
    return ColumnCode(
        name=str(row["name"]),
        levels=None if levels is None else tuple(str(level) for level in levels),
        days=days,
        form=None if form is None else NumberForm(**{name: _sign(form[name]) for name in form}),
        fill=fill,
    )


def _sign(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 1:
        raise ValueError(f"{value!r} is no sign of a number")
    return value


def _remark(row: Any) -> Remark:
    column = row["column"]
    return Remark(str(row["rule"]), None if column is None else str(column), str(row["why"]))
