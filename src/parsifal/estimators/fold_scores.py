"""Scores of the folds, and the choice of k and gamma that is made from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import _safe_indexing

from parsifal.arrays import FloatArray
from parsifal.design import Design
from parsifal.errors import InputError
from parsifal.estimators.fold import FoldResult, FoldTask
from parsifal.estimators.fold_runner import Folds


def check_scoring(scoring: Any) -> Any:
    """The scorer that is meant, None for the negative mean squared error."""
    scorer = scoring
    if isinstance(scorer, str):
        if scorer not in get_scorer_names():
            raise InputError(f"scoring {scorer!r} is not known; sklearn.metrics.get_scorer_names() lists the names")
        scorer = get_scorer(scorer)
    if scorer is not None and not callable(scorer):
        raise InputError(f"scoring must be a scorer's name, a callable or None, not {scoring!r}")
    return scorer


def score_folds(scorer: Any, X: Any, tasks: Sequence[FoldTask], results: Sequence[FoldResult]) -> FloatArray:
    """Scores by gamma, k and fold, greater being better; NaN where Ctrl-C came before the fit.

    `X` is what the user gave, for the scorer gets rows of it.
    """
    if scorer is None:
        return -np.stack([result.mse for result in results], axis=2)
    scores = np.full((*results[0].mse.shape, len(results)), np.nan)
    for f, (task, result) in enumerate(zip(tasks, results)):
        rows = np.zeros((task.test.size, 1)) if isinstance(X, Design) else _safe_indexing(X, task.test)
        for g, i in np.argwhere(~np.isnan(result.gaps)):
            scores[g, i, f] = scorer(Predicted(result.predictions[g, i]), rows, task.plan.y[task.test])
    return scores


def choose(scores: FloatArray, *, one_se: bool) -> tuple[int, int]:
    """Position (gamma, k) of the best mean score over the folds (last axis), or of the smallest k close to it.

    Ties go to the smaller k, then to the stronger ridge.
    """
    mean = scores.mean(axis=2)
    if not np.isfinite(mean).any():
        raise InputError("no (gamma, k) has a finite score; check `scoring` and the folds")
    mean = np.where(np.isfinite(mean), mean, -np.inf)
    # Transposed, so that the first of equals has the smallest k.
    i, g = (int(place) for place in np.unravel_index(int(np.argmax(mean.T)), mean.T.shape))
    if one_se and scores.shape[2] > 1:
        error = float(scores[g, i].std(ddof=1)) / math.sqrt(scores.shape[2])
        near = mean >= mean[g, i] - error
        i = int(np.flatnonzero(near.any(axis=0))[0])
        g = int(np.argmax(np.where(near[:, i], mean[:, i], -np.inf)))
    return g, i


class Predicted(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Stands in for a fitted model when a scorer asks for predictions that are already there."""

    def __init__(self, values: Any = None) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> Predicted:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self.values)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How the best (gamma, k) is chosen from folds; X is what the user gave, and `least` is as in `gamma_grid`."""

    X: Any
    tasks: list[FoldTask]
    scorer: Any
    weighted: npt.NDArray[np.bool_]  # folds with a row to be tested on that counts
    one_se: bool
    least: float

    def made(self, folds: Folds) -> tuple[FloatArray, tuple[int, int]]:
        """The scores by gamma, k and fold, and the place of the best."""
        scores = score_folds(self.scorer, self.X, self.tasks, folds.results)
        usable = [fold for fold in folds.usable if self.weighted[fold]] or folds.usable
        return scores, choose(scores[:, :, usable], one_se=self.one_se)

    def finer(self, gammas: list[float], seconds: float) -> list[FoldTask]:
        """The same folds with other gammas."""
        plan = replace(self.tasks[0].plan, gammas=gammas, seconds=seconds)
        return [replace(task, plan=plan) for task in self.tasks]
