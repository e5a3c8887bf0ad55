"""The scikit-learn face: `SparseRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from parsifal._public import public
from parsifal.api.solving import solve
from parsifal.arguments import Gamma, check_count, check_flag
from parsifal.arrays import FixArray, IntArray
from parsifal.constraints import side_rows
from parsifal.errors import InputError
from parsifal.estimators.base import TIME_LIMIT, SparseLinearModel, method_options
from parsifal.problem.gamma import resolve_gamma
from parsifal.problem.progress import ProgressOption

_DEFAULT_K = 10


@public
class SparseRegressor(SparseLinearModel):
    """Linear regression on the best k features, with a proof that no other choice is better.

    Minimises ``1/2 sum_i m_i (y_i - x_i'w - b)^2 + |w|^2 / (2 gamma) + penalty * (number of features)`` over the
    intercept b and all w with at most k nonzeros, where m are the sample weights and the columns of X are standardised
    (`coef_` is for the columns as given).

    Parameters
    ----------
    k : int, optional
        Largest number of features. None: no limit if `penalty` is given, else 10 (or all, if there are fewer).
    gamma : float or "auto"
        Ridge weight, > 0; large means a weak ridge, ``np.inf`` none. ``"auto"`` is (n - p)/p, at most 10 and at least
        1/sqrt(n), with n the sum of the sample weights: next to no ridge where rows are many, the paper's 1/sqrt(n)
        where columns outnumber them. Without `standardize`, it is that over the mean square of the columns'
        entries. `solve` has the paper's value everywhere.
    penalty : float, array of shape (p,), or mapping from feature names or indices to numbers, optional
        Price of a feature, in units of the objective: one for all, or one for each; features that a mapping leaves out
        cost nothing.
    fit_intercept : bool
        Whether to fit an intercept, which is not penalised.
    standardize : bool
        Whether to divide columns by their standard deviation first, so that the ridge treats all alike.
    refit : {None, "ols"}
        ``"ols"``: `coef_` and `intercept_` are those of least squares on the chosen features, without a ridge. The
        choice, the objective and the proof are those of the ridge all the same.
    method : str
        How to solve, as in `solve`.
    backend : str
        The solver below ``method="cutting-plane"`` and ``"big-m"``.
    constraints : sequence of constraints, optional
        Side conditions on the chosen features; see `parsifal.constraints`.
    positive : bool
        Whether all coefficients must be >= 0, as in scikit-learn.
    sign : mapping from feature names or indices to 1, -1 or 0, or array of shape (p,), optional
        The sign that coefficients must have: 1 for >= 0, -1 for <= 0; features that a mapping leaves out may have
        either. Not together with `refit`.
    force_in, force_out : indices, mask or feature names, optional
        Features that must, or must not, be chosen.
    adjust : indices, mask or feature names, optional
        Features to adjust for (age, batch): always in the model, neither counted in k nor shrunk. They are projected
        out of y and of all other features, as the intercept is, without a copy of X; `coef_` has their coefficients,
        `support_` does not name them. Some of them may depend on each other.
    rel_gap : float
        Relative gap at which the answer counts as proven.
    time_limit, node_limit : float and int, optional
        Limits of a fit: five minutes, and any number of nodes, by default; None: no limit. A fit that ends at one warns
        (`ConvergenceWarning`) with its gap and keeps the best found.
    warm_start : bool
        Whether to start from the features of the previous fit.
    checkpoint : path, optional
        File for the state of the solve, as in `solve`.
    n_jobs : int, optional
        Threads; None means 1, which makes a fit repeatable bit for bit; -1 all cores.
    progress : bool or callable
        As in `solve`.

    Attributes
    ----------
    coef_ : array of shape (p,)
        Coefficients, zero for features not chosen.
    intercept_ : float
    support_ : int array
        The chosen features, sorted.
    adjusted_ : int array
        The features that were adjusted for.
    objective_, lower_bound_, gap_ : float
        The objective (on the standardised columns), the proven bound, and the relative gap between them.
    status_ : str
        ``"optimal"`` if, and only if, the gap is at most `rel_gap`; otherwise why the search ended (docs/numerics.md).
        A fit that is not proven warns; one that ends with ``"precision"`` only if more than 1e-9 of 1/2 y'y is open.
    certificate_ : Certificate
        The proof; ``est.check(X, y)`` checks it.
    least_squares_ : LeastSquares
        Least squares on the chosen features: coefficients, standard errors (too small after selection), R2.
    solution_ : Solution
        All of the answer, on the standardised columns.
    gamma_ : float
        The ridge weight used.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRegressor(k=4).fit(X, y)
    >>> list(model.get_feature_names_out()), model.status_
    (['bmi', 'bp', 's1', 's5'], 'optimal')
    """

    def __init__(
        self,
        k: int | None = None,
        gamma: Gamma = "auto",
        penalty: Any = None,
        *,
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
        warm_start: bool = False,
        checkpoint: Any = None,
        n_jobs: int | None = None,
        progress: ProgressOption = False,
    ) -> None:
        self.k = k
        self.gamma = gamma
        self.penalty = penalty
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
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseRegressor:
        """Find the best features and prove that they are.

        Parameters
        ----------
        X : matrix of shape (n, p)
            Array, pandas or polars frame, SciPy sparse matrix or `Design`; never copied.
        y : array of shape (n,)
            The response.
        sample_weight : array of shape (n,), optional
            A weight of 2 is the same as the row written twice.

        Returns
        -------
        SparseRegressor
            Itself.
        """
        previous = self.support_ if check_flag(self.warm_start, "warm_start") and hasattr(self, "support_") else None
        design, target, weight = self._check_data(X, y, sample_weight, reset=True)
        k = self._size(design.shape[1])
        fix = self._fixed(design)
        penalty, sign = self._prices(design), self._signs(design)
        if previous is not None and not _may_start(previous, k, fix):
            previous = None
        if previous is not None and not side_rows(self.constraints, design).allow(previous):
            previous = None
        training = self._prepare(design, target, weight)
        gamma = resolve_gamma(self.gamma, training.auto_gamma)
        solution = solve(
            training.design,
            training.y,
            k,
            gamma,
            fit_intercept=False,  # the view has seen to it
            penalty=penalty,
            sign=sign,
            rel_gap=self.rel_gap,
            time_limit=self.time_limit,
            node_limit=self.node_limit,
            threads=effective_n_jobs(self.n_jobs),
            warm_start=previous,
            force_in=fix == 1,
            force_out=fix == -1,
            progress=self.progress,
            checkpoint=self.checkpoint,
            **method_options(self),
        )
        self._take(solution, training)
        self._warn_unless_proven(solution)
        return self

    def _size(self, p: int) -> int:
        if self.k is None:
            return p if self.penalty is not None else min(_DEFAULT_K, p)
        k = check_count(self.k, "k")
        if k > p:
            raise InputError(f"k = {k}, but X has {p} feature(s); choose k <= {p}")
        return k


def _may_start(support: IntArray, k: int, fix: FixArray) -> bool:
    """Whether the features of an earlier fit, with other data or options, still are a choice that is allowed."""
    if support.size > k or (support.size and support[-1] >= fix.size):
        return False
    return not np.any(fix[support] < 0) and np.count_nonzero(fix[support] > 0) == np.count_nonzero(fix > 0)
