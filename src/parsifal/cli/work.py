"""What fit, path and cv have in common: read the data, then show and write the model."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

import parsifal
from parsifal.certificate import Certificate
from parsifal.cli.output import INTERRUPTED, NOT_PROVEN, OK, Output
from parsifal.errors import InputError
from parsifal.path import Path as SolutionPath
from parsifal.progress import Progress
from parsifal.reporting import CvCurve, gather, write
from parsifal.reporting.content import feature_rows
from parsifal.solution import Solution
from parsifal.summary import Row
from parsifal.tabular import Encoded, Recipe, Table, encode, read_table, save_proof
from parsifal.tabular.encoding import target_name
from parsifal.tabular.modelfile import saved_model
from parsifal.training import Training, prepare

_REASON = {
    "time_limit": "the time limit ended the search",
    "node_limit": "the node limit ended the search",
    "interrupted": "the search was interrupted",
    "gap_open": "the proof could not be completed",
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """The data of a command and what is to be written."""

    recipe: Recipe
    table: Table
    encoded: Encoded
    training: Training
    command: str
    out: Path | None = None
    certificate: Path | None = None
    report: Path | None = None
    report_time: float = 30.0

    @property
    def names(self) -> tuple[str, ...]:
        return self.encoded.features


def command_line(context: typer.Context) -> str:
    """The command as it was typed."""
    return shlex.join(["parsifal", *(context.find_root().obj or ())])


def load(path: Path, recipe: Recipe) -> tuple[Recipe, Table, Encoded]:
    """Read and encode; the recipe comes back with the target's full name."""
    table = read_table(
        path, delimiter=recipe.delimiter, decimal=recipe.decimal, encoding=recipe.encoding, target=recipe.target
    )
    recipe = replace(recipe, target=target_name(table, recipe.target))
    return recipe, table, encode(table, recipe)


def start(
    context: typer.Context,
    output: Output,
    path: Path,
    recipe: Recipe,
    *,
    out: Path | None,
    certificate: Path | None,
    report: Path | None,
    report_time: float,
) -> Job:
    """Check where files go, before anything takes long; then read the data."""
    for file in (out, certificate, report):
        if file is not None and not file.absolute().parent.is_dir():
            raise InputError(f"the folder of {file} does not exist; make it first")
        if file is not None and file.is_dir():
            raise InputError(f"{file} is a folder; give a file's name")
    recipe, table, encoded = load(path, recipe)
    skipped = table.rows - encoded.rows
    if skipped:
        output.note(f"{skipped} of {table.rows} rows have gaps and are left out")
    training = prepare(
        encoded.design,
        encoded.y,
        weight=encoded.weight,
        fit_intercept=recipe.intercept,
        standardize=recipe.standardize,
    )
    return Job(
        recipe=recipe,
        table=table,
        encoded=encoded,
        training=training,
        command=command_line(context),
        out=out,
        certificate=certificate,
        report=report,
        report_time=report_time,
    )


def forced(job: Job, values: Sequence[str], option: str) -> list[str] | None:
    """Features by name; a categorical column's name stands for all its indicators."""
    out: list[str] = []
    for name in values:
        group = next((code.features for code in job.encoded.codes if code.name == name), None)
        if name in job.names:
            out.append(name)
        elif group is not None:
            out.extend(group)
        else:
            some = ", ".join(job.names[:12]) + (", ..." if len(job.names) > 12 else "")
            raise InputError(f"{option} {name} is not a feature; the features are {some}")
    return out or None


