"""Forgeries of the tree: records, frames, fixings, twins and what is forced. Each changes a draft in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from forge.draft import Draft, Record
from forge.problems import ForgeProblem

Rng = np.random.Generator
Forgery = Callable[[Rng, Draft, ForgeProblem], None]

MOST_RECORDS = 60


def add_child(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record without a decision below a leaf, in some frame or none."""
    if len(draft.records) < MOST_RECORDS:
        parent = int(rng.choice(draft.leaves()))
        record = Record(parent=parent, frame=_some_frame(rng, draft, problem))
        if rng.random() < 0.5:
            other = _record(rng, draft)
            record.index, record.value = other.index[:], other.value[:]
        draft.records.append(record)


def add_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """An existing record is moved to a new frame."""
    _record(rng, draft).frame = _new_frame(rng, draft, problem)


def empty_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A frame loses all its columns."""
    if draft.frames:
        draft.frames[int(rng.integers(len(draft.frames)))] = ([], [])
    else:
        draft.frames.append(([], []))
        _record(rng, draft).frame = 0


def thin_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A frame loses one column, with the coefficients of the records that are in it."""
    if draft.frames:
        number = int(rng.integers(len(draft.frames)))
        columns, diagonal = draft.frames[number]
        if columns:
            at = int(rng.integers(len(columns)))
            gone = columns.pop(at)
            diagonal.pop(at)
            for record in draft.records:
                if record.frame == number:
                    for column in problem.columns_of([gone]):
                        _clear(record, column)


def spoil_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A frame's columns are no longer in order, or one is there twice."""
    if draft.frames:
        columns, diagonal = draft.frames[int(rng.integers(len(draft.frames)))]
        if columns and rng.random() < 0.5:
            at = int(rng.integers(len(columns)))
            columns.insert(at, columns[at])
            diagonal.insert(at, diagonal[at])
        elif len(columns) > 1:
            columns.reverse()


def move_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record changes to another frame, or to one that does not exist."""
    _record(rng, draft).frame = int(rng.integers(-2, len(draft.frames) + 1))


def split(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A leaf is split on a column, perhaps with one side missing, twice the same side, or no side at all."""
    if len(draft.records) < MOST_RECORDS:
        leaf, j = int(rng.choice(draft.leaves())), int(rng.integers(problem.p))
        sides = [(1, -1), (1, -1), (1,), (-1,), (1, 1), (-1, -1), (0, 1), (1, -1, -1), (2, -2)][int(rng.integers(9))]
        for side in sides:
            draft.records.append(Record(parent=leaf, column=j, side=side, frame=_some_frame(rng, draft, problem)))


