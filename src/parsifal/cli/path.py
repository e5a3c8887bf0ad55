"""``parsifal path``: the best model of every size."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from parsifal.api.paths import Path as SolutionPath
from parsifal.api.paths import path as solve_path
from parsifal.cli import options as o
from parsifal.cli.job import start, training_of
from parsifal.cli.option_groups import FileOptions, ForceOptions, OutputOptions, SearchOptions, TableOptions, command
from parsifal.cli.output import INTERRUPTED, NOT_PROVEN, OK, Live, Output
from parsifal.cli.results import finish
from parsifal.reporting import Fitted
from parsifal.tabular.modelfile import finite_or_none


@command
def path(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    *,
    ks: o.Sizes = "1-20",
    gamma: o.Gamma = "auto",
    penalty: o.Penalty = None,
    criterion: Annotated[
        o.Criterion,
        typer.Option("--criterion", help="Chooses the model that is shown and written.", rich_help_panel=o.MODEL),
    ] = o.Criterion.ebic,
    table: TableOptions,
    force: ForceOptions,
    search: SearchOptions,
    files: FileOptions,
    show: OutputOptions,
) -> None:
    """Find and prove the best model of every size, and choose one by an information criterion."""
    from parsifal.problem.gamma import resolve_gamma

    output = show.open()
    sizes, ridge = o.sizes_of(ks), o.gamma_of(gamma)
    job = start(context, output, data, target, options=table, force=force, files=files)
    training = training_of(job.encoded, job.recipe)
    with Live(output) as live:
        found = solve_path(
            training.design,
            training.y,
            sizes,
            resolve_gamma(ridge, training.auto_gamma),
            fit_intercept=False,  # the view has seen to it
            penalty=penalty,
            rel_gap=search.rel_gap,
            time_limit=search.time_limit,
            node_limit=search.node_limit,
            threads=search.threads,
            sign=1 if job.positive else 0 if job.sign is None else _by_position(job.sign, job.names),
            force_in=job.force_in,
            force_out=list(dict.fromkeys([*(job.force_out or ()), *(job.adjust or ())])),
            progress=live,
        )
    rows = _rows(found, job.names)
    _show(output, rows)
    chosen = found.best(criterion.value)
    output.say("")
    output.say(f"{criterion.value} prefers k = {chosen.k}.")
    fitted = Fitted.of_solution(chosen, training, job.names, force_in=job.force_in, force_out=job.force_out)
    # The report's bounds are those of the model that it is about.
    history = [snapshot for snapshot in live.history if snapshot.label == f"k = {chosen.k}"]
    finish(job, output, fitted, threads=search.threads, path=found, history=history, more={"path": rows})
    states = {s.status for s in found}
    raise typer.Exit(INTERRUPTED if "interrupted" in states else OK if states == {"optimal"} else NOT_PROVEN)


def _by_position(sign: dict[str, int], names: tuple[str, ...]) -> list[int]:
    return [sign.get(name, 0) for name in names]


def _rows(found: SolutionPath, names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            "k": s.k,
            "status": s.status,
            "objective": s.objective,
            "lower_bound": finite_or_none(s.lower_bound),
            "gap": finite_or_none(s.gap),
            "r2": finite_or_none(r2),
            "aic": finite_or_none(aic),
            "bic": finite_or_none(bic),
            "ebic": finite_or_none(ebic),
            "features": [names[j] for j in s.support],
        }
        for s, r2, aic, bic, ebic in zip(found, found.r2, found.aic, found.bic, found.ebic)
    ]


def _show(output: Output, rows: list[dict[str, Any]]) -> None:
    def number(value: object, form: str) -> str:
        return "-" if value is None else format(value, form)

    head = ("k", "R2", "objective", "gap", "BIC", "eBIC", "status", "features")
    body = [
        (
            str(row["k"]),
            number(row["r2"], ".4f"),
            number(row["objective"], ".6g"),
            number(row["gap"], ".1e"),
            number(row["bic"], ".5g"),
            number(row["ebic"], ".5g"),
            "proven" if row["status"] == "optimal" else str(row["status"]),
            ", ".join(row["features"]),
        )
        for row in rows
    ]
    output.table("The best model of every size", head, body, left=(6, 7))
