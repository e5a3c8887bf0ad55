"""`check(exact=True)`: verify a certificate in exact arithmetic, where no rounding has to be bounded.

Nothing here, nor in the modules `exact_*`, is shared with the ordinary check.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from parsifal.display import counted
from parsifal.errors import InputError
from parsifal.proof.certificate import EXHAUSTED, BoolArray, Certificate, CheckResult, FixArray, response_of
from parsifal.proof.exact_arithmetic import FloatArray, IntArray, Whole
from parsifal.proof.exact_completions import MOST_COLUMNS, ExactCompletions
from parsifal.proof.exact_diagonal import NotSemidefinite
from parsifal.proof.exact_input import Wrong, check_layout, check_rules, plain, read_matrix, require
from parsifal.proof.exact_problem import Frame, Problem, to_double
from parsifal.proof.exact_rows import ExactRows

# Steps of an exact check, see `_require_effort`: about ten minutes.
MOST_STEPS = 3 * 10**10
_FRAMES = 16  # frames that are kept at hand


def check_exact(certificate: Certificate, X: Any, y: Any) -> CheckResult:
    """`parsifal.proof.checker` in exact arithmetic."""
    response, records = response_of(y, certificate), 0
    try:
        require(not np.iscomplexobj(y), "y holds complex numbers")
        c = plain(certificate)
        records = c.records
        _check(c, X, np.array(response, subok=False))
    except Wrong as wrong:
        return CheckResult(valid=False, reason=str(wrong), records=records)
    gap = (c.objective - c.lower_bound) / max(abs(c.objective), 1e-300)
    reason = (
        f"objective {c.objective:.10g} and lower bound {c.lower_bound:.10g} (gap {gap:.2e}) "
        f"follow from {counted(records, 'record')} in exact arithmetic"
    )
    return CheckResult(valid=True, reason=reason, records=records)


def _check(c: Certificate, X: Any, y: FloatArray) -> None:
    require(c.gamma > 0 and c.penalty >= 0 and c.k >= 0, "gamma, penalty or k has the wrong sign")
    most = 1e-6 if np.isinf(c.gamma) else 0.0
    require(0 <= c.independence <= most, "independence is for gamma = inf, and at most 1e-6")
    matrix = read_matrix(X, c.shape)
    require(y.shape == (c.shape[0],), f"y has shape {y.shape}, the certificate is for {c.shape[0]} rows")
    require(np.isfinite(y).all(), "y holds a non-finite number")
    require(
        c.complete,
        "the certificate holds the claim only: its proof was larger than its limit, or the time was up before it",
    )
    check_rules(c)
    check_layout(c)
    _check_twins(c, matrix)
    problem = Problem(c, matrix, y)
    _require_effort(c, problem.digits.parts.shape[0])
    _check_solution(c, problem)
    _Tree(c, problem).verify()


def _check_twins(c: Certificate, X: FloatArray) -> None:
    forced = {*c.forced_in.tolist(), *c.forced_out.tolist()}
    for later, earlier in zip(c.twin_later.tolist(), c.twin_earlier.tolist()):
        require(later > earlier, f"twins {earlier} and {later} are out of order")
        require(not forced & {later, earlier}, f"twins {earlier} and {later}: one of them is forced")
        a, b = X[:, earlier], X[:, later]
        equal, opposite = np.array_equal(a, b), np.array_equal(a, -b)
        require(equal or opposite, f"columns {earlier} and {later} are called twins but differ")
        pair = np.array([earlier, later])
        require(not np.isin(pair, c.row_column).any(), f"twins {earlier} and {later}: a side constraint names one")
        price, sign = (values[pair] if values.size else np.zeros(2) for values in (c.price, c.sign))
        require(price[0] == price[1], f"twins {earlier} and {later} differ in price")
        alike = (equal and sign[0] == sign[1]) or (opposite and sign[0] == -sign[1])
        require(alike, f"twins {earlier} and {later} differ in sign")


def _check_solution(c: Certificate, problem: Problem) -> None:
    support = c.support
    require(np.unique(support).size == support.size, "the support names a column twice")
    require(support.size <= c.k, f"the support has {support.size} columns, more than k = {c.k}")
    require(c.coef.shape == support.shape, "coef and support differ in length")
    require(np.isin(c.forced_in, support).all(), "a column forced in is not in the support")
    require(not np.isin(c.forced_out, support).any(), "a column forced out is in the support")
    if c.sign.size:
        require(not np.any(c.sign[support] * np.sign(c.coef) < 0), "a coefficient has a sign that is not allowed")
    require(ExactRows(c).allow(support), "the support breaks a side constraint")
    value = problem.objective(support, c.coef)
    # It was computed in doubles.
    rounding = Fraction(8 * (c.shape[0] + c.support.size + 8), 2**53)
    near = abs(value - Fraction(c.objective)) <= (Fraction(1, 10**12) + rounding) * value
    require(near, f"the support's objective is {to_double(value)!r}, not {c.objective!r}")
    require(Fraction(c.lower_bound) <= value, "the lower bound is above the objective")


class _Tree:
    """Walks the records from the root to the leaves."""

    def __init__(self, c: Certificate, problem: Problem) -> None:
        self.c, self.problem = c, problem
        self.frames: dict[int, Frame] = {}
        self.diagonals: dict[int, Whole | None] = {}
        self.earlier: dict[int, list[int]] = {}
        self.later: dict[int, list[int]] = {}
        for later, earlier in zip(c.twin_later.tolist(), c.twin_earlier.tolist()):
            self.earlier.setdefault(later, []).append(earlier)
            self.later.setdefault(earlier, []).append(later)
        self.children: list[list[int]] = [[] for _ in range(c.records)]
        for record, parent in enumerate(c.parent[1:].tolist(), start=1):
            self.children[parent].append(record)
        self.parts = (c.coef_offset.tolist(), c.fixed_offset.tolist())
        self.rows = ExactRows(c)
        self.completions = ExactCompletions(problem, self.rows)
        self.group, self.most = self.rows.caps()

    def verify(self) -> None:
        fix = np.zeros(self.c.shape[1], dtype=np.int8)
        fix[self.c.forced_in], fix[self.c.forced_out] = 1, -1
        given = fix.copy()
        require(self.rows.imply(fix), "the side constraints allow no support at all")
        index, w = self.coefficients(0)
        self.problem.check_fingerprint(index, w, given)
        # Every term of the objective is nonnegative, hence a bound of 0.
        stack = [(0, fix, 0)]
        while stack:
            record, fix, bound = stack.pop()
            if not self.rows.imply(fix):
                continue  # no allowed support is here
            fix, bound = self.visit(record, fix, bound)
            fix = fix.copy()
            if self.rows.imply(fix):
                stack.extend(self.descend(record, fix, bound))

    def coefficients(self, r: int) -> tuple[IntArray, FloatArray]:
        part = slice(self.parts[0][r], self.parts[0][r + 1])
        return self.c.coef_index[part], self.c.coef_value[part]

    def frame_of(self, r: int, fix: FixArray) -> Frame:
        """The record's frame: all columns outside are out, and the diagonal is verified when it is first used."""
        c, number = self.c, int(self.c.frame[r])
        if number < 0:
            return self.problem.whole
        part = slice(int(c.frame_offset[number]), int(c.frame_offset[number + 1]))
        columns, diagonal = c.frame_column[part], c.frame_diagonal[part]
        outside = self.outside(r, fix, columns)
        require(not outside[self.coefficients(r)[0]].any(), f"record {r} has a coefficient outside its frame")
        if number not in self.frames:
            if number not in self.diagonals:
                self.diagonals[number] = self.safe_diagonal(number, columns, diagonal)
            if len(self.frames) >= _FRAMES:
                self.frames.pop(next(iter(self.frames)))
            self.frames[number] = self.problem.frame(columns, self.diagonals[number])
        return self.frames[number]

    def outside(self, r: int, fix: FixArray, columns: IntArray) -> BoolArray:
        """Which columns are outside the record's frame; they have to be out."""
        outside = np.ones(fix.size, dtype=bool)
        outside[columns] = False
        require(np.all(fix[outside] == -1), f"record {r}: a column outside its frame is not out")
        return outside

    def safe_diagonal(self, number: int, columns: IntArray, diagonal: FloatArray) -> Whole | None:
        if not diagonal.any():
            return None
        try:
            return self.problem.safe_diagonal(columns, diagonal)
        except NotSemidefinite:
            raise Wrong(f"frame {number}: X'X - diag(d) is not positive semidefinite") from None

    def visit(self, r: int, fix: FixArray, bound: int) -> tuple[FixArray, int]:
        """Return the fixes after record r's fixings, and its bound; `bound` is what its parent has."""
        c, problem = self.c, self.problem
        if c.kind[r] == EXHAUSTED:
            return fix, self.exhausted(r, fix, bound)
        frame = self.frame_of(r, fix)
        base, a = problem.dual_point(frame, *self.coefficients(r))
        state = fix[frame.columns]
        inside = np.flatnonzero(fix == 1)
        room = c.k - inside.size
        free = frame.columns[state == 0].tolist()
        taken = Taken(dict(zip(free, a[state == 0].tolist())), room, self.group, self.left(inside.tolist()))
        own = base - sum(a[state == 1].tolist()) - taken.total
        # alpha = 0 is a dual point too, which leaves the price of the columns that are in.
        bound = max(bound, own, problem.price_of(inside))
        fixed = c.fixed_column[self.parts[1][r] : self.parts[1][r + 1]]
        if fixed.size == 0:
            return fix, bound
        j = np.abs(fixed) - 1
        require(np.all(fix[j] == 0) and np.unique(j).size == j.size, f"record {r} fixes a column that is not free")
        if room >= 0 and bound < problem.claim:
            for column, into in zip(j.tolist(), (fixed > 0).tolist()):
                if not into and taken.barred(column):
                    continue  # with the column in there would be too many
                other = own + (taken.without(column) if into else taken.including(column))
                if other < problem.claim:
                    raise Wrong(
                        f"record {r} fixes column {column}, but the other choice has the bound {self.shown(other)}, "
                        f"below the claim {c.lower_bound!r}"
                    )
        fix = fix.copy()
        fix[j] = np.sign(fixed)
        return fix, bound

    def left(self, inside: list[int]) -> list[int]:
        """How many more columns of every group may come in."""
        left = self.most.copy()
        for j in inside:
            if j in self.group:
                left[self.group[j]] -= 1
        return left

    def exhausted(self, r: int, fix: FixArray, bound: int) -> int:
        """The claim, all supports of record r having been gone through; or what its parent has, if that will do."""
        claim = self.problem.claim
        number = int(self.c.frame[r])
        if number >= 0:
            self.outside(r, fix, self.c.frame_column[self.c.frame_offset[number] : self.c.frame_offset[number + 1]])
        if bound >= claim or np.count_nonzero(fix == 1) > self.c.k:
            return bound
        self.completions.go_through(fix)
        return claim

    def shown(self, value: int) -> str:
        return repr(to_double(value, -self.problem.grid))

    def descend(self, r: int, fix: FixArray, bound: int) -> list[tuple[int, FixArray, int]]:
        """The children of record r with what they start from, after a look at whether they cover it."""
        c, children = self.c, self.children[r]
        settled = bound >= self.problem.claim or np.count_nonzero(fix == 1) > c.k
        if not children:
            if not settled:
                shown = self.shown(bound)
                raise Wrong(f"record {r} is a leaf with the bound {shown}, below the claim {c.lower_bound!r}")
            return []
        if len(children) == 1 and c.column[children[0]] == -1:
            return [(children[0], fix, bound)]
        j, sides = int(c.column[children[0]]), c.side[children].tolist()
        one = j >= 0 and np.all(c.column[children] == j)
        split_in_two = sorted(sides) in ([-1, 1], [-1], [1])
        require(one and split_in_two, f"the children of record {r} do not split one column")
        require(fix[j] == 0, f"record {r} branches on column {j}, which is not free")
        below = []
        for side in (1, -1):
            after = self.decide(fix, j, side)
            if side in sides:
                below.append((children[sides.index(side)], after, bound))
            elif self.rows.imply(after) and np.count_nonzero(after == 1) <= c.k:
                require(settled, f"record {r} has no child that puts column {j} {'in' if side > 0 else 'out'}")
        return below

    def decide(self, fix: FixArray, j: int, side: int) -> FixArray:
        """Put column j in or out, with what its twins imply: a later one is in only if all earlier ones are."""
        fix = fix.copy()
        fix[j] = side
        todo, implied = [j], self.earlier if side > 0 else self.later
        while todo:
            for other in implied.get(todo.pop(), []):
                if fix[other] == 0:
                    fix[other] = side
                    todo.append(other)
        return fix


