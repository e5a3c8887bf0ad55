"""Wrong usage, said in one line like every other error."""

from __future__ import annotations

from enum import Enum
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from parsifal.cli.output import USAGE


class Group(TyperGroup):
    """Remembers the arguments as they were typed, for the report and the model file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> Any:
        try:
            return super().make_context(*args, **options)
        except Exception as error:
            raise _in_one_line(error) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            raise _in_one_line(error) from error


class Command(TyperCommand):
    """A command on its own, whose arguments are remembered too."""

    def make_context(self, info_name: Any, args: list[str], *more: Any, **options: Any) -> Any:
        try:
            return super().make_context(info_name, list(args), *more, **{**options, "obj": tuple(args)})
        except Exception as error:
            raise _in_one_line(error) from error


def _in_one_line(error: Exception) -> Exception:
    """Print wrong usage and give what ends the program; other errors, and help as an error, as they are."""
    # By what they have, not by their class: typer brings a copy of click, or uses the one that is installed.
    if getattr(error, "exit_code", 0) != USAGE or not hasattr(error, "format_message"):
        return error
    if type(error).__name__ == "NoArgsIsHelpError":
        return error
    context = getattr(error, "ctx", None)
    words = _bad_value(error, context)
    if words is None:
        words = " ".join(str(error.format_message()).split()).rstrip(".")
        words += f"; see {context.command_path if context else 'parsifal'} --help"
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text("error: ", style="bold red") + Text(words))
    return typer.Exit(USAGE)


def _bad_value(error: Exception, context: Any) -> str | None:
    """What an option must be and is not; None where the error is of another kind."""
    parameter: Any = getattr(error, "param", None)
    kind = None if parameter is None or context is None else _kind(parameter)
    value = None if kind is None else _typed(parameter, context.find_root().obj or ())
    return None if value is None else f"{max(parameter.opts, key=len)} must be {kind}, not {value!r}"


def _kind(parameter: Any) -> str | None:
    annotation: Any = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    old = getattr(parameter, "type", None)
    choices = [str(one.value) for one in annotation] if _is_enum(annotation) else list(getattr(old, "choices", ()))
    if choices:
        return ("one of " if len(choices) > 1 else "") + ", ".join(choices)
    number = annotation or {"integer": int, "integer range": int, "float": float, "float range": float}.get(
        getattr(old, "name", "")
    )
    words = {int: "a whole number", float: "a number"}.get(number) if isinstance(number, type) else None
    least = getattr(parameter, "min", None) if old is None else getattr(old, "min", None)
    return words if words is None or least is None else f"{words} >= {least:g}"


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


def _typed(parameter: Any, arguments: tuple[str, ...]) -> str | None:
    """The value of an option as it was typed, the last one if there are several."""
    found = None
    for i, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if word in parameter.opts and i + 1 < len(arguments):
            found = arguments[i + 1]
        elif equals and name in parameter.opts:
            found = value
    return found
