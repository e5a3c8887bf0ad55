"""``parsifal bench`` and ``parsifal reproduce``: what lies beside the solver."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import typer

from parsifal.cli.output import guarded
from parsifal.errors import ParsifalError


@guarded
def bench(
    quick: bool = typer.Option(False, "--quick", help="Smoke sizes: seconds instead of minutes."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Run the benchmarks of a checkout of the source; start it in the checkout's folder."""
    if not Path("benchmarks", "run.py").is_file():
        raise ParsifalError(
            "the benchmarks come with the source, not with the package; clone the repository and run this in its folder"
        )
    command = [sys.executable, "-m", "benchmarks.run", *(["--quick"] if quick else [])]
    raise typer.Exit(subprocess.run(command, check=False).returncode)


def add_reproduce(app: typer.Typer) -> None:
    """Add the paper's experiments, which register themselves."""
    try:
        command = importlib.import_module("parsifal.paper.command")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("parsifal.paper"):
            return
        raise
    command.register(app)
