"""Exhausted records in exact arithmetic: all supports at a place gone through, in whole numbers.

The Gram matrix of the columns and y, the ridge on its diagonal, is whole after multiplication by a whole number. An
elimination without fractions takes the columns that are in out of the others. What is left of these, G and b, is put on
a grid of 2^-31 of the columns' lengths and of |r|, the length of what is left of y, as int64: every entry is less than
a unit off. For a set T of at most m columns, errors of `one` in the entries of G change w'G_T w by at most m one |w|^2,
and in those of b they change 2 w'b by at most one |w|^2 + m one |r|^2. So (m + 1) one is taken off the diagonal, m one
off what T may take off |r|^2, and the rest is about these whole numbers. A step of the elimination on the grid is less
than a unit off in every entry, as if that entry had been off before, so one = m + 2 units will do. All quotients are
rounded to the safe side. What the bounds leave open is settled set by set, with fractions.

A column that is not in and has a sign counts with the part of b that has it. A set that is settled is fitted with all
signs, and is no support if the side constraints do not allow it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from parsifal.errors import InputError
from parsifal.proof.certificate import FixArray
from parsifal.proof.exact_arithmetic import IntArray, Whole, dot
from parsifal.proof.exact_input import Wrong
from parsifal.proof.exact_problem import Problem, to_double
from parsifal.proof.exact_rows import ExactRows

# One on the grid.
_ONE = 1 << 31
# What stands for infinity there: more than any set can take off, and small enough to be added up.
_INFINITE = 1 << 45
# Below this part of its length a column is eliminated with fractions.
_LITTLE = _ONE >> 10
# Columns whose products are made.
MOST_COLUMNS = 1500
_AT_A_TIME = 32
# Steps to the columns that are not zero in a fit with signs.
_MOST_CHANGES = 300
# Of entries of G and b, so that products of two fit into an int64.
_LARGEST = 5 << 29


class ExactCompletions:
    """Goes through the supports of places, for one certificate."""

    def __init__(self, problem: Problem, rows: ExactRows) -> None:
        self.problem, self.c, self.rows = problem, problem.c, rows
        self.claim = Fraction(self.c.lower_bound)
        own = {value: Fraction(value) for value in set(problem.own)}
        self.price = [own[value] for value in problem.own]
        self.sign: list[int] = self.c.sign.tolist() if self.c.sign.size else [0] * self.c.shape[1]
        self.share = Fraction(self.c.independence) ** 2
        self.forced = set(self.c.forced_in.tolist())
        self.place_of: dict[int, int] = {}
        self.matrix: Whole = np.zeros((0, 0), dtype=object)
        self.scale = Fraction(1)

    def go_through(self, fix: FixArray) -> None:
        """Raise unless no support that agrees with `fix`, and counts, has an objective below the claim."""
        inside, free = np.flatnonzero(fix == 1).tolist(), np.flatnonzero(fix == 0).tolist()
        self.hold(inside + free)
        self.place(inside, free, self.c.k - len(inside))

    def hold(self, columns: list[int]) -> None:
        """Make the matrix of these columns and y, the ridge on its diagonal, times a number that makes it whole."""
        if self.matrix.size == 0 or not self.place_of.keys() >= set(columns):
            if len(columns) > MOST_COLUMNS:
                raise InputError(
                    f"an exact check takes at most {MOST_COLUMNS} columns at an exhausted record, not {len(columns)}; "
                    "check without exact"
                )
            columns = sorted(columns)
            problem, ridge = self.problem, self.problem.ridge
            digits = problem.digits.take(np.array(columns, dtype=np.int64))
            power = max([0, *(2 * unit for unit in digits.unit)])
            factor = ridge.denominator << power
            m = len(columns)
            self.matrix = np.zeros((m + 1, m + 1), dtype=object)
            self.matrix[:m, :m] = digits.gram()
            self.matrix[:m, m] = self.matrix[m, :m] = digits.times(problem.response)
            self.matrix[m, m] = dot(problem.response, problem.response)
            # Squares without the ridge, for what counts as independent.
            self.squares = self.matrix.diagonal().copy()
            self.matrix *= factor
            for at, unit in enumerate(digits.unit):
                self.matrix[at, at] += ridge.numerator << power - 2 * unit
            self.squares *= factor
            self.scale = Fraction(4) ** problem.unit / factor
            self.place_of = {j: at for at, j in enumerate(columns)}

    def settle(self, support: list[int]) -> bool:
        """Raise if the support counts and is below the claim. Whether supports with more columns count."""
        value = self.value(support)
        if self.share and not self.independent(support):
            return False
        if value < self.claim and not self.rows.allow(np.array(support, dtype=np.int64)):
            return True
        if value < self.claim and any(self.sign[j] for j in support):
            value = max(value, self.signed_value(support))
        if value < self.claim:
            raise Wrong(
                f"an exhausted record has the support {sorted(support)}, whose objective is {to_double(value)!r}, "
                f"below the claim {self.c.lower_bound!r}"
            )
        return True

    def value(self, support: list[int]) -> Fraction:
        """The objective of a support."""
        pivot, rest, _ = self.eliminate(support, [])
        return Fraction(int(rest[-1, -1]), pivot) * self.scale / 2 + self.price_of(support)

    def price_of(self, columns: list[int]) -> Fraction:
        """What these columns cost."""
        return sum((self.price[j] for j in columns), Fraction(0))

    def signed_value(self, support: list[int]) -> Fraction:
        """The objective of a support with the signs of its coefficients, or less.

        Let P be some of the columns, with all that have no sign, and r what is left of y beside them. If no other
        column j of the support has sign_j x_j'r > 0, then y'r - 1/2 |r|^2 = 1/2 |r|^2 is a dual value of the problem
        with signs, and a lower bound. At the optimum P is where coefficients are not zero; it is looked for by Murty's
        rule, that the first column that is wrong, by its coefficient or its product, changes sides.
        """
        inside, best = list(support), Fraction(0)
        for _ in range(_MOST_CHANGES):
            outside = [j for j in support if j not in inside]
            pivot, rest, _ = self.eliminate(inside, outside)
            pull = [self.sign[j] * int(rest[at, -1]) > 0 for at, j in enumerate(outside)]
            if not any(pull):
                best = max(best, Fraction(int(rest[-1, -1]), pivot))
            wrong = [j for j, wants in zip(outside, pull) if wants]
            for j in inside:
                if self.sign[j]:
                    # The coefficient of j has the sign of what is left of it beside the others, times y.
                    _, alone, _ = self.eliminate([i for i in inside if i != j], [j])
                    if self.sign[j] * int(alone[0, -1]) < 0:
                        wrong.append(j)
            if not wrong:
                break
            first = min(wrong)
            inside = [j for j in support if (j in inside) != (j == first)]
        return best * self.scale / 2 + self.price_of(support)

    def independent(self, support: list[int]) -> bool:
        """Whether every column but the forced ones is far enough from the span of the others, in which zero is."""
        for j in set(support) - self.forced:
            pivot, rest, _ = self.eliminate([i for i in support if i != j], [j])
            if rest[0, 0] <= 0 or Fraction(int(rest[0, 0]), pivot) < self.share * int(self.squares[self.place_of[j]]):
                return False
        return True

    def eliminate(self, inside: list[int], others: list[int]) -> tuple[int, Whole, Whole]:
        """The pivot P, and P times what is left of the columns `others` and y: products with y last, and all.

        A column that depends on those before it changes nothing. Returns P, the last column with the squares as a
        matrix of one row a column (the square, the product with y), and P times the matrix of the others and y.
        """
        at = [self.place_of[j] for j in (*inside, *others)] + [self.matrix.shape[0] - 1]
        rest, pivot, q = self.matrix[np.ix_(at, at)].copy(), 1, len(inside)
        for i in range(q):
            own = rest[i, i]
            if own == 0:
                continue
            tail = slice(i + 1, None)
            rest[tail, tail] = (own * rest[tail, tail] - np.multiply.outer(rest[tail, i], rest[i, tail])) // pivot
            pivot = own
        rest = rest[q:, q:]
        return int(pivot), rest, rest.diagonal().copy()

    def place(self, inside: list[int], free: list[int], room: int) -> None:
        """Raise unless no support of `inside` and up to `room` columns of `free` that counts is below the claim."""
        fix = np.full(self.c.shape[1], -1, dtype=np.int8)
        fix[free] = 0
        fix[inside] = 1
        if not self.rows.imply(fix):
            return
        free = [j for j in free if fix[j] >= 0]
        room, cheapest = min(room, len(free)), sorted(self.price[j] for j in free)
        while room >= 0 and self.price_of(inside) + sum(cheapest[:room]) >= self.claim:
            room -= 1
        if room < 0 or not self.settle(inside) or room == 0:
            return
        pivot, rest, squares = self.eliminate(inside, free)
        if not self.share and (self.rows.rows or any(self.sign[j] for j in inside)):
            # A column in the span of those that are in fits nothing better, but with it a support may be allowed, or
            # the others have other signs.
            for at, j in enumerate(free):
                if squares[at] <= 0:
                    others = [i for place, i in enumerate(free) if place > at or squares[place] > 0]
                    self.place([*inside, j], others, room - 1)
        kept = [
            at
            for at, j in enumerate(free)
            if squares[at] > 0 and squares[at] >= self.share * int(self.squares[self.place_of[j]]) * pivot
        ]
        left = Fraction(int(rest[-1, -1]), pivot)
        if left == 0 and self.value(inside) < self.claim:
            # It is not allowed, or has the wrong signs, but others with these columns may.
            for at, j in enumerate(free):
                self.place([*inside, j], free[at + 1 :], room - 1)
        if not kept or left == 0:
            return
        # A power of two that is at least what is left of y.
        size = math.ceil(left).bit_length() if left >= 1 else 1 - math.ceil(1 / left).bit_length() + 1
        size += size % 2
        columns = np.array([free[at] for at in kept], dtype=np.int64)
        b, G = _on_grid(pivot, rest, kept, size)
        one = room + 2
        G[np.diag_indices(len(kept))] -= (room + 1) * one
        # What a set may take off, in units of the grid.
        most = (left - 2 * (self.claim - self.price_of(inside)) / self.scale) / Fraction(2) ** size
        paid = {}
        for price in {self.price[j] for j in columns.tolist()}:
            paid[price] = math.floor(min(2 * price / self.scale / Fraction(2) ** size, Fraction(4)) * _ONE)
        allowed = math.floor(min(most, Fraction(4)) * _ONE) - room * one
        costs = {j: paid[self.price[j]] for j in columns.tolist()}
        Branch(self, costs, room * one).explore(inside, columns, b, G, allowed, room)


class Branch:
    """The sets of columns beside a place, on the grid.

    Parameters
    ----------
    completions : ExactCompletions
        For what cannot be decided on the grid.
    paid : dict of int
        Twice the price of every column, or less.
    off : int
        How far a matrix G_T can be off after the elimination.
    """

    def __init__(self, completions: ExactCompletions, paid: dict[int, int], off: int) -> None:
        self.completions, self.paid, self.off = completions, paid, off

    def worth(self, columns: IntArray, b: IntArray, curvature: IntArray) -> IntArray:
        """What the columns take off at most, less what they cost."""
        sign = np.array([self.completions.sign[j] for j in columns.tolist()], dtype=np.int64)
        reach = np.where(sign == 0, b, np.maximum(sign * b, 0))
        price = np.array([self.paid[j] for j in columns.tolist()], dtype=np.int64)
        return np.asarray(_over(reach, curvature) - price)

    def explore(self, inside: list[int], columns: IntArray, b: IntArray, G: IntArray, most: int, room: int) -> None:
        """Raise unless no set of up to `room` of the columns is below the claim; only those that take off more than
        `most` have to be looked at."""
        small = np.abs(b).max(initial=0) < _LARGEST and np.abs(G).max(initial=0) < _LARGEST
        little = np.flatnonzero((G.diagonal() < _LITTLE) | (not small))
        for at in little.tolist():
            self.completions.place([*inside, int(columns[at])], np.delete(columns, at).tolist(), room - 1)
        if little.size:
            kept = np.setdiff1d(np.arange(columns.size), little)
            columns, b, G = columns[kept], b[kept], G[np.ix_(kept, kept)]
        room = min(room, columns.size)
        if room == 0:
            return
        for at in np.flatnonzero(self.worth(columns, b, G.diagonal()) > most).tolist():
            self.completions.settle([*inside, int(columns[at])])
        while room > 1:
            curvature = _curvature(G, room) - self.off
            left, leads = _leads(self.worth(columns, b, curvature), most, room)
            leads = leads[:_AT_A_TIME]
            if leads.size == 0:
                return
            gone = np.zeros(columns.size, dtype=bool)
            for i in leads.tolist():
                gone[i] = True
                self.child(inside, columns, b, G, most, room, i, left[~gone[left]], curvature)
            kept = left[~gone[left]]
            columns, b, G = columns[kept], b[kept], G[np.ix_(kept, kept)]
            room = min(room, columns.size)

    def child(
        self,
        inside: list[int],
        columns: IntArray,
        b: IntArray,
        G: IntArray,
        most: int,
        room: int,
        i: int,
        after: IntArray,
        curvature: IntArray,
    ) -> None:
        """Column i in, and up to `room` - 1 of the columns `after`."""
        row, own = G[i, after], G[i, i]
        below = b[after] - row * b[i] // own
        most = int(most) + self.paid[int(columns[i])] - int(_over(b[i : i + 1], G[i : i + 1, i])[0])
        # What is left of diag(D) bounds what is left of G if D_i > 0.
        bounded = curvature[after] if curvature[i] > 0 else np.zeros(after.size, dtype=np.int64)
        kept, leads = _leads(self.worth(columns[after], below, bounded), most, room - 1)
        if most >= 0 and leads.size == 0:
            return
        after, row, below = after[kept], row[kept], below[kept]
        inner = G[np.ix_(after, after)] - np.multiply.outer(row, row) // own
        self.explore([*inside, int(columns[i])], columns[after], below, inner, most, room - 1)


def _on_grid(pivot: int, rest: Whole, kept: list[int], size: int) -> tuple[IntArray, IntArray]:
    """b and G of the columns `kept`, these scaled to a length of at most one and y by 2^(-size / 2), on the grid."""
    length = np.empty(len(kept), dtype=object)
    bits = []
    for at, j in enumerate(kept):
        square = int(rest[j, j])
        # 40 bits of 1 / |z_j|: f with f^2 square / pivot <= 4^k.
        k = max(0, 40 + (square.bit_length() - pivot.bit_length()) // 2)
        length[at] = math.isqrt((pivot << 2 * k) // square)
        bits.append(k)
    top = max(bits)
    length <<= np.array([top - k for k in bits], dtype=object)
    inner = rest[np.ix_(kept, kept)]
    G = (inner * length[:, None] * length << 31) // (pivot << 2 * top)
    by = 31 - size // 2
    product = rest[kept, -1] * length
    denominator = pivot << top
    b = (product << by) // denominator if by >= 0 else product // (denominator << -by)
    return b.astype(np.int64), G.astype(np.int64)


def _over(b: IntArray, d: IntArray) -> IntArray:
    """b^2 / d on the grid, rounded up; infinite where d is not positive."""
    quotient = -((-b * b) // np.maximum(d, 1))
    return np.where(d > 0, np.minimum(quotient, _INFINITE), _INFINITE)


def _curvature(G: IntArray, room: int) -> IntArray:
    """D for which G_T - diag(D_T) is diagonally dominant whatever T of up to `room` columns."""
    others = np.abs(G)
    others[np.diag_indices(G.shape[0])] = 0
    count = min(room - 1, G.shape[0] - 1)
    top = np.partition(others, G.shape[0] - count, axis=1)[:, -count:].sum(axis=1) if count > 0 else 0
    return np.asarray(G.diagonal() - top)


def _leads(worth: IntArray, most: int, room: int) -> tuple[IntArray, IntArray]:
    """The columns that reach more than `most` with the `room` - 1 best others, and those of them, the worthiest first,
    without which the rest do not."""
    order = np.argsort(-worth, kind="stable")
    best_others = int(np.maximum(worth[order[: room - 1]], 0).sum())
    kept = order[worth[order] + best_others > most]
    values = np.concatenate([np.maximum(worth[kept], 0), np.zeros(room, dtype=np.int64)])
    together = values[: kept.size].copy()
    for place in range(1, room):
        together += values[place : place + kept.size]
    enough = np.flatnonzero(together <= most)
    return kept, kept[: enough[0] if enough.size else kept.size]
