"""`check`: verify a certificate against the data, with NumPy alone and nothing of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.certificate import Certificate, CheckResult, FloatArray, IntArray, fingerprint, response_of
from parsifal.columns import Columns

FixArray = npt.NDArray[np.int8]

_ROUNDOFF = 2.0**-53


def _unit(terms: int) -> float:
    """The relative error of a sum of so many products in any order, of entries off by a few roundings themselves."""
    return 1.01 * (terms + 8) * _ROUNDOFF


class _Wrong(Exception):
    """The first thing that is wrong."""


def check(certificate: Certificate, X: Any, y: Any) -> CheckResult:
    """Verify that `certificate` proves its claim for the data X and y.

    Recomputes every number from the data: the solution's objective, the dual value of every record over every column it
    concerns, every fixing, and that the records together cover all supports. What rounding can be worth is taken off
    every bound (docs/numerics.md), so a certificate that passes proves its bound in exact arithmetic.

    Parameters
    ----------
    certificate : Certificate
        From ``Solution.certificate`` or `Certificate.load`.
    X, y : the data
        As they were given to `solve` (an array, a frame, a sparse matrix, or anything with ``shape``, ``columns`` and
        ``scan`` like a `Design`).

    Returns
    -------
    CheckResult
        True in a condition if the proof holds; otherwise ``reason`` names the first thing that is wrong.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            columns = Columns(X)
            _require(len(columns.shape) == 2, f"X has shape {columns.shape}, a matrix is needed")
            _check(certificate, columns, response_of(y, certificate))
    except _Wrong as wrong:
        return CheckResult(valid=False, reason=str(wrong), records=certificate.records)
    gap = (certificate.objective - certificate.lower_bound) / max(abs(certificate.objective), 1e-300)
    return CheckResult(
        valid=True,
        reason=(
            f"objective {certificate.objective:.10g} and lower bound {certificate.lower_bound:.10g} "
            f"(gap {gap:.2e}) follow from {certificate.records} records"
        ),
        records=certificate.records,
    )


