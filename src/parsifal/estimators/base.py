"""What `SparseRegressor` and `SparseRegressorCV` share: checks of the data, prediction, selection, the summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from parsifal.arguments import check_flag, check_response, check_weight
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.design import Design, as_design
from parsifal.design.sparse import compressed
from parsifal.errors import InputError, NonFiniteError, warn_user
from parsifal.estimators.inputs import (
    check_jobs,
    check_matrix_like,
    check_named_alike,
    check_parameters,
    check_target_like,
    in_our_words,
)
from parsifal.estimators.summary import worth_within
from parsifal.problem.column_rules import check_prices, check_signs
from parsifal.problem.gap import negligible, precision_note
from parsifal.problem.least_squares import LeastSquares, least_squares
from parsifal.problem.problem import check_columns, check_forced, column_name
from parsifal.problem.solution import Solution
from parsifal.problem.standardise import Training, prepare
from parsifal.problem.summary import Summary, Worth, fit_facts, rows_of
from parsifal.proof.certificate import Certificate, CheckResult
from parsifal.proof.checker import check

# Multiplications that a fit may spend on its summary; beyond, `summary` asks for the data.
_SUMMARY_WORK = 5e7

# Seconds of a fit unless the user says otherwise: long enough for what can be proven, and an end where nothing can.
TIME_LIMIT = 300.0


class SparseLinearModel(SelectorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What every fitted sparse linear model can do; fitted by its subclasses."""

    fit_intercept: bool
    standardize: bool
    force_in: Any
    force_out: Any
    refit: str | None
    adjust: Any
    coef_: FloatArray
    intercept_: float
    support_: IntArray
    adjusted_: IntArray
    solution_: Solution
    least_squares_: LeastSquares
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    # Whether a fit keeps its view of the data, `_view`, for what is shown of the model next: X lives as long as that.
    _keep_view = False
    _view: Training
    # Whether the fit had sample weights, without which its certificate cannot be checked.
    _weighted = False

    def __new__(cls, *args: Any, **given: Any) -> Any:
        """Refuse parameters of other libraries with a hint, which the signature alone would not give."""
        check_parameters(cls.__name__, given, cls._get_param_names())
        return super().__new__(cls)

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
        used = np.union1d(self.support_, self.adjusted_)
        values = design.matvec(used, self.coef_[used]) + self.intercept_
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            # Frames and designs are not looked through before; they are read here for the first time.
            raise NonFiniteError(f"row {bad[0]} of X has a NaN or an infinity in a chosen feature; fill or drop it")
        return values

    def _prices(self, design: Design) -> Any:
        """The penalty, as an array where features have prices of their own."""
        if self.penalty is None:
            return None
        prices = check_prices(design, self.penalty)
        return self.penalty if prices is None else prices

    def _signs(self, design: Design) -> Any:
        """The signs that coefficients must have; 0 where none must."""
        positive = check_flag(self.positive, "positive")
        if positive and self.sign is not None:
            raise InputError("give positive=True or sign, not both")
        signs = check_signs(design, 1 if positive else self.sign)
        if not signs.any():
            return 0
        if self.refit is not None:
            raise InputError('refit="ols" does not keep signs; leave it out, or give gamma=np.inf instead')
        return signs

    def summary(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Summary:
        """A table of the chosen features: coefficients beside those of least squares, and what each is worth.

        Standard errors are those of least squares, as if the features had been fixed beforehand (docs/inference.md);
        the last columns have the loss without the feature, and what would replace it.

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
            training = self._training(X, y, sample_weight)
            if self._weighted and sample_weight is None:
                raise InputError("the fit had sample_weight; pass the same: summary(X, y, sample_weight)")
            values = self._worth_of(training, limit=np.inf)
        solution = self.solution_
        facts = [
            ("status", f"{solution.status}, gap {solution.gap:.1e}"),
            ("objective", f"{solution.objective:.8g}"),
            ("lower bound", f"{solution.lower_bound:.8g}"),
            ("features", f"{self.support_.size} of {self.n_features_in_}"),
            ("gamma", f"{solution.gamma:.4g}"),
            ("intercept", f"{self.intercept_:.6g}"),
        ]
        if self.adjusted_.size:
            names = self._names()
            facts.append(("adjusted for", ", ".join(f"{names[j]} ({self.coef_[j]:.6g})" for j in self.adjusted_)))
        if self.refit is not None:
            # The table has both, and the features were chosen with the ridge.
            facts.append(("refit", "coef_, intercept_ and predictions are those of least squares"))
        facts += fit_facts(self.least_squares_)
        if solution.status == "precision":
            facts.append(("note", precision_note(solution.stats["empty_objective"])))
        if values is None and self.support_.size:
            facts.append(("note", "large data: summary(X, y) also tells what each feature is worth"))
        rows = rows_of(
            solution.support,
            solution.objective,
            coef=self._ridge_coef,
            standardized=solution.coef,
            names=self._names(),
            values=values,
            refit=self.least_squares_,
        )
        return Summary(title=type(self).__name__, facts=facts, rows=rows)

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> CheckResult:
        """Check the certificate against the training data, independently of the solver (see `parsifal.check`)."""
        check_is_fitted(self)
        if self.certificate_ is None:
            raise InputError("this fit has no certificate; fit with method='search'")
        training = self._training(X, y, sample_weight)
        result = check(self.certificate_, training.design, training.y)
        if not result and self._weighted and sample_weight is None:
            return replace(result, reason=f"{result.reason}; the fit had sample_weight, which check needs too")
        return result

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

    def __getstate__(self) -> dict[str, Any]:
        """What the features are worth as plain values: a pickle does not depend on where things are in the package."""
        state = {**super().__getstate__()}
        if state.get("_worth") is not None:
            state["_worth"] = [vars(value) for value in state["_worth"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("_worth") is not None:
            state = {**state, "_worth": [Worth(**values) for values in state["_worth"]]}
        super().__setstate__(state)

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
        if type(X).__module__.startswith("pyarrow"):
            X = as_design(X)  # whose names scikit-learn does not see
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
            if hasattr(type(X), "columns") and not isinstance(X, Design):
                check_named_alike(X.columns)
            return X
        if type(X).__module__.startswith("polars"):
            as_design(X)  # which says what to do with a LazyFrame or a Series
        check_matrix_like(X)
        if issparse(X) and X.dtype.kind in "fiub":
            X = compressed(X)
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
        if self.refit not in (None, "ols"):
            raise InputError(f'refit must be "ols" or None, not {self.refit!r}')
        check_jobs(self.n_jobs)
        design = self._check_X(X, reset=reset, finite=False)
        n = design.shape[0]
        check_target_like(y, n, type(self).__name__)
        if np.asarray(y).ndim == 2:
            # scikit-learn's words, at the user's line.
            warn_user(
                "A column-vector y was passed when a 1d array was expected; pass y.ravel(), or one column of a frame",
                DataConversionWarning,
            )
        vector = in_our_words(column_or_1d, y)
        if vector.dtype.kind == "O":
            vector = in_our_words(vector.astype, np.float64)
        weight = check_weight(sample_weight, n)
        if reset:
            self._weighted = weight is not None
        return design, check_response(vector, n), weight

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """The training data again, as the solver saw them."""
        return self._prepare(*self._check_data(X, y, sample_weight, reset=False))

    def _prepare(self, design: Design, y: FloatArray, weight: FloatArray | None) -> Training:
        """Centre, scale and weigh as this model does."""
        return prepare(
            design,
            y,
            weight=weight,
            adjust=self._adjust(design),
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )

    def _adjust(self, design: Design) -> IntArray:
        """The columns to adjust for."""
        if self.adjust is None:
            return np.empty(0, dtype=np.int64)
        index = check_columns(design, self.adjust, "adjust")
        if index.size == design.shape[1]:
            raise InputError("adjust names every column of X, which leaves none to choose")
        return index

    def _fixed(self, design: Design) -> FixArray:
        """What is forced in (1) and out (-1); a column that is adjusted for is never chosen."""
        fix, adjusted = check_forced(design, self.force_in, self.force_out), self._adjust(design)
        both = adjusted[fix[adjusted] > 0]
        if both.size:
            raise InputError(f"column {column_name(design, both[0])} is both in adjust and in force_in")
        fix[adjusted] = -1
        return fix

    def _take(self, solution: Solution, training: Training) -> None:
        """Set the fitted attributes from a solution on the training view."""
        self.solution_ = solution
        self.support_ = solution.support
        self.adjusted_ = training.adjusted
        self._ridge_coef, self.intercept_ = training.unscaled(solution.coef)
        self.coef_ = self._ridge_coef
        self.least_squares_ = least_squares(training, solution.support, solution.coef)
        if self.refit == "ols":
            self.coef_, self.intercept_ = self.least_squares_.all_coef, self.least_squares_.intercept
        self._worth = self._worth_of(training, limit=_SUMMARY_WORK)
        if self._keep_view:
            self._view = training

    def _worth_of(self, training: Training, *, limit: float) -> list[Worth] | None:
        barred = np.flatnonzero(self._fixed(training.design) < 0)
        return worth_within(training, self.solution_, barred, work=limit)

    def _warn_unless_proven(self, solution: Solution) -> None:
        empty = solution.stats["empty_objective"]
        if solution.status == "optimal" or (
            solution.status == "precision" and negligible(solution.objective, solution.lower_bound, empty)
        ):
            return
        reason = {
            "precision": "where double precision ends",
            "time_limit": "at its time limit",
            "node_limit": "at its node limit",
            "interrupted": "when it was interrupted",
            "gap_open": "before the proof was complete",
        }[solution.status]
        remedy = {
            "precision": precision_note(empty),
            "time_limit": f"raise time_limit ({self.time_limit} seconds; None: no limit), or make gamma or k smaller",
            "node_limit": "raise node_limit, or make gamma or k smaller",
        }.get(solution.status, "make gamma or k smaller")
        warn_user(
            f"{type(self).__name__} stopped {reason} with a gap of {solution.gap:.3%}: its features are the best "
            f"found, but not proven to be the best; {remedy}",
            ConvergenceWarning,
        )


def method_options(model: Any) -> dict[str, Any]:
    """The options of `solve` that say how; `backend` only counts where a method has one."""
    options = {"method": model.method, "constraints": model.constraints}
    return options if model.method == "search" else {**options, "backend": model.backend}


def _is_native(X: Any) -> bool:
    """Whether the design layer reads X in place: designs, frames, Dask arrays; the rest goes by way of NumPy."""
    if isinstance(X, Design):
        return True
    libraries = {ancestor.__module__.partition(".")[0] for ancestor in type(X).__mro__}
    return bool(libraries & {"pandas", "polars", "pyarrow", "dask"}) and hasattr(type(X), "shape")
