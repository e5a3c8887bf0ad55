"""``parsifal fit``: one model, proven."""

from __future__ import annotations

import typer

from parsifal.cli import options as o
from parsifal.cli.estimating import fit_model, shared_parameters
from parsifal.cli.job import start
from parsifal.cli.option_groups import (
    FileOptions,
    ForceOptions,
    MethodOptions,
    OutputOptions,
    SearchOptions,
    TableOptions,
    command,
)
from parsifal.cli.output import Live
from parsifal.cli.results import finish
from parsifal.reporting import Fitted


@command
def fit(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    *,
    k: o.K = None,
    gamma: o.Gamma = "auto",
    penalty: o.Penalty = None,
    table: TableOptions,
    force: ForceOptions,
    search: SearchOptions,
    solver: MethodOptions,
    checkpoint: o.CheckpointFile = None,
    files: FileOptions,
    show: OutputOptions,
) -> None:
    """Find the best K features of a table and prove that no other choice is better.

    Ctrl-C ends the search with the best so far and its gap; press it again to stop at once.
    """
    from parsifal.estimators.regressor import SparseRegressor

    output = show.open()
    ridge = o.gamma_of(gamma)
    job = start(context, output, data, target, options=table, force=force, files=files)
    if k is not None and k > len(job.names) and not table.strict:
        k = len(job.names)
        output.note(f"there {'is 1 feature' if k == 1 else f'are {k} features'} only, so k is {k}")
    with Live(output) as live:
        model = SparseRegressor(
            k=k,
            gamma=ridge,
            penalty=penalty,
            **shared_parameters(job, search, solver),
            checkpoint=checkpoint,
            progress=live,
        )
        fit_model(model, job)
    code = finish(job, output, Fitted.of_model(model, model._view), threads=search.threads, history=live.history)
    raise typer.Exit(code)