def provable_bound(certificate: Certificate, X: Any, y: Any) -> float:
    """The largest lower bound that the certificate's records prove, whatever it claims; -inf if they prove nothing."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            columns, response = Columns(X), np.asarray(y, dtype=np.float64)
            _check_layout(certificate)
            tree = _Tree(certificate, columns, response, claim=-np.inf)
            tree.verify()
            return tree.least
    except _Wrong:
        return -np.inf


def _check(c: Certificate, X: Columns, y: FloatArray) -> None:
    _require(
        bool(np.isfinite([c.gamma, c.penalty, c.objective, c.lower_bound]).all()), "the claim holds a non-finite number"
    )
    _require(c.gamma > 0 and c.penalty >= 0 and c.k >= 0, "gamma, penalty or k has the wrong sign")
    _require(X.shape == c.shape, f"X has shape {X.shape}, the certificate is for {c.shape}")
    _require(y.shape == (c.shape[0],), f"y has shape {y.shape}, the certificate is for {c.shape[0]} rows")
    _require(bool(np.isfinite(y).all()), "y holds a non-finite number")
    _require(
        c.complete,
        "the certificate holds the claim only: its proof was larger than its limit, or the time was up before it",
    )
    _check_layout(c)
    _check_solution(c, X, y)
    _check_twins(c, X)
    _Tree(c, X, y, claim=c.lower_bound).verify()


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise _Wrong(reason)


def _check_layout(c: Certificate) -> None:
    """Indices in range, offsets in order, parents before children."""
    records, p = c.records, c.shape[1]
    _require(records > 0, "the proof has no records")
    for name in ("column", "side", "frame"):
        _require(getattr(c, name).size == records, f"{name} has not one entry a record")
    for offset, values, count in (
        (c.coef_offset, c.coef_index, records),
        (c.fixed_offset, c.fixed_column, records),
        (c.frame_offset, c.frame_column, c.frame_offset.size - 1),
    ):
        _require(offset.size >= 1 and offset.size == count + 1, "an offset array has the wrong length")
        ok = offset[0] == 0 and offset[-1] == values.size and np.all(np.diff(offset) >= 0)
        _require(bool(ok), "an offset array is not in order")
    _require(c.coef_value.size == c.coef_index.size, "coef_value and coef_index differ in length")
    _require(c.frame_diagonal.size == c.frame_column.size, "frame_diagonal and frame_column differ in length")
    _require(c.twin_later.size == c.twin_earlier.size, "the twin arrays differ in length")
    for name in ("support", "forced_in", "forced_out", "coef_index", "frame_column", "twin_later", "twin_earlier"):
        array = getattr(c, name)
        _require(bool(np.all((array >= 0) & (array < p))), f"{name} names a column that X does not have")
    fixed = np.abs(c.fixed_column)
    _require(bool(np.all((fixed >= 1) & (fixed <= p))), "fixed_column names a column that X does not have")
    _require(bool(np.all((c.column >= -1) & (c.column < p))), "column names a column that X does not have")
    _require(bool(np.all((c.frame >= -1) & (c.frame < c.frame_offset.size - 1))), "a record names no such frame")
    _require(c.parent[0] == -1, "the first record is not the root")
    order = np.arange(records)
    _require(bool(np.all((c.parent[1:] >= 0) & (c.parent[1:] < order[1:]))), "a record comes before its parent")
    inside = np.ones(max(c.coef_index.size - 1, 0), dtype=bool)
    inside[c.coef_offset[(c.coef_offset > 0) & (c.coef_offset < c.coef_index.size)] - 1] = False
    _require(bool(np.all(np.diff(c.coef_index)[inside] > 0)), "the coefficients of a record are not in order")
    _require(
        bool(np.isfinite(c.coef_value).all() and np.isfinite(c.frame_diagonal).all()), "a coefficient is not finite"
    )


def _check_solution(c: Certificate, X: Columns, y: FloatArray) -> None:
    support = c.support
    _require(np.unique(support).size == support.size, "the support names a column twice")
    _require(support.size <= c.k, f"the support has {support.size} columns, more than k = {c.k}")
    _require(c.coef.shape == support.shape, "coef and support differ in length")
    _require(bool(np.isin(c.forced_in, support).all()), "a column forced in is not in the support")
    _require(not np.isin(c.forced_out, support).any(), "a column forced out is in the support")
    columns = X.take(support)
    alpha = y - columns @ c.coef
    value = 0.5 * float(alpha @ alpha) + 0.5 * float(c.coef @ c.coef) / c.gamma + c.penalty * support.size
    # Twice what rounding can be worth: here, and where the objective was computed first.
    size = float(np.linalg.norm(y)) + float(np.abs(c.coef) @ np.linalg.norm(columns, axis=0))
    blur = _unit(support.size) * size
    tolerance = 2 * (_unit(c.shape[0] + support.size) * abs(value) + blur * (float(np.linalg.norm(alpha)) + blur))
    _require(
        bool(np.isfinite(value)) and abs(value - c.objective) <= tolerance,
        f"the support's objective is {value!r}, not {c.objective!r}",
    )
    _require(c.lower_bound <= c.objective + tolerance, "the lower bound is above the objective")


def _check_twins(c: Certificate, X: Columns) -> None:
    forced = np.union1d(c.forced_in, c.forced_out)
    for later, earlier in zip(c.twin_later, c.twin_earlier):
        _require(later > earlier, f"twins {earlier} and {later} are out of order")
        _require(not np.isin([later, earlier], forced).any(), f"twins {earlier} and {later}: one of them is forced")
        pair = X.take(np.array([earlier, later]))
        same = np.array_equal(pair[:, 0], pair[:, 1]) or np.array_equal(pair[:, 0], -pair[:, 1])
        _require(same, f"columns {earlier} and {later} are called twins but differ")


class _Tree:
    """Walks the records from the root to the leaves."""

    def __init__(self, c: Certificate, X: Columns, y: FloatArray, claim: float) -> None:
        self.c, self.X, self.y, self.claim = c, X, y, claim
        self.least = np.inf  # the smallest bound that a leaf or a fixing rests on
        self.earlier = dict(zip(c.twin_later.tolist(), c.twin_earlier.tolist()))
        self.later: dict[int, list[int]] = {}
        for later, earlier in self.earlier.items():
            self.later.setdefault(earlier, []).append(later)
        self.children: list[list[int]] = [[] for _ in range(c.records)]
        for record in range(1, c.records):
            self.children[int(c.parent[record])].append(record)
        self.frames: dict[int, tuple[IntArray, FloatArray, FloatArray, FloatArray]] = {}
        self.size = float(np.linalg.norm(y))
        self.norms = X.rounding_norms()  # that the errors of X'alpha are relative to
        # Columns that the tree works on: gathered once all others are out.
        self.live: IntArray | None = None
        self.block: FloatArray = np.zeros((c.shape[0], 0))

    def verify(self) -> None:
        c = self.c
        start = np.zeros(c.shape[1], dtype=np.int8)
        start[c.forced_in], start[c.forced_out] = 1, -1
        stack: list[tuple[int, FixArray, float]] = [(0, start, -np.inf)]
        while stack:
            record, fix, bound = stack.pop()
            fix, bound = self.visit(record, fix, bound)
            self.check_children(record, fix, bound, stack)

    def visit(self, r: int, fix: FixArray, inherited: float) -> tuple[FixArray, float]:
        """Return the fixes after record r's fixings, and its bound."""
        c = self.c
        index = c.coef_index[c.coef_offset[r] : c.coef_offset[r + 1]]
        w = c.coef_value[c.coef_offset[r] : c.coef_offset[r + 1]]
        base, beta, error, columns = self.dual_point(r, index, w, fix)
        a = 0.5 * c.gamma * (np.abs(beta) + error) ** 2 - c.penalty
        state = fix[columns]
        inside = int(np.count_nonzero(fix == 1))
        room = c.k - inside
        taken = float(a[state == 1].sum())
        free = np.sort(a[(state == 0) & (a > 0)])[::-1]
        chosen = free[: max(room, 0)]
        # alpha = 0 is a dual point too: every term of the objective is nonnegative.
        trivial = c.penalty * inside
        _require(bool(np.isfinite(base)), f"record {r}: its dual value is not finite")
        # These sums round too, as do those that a fixing compares with the claim: a_j does so relative to the penalty
        # where it is chosen, and hence about as large as the penalty, or in.
        terms = inside + min(max(room, 0), free.size + 1)
        largest = float(np.max(a, initial=0.0)) + c.penalty
        priced = inside * c.penalty + terms * min(c.penalty, largest if np.any(a > -0.5 * c.penalty) else 0.0)
        sums = _unit(terms) * (abs(base) + abs(taken) + float(chosen.sum()) + 2 * priced)
        own = base - taken - float(chosen.sum()) - sums
        bound = max(inherited, trivial, own)
        if r == 0:
            self.check_fingerprint(beta, index, w, fix)
        fixed = c.fixed_column[c.fixed_offset[r] : c.fixed_offset[r + 1]]
        if fixed.size == 0:
            return fix, bound
        # Forcing a column in displaces the last that was chosen; forcing one out lets the next one in.
        last_in = np.inf if room <= 0 else float(chosen[room - 1]) if chosen.size == room else 0.0
        best_out = float(free[max(room, 0)]) if free.size > max(room, 0) else 0.0
        j = np.abs(fixed) - 1
        position = {int(column): at for at, column in enumerate(columns)} if columns.size != c.shape[1] else None
        at = j if position is None else np.array([position.get(int(column), -1) for column in j])
        _require(bool(np.all(at >= 0)), f"record {r} fixes a column outside its frame")
        _require(
            bool(np.all(fix[j] == 0)) and np.unique(j).size == j.size, f"record {r} fixes a column that is not free"
        )
        value = a[at]
        with np.errstate(invalid="ignore"):
            outs = np.where(value < last_in, own + last_in - value, own)
            ins = np.where((value > 0) & (value >= last_in), own + value - best_out, own)
        opposite = np.where(fixed < 0, outs, ins)
        reached = np.maximum(opposite, bound)
        self.least = min(self.least, float(reached.min()))
        bad = np.flatnonzero(~(reached >= self.claim))
        if bad.size:
            raise _Wrong(
                f"record {r} fixes column {j[bad[0]]}, but the other choice has the bound {opposite[bad[0]]!r}, "
                f"below the claim {self.claim!r}"
            )
        fix = fix.copy()
        fix[j] = np.where(fixed > 0, 1, -1)
        return fix, bound

    def check_fingerprint(self, beta: FloatArray, index: IntArray, w: FloatArray, fix: FixArray) -> None:
        """The data's fingerprint: beta at the first record, over the columns that are not forced out."""
        norms = self.norms
        # alpha rounds relative to the terms of y - Xw, which a good fit leaves far above alpha itself.
        size = (self.size + float(np.abs(w) @ norms[index])) * float(norms[fix >= 0].sum())
        mine = fingerprint(np.where(fix >= 0, beta, 0.0))
        _require(
            abs(mine - self.c.fingerprint) <= 1e-9 * float(np.abs(beta[fix >= 0]).sum()) + 1e-13 * size,
            "the data are not those the certificate was made for (the fingerprint differs)",
        )

    def dual_point(
        self, r: int, index: IntArray, w: FloatArray, fix: FixArray
    ) -> tuple[float, FloatArray, FloatArray, IntArray]:
        """Return what D starts from, less its rounding error; beta, its errors, and the columns that it is for."""
        frame, n = int(self.c.frame[r]), self.c.shape[0]
        if frame < 0:
            alpha = self.y - self.X.take(index) @ w
            beta = self.X.transpose_times(alpha)
            _require(bool(np.isfinite(beta[fix >= 0]).all()), "X holds a non-finite number")
            error = _unit(n) * float(np.linalg.norm(alpha)) * self.norms
            return self.plain_base(alpha), beta, error, np.arange(self.c.shape[1])
        columns, diagonal, block, lengths = self.frame(frame)
        if columns.size == 0:
            _require(index.size == 0, f"record {r} has a coefficient outside its frame")
            return self.plain_base(self.y), np.zeros(0), np.zeros(0), columns
        outside = np.ones(self.c.shape[1], dtype=bool)
        outside[columns] = False
        _require(bool(np.all(fix[outside] == -1)), f"record {r}: a column outside its frame is not out")
        position = np.searchsorted(columns, index)
        inside = (position < columns.size) & (columns[np.minimum(position, columns.size - 1)] == index)
        _require(bool(inside.all()), f"record {r} has a coefficient outside its frame")
        dense = np.zeros(columns.size)
        dense[position] = w
        alpha = self.y - block @ dense
        norms, length = np.maximum(lengths, np.sqrt(np.abs(diagonal))), float(np.linalg.norm(alpha))
        plain = block.T @ alpha + diagonal * dense
        if not np.any(diagonal):
            return self.plain_base(alpha), plain, _unit(n) * length * norms, columns
        # v'beta with v = w / S and beta = S plain is w'plain; LS loses 1/2 sum d w^2. Here alpha must be y - X w, which
        # it is up to `drift`: every entry is a sum of as many terms as w has entries, and one.
        squares, fit = 0.5 * float(alpha @ alpha) - 0.5 * float(diagonal @ dense**2), float(dense @ plain)
        scale = 1.0 / np.sqrt(1.0 + self.c.gamma * diagonal)
        size = float(np.abs(dense) @ norms) + float(np.abs(dense) @ np.sqrt(np.abs(diagonal)))
        drift = _unit(index.size) * (self.size + size)
        off = drift + _unit(n) * length + _unit(0) * size
        return squares + fit - 3 * off * (length + size + drift), scale * plain, off * scale * norms, columns

    def plain_base(self, alpha: FloatArray) -> float:
        """y'alpha - 1/2 |alpha|^2 less its rounding error: right for any alpha, however alpha was rounded."""
        first, second, length = float(self.y @ alpha), 0.5 * float(alpha @ alpha), float(np.linalg.norm(alpha))
        return first - second - _unit(self.c.shape[0]) * (self.size * length + second)

    def frame(self, number: int) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """The columns of a frame, its diagonal (checked when it is first used), the columns' data and their norms."""
        if number in self.frames:
            return self.frames[number]
        c = self.c
        columns = c.frame_column[c.frame_offset[number] : c.frame_offset[number + 1]]
        diagonal = c.frame_diagonal[c.frame_offset[number] : c.frame_offset[number + 1]]
        _require(bool(np.all(np.diff(columns) > 0)), f"frame {number}: columns are not in order")
        if self.live is None or not np.isin(columns, self.live).all():
            self.live, self.block = columns, self.X.take(columns)
        block = self.block if columns.size == self.live.size else self.block[:, np.searchsorted(self.live, columns)]
        norms = np.linalg.norm(block, axis=0)
        if np.any(diagonal):
            diagonal = self.safe_diagonal(number, diagonal, block, norms)
        if len(self.frames) > 32:
            self.frames.clear()
        self.frames[number] = (columns, diagonal, block, norms)
        return self.frames[number]

    def safe_diagonal(self, number: int, diagonal: FloatArray, block: FloatArray, norms: FloatArray) -> FloatArray:
        """The diagonal, or slightly less, for which X'X - diag(d) is positive semidefinite beyond rounding.

        A Cholesky factorisation of an m x m matrix of unit diagonal that runs to its end shows that no eigenvalue is
        below -m^2 u or so, and entries that are off by n u make for m n u more.
        """
        _require(bool(np.all(diagonal[norms == 0] <= 0)), f"frame {number}: a zero column has a diagonal")
        some = np.flatnonzero(norms > 0)
        n, m = block.shape[0], some.size
        unit = block[:, some] / norms[some]
        gram = unit.T @ unit
        gram[np.diag_indices(m)] -= diagonal[some] / norms[some] ** 2
        # Rounding of the test itself; the diagonal of the matrix is 1 - d_j / |x_j|^2.
        error = m * _unit(n + m) * max(1.0, float(np.abs(np.diag(gram)).max(initial=0.0)))
        for shift in (-1.0, 0.0, 1.0, 3.0):
            shifted = gram.copy()
            shifted[np.diag_indices(m)] += shift * error
            try:
                np.linalg.cholesky(shifted)
            except np.linalg.LinAlgError:
                continue
            safe = diagonal - (shift + 1.0) * error * norms**2
            _require(
                bool(np.all(1.0 + self.c.gamma * safe > 0.5)), f"frame {number}: the diagonal takes away the ridge"
            )
            return np.asarray(safe)
        raise _Wrong(f"frame {number}: X'X - diag(d) is not positive semidefinite")

    def check_children(self, r: int, fix: FixArray, bound: float, stack: list[tuple[int, FixArray, float]]) -> None:
        c, children = self.c, self.children[r]
        contradiction = int(np.count_nonzero(fix == 1)) > c.k
        settled = bound >= self.claim or contradiction
        if len(children) == 1 and c.column[children[0]] == -1:
            stack.append((children[0], fix, bound))
            return
        if not children:
            self.least = self.least if contradiction else min(self.least, bound)
            _require(settled, f"record {r} is a leaf with the bound {bound!r}, below the claim {self.claim!r}")
            return
        columns, sides = c.column[children], c.side[children]
        j = int(columns[0])
        ok = len(children) <= 2 and j >= 0 and np.all(columns == j) and np.all(np.abs(sides) == 1)
        _require(
            bool(ok) and np.unique(sides).size == sides.size, f"the children of record {r} do not split one column"
        )
        _require(fix[j] == 0, f"record {r} branches on column {j}, which is not free")
        for side in (1, -1):
            after = self.decide(fix, j, side)
            match = [child for child, s in zip(children, sides) if s == side]
            if match:
                stack.append((match[0], after, bound))
            else:
                full = int(np.count_nonzero(after == 1)) > c.k
                self.least = self.least if full or contradiction else min(self.least, bound)
                _require(full or settled, f"record {r} has no child that puts column {j} {'in' if side > 0 else 'out'}")

    def decide(self, fix: FixArray, j: int, side: int) -> FixArray:
        """Put column j in or out, with what its twins imply."""
        fix = fix.copy()
        fix[j] = side
        chain = [j]
        while chain:
            at = chain.pop()
            implied = (
                [self.earlier[at]] if side > 0 and at in self.earlier else [] if side > 0 else self.later.get(at, [])
            )
            for other in implied:
                if fix[other] == 0:
                    fix[other] = side
                    chain.append(other)
        return fix
