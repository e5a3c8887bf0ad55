"""``parsifal diagnose``: how hard it will be, before a long solve."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsifal.cli import options as o
from parsifal.cli.job import adjusted_columns, load_settled
from parsifal.cli.option_groups import OutputOptions, TableOptions, command
from parsifal.cli.output import Output
from parsifal.tabular.modelfile import finite_or_none

if TYPE_CHECKING:
    from parsifal.estimators.outlook import Outlook


@command
def diagnose(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    *,
    k: Annotated[
        int | None,
        typer.Option("--k", "-k", help="The size in question; by default eBIC's choice.", rich_help_panel=o.MODEL),
    ] = None,
    ks: Annotated[
        str | None,
        typer.Option("--ks", help="Sizes for the short solves: 5,10,20.", rich_help_panel=o.MODEL, show_default=False),
    ] = None,
    gamma: o.Gamma = "auto",
    table: TableOptions,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds in all, about.", rich_help_panel=o.SEARCH)
    ] = 20.0,
    threads: o.Threads = None,
    show: OutputOptions,
) -> None:
    """Say how hard a problem will be: the theory's thresholds, the gap at the root, the time to expect."""
    from parsifal.estimators.outlook import outlook

    output = show.open()
    sizes, ridge = None if ks is None else o.sizes_of(ks), o.gamma_of(gamma)
    settled, _, encoded = load_settled(context, output, data, table, target)
    recipe = settled.recipe
    with output.busy(f"trying, about {time_limit:g} s"):
        found = outlook(
            encoded.design,
            encoded.y,
            weight=encoded.weight,
            k=k,
            ks=sizes,
            gamma=ridge,
            adjust=adjusted_columns(encoded, recipe),
            fit_intercept=recipe.intercept,
            standardize=recipe.standardize,
            time_limit=time_limit,
            threads=threads,
        )
    _show(output, found, chosen=k is None)
    output.result(_as_json(found))


def _as_json(found: Outlook) -> dict[str, Any]:
    return {
        "rows": found.n,
        "features": found.p,
        "k": found.k,
        "gamma": found.gamma,
        "noise_variance": finite_or_none(found.noise),
        "snr": finite_or_none(found.snr),
        "n0": finite_or_none(found.n0),
        "n1": finite_or_none(found.n1),
        "sizes": [
            {name: finite_or_none(value) if isinstance(value, float) else value for name, value in asdict(size).items()}
            for size in found.sizes
        ],
        "verdict": found.verdict,
    }


def _show(output: Output, found: Outlook, *, chosen: bool) -> None:
    from parsifal.estimators.outlook import span

    how = "chosen by eBIC on a quick path" if chosen else "as asked"
    output.say(f"{found.n} rows, {found.p} features; k = {found.k} ({how}), gamma = {found.gamma:.4g}")
    noise = math.sqrt(found.noise) if found.noise > 0 else 0.0
    ratio = "no signal found" if found.snr <= 0 else f"signal-to-noise ratio {found.snr:.3g}"
    output.say(f"estimated noise: standard deviation {noise:.4g}, {ratio}")
    output.say(f"n0 = {_rows(found.n0)}: below it no method can be expected to find the true features")
    output.say(f"n1 = {_rows(found.n1)}: above it the Lasso can be expected to find them too")
    output.say("(thresholds of the theory: independent Gaussian columns, coefficients of equal size)", style="dim")
    output.say("")
    head = ("k", "gap at the root", "columns left", "gap now", "nodes", "time so far", "expected time")
    body = [
        (
            str(size.k),
            f"{size.root_gap:.2%}",
            str(size.columns_left),
            "proven" if size.solved else f"{size.gap:.2%}",
            str(size.nodes),
            span(size.seconds),
            span(size.expected_seconds) + ("" if size.solved else " (estimate)"),
        )
        for size in found.sizes
    ]
    output.table("Short solves", head, body, left=())
    output.say("")
    output.say(found.verdict, style="bold")


def _rows(value: float) -> str:
    return f"{value:.0f} rows" if math.isfinite(value) else "infinite"
