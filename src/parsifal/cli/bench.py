"""``parsifal bench``: the benchmarks of a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from parsifal.cli.option_groups import command
from parsifal.errors import InputError


@command
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
