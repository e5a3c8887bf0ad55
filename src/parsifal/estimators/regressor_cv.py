"""`SparseRegressorCV`: k and gamma chosen together by cross-validation, then one proven fit on all rows."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, check_cv

from parsifal._public import public
from parsifal.api.paths import check_sizes
from parsifal.api.solving import check_options, solve
from parsifal.arguments import check_flag, check_number
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.blas import quiet_blas
from parsifal.bound.ridge_loss import fit_support
from parsifal.design import Design
from parsifal.design.base import check_index
from parsifal.errors import InputError, warn_user
from parsifal.estimators.base import TIME_LIMIT, SparseLinearModel, method_options
from parsifal.estimators.fold import FoldPlan, FoldTask
from parsifal.estimators.fold_journal import FoldJournal
from parsifal.estimators.fold_runner import FoldRunner, Folds, merged
from parsifal.estimators.fold_scores import Choice, check_scoring
from parsifal.estimators.fold_triangles import FoldTriangle, fold_triangles
from parsifal.estimators.gamma_grid import coarse_grid, edge_note, finer_grid
from parsifal.estimators.inputs import in_our_words
from parsifal.problem.problem import check_rules
from parsifal.problem.progress import ProgressOption, Reporter
from parsifal.problem.standardise import Training
from parsifal.solver.options import Options

# Of the time limit: for the folds in all, and of that for the finer gammas. The fit to all rows has the rest.
_FOLDS_SHARE, _FINER_SHARE = 0.6, 1 / 3
# Seconds of the fit to all rows after Ctrl-C: whoever presses it does not want to wait for a proof.
_AFTER_INTERRUPT = 0.5


@public
class SparseRegressorCV(SparseLinearModel):
    """Sparse regression whose number of features k and ridge weight gamma are chosen by cross-validation.

    Every (gamma, k) is fitted on every fold, the pair with the best mean score is taken, and the model is fitted to
    all rows with a proof. In the folds a proof is only tried for (`fold_node_limit`): a k that does not fit the data is
    often hard to prove and of no interest. `gap_path_` says which fold fits are proven.

    Parameters
    ----------
    ks : sequence of int
        Numbers of features to try; those beyond the number of features are left out.
    gammas : sequence of float, float or "auto"
        Ridge weights to try. ``"auto"``: 0.1, 1, 10 and 100 times 1/sqrt(n) (on standardised columns), where rows are
        at least twice the columns infinity too, then two more around the best of these. Where rows are so many that
        some of them differ from infinity by less than a thousandth in any fit, infinity stands for them. A warning says
        so if the best is the last finite one on its side.
    penalty : float, array or mapping, optional
        Price of a feature, as in `SparseRegressor`.
    cv : int, splitter or iterable
        As in scikit-learn, the number of folds, or what makes them; but a number means folds of shuffled rows (the same
        ones each time), since tables are often sorted: ``KFold(5, shuffle=True, random_state=0)``. For folds of
        consecutive rows, as time series need them, pass ``KFold(5)`` or ``TimeSeriesSplit()``.
    scoring : str, callable or None
        As in scikit-learn (greater is better); None is the negative mean squared error.
    one_se : bool
        Take the smallest k whose mean score is within one standard error of the best.
    fit_intercept, standardize, refit, positive, sign, force_in, force_out, adjust, rel_gap, method, backend
        As in `SparseRegressor`.
    constraints
        As in `SparseRegressor`. `method` and `backend` are for the fit to all rows, and so are `constraints` with
        another method than the search. With signs, prices of single features or constraints, ``gammas="auto"`` does
        without infinity.
    time_limit : float, optional
        Seconds for all of `fit`, about: five minutes by default; None: no limit. The folds have at most three fifths of
        it, in equal shares, and the fit to all rows what they leave.
    node_limit : int, optional
        Limit of the fit to all rows.
    fold_node_limit, fold_time_limit : int and float, optional
        Limits of every fit in a fold; None for both, and for `time_limit`: every fold fit is proven.
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
        penalty: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        one_se: bool = False,
        fit_intercept: bool = True,
        standardize: bool = True,
        refit: str | None = None,
        method: str = "search",
        backend: str = "scip",
        constraints: Any = None,
        positive: bool = False,
        sign: Any = None,
        force_in: Any = None,
        force_out: Any = None,
        adjust: Any = None,
        rel_gap: float = 1e-6,
        time_limit: float | None = TIME_LIMIT,
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
        self.refit = refit
        self.method = method
        self.backend = backend
        self.constraints = constraints
        self.positive = positive
        self.sign = sign
        self.force_in = force_in
        self.force_out = force_out
        self.adjust = adjust
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
        sizes = self._sizes(design.shape[1])
        fix = self._fixed(design)
        if np.count_nonzero(fix == 1) > sizes[0]:
            raise InputError(f"force_in names {np.count_nonzero(fix == 1)} features, but ks begins with {sizes[0]}")
        started = time.monotonic()
        prices, signs = self._prices(design), self._signs(design)
        rules = check_rules(design, prices, signs, self.constraints if self.method == "search" else None)
        training = self._prepare(design, target, weight)
        splits = self._splits(design.shape[0], target, groups)
        triangles = fold_triangles(design, training, target, weight, splits)
        # Beside rules every ridge is tried as it is.
        least = 0.0 if rules is not None else self._least_eigenvalue(triangles)
        gammas = coarse_grid(self.gammas, training, least)
        scorer = check_scoring(self.scoring)
        check_flag(self.one_se, "one_se")
        Reporter(self.progress)  # refuses what is neither a flag nor a function
        plan = FoldPlan(
            X=readable,
            y=target,
            weight=weight,
            sizes=sizes,
            gammas=gammas,
            penalty=0.0 if rules is not None else _one_price(prices),
            rules=rules,
            fix=fix,
            adjust=training.adjusted,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            refit=self.refit,
            options=self._fold_options(),
            seconds=self._fold_seconds(len(splits)),
            predictions=scorer is not None,
        )
        tasks = [
            FoldTask(plan=plan, train=train, test=test, triangle=None if triangles is None else triangles[f])
            for f, (train, test) in enumerate(splits)
        ]
        weighted = np.array([weight is None or weight[test].any() for _, test in splits])
        choice = Choice(X=X, tasks=tasks, scorer=scorer, weighted=weighted, one_se=self.one_se, least=least)
        folds = self._run_folds(tasks, design)
        if isinstance(self.gammas, str):
            gammas, folds = self._refined(choice, folds, design)
        self.ks_, self.gammas_ = np.array(sizes), np.array(gammas)
        self._take_folds(folds)
        self.score_path_, self.best_index_ = choice.made(folds)
        if self.interrupted_:
            self._warn_of_interrupt(folds)
        g, i = self.best_index_
        self.k_ = sizes[i]
        note = edge_note(gammas, g)
        if note is not None:
            warn_user(note, UserWarning)
        left = None if self.time_limit is None else max(0.0, self.time_limit - (time.monotonic() - started))
        chosen = [self.support_path_[g][i][f] for f in folds.usable]
        self._fit_all(training, gammas[g], chosen, fix, left, prices, signs)
        self._warn_unless_proven(self.solution_)
        return self

    def _refined(self, choice: Choice, coarse: Folds, design: Design) -> tuple[list[float], Folds]:
        """The folds with two more gammas around the best one; as they are where Ctrl-C has come."""
        first = choice.tasks[0].plan
        gammas = list(first.gammas)
        if coarse.finished < len(coarse.results):
            return gammas, coarse
        finer = finer_grid(gammas, gammas[choice.made(coarse)[1][0]], choice.least)
        if not finer:
            return gammas, coarse
        tasks = choice.finer(finer, self._fold_seconds(len(choice.tasks)) * _FINER_SHARE)
        try:
            more = self._run_folds(tasks, design, suffix=".finer")
        except KeyboardInterrupt:
            more = None
        if more is None or more.finished < len(more.results):
            return gammas, replace(coarse, interrupted=True)
        order = np.argsort([*gammas, *finer])
        return [[*gammas, *finer][place] for place in order], merged(coarse, more, order)

    @quiet_blas()
    def _least_eigenvalue(self, triangles: list[FoldTriangle] | None) -> float:
        """The smallest eigenvalue of X'X on the training rows of any fold; 0 if it would have to be looked for."""
        if triangles is None or not isinstance(self.gammas, str):
            return 0.0
        seen = {"fit_intercept": self.fit_intercept, "standardize": self.standardize}
        return min(triangle.least_eigenvalue(**seen) for triangle in triangles)

    def _sizes(self, p: int) -> list[int]:
        sizes = [k for k in check_sizes(self.ks, "ks") if k <= p]
        if not sizes:
            raise InputError(f"every k in ks is larger than the number of features: X has {p} feature(s)")
        return sizes

    def _splits(self, n: int, y: FloatArray, groups: Any) -> list[tuple[IntArray, IntArray]]:
        if isinstance(self.cv, (str, float)):
            raise InputError(f"cv must be a number of folds, a splitter or (train, test) pairs, not {self.cv!r}")
        if isinstance(self.cv, (int, np.integer)) and not 2 <= self.cv <= n:
            raise InputError(f"cv = {self.cv}, but n_samples = {n}; give at least 2 folds, and a row for each")
        whole = isinstance(self.cv, (int, np.integer))
        splitter = KFold(int(self.cv), shuffle=True, random_state=0) if whole else in_our_words(check_cv, self.cv)
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

    def _fold_options(self) -> Options:
        return check_options(
            rel_gap=self.rel_gap,
            time_limit=self.fold_time_limit,
            node_limit=self.fold_node_limit,
            threads=1,
            certificate_limit=0.0,
        )

    def _fold_seconds(self, folds: int) -> float:
        """Seconds of one fold, when as many run at a time as `n_jobs` says."""
        if self.time_limit is None:
            return math.inf
        limit = check_number(self.time_limit, "time_limit", minimum=0.0)
        share = _FOLDS_SHARE * (1 - _FINER_SHARE if isinstance(self.gammas, str) else 1.0)
        return float(share * limit / math.ceil(folds / max(1, effective_n_jobs(self.n_jobs))))

    @quiet_blas()  # here, since workers of ours may not be allowed to
    def _run_folds(self, tasks: list[FoldTask], design: Design, *, suffix: str = "") -> Folds:
        """Run the folds, but for those in the journal, where there is one."""
        if self.checkpoint is None:
            return FoldRunner(tasks, n_jobs=self.n_jobs, progress=self.progress).run()
        file = f"{os.fspath(self.checkpoint)}{suffix}" if suffix else self.checkpoint
        with FoldJournal(file, design, tasks, predictions=tasks[0].plan.predictions) as journal:
            return FoldRunner(tasks, n_jobs=self.n_jobs, progress=self.progress, journal=journal).run()

    def _take_folds(self, folds: Folds) -> None:
        """Set the attributes that say how the folds went."""
        results = folds.results
        self.interrupted_ = folds.interrupted
        self.mse_path_ = np.stack([result.mse for result in results], axis=2)
        self.gap_path_ = np.stack([result.gaps for result in results], axis=2)
        self.support_path_ = [
            [[result.supports[g][i] for result in results] for i in range(len(self.ks_))]
            for g in range(len(self.gammas_))
        ]

    def _warn_of_interrupt(self, folds: Folds) -> None:
        made, every = int(np.isfinite(self.gap_path_).sum()), self.gap_path_.size
        rest = "" if folds.finished else ", and the fits of one that was not finished"
        warn_user(
            f"interrupted after {made} of {every} fits of the cross-validation: k and gamma are chosen from "
            f"{folds.finished} of {len(folds.results)} folds{rest}",
            ConvergenceWarning,
        )

    def _fit_all(
        self,
        training: Training,
        gamma: float,
        supports: list[IntArray],
        fix: FixArray,
        left: float | None,
        prices: Any,
        signs: Any,
    ) -> None:
        """Fit to all rows, from the best of the supports that the folds chose."""
        fits = [fit_support(training.design, training.y, s, gamma, 0.0) for s in supports]
        solution = solve(
            training.design,
            training.y,
            self.k_,
            gamma,
            fit_intercept=False,  # the view has seen to it
            penalty=prices,
            sign=signs,
            rel_gap=self.rel_gap,
            time_limit=min(_AFTER_INTERRUPT, left or _AFTER_INTERRUPT) if self.interrupted_ else left,
            node_limit=self.node_limit,
            threads=effective_n_jobs(self.n_jobs),
            warm_start=min(fits, key=lambda fit: fit.objective).support,
            force_in=fix == 1,
            force_out=fix == -1,
            progress=self.progress if callable(self.progress) else False,
            checkpoint=self._state_file(),
            **method_options(self),
        )
        self._take(solution, training)

    def _state_file(self) -> str | None:
        """Where the state of the fit to all rows is kept: beside the journal, for this choice."""
        if self.checkpoint is None or self.method != "search":
            return None
        return f"{os.fspath(self.checkpoint)}.k{self.k_}.gamma{self.best_index_[0]}.npz"


def _one_price(penalty: Any) -> float:
    return 0.0 if penalty is None else check_number(penalty, "penalty", minimum=0.0)
