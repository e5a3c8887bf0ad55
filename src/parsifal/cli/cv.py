"""``parsifal cv``: the size and gamma that predict best, then a model with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from parsifal.cli import options as o
from parsifal.cli.estimating import fit_model, shared_parameters
from parsifal.cli.job import Job, start
from parsifal.cli.option_groups import (
    FileOptions,
    ForceOptions,
    MethodOptions,
    OutputOptions,
    SearchOptions,
    TableOptions,
    command,
)
from parsifal.cli.output import INTERRUPTED, Live, Output
from parsifal.cli.results import finish
from parsifal.errors import InputError
from parsifal.reporting import CvCurve, Fitted, cv_curve_of
from parsifal.tabular.modelfile import finite_or_none

if TYPE_CHECKING:
    from parsifal.estimators.regressor_cv import SparseRegressorCV


@dataclass(frozen=True, kw_only=True)
class FoldOptions:
    """What is tried, on which folds, and how the choice is made."""

    ks: o.Sizes = "1-20"
    gammas: Annotated[
        str,
        typer.Option("--gammas", help="Ridge weights to try: 0.01,1,inf. auto: a grid.", rich_help_panel=o.MODEL),
    ] = "auto"
    penalty: o.Penalty = None
    folds: Annotated[int, typer.Option("--folds", help="Number of folds.", min=2, rich_help_panel=o.MODEL)] = 5
    seed: Annotated[int, typer.Option("--seed", help="Shuffles the rows.", rich_help_panel=o.MODEL)] = 0
    no_shuffle: Annotated[
        bool, typer.Option("--no-shuffle", help="Folds of consecutive rows.", rich_help_panel=o.MODEL)
    ] = False
    one_se: Annotated[
        bool,
        typer.Option("--one-se", help="The smallest k within one standard error of the best.", rich_help_panel=o.MODEL),
    ] = False

    def parameters(self) -> dict[str, Any]:
        """The same for `SparseRegressorCV`."""
        from sklearn.model_selection import KFold

        shuffled = {} if self.no_shuffle else {"shuffle": True, "random_state": self.seed}
        return {
            "ks": o.sizes_of(self.ks),
            "gammas": _gammas(self.gammas),
            "penalty": self.penalty,
            "cv": KFold(self.folds, **shuffled),
            "one_se": self.one_se,
        }


@command
def cv(
    context: typer.Context,
    data: o.DataFile,
    target: o.Target,
    *,
    folding: FoldOptions,
    table: TableOptions,
    force: ForceOptions,
    search: SearchOptions,
    solver: MethodOptions,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Journal of the folds that are done; if it is there, they are not done again.",
            rich_help_panel=o.SEARCH,
            show_default=False,
        ),
    ] = None,
    files: FileOptions,
    show: OutputOptions,
) -> None:
    """Choose the number of features and gamma by cross-validation, then fit all rows with a proof.

    Limits are for the last fit. Medians of --impute are those of all rows, also in the folds.
    """
    from parsifal.estimators.gamma_grid import edge_note
    from parsifal.estimators.regressor_cv import SparseRegressorCV

    output = show.open()
    parameters = folding.parameters()
    job = start(context, output, data, target, options=table, force=force, files=files)
    if folding.folds > job.encoded.rows:
        raise InputError(f"--folds {folding.folds} is more than the {job.encoded.rows} rows; use fewer")
    with Live(output) as live:
        model = SparseRegressorCV(
            **parameters, **shared_parameters(job, search, solver), checkpoint=checkpoint, progress=live
        )
        _fit(model, job, live)
    curve = cv_curve_of(model)
    _show(output, curve)
    if model.interrupted_:
        output.note(_unfinished(model, folding.folds))
    g, i = curve.best
    spread = f"{curve.mean[g, i]:.5g} ± {curve.error[g, i]:.2g}"
    output.say(f"Chosen: k = {model.k_}, gamma = {model.gamma_:.4g}, with an error of {spread} on rows left out.")
    edge = edge_note(curve.gammas, g)
    if edge is not None:
        output.note(edge.replace("give them as gammas", "give them with --gammas").replace("np.inf", "inf"))
    output.say("")
    # A curve with gaps is no picture.
    picture = curve if np.isfinite(curve.mean).all() else None
    more = {"cross_validation": _as_json(curve, model)}
    fitted = Fitted.of_model(model, model._view)
    code = finish(job, output, fitted, threads=search.threads, cv=picture, history=live.history, more=more)
    raise typer.Exit(INTERRUPTED if model.interrupted_ else code)


def _fit(model: SparseRegressorCV, job: Job, live: Live) -> None:
    """Fit; Ctrl-C before anything could be chosen says what becomes of the folds that are done."""
    try:
        fit_model(model, job)
    except KeyboardInterrupt:
        remedy = "with --checkpoint the folds that are done would be kept"
        if model.checkpoint is not None:
            remedy = f"the folds that are done are in {model.checkpoint}, and the same command goes on from there"
        raise KeyboardInterrupt(
            f"interrupted after {live.fits_done} fits of the cross-validation, before anything was chosen; {remedy}"
        ) from None


def _show(output: Output, curve: CvCurve) -> None:
    def cell(place: tuple[int, int]) -> str:
        return f"{curve.mean[place]:.5g}{' *' if place == curve.best else '  '}"

    head = ("k", *(f"gamma {gamma:.3g}" for gamma in curve.gammas))
    body = [(str(k), *(cell((g, row)) for g in range(len(curve.gammas)))) for row, k in enumerate(curve.ks)]
    output.table(f"Mean squared error over {curve.folds} folds (*: chosen)", head, body, left=())


def _unfinished(model: SparseRegressorCV, folds: int) -> str:
    left = "--checkpoint would keep them" if model.checkpoint is None else "the same command goes on with the others"
    whole = int(np.isfinite(model.mse_path_).all(axis=(0, 1)).sum())
    what = f"{whole} of {folds} folds" if whole else "part of one fold"
    return f"interrupted: chosen from what was finished, {what}; {left}"


def _as_json(curve: CvCurve, model: SparseRegressorCV) -> dict[str, Any]:
    def numbers(values: Any) -> list[list[float | None]]:
        return [[finite_or_none(value) for value in row] for row in np.asarray(values).tolist()]

    return {
        "ks": list(curve.ks),
        "gammas": list(curve.gammas),
        "mse": numbers(curve.mean),
        "standard_error": numbers(curve.error),
        "folds": curve.folds,
        "chosen": {"k": int(model.k_), "gamma": float(model.gamma_)},
    }


def _gammas(text: str) -> str | list[float]:
    if text == "auto":
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--gammas must be numbers like 0.01,0.1,1 or auto, not {text!r}") from None
