"""The tree of records: every bound and every fixing recomputed, and that the leaves cover all supports.

All numbers are in the units of `Scaled`. The statement that a record stands for: no support that agrees with the
decisions on the way to it (columns in, columns out, at most k columns, no later twin without its earlier one) and is
allowed by the side constraints has an objective below the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsifal.proof.caps import Caps, Choice, largest
from parsifal.proof.certificate import EXHAUSTED, Certificate, FixArray, FloatArray, IntArray
from parsifal.proof.completions import Completions
from parsifal.proof.preconditions import Refused, require
from parsifal.proof.scaled import UNDERFLOW, Scaled, length, total, unit
from parsifal.proof.side_rows import SideRows
from parsifal.proof.tall import Tall

_LARGEST = 2.0**400  # of a residual, scaled; the allowance for underflow counts with it
_MOST_FRAMES = 32  # held at a time
_MOST_HELD = 1 << 24  # entries of their columns: 128 MB
_MOST_TIGHTENED = 8000  # columns of a frame with a diagonal, whose Gram matrix is made
_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A set of columns with their data, and a diagonal d for which X'X - diag(d) is positive semidefinite.

    `diagonal` is None where it is zero.
    """

    columns: IntArray
    block: Tall
    diagonal: FloatArray | None


@dataclass(frozen=True, kw_only=True)
class DualPoint:
    """A dual point on some columns: `base` not above, `terms` not below what they are in exact arithmetic.

    For every set S of these columns the objective is at least ``base - sum of terms over S``.
    """

    base: float
    terms: FloatArray
    columns: IntArray


