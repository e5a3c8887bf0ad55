"""A fitted model beside the data as the solver saw them: what is shown, written and reported is taken from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from parsifal.arrays import FixArray, FloatArray
from parsifal.estimators.summary import worth_within
from parsifal.problem.least_squares import LeastSquares, least_squares
from parsifal.problem.problem import check_forced
from parsifal.problem.solution import Solution
from parsifal.problem.standardise import Training
from parsifal.problem.summary import Row, Worth, rows_of

if TYPE_CHECKING:
    from parsifal.estimators.base import SparseLinearModel

# Multiplications for the table of what each feature is worth.
_WORTH_WORK = 2e9


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A model, with everything that is computed from it and the data once.

    Attributes
    ----------
    training : Training
        The data as the solver saw them.
    solution : Solution
        On these columns.
    coef, intercept
        The model on the columns as given.
    names : sequence of str
        Of all features.
    rows : sequence of Row
        The chosen features, largest standardised coefficient first; what each is worth unless the data are huge.
    fixed : array of shape (p,)
        1 for features that had to be chosen, -1 for those that must not be.
    """

    training: Training
    solution: Solution
    coef: FloatArray
    intercept: float
    names: Sequence[str]
    rows: Sequence[Row]
    fixed: FixArray

    @classmethod
    def of_model(cls, model: SparseLinearModel, training: Training) -> Fitted:
        """Of a fitted estimator, with what it has computed already."""
        return cls._made(
            training,
            model.solution_,
            coef=model.coef_,
            intercept=model.intercept_,
            names=model._names(),
            force_in=model.force_in,
            force_out=model.force_out,
            values=model._worth,
            refit=model.least_squares_,
        )

    @classmethod
    def of_solution(
        cls, solution: Solution, training: Training, names: Sequence[str], *, force_in: Any, force_out: Any
    ) -> Fitted:
        """Of a solution without an estimator, such as one of a path; `force_in` and `force_out` as in `solve`."""
        coef, intercept = training.unscaled(solution.coef)
        return cls._made(
            training,
            solution,
            coef=coef,
            intercept=intercept,
            names=names,
            force_in=force_in,
            force_out=force_out,
            values=None,
            refit=least_squares(training, solution.support, solution.coef),
        )

    @classmethod
    def _made(
        cls,
        training: Training,
        solution: Solution,
        *,
        coef: FloatArray,
        intercept: float,
        names: Sequence[str],
        force_in: Any,
        force_out: Any,
        values: Sequence[Worth] | None,
        refit: LeastSquares,
    ) -> Fitted:
        if solution.certificate is not None:
            # By index: names may not be known to the data that came with a report.
            force_in, force_out = solution.certificate.forced_in, solution.certificate.forced_out
        fixed = check_forced(training.design, force_in, force_out)
        if values is None:
            values = worth_within(training, solution, np.flatnonzero(fixed < 0), work=_WORTH_WORK)
        rows = rows_of(
            solution.support,
            solution.objective,
            coef=training.unscaled(solution.coef)[0],
            standardized=solution.coef,
            names=names,
            values=values,
            refit=refit,
        )
        return cls(
            training=training,
            solution=solution,
            coef=coef,
            intercept=intercept,
            names=names,
            rows=sorted(rows, key=lambda row: -abs(row.standardized)),
            fixed=fixed,
        )
