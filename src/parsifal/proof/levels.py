"""Few columns: their sets level by level, all sets of a level at once (for `completions.py`).

A row is a set of columns that is in, by elimination, and candidates that may follow it. From row to row the same is
done to small matrices, so that it is done to all of them in a few calls of NumPy: what is left of b and G is bounded as
`completions.py` says, and every lead of a row is a row of the next level, with the candidates that come after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from parsifal.proof.certificate import BoolArray, FloatArray, IntArray
from parsifal.proof.scaled import unit
from parsifal.proof.together import LITTLE, SAFE, places, ranked
from parsifal.proof.whole import whole_leads

# Numbers of a level's matrices that are looked at at once.
_AT_ONCE = 1 << 17
# Where the places are more than this part of the columns, no set of them is bounded better than all of them are.
_MANY_PLACES = 3


class Trying(Protocol):
    """What is asked of `Completions`: to try what no bound closes, from the data or column by column."""

    paid: FloatArray
    blur: float

    def spend(self, places: int = 1) -> None: ...
    def try_set(self, index: IntArray) -> None: ...
    def go_through(self, inside: IntArray, free: IntArray, room: int) -> None: ...
    def explore(
        self, inside: IntArray, columns: IntArray, b: FloatArray, G: FloatArray, most: float, room: int
    ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Level:
    """Rows, each with what is left of the problem of its candidates, up to `room` of which may follow.

    Attributes
    ----------
    chosen : int array of shape (rows, columns in)
    among : bool array of shape (rows, columns)
        The candidates; the others' part of `left` and `inner` means nothing.
    left, inner : arrays of shape (rows, columns) and (rows, columns, columns)
        What is left of b and of G.
    rest : array of shape (rows,)
        What candidates may take off, their price paid.
    room : int
    """

    chosen: IntArray
    among: BoolArray
    left: FloatArray
    inner: FloatArray
    rest: FloatArray
    room: int

    def rows(self, which: IntArray | BoolArray | slice) -> Level:
        """Some of the rows."""
        return Level(
            chosen=self.chosen[which],
            among=self.among[which],
            left=self.left[which],
            inner=self.inner[which],
            rest=self.rest[which],
            room=self.room,
        )


class Levels:
    """Goes through the sets of few columns beside a place, none of which have signs or side constraints."""

    def __init__(self, trying: Trying, inside: IntArray, columns: IntArray) -> None:
        self.trying, self.inside, self.columns = trying, inside, columns
        self.paid, self.blur = trying.paid[columns], trying.blur

    def close(self, b: FloatArray, G: FloatArray, most: float, room: int) -> None:
        """Proves: no set of 2 to `room` of the columns takes more than `most` off, or it is not below the target.

        Single columns have been tried.
        """
        level = Level(
            chosen=np.zeros((1, 0), dtype=np.int64),
            among=np.ones((1, b.size), dtype=bool),
            left=b[None, :],
            inner=G[None],
            rest=np.array([most]),
            room=min(room, b.size),
        )
        self.go_down(level)

    def go_down(self, level: Level) -> None:
        """Proves: of no row does a set of up to `room` candidates, at least two, take too much off, or with the columns
        of the row it is not below the target."""
        if level.room == 2:
            self.pairs(level)
        if level.room <= 2:
            return
        order, leads, level = self.leads(level)
        candidate = level.among[np.arange(order.shape[0])[:, None], order]
        row, rank = np.nonzero((np.arange(order.shape[1]) < leads[:, None]) & candidate)
        step = max(1, _AT_ONCE // self.columns.size**2)
        for start in range(0, row.size, step):
            at, place = row[start : start + step], rank[start : start + step]
            self.go_down(self.put_in(level, at, order, place))

    def put_in(self, level: Level, at: IntArray, order: IntArray, place: IntArray) -> Level:
        """Rows of the next level: the lead at a place of the order of each row `at`, and the candidates after it.

        Rows that cannot go on as numbers, or are below what they may be themselves, are tried from the data and left
        out, and so are sets of a row and one candidate that take too much off.
        """
        self.trying.spend(at.size)
        lead, number = order[at, place], np.arange(at.size)
        rank = places(order)
        among = level.among[at] & (rank[at] > place[:, None])
        inner, left = level.inner[at], level.left[at]
        row = inner[number, lead]
        pivot, taken = row[number, lead], left[number, lead]
        stepped = row / pivot[:, None]
        below = Level(
            chosen=np.column_stack([level.chosen[at], lead]),
            among=among,
            left=left - stepped * taken[:, None],
            inner=inner - stepped[:, :, None] * row[:, None, :],
            rest=level.rest[at] - taken * taken / pivot + self.paid[lead],
            room=level.room - 1,
        )
        square = np.einsum("sii->si", below.inner)
        flat = (among & ~(square >= LITTLE)).any(axis=1)
        for i in np.flatnonzero(flat):
            # One of the candidates is nearly in the span: column by column, some from the data.
            kept = np.flatnonzero(among[i])
            matrix = below.inner[i][kept][:, kept]
            self.trying.explore(
                self.of(below.chosen[i]),
                self.columns[kept],
                below.left[i, kept],
                matrix,
                float(below.rest[i]),
                below.room,
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = below.left**2 / square * SAFE - self.paid
        beyond = among & ~(alone <= below.rest[:, None]) & ~flat[:, None]
        for i, j in zip(*np.nonzero(beyond)):
            self.trying.try_set(np.append(self.of(below.chosen[i]), self.columns[j]))
        return below.rows(~flat)

    def of(self, chosen: IntArray) -> IntArray:
        """The columns in of a row, with those of the place."""
        return np.concatenate([self.inside, self.columns[chosen]])

    def leads(self, level: Level) -> tuple[IntArray, IntArray, Level]:
        """For every row an order of the columns, and how many of the first make the rest of the candidates take off too
        little; and the rows with fewer candidates, where some do not reach it with the best others."""
        m, rows = self.columns.size, level.rest.size
        order, some = np.tile(np.arange(m), (rows, 1)), np.full(rows, m)
        if _MANY_PLACES * level.room < m:
            order, kept, some = ranked(self.worth(level), level.rest, level.room, level.among)
            reaching = np.zeros_like(level.among)
            reaching[np.arange(rows)[:, None], order] = np.arange(m) < kept[:, None]
            still = np.flatnonzero(some)
            order, some = order[still], some[still]
            level = replace(level.rows(still), among=reaching[still])
        # Columns that are no candidates any more have nothing to do with the others, or with b.
        among = level.among
        G = np.where(among[:, :, None] & among[:, None, :], level.inner, np.eye(m))
        whole, count, known = whole_leads(np.where(among, level.left, 0.0), G, level.rest)
        better = known & (count < some)
        return np.where(better[:, None], whole, order), np.where(better, count, some), level

    def worth(self, level: Level) -> FloatArray:
        """What a candidate takes off at most, its price paid, beside up to `room` - 1 others: diagonal dominance, as in
        `Completions.curvature`."""
        m, among = self.columns.size, level.among
        square = np.einsum("sii->si", level.inner)
        scale = np.where(among, 1 / np.sqrt(np.where(among, square, 1.0)), 0.0)
        cosines = np.abs(level.inner) * scale[:, :, None] * scale[:, None, :]
        cosines[:, np.arange(m), np.arange(m)] = 0.0
        others = level.room - 1
        total = np.partition(cosines, m - others, axis=2)[:, :, m - others :].sum(axis=2)
        curvature = square * (1 - total * (1 + unit(others + 8)) - unit(8)) - self.blur
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(curvature > 0, level.left**2 * SAFE / curvature, np.inf) - self.paid)

    def pairs(self, level: Level) -> None:
        """`go_down` for two candidates: one goes in by elimination, and the other has a closed form."""
        m, among = self.columns.size, level.among
        square = np.einsum("sii->si", level.inner)
        first = np.where(among, square, 1.0)
        step = level.inner / first[:, :, None]
        left = level.left[:, None, :] - step * level.left[:, :, None]
        beside = square[:, None, :] - step * level.inner
        rest = level.rest[:, None] - level.left**2 / first + self.paid
        closed = left * left * SAFE <= (rest[:, :, None] + self.paid) * beside
        closed &= beside >= LITTLE
        wanted = among[:, :, None] & among[:, None, :] & (np.arange(m)[:, None] < np.arange(m))
        open_pairs = wanted & ~closed
        for i, j in zip(*np.nonzero(open_pairs.any(axis=2))):
            inside = np.append(self.of(level.chosen[i]), self.columns[j])
            self.trying.go_through(inside, self.columns[open_pairs[i, j]], 1)
