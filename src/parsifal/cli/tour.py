"""``parsifal tour``: two minutes in the terminal, on data that come with scikit-learn."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from parsifal.cli.option_groups import command
from parsifal.cli.output import Output
from parsifal.errors import InputError

_TABLE = "diabetes.csv"
# What is said, and the command that is run.
_STEPS = (
    (
        "442 patients, ten measurements, and how far the disease had gone a year later ({folder}/diabetes.csv).\n"
        "Which four measurements predict it best? The answer comes with a proof, and three files.",
        "fit diabetes.csv --target progression --k 4 --out model.json --certificate proof.npz --report report.html "
        "--report-time 10",
    ),
    (
        "The proof is data, not trust: anyone can check it against the table, without the solver.",
        "check proof.npz diabetes.csv",
    ),
    ("The model is plain JSON, and predicts new rows.", "predict model.json diabetes.csv --out predictions.csv"),
    ("Was four the right number? The best model of every size, each proven:", "path diabetes.csv --target progression"),
)


@command
def tour(
    folder: Annotated[
        Path, typer.Argument(help="Where to put the files; made if it is not there.", metavar="FOLDER")
    ] = Path("parsifal-tour"),
    *,
    pause: Annotated[
        bool, typer.Option("--pause/--no-pause", help="Wait for Enter between the steps, on a terminal.")
    ] = True,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Fit, report, check and predict on bundled data, and see every command: two minutes."""
    output = Output(json=False, quiet=False)
    _write_table(folder)
    waits = pause and sys.stdin.isatty() and sys.stdout.isatty()
    for number, (words, line) in enumerate(_STEPS, start=1):
        output.say("")
        for sentence in words.format(folder=folder).splitlines():
            output.say(sentence)
        output.say(f"\n$ parsifal {line}", style="bold")
        if waits:
            typer.prompt("", default="", show_default=False, prompt_suffix="[Enter] ")
        _run(line, folder)
        output.say(f"({number} of {len(_STEPS)})", style="dim")
    output.say("")
    output.say(f"Open {folder / 'report.html'} in a browser; it needs no network.")
    output.say("Next, your own table: parsifal fit YOUR.csv --target COLUMN --k 5")


def _write_table(folder: Path) -> None:
    from sklearn.datasets import load_diabetes

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder's name")
    folder.mkdir(parents=True, exist_ok=True)
    data = load_diabetes(scaled=False)
    lines = [",".join([*data.feature_names, "progression"])]
    lines += [",".join(f"{value:g}" for value in (*row, y)) for row, y in zip(data.data, data.target)]
    text, file = "\n".join(lines) + "\n", folder / _TABLE
    if file.exists() and file.read_text(encoding="utf-8", errors="replace") != text:
        raise InputError(f"{file} is there already, and is not the tour's; give another folder")
    file.write_text(text, encoding="utf-8")


def _run(line: str, folder: Path) -> None:
    """Run a command with its files in the folder, as if it had been typed there."""
    from parsifal.cli.app import app

    files = {word for word in shlex.split(line) if Path(word).suffix}
    words = [str(folder / word) if word in files else word for word in shlex.split(line)]
    group: Any = typer.main.get_command(app)
    try:
        group.main(words, prog_name="parsifal", standalone_mode=False)
    except typer.Exit as end:
        if end.exit_code:
            raise
