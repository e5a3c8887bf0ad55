"""The application: its commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

import parsifal
from parsifal.cli.apply import check, predict
from parsifal.cli.extras import add_reproduce, bench
from parsifal.cli.fit import fit
from parsifal.cli.outlook import diagnose
from parsifal.cli.sweep import cv, path
from parsifal.cli.usage import Group

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


def _version(value: bool) -> None:
    if value:
        typer.echo(f"parsifal {parsifal.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Exact sparse regression: the best k features, and a proof that no other choice is better."""


for _command in (fit, path, cv, predict, check, diagnose, bench):
    app.command()(_command)
add_reproduce(app)
