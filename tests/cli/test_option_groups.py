"""Options are declared once, and reach a command as objects."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
import typer.main
from typer.testing import CliRunner

from parsifal.cli.app import app
from parsifal.cli.option_groups import OutputOptions, TableOptions, command
from parsifal.errors import InputError

Deep = Annotated[bool, typer.Option("--deep")]


@dataclass(frozen=True, kw_only=True)
class Size:
    width: Annotated[int, typer.Option("--width", min=1)] = 3
    name: Annotated[str, typer.Option("--name")]


def made(function: Any) -> typer.Typer:
    out = typer.Typer()
    out.command()(command(function))
    return out


def test_a_group_is_gathered_from_its_options() -> None:
    seen: list[Any] = []

    def show(first: Annotated[str, typer.Argument()], *, size: Size, deep: Deep = False) -> None:
        seen.append((first, size, deep))

    tried = made(show)
    assert CliRunner().invoke(tried, ["a", "--name", "b", "--deep"]).exit_code == 0
    assert CliRunner().invoke(tried, ["a", "--name", "b", "--width", "5"]).exit_code == 0
    assert seen == [("a", Size(name="b"), True), ("a", Size(name="b", width=5), False)]
    assert CliRunner().invoke(tried, ["a"]).exit_code == 2
    assert CliRunner().invoke(tried, ["a", "--name", "b", "--width", "0"]).exit_code == 2


def test_errors_of_a_command_are_a_sentence() -> None:
    def fail(*, show: OutputOptions) -> None:
        raise InputError("nothing will do; give something")

    result = CliRunner().invoke(made(fail), ["--json"])
    assert result.exit_code == 2
    assert result.stderr == "error: nothing will do; give something\n"
    assert result.stdout == '{"error": "nothing will do; give something", "code": 2}\n'
    assert isinstance(CliRunner().invoke(made(fail), ["--debug"]).exception, InputError)


# Options that mean something else in one command, or ask for less there.
OWN = {
    "--out",
    "--decimal",
    "--encoding",
    "--target",
    "--k",
    "--ks",
    "--time-limit",
    "--checkpoint",
    "--debug",
    "--strict",
}


def test_an_option_is_the_same_in_every_command() -> None:
    found: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
    for sub in typer.main.get_group(app).commands.values():
        for parameter in sub.params:
            name = max(parameter.opts, key=len)
            found[name].add((tuple(parameter.opts), repr(parameter.default), getattr(parameter, "help", None)))
    assert {name for name, kinds in found.items() if len(kinds) > 1} <= OWN
    assert {"--drop", "--gamma", "--threads", "--json", "--report-time"} <= set(found)


@pytest.mark.parametrize(("text", "character"), [("tab", "\t"), ("\\t", "\t"), (";", ";"), (None, None)])
def test_options_of_a_table_make_a_recipe(text: str | None, character: str | None) -> None:
    options = TableOptions(drop=["a,b", "c"], weights="w", drop_missing=True, no_intercept=True, delimiter=text)
    recipe = options.recipe("y")
    assert (recipe.target, recipe.drop, recipe.weights) == ("y", ("a", "b", "c"), "w")
    assert (recipe.drop_missing, recipe.intercept, recipe.standardize) == (True, False, True)
    assert recipe.delimiter == character
    assert options.given() == ["--drop", "--weights", "--drop-missing", "--no-intercept"]
