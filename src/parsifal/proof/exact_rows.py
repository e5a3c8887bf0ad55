"""Side constraints as the exact check reads them, in Python's whole numbers."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from parsifal.proof.certificate import Certificate, FixArray
from parsifal.proof.exact_arithmetic import IntArray


class ExactRows:
    """For every row its columns with their coefficients and its limit; for every column the rows that name it."""

    def __init__(self, c: Certificate) -> None:
        column, coef, offset = c.row_column.tolist(), c.row_coef.tolist(), c.row_offset.tolist()
        self.rows = [list(zip(column[start:stop], coef[start:stop])) for start, stop in pairwise(offset)]
        self.upper: list[int] = c.row_upper.tolist()
        self.naming: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            for j, _ in row:
                self.naming.setdefault(j, []).append(number)

    def caps(self) -> tuple[dict[int, int], list[int]]:
        """Rows of ones that share no column with an earlier such row: the number of the row of a column, and limits."""
        group: dict[int, int] = {}
        most: list[int] = []
        for row, upper in zip(self.rows, self.upper):
            columns = [j for j, _ in row]
            plain = upper >= 0 and all(a == 1 for _, a in row) and len(set(columns)) == len(columns)
            if plain and not group.keys() & set(columns):
                group |= dict.fromkeys(columns, len(most))
                most.append(upper)
        return group, most

    def allow(self, support: IntArray) -> bool:
        """Whether every row holds for the support."""
        chosen = set(support.tolist())
        return all(sum(a for j, a in row if j in chosen) <= most for row, most in zip(self.rows, self.upper))

    def imply(self, fix: FixArray) -> bool:
        """Decide in `fix` the columns that a row leaves one choice for; False if a row leaves none.

        A row's sum is least with the free columns of positive coefficient out and those of negative ones in.
        """
        waiting = deque(range(len(self.rows)))
        while waiting:
            number = waiting.popleft()
            row, most = self.rows[number], self.upper[number]
            least = sum(a for j, a in row if fix[j] == 1 or (fix[j] == 0 and a < 0))
            if least > most:
                return False
            for j, a in row:
                if fix[j] == 0 and least + abs(a) > most:
                    fix[j] = -1 if a > 0 else 1
                    waiting.extend(self.naming[j])
        return True
