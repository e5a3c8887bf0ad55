"""Single supports: which count, and that none of them has an objective below a target (for `completions.py`)."""

from __future__ import annotations

import numpy as np

from parsifal.proof.certificate import Certificate, FloatArray, IntArray
from parsifal.proof.place import Place
from parsifal.proof.preconditions import Refused
from parsifal.proof.scaled import Scaled, unit
from parsifal.proof.side_rows import SideRows
from parsifal.proof.signed_value import signed_value


class OutOfEffort(Exception):
    """More would have to be tried than was allowed; nothing is known then."""


class Supports:
    """Which supports count, and whether their objectives are below a target.

    Parameters
    ----------
    c : Certificate
        A `plain` one.
    data : Scaled
        Its problem.
    target : float
        What no objective may be below, in scaled units.
    strict : bool
        Whether an objective below the target ends it (`Refused`); otherwise the target is lowered to what is known of
        the objective.
    effort : float
        How many places may be looked at before it is given up (`OutOfEffort`).
    """

    def __init__(
        self, c: Certificate, data: Scaled, *, target: float, strict: bool, effort: float = float("inf")
    ) -> None:
        self.c, self.data, self.target, self.strict, self.effort = c, data, target, strict, effort
        self.paid, self.sign, self.rows = 2 * data.price, data.sign, SideRows(c)
        self.signed, self.ruled = bool(np.any(data.sign)), self.rows.upper.size > 0
        # What the elimination can do to the least eigenvalue of a set's matrix, and more.
        self.blur = unit(64) * (min(c.k, c.shape[1]) + 1) ** 2
        self.forced = set(c.forced_in.tolist())
        self.held: IntArray = np.zeros(0, dtype=np.int64)
        self.block: FloatArray = np.zeros((c.shape[0], 0))

    def allowed(self, inside: IntArray, free: IntArray) -> IntArray | None:
        """The columns of `free` that a support of `inside` and of them may have by the side constraints; None if there
        is no such support."""
        if not self.ruled:
            return free
        fix = np.full(self.c.shape[1], -1, dtype=np.int8)
        fix[free] = 0
        fix[inside] = 1
        return free[fix[free] >= 0] if self.rows.imply(fix) else None

    def spend(self, places: int = 1) -> None:
        """So many more places are looked at."""
        self.effort -= places
        if self.effort < 0:
            raise OutOfEffort

    def settle(self, place: Place) -> bool:
        """Proves: the columns of the place alone are not below the target, or no support that counts has them.

        Returns whether supports with more columns are to be looked at.
        """
        value = place.value()
        if value >= self.target and place.rest > 0:
            return True
        if not self.independent(place.index):
            return False
        if not value >= self.target and place.rest > -np.inf:
            if self.ruled and not self.rows.allow(place.index):
                return True
            if self.signed:
                value = max(value, signed_value(place))
                if value >= self.target:
                    return True
        if not value >= self.target:
            if self.strict:
                support, known = np.sort(place.index).tolist(), self.data.in_units(value)
                raise Refused(
                    f"an exhausted record has the support {support}, of whose objective no more is known than that it "
                    f"is at least {known!r}, below the claim {self.c.lower_bound!r}"
                )
            self.target = value
        # No support with more columns costs less than these do.
        return self.data.price_of(place.index) < self.target

    def try_set(self, index: IntArray) -> None:
        """Proves: this support is not below the target, or it does not count."""
        if self.ruled and not self.rows.allow(index):
            return
        place = Place(self.data, index)
        # Where the signs keep it from the target, whether it counts, which takes longer to say, does not matter.
        low = self.signed and not place.value() >= self.target and place.rest > -np.inf
        if not (low and signed_value(place) >= self.target):
            self.settle(place)

    def independent(self, index: IntArray) -> bool:
        """False only if a column that is not forced in is within `independence` of the span of the others.

        Proof: the distance is at most the length of x_j - A U for any U, with some of the others in A or all.
        """
        if self.c.independence <= 0 or not self._nearly_dependent(index):
            return True
        forced = np.isin(index, self.c.forced_in)
        if any(self._within(j, index[index != j]) for j in index[~forced]):
            return False
        # Where the others depend on each other themselves, nothing is known of their span, but of that of some.
        some: list[int] = []
        for j in np.concatenate([index[forced], index[~forced]]):
            if not self._within(j, np.array(some, dtype=np.int64)):
                some.append(int(j))
            elif j not in self.c.forced_in:
                return False
        return True

    def _within(self, j: int, others: IntArray) -> bool:
        """True only if column j is within `independence` of the span of the others."""
        one = np.array([j])
        spread = Place(self.data, others).spread(one, self.data.X.take(one), 1, self.c.independence)
        return spread.dependent.size > 0

    def _nearly_dependent(self, index: IntArray) -> bool:
        """Whether to ask: columns of unit length are at least the least singular value from the span of the others."""
        block = self.data.X.take(index)
        norms = np.linalg.norm(block, axis=0)
        if index.size == 0 or not norms.all():
            return index.size > 0
        return bool(np.linalg.svd(block / norms, compute_uv=False)[-1] < 1e-3 or index.size > self.data.n)

    def gather(self, columns: IntArray) -> FloatArray:
        """The data of these columns, read once for the widest set."""
        if not np.isin(columns, self.held).all():
            self.held, self.block = columns, self.data.X.take(columns)
        same = columns.size == self.held.size
        return self.block if same else self.block[:, np.searchsorted(self.held, columns)]
