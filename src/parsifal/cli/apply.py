"""``parsifal predict`` and ``parsifal check``: use a model, and check a proof."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from parsifal.check import check as check_certificate
from parsifal.cli import options as o
from parsifal.cli.output import INVALID, OK, Output, guarded
from parsifal.cli.work import load
from parsifal.errors import InputError
from parsifal.problem import FloatArray
from parsifal.storage import replacing
from parsifal.tabular import Recipe, SavedModel, load_proof, read_table
from parsifal.training import prepare

ModelFile = Annotated[Path, typer.Argument(help="Model written by --out.", metavar="MODEL.json", show_default=False)]
ProofFile = Annotated[
    Path, typer.Argument(help="Proof written by --certificate.", metavar="PROOF.npz", show_default=False)
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Write the predictions (.csv or .npy) instead of printing them.", show_default=False
    ),
]


@guarded
def predict(
    model: ModelFile,
    data: o.DataFile,
    out: Predictions = None,
    drop: o.Drop = None,
    delimiter: o.Delimiter = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="As in training by default.", show_default=False)
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="As in training by default.", show_default=False)
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Predict the target for every row of a table, which is encoded as the training data were.

    Only the columns of the chosen features are needed; columns that the training data did not have are refused.
    """
    output = Output(json=json, quiet=quiet)
    saved = SavedModel.load(model)
    recipe = saved.recipe
    table = read_table(
        data,
        delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter) or recipe.delimiter,
        decimal=decimal or recipe.decimal,
        encoding=encoding or recipe.encoding,
    )
    values = saved.predict(table, o.names(drop))
    name = f"{recipe.target} (predicted)"
    if out is not None:
        with replacing(out) as file:
            if out.suffix.lower() == ".npy":
                np.save(file, values)
            else:
                file.write(_csv(name, values).encode())
        output.say(f"{values.size} predictions written to {out}")
    elif not json:
        sys.stdout.write(_csv(name, values))
    output.result({"target": recipe.target, "rows": values.size, "predictions": values.tolist()})


def _csv(name: str, values: FloatArray) -> str:
    quoted = f'"{name}"' if any(character in name for character in ',"\n') else name
    return "\n".join([quoted, *(repr(float(value)) for value in values)]) + "\n"


@guarded
def check(
    proof: ProofFile,
    data: o.DataFile,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="For a proof saved from Python, which does not name its column.", show_default=False
        ),
    ] = None,
    drop: o.Drop = None,
    categorical: o.Categorical = None,
    impute: o.ImputeOption = None,
    drop_missing: o.DropMissing = False,
    weights: o.Weights = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = ".",
    encoding: o.Encoding = "utf-8",
    no_intercept: o.NoIntercept = False,
    no_standardize: o.NoStandardize = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Check a proof against the data; the exit code is 0 only if it is valid.

    The proof says how the table was encoded; the matrix is made anew from DATA, and every number is recomputed with
    nothing of the solver. The options about data are for proofs saved from Python, by Certificate.save.
    """
    output = Output(json=json, quiet=quiet)
    certificate, recipe, source = load_proof(proof)
    given: dict[str, object] = {
        "--drop": drop,
        "--categorical": categorical,
        "--impute": impute,
        "--weights": weights,
        "--drop-missing": drop_missing,
        "--no-intercept": no_intercept,
        "--no-standardize": no_standardize,
    }
    if recipe is None:
        if target is None:
            raise InputError(
                f"{proof} does not say how its table was encoded; give --target and the other options of the fit "
                "(for parsifal.solve also --no-intercept --no-standardize)"
            )
        recipe = o.recipe_of(
            target=target,
            drop=drop,
            categorical=categorical,
            impute=impute,
            drop_missing=drop_missing,
            weights=weights,
            no_intercept=no_intercept,
            no_standardize=no_standardize,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
        )
    else:
        extra = [option for option, value in given.items() if value]
        if extra:
            raise InputError(f"{proof} says itself how its table was encoded; leave out {', '.join(extra)}")
        recipe = _located(recipe, target, delimiter)
    recipe, table, encoded = load(data, recipe)
    training = prepare(
        encoded.design, encoded.y, weight=encoded.weight, fit_intercept=recipe.intercept, standardize=recipe.standardize
    )
    result = check_certificate(certificate, training.design, training.y)
    same = source is None or source.sha256 == table.source.sha256
    if not same:
        output.note(
            f"{data} is not byte for byte the file of the fit ({source.path if source else ''}); its content counts"
        )
    chosen = [encoded.features[j] for j in certificate.support if j < len(encoded.features)]
    output.say(str(result) + ".", style="green" if result else "bold red")
    if result:
        output.say(str(certificate) + ".")
        output.say("chosen: " + ", ".join(chosen))
    output.result(
        {
            "valid": result.valid,
            "reason": result.reason,
            "records": result.records,
            "objective": certificate.objective,
            "lower_bound": certificate.lower_bound,
            "k": certificate.k,
            "gamma": certificate.gamma,
            "penalty": certificate.penalty,
            "features": chosen,
            "same_file": same,
        }
    )
    raise typer.Exit(OK if result else INVALID)


def _located(recipe: Recipe, target: str | None, delimiter: str | None) -> Recipe:
    """The same recipe where a response file has moved, or a copy of the table has another delimiter."""
    if target is not None and target.endswith(".npy"):
        recipe = replace(recipe, target=target)
    elif target is not None and target != recipe.target:
        raise InputError(f"the proof is about {recipe.target!r}, not {target!r}; leave --target out")
    if delimiter is not None:
        recipe = replace(recipe, delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter))
    return recipe
