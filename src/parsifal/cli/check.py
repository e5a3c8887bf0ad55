"""``parsifal check``: check a proof against the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from parsifal.cli import options as o
from parsifal.cli.claim import claim_as_json, encoding_facts, problem_facts
from parsifal.cli.job import load, load_settled, training_of
from parsifal.cli.option_groups import OutputOptions, TableOptions, command
from parsifal.cli.output import INVALID, OK, Output
from parsifal.errors import InputError
from parsifal.proof.certificate import Certificate
from parsifal.proof.checker import check as check_certificate
from parsifal.tabular import Encoded, Recipe, Source, Table, load_proof

ProofFile = Annotated[
    Path, typer.Argument(help="Proof written by --certificate.", metavar="PROOF.npz", show_default=False)
]


@command
def check(
    context: typer.Context,
    proof: ProofFile,
    data: o.DataFile,
    *,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="For a proof saved from Python, which does not name its column.", show_default=False
        ),
    ] = None,
    options: TableOptions,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Check in exact arithmetic: slower, and nothing rests on an analysis of rounding errors."
        ),
    ] = False,
    show: OutputOptions,
) -> None:
    """Check a proof against the data; the exit code is 0 only if it is valid.

    The proof says how the table was encoded; the matrix is made anew from DATA, and every number is recomputed with
    nothing of the solver. The options about data are for proofs saved from Python, by Certificate.save.
    """
    output = show.open()
    certificate, recipe, source = load_proof(proof)
    if recipe is None:
        settled, table, encoded = load_settled(context, output, data, options, _named(proof, target))
        recipe = settled.recipe
    else:
        recipe, table, encoded = load(data, _located(proof, recipe, target, options))
    training = training_of(encoded, recipe)
    result = check_certificate(certificate, training.design, training.y, exact=exact)
    same = source is None or source.sha256 == table.source.sha256
    if source is not None and not same:
        output.note(f"{data} is not byte for byte the file of the fit ({source.path}); its content counts")
    output.say(str(result) + ".", style="green" if result else "bold red")
    if result:
        _say_claim(output, certificate, recipe, source, table, encoded)
    output.result(
        {
            "valid": result.valid,
            "reason": result.reason,
            "exact": exact,
            "records": result.records,
            "objective": certificate.objective,
            "lower_bound": certificate.lower_bound,
            "k": certificate.k,
            "gamma": certificate.gamma,
            "penalty": certificate.penalty,
            "same_file": same,
            **claim_as_json(certificate, recipe, table, encoded),
        }
    )
    raise typer.Exit(OK if result else INVALID)


def _named(proof: Path, target: str | None) -> str:
    """The target by the options, for a proof that has none."""
    if target is None:
        raise InputError(
            f"{proof} does not say how its table was encoded; give --target and the other options of the fit "
            "(for parsifal.solve also --no-intercept --no-standardize)"
        )
    return target


def _located(proof: Path, recipe: Recipe, target: str | None, options: TableOptions) -> Recipe:
    """The proof's own recipe, where a response file has moved, or a copy of the table has another delimiter."""
    extra = options.given()
    if extra:
        raise InputError(f"{proof} says itself how its table was encoded; leave out {', '.join(extra)}")
    if target is not None and target.endswith(".npy"):
        recipe = replace(recipe, target=target)
    elif target is not None and target != recipe.target:
        raise InputError(f"the proof is about {recipe.target!r}, not {target!r}; leave --target out")
    if options.delimiter is not None:
        recipe = replace(recipe, delimiter=o.delimiter_of(options.delimiter))
    return recipe if options.sheet is None else replace(recipe, sheet=options.sheet)


def _say_claim(
    output: Output, certificate: Certificate, recipe: Recipe, source: Source | None, table: Table, encoded: Encoded
) -> None:
    output.say(str(certificate) + ".")
    facts = problem_facts(certificate, recipe, encoded) + encoding_facts(recipe, table, encoded)
    if source is None:
        facts.append(("encoding", "by the options given here; the proof does not say how its table was encoded"))
    for name, value in facts:
        output.say(f"{name}: {value}")
