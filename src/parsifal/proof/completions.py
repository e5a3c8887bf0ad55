"""Exhausted records: every support at a place has an objective that is not below the claim, found out by trying.

With the columns I in, a set T of up to m free columns takes b_T'G_T^-1 b_T off twice the objective (`place.py`, where
rounding is paid for). Depth first, the strongest columns first:

- the last column of a set has a closed form, and many sets are computed at once (`together.py`);
- G_T is not below diag(D), D_j = G_jj less the m - 1 largest |G_ij|, so T takes off at most the sum of b_j^2 / D_j.
  That closes all sets of columns whose m largest such terms do not reach the claim, and leaves out every column that
  does not reach it with the m - 1 best others;
- columns with a large cosine between them spoil D for all. Pairs of those are tried first, with all others, and the
  sets without such a pair have a better D;
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

from parsifal.proof.certificate import BoolArray, FixArray, FloatArray, IntArray
from parsifal.proof.levels import Levels
from parsifal.proof.place import Place
from parsifal.proof.preconditions import require
from parsifal.proof.scaled import total, unit
from parsifal.proof.supports import Supports
from parsifal.proof.together import (
    LITTLE,
    SAFE,
    Ranked,
    Together,
    cosines_of,
    each,
    largest,
    leads,
    part,
    places,
    ranked,
    reach,
)
from parsifal.proof.whole import whole_leads

# Columns beside a place, whose products are made.
_MOST_COLUMNS = 8000
# Columns that are tried before the bound on the others is.
_AT_A_TIME = 32
# Cosines above which pairs of columns are tried by themselves, and how many numbers that takes at once.
_CUTS = tuple(0.75 * 0.8**step for step in range(10))
_AT_ONCE = 1 << 16
# Columns that a lead or a pair of columns with so many places beside it is worth, and how many are worth a choice.
_ROWS = (2.0, 16.0)
_MUCH = 400.0
# Columns whose sets are gone through level by level.
_FEW_COLUMNS = 32
# Columns of which all together may take off too little.
_MOST_WHOLE = 80
# A cosine above which what is left of two columns is not bounded by what they were.
_NEAR = 0.95


class Completions(Supports):
    """Goes through the supports of places; parameters are those of `Supports`."""

    def bound(self, fix: FixArray) -> float:
        """Proves: no support that agrees with `fix` and counts has an objective below what is returned.

        That is the target, or less if not strict.
        """
        inside, free = np.flatnonzero(fix == 1), np.flatnonzero(fix == 0)
        # Nor do supports with more columns count then.
        if not self.independent(inside):
            return self.target
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
        # Below zero, where what is in is no support itself, prices bring it back, in sums that round with its size.
        most = total(most, 64 * spread.spare * min(most, 0.0))
        self.explore(inside, spread.columns, spread.b, spread.G, most, room)

    def one_by_one(self, inside: IntArray, some: IntArray, free: IntArray, room: int) -> None:
        """Proves: no support of `inside` and up to `room` columns of `free`, one of `some` among them, that counts is
        below the target. A column that was tried is left out from there on: all sets with it have been looked at."""
        for j in some:
            free = free[free != j]
            self.go_through(np.append(inside, j), free, room - 1)

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
            columns, b, G = columns[kept], b[kept], part(G, kept)
        d = G.diagonal().copy()
        little = d < LITTLE
        if little.any():
            self.one_by_one(inside, columns[little], columns, room)
            kept = np.flatnonzero(~little)
            columns, b, G, d = columns[kept], b[kept], part(G, kept), d[kept]
        room = min(room, columns.size)
        if room == 0:
            return
        for j in np.flatnonzero(~(reach(b, self.sign[columns]) ** 2 / d * SAFE - self.paid[columns] <= most)):
            self.try_set(np.append(inside, columns[j]))
        if room == 2:
            self.pairs(inside, columns, b, G, most)
        elif room > 2 and columns.size <= _FEW_COLUMNS and not (self.signed or self.ruled):
            Levels(self, inside, columns).close(b, G, most, room)
            return
        cut = np.inf
        while room > 2 and columns.size > 1:
            cosines = cosines_of(G, d)
            top = largest(cosines, room - 1)
            curvature = self.curvature(d, top, cut)
            left, some = leads(self.worth(columns, b, curvature), most, room)
            if cut == np.inf and some.size * _work(room - 1, np.array(left.size)) > _MUCH * columns.size:
                cut = self.choose_cut(columns, b, d, cosines, top, most, room)
                if cut < np.inf:
                    self.close_near(inside, columns, b, G, most, room, cosines > cut)
                    curvature = self.curvature(d, top, cut)
                    left, some = leads(self.worth(columns, b, curvature), most, room)
            left, some = self.fewer_leads(b, G, most, left, some)
            if some.size == 0:
                return
            count = min(some.size, _AT_A_TIME)
            self.children(inside, columns, b, G, most, room, curvature, np.minimum(top, cut), left, count)
            if count == some.size:
                return
            kept = np.sort(left[count:])
            columns, b, G, d = columns[kept], b[kept], part(G, kept), d[kept]
            room = min(room, columns.size)
            if room == 2:
                self.pairs(inside, columns, b, G, most)

    def fewer_leads(
        self, b: FloatArray, G: FloatArray, most: float, left: IntArray, some: IntArray
    ) -> tuple[IntArray, IntArray]:
        """`left` and the leads among them, or the same columns in another order with fewer leads: the others, all of
        them at once, take no more off than `most`, so no set of them does. Prices only make that less. Worth a look
        where the leads are many."""
        if 4 * some.size > left.size and left.size <= _MOST_WHOLE:
            order, count, known = whole_leads(b[left][None], part(G, left)[None], np.array([most]))
            if known[0] and count[0] < some.size:
                left = left[order[0]]
                some = left[: count[0]]
        return left, some

    def curvature(self, d: FloatArray, top: FloatArray, cut: float | FloatArray) -> FloatArray:
        """D for which G_T - diag(D_T) is diagonally dominant for every T none of whose cosines is above `cut`.

        `top` are the largest cosines of each column, as many as T has others; rounded down. A row for each cut, if
        there are several, which are given as an array of shape (cuts, 1, 1).
        """
        total_cosine = np.minimum(top, cut).sum(axis=-2)
        return np.asarray(d * (1 - total_cosine * (1 + unit(top.shape[0] + 8)) - unit(8)) - self.blur)

    def worth(self, columns: IntArray, b: FloatArray, curvature: FloatArray) -> FloatArray:
        """What a column takes off at most, its price paid; infinite where its curvature is not positive."""
        square = reach(b, self.sign[columns]) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(curvature > 0, square * SAFE / curvature, np.inf) - self.paid[columns])

    def together(self, columns: IntArray, b: FloatArray, G: FloatArray, most: float) -> Together:
        """The set without columns, to put these into."""
        return Together.empty(b, G, self.paid[columns], self.sign[columns], most)

    def choose_cut(
        self,
        columns: IntArray,
        b: FloatArray,
        d: FloatArray,
        cosines: FloatArray,
        top: FloatArray,
        most: float,
        room: int,
    ) -> float:
        """The cosine above which pairs of columns are tried by themselves: the one that seems least work."""
        cuts = np.array([np.inf, *_CUTS])
        _, kept, some = ranked(self.worth(columns, b, self.curvature(d, top, cuts[:, None, None])), most, room)
        work = some * _work(room - 1, kept)
        best, least = 0, work[0]
        for choice in range(1, cuts.size):
            if work[choice - 1] == 0:
                break
            # A smaller cosine has more pairs, which are counted only where the rest is less work.
            if work[choice] < least:
                pairs = np.count_nonzero(cosines > cuts[choice]) // 2
                together = work[choice] + pairs * float(_work(room - 2, np.array(d.size)))
                if together < least:
                    best, least = choice, together
        return float(cuts[best])

    def close_near(
        self, inside: IntArray, columns: IntArray, b: FloatArray, G: FloatArray, most: float, room: int, near: BoolArray
    ) -> None:
        """Proves: no set of up to `room` columns, a pair of `near` ones among them, takes more than `most` off, or it
        is not below the target.

        A set is looked at with its first pair: columns that make an earlier pair with one of the two are left out.
        """
        one, other = np.nonzero(np.triu(near))
        number = np.full(G.shape, one.size)
        number[one, other] = number[other, one] = np.arange(one.size)
        first = self.together(columns, b, G, most)
        sums = np.zeros(0)
        if room > 3:
            apart = np.abs(G)
            np.fill_diagonal(apart, 0.0)
            sums = largest(apart, room - 3).sum(axis=0)
        step = max(1, _AT_ONCE // columns.size)
        for start in range(0, one.size, step):
            i, j = one[start : start + step], other[start : start + step]
            which, at = np.unique(i, return_inverse=True)
            pairs = first.put_in(np.zeros(which.size, dtype=np.int64), which).put_in(at, j)
            now = np.arange(start, start + i.size)[:, None]
            before = (number[i] < now) | (number[j] < now)
            if room == 3:
                self.try_last(inside, columns, pairs, before)
            else:
                self.close_pairs(inside, columns, pairs, room - 2, before, sums)

    def try_last(self, inside: IntArray, columns: IntArray, sets: Together, before: BoolArray) -> None:
        """Proves: none of the sets, with up to one column more, takes too much off, or it is not below the target; of
        the columns that were not looked at `before`. Sets of one column have been tried as they are (`explore`)."""
        closed = sets.closed() | before
        itself = sets.rest >= 0
        if sets.chosen.shape[1] == 1:
            closed |= sets.one_is_zero()
            itself[:] = True
        for at in np.flatnonzero(~(closed.all(axis=1) & itself & sets.sure)):
            self.go_through(np.append(inside, columns[sets.chosen[at]]), columns[~closed[at]], 1)

    def close_pairs(
        self, inside: IntArray, columns: IntArray, pairs: Together, room: int, before: BoolArray, sums: FloatArray
    ) -> None:
        """Proves: none of the pairs, with up to `room` columns more, takes too much off, or it is not below the target;
        of the columns that were not looked at `before`. `sums` are as `Together.curvature` has them."""
        among = ~before
        np.put_along_axis(among, pairs.chosen, False, axis=1)
        unsure = ~(pairs.sure & (pairs.rest >= 0))
        for at in np.flatnonzero(unsure):
            self.go_through(np.append(inside, columns[pairs.chosen[at]]), columns[among[at]], room)
        curvature = pairs.curvature(among, sums, room - 1) - self.blur
        order, kept, some = ranked(self.worth(columns, pairs.left, curvature), pairs.rest, room, among)
        some[unsure] = 0
        self.go_on(inside, columns, pairs, (order, kept, some), room)

    def go_on(self, inside: IntArray, columns: IntArray, sets: Together, order: Ranked, room: int) -> None:
        """Proves: none of the sets, with up to `room` of the columns that reach what is left of it (`ranked`), takes
        too much off, or it is not below the target."""
        ordered, kept, some = order
        if room == 2:
            self.close_thirds(inside, columns, sets, order)
            return
        for at in np.flatnonzero(some).tolist():
            own = np.sort(ordered[at, : kept[at]])
            inner, below = sets.inner(at, own), sets.left[at, own]
            chosen = np.append(inside, columns[sets.chosen[at]])
            self.explore(chosen, columns[own], below, inner, float(sets.rest[at]), room)

    def close_thirds(self, inside: IntArray, columns: IntArray, sets: Together, order: Ranked) -> None:
        """`go_on` for two places: of two columns that reach it, one is among the first."""
        ordered, kept, some = order
        which, rank = each(np.flatnonzero(some), some[some > 0])
        place, step = places(ordered), max(1, _AT_ONCE // columns.size)
        for start in range(0, which.size, step):
            at, r = which[start : start + step], rank[start : start + step]
            # Of two that are among the first, the earlier one has been tried with the other.
            before = (place[at] <= r[:, None]) | (place[at] >= kept[at][:, None])
            self.try_last(inside, columns, sets.put_in(at, ordered[at, r]), before)

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
        count: int,
    ) -> None:
        """Proves: no set with one of the first `count` of `left` and up to `room` - 1 of those after it takes more than
        `most` off, or it is not below the target; of the sets that `curvature` and `top`, the largest cosines of every
        column, are about. All of these leads at once, a row each."""
        d, first = G.diagonal(), left[:count]
        fewer = np.sort(top, axis=0)[max(0, top.shape[0] - room + 2) :].sum(axis=0)
        after = np.zeros((count, columns.size), dtype=bool)
        after[:, left] = np.arange(left.size) > np.arange(count)[:, None]
        sets = self.together(columns, b, G, most).put_in(np.zeros(count, dtype=np.int64), first)
        rest = sets.rest
        worth = self.worth(columns, sets.left, self.left_of(d, sets.rows[0] * after, fewer, first, room))
        order, kept, some = ranked(worth, rest, room - 1, after)
        # What is left of diag(D) bounds what is left of G if the column that goes has a positive D itself.
        again = np.flatnonzero((some > 0) & (curvature[first] > 0))
        if again.size:
            others = ranked(self.worth(columns, sets.left[again], curvature), rest[again], room - 1, after[again])
            better = others[1] < kept[again]
            for known, new in zip((order, kept, some), others):
                known[again[better]] = new[better]
        self.go_on(inside, columns, sets, (order, kept, some), room - 1)

    def left_of(self, d: FloatArray, rows: FloatArray, fewer: FloatArray, leads: IntArray, room: int) -> FloatArray:
        """D for what is left of the columns once one of `leads` is in, from the cosines before: a row for each lead, of
        which `rows` are the products with the columns, zero for those that do not come after it.

        Proof: with s_j the cosines with i and z_j^2 = 1 - s_j^2, the cosines left are (c_jl - s_j s_l) / (z_j z_l), in
        size at most (|c_jl| + |s_j| |s_l|) / (z_j z_l); `fewer` is the sum of the `room` - 2 largest |c_jl|.
        """
        s = np.abs(rows) / np.sqrt(np.outer(d[leads], d))
        most = s.max(axis=1, initial=0.0, keepdims=True) * (1 + unit(16))
        near = most[:, 0] > _NEAR
        s[near], most[near] = 0.0, 0.0
        square = (1 - s) * (1 + s)
        cosines = (fewer + (room - 2) * s * most) / (np.sqrt(square) * np.sqrt(1 - most * most))
        curvature = d * square * (1 - cosines * (1 + unit(room + 32))) - self.blur
        curvature[near] = 0.0
        return np.asarray(curvature)

    def pairs(self, inside: IntArray, columns: IntArray, b: FloatArray, G: FloatArray, most: float) -> None:
        """Proves: no two of the columns take more than `most` off, or they are not below the target."""
        d = G.diagonal()
        worth = self.worth(columns, b, self.curvature(d, largest(cosines_of(G, d), 1), np.inf))
        sets = self.together(columns, b, G, most)
        self.close_thirds(inside, columns, sets, ranked(worth[None, :], most, 2))


def _work(room: int, columns: IntArray) -> FloatArray:
    """How much a problem of so many places and columns is, about."""
    size = columns.astype(np.float64)
    return np.asarray(_ROWS[room - 1] * size if room <= len(_ROWS) else 2.0 ** (room - 3) * size * size)
