"""`check(exact=True)` for groups of columns: the whole certificate in exact arithmetic.

Nothing here is shared with the ordinary check. The columns of all groups, a column of two groups twice, are the matrix
of an exact `Problem` without prices; a group's term is the sum of its columns' terms, rounded up to the grid, less its
price, rounded down to it.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from parsifal.display import counted
from parsifal.errors import InputError
from parsifal.proof.certificate import CheckResult, FixArray
from parsifal.proof.choice import GroupCertificate
from parsifal.proof.exact_arithmetic import FloatArray, IntArray, scaled
from parsifal.proof.exact_checker import MOST_STEPS
from parsifal.proof.exact_diagonal import NotSemidefinite
from parsifal.proof.exact_input import Wrong, plain_value, read_matrix, require
from parsifal.proof.exact_problem import Frame, Problem, to_double

_FRAMES = 16  # frames that are kept at hand


def check_groups_exact(certificate: GroupCertificate, X: Any, y: FloatArray) -> CheckResult:
    """`parsifal.proof.group_checker` in exact arithmetic."""
    records = 0
    try:
        names = fields(GroupCertificate)
        c = GroupCertificate(**{f.name: plain_value(f.name, str(f.type), getattr(certificate, f.name)) for f in names})
        records = c.records
        _check_claim(c)
        _check_layout(c)
        require(y.shape == (c.rows,), f"y has shape {y.shape}, the certificate is for {c.rows} rows")
        require(np.isfinite(y).all(), "y holds a non-finite number")
        matrix = read_matrix(X, (c.rows, c.columns))[:, c.group_column]
        if c.sample_weight.size:
            root = np.sqrt(c.sample_weight)
            matrix, y = root[:, None] * matrix, root * y
            require(np.isfinite(matrix).all() and np.isfinite(y).all(), "the weighted data are no numbers")
        stated: Any = SimpleNamespace(
            shape=matrix.shape,
            gamma=c.gamma,
            penalty=0.0,
            price=np.zeros(0),
            sign=np.zeros(0),
            lower_bound=c.lower_bound,
            fingerprint=c.fingerprint,
        )
        problem = Problem(stated, matrix, y)
        _require_effort(c, problem.digits.parts.shape[0])
        _check_solution(c, problem)
        _Tree(c, problem).verify()
    except Wrong as wrong:
        return CheckResult(valid=False, reason=str(wrong), records=records)
    gap = (c.objective - c.lower_bound) / max(abs(c.objective), 1e-300)
    reason = (
        f"objective {c.objective:.10g} and lower bound {c.lower_bound:.10g} (gap {gap:.2e}) "
        f"follow from {counted(records, 'record')} in exact arithmetic"
    )
    return CheckResult(valid=True, reason=reason, records=records)


def _check_claim(c: GroupCertificate) -> None:
    require(c.gamma > 0 and c.k >= 0 and np.all(c.price >= 0), "gamma, a price or k has the wrong sign")
    require(np.isfinite(c.gamma), "gamma is not finite")
    require(c.rows >= 1 and c.columns >= 0, "the shape is not that of a matrix")
    require(c.sample_weight.size in (0, c.rows), "sample_weight has not one entry a row")
    require(np.all(c.sample_weight >= 0), "a sample weight is negative")
    require(
        c.complete,
        "the certificate holds the claim only: its proof was larger than its limit, or the time was up before it",
    )


def _check_layout(c: GroupCertificate) -> None:
    """Lengths, ranges, offsets in order, parents before children: what makes it safe to follow the indices."""
    records, m, q = c.records, c.price.size, c.group_column.size
    require(records > 0, "the proof has no records")
    for name in ("choice", "side", "frame"):
        require(getattr(c, name).size == records, f"{name} has not one entry a record")
    frames = c.frame_offset.size - 1
    for name, offset, length, count in (
        ("group", c.group_offset, q, m),
        ("coef", c.coef_offset, c.coef_index.size, records),
        ("fixed", c.fixed_offset, c.fixed_choice.size, records),
        ("frame", c.frame_offset, c.frame_group.size, frames),
        ("diagonal", c.diagonal_offset, c.diagonal.size, frames),
    ):
        require(offset.size >= 1 and offset.size == count + 1, f"{name}_offset has the wrong length")
        ordered = offset[0] == 0 and offset[-1] == length and np.all(offset[1:] >= offset[:-1])
        require(ordered, f"{name}_offset is not in order")
    require(np.all(c.group_offset[1:] > c.group_offset[:-1]), "a group has no column")
    require(c.coef_value.size == c.coef_index.size, "coef_value and coef_index differ in length")
    for name, low, high in (
        ("group_column", 0, c.columns - 1),
        ("support", 0, m - 1),
        ("forced_in", 0, m - 1),
        ("forced_out", 0, m - 1),
        ("coef_index", 0, q - 1),
        ("frame_group", 0, m - 1),
        ("fixed_choice", -m, m),
        ("choice", -1, m - 1),
        ("frame", -1, frames - 1),
    ):
        values = getattr(c, name)
        require(np.all((values >= low) & (values <= high)), f"{name} is out of range")
    require(np.all(c.fixed_choice != 0), "fixed_choice is out of range")
    require(c.parent[0] == -1 and c.frame[0] == -1, "the first record is not the root, or is in a frame")
    require(np.all((c.parent[1:] >= 0) & (c.parent[1:] < np.arange(1, records))), "a record comes before its parent")
    for values, offset in ((c.coef_index, c.coef_offset), (c.frame_group, c.frame_offset)):
        falls = np.flatnonzero(values[1:] <= values[:-1]) + 1
        require(
            np.isin(falls, offset).all(), "the coefficients of a record, or the groups of a frame, are not in order"
        )
    width = np.concatenate([[0], np.cumsum(np.diff(c.group_offset)[c.frame_group])])
    require(np.array_equal(width[c.frame_offset], c.diagonal_offset), "a diagonal has not one entry a column")


def _columns(c: GroupCertificate, groups: IntArray) -> IntArray:
    """The columns of groups, in their order."""
    parts = [np.arange(c.group_offset[g], c.group_offset[g + 1]) for g in groups]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _check_solution(c: GroupCertificate, problem: Problem) -> None:
    support = c.support
    require(np.unique(support).size == support.size, "the support names a group twice")
    require(support.size <= c.k, f"the support has {support.size} groups, more than k = {c.k}")
    require(np.isin(c.forced_in, support).all(), "a group forced in is not in the support")
    require(not np.isin(c.forced_out, support).any(), "a group forced out is in the support")
    columns = _columns(c, support)
    require(c.coef.size == columns.size, "coef has not one entry for every column of the support")
    order = np.argsort(columns)
    value = problem.objective(columns[order], c.coef[order])
    value += sum((Fraction(price) for price in c.price[support].tolist()), Fraction(0))
    # It was computed in doubles.
    rounding = Fraction(8 * (c.rows + columns.size + 8), 2**53)
    near = abs(value - Fraction(c.objective)) <= (Fraction(1, 10**12) + rounding) * value
    require(near, f"the support's objective is {to_double(value)!r}, not {c.objective!r}")
    require(Fraction(c.lower_bound) <= value, "the lower bound is above the objective")


class _Tree:
    """Walks the records from the root to the leaves."""

    def __init__(self, c: GroupCertificate, problem: Problem) -> None:
        self.c, self.problem = c, problem
        self.owner = np.repeat(np.arange(c.price.size), np.diff(c.group_offset))
        self.price = [scaled(price, problem.grid) for price in c.price.tolist()]
        self.frames: dict[int, Frame] = {}
        self.children: list[list[int]] = [[] for _ in range(c.records)]
        for record, parent in enumerate(c.parent[1:].tolist(), start=1):
            self.children[parent].append(record)

    def verify(self) -> None:
        c = self.c
        fix = np.zeros(c.price.size, dtype=np.int8)
        fix[c.forced_in] = 1
        require(not np.any(fix[c.forced_out]), "a group is forced in and out")
        fix[c.forced_out] = -1
        self.problem.check_fingerprint(*self.coefficients(0), fix[self.owner])
        # Every term of the objective is nonnegative, hence a bound of 0.
        stack = [(0, fix, 0)]
        while stack:
            record, fix, bound = stack.pop()
            fix, bound = self.visit(record, fix, bound)
            stack.extend(self.descend(record, fix, bound))

    def coefficients(self, r: int) -> tuple[IntArray, FloatArray]:
        part = slice(self.c.coef_offset[r], self.c.coef_offset[r + 1])
        return self.c.coef_index[part], self.c.coef_value[part]

    def frame_of(self, r: int, fix: FixArray) -> Frame:
        """The record's frame: all groups outside are out, and the diagonal is verified when it is first used."""
        c, number = self.c, int(self.c.frame[r])
        if number < 0:
            return self.problem.whole
        groups = c.frame_group[c.frame_offset[number] : c.frame_offset[number + 1]]
        outside = np.ones(fix.size, dtype=bool)
        outside[groups] = False
        require(np.all(fix[outside] == -1), f"record {r}: a group outside its frame is not out")
        inside = not outside[self.owner[self.coefficients(r)[0]]].any()
        require(inside, f"record {r} has a coefficient outside its frame")
        if number not in self.frames:
            if len(self.frames) >= _FRAMES:
                self.frames.pop(next(iter(self.frames)))
            columns = _columns(c, groups)
            given = c.diagonal[c.diagonal_offset[number] : c.diagonal_offset[number + 1]]
            try:
                diagonal = self.problem.safe_diagonal(columns, given) if given.any() else None
            except NotSemidefinite:
                raise Wrong(f"frame {number}: Z'Z - diag(d) is not positive semidefinite") from None
            self.frames[number] = self.problem.frame(columns, diagonal)
        return self.frames[number]

    def terms(self, frame: Frame, a: list[int], base: int) -> dict[int, int]:
        """a_g of the frame's groups, rounded up to the grid: the sums of their columns' terms less the prices."""
        owner = self.owner[frame.columns].tolist()
        out: dict[int, int] = {}
        for group, value in zip(owner, a):
            out[group] = out.get(group, -self.price[group]) + value
        # A column whose ridge is taken away takes off anything: so much that no sum with it reaches the claim.
        for at in frame.unbounded:
            out[owner[at]] += max(base - self.problem.claim, 0) + sum(self.price) + 1
        return out

    def visit(self, r: int, fix: FixArray, bound: int) -> tuple[FixArray, int]:
        """Return the fixes after record r's fixings, and its bound; `bound` is what its parent has."""
        c, problem = self.c, self.problem
        frame = self.frame_of(r, fix)
        base, a = problem.dual_point(frame, *self.coefficients(r))
        terms = self.terms(frame, a.tolist(), base)
        inside = np.flatnonzero(fix == 1).tolist()
        room = c.k - len(inside)
        free = sorted((value for group, value in terms.items() if fix[group] == 0 and value > 0), reverse=True)
        own = base - sum(terms[group] for group in inside) - sum(free[: max(room, 0)])
        # alpha = 0 is a dual point too, which leaves the prices of the groups that are in.
        bound = max(bound, own, sum(self.price[group] for group in inside))
        fixed = c.fixed_choice[c.fixed_offset[r] : c.fixed_offset[r + 1]]
        if fixed.size == 0:
            return fix, bound
        j = np.abs(fixed) - 1
        require(np.all(fix[j] == 0) and np.unique(j).size == j.size, f"record {r} fixes a group that is not free")
        if room >= 0 and bound < problem.claim:
            for group, into in zip(j.tolist(), (fixed > 0).tolist()):
                if room == 0 and not into:
                    continue  # with the group in there would be more than k
                other = own + gain(free, room, terms[group], into)
                if other < problem.claim:
                    shown = repr(to_double(other, -problem.grid))
                    raise Wrong(
                        f"record {r} fixes group {group}, but the other choice has the bound {shown}, "
                        f"below the claim {c.lower_bound!r}"
                    )
        fix = fix.copy()
        fix[j] = np.sign(fixed)
        return fix, bound

    def descend(self, r: int, fix: FixArray, bound: int) -> list[tuple[int, FixArray, int]]:
        """The children of record r with what they start from, after a look at whether they cover it."""
        c, children = self.c, self.children[r]
        settled = bound >= self.problem.claim or np.count_nonzero(fix == 1) > c.k
        if not children:
            require(settled, f"record {r} is a leaf below the claim {c.lower_bound!r}")
            return []
        if len(children) == 1 and c.choice[children[0]] == -1:
            return [(children[0], fix, bound)]
        j, sides = int(c.choice[children[0]]), c.side[children].tolist()
        one = j >= 0 and np.all(c.choice[children] == j)
        require(one and sorted(sides) in ([-1, 1], [-1], [1]), f"the children of record {r} do not split one group")
        require(fix[j] == 0, f"record {r} branches on group {j}, which is not free")
        below = []
        for side in (1, -1):
            after = fix.copy()
            after[j] = side
            if side in sides:
                below.append((children[sides.index(side)], after, bound))
            elif np.count_nonzero(after == 1) <= c.k:
                require(settled, f"record {r} has no child that puts group {j} {'in' if side > 0 else 'out'}")
        return below


def _require_effort(c: GroupCertificate, digits: int) -> None:
    """Raise if the check would take very long, as for columns."""
    size = np.diff(c.diagonal_offset)
    named = c.frame[c.frame >= 0]
    looked_at = int(size[named].sum()) + c.group_column.size * int(np.count_nonzero(c.frame < 0))
    tightened = sum(int(size[f]) ** 2 for f in np.unique(named))
    steps = ((c.rows + 60) * (looked_at + 60 * c.records) + 60 * tightened) * max(digits, 4) // 4
    if steps > MOST_STEPS:
        raise InputError(
            f"an exact check of these {c.records} records would take about {steps:.1e} steps, more than the limit of "
            f"{MOST_STEPS:.0e}; check without exact"
        )


def gain(free: list[int], room: int, value: int, into: bool) -> int:
    """How much D rises if a free group with a_j = value is decided the other way than it is fixed.

    `free` are the positive a_j of the free groups in descending order, of which the first `room` count.
    """
    last = free[room - 1] if 0 < room <= len(free) else 0
    counts = room > 0 and value > 0 and value >= last
    if not into:
        # In, it takes the place of the last one that counts.
        return 0 if counts else last - value
    following = free[room] if room < len(free) else 0
    return value - following if counts else 0
