"""What is answered: the fit, the bound, and how they were reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from parsifal.certificate import Certificate
from parsifal.errors import NumericalError
from parsifal.problem import FloatArray, IntArray

Status = Literal["optimal", "time_limit", "node_limit", "interrupted", "gap_open"]

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, kw_only=True, eq=False)
class Incumbent:
    """A support with its coefficients and its primal value, computed from the columns themselves."""

    support: IntArray
    coef: FloatArray  # on the support
    objective: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The best fit found and what is known about every other one.

    Attributes
    ----------
    support : int array
        The chosen columns, sorted.
    coef : array of shape (p,)
        The coefficients, zero outside the support: ``X @ coef`` is the fit.
    objective : float
        ``1/2 |y - X w|^2 + |w|^2 / (2 gamma) + penalty |S|``, computed from the data.
    lower_bound : float
        No support has a smaller objective: the least of the dual values that together cover all supports.
    status : str
        ``"optimal"`` if the gap is at most `rel_gap`; otherwise why the search ended.
    k, penalty, gamma : the problem that was solved, with ``gamma="auto"`` replaced by its value.
    stats : dict
        ``reads`` (full reads of X), ``nodes``, ``seconds`` per stage, ``columns_left`` after safe fixing, and more.
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
    k: int
    penalty: float
    gamma: float
    stats: dict[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    certificate: Certificate | None = None
    rests_on: str | None = None

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

    def __str__(self) -> str:
        names = ", ".join(self.selected)
        return (
            f"{self.status}: {self.support.size} columns [{names}]\n"
            f"objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}, gap {self.gap:.2e}"
        )


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / max(objective, tiny); zero where both are zero."""
    return max(0.0, objective - lower_bound) / max(abs(objective), _TINY)


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
