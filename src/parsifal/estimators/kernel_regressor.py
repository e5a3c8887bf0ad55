"""`SparseKernelRegressor`: kernel ridge regression on the best k of many kernels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names_in, _num_samples, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from parsifal._public import public
from parsifal.arguments import SMALLEST_SQUARE, Gamma, check_flag, check_response
from parsifal.arrays import FloatArray
from parsifal.deadline import limited
from parsifal.errors import InputError, warn_user
from parsifal.estimators.base import TIME_LIMIT
from parsifal.estimators.inputs import check_largest, check_matrix_like, check_target_like, in_our_words
from parsifal.kernels.asked import check_asked, check_rows
from parsifal.kernels.group_solve import GroupSolve, as_groups
from parsifal.kernels.kernel_solve import KernelSolve
from parsifal.kernels.solution import KernelSolution
from parsifal.kernels.specs import Spec, default_specs, group_specs, make_specs
from parsifal.kernels.units import Given
from parsifal.problem.gap import negligible, precision_note
from parsifal.problem.progress import ProgressOption
from parsifal.problem.standardise import column_scale
from parsifal.proof.certificate import CheckResult
from parsifal.proof.checker import check


@public
class SparseKernelRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression with the sum of at most `k` of many kernels, chosen optimally and with proof.

    Parameters
    ----------
    kernels : sequence, optional
        Each a name of scikit-learn (``"rbf"``), a tuple of a name, parameters and columns, the last two if wanted
        (``("rbf", {"gamma": 0.5}, [0, 3])``), a callable ``(A, B) -> K`` or a pair of it and columns, a kernel matrix
        of the training rows, or a factor ``("factor", Z)`` with K = ZZ'. By default a linear and an RBF kernel
        (gamma 0.5) for every feature.
    k : int or None
        Largest number of kernels. May be None if `penalty` is given.
    gamma : float or "auto"
        Ridge weight: large means a weak ridge. It is 1/alpha of scikit-learn's KernelRidge. ``"auto"`` is
        ``sqrt(n) / mean trace of the kernels``.
    groups : sequence of index sequences, or one label a column; optional
        Instead of `kernels`: choose among groups of columns, each with a linear kernel.
    penalty : float, optional
        Price of a kernel.
    fit_intercept : bool
        Whether to fit a constant that no ridge acts on.
    standardize : bool
        Whether kernels see the columns divided by their standard deviation, and centred if there is an intercept.
    normalize : bool
        Whether every kernel is scaled to trace n (after centring), so that none is chosen for its size.
    rel_gap, time_limit, node_limit, progress
        As in `solve`. A fit that ends at a limit, or where double precision ends with more than
        1e-9 of 1/2 y'y open, warns (`ConvergenceWarning`).

    Attributes
    ----------
    support_ : int array
        The chosen kernels.
    selected_ : list of str
        Their names.
    kernels_ : list of str
        Names of all kernels.
    dual_coef_ : array of shape (n,)
        gamma alpha; predictions are `K(x, X) @ dual_coef_ + intercept_` with K the scaled sum of the chosen kernels.
    kernel_scale_ : array
        Factor of every kernel.
    coef_ : array of shape (p,)
        Coefficients of the columns as given; with `groups` only, where predictions are `X @ coef_ + intercept_`.
    intercept_, objective_, lower_bound_, gap_, status_, gamma_
        As everywhere.
    solution_ : KernelSolution
        All that is known about the fit.
    """

    def __init__(
        self,
        kernels: Any = None,
        k: int | None = 5,
        *,
        gamma: Gamma = "auto",
        groups: Any = None,
        penalty: float | None = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        normalize: bool = True,
        rel_gap: float = 1e-6,
        time_limit: float | None = TIME_LIMIT,
        node_limit: int | None = None,
        progress: ProgressOption = False,
    ) -> None:
        self.kernels = kernels
        self.k = k
        self.gamma = gamma
        self.groups = groups
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.normalize = normalize
        self.rel_gap = rel_gap
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseKernelRegressor:
        """Choose the kernels.

        Parameters
        ----------
        X : array-like of shape (n, p)
            The rows.
        y : array-like of shape (n,)
            The response.
        sample_weight : array of shape (n,), optional
            Weights of the rows; a row of weight two counts as two rows.
        """
        started = time.monotonic()
        X, y = self._check_data(X, y)
        weight = check_rows(sample_weight, len(X))
        names = [str(name) for name in _check_feature_names_in(self)]
        self.center_, self.scale_ = column_scale(
            X, weight, fit_intercept=self.fit_intercept, standardize=self.standardize
        )
        self.X_fit_ = (X - self.center_) * self.scale_
        self._specs = self._make_specs(names, len(X))
        self.kernels_ = [spec.label for spec in self._specs]
        self.kernel_scale_ = np.ones(len(self._specs))
        mean, target = self._target(y, weight)
        with threadpool_limits(1, "blas"):
            given = [self._kernel(j, spec, weight) for j, spec in enumerate(self._specs)]
        rows = None if weight is None else float(weight.sum())
        self._take(self._solve(given, target, rows, started), mean, weight)
        self._warn_unless_proven()
        return self

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> CheckResult:
        """Check the certificate against the training data, independently of the solver (see `parsifal.check`).

        The kernels are computed again from X, centred and scaled as they were for the fit.
        """
        check_is_fitted(self)
        certificate = self.solution_.certificate
        assert certificate is not None
        check_matrix_like(X)
        check_target_like(y, _num_samples(X), type(self).__name__)
        X, y = in_our_words(validate_data, self, X, y, y_numeric=True, dtype=np.float64, reset=False)
        weight = check_rows(sample_weight, len(X))
        if X.shape != self.X_fit_.shape:
            raise InputError(f"X has shape {X.shape}, the model was fitted to {self.X_fit_.shape}")
        again = copy(self)
        again.X_fit_, again.kernel_scale_ = (X - self.center_) * self.scale_, np.ones(len(self._specs))
        given = [again._kernel(j, spec, weight) for j, spec in enumerate(self._specs)]
        _, target = self._target(check_response(y, len(X)), weight)
        if self.groups is not None:
            return check(certificate, np.hstack([K.values for K in given]), target)
        return check(certificate, [("factor" if K.factor else "matrix", K.values) for K in given], target)

    def _target(self, y: FloatArray, weight: FloatArray | None) -> tuple[float, FloatArray]:
        """The mean of y, and what is fitted: y without it, times the roots of the weights."""
        mean = float(np.average(y, weights=weight)) if self.fit_intercept else 0.0
        return mean, (y - mean if weight is None else np.sqrt(weight) * (y - mean))

    def _solve(self, given: list[Given], y: FloatArray, rows: float | None, started: float) -> KernelSolution:
        asked = check_asked(
            len(given),
            k=self.k,
            penalty=self.penalty,
            rel_gap=self.rel_gap,
            time_limit=self.time_limit,
            node_limit=self.node_limit,
            threads=None if self.groups is not None else 1,
            warm_start=None,
            force_in=None,
            force_out=None,
            certificate_limit=64e6,
        )
        if self.groups is None:
            return KernelSolve(given=given, y=y, rows=rows, asked=asked, started=started).run(self.gamma, self.progress)
        columns = np.hstack([K.values for K in given])
        ends = np.cumsum([K.values.shape[1] for K in given])
        members = np.split(np.arange(columns.shape[1]), ends[:-1])
        with limited(deadline=started + asked.seconds, threads=asked.threads):
            solver = GroupSolve(
                columns=columns,
                y=y,
                members=members,
                rows=rows,
                asked=asked,
                progress=self.progress,
                started=started,
            )
            return solver.run(self.gamma, columns.shape[1])

    def _check_data(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        for name in ("fit_intercept", "standardize", "normalize"):
            check_flag(getattr(self, name), name)
        check_matrix_like(X)
        check_target_like(y, _num_samples(X), type(self).__name__)
        X, y = in_our_words(validate_data, self, X, y, y_numeric=True, dtype=np.float64)
        check_largest(X)
        y = check_response(y, len(X))
        if self.kernels is not None and self.groups is not None:
            raise InputError("give kernels or groups, not both")
        return X, y

    def _make_specs(self, names: list[str], n: int) -> list[Spec]:
        if self.groups is not None:
            return group_specs(as_groups(self.groups, len(names)), names)
        if self.kernels is not None:
            return make_specs(self.kernels, names, n)
        return default_specs(names)

    def _take(self, solution: KernelSolution, mean: float, weight: FloatArray | None) -> None:
        """Set the fitted attributes from a solution for the response without its mean."""
        self.solution_ = solution
        self.support_, self.gamma_ = solution.support, solution.gamma
        self.objective_, self.lower_bound_ = solution.objective, solution.lower_bound
        self.gap_, self.status_ = solution.gap, solution.status
        self.selected_ = [self.kernels_[j] for j in solution.support]
        alpha = solution.alpha if weight is None else np.sqrt(weight) * solution.alpha
        if self.fit_intercept:
            # What rounding has left of its sum.
            alpha = alpha - (alpha.mean() if weight is None else weight * (alpha.sum() / weight.sum()))
        self.dual_coef_ = solution.gamma * alpha
        self.intercept_ = 0.0
        if self.fit_intercept:
            fitted = self._fit_of(self.X_fit_, None, training=True)
            self.intercept_ = mean - float(np.average(fitted, weights=weight))
        if self.groups is not None:
            self._set_coef()

    def _warn_unless_proven(self) -> None:
        solution = self.solution_
        empty = solution.stats["empty_objective"]
        small = solution.status == "precision" and negligible(solution.objective, solution.lower_bound, empty)
        if solution.status == "optimal" or small:
            return
        limits = "raise time_limit or node_limit, or use a smaller gamma or k"
        remedy = precision_note(empty) if solution.status == "precision" else limits
        warn_user(
            f"the search ended with status {solution.status!r}: the choice of kernels is within "
            f"{100 * solution.gap:.3g} % of the optimum; {remedy}",
            ConvergenceWarning,
        )

    def predict(self, X: Any, given: Mapping[int, Any] | None = None) -> FloatArray:
        """Predict at new rows.

        Parameters
        ----------
        X : array-like of shape (n_new, p)
            The rows.
        given : mapping, optional
            For chosen kernels that were given as a matrix, K(new, training) of shape (n_new, n), and for those given as
            a factor, Z of the new rows; by their position in `kernels`.
        """
        check_is_fitted(self)
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"given must be a mapping from kernels' numbers to arrays, not {given!r}")
        check_matrix_like(X)
        X = in_our_words(validate_data, self, X, reset=False, dtype=np.float64)
        if self.groups is not None:
            return np.asarray(X @ self.coef_ + self.intercept_)
        return self._fit_of((X - self.center_) * self.scale_, given, training=False) + self.intercept_

    def __getstate__(self) -> dict[str, Any]:
        """The kernels as plain values, so that a pickle does not depend on where things are in the package."""
        state = {**super().__getstate__()}
        if "_specs" in state:
            state["_specs"] = [vars(spec) for spec in self._specs]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_specs" in state:
            state = {**state, "_specs": [Spec(**values) for values in state["_specs"]]}
        super().__setstate__(state)

    def _kernel(self, j: int, spec: Spec, weight: FloatArray | None) -> Given:
        """A kernel on the training rows, centred, scaled and weighted as asked for."""
        root = None if weight is None else np.sqrt(weight)
        if spec.factor:
            Z = spec.see(self.X_fit_) if spec.given is None else spec.given
            Z = Z - np.average(Z, axis=0, weights=weight) if self.fit_intercept else Z
            Z = Z if root is None else root[:, None] * Z
            trace = float(np.sum(Z * Z))
            if trace < SMALLEST_SQUARE and Z.any():
                raise InputError(f"the entries of kernel {spec.label} are too small to square; rescale X, or drop it")
        else:
            K = spec.between(self.X_fit_, self.X_fit_) if spec.given is None else spec.given
            size = float(np.trace(K))
            if self.fit_intercept:
                means = np.average(K, axis=0, weights=weight)
                across = np.average(K, axis=1, weights=weight)
                K = K - means - across[:, None] + np.average(means, weights=weight)
            K = K if root is None else np.outer(root, root) * K
            if self.fit_intercept and np.trace(K) <= 1e-12 * size * (1.0 if weight is None else float(weight.max())):
                K = np.zeros_like(K)
            trace = float(np.trace(K))
        if self.normalize and trace > 0.0:
            self.kernel_scale_[j] = (len(self.X_fit_) if weight is None else float(weight.sum())) / trace
        factor = self.kernel_scale_[j]
        values = np.sqrt(factor) * Z if spec.factor else factor * K
        return Given(values=np.asarray(values), factor=spec.factor, name=f"kernel {spec.label}")

    def _fit_of(self, X: FloatArray, given: Mapping[int, Any] | None, *, training: bool) -> FloatArray:
        """K(X, training) @ dual_coef_ over the chosen kernels; centring is not needed, since dual_coef_ sums to 0."""
        out = np.zeros(len(X))
        for j in self.support_:
            spec, values = self._specs[j], None
            if spec.given is not None:
                values = spec.given if training else None if given is None else given.get(int(j))
                if values is None:
                    what = "Z of the new rows" if spec.factor else "K(new, training)"
                    raise InputError(f"kernel {j} was given as an array: pass {what} as given={{{j}: ...}}")
                values = np.asarray(values, dtype=np.float64)
                if values.shape != (len(X), spec.given.shape[1]):
                    raise InputError(f"given[{j}] has shape {values.shape}, not {(len(X), spec.given.shape[1])}")
            if spec.factor:
                Z = spec.see(self.X_fit_) if spec.given is None else spec.given
                part = (spec.see(X) if values is None else values) @ (Z.T @ self.dual_coef_)
            else:
                part = (spec.between(X, self.X_fit_) if values is None else values) @ self.dual_coef_
            out += self.kernel_scale_[j] * part
        return out

    def _set_coef(self) -> None:
        self.coef_ = np.zeros(self.n_features_in_)
        for j in self.support_:
            spec = self._specs[j]
            np.add.at(self.coef_, spec.columns, self.kernel_scale_[j] * (spec.see(self.X_fit_).T @ self.dual_coef_))
        # Back to the columns as they were given, which the intercept then belongs to as well.
        self.coef_ *= self.scale_
        self.intercept_ -= float(self.center_ @ self.coef_)
