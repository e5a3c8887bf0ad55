"""``parsifal predict``: use a model on new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from parsifal.arrays import FloatArray
from parsifal.cli import options as o
from parsifal.cli.option_groups import OutputOptions, command
from parsifal.files.atomic import replacing
from parsifal.tabular import SavedModel, read_table
from parsifal.tabular.modelfile import finite_or_none

ModelFile = Annotated[Path, typer.Argument(help="Model written by --out.", metavar="MODEL.json", show_default=False)]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Write the predictions (.csv or .npy) instead of printing them.", show_default=False
    ),
]


@command
def predict(
    model: ModelFile,
    data: o.DataFile,
    *,
    out: Predictions = None,
    drop: o.Drop = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a table with rows that cannot be predicted.")
    ] = False,
    delimiter: o.Delimiter = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="As in training by default.", show_default=False)
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="As in training by default.", show_default=False)
    ] = None,
    sheet: o.Sheet = None,
    show: OutputOptions,
) -> None:
    """Predict the target for every row of a table, which is encoded as the training data were.

    Only the columns of the chosen features are needed; columns that the training data did not have are refused. A row
    with a gap, or with a level that the training data did not have, gets no prediction.
    """
    output = show.open()
    saved = SavedModel.load(model)
    recipe = saved.recipe
    table = read_table(
        data,
        delimiter=o.delimiter_of(delimiter) or recipe.delimiter,
        decimal=decimal or recipe.decimal,
        encoding=encoding or recipe.encoding,
        sheet=sheet or recipe.sheet,
    )
    values = saved.predict(table, o.names(drop), strict=strict)
    none = int(np.isnan(values).sum())
    if none:
        output.note(f"{none} of {values.size} rows get no prediction: they have gaps, or levels not seen in training")
    name = f"{recipe.target} (predicted)"
    if out is not None:
        _write(out, name, values)
        output.say(f"{values.size} predictions written to {out}")
    elif not show.json:
        sys.stdout.write(_csv(name, values))
    found = [finite_or_none(value) for value in values]
    output.result({"target": recipe.target, "rows": values.size, "predictions": found})


def _write(path: Path, name: str, values: FloatArray) -> None:
    with replacing(path) as file:
        if path.suffix.lower() == ".npy":
            np.save(file, values)
        else:
            file.write(_csv(name, values).encode())


def _csv(name: str, values: FloatArray) -> str:
    quoted = f'"{name}"' if any(character in name for character in ',"\n') else name
    return "\n".join([quoted, *("" if value != value else repr(float(value)) for value in values)]) + "\n"
