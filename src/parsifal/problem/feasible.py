"""A first support that side constraints allow, or which of them leave none.

Depth first with propagation: the columns of a broken row that would mend it go in one after the other.
"""

from __future__ import annotations

import numpy as np

from parsifal.arrays import FixArray, IntArray
from parsifal.errors import InputError
from parsifal.problem.column_rules import ColumnRules

_MOST_NODES = 20_000
_MOST_NAMED = 40  # constraints that are tried one by one to name those in conflict
_SHOWN = 160  # characters of a constraint in a message


def first_allowed(rules: ColumnRules, fix: FixArray, k: int) -> IntArray | None:
    """A support of at most k columns that agrees with the fixes and every row, with few columns; None: there is none.

    Proves nothing to anyone: where it takes too long to tell, an `InputError` says so.
    """
    stack, nodes = [fix], 0
    while stack:
        state, possible = rules.propagate(stack.pop())
        inside = np.flatnonzero(state == 1)
        if not possible or inside.size > k:
            continue
        rows = rules.rows
        broken = np.flatnonzero(rows.values(inside) > rows.upper)
        if broken.size == 0:
            return inside.astype(np.int64)
        nodes += 1
        if nodes > _MOST_NODES:
            raise InputError(
                f"whether any support satisfies the constraints ({rows.labels[broken[0]]}, ...) takes long to tell; "
                'use method="cutting-plane"'
            )
        part = slice(rows.offset[broken[0]], rows.offset[broken[0] + 1])
        column, coef = rows.column[part], rows.coef[part]
        # Broken though nothing more is chosen: one of the columns that lower it has to come in.
        free = (state[column] == 0) & (coef < 0)
        j = int(column[free][np.argmin(coef[free])])
        for side in (-1, 1):
            branch = state.copy()
            branch[j] = side
            stack.append(branch)
    return None


def conflict(rules: ColumnRules, fix: FixArray, k: int) -> str:
    """The constraints that cannot hold together: as few of them as leaving out one after the other shows."""
    needed = rules
    labels = list(dict.fromkeys(rules.rows.labels))
    if len(labels) <= _MOST_NAMED:
        for label in labels:
            fewer = needed.with_rows(needed.rows.without({label}))
            if first_allowed(fewer, fix, k) is None:
                needed = fewer
        labels = list(dict.fromkeys(needed.rows.labels))
    shown = [label if len(label) <= _SHOWN else label[: _SHOWN - 3] + "..." for label in labels[:4]]
    more = f" and {len(labels) - 4} more" if len(labels) > 4 else ""
    return " and ".join(shown) + more
