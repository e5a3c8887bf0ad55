"""``parsifal fit``: one model, proven."""

from __future__ import annotations

import warnings
from typing import Any

import typer

from parsifal.cli import options as o
from parsifal.cli.output import Live, Output, guarded
from parsifal.cli.work import Job, finish, forced, start
from parsifal.solution import Solution


@guarded
def fit(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    k: o.K = None,
    gamma: o.Gamma = "auto",
    penalty: o.Penalty = None,
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
    force_in: o.ForceIn = None,
    force_out: o.ForceOut = None,
    time_limit: o.TimeLimit = None,
    node_limit: o.NodeLimit = None,
    rel_gap: o.RelGap = 1e-6,
    threads: o.Threads = None,
    method: o.Method = "search",
    backend: o.Backend = "scip",
    checkpoint: o.CheckpointFile = None,
    out: o.Out = None,
    certificate: o.CertificateFile = None,
    report: o.ReportFile = None,
    report_time: o.ReportTime = 30.0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Find the best K features of a table and prove that no other choice is better.

    Ctrl-C ends the search with the best so far and its gap; press it again to stop at once.
    """
    output = Output(json=json, quiet=quiet)
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
    ridge = o.gamma_of(gamma)
    job = start(context, output, data, recipe, out=out, certificate=certificate, report=report, report_time=report_time)
    inside = forced(job, o.names(force_in), "--force-in")
    outside = forced(job, o.names(force_out), "--force-out")
    with Live(output) as live:
        solution = estimate(
            job,
            k=k,
            gamma=ridge,
            penalty=penalty,
            method=method,
            backend=backend,
            force_in=inside,
            force_out=outside,
            rel_gap=rel_gap,
            time_limit=time_limit,
            node_limit=node_limit,
            n_jobs=-1 if threads is None else threads,
            checkpoint=checkpoint,
            progress=live,
        )
    code = finish(job, output, solution, threads=threads, history=live.history, force_in=inside, force_out=outside)
    raise typer.Exit(code)


def estimate(job: Job, **parameters: Any) -> Solution:
    """Fit `SparseRegressor`; that a fit is not proven is said by the command itself."""
    from sklearn.exceptions import ConvergenceWarning

    from parsifal.estimators import SparseRegressor

    model = SparseRegressor(fit_intercept=job.recipe.intercept, standardize=job.recipe.standardize, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(job.encoded.design, job.encoded.y, job.encoded.weight)
    return model.solution_
