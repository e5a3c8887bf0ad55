"""What `SparseRegressor` and `SparseRegressorCV` share: checks of the data, prediction, selection, the summary."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from parsifal.certificate import Certificate, CheckResult
from parsifal.check import check
from parsifal.design import Design, as_design
from parsifal.errors import InputError, NonFiniteError
from parsifal.problem import FloatArray, IntArray, check_flag, check_forced, check_gamma, check_response
from parsifal.solution import Solution
from parsifal.summary import Row, Summary, Worth, worth
from parsifal.training import Training, prepare
from parsifal.validation import check_jobs, check_matrix_like, check_target_like, check_weight, in_our_words

# Multiplications that a fit may spend on its summary; beyond, `summary` asks for the data.
_SUMMARY_WORK = 5e7


class SparseLinearModel(SelectorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What every fitted sparse linear model can do; fitted by its subclasses."""

    fit_intercept: bool
    standardize: bool
    force_in: Any
    force_out: Any
    coef_: FloatArray
    intercept_: float
    support_: IntArray
    solution_: Solution
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def predict(self, X: Any) -> FloatArray:
        """Predict the response.

        Parameters
        ----------
        X : matrix of shape (n, p)
            Of a frame or a `Design` only the chosen columns are read.

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        design = self._check_X(X, reset=False, finite=True)
        values = design.matvec(self.support_, self.coef_[self.support_]) + self.intercept_
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            # Frames and designs are not looked through before; they are read here for the first time.
            raise NonFiniteError(f"row {bad[0]} of X has a NaN or an infinity in a chosen feature; fill or drop it")
        return values

    def summary(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Summary:
        """A table of the chosen features: coefficient, loss when left out, and what would replace each.

        Parameters
        ----------
        X, y, sample_weight
            The training data; only needed where they were so large that the fit did not compute the last columns.

        Returns
        -------
        Summary
            Prints as text, shows as HTML in a notebook.
        """
        check_is_fitted(self)
        values = self._worth
        if X is not None:
            values = self._worth_of(self._training(X, y, sample_weight), limit=np.inf)
        solution = self.solution_
        names = self._names()
        by_column = {} if values is None else {value.column: value for value in values}
        rows = []
        for j in self.support_:
            value = by_column.get(int(j))
            rows.append(
                Row(
                    feature=names[j],
                    coef=float(self.coef_[j]),
                    standardized=float(solution.coef[j]),
                    left_out=None if value is None else _relative(value.left_out, solution.objective),
                    replacement=None if value is None or value.replacement < 0 else names[value.replacement],
                    replaced=None
                    if value is None or value.replacement < 0
                    else _relative(value.replaced, solution.objective),
                )
            )
        facts = [
            ("status", f"{solution.status}, gap {solution.gap:.1e}"),
            ("objective", f"{solution.objective:.8g}"),
            ("lower bound", f"{solution.lower_bound:.8g}"),
            ("features", f"{self.support_.size} of {self.n_features_in_}"),
            ("gamma", f"{solution.gamma:.4g}"),
            ("intercept", f"{self.intercept_:.6g}"),
        ]
        if values is None and self.support_.size:
            facts.append(("note", "large data: summary(X, y) also tells what each feature is worth"))
        return Summary(title=type(self).__name__, facts=facts, rows=rows)

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> CheckResult:
        """Check the certificate against the training data, independently of the solver (see `parsifal.check`)."""
        check_is_fitted(self)
        if self.certificate_ is None:
            raise InputError("this fit has no certificate; fit with method='search'")
        training = self._training(X, y, sample_weight)
        return check(self.certificate_, training.design, training.y)

    @property
    def certificate_(self) -> Certificate | None:
        return self.solution_.certificate

    @property
    def objective_(self) -> float:
        return self.solution_.objective

    @property
    def lower_bound_(self) -> float:
        return self.solution_.lower_bound

    @property
    def gap_(self) -> float:
        return self.solution_.gap

    @property
    def status_(self) -> str:
        return self.solution_.status

    @property
    def gamma_(self) -> float:
        return self.solution_.gamma

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _repr_html_(self) -> str:
        diagram = str(self._repr_html_inner())
        return diagram + self.summary()._repr_html_() if hasattr(self, "solution_") else diagram

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _check_X(self, X: Any, *, reset: bool, finite: bool) -> Design:
        """Check X as scikit-learn does and make a design of it; frames and designs are read where they are."""
        X = self._check_array(X, finite=finite)
        if not isinstance(X, Design) or X.feature_names is None:
            design = as_design(X)
            in_our_words(validate_data, self, X, reset=reset, skip_check_array=True)
            return design
        # scikit-learn does not see a design's names.
        names = np.asarray(X.feature_names, dtype=object)
        if reset:
            self.n_features_in_, self.feature_names_in_ = X.shape[1], names
        elif hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise InputError("the feature names of X are not those of the fit, in the same order")
        elif X.shape[1] != self.n_features_in_:
            raise InputError(f"X has {X.shape[1]} features, but the fit was with {self.n_features_in_} features")
        return X

    def _check_array(self, X: Any, *, finite: bool) -> Any:
        """X as it is where the design layer reads it in place, else as scikit-learn's checks leave it."""
        if _is_native(X) or isinstance(X, np.ma.MaskedArray):
            # `as_design` refuses a mask, which NumPy would drop.
            return X
        check_matrix_like(X)
        # The solver's first read says which entry is not finite, so that a fit need not look twice.
        return in_our_words(
            check_array,
            X,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=finite,
            estimator=self,
            input_name="X",
        )

    def _check_data(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Design, FloatArray, Any]:
        if y is None:
            check_target_like(y, 0, type(self).__name__)
        for name in ("fit_intercept", "standardize"):
            check_flag(getattr(self, name), name)
        check_jobs(self.n_jobs)
        design = self._check_X(X, reset=reset, finite=False)
        n = design.shape[0]
        check_target_like(y, n, type(self).__name__)
        vector = in_our_words(column_or_1d, y, warn=True)
        if vector.dtype.kind == "O":
            vector = in_our_words(vector.astype, np.float64)
        return design, check_response(vector, n), check_weight(sample_weight, n)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        design, target, weight = self._check_data(X, y, sample_weight, reset=False)
        return prepare(design, target, weight=weight, fit_intercept=self.fit_intercept, standardize=self.standardize)

    def _take(self, solution: Solution, training: Training) -> None:
        """Set the fitted attributes from a solution on the training view."""
        self.solution_ = solution
        self.support_ = solution.support
        self.coef_, self.intercept_ = training.unscaled(solution.coef)
        self._worth = self._worth_of(training, limit=_SUMMARY_WORK)

    def _worth_of(self, training: Training, *, limit: float) -> list[Worth] | None:
        n, p = training.design.shape
        if float(n) * p * (self.support_.size + 1) > limit:
            return None
        s = self.solution_
        barred = np.flatnonzero(check_forced(training.design, self.force_in, self.force_out) < 0)
        return worth(training.design, training.y, s.support, s.gamma, s.penalty, barred)

    def _warn_unless_proven(self, solution: Solution) -> None:
        if solution.status == "optimal":
            return
        reason = {
            "time_limit": "at its time limit",
            "node_limit": "at its node limit",
            "interrupted": "when it was interrupted",
            "gap_open": "before the proof was complete",
        }[solution.status]
        # Where no limit was set there is none to raise.
        remedy = "make gamma smaller" if solution.status == "gap_open" else "raise the limit, or make gamma smaller"
        warnings.warn(
            f"{type(self).__name__} stopped {reason} with a gap of {solution.gap:.3%}: its features are the best "
            f"found, but not proven to be the best; {remedy}",
            ConvergenceWarning,
            stacklevel=3,
        )


def resolve_gamma(gamma: Any, training: Training) -> float:
    """The ridge weight as a number."""
    if isinstance(gamma, str):
        if gamma != "auto":
            raise InputError(f'gamma must be a positive number or "auto", not {gamma!r}')
        return training.auto_gamma()
    return check_gamma(gamma)


def method_options(model: Any) -> dict[str, Any]:
    """The options of `solve` that say how; `backend` only counts where a method has one."""
    options = {"method": model.method, "constraints": model.constraints}
    return options if model.method == "search" else {**options, "backend": model.backend}


def _is_native(X: Any) -> bool:
    """Whether the design layer reads X in place: designs, frames and Dask arrays; the rest goes by way of NumPy."""
    if isinstance(X, Design):
        return True
    libraries = {ancestor.__module__.partition(".")[0] for ancestor in type(X).__mro__}
    return bool(libraries & {"pandas", "polars", "dask"}) and hasattr(X, "shape")


def _relative(value: float, objective: float) -> float:
    return (value - objective) / objective if objective > 0 else float("nan")
