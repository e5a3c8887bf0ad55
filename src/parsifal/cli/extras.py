"""``parsifal bench`` and ``parsifal reproduce``: what lies beside the solver."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from parsifal.cli.output import guarded
from parsifal.cli.usage import Command
from parsifal.errors import InputError


@guarded
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Smoke sizes: seconds instead of minutes.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Run the benchmarks of a checkout of the source; start it in the checkout's folder."""
    if not Path("benchmarks", "run.py").is_file():
        raise InputError(
            "the benchmarks come with the source, not with the package; clone the repository and run this in its folder"
        )
    command = [sys.executable, "-m", "benchmarks.run", *(["--quick"] if quick else [])]
    raise typer.Exit(subprocess.run(command, check=False).returncode)


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
