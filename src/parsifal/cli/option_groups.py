"""Options that several commands take, grouped: a command names the groups, and gets them as objects."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from parsifal.cli import options as o
from parsifal.cli.output import Output, guarded
from parsifal.errors import InputError
from parsifal.tabular import Recipe


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How the table becomes a matrix and a response."""

    drop: o.Drop = None
    categorical: o.Categorical = None
    dates: o.Dates = None
    numbers: o.Numbers = None
    impute: o.ImputeOption = None
    drop_missing: o.DropMissing = False
    weights: o.Weights = None
    adjust: o.Adjust = None
    delimiter: o.Delimiter = None
    decimal: o.Decimal = None
    encoding: o.Encoding = None
    sheet: o.Sheet = None
    strict: o.Strict = False
    no_intercept: o.NoIntercept = False
    no_standardize: o.NoStandardize = False

    def recipe(self, target: str) -> Recipe:
        """The same as a recipe, which models and proofs are saved with."""
        return Recipe(
            target=target,
            weights=self.weights,
            drop=o.names(self.drop),
            categorical=o.names(self.categorical),
            dates=o.names(self.dates),
            numbers=o.names(self.numbers),
            impute=None if self.impute is None else self.impute.value,
            drop_missing=self.drop_missing,
            adjust=o.names(self.adjust),
            intercept=not self.no_intercept,
            standardize=not self.no_standardize,
            delimiter=o.delimiter_of(self.delimiter),
            decimal=self.decimal,
            encoding=self.encoding,
            sheet=self.sheet,
        )

    def given(self) -> list[str]:
        """The options that were given, without those about the form of a text file."""
        about = ["drop", "categorical", "dates", "numbers", "impute", "weights", "adjust"]
        about += ["drop_missing", "strict", "no_intercept", "no_standardize"]
        return [f"--{name.replace('_', '-')}" for name in about if getattr(self, name)]


@dataclass(frozen=True, kw_only=True)
class ForceOptions:
    """Features that must, or must not, be chosen, and the signs of their coefficients."""

    force_in: o.ForceIn = None
    force_out: o.ForceOut = None
    positive: o.Positive = False
    sign: o.Sign = None


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """When the search ends, and what it may use."""

    time_limit: o.TimeLimit = None
    node_limit: o.NodeLimit = None
    rel_gap: o.RelGap = 1e-6
    threads: o.Threads = None


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """How to solve."""

    method: o.Method = "search"
    backend: o.Backend = "scip"


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What is to be written."""

    out: o.Out = None
    certificate: o.CertificateFile = None
    report: o.ReportFile = None
    report_time: o.ReportTime = 30.0

    def check(self) -> None:
        """Refuse what cannot be written, before anything takes long."""
        for file in (self.out, self.certificate, self.report):
            _check_place(file)


def _check_place(file: Path | None) -> None:
    if file is not None and not file.absolute().parent.is_dir():
        raise InputError(f"the folder of {file} does not exist; make it first")
    if file is not None and file.is_dir():
        raise InputError(f"{file} is a folder; give a file's name")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is printed."""

    json: o.Json = False
    quiet: o.Quiet = False
    debug: o.Debug = False

    def open(self) -> Output:
        return Output(json=self.json, quiet=self.quiet)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: typer sees the options of its groups one by one, and errors are one sentence.

    A group is a parameter whose type is a dataclass; its fields are options.
    """
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[parameter.name] = kind
            hints = get_type_hints(kind, include_extras=True)
            parameters.extend(_parameter(field, hints[field.name]) for field in fields(kind))
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        function(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guarded(run)


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