class Records:
    """Walks the records from the root to the leaves.

    Parameters
    ----------
    c : Certificate
        A `plain` one, whose twins have been checked.
    data : Scaled
        Its problem.
    claim : float
        What every leaf and every fixing has to reach, in scaled units; -inf: nothing, `least` is what they reach.
    effort : float
        How much may be tried at exhausted records (`Completions`).
    """

    def __init__(self, c: Certificate, data: Scaled, claim: float, effort: float = float("inf")) -> None:
        self.c, self.data, self.claim = c, data, claim
        self.least = np.inf  # the smallest bound that a leaf or a fixing rests on
        self.earlier = dict(zip(c.twin_later.tolist(), c.twin_earlier.tolist()))
        self.later: dict[int, list[int]] = {}
        for later, earlier in self.earlier.items():
            self.later.setdefault(earlier, []).append(later)
        self.children: list[list[int]] = [[] for _ in range(c.records)]
        for record in range(1, c.records):
            self.children[int(c.parent[record])].append(record)
        self.frames: dict[int, Frame] = {}
        self.rows, self.caps = SideRows(c), Caps(c)
        # Without a claim exhausted records are held to the objective, and tell what is below it.
        target = claim if claim > -np.inf else min(data.value(c.objective), _LARGEST)
        self.completions = Completions(c, data, target=target, strict=claim > -np.inf, effort=effort)
        # Columns that the tree works on: gathered once all others are out.
        self.live: IntArray = np.zeros(0, dtype=np.int64)
        self.block = Tall(data.X, self.live)

    def verify(self) -> None:
        """Proves: every support that respects what is forced has an objective of at least the claim, and of `least`."""
        c = self.c
        require(c.frame[0] == -1, "the first record is in a frame")
        start = np.zeros(c.shape[1], dtype=np.int8)
        start[c.forced_in] = 1
        require(not np.any(start[c.forced_out]), "a column is forced in and out")
        start[c.forced_out] = -1
        require(self.data.X.finite[start >= 0].all(), "X holds a non-finite number")
        require(self.rows.imply(start), "the side constraints allow no support at all")
        stack: list[tuple[int, FixArray, float]] = [(0, start, -np.inf)]
        while stack:
            record, fix, bound = stack.pop()
            # Where side constraints allow nothing there is nothing to prove, and all that is said there is true.
            if not self.rows.imply(fix):
                continue
            fix, bound = self.visit(record, fix, bound)
            if self.rows.imply(fix):
                self.check_children(record, fix, bound, stack)

    def visit(self, r: int, fix: FixArray, inherited: float) -> tuple[FixArray, float]:
        """The fixes after record r's fixings, and its bound on the supports that agreed with `fix` before them.

        Proves: with the columns in, and the largest positive terms of the free ones for the k - |in| places that are
        left (of those that caps on groups let go together), ``base - sum of terms`` is not above any objective; nor is
        the parent's bound, nor the price of the columns in (alpha = 0: every other part of the objective is
        nonnegative).
        """
        c = self.c
        if c.kind[r] == EXHAUSTED:
            return fix, self.exhausted(r, fix, inherited)
        point = self.dual_point(r, fix)
        state = fix[point.columns]
        inside = np.flatnonzero(fix == 1)
        room = max(c.k - inside.size, 0)
        choice = self.caps.choose(point.terms, point.columns, fix, room) if self.caps.most.size else None
        if choice is None:
            choice = largest(point.terms, state, room)
        own = total(point.base, *(-point.terms[state == 1]), *(-choice.terms))
        bound = max(inherited, self.data.price_of(inside), own)
        fixed = c.fixed_column[c.fixed_offset[r] : c.fixed_offset[r + 1]]
        if fixed.size:
            fix = self.fix_columns(r, fixed, fix, point, choice=choice, room=room, own=own, bound=bound)
        return fix, bound

    def exhausted(self, r: int, fix: FixArray, inherited: float) -> float:
        """A bound on the supports that agree with `fix`, whose proof is that all of them were gone through.

        Where the parent's bound reaches the target, or more than k columns are in, there is nothing to do.
        """
        c, inside = self.c, np.flatnonzero(fix == 1)
        if c.frame[r] >= 0:
            self.check_outside(r, fix, self.columns_of(int(c.frame[r])))
        if r == 0:
            beta = self.data.X.transpose_times(self.data.y)
            self.data.check_fingerprint(c.fingerprint, beta, self.data.size, fix >= 0)
        if inherited >= self.completions.target or inside.size > c.k:
            return max(inherited, self.data.price_of(inside))
        return self.completions.bound(fix)

    def fix_columns(
        self,
        r: int,
        fixed: IntArray,
        fix: FixArray,
        point: DualPoint,
        *,
        choice: Choice,
        room: int,
        own: float,
        bound: float,
    ) -> FixArray:
        """The fixes with those of record r.

        Proves: supports with a column that is fixed out, or without one that is fixed in, are not below the claim.
        Putting a column in displaces the last of those that were chosen, or of its group; putting it out lets the next
        one in (`caps.py`). With no place left no support has a further column.
        """
        j = np.abs(fixed) - 1
        at = np.searchsorted(point.columns, j)
        known = point.columns[np.minimum(at, point.columns.size - 1)] == j if point.columns.size else at < 0
        require(np.all(known), f"record {r} fixes a column outside its frame")
        free_once = np.all(fix[j] == 0) and np.unique(j).size == j.size
        require(free_once, f"record {r} fixes a column that is not free")
        value, last_in, best_out = point.terms[at], choice.last_in[at], choice.best_out[at]
        barred = choice.barred[at]
        with_it = np.where(barred, np.inf, np.where(value < last_in, _sum(own, last_in, -value), own))
        chosen = (value > 0) & (value >= last_in) & ~barred
        without_it = np.where(chosen, _sum(own, value, -best_out), own)
        opposite = np.where(fixed < 0, with_it, without_it)
        reached = np.fmax(opposite, bound)  # what is no number proves nothing
        self.least = min(self.least, float(reached.min()))
        bad = np.flatnonzero(~(reached >= self.claim))
        if bad.size:
            in_units = self.data.in_units
            raise Refused(
                f"record {r} fixes column {j[bad[0]]}, but the other choice has the bound "
                f"{in_units(float(reached[bad[0]]))!r}, below the claim {self.c.lower_bound!r}"
            )
        fix = fix.copy()
        fix[j] = np.where(fixed > 0, 1, -1)
        return fix

    def dual_point(self, r: int, fix: FixArray) -> DualPoint:
        """The dual point of record r, over every column that is not out.

        Proves for a record without a frame, and for one whose frame has no diagonal: with the computed alpha, whatever
        it is, the objective of S is at least y'alpha - 1/2 |alpha|^2 - sum over S of (x_j'alpha)^2 / (2 ridge_j).
        Columns outside the frame need no term, for they are out.
        """
        c, data = self.c, self.data
        part = slice(c.coef_offset[r], c.coef_offset[r + 1])
        index, number = c.coef_index[part], int(c.frame[r])
        w = data.coefficients(index, c.coef_value[part])
        if number < 0:
            alpha = self.residual(r, Tall(data.X, index), w)
            beta = data.X.transpose_times(alpha)
            if r == 0:
                reach = data.size + float(np.abs(w) @ data.X.norms[index])
                data.check_fingerprint(self.c.fingerprint, beta, reach, fix >= 0)
            error = unit(data.n) * length(alpha) * data.X.norms + UNDERFLOW
            columns = np.arange(c.shape[1])
            return DualPoint(base=data.plain_base(alpha), terms=data.terms(beta, error, columns, None), columns=columns)
        frame = self.frame(number)
        columns = frame.columns
        self.check_outside(r, fix, columns)
        require(np.isin(index, columns).all(), f"record {r} has a coefficient outside its frame")
        dense = np.zeros(columns.size)
        dense[np.searchsorted(columns, index)] = w
        alpha = self.residual(r, frame.block, dense)
        if frame.diagonal is not None:
            return self.tightened_point(frame, frame.diagonal, dense, alpha)
        error = unit(data.n) * length(alpha) * frame.block.norms + UNDERFLOW
        beta = frame.block.transpose_times(alpha)
        return DualPoint(base=data.plain_base(alpha), terms=data.terms(beta, error, columns, None), columns=columns)

    def check_outside(self, r: int, fix: FixArray, columns: IntArray) -> None:
        """Proves: every column outside the frame of record r is out."""
        outside = fix >= 0
        outside[columns] = False
        require(not outside.any(), f"record {r}: a column outside its frame is not out")

    def columns_of(self, number: int) -> IntArray:
        """The columns of a frame."""
        return self.c.frame_column[self.c.frame_offset[number] : self.c.frame_offset[number + 1]]

    def residual(self, r: int, block: Tall, w: FloatArray) -> FloatArray:
        """y - X w, all of whose entries are numbers whose squares are, or which is zero."""
        alpha = block.residual(self.data.y, w)
        largest = float(np.abs(alpha).max(initial=0.0))
        require(largest < _LARGEST and not 0 < largest < 1 / _LARGEST, f"record {r}: its residual is beyond all units")
        return alpha

    def tightened_point(self, frame: Frame, d: FloatArray, w: FloatArray, alpha: FloatArray) -> DualPoint:
        """The dual point in a frame with a diagonal.

        Proves: with alpha = y - X w exactly, which the computed one is up to `drift`, and beta_j = x_j'alpha + d_j w_j,
        the objective of S is at least

            y'alpha - 1/2 |alpha|^2 + 1/2 sum d_j w_j^2 - sum over S of beta_j^2 / (2 (ridge_j + d_j)),

        since 1/2 |y - X u|^2 = 1/2 |alpha|^2 - alpha'X(u - w) + 1/2 (u - w)'X'X(u - w), whose last term is at least
        1/2 sum d_j (u_j - w_j)^2. Moving alpha by drift moves the first two terms by at most |y - alpha| drift +
        1/2 drift^2.
        """
        data = self.data
        size = float(np.abs(w) @ frame.block.norms)
        drift = unit(int(np.count_nonzero(w))) * (data.size + size) + UNDERFLOW
        moved = drift * (length(data.y - alpha) + drift) * 1.01
        squares, sizes = 0.5 * float(d @ w**2), 0.5 * float(np.abs(d) @ w**2)
        base = total(data.plain_base(alpha), -moved, squares, -unit(w.size) * sizes - UNDERFLOW)
        shift = d * w
        beta = frame.block.transpose_times(alpha) + shift
        relative = unit(data.n) * length(alpha) + drift
        error = relative * frame.block.norms + unit(0) * (np.abs(shift) + np.abs(beta)) + UNDERFLOW
        return DualPoint(base=base, terms=data.terms(beta, error, frame.columns, d), columns=frame.columns)

    def frame(self, number: int) -> Frame:
        """A frame of the certificate, its diagonal verified when it is first used."""
        if number in self.frames:
            return self.frames[number]
        c = self.c
        part = slice(c.frame_offset[number], c.frame_offset[number + 1])
        columns = self.columns_of(number)
        if not np.isin(columns, self.live).all():
            self.live, self.block = columns, Tall(self.data.X, columns)
        same = columns.size == self.live.size
        block = self.block if same else self.block.take(np.searchsorted(self.live, columns))
        diagonal = self.data.diagonal(columns, c.frame_diagonal[part])
        safe = safe_diagonal(number, diagonal, block) if np.any(diagonal) else None
        held = sum(frame.block.entries for frame in self.frames.values())
        if len(self.frames) >= _MOST_FRAMES or held > _MOST_HELD:
            self.frames.clear()
        self.frames[number] = Frame(columns=columns, block=block, diagonal=safe)
        return self.frames[number]

    def check_children(self, r: int, fix: FixArray, bound: float, stack: list[tuple[int, FixArray, float]]) -> None:
        """Proves: the supports of record r are those of its children, and others that are not below the claim.

        One child without a decision stands for all of them; two stand for those with a column and those without; a
        side without a child is bounded by the record itself, or has more than k columns in, as no support has, or is
        one that side constraints leave nothing of.
        """
        c, children = self.c, self.children[r]
        empty = int(np.count_nonzero(fix == 1)) > c.k
        if len(children) == 1 and c.column[children[0]] == -1:
            stack.append((children[0], fix, bound))
            return
        if not children:
            self.close(
                bound,
                empty,
                f"record {r} is a leaf with the bound {self.data.in_units(bound)!r}, below the claim {c.lower_bound!r}",
            )
            return
        columns, sides = c.column[children], c.side[children]
        j = int(columns[0])
        splits = j >= 0 and np.all(columns == j) and sorted(sides.tolist()) in ([-1, 1], [-1], [1])
        require(splits, f"the children of record {r} do not split one column")
        require(fix[j] == 0, f"record {r} branches on column {j}, which is not free")
        child = dict(zip(sides.tolist(), children))
        for side in (1, -1):
            after = self.decide(fix, j, side)
            if side in child:
                stack.append((child[side], after, bound))
            else:
                # (`decide` gives a copy.)
                none = empty or not self.rows.imply(after) or int(np.count_nonzero(after == 1)) > c.k
                self.close(bound, none, f"record {r} has no child that puts column {j} {'in' if side > 0 else 'out'}")

    def close(self, bound: float, empty: bool, reason: str) -> None:
        """Supports that nothing further is said about: there are none, or the bound has to reach the claim."""
        if not empty:
            self.least = min(self.least, bound)
            require(bound >= self.claim, reason)

    def decide(self, fix: FixArray, j: int, side: int) -> FixArray:
        """Put column j in or out.

        Proves: with a later twin in, its earlier one is in; with an earlier twin out, its later ones are out. A twin
        that is decided otherwise already makes the node empty, and any bound on it true.
        """
        fix = fix.copy()
        fix[j] = side
        chain = [j]
        while chain:
            at = chain.pop()
            before = [self.earlier[at]] if at in self.earlier else []
            implied = before if side > 0 else self.later.get(at, [])
            for other in implied:
                if fix[other] == 0:
                    fix[other] = side
                    chain.append(other)
        return fix


