"""Dictionaries of nonlinear features: a scikit-learn transformer that is also a lazy design.

Sparse regression on f(x_j) for a list of functions f finds formulas: which variables matter, and how. The paper's
eight functions are the default.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from parsifal._public import public
from parsifal.arguments import check_count
from parsifal.arrays import FloatArray, IntArray
from parsifal.constraints import AtMost, Implies
from parsifal.design import Design, as_design
from parsifal.design.base import check_names
from parsifal.design.lifted import Lift, LiftedDesign, Survey
from parsifal.errors import InputError, LiftingWarning, warn_user
from parsifal.estimators.formula import show_formula
from parsifal.estimators.functions import Function, resolve
from parsifal.estimators.hierarchy import hierarchy_constraints, parents_of
from parsifal.estimators.inputs import check_matrix_like, in_our_words

# More features than this would not fit in memory by their names alone.
_MOST_FEATURES = 20_000_000
# Relative range below which a column counts as constant: the rounding of the functions, with room.
_CONSTANT = 1e-13


@public
class NonlinearFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Lift every column x to f(x) for a list of functions f, and pairs of columns to their products.

    Parameters
    ----------
    functions : sequence of str, callable or (str, callable), optional
        Formulas in x (``"x^2"``, ``"sqrt|x|"``, ``"cos(2 pi x)"``, ``"exp(-x)"``, ``"1/x"``, ``"step(x)"``, ...),
        callables that work entry by entry, or pairs of a name and a callable; a mapping of names to callables will do
        too. By default the paper's eight: x, sqrt|x|, log|x|, x^2, x^3, cos(10 pi x), sin(x), tanh(2 x).
    products : {False, True, "all"}
        True adds the product of every two columns, ``"all"`` that of every two features of different columns.
    invalid : {"clip", "drop", "error"}
        What to do about a feature that is infinite, or too large to square (beyond 1e150), somewhere in the data, as
        log|x| at 0 is. ``"clip"`` puts the smallest or the largest usable value of the feature in `fit`'s data there;
        ``"drop"`` leaves the feature out; both warn (`LiftingWarning`). A value that is undefined (NaN) cannot be
        clipped and is an error, as everything is with ``"error"``. The rule is fixed in `fit`: new data that have no
        usable value in a feature that was kept are clipped with ``"clip"`` and an error otherwise.
    constant : {"drop", "keep"}
        What to do about a feature that is the same in all rows of `fit`'s data. Dropped features are listed in
        `dropped_`, and no products are made of them.
    hierarchy : {None, "strong", "weak"}
        What `constraints_` asks of products: with ``"strong"`` a product is chosen only with both of its factors, with
        ``"weak"`` only with at least one of them.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    n_features_out_ : int
        Number of features.
    functions_ : tuple of Function
        The functions, with their names.
    origin_ : int array of shape (`n_features_out_`, 2)
        The column or columns a feature is made of; the second is -1 where there is one.
    dropped_ : dict
        Names of features left out, each with the reason.
    clipped_ : list of str
        Names of features with values that were clipped.
    constraints_ : list of Implies
        The hierarchy as constraints, for ``solve(..., constraints=lift.constraints_)`` and the estimators.

    Examples
    --------
    >>> import numpy as np, parsifal as pf
    >>> lift = pf.NonlinearFeatures(["x", "sqrt|x|"], products=True).fit(np.arange(6.0).reshape(3, 2))
    >>> lift.get_feature_names_out().tolist()
    ['x0', 'sqrt|x0|', 'x1', 'sqrt|x1|', 'x0*x1']
    """

    def __init__(
        self,
        functions: Any = None,
        products: bool | str = False,
        *,
        invalid: str = "clip",
        constant: str = "drop",
        hierarchy: str | None = None,
    ) -> None:
        self.functions = functions
        self.products = products
        self.invalid = invalid
        self.constant = constant
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any = None) -> NonlinearFeatures:
        """Look at the data once, and decide which features there are.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p), or Design
            The variables.
        y : ignored
            For the conventions of scikit-learn.
        """
        self._fit(self._as_design(X, reset=True))
        return self

    def transform(self, X: Any) -> FloatArray:
        """Compute all features as one float64 array; see `design` for a way without it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p), or Design
            With the columns that `fit` saw.
        """
        check_is_fitted(self)
        lifted = self._lifted(self._as_design(X, reset=False))
        return lifted.columns(np.arange(lifted.shape[1]))

    def design(self, X: Any) -> LiftedDesign:
        """All features as a `Design` that computes them whenever they are read; nothing is copied or held.

        Parameters
        ----------
        X : anything that `as_design` takes, with the columns that `fit` saw
            Also sparse matrices and designs of files.
        """
        check_is_fitted(self)
        base = as_design(X)
        if base.shape[1] != self.n_features_in_:
            raise InputError(f"X has {base.shape[1]} columns, but fit saw {self.n_features_in_}")
        known = getattr(self, "feature_names_in_", None)
        if known is not None and base.feature_names is not None and list(known) != list(base.feature_names):
            wrong = next(j for j, (a, b) in enumerate(zip(known, base.feature_names)) if a != b)
            raise InputError(f"column {wrong} is {base.feature_names[wrong]!r}, but fit saw {known[wrong]!r} there")
        return self._lifted(base)

    def fit_design(self, X: Any) -> LiftedDesign:
        """`fit` followed by `design`, on anything that `as_design` takes."""
        base = as_design(X)
        self.fit(base)
        return self._lifted(base)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features, such as ``sqrt|x4|`` and ``x1*x2``.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns; by default those that `fit` saw, else ``x0``, ``x1``, ...
        """
        check_is_fitted(self)
        if input_features is not None and (isinstance(input_features, str) or np.ndim(input_features) != 1):
            raise InputError(f"input_features must be the columns' names, not {input_features!r}")
        names = in_our_words(_check_feature_names_in, self, input_features)
        return np.asarray(self._names(self._lift, [str(name) for name in names]), dtype=object)

    def formula(
        self, coef: npt.ArrayLike, intercept: float = 0.0, *, digits: int = 4, input_features: Any = None
    ) -> str:
        """Write the fit with these coefficients as a formula.

        Parameters
        ----------
        coef : array-like of shape (`n_features_out_`,)
            One coefficient a feature; zeros are left out.
        intercept : float
            The constant.
        digits : int
            Significant digits.
        input_features
            As in `get_feature_names_out`.
        """
        return show_formula(self.get_feature_names_out(input_features), coef, intercept, digits)

    @property
    def origin_(self) -> IntArray:
        """The column or columns that a feature is made of."""
        lift = self._lift
        return np.column_stack([lift.column[lift.left], np.where(lift.right < 0, -1, lift.column[lift.right])])

    @property
    def groups_(self) -> dict[int, IntArray]:
        """For every column, the features that it has a part in."""
        origin = self.origin_
        return {j: np.flatnonzero((origin == j).any(axis=1)) for j in range(self.n_features_in_)}

    @property
    def parents_(self) -> IntArray:
        """Features that a feature is built on, -1 where there is none, of shape (`n_features_out_`, 2).

        The parent of f(x) is x; the parents of a product are its factors.
        """
        return parents_of(self._lift, self.functions_, self.n_features_in_)

    @property
    def constraints_(self) -> list[Implies]:
        """What `hierarchy` asks of products, as constraints."""
        products = np.flatnonzero(self._lift.right >= 0)
        return hierarchy_constraints(self.parents_, products, self.hierarchy)

    def at_most_per_variable(self, count: int = 1) -> list[AtMost]:
        """Constraints that at most `count` of the features of every variable are chosen, products counting for both.

        Parameters
        ----------
        count : int
            How many.
        """
        count = check_count(count, "count")
        return [AtMost(group.tolist(), count) for group in self.groups_.values() if len(group) > count]

    def only_with_parents(self) -> list[Implies]:
        """Constraints that a feature is chosen only with its parents: f(x) with x, a product with its factors."""
        parents = self.parents_
        return [Implies(int(child), int(parents[child, side])) for child, side in np.argwhere(parents >= 0)]

    def __getstate__(self) -> dict[str, Any]:
        """The fit in plain arrays and formulas, so that a pickle does not depend on where things are in the package."""
        state = {**super().__getstate__()}
        for name in {"functions_", "_functions"} & set(state):
            state[name] = [function.described for function in state[name]]
        if "_lift" in state:
            state["_lift"] = {k: v for k, v in vars(self._lift).items() if k not in ("calls", "formulas")}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {**state}
        for name in {"functions_", "_functions"} & set(state):
            state[name] = resolve(state[name])
        if "_lift" in state:
            state["_lift"] = Lift(**_calls(state["_functions"]), **state["_lift"])
        super().__setstate__(state)

    def _as_design(self, X: Any, *, reset: bool) -> Design:
        if not isinstance(X, Design):
            check_matrix_like(X)
            return as_design(in_our_words(validate_data, self, X, reset=reset, dtype=(np.float64, np.float32)))
        if reset:
            self.n_features_in_ = X.shape[1]
            if X.feature_names is not None:
                self.feature_names_in_ = np.asarray(X.feature_names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif X.shape[1] != self.n_features_in_:
            raise InputError(f"X has {X.shape[1]} columns, but fit saw {self.n_features_in_}")
        return X

    def _lifted(self, base: Design) -> LiftedDesign:
        return LiftedDesign(base, self._lift, tuple(self.get_feature_names_out()))

    def _fit(self, base: Design) -> None:
        for value, name, choices in (
            (self.invalid, "invalid", ("clip", "drop", "error")),
            (self.constant, "constant", ("drop", "keep")),
            (self.products, "products", (False, True, "all")),
            (self.hierarchy, "hierarchy", (None, "strong", "weak")),
        ):
            if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
                raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
        n, p = base.shape
        functions = resolve(self.functions)
        self.functions_ = functions
        # Products of columns need the columns, whether or not they are features.
        hidden = self.products is True and all(function.name != "x" for function in functions)
        used = (*functions, *resolve("x")) if hidden else functions
        self.dropped_: dict[str, str] = {}
        self.clipped_: list[str] = []
        self._functions = used
        atoms = Lift(
            **_calls(used),
            column=np.repeat(np.arange(p), len(used)),
            function=np.tile(np.arange(len(used)), p),
            left=np.arange(p * len(used)),
            right=np.full(p * len(used), -1),
        )
        names = [str(name) for name in _check_feature_names_in(self)]
        is_feature = np.tile(np.arange(len(used)) < len(functions), p)
        survey = LiftedDesign(base, atoms).survey()
        kept = self._choose(atoms, survey, names, base, is_feature)
        low, high = (survey.low, survey.high) if self.invalid == "clip" else (None, None)
        left, right = kept[is_feature[kept]], np.full(np.count_nonzero(is_feature[kept]), -1)
        self._lift = _remake(atoms, left, right, low, high)
        if self.products is not False:
            self._add_products(kept, names, base)
        if len(self._lift.left) == 0:
            reasons = sorted(set(self.dropped_.values()))
            raise InputError(
                f"no feature is left (n_samples = {n}): all are {', '.join(reasons)}; give more rows, other functions, "
                "or constant='keep'"
            )
        self.n_features_out_ = len(self._lift.left)
        check_names(self._names(self._lift, names))

    def _add_products(self, kept: IntArray, names: list[str], base: Design) -> None:
        lift = self._lift
        plain = next((f for f, function in enumerate(self._functions) if function.name == "x"), None)
        factors = kept if self.products == "all" else kept[lift.function[kept] == plain]
        count = len(factors) * (len(factors) - 1) // 2
        if count > _MOST_FEATURES:
            raise InputError(f"products would make {count:,} features; lift fewer columns or use fewer functions")
        first, second = np.triu_indices(len(factors), 1)
        left, right = factors[first], factors[second]
        apart = lift.column[left] != lift.column[right]
        left, right = left[apart], right[apart]
        if len(left) == 0:
            return
        products = _remake(lift, left, right, lift.low, lift.high)
        survey = LiftedDesign(base, products).survey()
        chosen = self._choose(products, survey, names, base, np.ones(len(left), dtype=bool))
        ones = np.zeros(len(lift.left))
        self._lift = Lift(
            calls=lift.calls,
            formulas=lift.formulas,
            column=lift.column,
            function=lift.function,
            left=np.concatenate([lift.left, left[chosen]]),
            right=np.concatenate([lift.right, right[chosen]]),
            low=lift.low,
            high=lift.high,
            feature_low=None if lift.low is None else np.concatenate([ones, survey.low[chosen]]),
            feature_high=None if lift.low is None else np.concatenate([ones, survey.high[chosen]]),
        )

    def _choose(self, lift: Lift, survey: Survey, names: list[str], base: Design, shown: npt.NDArray[Any]) -> IntArray:
        """Apply the rules about unusable values and constants; return the features that stay."""
        keep = np.ones(len(lift.left), dtype=bool)
        troubled = np.flatnonzero(survey.unusable >= 0)
        labels = dict(
            zip(troubled.tolist(), self._names(_remake(lift, lift.left[troubled], lift.right[troubled]), names))
        )
        events = []
        for f in troubled:
            undefined = survey.undefined[f] >= 0
            row = int(survey.undefined[f] if undefined else survey.unusable[f])
            j = int(lift.column[lift.left[f]])
            x = float(base.rows(row, row + 1).columns([j])[0, 0])
            what = "undefined" if undefined else "infinite or too large to square"
            place = f"{labels[int(f)]} is {what} at row {row}, where {names[j]} = {x:g}"
            if self.invalid == "error" or (self.invalid == "clip" and undefined):
                advice = "'drop'" if undefined else "'clip' or 'drop'"
                raise InputError(f"{place}; leave the function out, change the data, or use invalid={advice}")
            if self.invalid == "drop" or survey.low[f] > survey.high[f]:
                keep[f] = False
                self.dropped_[labels[int(f)]] = what
            else:
                self.clipped_.append(labels[int(f)])
            events.append((place, bool(keep[f])))
        if events:
            done = "clipped to the range of the other rows" if any(kept for _, kept in events) else "dropped"
            more = f" (and {len(events) - 1} features more are)" if len(events) > 1 else ""
            warn_user(f"{events[0][0]}{more}; {done}, see invalid=", LiftingWarning)
        if self.constant == "drop":
            with np.errstate(invalid="ignore"):
                size = np.maximum(np.abs(survey.low), np.abs(survey.high))
                same = keep & ~(survey.high - survey.low > _CONSTANT * size)
            at = np.flatnonzero(same & shown)
            for label in self._names(_remake(lift, lift.left[at], lift.right[at]), names):
                self.dropped_[label] = "constant"
            keep &= ~same
        return np.flatnonzero(keep)

    def _names(self, lift: Lift, names: list[str]) -> list[str]:
        needed = lift.atoms_of(np.arange(len(lift.left)))
        label = {int(a): self._functions[lift.function[a]].label(names[lift.column[a]]) for a in needed}
        out = []
        for left, right in zip(lift.left.tolist(), lift.right.tolist()):
            out.append(label[left] if right < 0 else f"{_factor(label[left])}*{_factor(label[right])}")
        return out


def _calls(functions: tuple[Function, ...]) -> dict[str, Any]:
    """The functions as a `Lift` takes them."""
    return {"calls": functions, "formulas": tuple(function.name for function in functions)}


def _factor(label: str) -> str:
    """Put parentheses around a factor that could be read as more than one."""
    return f"({label})" if (" " in label or "*" in label) and not label.endswith((")", "|")) else label


def _remake(
    lift: Lift, left: IntArray, right: IntArray, low: FloatArray | None = None, high: FloatArray | None = None
) -> Lift:
    """Other features of the same atoms."""
    return Lift(
        calls=lift.calls,
        formulas=lift.formulas,
        column=lift.column,
        function=lift.function,
        left=left,
        right=right,
        low=low,
        high=high,
    )
