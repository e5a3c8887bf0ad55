"""Every command with arguments that work; a row of the table changes one option."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer.main

from parsifal.cli.app import app

TABLE = "a,b,c,w,y\n" + "".join(f"{i % 5},{i * i % 7},{'xyz'[i % 3]},{1 + i % 2},{i * 3 % 11}\n" for i in range(14))

# The arguments that each command needs; a row adds its option at the end, where it counts instead of an earlier one.
COMMANDS: dict[str, tuple[str, ...]] = {
    "fit": ("data.csv", "--target", "y", "--drop", "c", "--k", "1"),
    "path": ("data.csv", "--target", "y", "--drop", "c", "--ks", "1-2"),
    "cv": ("data.csv", "--target", "y", "--drop", "c", "--ks", "1-2", "--gammas", "0.1", "--folds", "3"),
    "diagnose": ("data.csv", "--target", "y", "--drop", "c", "--k", "1", "--time-limit", "0.5"),
    "predict": ("model.json", "data.csv", "--drop", "c"),
    "check": ("proof.npz", "data.csv"),
    "tour": ("tour", "--no-pause"),
    "bench": (),
    "reproduce": ("figure1", "--n", "20", "--p", "30", "--k", "2", "--repeats", "1", "--out", "out"),
}


def prepare(run: Any) -> None:
    """Put the files into the working folder."""
    Path("data.csv").write_text(TABLE, encoding="utf-8")
    run("fit", *COMMANDS["fit"], "--out", "model.json", "--certificate", "proof.npz", "--quiet")
    values = json.loads(Path("model.json").read_text())
    Path("newer.json").write_text(json.dumps({**values, "version": 99}))
    Path("torn.json").write_text(Path("model.json").read_text()[:300])
    Path("list.json").write_text("[]")
    Path("folder").mkdir()


def options_of(command: str) -> dict[str, Any]:
    """The parameters of a command by the names that the table uses: DATA, --k, ..."""
    if command == "reproduce":
        from parsifal.cli.reproduce import Experiments
        from parsifal.paper.command import register

        inner = Experiments(debug=True)
        register(inner)
        found = typer.main.get_command(inner.app)
    else:
        found = typer.main.get_group(app).commands[command]
    return {_name(parameter): parameter for parameter in found.params}


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return max(parameter.opts, key=len)
