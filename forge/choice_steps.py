"""Forgeries that only certificates of groups and kernels have, and which of the others apply to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge import numbers, structure
from forge.draft import Draft, Record
from forge.numbers import SPECIAL, factor
from forge.problems import ForgeProblem
from forge.referee import nearest
from forge.structure import Forgery, Rng


def change_price(rng: Rng, draft: Any, problem: ForgeProblem) -> None:
    """A price of another size, none, one too many or too few; or all of them larger."""
    price, chance = draft.price, rng.random()
    if not price or chance < 0.05:
        price.append(float(abs(factor(rng))))
    elif chance < 0.1:
        price.pop()
    elif chance < 0.3:
        by = factor(rng)
        draft.price = [abs(numbers.times(value or 1.0, by)) for value in price]
    elif chance < 0.5:
        half = float(abs(draft.claim["objective"]))
        price[int(rng.integers(len(price)))] = half * float(rng.choice([1e-6, 0.1, 0.5, 1.0, 2.0]))
    else:
        at = int(rng.integers(len(price)))
        special = float(SPECIAL[int(rng.integers(len(SPECIAL)))])
        price[at] = special if rng.random() < 0.4 else numbers.times(price[at] or 1.0, factor(rng))


def swap_prices(rng: Rng, draft: Any, problem: ForgeProblem) -> None:
    """The prices in another order."""
    draft.price = [draft.price[int(j)] for j in rng.permutation(len(draft.price))]


def change_weight(rng: Rng, draft: Any, problem: ForgeProblem) -> None:
    """Weights of the rows: invented, dropped, of another size, or special."""
    chance = rng.random()
    if not draft.weight:
        draft.weight = [1.0] * problem.n
    elif chance < 0.2:
        draft.weight = []
        return
    if chance < 0.4:
        by = abs(factor(rng))
        draft.weight = [numbers.times(value, by) for value in draft.weight]
        return
    at = int(rng.integers(len(draft.weight)))
    special = float(SPECIAL[int(rng.integers(len(SPECIAL)))])
    draft.weight[at] = special if chance < 0.7 else numbers.times(draft.weight[at] or 1.0, factor(rng))


def change_groups(rng: Rng, draft: Any, problem: ForgeProblem) -> None:
    """A column moves, comes twice, goes, or is one that there is not; groups are swapped, emptied, joined, added."""
    groups, kind = draft.groups, int(rng.integers(8))
    a, b = (int(g) for g in rng.integers(0, len(groups), 2))
    columns = int(draft.claim["columns"]) if isinstance(draft.claim["columns"], int) else 1
    if kind == 0:
        groups[a], groups[b] = groups[b], groups[a]
    elif kind == 1 and groups[a]:
        groups[b].append(groups[a].pop())
    elif kind == 2:
        groups[a] = []
    elif kind == 3 and groups[a]:
        groups[a].append(groups[a][0])
    elif kind == 4 and groups[a]:
        groups[a][int(rng.integers(len(groups[a])))] = int(rng.integers(-1, columns + 1))
    elif kind == 5:
        groups.append(groups[a][:])
        draft.price.append(draft.price[a] if a < len(draft.price) else 0.0)
    elif kind == 6:
        groups[a] = groups[a][::-1]
    elif len(groups) > 1:
        groups.pop(a)
        if rng.random() < 0.8 and a < len(draft.price):
            draft.price.pop(a)


def share_point(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record takes the dual point of another."""
    one, other = (draft.records[int(r)] for r in rng.integers(0, len(draft.records), 2))
    one.index, one.value = other.index[:], other.value[:]


def mend_point(rng: Rng, draft: Any, problem: Any) -> None:
    """A record gets the best dual point of some set: what it proves about that set is the truth."""
    chosen = tuple(j for j in range(problem.p) if rng.random() < 0.4)
    _mend(draft.records[int(rng.integers(len(draft.records)))], chosen, draft, problem)


def grow(rng: Rng, draft: Any, problem: Any) -> None:
    """Leaves are split on items that are open there, with the best dual points of what is in: a proof, if completed."""
    for leaf in draft.leaves() if rng.random() < 0.5 else [int(rng.choice(draft.leaves()))]:
        decided = _decided(draft, leaf)
        free = [j for j in range(problem.p) if j not in decided]
        if not free or len(draft.records) + 2 > structure.MOST_RECORDS:
            continue
        j = free[int(rng.integers(len(free)))]
        inside = tuple(sorted(i for i, side in decided.items() if side > 0 and 0 <= i < problem.p))
        for side, chosen in ((1, tuple(sorted({*inside, j}))), (-1, inside)):
            record = Record(parent=leaf, column=j, side=side)
            _mend(record, chosen, draft, problem)
            draft.records.append(record)


def _decided(draft: Any, r: int) -> dict[int, int]:
    """What is in (1) and out (-1) at a record."""
    out = {**dict.fromkeys(draft.forced_in, 1), **dict.fromkeys(draft.forced_out, -1)}
    seen: set[int] = set()
    while 0 <= r < len(draft.records) and r not in seen:
        seen.add(r)
        record = draft.records[r]
        out |= {abs(f) - 1: 1 if f > 0 else -1 for f in record.fixed}
        if record.column >= 0:
            out[record.column] = record.side
        r = record.parent
    return out


def _mend(record: Record, chosen: tuple[int, ...], draft: Any, problem: Any) -> None:
    question = problem.referee.question(draft.build())
    if question is None or problem.referee.items(question) < problem.p:
        return
    fit = [nearest(value) for value in problem.referee.fit(chosen, question)]
    if not problem.kernels:
        at = problem.referee.positions(chosen, question)
        record.index, record.value = at, fit
        return
    alpha = problem.referee.response(question)
    if chosen:
        with np.errstate(all="ignore"):
            alpha = alpha - problem.block(draft, chosen) @ fit
    record.index, record.value = list(range(problem.n)), [float(value) for value in alpha]


def change_size(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Other numbers of rows or columns."""
    name = str(rng.choice([name for name in ("rows", "columns") if name in draft.claim]))
    draft.claim[name] = int(rng.choice([0, 1, -1, problem.n - 1, problem.n + 1, 2 * problem.n, 2**41]))


_TREE: tuple[Forgery, ...] = (
    *(structure.add_child, structure.split, structure.drop_record, structure.drop_leaf, structure.duplicate_record),
    *(structure.reparent, structure.change_decision, structure.fix_more, structure.fix_all, structure.fix_other_way),
    *(structure.force_otherwise, structure.change_k, share_point, mend_point, grow, grow),
)
_FRAMES: tuple[Forgery, ...] = (
    *(structure.add_frame, structure.empty_frame, structure.thin_frame, structure.spoil_frame, structure.move_frame),
)
_NUMBERS: tuple[Forgery, ...] = (
    *(numbers.scale_coefficients, numbers.replace_coefficient, numbers.fit_everything, numbers.fit_nothing),
    *(numbers.cancel, numbers.change_gamma, change_price, change_price, swap_prices, change_weight),
)

GROUP_STEPS = (
    (*_TREE, *_FRAMES, change_groups, change_size),
    (*_NUMBERS, numbers.scale_diagonal, numbers.replace_diagonal),
)
KERNEL_STEPS = ((*_TREE, change_size), _NUMBERS)