def _sum(first: float, second: float | FloatArray, third: float | FloatArray) -> FloatArray:
    """The sum of three, entry by entry, lowered by more than its two roundings."""
    size = np.abs(first) + np.abs(second) + np.abs(third)
    return np.asarray((first + second) + third - 8 * _ROUNDOFF * size)


def safe_diagonal(number: int, diagonal: FloatArray, block: Tall) -> FloatArray:
    """The diagonal, or slightly less.

    Proves: X'X - diag(d) is positive semidefinite, in exact arithmetic, for the d that is returned. With columns of
    unit norm, a Cholesky factorisation of an m x m matrix of diagonal at most t that runs to its end shows that no
    eigenvalue is below -m unit(m) t, and entries that are off by unit(n) make for m unit(n) more (docs/numerics.md).
    """
    norms = block.norms
    require(np.isfinite(diagonal).all(), f"frame {number}: the diagonal is beyond double precision")
    require(diagonal.size <= _MOST_TIGHTENED, f"frame {number}: more than {_MOST_TIGHTENED} columns with a diagonal")
    require(np.all(diagonal[norms == 0] <= 0), f"frame {number}: a zero column has a diagonal")
    require(not np.any(block.sizes[norms == 0]), f"frame {number}: a column's square is no number")
    some = np.flatnonzero(norms > 0)
    n, m = block.shape[0], some.size
    gram = (block if m == norms.size else block.take(some)).gram()
    gram[np.diag_indices(m)] -= diagonal[some] / norms[some] ** 2
    require(np.isfinite(gram).all(), f"frame {number}: the diagonal is beyond double precision")
    # The diagonal of the matrix is 1 - d_j / |x_j|^2.
    error = m * unit(n + m + 8) * max(1.0, float(np.abs(np.diag(gram)).max(initial=0.0)))
    for shift in (-1.0, 0.0, 1.0, 3.0):
        shifted = gram.copy()
        shifted[np.diag_indices(m)] += shift * error
        try:
            factor = np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        if np.isfinite(factor).all():
            return np.asarray(diagonal - (shift + 1.0) * error * norms**2)
    raise Refused(f"frame {number}: X'X - diag(d) is not positive semidefinite")
