"""The estimators as commands use them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from parsifal.cli.job import Job
from parsifal.cli.option_groups import MethodOptions, SearchOptions

if TYPE_CHECKING:
    from parsifal.estimators.regressor import SparseRegressor
    from parsifal.estimators.regressor_cv import SparseRegressorCV


def shared_parameters(job: Job, search: SearchOptions, solver: MethodOptions) -> dict[str, Any]:
    """The parameters that `SparseRegressor` and `SparseRegressorCV` have in common."""
    return {
        "fit_intercept": job.recipe.intercept,
        "standardize": job.recipe.standardize,
        "method": solver.method,
        "backend": solver.backend,
        "adjust": job.adjust,
        "positive": job.positive,
        "sign": job.sign,
        "force_in": job.force_in,
        "force_out": job.force_out,
        "rel_gap": search.rel_gap,
        "time_limit": search.time_limit,
        "node_limit": search.node_limit,
        "n_jobs": -1 if search.threads is None else search.threads,
    }


def fit_model(model: SparseRegressor | SparseRegressorCV, job: Job) -> None:
    """Fit, and keep the view of the data for what follows; that it is not proven is said by the command itself."""
    from sklearn.exceptions import ConvergenceWarning

    model._keep_view = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "the (smallest|largest) of the gammas", UserWarning)
        model.fit(job.encoded.design, job.encoded.y, job.encoded.weight)
