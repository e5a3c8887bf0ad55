"""Many sets of columns eliminated at once, a row each, and which columns reach what is left (for `completions.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsifal.proof.certificate import BoolArray, FloatArray, IntArray
from parsifal.proof.scaled import unit

# What `ranked` returns.
Ranked = tuple[IntArray, IntArray, IntArray]

# Of a unit column: below, what is left of it is computed from the data.
LITTLE = 1e-7
SAFE = 1 + unit(64)
# What a column that a row is not about is worth: less than nothing.
_NOTHING = 1e305
# Up to so many largest numbers are found one after the other.
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class Together:
    """Sets of columns of a problem (b, G), each put in by elimination, and what is left of the problem beside them.

    Attributes
    ----------
    paid, sign : arrays of shape (columns,)
        Twice the price of every column, and the sign that its coefficient must have, 0 if any.
    most : float
        What a set may take off, its price paid.
    chosen : int array of shape (sets, columns in)
    left, square : arrays of shape (sets, columns)
        What is left of b and of the diagonal.
    rest : array of shape (sets,)
        What columns more may take off, their price paid.
    sure : bool array of shape (sets,)
        Whether all pivots were large enough: otherwise the numbers mean nothing.
    steps, rows : lists of arrays of shape (sets, columns)
        Rows of the factor, divided by their pivots and not: what is left of G_ij is G_ij less the sum of step_i row_j.
    """

    b: FloatArray
    G: FloatArray
    paid: FloatArray
    sign: IntArray
    most: float
    chosen: IntArray
    left: FloatArray
    square: FloatArray
    rest: FloatArray
    sure: BoolArray
    steps: tuple[FloatArray, ...] = ()
    rows: tuple[FloatArray, ...] = ()

    @classmethod
    def empty(cls, b: FloatArray, G: FloatArray, paid: FloatArray, sign: IntArray, most: float) -> Together:
        """One set, without columns."""
        return cls(
            b=b,
            G=G,
            paid=paid,
            sign=sign,
            most=most,
            chosen=np.zeros((1, 0), dtype=np.int64),
            left=b[None, :],
            square=G.diagonal()[None, :],
            rest=np.array([most]),
            sure=np.ones(1, dtype=bool),
        )

    def put_in(self, sets: IntArray, columns: IntArray) -> Together:
        """A column more: for each of these `sets` (each as often as it is named) one of `columns`."""
        row = self.G[columns]
        steps, rows = tuple(old[sets] for old in self.steps), tuple(old[sets] for old in self.rows)
        at = np.arange(sets.size)
        for step, old in zip(steps, rows):
            row -= step[at, columns][:, None] * old
        pivot, taken = self.square[sets, columns], self.left[sets, columns]
        enough = np.maximum(pivot, LITTLE)
        step = row / enough[:, None]
        return Together(
            b=self.b,
            G=self.G,
            paid=self.paid,
            sign=self.sign,
            most=self.most,
            chosen=np.column_stack([self.chosen[sets], columns]),
            left=self.left[sets] - step * taken[:, None],
            square=self.square[sets] - step * row,
            rest=self.rest[sets] - taken * taken / enough + self.paid[columns],
            sure=self.sure[sets] & (pivot >= LITTLE),
            steps=(*steps, step),
            rows=(*rows, row),
        )

    def closed(self) -> BoolArray:
        """Where a set with one column more takes no more off than it may."""
        reached = reach(self.left, self.sign)
        closed = reached * reached * SAFE <= (self.rest[:, None] + self.paid) * self.square
        closed &= self.square >= LITTLE
        closed &= self.sure[:, None]
        np.put_along_axis(closed, self.chosen, True, axis=1)
        return np.asarray(closed)

    def one_is_zero(self) -> BoolArray:
        """For sets of one column: where it and another take no more off than they may since one coefficient is zero.

        Proof: if the best coefficients of two columns without signs have a wrong sign, the best ones with signs are on
        the border, one of them zero, and the two take off what one of them does. The coefficients without signs are
        b_i G_jj - G_ij b_j and b_j G_ii - G_ij b_i times a positive number.
        """
        one = self.chosen[:, 0]
        g, d = self.G[one], self.G.diagonal()
        alone = reach(self.b, self.sign) ** 2 / d * SAFE
        wrong = np.zeros(g.shape, dtype=bool)
        for first, second, sign in (
            (np.outer(self.b[one], d), g * self.b, self.sign[one][:, None]),
            (np.outer(d[one], self.b), g * self.b[one][:, None], self.sign),
        ):
            wrong |= sign * (first - second) < -unit(32) * (np.abs(first) + np.abs(second))
        allowance = self.most + self.paid[one][:, None] + self.paid
        curved = (self.square >= LITTLE) & self.sure[:, None]
        return np.asarray(curved & wrong & (np.maximum(alone[one][:, None], alone) <= allowance))

    def inner(self, at: int, kept: IntArray) -> FloatArray:
        """What is left of G beside one of the sets, of the columns that are kept."""
        inner = part(self.G, kept)
        for step, row in zip(self.steps, self.rows):
            inner -= np.outer(step[at, kept], row[at, kept])
        return inner

    def curvature(self, among: BoolArray, largest: FloatArray, others: int) -> FloatArray:
        """D for what is left of the columns: the matrix left of a set T of the columns `among`, each with at most
        `others` others, less diag(D_T) is diagonally dominant.

        Proof: what is left of G_ij is in size at most |G_ij| + sum of |step_i row_j|, and the step is the row divided
        by its pivot; `largest` is the sum of the so many largest |G_ij| of each column.
        """
        sums = np.broadcast_to(largest, self.square.shape)
        for step, row in zip(self.steps, self.rows):
            step, row = np.abs(step), np.abs(row) * among
            sums = sums + step * np.sum(np.partition(row, row.shape[1] - others, axis=1)[:, -others:], axis=1)[:, None]
        return np.asarray(self.square - sums * (1 + unit(64)))


def reach(b: FloatArray, sign: IntArray) -> FloatArray:
    """b, or what counts of it where coefficients have signs."""
    return np.asarray(np.where(sign == 0, b, np.maximum(sign * b, 0.0))) if sign.any() else b


def cosines_of(G: FloatArray, d: FloatArray) -> FloatArray:
    """|G_ij| / sqrt(G_ii G_jj), and 0 on the diagonal."""
    cosines, scale = np.abs(G), 1 / np.sqrt(d)
    cosines *= scale
    cosines *= scale[:, None]
    np.fill_diagonal(cosines, 0.0)
    return cosines


def part(G: FloatArray, kept: IntArray) -> FloatArray:
    """The rows and columns that are kept; one after the other is faster than both at once."""
    return np.asarray(G[kept].take(kept, axis=1))


def largest(cosines: FloatArray, count: int) -> FloatArray:
    """The `count` largest of every column of a symmetric matrix, a row each."""
    count = min(count, max(cosines.shape[0] - 1, 1))
    if count > _FEW:
        return np.asarray(np.partition(cosines, cosines.shape[0] - count, axis=1)[:, -count:].T)
    rest, at, found = cosines, np.arange(cosines.shape[0]), []
    for place in range(count):
        where = rest.argmax(axis=1)
        found.append(rest[at, where])
        if place < count - 1:
            rest = rest.copy() if place == 0 else rest
            rest[at, where] = -1.0
    return np.array(found)


def leads(worth: FloatArray, most: float, room: int) -> tuple[IntArray, IntArray]:
    """The columns that reach `most` with the `room` - 1 best others, and those of them, the worthiest first, without
    which the rest do not reach it."""
    order, kept, some = ranked(worth[None, :], most, room)
    return order[0, : kept[0]], order[0, : some[0]]


def ranked(worth: FloatArray, most: float | FloatArray, room: int, among: BoolArray | None = None) -> Ranked:
    """For every row the columns in order, the worthiest first; how many of them reach `most` with the `room` - 1 best
    others; and how many of these it takes until the rest do not reach it. `among`: the columns that each row is about.

    A column that is not worth more than one that does not reach `most` does not reach it either, whatever was rounded,
    so those that do are the first ones of a row.
    """
    worth = np.where(np.isnan(worth), np.inf, worth)
    if among is not None:
        worth[~among] = -_NOTHING
    limit = np.full(worth.shape[0], most)[:, None] if np.ndim(most) == 0 else np.asarray(most)[:, None]
    order = np.argsort(-worth, axis=1, kind="stable")
    values = worth[np.arange(worth.shape[0])[:, None], order]
    out = values == -_NOTHING
    positive = np.maximum(values, 0.0)
    values += positive[:, : room - 1].sum(axis=1, keepdims=True)
    out |= values + unit(room + 8) * np.abs(values) <= limit
    kept = np.where(out.any(axis=1), out.argmax(axis=1), out.shape[1])
    positive[out] = 0.0
    sums = positive.copy()
    for place in range(1, room):
        sums[:, :-place] += positive[:, place:]
    enough = sums * SAFE <= limit
    some = np.where(enough.any(axis=1), enough.argmax(axis=1), kept)
    return order, kept, np.minimum(some, kept)


def places(order: IntArray) -> IntArray:
    """Where each column is in the order of its row."""
    place = np.empty_like(order)
    place[np.arange(order.shape[0])[:, None], order] = np.arange(order.shape[1])
    return place


def each(sets: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Every one of `sets` as often as its count says, and 0, 1, ... beside it."""
    often = np.repeat(sets, counts)
    return often, np.arange(often.size) - np.repeat(np.cumsum(counts) - counts, counts)
