"""At most so many of a group: what that changes in the sum of the largest terms.

Rows of the side constraints whose coefficients are all 1, and that share no column with an earlier such row, cap
groups. The sets with at most `most` columns of every such group, and at most `room` in all, are the independent sets of
a laminar matroid. Hence (Edmonds) the largest sum of terms over them is found by taking the largest first, as long as
there is room; the best set with a further column is the best set with that column in place of the least one that shares
a full group with it (or a full whole); and the best set without one of its columns has the best one left in its place,
of those that then have room. Every such sum is monotone in the terms, so terms that are too large are on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsifal.proof.certificate import BoolArray, Certificate, FixArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The largest positive terms of free columns that go together.

    Attributes
    ----------
    terms : float array
        Those that are chosen.
    last_in : float array
        For every column the term that it displaces if it goes in, 0: none.
    best_out : float array
        For every column the term that takes the place of its own if it goes out, 0: none.
    barred : bool array
        Columns that no support here has: there is no place left, in all or in their group.
    """

    terms: FloatArray
    last_in: FloatArray
    best_out: FloatArray
    barred: BoolArray


class Caps:
    """The groups of a (plain) certificate."""

    def __init__(self, c: Certificate) -> None:
        self.cap: IntArray = np.full(c.shape[1], -1, dtype=np.int64)
        most: list[int] = []
        for r in range(c.row_upper.size):
            part = slice(c.row_offset[r], c.row_offset[r + 1])
            columns = c.row_column[part]
            if c.row_upper[r] < 0 or np.any(c.row_coef[part] != 1) or np.any(self.cap[columns] >= 0):
                continue
            if np.unique(columns).size < columns.size:
                continue
            self.cap[columns] = len(most)
            most.append(int(c.row_upper[r]))
        self.most: IntArray = np.array(most, dtype=np.int64)

    def choose(self, terms: FloatArray, columns: IntArray, fix: FixArray, room: int) -> Choice:
        """The best choice of free columns among `columns`, which have these terms; `fix` is that of all columns."""
        inside = self.cap[np.flatnonzero(fix == 1)]
        left = self.most - np.bincount(inside[inside >= 0], minlength=self.most.size)
        free = np.flatnonzero((fix[columns] == 0) & (terms > 0))
        order = free[np.argsort(-terms[free], kind="stable")]
        chosen: list[float] = []
        # Of the whole in the last place.
        last_in, best_out = np.zeros(self.most.size + 1), np.zeros(self.most.size + 1)
        full = np.append(left <= 0, room <= 0)
        barred = full.copy()
        for term, group in zip(terms[order].tolist(), self.cap[columns[order]].tolist()):
            if group >= 0 and full[group]:
                best_out[group] = max(best_out[group], term)
            elif full[-1]:
                best_out[-1] = max(best_out[-1], term)
            else:
                chosen.append(term)
                if len(chosen) == room:
                    full[-1], last_in[-1] = True, term
                if group >= 0:
                    left[group] -= 1
                    if left[group] == 0:
                        full[group], last_in[group] = True, term
        group = self.cap[columns]
        tight = (group >= 0) & full[group]
        return Choice(
            terms=np.array(chosen),
            last_in=np.where(tight, last_in[group], last_in[-1]),
            best_out=np.where(tight, np.maximum(best_out[group], best_out[-1]), best_out[-1]),
            barred=((group >= 0) & barred[group]) | barred[-1],
        )


def largest(terms: FloatArray, state: FixArray, room: int) -> Choice:
    """The largest positive terms of free columns, where any of them go together."""
    free = np.sort(terms[(state == 0) & (terms > 0)])[::-1]
    last_in = float(free[room - 1]) if 0 < room <= free.size else 0.0
    best_out = float(free[room]) if free.size > room else 0.0
    same = np.ones(terms.size)
    return Choice(
        terms=free[:room],
        last_in=last_in * same,
        best_out=best_out * same,
        barred=np.full(terms.size, room <= 0),
    )
