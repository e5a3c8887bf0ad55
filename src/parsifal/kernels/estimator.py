"""`SparseKernelRegressor`: kernel ridge regression on the best k of many kernels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names_in, _num_samples, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from parsifal.errors import InputError
from parsifal.kernels.oracle import Block, FloatArray, factor_block, matrix_block
from parsifal.kernels.solve import as_groups, solve_blocks
from parsifal.kernels.specs import Spec, default_specs, group_specs, make_specs
from parsifal.problem import Gamma, check_flag, check_response
from parsifal.progress import ProgressOption
from parsifal.validation import check_largest, check_matrix_like, check_target_like, in_our_words


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
        As in `solve`. A fit that ends at a limit warns (`ConvergenceWarning`).

    Attributes
    ----------
    support_ : int array
        The chosen kernels.
    selected_ : list of str
        Their names.
    kernels_ : list of str
        Names of all kernels.
    dual_coef_ : array of shape (n,)
        gamma alpha; predictions are K(x, X) @ dual_coef_ + intercept_ with K the scaled sum of the chosen kernels.
    kernel_scale_ : array
        Factor of every kernel.
    coef_ : array of shape (p,)
        Coefficients of the columns as given; with `groups` only, where predictions are X @ coef_ + intercept_.
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
        time_limit: float | None = None,
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

    def fit(self, X: Any, y: Any) -> SparseKernelRegressor:
        """Choose the kernels.

        Parameters
        ----------
        X : array-like of shape (n, p)
            The rows.
        y : array-like of shape (n,)
            The response.
        """
        started = time.monotonic()
        for name in ("fit_intercept", "standardize", "normalize"):
            check_flag(getattr(self, name), name)
        check_matrix_like(X)
        check_target_like(y, _num_samples(X), type(self).__name__)
        X, y = in_our_words(validate_data, self, X, y, y_numeric=True, dtype=np.float64)
        check_largest(X)
        y = check_response(y, len(X))
        n, p = X.shape
        if self.kernels is not None and self.groups is not None:
            raise InputError("give kernels or groups, not both")
        names = [str(name) for name in _check_feature_names_in(self)]
        self.center_, self.scale_ = np.zeros(p), np.ones(p)
        if self.standardize:
            mean_of, deviation = X.mean(axis=0), X.std(axis=0)
            varies = deviation > 1e-13 * np.abs(mean_of)
            self.scale_[varies] = 1.0 / deviation[varies]
            # Centred columns under a linear kernel would be an intercept by another name.
            if self.fit_intercept:
                self.center_ = mean_of
        self.X_fit_ = (X - self.center_) * self.scale_
        if self.groups is not None:
            specs = group_specs(as_groups(self.groups, p), names)
        elif self.kernels is not None:
            specs = make_specs(self.kernels, names, n)
        else:
            specs = default_specs(names)
        self._specs = specs
        self.kernels_ = [spec.label for spec in specs]
        mean = float(y.mean()) if self.fit_intercept else 0.0
        self.kernel_scale_ = np.ones(len(specs))
        with threadpool_limits(1, "blas"):
            blocks = [self._block(j, spec) for j, spec in enumerate(specs)]
            sol = solve_blocks(
                blocks,
                y - mean,
                self.k,
                self.gamma,
                penalty=self.penalty,
                rel_gap=self.rel_gap,
                time_limit=self.time_limit,
                node_limit=self.node_limit,
                warm_start=None,
                force_in=None,
                force_out=None,
                progress=self.progress,
                started=started,
            )
        self.solution_ = sol
        self.support_, self.gamma_ = sol.support, sol.gamma
        self.objective_, self.lower_bound_ = sol.objective, sol.lower_bound
        self.gap_, self.status_ = sol.gap, sol.status
        self.selected_ = [self.kernels_[j] for j in sol.support]
        alpha = sol.alpha - sol.alpha.mean() if self.fit_intercept else sol.alpha
        self.dual_coef_ = sol.gamma * alpha
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = mean - float(np.mean(self._fit_of(self.X_fit_, None, training=True)))
        if self.groups is not None:
            self._set_coef()
        if sol.status != "optimal":
            warnings.warn(
                f"the search ended with status {sol.status!r}: the choice of kernels is within {100 * sol.gap:.3g} % "
                "of the optimum; raise time_limit or node_limit, or use a smaller gamma or k",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

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

    def _block(self, j: int, spec: Spec) -> Block:
        """A kernel on the training rows, centred and scaled as asked for."""
        n = len(self.X_fit_)
        if spec.factor:
            Z = spec.see(self.X_fit_) if spec.given is None else spec.given
            Z = Z - Z.mean(axis=0) if self.fit_intercept else Z
            trace = float(np.sum(Z * Z))
        else:
            K = spec.between(self.X_fit_, self.X_fit_) if spec.given is None else spec.given
            if self.fit_intercept:
                means = K.mean(axis=0)
                size = float(np.trace(K))
                K = K - means - K.mean(axis=1)[:, None] + means.mean()
                if np.trace(K) <= 1e-12 * size:
                    K = np.zeros_like(K)
            trace = float(np.trace(K))
        if self.normalize and trace > 0.0:
            self.kernel_scale_[j] = n / trace
        factor = self.kernel_scale_[j]
        return factor_block(np.sqrt(factor) * Z) if spec.factor else matrix_block(factor * K, f"kernel {spec.label}")

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
