"""One fold of a cross-validation: a path over k for every gamma on the training rows, predictions on the test rows.

A fold is one job. Within it the working set, the dual points and the supports go from k to k and from gamma to gamma;
between folds nothing is shared but X, which is never copied. Where rows are many, a triangle stands in for them
(`fold_triangles`), and X is not read in a fold at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parsifal.api.paths import solve_path
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.design import View, as_design
from parsifal.estimators.fold_triangles import FoldTriangle
from parsifal.problem.column_rules import ColumnRules
from parsifal.problem.problem import Problem
from parsifal.problem.progress import Progress
from parsifal.problem.solution import Solution
from parsifal.problem.standardise import Training, prepare
from parsifal.solver.options import Options
from parsifal.solver.reuse import Handover

Tick = Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class FoldPlan:
    """What all folds have in common: the data, what is tried on them, and how.

    Attributes
    ----------
    X : matrix
        Anything that `as_design` reads.
    y, weight : arrays of shape (n,)
        Response and sample weights (None: 1 each), of all rows.
    sizes, gammas : sequences
        Every pair of them is fitted.
    rules : ColumnRules or None
        Prices, signs and side constraints of single columns.
    penalty : float
    fix : int array of shape (p,)
        Features that are forced in (1) or out (-1).
    adjust : int array
        Features to adjust for.
    fit_intercept, standardize : bool
    refit : str or None
        As in `SparseRegressor`.
    options : Options
        Limits of every fit.
    seconds : float
        For all fits of a fold; each gets an equal share of what is left.
    predictions : bool
        Whether predictions are needed, and not their errors alone.
    """

    X: Any
    y: FloatArray
    weight: FloatArray | None
    sizes: Sequence[int]
    gammas: Sequence[float]
    penalty: float
    rules: ColumnRules | None
    fix: FixArray
    adjust: IntArray
    fit_intercept: bool
    standardize: bool
    refit: str | None
    options: Options
    seconds: float
    predictions: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of gammas and of sizes."""
        return len(self.gammas), len(self.sizes)


@dataclass(frozen=True, kw_only=True)
class FoldTask:
    """What one job needs: the plan, which rows are for training and which for testing, and what stands in for them."""

    plan: FoldPlan
    train: IntArray
    test: IntArray
    triangle: FoldTriangle | None = None

    def training(self) -> Training:
        """The training rows as the solver sees them."""
        plan = self.plan
        if self.triangle is not None:
            return self.triangle.training(fit_intercept=plan.fit_intercept, standardize=plan.standardize)
        return prepare(
            as_design(plan.X),
            plan.y,
            weight=plan.weight,
            rows=self.train,
            adjust=plan.adjust,
            fit_intercept=plan.fit_intercept,
            standardize=plan.standardize,
        )


@dataclass(frozen=True, kw_only=True)
class FoldResult:
    """What one job gives back.

    Attributes
    ----------
    predictions : array of shape (n_gammas, n_ks, test rows)
        Without rows where the plan asks for none.
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


def no_result(task: FoldTask) -> FoldResult:
    """A fold of which nothing is known: NaN, and supports without columns."""
    shape = task.plan.shape
    none: IntArray = np.empty(0, dtype=np.int64)
    return FoldResult(
        predictions=np.full((*shape, task.test.size if task.plan.predictions else 0), np.nan),
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
    plan = task.plan
    training = task.training()
    deadline = time.monotonic() + plan.seconds
    fits: list[list[Solution]] = []
    handover = Handover()
    starts: dict[int, list[IntArray]] = {}
    try:
        for number, gamma in enumerate(plan.gammas):
            left = max(0.0, deadline - time.monotonic()) / (len(plan.gammas) - number)
            problem = Problem(
                design=training.design,
                y=training.y,
                k=plan.sizes[-1],
                penalty=plan.penalty,
                gamma=gamma,
                fix=plan.fix,
                rules=plan.rules,
            )
            fits.append([])
            path = solve_path(
                problem,
                plan.sizes,
                replace(plan.options, time_limit=left),
                most=plan.options.time_limit,
                handover=handover,
                starts=starts,
                each=lambda solution: _note(fits[-1], solution, tick),
                progress=poll or False,
            )
            starts = {k: [s.support] for k, s in zip(plan.sizes, path)}
    except KeyboardInterrupt:
        if unfinished is not None and any(fits):
            unfinished(_evaluate(training, task, fits))
        raise
    return _evaluate(training, task, fits)


def _note(fits: list[Solution], solution: Solution, tick: Tick | None) -> None:
    # Also where it is the last fit that Ctrl-C has cut short.
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    fits.append(solution)
    if tick is not None:
        tick()


def _evaluate(training: Training, task: FoldTask, fits: list[list[Solution]]) -> FoldResult:
    """Errors on the test rows, and predictions if they are asked for."""
    result = no_result(task)
    errors = _TestErrors(training, task, [s.support for row in fits for s in row])
    for g, row in enumerate(fits):
        for i, solution in enumerate(row):
            coef = solution.coef if task.plan.refit is None else _least_squares(training, solution.support)
            result.mse[g, i] = errors.of(coef, solution.support)
            result.gaps[g, i] = solution.gap
            result.supports[g][i] = solution.support
            if task.plan.predictions:
                result.predictions[g, i] = errors.predictions(coef, solution.support)
    return result


def _least_squares(training: Training, support: IntArray) -> FloatArray:
    coef = np.zeros(training.scale.size)
    coef[support] = np.linalg.lstsq(training.design.columns(support), training.y, rcond=None)[0]
    return coef


class _TestErrors:
    """The test rows of a fold; every column that some fit uses is gathered once, if the triangle does not do."""

    def __init__(self, training: Training, task: FoldTask, supports: list[IntArray]) -> None:
        self._training, self._triangle = training, task.triangle
        plan, test = task.plan, task.test
        if self._triangle is not None and not plan.predictions:
            return
        self._y = plan.y[test]
        self._weight = None if plan.weight is None else plan.weight[test]
        self._used = used = np.unique(np.concatenate([training.adjusted, *supports]))
        columns = View(as_design(plan.X), rows=test).columns(used)
        self._columns = (columns - training.center[used]) * training.scale[used]

    def of(self, coef: FloatArray, support: IntArray) -> float:
        """The mean squared error of a fit."""
        if self._triangle is not None:
            return self._triangle.test_error(*self._training.unscaled(coef))
        error = (self.predictions(coef, support) - self._y) ** 2
        # A fold whose test rows all have weight 0 counts for nothing; its rows are averaged as they are.
        if self._weight is None or not self._weight.any():
            return float(error.mean())
        return float(error @ self._weight / self._weight.sum())

    def predictions(self, coef: FloatArray, support: IntArray) -> FloatArray:
        """What a fit predicts."""
        support = np.union1d(support, self._training.adjusted)
        chosen = self._columns[:, np.searchsorted(self._used, support)]
        return np.asarray(chosen @ self._training.completed(coef)[support] + self._training.y_mean)