class Taken:
    """The free columns with the largest positive terms, no more than `room` and no more than `left` of each group.

    Taken in descending order, as long as there is room: the sets that are allowed are those of a matroid, for which
    that is the largest sum. The best set with one column more, or without one, then differs by one exchange.

    Parameters
    ----------
    value : dict
        The terms of the free columns.
    room : int
        How many may come in.
    group : dict
        The group of columns that have one.
    left : list of int
        How many of each group may come in.
    """

    def __init__(self, value: dict[int, int], room: int, group: dict[int, int], left: list[int]) -> None:
        self.value, self.room, self.group, self.left = value, room, group, left
        self.inside: list[int] = []
        for j in sorted((j for j in value if value[j] > 0), key=lambda j: -value[j]):
            if self.fits(j, self.inside):
                self.inside.append(j)
        self.total = sum(value[j] for j in self.inside)

    def of_group(self, j: int, columns: list[int]) -> list[int]:
        return [i for i in columns if self.group.get(i, -1) == self.group[j]]

    def fits(self, j: int, columns: list[int]) -> bool:
        """Whether j may come to these."""
        if len(columns) >= self.room:
            return False
        return j not in self.group or len(self.of_group(j, columns)) < self.left[self.group[j]]

    def barred(self, j: int) -> bool:
        """Whether no allowed set has this column."""
        return not self.fits(j, [])

    def including(self, j: int) -> int:
        """How much D rises if column j has to come in."""
        if j in self.inside:
            return 0
        rivals = self.inside
        if j in self.group and len(self.of_group(j, self.inside)) >= self.left[self.group[j]]:
            rivals = self.of_group(j, self.inside)
        elif len(self.inside) < self.room:
            rivals = []
        return (min(self.value[i] for i in rivals) if rivals else 0) - self.value[j]

    def without(self, j: int) -> int:
        """How much D rises if column j has to stay out."""
        if j not in self.inside:
            return 0
        rest = [i for i in self.inside if i != j]
        others = (self.value[i] for i in self.value if i not in self.inside and self.fits(i, rest))
        return self.value[j] - max(0, max(others, default=0))


def _require_effort(c: Certificate, digits: int) -> None:
    """Raise if the check would take very long: a step is a multiplication of two doubles with their parts."""
    n, size = c.shape[0], np.diff(c.frame_offset)
    named = c.frame[c.frame >= 0]
    looked_at = int(size[named].sum()) + c.shape[1] * int(np.count_nonzero(c.frame < 0))
    tightened = [size[f] for f in np.unique(named) if c.frame_diagonal[c.frame_offset[f] : c.frame_offset[f + 1]].any()]
    # Each row and each column costs about as much again as 60 entries: whole numbers of any size are slow.
    steps = (n + 60) * (looked_at + 60 * c.records) + 60 * sum(int(m) ** 2 for m in tightened)
    # An exhausted record makes whole numbers of every product of two columns.
    steps += 40 * int(np.count_nonzero(c.kind == EXHAUSTED)) * min(c.shape[1], MOST_COLUMNS) ** 2
    steps = steps * max(digits, 4) // 4
    if steps > MOST_STEPS:
        raise InputError(
            f"an exact check of these {c.records} records would take about {steps:.1e} steps, more than the limit of "
            f"{MOST_STEPS:.0e}; check without exact"
        )