def finish(
    job: Job,
    output: Output,
    solution: Solution,
    *,
    threads: int | None,
    path: SolutionPath | None = None,
    cv: CvCurve | None = None,
    history: Sequence[Progress] = (),
    force_in: Sequence[str] | None = None,
    force_out: Sequence[str] | None = None,
    more: dict[str, Any] | None = None,
) -> int:
    """Show the model, write what was asked for, and say how the command ends."""
    coef, intercept = job.training.unscaled(solution.coef)
    rows = feature_rows(job.training, solution, coef, job.names, force_out)
    _show(output, solution, rows, intercept, job)
    source = job.table.source
    model = saved_model(
        solution=solution,
        coef=coef,
        intercept=intercept,
        encoded=job.encoded,
        recipe=job.recipe,
        source=source,
        command=job.command,
        version=parsifal.__version__,
        more=more,
    )
    files: dict[str, str] = {}
    if job.out is not None:
        model.save(job.out)
        files["model"] = str(job.out)
    if job.certificate is not None:
        certificate = _certificate(solution)
        save_proof(job.certificate, certificate, job.recipe, source)
        files["certificate"] = str(job.certificate)
        if solution.rests_on is not None:
            output.note(f"{job.certificate} is not the whole proof: {solution.rests_on}")
        if not certificate.complete:
            output.note(f"the proof was too large to keep, so {job.certificate} holds the claim only")
    if job.report is not None:
        with output.busy(f"looking at other models for the report, up to about {job.report_time:g} s"):
            content = gather(
                job.training,
                solution,
                coef=coef,
                intercept=intercept,
                names=job.names,
                target=job.recipe.target,
                command=job.command,
                version=parsifal.__version__,
                data=data_facts(job),
                whole_path=path,
                cv=cv,
                history=history,
                force_in=force_in,
                force_out=force_out,
                # Whoever interrupts a search does not want to wait for pictures.
                time_limit=0.0 if solution.status == "interrupted" else job.report_time,
                threads=threads,
            )
            write(content, job.report)
        files["report"] = str(job.report)
    for kind, file in files.items():
        output.say(f"{kind} written to {file}")
    output.result({**model.to_dict(), "proven": solution.status == "optimal", "files": files})
    return {"optimal": OK, "interrupted": INTERRUPTED}.get(solution.status, NOT_PROVEN)


def _certificate(solution: Solution) -> Certificate:
    if solution.certificate is None:
        raise InputError("this method leaves no certificate; use --method search")
    return solution.certificate


def _show(output: Output, solution: Solution, rows: Sequence[Row], intercept: float, job: Job) -> None:
    body = [
        (row.feature, f"{row.coef:.6g}", f"{row.standardized:.4g}", _change(row.left_out), row.replacement or "-")
        for row in rows
    ]
    head = ("feature", "coefficient", "standardised", "loss if left out", "best replacement")
    title = f"{solution.support.size} of {len(job.names)} features for {job.recipe.target}"
    output.table(title, head, [*body, ("(intercept)", f"{intercept:.6g}", "", "", "")], left=(0, 4))
    output.say("")
    output.say(sentence(solution, len(job.names)), style="green" if solution.status == "optimal" else "yellow")


def sentence(solution: Solution, p: int) -> str:
    """The certificate in one sentence."""
    nodes, seconds = solution.stats.get("nodes", 0), solution.stats.get("seconds", {}).get("total", 0.0)
    effort = f"{nodes} nodes, {seconds:.2g} s"
    numbers = f"objective {solution.objective:.6g}, lower bound {solution.lower_bound:.6g}, gap {solution.gap:.1e}"
    if solution.status == "optimal":
        which = f"at most {solution.k}" if solution.k < p else "any number"
        claim = f"no other choice of {which} of the {p} features has a smaller objective ({numbers}; {effort})"
        return f"Proven: {claim}." if solution.rests_on is None else f"Optimal: {claim}; {solution.rests_on}."
    return (
        f"Not proven: {_REASON[solution.status]}; this is the best so far, and no choice is better by more than "
        f"{_percent(solution.gap)} ({numbers}; {effort})."
    )


def data_facts(job: Job) -> list[tuple[str, str]]:
    """What identifies the data, for the report."""
    source = job.table.source
    facts = [
        ("file", source.path),
        ("SHA-256", source.sha256),
        ("rows", f"{job.encoded.rows} of {source.rows}" if job.encoded.rows < source.rows else str(source.rows)),
        ("columns in the file", str(source.columns)),
        ("features to choose from", str(len(job.names))),
        ("target", job.recipe.target),
    ]
    recipe = job.recipe
    if recipe.weights is not None:
        facts.append(("weights", recipe.weights))
    categorical = [code.name for code in job.encoded.codes if code.levels is not None]
    if categorical:
        facts.append(("one-hot encoded", ", ".join(categorical)))
    if recipe.impute is not None:
        facts.append(("gaps filled with", recipe.impute))
    if recipe.drop:
        facts.append(("left out", ", ".join(recipe.drop)))
    return facts


def _change(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:+.2%}"


def _percent(gap: float) -> str:
    return f"{gap:.3%}" if gap < 10 else f"a factor of {gap:.2g}"
