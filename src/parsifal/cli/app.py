"""The application: its commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from parsifal.cli.bench import bench
from parsifal.cli.check import check
from parsifal.cli.cv import cv
from parsifal.cli.diagnose import diagnose
from parsifal.cli.fit import fit
from parsifal.cli.path import path
from parsifal.cli.predict import predict
from parsifal.cli.reproduce import add_reproduce
from parsifal.cli.tour import tour
from parsifal.cli.usage import Group
from parsifal.cli.version import version_lines

_CODES = """
Exit codes: 0 done, and proven or valid; 1 it failed; 2 an option, a file or the data will not do; 3 not proven, a limit
ended the search; 4 the certificate is not valid; 130 interrupted, the best so far was printed.
"""


app = typer.Typer(
    name="parsifal",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=" ".join(_CODES.split()),
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --version: the compiled core and the extras, too.")
    ] = False,
) -> None:
    """Exact sparse regression: the best k features, and a proof that no other choice is better."""
    if version:
        for line in version_lines(verbose):
            typer.echo(line)
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.BadParameter("--verbose goes with --version")


for _command in (fit, path, cv, predict, check, diagnose, tour, bench):
    app.command()(_command)
add_reproduce(app)
