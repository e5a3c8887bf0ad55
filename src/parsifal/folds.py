"""One fold of a cross-validation: a path over k for every gamma on the training rows, predictions on the test rows.

A fold is one job. Within it the working set, the dual points and the supports go from k to k and from gamma to gamma;
between folds nothing is shared but X, which is never copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsifal.design import Design, View, as_design
from parsifal.driver import Options
from parsifal.errors import InputError
from parsifal.handover import Handover
from parsifal.path import solve_path
from parsifal.problem import FloatArray, IntArray, Problem
from parsifal.progress import Progress
from parsifal.solution import Solution
from parsifal.training import Training, prepare

Tick = Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class FoldTask:
    """What one job needs; `X` may be anything that `as_design` reads.

    `fix` marks the features that are forced in (1) or out (-1).
    """

    X: Any
    y: FloatArray
    weight: FloatArray | None
    train: IntArray
    test: IntArray
    sizes: Sequence[int]
    gammas: Sequence[float]
    penalty: float
    fix: Any
    fit_intercept: bool
    standardize: bool
    options: Options


@dataclass(frozen=True, kw_only=True)
class FoldResult:
    """What one job gives back.

    Attributes
    ----------
    predictions : array of shape (n_gammas, n_ks, test rows)
    mse : array of shape (n_gammas, n_ks)
    gaps : array of shape (n_gammas, n_ks)
        The relative gap of every fit: at most `rel_gap` where it is proven.
    supports : nested lists of int arrays
        ``supports[gamma][k]``.
    """

    predictions: FloatArray
    mse: FloatArray
    gaps: FloatArray
    supports: list[list[IntArray]]


def nothing_of(task: FoldTask) -> FoldResult:
    """A fold of which nothing is known: NaN, and supports without columns."""
    shape = (len(task.gammas), len(task.sizes))
    none: IntArray = np.empty(0, dtype=np.int64)
    return FoldResult(
        predictions=np.full((*shape, task.test.size), np.nan),
        mse=np.full(shape, np.nan),
        gaps=np.full(shape, np.nan),
        supports=[[none] * shape[1] for _ in range(shape[0])],
    )


def run_fold(
    task: FoldTask,
    tick: Tick | None = None,
    poll: Callable[[Progress], object] | None = None,
    unfinished: Callable[[FoldResult], object] | None = None,
) -> FoldResult:
    """Fit every (gamma, k) on the training rows.

    `tick` is called after every fit, `poll` now and then during one; both may stop the fold by raising. After Ctrl-C
    `unfinished` gets the fits that were made, the others being NaN, if there are any.
    """
    design = as_design(task.X)
    training = prepare(
        design,
        task.y,
        weight=task.weight,
        rows=task.train,
        fit_intercept=task.fit_intercept,
        standardize=task.standardize,
    )
    fits: list[list[Solution]] = []
    handover = Handover()
    starts: dict[int, list[IntArray]] = {}
    try:
        for gamma in task.gammas:
            problem = Problem(
                design=training.design,
                y=training.y,
                k=task.sizes[-1],
                penalty=task.penalty,
                gamma=gamma,
                fix=task.fix,
            )
            fits.append([])
            path = solve_path(
                problem,
                task.sizes,
                task.options,
                handover=handover,
                starts=starts,
                each=lambda solution: _note(fits[-1], solution, tick),
                progress=poll or False,
            )
            starts = {k: [s.support] for k, s in zip(task.sizes, path)}
    except KeyboardInterrupt:
        if unfinished is not None and any(fits):
            unfinished(_evaluate(design, training, task, fits))
        raise
    return _evaluate(design, training, task, fits)


def _note(fits: list[Solution], solution: Solution, tick: Tick | None) -> None:
    # Also where it is the last fit that Ctrl-C has cut short.
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    fits.append(solution)
    if tick is not None:
        tick()


def _evaluate(design: Design, training: Training, task: FoldTask, fits: list[list[Solution]]) -> FoldResult:
    """Predictions on the test rows and their errors; every column that some fit uses is gathered once."""
    result = nothing_of(task)
    test = task.test
    used = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(s.support for row in fits for s in row)]))
    columns = View(design, rows=test).columns(used)
    columns = (columns - training.center[used]) * training.scale[used]
    for g, row in enumerate(fits):
        for i, solution in enumerate(row):
            support = solution.support
            result.predictions[g, i] = columns[:, np.searchsorted(used, support)] @ solution.coef[support]
            result.predictions[g, i] += training.y_mean
            result.gaps[g, i] = solution.gap
            result.supports[g][i] = support
    error = (result.predictions - task.y[test]) ** 2
    weight = None if task.weight is None else task.weight[test]
    # A fold whose test rows all have weight 0 counts for nothing; its rows are averaged as they are.
    mse = error.mean(axis=2) if weight is None or not weight.any() else error @ weight / weight.sum()
    return replace(result, mse=mse)


def choose(scores: FloatArray, mass: FloatArray | None, *, one_se: bool) -> tuple[int, int]:
    """Position (gamma, k) of the best mean score over the folds (last axis), or of the smallest k close to it.

    Ties go to the smaller k, then to the stronger ridge.
    """
    weight = np.ones(scores.shape[2]) if mass is None or not mass.any() else mass
    mean = scores @ weight / weight.sum()
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
