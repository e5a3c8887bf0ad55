"""Exhausted records: every support at a place has an objective that is not below the claim, found out by trying.

With the columns I in, a set T of up to m free columns takes b_T'G_T^-1 b_T off twice the objective (`place.py`, where
rounding is paid for). Depth first, the strongest columns first:

- one and two columns have closed forms, and all of them are computed;
- G_T is not below diag(D), D_j = G_jj less the m - 1 largest |G_ij|, so T takes off at most the sum of b_j^2 / D_j.
  That closes all sets of columns whose m largest such terms do not reach the claim, and leaves out every column that
  does not reach it with the m - 1 best others;
- columns with a large cosine between them spoil D for all. Pairs of those are tried first, with every third column in
  closed form, and the sets without such a pair have a better D;
- after a column with D_i > 0 goes in, what is left of G_T is not below the rest of diag(D), so the same D gives the
  terms of the children;
- what is left is tried: every set that no bound closes is computed from the data by itself.

Prices are those of single columns. A column of T with a sign has max(0, sign_j b_j) in place of b_j, for its
coefficient is the same before and after the columns in are taken out; those have lost their signs, so that a set that
is tried is fitted with all of its signs (`signed_value.py`). A set that side constraints do not allow is no support.

So the answer is always yes or no, and whoever made the certificate has no part in it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsifal.proof.certificate import Certificate, FloatArray, IntArray
from parsifal.proof.place import Place
from parsifal.proof.preconditions import Refused, require
from parsifal.proof.scaled import Scaled, total, unit
from parsifal.proof.side_rows import SideRows
from parsifal.proof.signed_value import signed_value

FixArray = npt.NDArray[np.int8]

# Columns beside a place, whose products are made.
_MOST_COLUMNS = 8000
# Of a unit column: below, what is left of it is computed from the data.
_LITTLE = 1e-7
# Columns that are tried before the bound on the others is.
_AT_A_TIME = 32
# Cosines above which pairs of columns are tried by themselves, and how many numbers that takes at once.
_CUTS = tuple(0.75 * 0.8**step for step in range(10))
_AT_ONCE = 1 << 18
# A cosine above which what is left of two columns is not bounded by what they were.
_NEAR = 0.95
_SAFE = 1 + unit(64)


class OutOfEffort(Exception):
    """More would have to be tried than was allowed; nothing is known then."""


class Completions:
    """Goes through the supports of places.

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

    def bound(self, fix: FixArray) -> float:
        """Proves: no support that agrees with `fix` and counts has an objective below what is returned.

        That is the target, or less if not strict.
        """
        inside, free = np.flatnonzero(fix == 1), np.flatnonzero(fix == 0)
        self.go_through(inside, free, self.c.k - inside.size)
        return self.target

    def go_through(self, inside: IntArray, free: IntArray, room: int) -> None:
        """Proves: no support of `inside` and up to `room` columns of `free` that counts is below the target.

        No objective is below the price of its columns, so only as many columns have to be looked at as cost less.
        """
        possible = self.allowed(inside, np.sort(free))
        if possible is None:
            return
        free = possible
        room, cheapest = min(room, free.size), free[np.argsort(self.paid[free], kind="stable")]
        while room >= 0 and self.data.price_of(np.concatenate([inside, cheapest[:room]])) >= self.target:
            room -= 1
        if room < 0:
            return
        self.spend()
        place = Place(self.data, inside)
        if not self.settle(place) or room == 0:
            return
        require(free.size <= _MOST_COLUMNS, f"more than {_MOST_COLUMNS} columns are free at an exhausted record")
        spread = place.spread(free, self.gather(free), room, self.c.independence)
        self.one_by_one(inside, spread.unclear, free, room)
        # A set that takes off more, its price paid, is a support below the target.
        most = total(spread.rest, -2 * self.target, 2 * self.data.price_of(inside))
        self.explore(inside, spread.columns, spread.b, spread.G, most, room)

    def allowed(self, inside: IntArray, free: IntArray) -> IntArray | None:
        """The columns of `free` that a support of `inside` and of them may have by the side constraints; None if there
        is no such support."""
        if not self.ruled:
            return free
        fix = np.full(self.c.shape[1], -1, dtype=np.int8)
        fix[free] = 0
        fix[inside] = 1
        return free[fix[free] >= 0] if self.rows.imply(fix) else None

    def reach(self, b: FloatArray, columns: IntArray) -> FloatArray:
        """b, or what counts of it where coefficients have signs."""
        if not self.signed:
            return b
        sign = self.sign[columns]
        return np.asarray(np.where(sign == 0, b, np.maximum(sign * b, 0.0)))

    def spend(self) -> None:
        """One more place is looked at."""
        self.effort -= 1
        if self.effort < 0:
            raise OutOfEffort

    def one_by_one(self, inside: IntArray, some: IntArray, free: IntArray, room: int) -> None:
        """Proves: no support of `inside` and up to `room` columns of `free`, one of `some` among them, that counts is
        below the target. A column that was tried is left out from there on: all sets with it have been looked at."""
        for j in some:
            free = free[free != j]
            self.go_through(np.append(inside, j), free, room - 1)

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
                support, known = np.sort(place.index).tolist(), self.data.told(value)
                raise Refused(
                    f"an exhausted record has the support {support}, of whose objective no more is known than that it "
                    f"is at least {known!r}, below the claim {self.c.lower_bound!r}"
                )
            self.target = value
        return place.rest > 0

    def try_set(self, index: IntArray) -> None:
        """Proves: this support is not below the target, or it does not count."""
        if not self.ruled or self.rows.allow(index):
            self.settle(Place(self.data, index))

    def independent(self, index: IntArray) -> bool:
        """False only if a column that is not forced in is within `independence` of the span of the others.

        Proof: the distance is at most the length of x_j - A U for any U.
        """
        if self.c.independence > 0:
            for j in index[~np.isin(index, self.c.forced_in)]:
                one, others = np.array([j]), Place(self.data, index[index != j])
                if others.spread(one, self.data.X.take(one), 1, self.c.independence).dependent.size:
                    return False
        return True

    def gather(self, columns: IntArray) -> FloatArray:
        """The data of these columns, read once for the widest set."""
        if not np.isin(columns, self.held).all():
            self.held, self.block = columns, self.data.X.take(columns)
        same = columns.size == self.held.size
        return self.block if same else self.block[:, np.searchsorted(self.held, columns)]

    def explore(
        self, inside: IntArray, columns: IntArray, b: FloatArray, G: FloatArray, most: float, room: int
    ) -> None:
        """Proves: no set of up to `room` of the columns takes more than `most` off, or it is not below the target.

        b and G are what is left of the problem of a `Spread` after elimination; the roundings of that change the
        entries by less than the spread has to spare (docs/numerics.md).
        """
        self.spend()
        if self.ruled:
            possible = self.allowed(inside, columns)
            if possible is None:
                return
            kept = np.flatnonzero(np.isin(columns, possible))
            columns, b, G = columns[kept], b[kept], G[np.ix_(kept, kept)]
        d = G.diagonal().copy()
        little = d < _LITTLE
        if little.any():
            self.one_by_one(inside, columns[little], columns, room)
            kept = np.flatnonzero(~little)
            columns, b, G, d = columns[kept], b[kept], G[np.ix_(kept, kept)], d[kept]
        room = min(room, columns.size)
        if room == 0:
            return
        alone = self.reach(b, columns) ** 2 / d * _SAFE
        for j in np.flatnonzero(~(alone - self.paid[columns] <= most)):
            self.try_set(np.append(inside, columns[j]))
        if room == 2:
            self.pairs(inside, columns, b, G, most)
        cut = np.inf
        while room > 2 and columns.size > 1:
            cosines = _cosines(G, d)
            top = _largest(cosines, room - 1)
            if room == 3 and cut == np.inf:
                cut = self.choose_cut(columns, b, d, cosines, top, most)
                if cut < np.inf:
                    self.close_pairs(inside, columns, b, G, most, *np.nonzero(np.triu(cosines > cut)))
            curvature = self.curvature(d, top, cut)
            left, leads = _leads(self.worth(columns, b, curvature), most, room)
            if leads.size == 0:
                return
            leads = leads[:_AT_A_TIME]
            self.children(inside, columns, b, G, most, room, curvature, np.minimum(top, cut), left, leads)
            kept = np.setdiff1d(left, leads)
            columns, b, G, d = columns[kept], b[kept], G[np.ix_(kept, kept)], d[kept]
            room = min(room, columns.size)
            if room == 2:
                self.pairs(inside, columns, b, G, most)

    def curvature(self, d: FloatArray, top: FloatArray, cut: float) -> FloatArray:
        """D for which G_T - diag(D_T) is diagonally dominant for every T none of whose cosines is above `cut`.

        `top` are the largest cosines of each column, as many as T has others; rounded down.
        """
        total_cosine = np.minimum(top, cut).sum(axis=0)
        return np.asarray(d * (1 - total_cosine * (1 + unit(top.shape[0] + 8)) - unit(8)) - self.blur)

    def worth(self, columns: IntArray, b: FloatArray, curvature: FloatArray) -> FloatArray:
        """What a column takes off at most, its price paid; infinite where its curvature is not positive."""
        square = self.reach(b, columns) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(curvature > 0, square * _SAFE / curvature, np.inf) - self.paid[columns])

    def choose_cut(
        self, columns: IntArray, b: FloatArray, d: FloatArray, cosines: FloatArray, top: FloatArray, most: float
    ) -> float:
        """The cosine above which pairs of columns are tried by themselves: the one that seems least work."""
        best, least = np.inf, np.inf
        for cut in (np.inf, *_CUTS):
            left, leads = _leads(self.worth(columns, b, self.curvature(d, top, cut)), most, 3)
            pairs = 0 if cut == np.inf else np.count_nonzero(cosines > cut) // 2
            work = leads.size * float(left.size) ** 2 + 2.0 * pairs * d.size
            if work < least:
                best, least = cut, work
            if leads.size == 0:
                break
        return best

    def close_pairs(
        self,
        inside: IntArray,
        columns: IntArray,
        b: FloatArray,
        G: FloatArray,
        most: float,
        one: IntArray,
        other: IntArray,
    ) -> None:
        """Proves: no set of a pair (`one`, `other`) and up to one column more takes more than `most` off, or it is not
        below the target."""
        d, p, paid = G.diagonal(), columns.size, self.paid[columns]
        step = max(1, _AT_ONCE // p)
        for start in range(0, one.size, step):
            i, j = one[start : start + step], other[start : start + step]
            at = np.arange(i.size)
            first = G[i] / d[i][:, None]
            square = d - first * G[i]
            second = G[j] - first[at, j][:, None] * G[i]
            left, pivot = b - first * b[i][:, None], square[at, j]
            rest = most + paid[i] + paid[j] - b[i] ** 2 / d[i] - left[at, j] ** 2 / np.maximum(pivot, _LITTLE)
            step_two = second / np.maximum(pivot, _LITTLE)[:, None]
            left -= step_two * left[at, j][:, None]
            square -= step_two * second
            square[at, i] = square[at, j] = 1.0
            left[at, i] = left[at, j] = 0.0
            sure = (pivot >= _LITTLE)[:, None] & (square >= _LITTLE)
            closed = sure & (self.reach(left, columns) ** 2 * _SAFE <= (rest[:, None] + paid) * square)
            for pair in np.flatnonzero(~(closed.all(axis=1) & (rest >= 0))):
                two = [i[pair], j[pair]]
                open_ones = ~closed[pair]
                open_ones[two] = False
                self.go_through(np.append(inside, columns[two]), columns[open_ones], 1)

    def children(
        self,
        inside: IntArray,
        columns: IntArray,
        b: FloatArray,
        G: FloatArray,
        most: float,
        room: int,
        curvature: FloatArray,
        top: FloatArray,
        left: IntArray,
        leads: IntArray,
    ) -> None:
        """Proves: no set with one of `leads` and up to `room` - 1 columns of `left`, without the leads before it, takes
        more than `most` off, or it is not below the target; of the sets that `curvature` and `top`, the largest
        cosines of every column, are about."""
        d = G.diagonal()
        fewer = np.sort(top, axis=0)[max(0, top.shape[0] - room + 2) :].sum(axis=0)
        gone = np.zeros(columns.size, dtype=bool)
        for i in leads:
            gone[i] = True
            after = left[~gone[left]]
            step = G[i, after] / d[i]
            below = b[after] - step * b[i]
            rest = most - b[i] * b[i] / d[i] + self.paid[columns[i]]
            left_of = self.left_of(d, G[i], fewer, i, after, room)
            kept, some = _leads(self.worth(columns[after], below, left_of), rest, room - 1)
            if some.size and curvature[i] > 0:
                # What is left of diag(D) bounds what is left of G if the column that goes has a positive D itself.
                others = _leads(self.worth(columns[after], below, curvature[after]), rest, room - 1)
                kept, some = others if others[0].size < kept.size else (kept, some)
            if rest >= 0 and some.size == 0:
                continue
            after, step, below = after[kept], step[kept], below[kept]
            inner = G[np.ix_(after, after)] - np.outer(step, G[i, after])
            self.explore(np.append(inside, columns[i]), columns[after], below, inner, rest, room - 1)

    def left_of(
        self, d: FloatArray, row: FloatArray, fewer: FloatArray, i: int, after: IntArray, room: int
    ) -> FloatArray:
        """D for what is left of the columns `after` once i is in, from the cosines before.

        Proof: with s_j the cosines with i and z_j^2 = 1 - s_j^2, the cosines left are (c_jl - s_j s_l) / (z_j z_l), in
        size at most (|c_jl| + |s_j| |s_l|) / (z_j z_l); `fewer` is the sum of the `room` - 2 largest |c_jl|.
        """
        s = np.abs(row[after]) / np.sqrt(d[i] * d[after])
        largest = float(s.max(initial=0.0)) * (1 + unit(16))
        if largest > _NEAR:
            return np.zeros(after.size)
        z = np.sqrt((1 - s) * (1 + s))
        cosines = (fewer[after] + (room - 2) * s * largest) / (z * np.sqrt(1 - largest * largest))
        return np.asarray(d[after] * z * z * (1 - cosines * (1 + unit(room + 32))) - self.blur)

    def pairs(self, inside: IntArray, columns: IntArray, b: FloatArray, G: FloatArray, most: float) -> None:
        """Proves: no two of the columns take more than `most` off, or they are not below the target."""
        d = G.diagonal()
        top = _largest(_cosines(G, d), 1)
        left, leads = _leads(self.worth(columns, b, self.curvature(d, top, np.inf)), most, 2)
        if leads.size == 0:
            return
        # Of two columns that reach it one is a lead.
        c, e, g = b[left], d[left], G[np.ix_(leads, left)]
        squares = np.outer(d[leads], e)
        determinant = squares - g * g
        sizes = np.outer(b[leads] ** 2, e) + np.outer(d[leads], c * c)
        taken = sizes - 2 * g * np.outer(b[leads], c)
        sure = determinant > _LITTLE * squares
        allowance = most + self.paid[columns[leads]][:, None] + self.paid[columns[left]]
        rounded = taken + unit(32) * sizes <= allowance * (determinant - unit(32) * squares)
        if self.signed:
            rounded |= self.one_is_zero(columns, b, d, g, leads, left, allowance)
        closed = sure & rounded
        position = np.full(columns.size, -1)
        position[left] = np.arange(left.size)
        # Each pair once, and no column with itself.
        order = np.full(left.size, left.size)
        order[position[leads]] = np.arange(leads.size)
        closed |= order[None, :] <= np.arange(leads.size)[:, None]
        for i, j in zip(*np.nonzero(~closed)):
            self.try_set(np.append(inside, [columns[leads[i]], columns[left[j]]]))

    def one_is_zero(
        self,
        columns: IntArray,
        b: FloatArray,
        d: FloatArray,
        g: FloatArray,
        one: IntArray,
        other: IntArray,
        allowance: FloatArray,
    ) -> npt.NDArray[np.bool_]:
        """Pairs whose best coefficients without signs have a wrong one, and that take no more than is allowed.

        Proof: then the best coefficients with signs are on the border, one of them zero, and the pair takes off what
        one of the two does. The coefficients are b_i G_jj - g b_j and b_j G_ii - g b_i times a positive number.
        """
        alone = self.reach(b, columns) ** 2 / d * _SAFE
        wrong = np.zeros(g.shape, dtype=bool)
        for first, second, sign in (
            (np.outer(b[one], d[other]), g * b[other], self.sign[columns[one]][:, None]),
            (np.outer(d[one], b[other]), g * b[one][:, None], self.sign[columns[other]][None, :]),
        ):
            wrong |= sign * (first - second) < -unit(32) * (np.abs(first) + np.abs(second))
        return np.asarray(wrong & (np.maximum(alone[one][:, None], alone[other]) <= allowance))


def _cosines(G: FloatArray, d: FloatArray) -> FloatArray:
    """|G_ij| / sqrt(G_ii G_jj), and 0 on the diagonal."""
    cosines, scale = np.abs(G), 1 / np.sqrt(d)
    cosines *= scale
    cosines *= scale[:, None]
    np.fill_diagonal(cosines, 0.0)
    return cosines


def _largest(cosines: FloatArray, count: int) -> FloatArray:
    """The `count` largest of every column, a row each."""
    count = min(count, max(cosines.shape[0] - 1, 1))
    if count == 1:
        return np.asarray(cosines.max(axis=0, keepdims=True))
    return np.asarray(np.partition(cosines, cosines.shape[0] - count, axis=1)[:, -count:].T)


def _leads(worth: FloatArray, most: float, room: int) -> tuple[IntArray, IntArray]:
    """The columns that reach `most` with the `room` - 1 best others, and those of them, the worthiest first, without
    which the rest do not reach it."""
    order = np.argsort(-worth, kind="stable")
    best_others = np.maximum(worth[order[: room - 1]], 0.0).sum()
    reached = worth[order] + best_others
    kept = order[~(reached + unit(room + 8) * np.abs(reached) <= most)]
    values = np.concatenate([np.maximum(worth[kept], 0.0), np.zeros(room)])
    together = values[: kept.size].copy()
    for place in range(1, room):
        together += values[place : place + kept.size]
    enough = np.flatnonzero(together * _SAFE <= most)
    return kept, kept[: enough[0] if enough.size else kept.size]
