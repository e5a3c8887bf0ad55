"""The tree of records of a choice: every bound and every fixing recomputed, and that the leaves cover all sets.

What a record's dual point is worth is the caller's: `base` and the `terms` a_j of all items, such that
``base - sum of terms over S`` is not above the objective of any set S of items that are not out at the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TypeVar

import numpy as np

from parsifal.proof.certificate import FixArray, FloatArray, IntArray
from parsifal.proof.choice import Choice
from parsifal.proof.preconditions import Refused, _in_order, _plain, require
from parsifal.proof.scaled import below, total

_MOST_ROWS = 1 << 40
_WEIGHTS = (2.0**-600, 2.0**600)

Kind = TypeVar("Kind", bound=Choice)


@dataclass(frozen=True, kw_only=True)
class Point:
    """`base` not above, `terms` (one an item; what they are for items that are out does not matter) not below what they
    are in exact arithmetic."""

    base: float
    terms: FloatArray


def plain_choice(certificate: Kind) -> Kind:
    """A copy that holds plain Python numbers and plain int64 and float64 vectors, checked.

    Proves: every array is a vector of finite numbers with the values that were given, every index names an item or a
    record that exists, offsets are in order, parents come before their children, and the numbers of the claim are in
    their ranges.
    """
    cls = type(certificate)
    c = cls(**{field.name: _plain(field.name, str(field.type), certificate) for field in fields(cls)})  # type: ignore[arg-type]
    m = c.price.size
    require(c.gamma > 0 and c.k >= 0 and np.all(c.price >= 0), "gamma, a price or k has the wrong sign")
    require(np.isfinite(c.gamma), "gamma is not finite")
    require(c.objective >= 0, "the objective is negative")
    require(1 <= c.rows <= _MOST_ROWS, "the number of rows is none")
    positive = c.sample_weight[c.sample_weight != 0]
    require(c.sample_weight.size in (0, c.rows), "sample_weight has not one entry a row")
    ordinary = np.all((positive > _WEIGHTS[0]) & (positive < _WEIGHTS[1]))
    require(ordinary, "a sample weight is negative or beyond what can be checked")
    require(
        c.complete,
        "the certificate holds the claim only: its proof was larger than its limit, or the time was up before it",
    )
    require(c.records > 0, "the proof has no records")
    require(c.choice.size == c.side.size == c.records, "choice or side has not one entry a record")
    offsets_fit = c.fixed_offset.size == c.records + 1 and _in_order(c.fixed_offset, c.fixed_choice)
    require(offsets_fit, "fixed_offset is not in order")
    for name in ("support", "forced_in", "forced_out"):
        require(within(getattr(c, name), 0, m), f"{name} names an item that is not there")
    require(within(c.choice, -1, m), "choice names an item that is not there")
    fixed = within(c.fixed_choice, -m, m + 1) and np.all(c.fixed_choice != 0)
    require(fixed, "fixed_choice names an item that is not there")
    require(c.parent[0] == -1, "the first record is not the root")
    require(np.all((c.parent[1:] >= 0) & (c.parent[1:] < np.arange(1, c.records))), "a record comes before its parent")
    require(np.unique(c.support).size == c.support.size, f"the support names one of the {c.items} twice")
    require(c.support.size <= c.k, f"the support has {c.support.size} {c.items}, more than k = {c.k}")
    require(np.isin(c.forced_in, c.support).all(), "what is forced in is not in the support")
    require(not np.isin(c.forced_out, c.support).any(), "what is forced out is in the support")
    return c


def within(values: IntArray, low: int, high: int) -> bool:
    """Whether all are at least `low` and below `high`."""
    return bool(np.all((values >= low) & (values < high)))


def weighted_rows(c: Choice) -> FloatArray | None:
    """What the rows are multiplied by, or None."""
    return np.sqrt(c.sample_weight) if c.sample_weight.size else None


class ChoiceTree:
    """Walks the records from the root to the leaves.

    Parameters
    ----------
    c : Choice
        A `plain_choice`.
    price : array
        The prices in the units of the bounds, not above what they are.
    point : callable
        The dual point of a record, given what is fixed there.
    claim : float
        What every leaf and every fixing has to reach; -inf: nothing, `least` is what they reach.
    """

    def __init__(self, c: Choice, price: FloatArray, point: Callable[[int, FixArray], Point], claim: float) -> None:
        self.c, self.price, self.point, self.claim = c, price, point, claim
        self.least = np.inf
        self.children: list[list[int]] = [[] for _ in range(c.records)]
        for record in range(1, c.records):
            self.children[int(c.parent[record])].append(record)

    def verify(self) -> None:
        """Proves: every set that respects what is forced has an objective of at least the claim, and of `least`."""
        c = self.c
        start = np.zeros(c.price.size, dtype=np.int8)
        start[c.forced_in] = 1
        require(not np.any(start[c.forced_out]), "an item is forced in and out")
        start[c.forced_out] = -1
        stack: list[tuple[int, FixArray, float]] = [(0, start, -np.inf)]
        while stack:
            record, fix, bound = stack.pop()
            fix, bound = self.visit(record, fix, bound)
            stack.extend(self.check_children(record, fix, bound))

    def visit(self, r: int, fix: FixArray, inherited: float) -> tuple[FixArray, float]:
        """The fixes after record r's fixings, and its bound on the sets that agreed with `fix` before them.

        Proves: with the items in, and the largest positive terms of the free ones for the places that are left,
        ``base - sum of terms`` is not above any objective; nor is the parent's bound, nor the price of the items in
        (alpha = 0: every other part of the objective is nonnegative).
        """
        c, point = self.c, self.point(r, fix)
        inside = fix == 1
        room = max(c.k - int(np.count_nonzero(inside)), 0)
        free = np.sort(point.terms[(fix == 0) & ~(point.terms <= 0)])[::-1]
        own = total(point.base, *(-point.terms[inside]), *(-free[:room]))
        bound = max(inherited, own, self.price_of(np.flatnonzero(inside)))
        fixed = c.fixed_choice[c.fixed_offset[r] : c.fixed_offset[r + 1]]
        if fixed.size:
            fix = self.fix_items(r, fixed, fix, point.terms, free=free, room=room, own=own, bound=bound)
        return fix, bound

    def price_of(self, items: IntArray) -> float:
        """The largest double that is not above the sum of their prices."""
        exact = sum((Fraction(price) for price in self.price[items].tolist()), Fraction(0))
        price = float(exact)
        return below(price) if Fraction(price) > exact else price

    def fix_items(
        self,
        r: int,
        fixed: IntArray,
        fix: FixArray,
        terms: FloatArray,
        *,
        free: FloatArray,
        room: int,
        own: float,
        bound: float,
    ) -> FixArray:
        """The fixes with those of record r.

        Proves: sets with an item that is fixed out, or without one that is fixed in, are not below the claim. Putting
        an item in displaces the last of those that were chosen; putting it out lets the next one in. With no place left
        no set has a further item.
        """
        j = np.abs(fixed) - 1
        require(np.all(fix[j] == 0) and np.unique(j).size == j.size, f"record {r} fixes an item that is not free")
        last_in = float(free[room - 1]) if 0 < room <= free.size else 0.0
        best_out = float(free[room]) if free.size > room else 0.0
        for item, into in zip(j.tolist(), (fixed > 0).tolist()):
            value = float(terms[item])
            chosen = room > 0 and value > 0 and value >= last_in
            if into:
                other = total(own, value, -best_out) if chosen else own
            elif room == 0:
                other = np.inf
            else:
                other = own if chosen else total(own, last_in, -value)
            # In this order what is no number proves nothing.
            reached = max(bound, other)
            self.least = min(self.least, reached)
            if not reached >= self.claim:
                raise Refused(f"record {r} fixes item {item}, but the other choice may be below the claim")
        fix = fix.copy()
        fix[j] = np.sign(fixed)
        return fix

    def check_children(self, r: int, fix: FixArray, bound: float) -> Iterable[tuple[int, FixArray, float]]:
        """Proves: the sets of record r are those of its children, and others that are not below the claim.

        One child without a decision stands for all of them; two stand for those with an item and those without; a side
        without a child is bounded by the record itself, or has more than k items in, as no set has.
        """
        c, children = self.c, self.children[r]
        if len(children) == 1 and c.choice[children[0]] == -1:
            return [(children[0], fix, bound)]
        if not children:
            self.close(fix, bound, f"record {r} is a leaf below the claim {c.lower_bound!r}")
            return []
        choices, sides = c.choice[children], c.side[children]
        j = int(choices[0])
        splits = j >= 0 and np.all(choices == j) and sorted(sides.tolist()) in ([-1, 1], [-1], [1])
        require(splits, f"the children of record {r} do not split one item")
        require(fix[j] == 0, f"record {r} branches on item {j}, which is not free")
        child, found = dict(zip(sides.tolist(), children)), []
        for side in (1, -1):
            after = fix.copy()
            after[j] = side
            if side in child:
                found.append((child[side], after, bound))
            else:
                self.close(after, bound, f"record {r} has no child that puts item {j} {'in' if side > 0 else 'out'}")
        return found

    def close(self, fix: FixArray, bound: float, reason: str) -> None:
        """Sets that nothing further is said about: there are none, or the bound has to reach the claim."""
        if int(np.count_nonzero(fix == 1)) <= self.c.k:
            self.least = min(self.least, bound)
            require(bound >= self.claim, reason)
