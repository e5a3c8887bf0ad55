"""`KernelSolution`: what `solve_kernels` and `solve_groups` answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from parsifal._public import public
from parsifal.arrays import FloatArray, IntArray
from parsifal.display import html_table, short_list
from parsifal.problem.gap import Status, hold, precision_note, relative_gap
from parsifal.proof.choice import GroupCertificate, KernelCertificate


@public
@dataclass(frozen=True, kw_only=True)
class KernelSolution:
    """The best set of kernels found and what is known about every other one.

    Attributes
    ----------
    support : int array
        The chosen kernels or groups, sorted.
    alpha : array of shape (n,)
        The residual of the fit, and its dual vector: the fit is ``gamma * sum_j K_j @ alpha`` over the support. With
        sample weights both are of the weighted rows: sqrt(weight) times those of the data.
    coef : array of shape (p,) or None
        Coefficients of the columns, where groups of columns were chosen.
    objective : float
        ``1/2 y' (I + gamma sum_j K_j)^-1 y + (prices of the kernels)``.
    lower_bound : float
        No set of kernels has a smaller objective.
    status : str
        ``"optimal"`` if, and only if, the gap is at most `rel_gap`; ``"precision"`` if nothing is left to search and
        the rest of the gap is below what double precision resolves; otherwise why the search ended.
    rel_gap : float
        The relative gap that was asked for.
    k, penalty, gamma : the problem that was solved, with ``gamma="auto"`` replaced by its value.
    stats : dict
        ``nodes``, ``seconds`` and ``search_seconds``, ``root_bound``, ``kernels_left`` after safe fixing at the root,
        ``newton_steps`` (of groups: linear systems), ``empty_objective`` (1/2 y'y).
    certificate : GroupCertificate or KernelCertificate
        The proof: `check` verifies it.
    """

    support: IntArray
    alpha: FloatArray
    coef: FloatArray | None = None
    objective: float
    lower_bound: float
    status: Status
    rel_gap: float
    k: int
    penalty: float | FloatArray
    gamma: float
    stats: dict[str, Any] = field(default_factory=dict)
    certificate: GroupCertificate | KernelCertificate | None = None

    def __post_init__(self) -> None:
        hold(self.status, self.objective, self.lower_bound, self.rel_gap)

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def _items(self) -> str:
        return "kernels" if self.coef is None else "groups"

    def __repr__(self) -> str:
        chosen = short_list([str(j) for j in self.support])
        return (
            f"<KernelSolution {self.status}: {self.support.size} {self._items} [{chosen}], "
            f"objective {self.objective:.8g}, gap {self.gap:.1e}>"
        )

    def _repr_html_(self) -> str:
        facts = [
            ("status", f"{self.status}, gap {self.gap:.1e}"),
            ("objective", f"{self.objective:.8g}"),
            ("lower bound", f"{self.lower_bound:.8g}"),
            (self._items, short_list([str(j) for j in self.support])),
            ("gamma", f"{self.gamma:.4g}"),
        ]
        if self.status == "precision":
            facts.append(("note", precision_note(self.stats.get("empty_objective"))))
        return html_table("KernelSolution", facts)

    def __str__(self) -> str:
        note = f"\n{precision_note(self.stats.get('empty_objective'))}" if self.status == "precision" else ""
        return (
            f"{self.status}: {self.support.size} {self._items} {self.support.tolist()}\n"
            f"objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}, gap {self.gap:.2e}{note}"
        )
