"""Side constraints as the checker reads them: rows of whole numbers, and what they imply about columns."""

from __future__ import annotations

import numpy as np

from parsifal.proof.certificate import BoolArray, Certificate, FixArray, IntArray


class SideRows:
    """The rows of a (plain) certificate, whose sums fit into 64 bits."""

    def __init__(self, c: Certificate) -> None:
        self.column, self.coef, self.upper = c.row_column, c.row_coef, c.row_upper
        self.row = np.repeat(np.arange(c.row_upper.size), np.diff(c.row_offset))

    def allow(self, support: IntArray) -> bool:
        """Whether every row holds for the support."""
        if self.upper.size == 0:
            return True
        return bool(np.all(self._sums(np.isin(self.column, support)) <= self.upper))

    def imply(self, fix: FixArray) -> bool:
        """Write into `fix` what the rows imply; False if no support that agrees with it is allowed.

        Proves: with the columns in, and the free ones of negative coefficient, a row is as small as it gets. If
        that is above its limit, no support is left. A free column whose other choice would lift it above the
        limit is decided. Whole numbers, so nothing rounds.
        """
        while self.upper.size:
            state = fix[self.column]
            free = state == 0
            least = self._sums((state == 1) | (free & (self.coef < 0)))
            if np.any(least > self.upper):
                return False
            decided = free & (least[self.row] + np.abs(self.coef) > self.upper[self.row])
            if not decided.any():
                return True
            column, side = self.column[decided], np.where(self.coef[decided] > 0, -1, 1)
            fix[column] = side
            # Two rows may decide a column differently.
            if np.any(fix[column] != side):
                return False
        return True

    def _sums(self, chosen: BoolArray) -> IntArray:
        total = np.zeros(self.upper.size, dtype=np.int64)
        np.add.at(total, self.row[chosen], self.coef[chosen])
        return total