def drop_record(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record goes; its children hang below its parent, or go with it."""
    if len(draft.records) > 1:
        gone = int(rng.integers(1, len(draft.records)))
        if rng.random() < 0.5:
            _drop(draft, {gone} | _below(draft, gone))
        else:
            for record in draft.records:
                if record.parent == gone:
                    record.parent = draft.records[gone].parent
            _drop(draft, {gone})


def drop_leaf(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A leaf goes, and its sibling stays."""
    leaves = [r for r in draft.leaves() if r > 0]
    if leaves:
        gone = int(rng.choice(leaves))
        draft.records.pop(gone)
        for record in draft.records:
            record.parent -= record.parent > gone


def duplicate_record(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record comes twice, as a sibling or as its own child."""
    if len(draft.records) < MOST_RECORDS:
        r = int(rng.integers(len(draft.records)))
        copy = draft.records[r].copy()
        if copy.parent < 0 or rng.random() < 0.5:
            copy.parent = r
        draft.records.append(copy)


def reparent(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record hangs somewhere else, mostly below an earlier one."""
    if len(draft.records) > 1:
        r = int(rng.integers(1, len(draft.records)))
        draft.records[r].parent = int(rng.integers(0, r)) if rng.random() < 0.8 else int(rng.integers(-2, r + 2))


def change_decision(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record decides another column, nothing, or the other side; at times with its sibling."""
    record = _record(rng, draft)
    if rng.random() < 0.4:
        record.side = int(rng.choice([-record.side, 0, 1, -1, 2]))
        return
    siblings = [other for other in draft.records if other.parent == record.parent]
    j = int(rng.integers(-1, problem.p))
    for other in siblings if rng.random() < 0.5 else [record]:
        other.column = j


def fix_more(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record fixes another column, several, or one both in and out."""
    record = _record(rng, draft)
    for _ in range(int(rng.choice([1, 1, 2, problem.p]))):
        j = int(rng.integers(1, problem.p + 1))
        record.fixed.append(j * int(rng.choice([-1, -1, 1])))
    if rng.random() < 0.1:
        record.fixed.append(-record.fixed[-1])


def fix_all(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record fixes every column that is not fixed already, most of them out."""
    record = _record(rng, draft)
    taken = {abs(f) - 1 for r in draft.records for f in r.fixed} | set(draft.forced_in) | set(draft.forced_out)
    sign = -1 if rng.random() < 0.8 else 1
    record.fixed += [sign * (1 + j) for j in range(problem.p) if j not in taken]


def fix_other_way(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A fixing is turned round, or dropped."""
    with_some = [record for record in draft.records if record.fixed]
    if with_some:
        record = with_some[int(rng.integers(len(with_some)))]
        at = int(rng.integers(len(record.fixed)))
        if rng.random() < 0.6:
            record.fixed[at] *= -1
        else:
            record.fixed.pop(at)


def invent_twins(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Two columns are called twins; a chain, a circle, a pair twice, or one with two elders."""
    p, twins = problem.p, draft.twins
    kind = int(rng.integers(5))
    a, b = (int(j) for j in rng.integers(0, p, 2))
    if kind == 0:
        twins.append((max(a, b), min(a, b)))
    elif kind == 1:
        twins += [(j, j - 1) for j in range(1, p)]
    elif kind == 2:
        twins += [(a, b), (b, a)]
    elif twins:
        pair = twins[int(rng.integers(len(twins)))]
        twins.append(pair if kind == 3 else (pair[0], int(rng.integers(0, pair[0] + 1))))


def drop_twins(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A pair goes, or is turned round."""
    if draft.twins:
        later, earlier = draft.twins.pop(int(rng.integers(len(draft.twins))))
        if rng.random() < 0.5:
            draft.twins.append((earlier, later))


def force_otherwise(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Other columns are forced: one more, one fewer, one twice, or one both in and out."""
    one, other = (draft.forced_in, draft.forced_out) if rng.random() < 0.5 else (draft.forced_out, draft.forced_in)
    j, chance = int(rng.integers(problem.p)), rng.random()
    if chance < 0.3 and one:
        one.pop()
    elif chance < 0.6 or not one:
        one.append(j)
    elif chance < 0.8:
        one.append(one[0])
    else:
        other.append(one[0])


def exhaust(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record becomes exhausted, without what it had or with it, with its subtree or without, at times in a frame."""
    r = int(rng.integers(len(draft.records)))
    record = draft.records[r]
    record.kind = 1
    if rng.random() < 0.8:
        record.index, record.value, record.fixed = [], [], []
    if rng.random() < 0.7:
        _drop(draft, _below(draft, r))
    if rng.random() < 0.4:
        record.frame = _some_frame(rng, draft, problem)


def exhaust_leaves(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """All leaves become exhausted."""
    for r in draft.leaves():
        record = draft.records[r]
        record.kind, record.index, record.value, record.fixed = 1, [], [], []


def change_kind(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A record of another kind, or of none that there is."""
    _record(rng, draft).kind = int(rng.choice([0, 0, 1, 2, -1]))


def change_k(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Another limit on the number of columns."""
    k, p = int(problem.question.k), problem.p
    draft.claim["k"] = int(rng.choice([k - 1, k + 1, 0, 1, p, p + 1, -1, 2**40, len(draft.forced_in)]))


def change_signs(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Other signs: some, all, one fewer, one turned, or none."""
    sign = np.array(draft.claim.get("sign", ()), dtype=np.int64)
    if sign.size != problem.p or rng.random() < 0.3:
        sign = rng.integers(-1, 2, problem.p)
    j = int(rng.integers(problem.p))
    sign[j] = int(rng.choice([0, 0, -sign[j], 1]))
    draft.claim["sign"] = np.zeros(0, dtype=np.int64) if rng.random() < 0.15 else sign


def change_prices(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """Other prices of single columns: lower, higher, none."""
    price = np.array(draft.claim.get("price", ()), dtype=np.float64)
    if price.size != problem.p:
        price = np.full(problem.p, float(draft.claim["penalty"]))
    draft.claim["penalty"] = 0.0
    j = int(rng.integers(problem.p))
    with np.errstate(over="ignore"):
        price[j] *= float(rng.choice([0.0, 0.5, 1 + 2.0**-52, 2.0]))
        price[j] += float(rng.choice([0.0, 0.0, draft.claim["objective"] * rng.random()]))
    draft.claim["price"] = price if rng.random() < 0.9 else np.zeros(0)


def change_rows(rng: Rng, draft: Draft, problem: ForgeProblem) -> None:
    """A side constraint more, none, or one with another limit or coefficient: what it leaves out need not be proven."""
    claim = draft.claim
    upper = np.array(claim.get("row_upper", ()), dtype=np.int64)
    chance = rng.random()
    if upper.size == 0 or chance < 0.4:
        columns = np.sort(rng.permutation(problem.p)[: int(rng.integers(1, min(problem.p, 4) + 1))])
        coef = rng.choice([1, 1, -1, 2, -3, 1 << 61], columns.size)
        claim["row_offset"] = np.append(claim.get("row_offset", np.zeros(1, dtype=np.int64)), 0)
        claim["row_column"] = np.append(claim.get("row_column", np.zeros(0, dtype=np.int64)), columns)
        claim["row_coef"] = np.append(claim.get("row_coef", np.zeros(0, dtype=np.int64)), coef)
        claim["row_offset"][-1] = claim["row_column"].size
        claim["row_upper"] = np.append(upper, int(rng.integers(-1, 3)))
    elif chance < 0.5:
        for name in ("row_column", "row_coef", "row_upper"):
            claim[name] = np.zeros(0, dtype=np.int64)
        claim["row_offset"] = np.zeros(1, dtype=np.int64)
    elif chance < 0.8:
        upper[int(rng.integers(upper.size))] += int(rng.choice([-1, 1, 1, 3]))
        claim["row_upper"] = upper
    elif claim["row_coef"].size:
        coef = claim["row_coef"].copy()
        coef[int(rng.integers(coef.size))] *= -1
        claim["row_coef"] = coef


STRUCTURE: tuple[Forgery, ...] = (
    *(add_child, add_frame, empty_frame, thin_frame, spoil_frame, move_frame, split, drop_record, drop_leaf),
    *(duplicate_record, reparent, change_decision, fix_more, fix_all, fix_other_way, invent_twins, drop_twins),
    *(force_otherwise, change_k, exhaust, exhaust_leaves, change_kind, change_signs, change_prices, change_rows),
)


def _record(rng: Rng, draft: Draft) -> Record:
    return draft.records[int(rng.integers(len(draft.records)))]


def _below(draft: Draft, r: int) -> set[int]:
    """The records below one."""
    below: set[int] = set()
    for at, record in enumerate(draft.records):
        if record.parent == r or record.parent in below:
            below.add(at)
    return below - {r}


def _drop(draft: Draft, lost: set[int]) -> None:
    kept = {r: at for at, r in enumerate(r for r in range(len(draft.records)) if r not in lost)}
    draft.records = [draft.records[r] for r in kept]
    for record in draft.records[1:]:
        record.parent = kept.get(record.parent, 0)


def _clear(record: Record, column: int) -> None:
    kept = [(j, v) for j, v in zip(record.index, record.value) if j != column]
    record.index, record.value = [j for j, _ in kept], [v for _, v in kept]


def _some_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> int:
    chance = rng.random()
    if chance < 0.4:
        return -1
    if chance < 0.6 and draft.frames:
        return int(rng.integers(len(draft.frames)))
    return _new_frame(rng, draft, problem)


def _new_frame(rng: Rng, draft: Draft, problem: ForgeProblem) -> int:
    """No column, all, or some; with a diagonal of zeros, of a share of the least eigenvalue, or of the squares."""
    p = problem.p
    share = float(rng.choice([0.0, 0.5, 1.0]))
    items = [j for j in range(p) if rng.random() < share or share == 1.0]
    columns = problem.columns_of(items)
    diagonal = [0.0] * len(columns)
    if columns and rng.random() < 0.6:
        with np.errstate(all="ignore"):
            block = problem.dense[:, columns]
            gram = block.T @ block
            squares = np.diag(gram)
            if rng.random() < 0.7 and np.isfinite(gram).all():
                squares = np.full(len(columns), np.linalg.eigvalsh(gram)[0])
            factor = rng.choice([0.5, 0.999999, 1.0, 1.0 + 1e-12, 1.01, 2.0, -1e-9])
            diagonal = [float(d) for d in factor * squares]
    draft.frames.append(problem.frame(items, diagonal))
    return len(draft.frames) - 1
