"""The gap: when an answer counts as proven, and what a search need not look at. Every method ends here.

Two questions, two rules. *Is it proven?* Only if ``objective - lower_bound <= rel_gap * objective`` (`closes`); the
word "optimal" means that and nothing else. *Is it worth a look?* Only what is below the incumbent by nearly the gap
that is allowed, or by what double precision resolves for these data (`cutoff`): where a fit is perfect up to rounding,
a tree that looked for less would not end. A search that ends for the second reason alone has status "precision".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

from parsifal.errors import NumericalError

Status = Literal["optimal", "precision", "gap_open", "node_limit", "time_limit", "interrupted"]

# The worse, the later.
_ORDER: tuple[Status, ...] = ("optimal", "precision", "gap_open", "node_limit", "time_limit", "interrupted")
_RESOLUTION = 1e-14  # of y'y: differences of objectives below it are rounding, about
# How the allowed gap is used. Pruning takes the first part; the claim keeps the second as a distance from what was
# computed, so that a check in other arithmetic reaches it; the last roundings fit into the rest.
PRUNE = 0.9
_MARGIN = 0.09
# A bound with this share of the gap used up closes it, whatever the last roundings do.
_ENOUGH = 0.99
# Safe fixing before a master problem takes less: the backend's tolerances need some of the rest.
PRUNE_BEFORE_MASTER = 0.8
# Of 1/2 y'y: an open rest below this is rounding that nobody needs to be warned of.
_NEGLIGIBLE = 1e-9


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / |objective|; 0 where the bound is not below, infinite where this is no number."""
    if not math.isfinite(objective) or math.isnan(lower_bound):
        return math.inf
    difference = objective - lower_bound
    if difference <= 0:
        return 0.0
    return difference / abs(objective) if objective else math.inf


def closes(objective: float, lower_bound: float, rel_gap: float) -> bool:
    """Whether the two are finite and as close as asked for, relative to the objective: the only meaning of "optimal".

    A plain comparison of numbers: nothing is added for rounding.
    """
    finite = math.isfinite(objective) and math.isfinite(lower_bound)
    return finite and relative_gap(objective, lower_bound) <= rel_gap


def resolution(y: Any) -> float:
    """The difference of two objectives that double precision does not resolve: for pruning, never for a claim."""
    return resolution_of(float(y @ y))


def resolution_of(size: float) -> float:
    """The same, from the size of the numbers that objectives are differences of."""
    return _RESOLUTION * size


def beyond_rounding(y: Any) -> float:
    """A difference of objectives that no rounding of a few of them makes up for."""
    return 100 * resolution(y)


def allowance(objective: float, *, rel_gap: float, resolution: float) -> float:
    """How far below an objective the search may stop looking."""
    return max(rel_gap * abs(objective), resolution)


def pruning(*, rel_gap: float, resolution: float, share: float = PRUNE) -> tuple[float, float]:
    """`cutoff` as a solver takes it: the relative and the absolute gap at which it may stop."""
    return share * rel_gap, share * resolution


def cutoff(objective: float, *, rel_gap: float, resolution: float, share: float = PRUNE) -> float:
    """The value below which a solution counts as better than the incumbent; `share` of what is allowed is used up."""
    relative, absolute = pruning(rel_gap=rel_gap, resolution=resolution, share=share)
    return objective - allowance(objective, rel_gap=relative, resolution=absolute)


def margin(objective: float, *, rel_gap: float, resolution: float) -> float:
    """What a claim keeps below what was computed."""
    return _MARGIN * allowance(objective, rel_gap=rel_gap, resolution=resolution)


def enough(objective: float, rel_gap: float) -> float:
    """A bound that closes the gap, and hardly more than that."""
    return objective - _ENOUGH * rel_gap * abs(objective)


def settled(ended: Status, objective: float, lower_bound: float, rel_gap: float) -> Status:
    """The status in the end.

    Parameters
    ----------
    ended : Status
        Why the search ended; "optimal" if nothing is left to search.
    objective, lower_bound, rel_gap : float
        What will be reported.
    """
    if ended == "interrupted":
        # Whoever pressed Ctrl-C wants the rest of a path or a list to end as well.
        return ended
    if closes(objective, lower_bound, rel_gap):
        return "optimal"
    return "precision" if ended == "optimal" else ended


def worst(statuses: Iterable[Status]) -> Status:
    """The status of several solves together."""
    return max(statuses, key=_ORDER.index, default="optimal")


def hold(status: Status, objective: float, lower_bound: float, rel_gap: float) -> None:
    """Refuse an answer that calls itself optimal without being so."""
    if status == "optimal" and not closes(objective, lower_bound, rel_gap):
        raise NumericalError(
            f"objective {float(objective)!r} and lower bound {float(lower_bound)!r} do not close the gap of "
            f"{rel_gap:g}, but the status is 'optimal'; this is a fault of the solver: please report it"
        )


def negligible(objective: float, lower_bound: float, empty: float) -> bool:
    """Whether an open rest is nothing but rounding, `empty` being 1/2 y'y: as for a fit that is perfect."""
    return objective - lower_bound <= _NEGLIGIBLE * empty


def precision_note(empty: float | None) -> str:
    """What "precision" means and what helps, in words; `empty` is 1/2 y'y where it is known."""
    size = "" if empty is None else f" = {empty:.3g}"
    return (
        f"proven as far as double precision reaches: the rest of the gap is rounding of 1/2 y'y{size}; "
        "centre y (fit_intercept=True) or rescale the columns"
    )
