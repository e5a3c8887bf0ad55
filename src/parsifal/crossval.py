"""`SparseRegressorCV`: k and gamma chosen together by cross-validation, then one proven fit on all rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from parsifal.design import Design
from parsifal.design.base import check_index
from parsifal.errors import InputError
from parsifal.fitbar import Bar
from parsifal.foldlog import FoldLog
from parsifal.folds import FoldResult, FoldTask, choose, nothing_of, run_fold
from parsifal.linear_model import SparseLinearModel, method_options
from parsifal.loss import fit_support
from parsifal.path import check_sizes
from parsifal.problem import FloatArray, IntArray, check_flag, check_forced, check_gamma, check_number
from parsifal.progress import ProgressOption, Reporter
from parsifal.solve import check_options, solve
from parsifal.training import Training, prepare
from parsifal.validation import in_our_words

_AUTO_FACTORS = (0.1, 1.0, 10.0)
# Seconds of the fit to all rows after Ctrl-C: whoever presses it does not want to wait for a proof.
_AFTER_INTERRUPT = 0.5


class SparseRegressorCV(SparseLinearModel):
    """Sparse regression whose number of features k and ridge weight gamma are chosen by cross-validation.

    Every (gamma, k) is fitted on every fold, the pair with the best mean score is taken, and the model is fitted to
    all rows with a proof. In the folds a proof is only tried for (`fold_node_limit`): a k that does not fit the data is
    often hard to prove and of no interest. `gap_path_` tells which fold fits are proven.

    Parameters
    ----------
    ks : sequence of int
        Numbers of features to try; those beyond the number of features are left out.
    gammas : sequence of float, float or "auto"
        Ridge weights to try. ``"auto"`` is 0.1, 1 and 10 times `SparseRegressor`'s automatic gamma.
    penalty : float, optional
        Price of a feature, as in `SparseRegressor`.
    cv : int, splitter or iterable
        As in scikit-learn: the number of folds, or what makes them.
    scoring : str, callable or None
        As in scikit-learn (greater is better); None is the negative mean squared error.
    one_se : bool
        Take the smallest k whose mean score is within one standard error of the best.
    fit_intercept, standardize, force_in, force_out, rel_gap, method, backend, constraints
        As in `SparseRegressor`. `method`, `backend` and `constraints` are for the fit to all rows.
    time_limit, node_limit
        Limits of the fit to all rows.
    fold_node_limit, fold_time_limit : int and float, optional
        Limits of every fit in a fold; None for both: every fold fit is proven.
    checkpoint : path, optional
        Journal of the folds that are done; if it is there, they are not done again. The state of the last fit is kept
        beside it, in a file whose name begins with the journal's.
    n_jobs : int, optional
        Folds at a time, through joblib (threads, unless a joblib backend is chosen); threads of the last fit.
    progress : bool or callable
        True shows a line with the fits done and the time left. A callable gets the `Progress` of the fit to all rows;
        if it has a method ``fits(done, total, seconds)``, that one is called while the folds are fitted.

    Attributes
    ----------
    k_, gamma_ : int and float
        The choice.
    ks_, gammas_ : arrays
        What was tried.
    mse_path_ : array of shape (n_gammas, n_ks, n_folds)
        Mean squared errors on the test rows.
    score_path_ : array of the same shape
        Scores (greater is better); the negative of `mse_path_` unless `scoring` says otherwise.
    gap_path_ : array of the same shape
        Relative gaps of the fold fits.
    support_path_ : nested list
        ``support_path_[gamma][k][fold]``: the features that each fold fit chose.
    best_index_ : tuple of int
        Position of the choice in `gammas_` and `ks_`.
    interrupted_ : bool
        Whether Ctrl-C ended the folds early. The choice is then made from the folds that were finished (or from the
        fits of one, if none was), fits that were not made are NaN in the paths, and the fit to all rows is a short one.
        With `checkpoint`, another `fit` goes on with the other folds.
    coef_, intercept_, support_, solution_, ... : as in `SparseRegressor`.
    """

    def __init__(
        self,
        ks: Sequence[int] = tuple(range(1, 21)),
        gammas: Any = "auto",
        *,
        penalty: float | None = None,
        cv: Any = 5,
        scoring: Any = None,
        one_se: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        method: str = "search",
        backend: str = "scip",
        constraints: Any = None,
        force_in: Any = None,
        force_out: Any = None,
        rel_gap: float = 1e-6,
        time_limit: float | None = None,
        node_limit: int | None = None,
        fold_node_limit: int | None = 20,
        fold_time_limit: float | None = None,
        checkpoint: Any = None,
        n_jobs: int | None = None,
        progress: ProgressOption = False,
    ) -> None:
        self.ks = ks
        self.gammas = gammas
        self.penalty = penalty
        self.cv = cv
        self.scoring = scoring
        self.one_se = one_se
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.method = method
        self.backend = backend
        self.constraints = constraints
        self.force_in = force_in
        self.force_out = force_out
        self.rel_gap = rel_gap
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.fold_node_limit = fold_node_limit
        self.fold_time_limit = fold_time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SparseRegressorCV:
        """Choose k and gamma, and fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `SparseRegressor.fit`.
        groups : array of shape (n,), optional
            Group labels for splitters that need them (`GroupKFold`).

        Returns
        -------
        SparseRegressorCV
            Itself.
        """
        # Checked once here; a worker in another process makes a design of its own.
        readable = self._check_array(X, finite=False)
        design, target, weight = self._check_data(readable, y, sample_weight, reset=True)
        n, p = design.shape
        sizes = [k for k in check_sizes(self.ks, "ks") if k <= p]
        if not sizes:
            raise InputError(f"every k in ks is larger than the number of features: X has {p} feature(s)")
        fix = check_forced(design, self.force_in, self.force_out)
        if np.count_nonzero(fix == 1) > sizes[0]:
            raise InputError(f"force_in names {np.count_nonzero(fix == 1)} features, but ks begins with {sizes[0]}")
        training = prepare(
            design, target, weight=weight, fit_intercept=self.fit_intercept, standardize=self.standardize
        )
        gammas = self._gammas(training)
        splits = self._splits(n, target, groups)
        options = check_options(
            rel_gap=self.rel_gap,
            time_limit=self.fold_time_limit,
            node_limit=self.fold_node_limit,
            threads=1,
            certificate_limit=0.0,
        )
        tasks = [
            FoldTask(
                X=readable,
                y=target,
                weight=weight,
                train=train,
                test=test,
                sizes=sizes,
                gammas=gammas,
                penalty=0.0 if self.penalty is None else check_number(self.penalty, "penalty", minimum=0.0),
                fix=fix,
                fit_intercept=self.fit_intercept,
                standardize=self.standardize,
                options=options,
            )
            for train, test in splits
        ]
        scorer = self._scorer()
        check_flag(self.one_se, "one_se")
        Reporter(self.progress)  # refuses what is neither a flag nor a function
        if self.checkpoint is None:
            done, part = self._run(tasks)
        else:
            with FoldLog(self.checkpoint, design, tasks, predictions=scorer is not None) as log:
                done, part = self._run(tasks, log)
        usable = _usable(done, part)
        self.interrupted_ = len(done) < len(tasks)
        results = [done.get(number) or part.get(number) or nothing_of(task) for number, task in enumerate(tasks)]
        self.ks_ = np.array(sizes)
        self.gammas_ = np.array(gammas)
        self.mse_path_ = np.stack([r.mse for r in results], axis=2)
        self.gap_path_ = np.stack([r.gaps for r in results], axis=2)
        self.support_path_ = [
            [[r.supports[g][i] for r in results] for i in range(len(sizes))] for g in range(len(gammas))
        ]
        self.score_path_ = self._scores(scorer, X, target, splits, results)
        mass = None if weight is None else np.array([weight[splits[f][1]].sum() for f in usable])
        self.best_index_ = choose(self.score_path_[:, :, usable], mass, one_se=self.one_se)
        g, i = self.best_index_
        self.k_ = sizes[i]
        if self.interrupted_:
            made, every = int(np.isfinite(self.gap_path_).sum()), self.gap_path_.size
            warnings.warn(
                f"interrupted after {made} of {every} fits of the cross-validation: k and gamma are chosen from "
                f"{len(done)} of {len(tasks)} folds" + ("" if done else ", and the fits of one that was not finished"),
                ConvergenceWarning,
                stacklevel=2,
            )
        state = None if self.checkpoint is None else f"{os.fspath(self.checkpoint)}.k{sizes[i]}.gamma{g}.npz"
        self._fit_all(training, gammas[g], sizes[i], [self.support_path_[g][i][f] for f in usable], fix, state)
        return self

    def _gammas(self, training: Training) -> list[float]:
        if isinstance(self.gammas, str):
            if self.gammas != "auto":
                raise InputError(f'gammas must be positive numbers or "auto", not {self.gammas!r}')
            return [factor * training.auto_gamma() for factor in _AUTO_FACTORS]
        if np.ndim(self.gammas) == 0:
            return [check_gamma(self.gammas)]
        gammas = sorted({check_gamma(gamma) for gamma in self.gammas})
        if not gammas:
            raise InputError("gammas is empty; give at least one ridge weight")
        return gammas

    def _splits(self, n: int, y: FloatArray, groups: Any) -> list[tuple[IntArray, IntArray]]:
        if isinstance(self.cv, (str, float)):
            raise InputError(f"cv must be a number of folds, a splitter or (train, test) pairs, not {self.cv!r}")
        if isinstance(self.cv, int) and not 2 <= self.cv <= n:
            raise InputError(f"cv = {self.cv}, but n_samples = {n}; give at least 2 folds, and a row for each")
        splitter = in_our_words(check_cv, self.cv)
        found = in_our_words(lambda: list(splitter.split(np.zeros((n, 1)), y, groups)))
        splits = [(check_index(train, n, "cv", "rows"), check_index(test, n, "cv", "rows")) for train, test in found]
        if not splits:
            raise InputError("cv gives no folds; give a number of folds, a splitter or (train, test) pairs of rows")
        for number, (train, test) in enumerate(splits):
            if train.size < 2 or test.size < 1:
                raise InputError(
                    f"fold {number} has {train.size} training and {test.size} test rows; use fewer folds or more rows"
                )
        return splits

    def _run(
        self, tasks: list[FoldTask], log: FoldLog | None = None
    ) -> tuple[dict[int, FoldResult], dict[int, FoldResult]]:
        """All folds through joblib; the bar moves after every fit where workers share our memory, else after a fold.

        Returns the folds that are done and, after Ctrl-C, what is known of those that are not.
        """
        each = len(tasks[0].sizes) * len(tasks[0].gammas)
        backend = get_active_backend(prefer="threads")[0]
        done = {} if log is None else dict(log.results)
        part: dict[int, FoldResult] = {}
        left = [number for number in range(len(tasks)) if number not in done]
        listener = getattr(self.progress, "fits", None)

        def keep(number: int, result: FoldResult) -> None:
            if log is not None:
                log.put(number, result)
            done[number] = result

        def fold(number: int) -> None:
            keep(number, bar.run(tasks[number], lambda result: part.__setitem__(number, result)))

        try:
            with Bar(len(left) * each, active=self.progress is True, each=listener) as bar:
                if getattr(backend, "supports_sharedmem", False):
                    Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(fold)(number) for number in left)
                else:
                    kind = "generator" if getattr(backend, "supports_return_generator", False) else "list"
                    pool = Parallel(n_jobs=self.n_jobs, return_as=kind)
                    for number, result in zip(left, pool(delayed(run_fold)(tasks[number]) for number in left)):
                        keep(number, result)
                        bar.tick(each)
        except KeyboardInterrupt:
            if not done and not part:
                raise
        return done, part

    def _scorer(self) -> Any:
        scorer = self.scoring
        if isinstance(scorer, str):
            if scorer not in get_scorer_names():
                raise InputError(f"scoring {scorer!r} is not known; sklearn.metrics.get_scorer_names() lists the names")
            scorer = get_scorer(scorer)
        if scorer is not None and not callable(scorer):
            raise InputError(f"scoring must be a scorer's name, a callable or None, not {self.scoring!r}")
        return scorer

    def _scores(
        self, scorer: Any, X: Any, y: FloatArray, splits: list[tuple[IntArray, IntArray]], results: list[FoldResult]
    ) -> FloatArray:
        if scorer is None:
            return -self.mse_path_
        scores = np.empty_like(self.mse_path_)
        for f, ((_, test), result) in enumerate(zip(splits, results)):
            rows = np.zeros((test.size, 1)) if isinstance(X, Design) else _safe_indexing(X, test)
            for g, i in np.ndindex(*scores.shape[:2]):
                if np.isnan(result.gaps[g, i]):
                    scores[g, i, f] = np.nan  # Ctrl-C came first
                    continue
                scores[g, i, f] = scorer(Predicted(result.predictions[g, i]), rows, y[test])
        return scores

    def _fit_all(
        self, training: Training, gamma: float, k: int, supports: list[IntArray], fix: Any, state: Any
    ) -> None:
        fits = [fit_support(training.design, training.y, s, gamma, 0.0) for s in supports]
        solution = solve(
            training.design,
            training.y,
            k,
            gamma,
            penalty=self.penalty,
            rel_gap=self.rel_gap,
            time_limit=self._seconds(),
            node_limit=self.node_limit,
            threads=effective_n_jobs(self.n_jobs),
            warm_start=min(fits, key=lambda fit: fit.objective).support,
            force_in=fix == 1,
            force_out=fix == -1,
            progress=self.progress if callable(self.progress) else False,
            checkpoint=state if self.method == "search" else None,
            **method_options(self),
        )
        self._take(solution, training)
        self._warn_unless_proven(solution)

    def _seconds(self) -> float | None:
        """The limit of the fit to all rows."""
        if not self.interrupted_:
            return self.time_limit
        return _AFTER_INTERRUPT if self.time_limit is None else min(self.time_limit, _AFTER_INTERRUPT)


def _usable(done: dict[int, FoldResult], part: dict[int, FoldResult]) -> list[int]:
    """The folds that a choice can be made from: those that are done; else the one that has come furthest."""
    if done:
        return sorted(done)
    return [max(part, key=lambda number: int(np.isfinite(part[number].gaps).sum()))]


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
