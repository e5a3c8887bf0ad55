"""What is answered: the fit, the bound, and how they were reached."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from parsifal._public import public
from parsifal.arguments import check_response
from parsifal.arrays import FloatArray, IntArray
from parsifal.design import as_design
from parsifal.display import html_table, short_list
from parsifal.errors import InputError, NumericalError
from parsifal.problem.gap import Status, hold, precision_note, relative_gap
from parsifal.problem.least_squares import least_squares
from parsifal.problem.standardise import Training, prepare, view_of
from parsifal.problem.summary import Summary, fit_facts, rows_of
from parsifal.proof.certificate import Certificate, CheckResult
from parsifal.proof.checker import check

__all__ = ["Incumbent", "Solution", "Status", "reconcile", "relative_gap"]


@public
@dataclass(frozen=True, kw_only=True, eq=False)
class Incumbent:
    """A support with its fit: an entry of a `Ranking`.

    Attributes
    ----------
    support : int array
        The columns, sorted.
    coef : array
        Their coefficients: ``X[:, support] @ coef`` is the fit.
    objective : float
        As in `Solution`, computed from the data.
    """

    support: IntArray
    coef: FloatArray
    objective: float


@public
@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The best fit found and what is known about every other one.

    Attributes
    ----------
    support : int array
        The chosen columns, sorted.
    coef : array of shape (p,)
        The coefficients, zero outside the support: ``X @ coef + intercept`` is the fit, for X as given.
    intercept : float
        0 unless `solve` was called with ``fit_intercept=True``.
    fit_intercept, standardize : bool
        What was done to X and y first; objective, bound and certificate are for the columns after that.
    objective : float
        ``1/2 |y - X w|^2 + |w|^2 / (2 gamma) + penalty |S|``, computed from the data.
    lower_bound : float
        No support has a smaller objective: the least of the dual values that together cover all supports.
    status : str
        ``"optimal"`` if, and only if, the gap is at most `rel_gap`; ``"precision"`` if nothing is left to search and
        the rest of the gap is below what double precision resolves; otherwise why the search ended.
    rel_gap : float
        The relative gap that was asked for.
    k, penalty, gamma : the problem that was solved, with ``gamma="auto"`` replaced by its value; `penalty` is an array
        where columns have prices of their own.
    stats : dict
        ``reads`` (full reads of X), ``nodes``, ``seconds`` per stage, ``columns_left`` after safe fixing,
        ``empty_objective`` (1/2 y'y, the objective of no column at all), and more.
    feature_names : tuple of str or None
        Names of all columns, if X had them.
    certificate : Certificate
        The proof of `lower_bound`, for `check`; of a smaller bound where `rests_on` says so.
    rests_on : str or None
        What `lower_bound` rests on besides the certificate: the word of a mixed-integer solver. None: nothing.
    """

    support: IntArray
    coef: FloatArray
    objective: float
    lower_bound: float
    status: Status
    rel_gap: float
    k: int
    penalty: float | FloatArray
    gamma: float
    stats: dict[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    certificate: Certificate | None = None
    rests_on: str | None = None
    intercept: float = 0.0
    fit_intercept: bool = False
    standardize: bool = False

    def __post_init__(self) -> None:
        hold(self.status, self.objective, self.lower_bound, self.rel_gap)

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def selected(self) -> list[str]:
        """Names of the chosen columns (``x0``, ``x1``, ... where X had none)."""
        if self.feature_names is None:
            return [f"x{j}" for j in self.support]
        return [self.feature_names[j] for j in self.support]

    def check(self, X: Any, y: Any, *, exact: bool = False) -> CheckResult:
        """Check the certificate against X and y as they were given to `solve` (see `parsifal.check`)."""
        if self.certificate is None:
            raise InputError("this solution has no certificate; solve with method='search'")
        training = view_of(X, y, fit_intercept=self.fit_intercept, standardize=self.standardize)
        data = (X, y) if training is None else (training.design, training.y)
        return check(self.certificate, *data, exact=exact)

    def summary(self, X: Any, y: Any) -> Summary:
        """A table of the chosen columns beside least squares on them, with standard errors and R2.

        Parameters
        ----------
        X, y : the data
            As they were given to `solve`.

        Returns
        -------
        Summary
            Prints as text, shows as HTML in a notebook.
        """
        design = as_design(X)
        if design.shape[1] != self.coef.size:
            raise InputError(f"X has {design.shape[1]} columns, but this solution is for {self.coef.size}")
        training = prepare(
            design,
            check_response(y, design.shape[0]),
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )
        standardized = self.coef / training.scale
        refit = least_squares(training, self.support, standardized)
        names = [f"x{j}" for j in range(self.coef.size)] if self.feature_names is None else self.feature_names
        rows = rows_of(
            self.support, self.objective, coef=self.coef, standardized=standardized, names=names, refit=refit
        )
        return Summary(title="Solution", facts=[*self._facts(), *fit_facts(refit)], rows=rows)

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            ("status", f"{self.status}, gap {self.gap:.1e}"),
            ("objective", f"{self.objective:.8g}"),
            ("lower bound", f"{self.lower_bound:.8g}"),
            ("columns", f"{self.support.size} of {self.coef.size}"),
            ("gamma", f"{self.gamma:.4g}"),
        ]
        if self.fit_intercept:
            facts.append(("intercept", f"{self.intercept:.6g}"))
        if self.status == "precision":
            facts.append(("note", precision_note(self.stats.get("empty_objective"))))
        return facts

    def __repr__(self) -> str:
        return (
            f"<Solution {self.status}: {self.support.size} of {self.coef.size} columns [{short_list(self.selected)}], "
            f"objective {self.objective:.8g}, gap {self.gap:.1e}>"
        )

    def _repr_html_(self) -> str:
        rows = [(name, f"{value:.6g}") for name, value in zip(self.selected, self.coef[self.support])]
        return html_table("Solution", self._facts(), ("column", "coefficient"), rows, left=(0,))

    def __str__(self) -> str:
        names = ", ".join(self.selected)
        note = f"\n{precision_note(self.stats.get('empty_objective'))}" if self.status == "precision" else ""
        return (
            f"{self.status}: {self.support.size} columns [{names}]\n"
            f"objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}, gap {self.gap:.2e}{note}"
        )


def on_given_columns(solution: Solution, training: Training) -> Solution:
    """A solution on a view of the columns, for the columns as given."""
    coef, intercept = training.unscaled(solution.coef)
    return replace(
        solution,
        coef=coef,
        intercept=intercept,
        fit_intercept=training.fit_intercept,
        standardize=training.standardize,
    )


def reconcile(objective: float, lower_bound: float, scale: float) -> float:
    """Return the bound, clipped to the objective where rounding lifted it above; refuse where more than rounding did.

    `scale` is the size of the numbers that the two values were computed from, 1/2 |y|^2.
    """
    if lower_bound > objective + 1e-9 * (abs(objective) + scale):
        raise NumericalError(
            f"the lower bound {float(lower_bound)!r} is above the objective {float(objective)!r}; "
            "the data are too badly scaled for double precision: rescale the columns or use a smaller gamma"
        )
    return min(lower_bound, objective)
