"""The rules of `problem.gap` for one solve: what is worth a look, what counts as proven, and what is claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parsifal.problem import gap
from parsifal.problem.gap import Status
from parsifal.problem.solution import reconcile


@dataclass(frozen=True, kw_only=True)
class GapPolicy:
    """What the gap is measured by; the objective and the bound are arguments, since they change.

    Attributes
    ----------
    rel_gap : float
        The relative gap that is allowed.
    resolution : float
        Differences that pruning does not look for.
    floor : float
        The bound of alpha = 0: every term of the objective is nonnegative.
    empty : float
        1/2 y'y, the size of the numbers that objectives and bounds are computed from.
    ceiling : float
        Supports above it are of no interest.
    blind : bool
        Whether the data are such that no bound of the solver is known to hold: none but the floor is claimed.
    """

    rel_gap: float
    resolution: float
    floor: float
    empty: float
    ceiling: float = math.inf
    blind: bool = False

    def target(self, objective: float) -> float:
        """What the bound has to reach, up to the gap."""
        return min(objective, self.ceiling)

    def cutoff(self, objective: float) -> float:
        """The value below which a support counts as better."""
        return gap.cutoff(self.target(objective), rel_gap=self.rel_gap, resolution=self.resolution)

    @property
    def pruning(self) -> tuple[float, float]:
        """`cutoff` as the compiled search takes it: a relative and an absolute part."""
        return gap.pruning(rel_gap=self.rel_gap, resolution=self.resolution)

    def allowance(self, objective: float) -> float:
        """How far below an objective the search may stop looking."""
        return gap.allowance(objective, rel_gap=self.rel_gap, resolution=self.resolution)

    def margin(self, objective: float) -> float:
        """What the claim keeps below what was computed."""
        return gap.margin(self.target(objective), rel_gap=self.rel_gap, resolution=self.resolution)

    def closed(self, objective: float, lower_bound: float) -> bool:
        """Whether the bound, less what the claim keeps, closes the gap to the target."""
        return gap.closes(self.target(objective), self._kept(objective, lower_bound), self.rel_gap)

    def exhausted(self, objective: float, lower_bound: float) -> bool:
        """Whether no support below the cutoff is left."""
        return lower_bound >= self.cutoff(objective)

    def settled(self, ended: Status, objective: float, lower_bound: float) -> Status:
        """The status below the target, of a search that ended so."""
        return gap.settled(ended, self.target(objective), self._kept(objective, lower_bound), self.rel_gap)

    def claim(self, objective: float, lower_bound: float) -> float:
        """The bound as it is reported: `lower_bound` less the margin, never above the objective."""
        if self.blind:
            return self.floor
        return max(reconcile(objective, lower_bound, self.empty) - self.margin(objective), self.floor)

    def enough(self, objective: float) -> float:
        """A bound that closes the gap, and no more than that: what is above it is room for other arithmetic."""
        return gap.enough(self.target(objective), self.rel_gap)

    def _kept(self, objective: float, lower_bound: float) -> float:
        if self.blind:
            return self.floor
        return max(min(lower_bound, self.target(objective)) - self.margin(objective), self.floor)
