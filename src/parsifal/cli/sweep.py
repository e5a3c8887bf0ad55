"""``parsifal path`` and ``parsifal cv``: models of many sizes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from parsifal.cli import options as o
from parsifal.cli.output import INTERRUPTED, NOT_PROVEN, OK, Live, Output, guarded
from parsifal.cli.work import Job, finish, forced, start
from parsifal.errors import InputError
from parsifal.path import Path as SolutionPath
from parsifal.path import path as solve_path
from parsifal.tabular.modelfile import finite_or_none


@guarded
def path(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    ks: o.Sizes = "1-20",
    gamma: o.Gamma = "auto",
    penalty: o.Penalty = None,
    criterion: Annotated[
        o.Criterion,
        typer.Option("--criterion", help="Chooses the model that is shown and written.", rich_help_panel=o.MODEL),
    ] = o.Criterion.ebic,
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
    out: o.Out = None,
    certificate: o.CertificateFile = None,
    report: o.ReportFile = None,
    report_time: o.ReportTime = 30.0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Find and prove the best model of every size, and choose one by an information criterion."""
    from parsifal.linear_model import resolve_gamma

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
    sizes, ridge = o.sizes_of(ks), o.gamma_of(gamma)
    job = start(context, output, data, recipe, out=out, certificate=certificate, report=report, report_time=report_time)
    inside = forced(job, o.names(force_in), "--force-in")
    outside = forced(job, o.names(force_out), "--force-out")
    with Live(output) as live:
        found = solve_path(
            job.training.design,
            job.training.y,
            sizes,
            resolve_gamma(ridge, job.training),
            penalty=penalty,
            rel_gap=rel_gap,
            time_limit=time_limit,
            node_limit=node_limit,
            threads=threads,
            force_in=inside,
            force_out=outside,
            progress=live,
        )
    rows = _path_rows(found, job)
    _show_path(output, rows)
    chosen = found.best(criterion.value)
    output.say("")
    output.say(f"{criterion.value} prefers k = {chosen.k}.")
    # The report's bounds are those of the model that it is about.
    history = [snapshot for snapshot in live.history if snapshot.label == f"k = {chosen.k}"]
    finish(
        job,
        output,
        chosen,
        threads=threads,
        path=found,
        history=history,
        force_in=inside,
        force_out=outside,
        more={"path": rows},
    )
    states = {s.status for s in found}
    raise typer.Exit(INTERRUPTED if "interrupted" in states else OK if states == {"optimal"} else NOT_PROVEN)


def _path_rows(found: SolutionPath, job: Job) -> list[dict[str, Any]]:
    total = float(job.training.y @ job.training.y)
    return [
        {
            "k": s.k,
            "status": s.status,
            "objective": s.objective,
            "lower_bound": finite_or_none(s.lower_bound),
            "gap": finite_or_none(s.gap),
            "r2": 1.0 - float(rss) / total if total > 0 else None,
            "aic": finite_or_none(aic),
            "bic": finite_or_none(bic),
            "ebic": finite_or_none(ebic),
            "features": [job.names[j] for j in s.support],
        }
        for s, rss, aic, bic, ebic in zip(found, found.rss, found.aic, found.bic, found.ebic)
    ]


def _show_path(output: Output, rows: list[dict[str, Any]]) -> None:
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


