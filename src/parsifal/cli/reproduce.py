"""``parsifal reproduce``: the tables and figures of the paper."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

from parsifal.cli.output import guarded
from parsifal.cli.usage import Command


class Experiments:
    """An application of its own for the paper's command, which is loaded when it is asked for: it takes its time."""

    def __init__(self, *, debug: bool) -> None:
        self.debug = debug
        self.app = typer.Typer(
            add_completion=False,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    def command(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a command with our errors around it."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def run(*args: Any, **kwargs: Any) -> Any:
                try:
                    return function(*args, **kwargs)
                except KeyboardInterrupt:
                    raise KeyboardInterrupt("stopped; the same command goes on from here") from None

            return self.app.command(name, cls=Command)(run if self.debug else guarded(run))

        return register


def add_reproduce(app: typer.Typer) -> None:
    """Add the paper's experiments; their options are theirs."""

    def reproduce(context: typer.Context) -> None:
        """Reproduce a table or a figure of the paper; a run that was stopped goes on where it was."""
        from parsifal.paper.command import register

        arguments = [argument for argument in context.args if argument != "--debug"]
        inner = Experiments(debug=len(arguments) < len(context.args))
        register(inner)
        inner.app(arguments, prog_name="parsifal reproduce")

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(context_settings=settings, add_help_option=False)(reproduce)
