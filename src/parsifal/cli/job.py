"""A table that was read for a command, and what the command is to do with it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from parsifal.arguments import check_support
from parsifal.arrays import IntArray
from parsifal.cli import options as o
from parsifal.cli.option_groups import FileOptions, ForceOptions, TableOptions
from parsifal.cli.output import Output, Refused
from parsifal.errors import DataError, InputError
from parsifal.problem.standardise import Training, prepare
from parsifal.tabular import Encoded, Recipe, Remark, Settled, Table, encode, read_table, settle
from parsifal.tabular.encoding import roles_of, target_name
from parsifal.tabular.names import printable, suggestion


@dataclass(frozen=True, kw_only=True)
class Job:
    """The data of a command that fits, the features it must and must not choose, and what is to be written."""

    recipe: Recipe
    table: Table
    encoded: Encoded
    remarks: tuple[Remark, ...]
    command: str
    files: FileOptions
    force_in: list[str] | None
    force_out: list[str] | None
    adjust: list[str] | None
    positive: bool
    sign: dict[str, int] | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.encoded.features


def read(path: Path, recipe: Recipe) -> Table:
    """The table, with what the recipe says of its file."""
    return read_table(
        path,
        delimiter=recipe.delimiter,
        decimal=recipe.decimal,
        encoding=recipe.encoding,
        sheet=recipe.sheet,
        target=recipe.target,
    )


def load(path: Path, recipe: Recipe) -> tuple[Recipe, Table, Encoded]:
    """Read and encode by a recipe that leaves nothing open; it comes back with the target's full name."""
    table = read(path, recipe)
    recipe = replace(recipe, target=target_name(table, recipe.target))
    return recipe, table, encode(table, recipe)


def load_settled(
    context: typer.Context, output: Output, path: Path, options: TableOptions, target: str
) -> tuple[Settled, Table, Encoded]:
    """Read and encode by what the user said, what nobody said is decided and reported; --strict refuses to decide."""
    asked = options.recipe(target)
    table = read(path, asked)
    settled = settle(table, asked)
    if options.strict and settled.remarks:
        raise Refused(
            f"{path} is refused by --strict:",
            [remark.complaint() for remark in settled.remarks],
            printable(shlex.join([*_typed(context), *settled.options])),
        )
    left_out = [line.removeprefix("left out: ") for line in settled.lines if line.startswith("left out: ")]
    if left_out and not roles_of(table, settled.recipe).used:
        raise DataError(f"{path} has no columns left to choose from: {left_out[0]}")
    # An error comes alone: what was done to a table is said once the table has proved to be of use.
    encoded = encode(table, settled.recipe)
    for line in settled.lines:
        output.note(line)
    return settled, table, encoded


def _typed(context: typer.Context) -> list[str]:
    return ["parsifal", *(context.find_root().obj or ())]


def training_of(encoded: Encoded, recipe: Recipe) -> Training:
    """The data as the solver sees them, where no estimator makes that view."""
    return prepare(
        encoded.design,
        encoded.y,
        weight=encoded.weight,
        adjust=adjusted_columns(encoded, recipe),
        fit_intercept=recipe.intercept,
        standardize=recipe.standardize,
    )


def adjusted_columns(encoded: Encoded, recipe: Recipe) -> IntArray:
    """The columns of the encoded table that the recipe adjusts for."""
    names = _features(encoded, recipe.adjust, "--adjust") or []
    if len(names) == len(encoded.features):
        raise InputError("--adjust names every feature, which leaves none to choose; adjust for fewer")
    return check_support([encoded.features.index(name) for name in names], len(encoded.features), "--adjust")


def start(
    context: typer.Context,
    output: Output,
    path: Path,
    target: str,
    *,
    options: TableOptions,
    force: ForceOptions,
    files: FileOptions,
) -> Job:
    """Check where files go, before anything takes long; then read the data."""
    files.check()
    settled, table, encoded = load_settled(context, output, path, options, target)
    return Job(
        recipe=settled.recipe,
        table=table,
        encoded=encoded,
        remarks=settled.remarks,
        command=shlex.join(_typed(context)),
        files=files,
        force_in=_features(encoded, o.names(force.force_in), "--force-in"),
        force_out=_features(encoded, o.names(force.force_out), "--force-out"),
        adjust=[encoded.features[j] for j in adjusted_columns(encoded, settled.recipe)] or None,
        positive=force.positive,
        sign=_signs(encoded, o.names(force.sign), force.positive),
    )


def _signs(encoded: Encoded, values: Sequence[str], positive: bool) -> dict[str, int] | None:
    """Signs by feature, from name=+ and name=-."""
    if positive and values:
        raise InputError("give --positive or --sign, not both")
    signs: dict[str, int] = {}
    for value in values:
        name, _, mark = value.rpartition("=")
        if not name or mark not in ("+", "-"):
            raise InputError(f"--sign {value} is no sign; give name=+ for a coefficient >= 0, name=- for one <= 0")
        for feature in _features(encoded, [name], "--sign") or []:
            signs[feature] = 1 if mark == "+" else -1
    return signs or None


def _features(encoded: Encoded, values: Sequence[str], option: str) -> list[str] | None:
    """Features by name; a categorical column's name stands for all its indicators."""
    out: list[str] = []
    for name in values:
        group = next((code.features for code in encoded.codes if code.name == name), None)
        if name in encoded.features:
            out.append(name)
        elif group is not None:
            out.extend(group)
        else:
            there = suggestion(name, encoded.features, "the features")
            raise InputError(f"{option} {name} is not a feature; {there}")
    return list(dict.fromkeys(out)) or None