@guarded
def cv(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    ks: o.Sizes = "1-20",
    gammas: Annotated[
        str,
        typer.Option("--gammas", help="Ridge weights to try: 0.01,0.1,1. auto: three.", rich_help_panel=o.MODEL),
    ] = "auto",
    penalty: o.Penalty = None,
    folds: Annotated[int, typer.Option("--folds", help="Number of folds.", min=2, rich_help_panel=o.MODEL)] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Shuffles the rows.", rich_help_panel=o.MODEL)] = 0,
    no_shuffle: Annotated[
        bool, typer.Option("--no-shuffle", help="Folds of consecutive rows.", rich_help_panel=o.MODEL)
    ] = False,
    one_se: Annotated[
        bool,
        typer.Option("--one-se", help="The smallest k within one standard error of the best.", rich_help_panel=o.MODEL),
    ] = False,
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
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Journal of the folds that are done; if it is there, they are not done again.",
            rich_help_panel=o.SEARCH,
            show_default=False,
        ),
    ] = None,
    out: o.Out = None,
    certificate: o.CertificateFile = None,
    report: o.ReportFile = None,
    report_time: o.ReportTime = 30.0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Choose the number of features and gamma by cross-validation, then fit all rows with a proof.

    Limits are for the last fit. Medians of --impute are those of all rows, also in the folds.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold

    from parsifal.crossval import SparseRegressorCV
    from parsifal.reporting import cv_curve_of

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
    sizes, ridges = o.sizes_of(ks), _gammas(gammas)
    job = start(context, output, data, recipe, out=out, certificate=certificate, report=report, report_time=report_time)
    if folds > job.encoded.rows:
        raise InputError(f"--folds {folds} is more than the {job.encoded.rows} rows; use fewer")
    inside = forced(job, o.names(force_in), "--force-in")
    outside = forced(job, o.names(force_out), "--force-out")
    with Live(output) as live, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparseRegressorCV(
            ks=sizes,
            gammas=ridges,
            penalty=penalty,
            cv=KFold(folds) if no_shuffle else KFold(folds, shuffle=True, random_state=seed),
            one_se=one_se,
            fit_intercept=recipe.intercept,
            standardize=recipe.standardize,
            method=method,
            backend=backend,
            force_in=inside,
            force_out=outside,
            rel_gap=rel_gap,
            time_limit=time_limit,
            node_limit=node_limit,
            checkpoint=checkpoint,
            n_jobs=-1 if threads is None else threads,
            progress=live,
        )
        try:
            model.fit(job.encoded.design, job.encoded.y, job.encoded.weight)
        except KeyboardInterrupt:
            remedy = "with --checkpoint the folds that are done would be kept"
            if checkpoint is not None:
                remedy = f"the folds that are done are in {checkpoint}, and the same command goes on from there"
            raise KeyboardInterrupt(
                f"interrupted after {live.fits_done} fits of the cross-validation, before anything was chosen; {remedy}"
            ) from None
    curve = cv_curve_of(model)
    g, i = curve.best
    head = ("k", *(f"gamma {gamma:.3g}" for gamma in curve.gammas))
    body = [
        (str(k), *(f"{curve.mean[h, row]:.5g}{' *' if (h, row) == (g, i) else '  '}" for h in range(len(curve.gammas))))
        for row, k in enumerate(curve.ks)
    ]
    output.table(f"Mean squared error over {curve.folds} folds (*: chosen)", head, body, left=())
    if model.interrupted_:
        left = "the same command goes on with the others" if checkpoint is not None else "--checkpoint would keep them"
        whole = int(np.isfinite(model.mse_path_).all(axis=(0, 1)).sum())
        what = f"{whole} of {folds} folds" if whole else "part of one fold"
        output.note(f"interrupted: chosen from what was finished, {what}; {left}")
    spread = f"{curve.mean[g, i]:.5g} ± {curve.error[g, i]:.2g}"
    output.say(f"Chosen: k = {model.k_}, gamma = {model.gamma_:.4g}, with an error of {spread} on rows left out.")
    output.say("")
    found = {
        "cross_validation": {
            "ks": list(curve.ks),
            "gammas": list(curve.gammas),
            "mse": [[finite_or_none(value) for value in row] for row in np.asarray(curve.mean).tolist()],
            "standard_error": [[finite_or_none(value) for value in row] for row in np.asarray(curve.error).tolist()],
            "folds": curve.folds,
            "chosen": {"k": int(model.k_), "gamma": float(model.gamma_)},
        }
    }
    code = finish(
        job,
        output,
        model.solution_,
        threads=threads,
        # A curve with gaps is no picture.
        cv=curve if np.isfinite(curve.mean).all() else None,
        history=live.history,
        force_in=inside,
        force_out=outside,
        more=found,
    )
    raise typer.Exit(INTERRUPTED if model.interrupted_ else code)


def _gammas(text: str) -> str | list[float]:
    if text == "auto":
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--gammas must be numbers like 0.01,0.1,1 or auto, not {text!r}") from None
