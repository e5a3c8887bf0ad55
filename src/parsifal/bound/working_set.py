"""The relaxation over all columns: a working set, priced by reads of X.

Only columns with |beta_j| >= tau have s_j > 0, so the relaxation is solved on a small set W of columns and priced by
one read: beta = X'alpha over all columns gives a valid dual bound, and the columns with |beta_j| > tau that W lacks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import DualPoint, threshold
from parsifal.bound.quadratic import NodeRelaxation, Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.deadline import limited, seconds_left
from parsifal.design import Design, Scan
from parsifal.design.gram import product, stream_gram
from parsifal.design.identity import Sketch
from parsifal.errors import InputError, NonFiniteError, NumericalError
from parsifal.problem.problem import Problem

# A design that a read walks through in a millisecond is not worth guessing about.
SLICE_BYTES = 1 << 26
_BYTES_A_SECOND = 2e9  # of a first read; the next ones take as long as it did
_LARGEST = 1e152  # whose square is a number with room to spare
_SMALLEST = 1e-140
# Relative to 1/2 |y|^2: how exactly the first working set is solved.
FIRST_TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Round:
    """One solve on the working set and the read that prices it."""

    node: NodeRelaxation
    point: DualPoint  # over all columns
    tau: float
    priced: bool  # whether beta is right for the columns that are out, too
    hurried: bool  # the solve was ended to leave time for the read


class WorkingSet:
    """The columns W with their Gram matrix, growing.

    The columns themselves are held while they are a small part of X; a tall X is streamed in blocks of rows instead.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.index: IntArray = np.empty(0, dtype=np.int64)
        self.columns: FloatArray | None = np.empty((problem.n, 0), order="F")
        self.gram: FloatArray = np.empty((0, 0), order="F")
        self.v: FloatArray = np.empty(0)
        self.beta: FloatArray = np.empty(0)
        self.alpha = problem.y
        self.error = sum_unit(problem.n) * float(np.linalg.norm(problem.y))  # of beta, relative to the columns' norms
        self.norms: FloatArray | None = None  # of all columns, from the first read
        self._of_response: tuple[FloatArray, FloatArray] | None = None
        self.solves = 0
        self._read_seconds = problem.design.nbytes / _BYTES_A_SECOND
        self.sketch: Sketch | None = None

    def add(self, index: IntArray) -> None:
        """Gather more columns; the reference point stays where the last read was."""
        if index.size == 0:
            return
        design = self.problem.design
        columns = self.columns
        if 8 * self.problem.n * (self.index.size + index.size) > design.held_bytes:
            columns = None
        with np.errstate(over="ignore", invalid="ignore"):
            if columns is not None:
                new = design.columns(index)
                cross = product(columns, new) if self.index.size else self.gram
                corner, beta = product(new, new), new.T @ self.alpha
                columns = np.concatenate([columns, new], axis=1) if self.index.size else new
            else:
                cross, corner, beta = stream_gram(design, self.index, index, self.alpha)
        if not np.isfinite(corner).all():
            # Columns are gathered before a read has seen all of them: the read names the entry.
            design.scan(self.problem.y, stats=True)
            raise NumericalError("products of columns overflow; rescale X")
        if not self.index.size:
            _check_scales(float(np.sqrt(np.diag(corner).max(initial=0.0))), float(np.linalg.norm(self.problem.y)))
        gram = np.asfortranarray(corner)
        if self.index.size:
            gram = np.empty((self.index.size + index.size,) * 2, order="F")
            m = self.index.size
            gram[:m, :m], gram[:m, m:], gram[m:, :m], gram[m:, m:] = self.gram, cross, cross.T, corner
        # All or nothing: a deadline or Ctrl-C may strike above, and another solve go on with what is here.
        self.columns, self.gram = columns, gram
        self.v = np.concatenate([self.v, np.zeros(index.size)])
        self.beta = np.concatenate([self.beta, beta])
        self.index = np.concatenate([self.index, index])

    def add_missing(self, index: IntArray) -> None:
        """Gather those of the columns that are not here."""
        if index.size:
            here = np.zeros(self.problem.p, dtype=bool)
            here[self.index] = True
            self.add(index[~here[index]])

    def residual(self, v: FloatArray) -> FloatArray:
        """y - X_W v."""
        if self.columns is not None:
            return np.asarray(_core.residual(self.problem.y, self.columns, v))
        active = np.flatnonzero(v)
        return self.problem.y - self.problem.design.matvec(self.index[active], v[active])

    def rounding(self, gram: FloatArray | None = None) -> Rounding:
        """The errors of W around the point of the last read, or of other columns of which this is the Gram matrix."""
        p = self.problem
        unit, reach = sum_unit(p.n), float(np.linalg.norm(self.alpha))
        size = float(np.linalg.norm(p.y)) + float(np.abs(self.v) @ np.sqrt(np.diag(self.gram)))
        norm = np.sqrt(np.diag(self.gram if gram is None else gram))
        if gram is None and self.norms is not None:
            norm = np.maximum(norm, self.norms[self.index])  # a read may round more than the columns themselves do
        return Rounding(
            norm=norm,
            unit=unit,
            error=self.error,
            base=unit * reach**2,
            drift=sum_unit(int(np.count_nonzero(self.v))) * size,
            reach=reach,
        )

    def quadratic(self) -> Quadratic:
        """The problem on W, around the point of the last read."""
        p = self.problem
        return Quadratic(
            gram=self.gram,
            v0=self.v,
            beta0=self.beta,
            ls0=0.5 * float(self.alpha @ self.alpha),
            gamma=p.gamma,
            penalty=p.penalty,
            k=p.k,
            rounding=self.rounding(),
            rules=p.rules_on(self.index),
        )

    def round(self, fix: FixArray, tolerance: float, *, cutoff: float = np.inf) -> Round:
        """Solve on W, then price over every column with one read."""
        p = self.problem
        fix_w = fix[self.index]
        q = self.quadratic()
        # Without the read that prices it the relaxation is worth nothing: its time must end before the deadline does.
        left = seconds_left()
        until = time.monotonic() + max(0.1 * left, left - self.reserve)
        with limited(deadline=until):
            node = q.relax(fix_w, self.v, tolerance=tolerance, cutoff=cutoff)
        hurried = node.stop == "stalled" and time.monotonic() >= until
        self.solves += node.solves
        alpha = self.residual(node.v)
        priced = self.columns is not None or bool(np.count_nonzero(fix_w >= 0) < np.count_nonzero(fix >= 0))
        if not priced:
            # Every column that is not out is here, and X is tall: the Gram matrix prices them without another read.
            beta, error = np.zeros(p.p), np.zeros(p.p)
            beta[self.index] = q.beta0 - q.gram @ (node.v - q.v0)
            moved = q.rounding.moved(node.v - q.v0)
            size = float(np.linalg.norm(p.y)) + float(np.abs(node.v) @ q.rounding.norm)
            relative = moved.error + moved.drift + sum_unit(int(np.count_nonzero(node.v))) * size
            error[self.index] = relative * q.rounding.norm
        else:
            relative = sum_unit(p.n) * float(np.linalg.norm(alpha))
            started = time.monotonic()
            beta, norms = self.read(alpha)
            self._read_seconds = time.monotonic() - started
            error = relative * norms
        # Together: the read may be cut short, and the point is of use only with its beta.
        self.v, self.alpha, self.beta, self.error = node.v, alpha, beta[self.index], relative
        point = DualPoint(index=self.index, coef=node.v, beta=beta, error=error, alpha=alpha)
        return Round(
            node=node,
            point=point.priced(p, fix),
            tau=threshold(beta[self.index], fix_w, gamma=p.gamma, penalty=p.penalty, k=p.k, rules=q.rules),
            priced=priced,
            hurried=hurried,
        )

    @property
    def reserve(self) -> float:
        """Seconds to keep for the next read."""
        return 1.5 * self._read_seconds

    def read(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """X'v and the columns' norms; the first read takes these, and what a checkpoint keeps of every column."""
        design = self.problem.design
        if self.sketch is not None and self.sketch.products is None:
            scan = self.sketch.read(design, v)
        else:
            scan = design.scan(v, stats=self.norms is None)
        if self.norms is None:
            self.norms = rounding_norms(design, scan)
        return scan.xv, self.norms

    def read_response(self) -> tuple[FloatArray, FloatArray]:
        """X'y and the columns' norms, from one read for all problems on these data."""
        if self._of_response is None:
            self._of_response = self.read(self.problem.y)
        return self._of_response

    def violators(self, last: Round, fix: FixArray, most: int) -> IntArray:
        """Columns outside W above the threshold, the largest first, at most `most`."""
        outside = fix >= 0
        outside[self.index] = False
        p = self.problem
        magnitude = np.abs(last.point.beta) if p.rules is None else p.rules.sizes(last.point.beta, p.gamma)
        candidates = np.flatnonzero(outside & (magnitude > last.tau))
        if candidates.size > most:
            candidates = candidates[np.argpartition(-magnitude[candidates], most)[:most]]
        return candidates.astype(np.int64)


def rounding_norms(design: Design, scan: Scan) -> FloatArray:
    """What the rounding errors of X'v are relative to, per column, from a read with statistics."""
    if scan.squares is None:
        raise ValueError("the columns' norms come with a read that takes statistics")
    return design.rounding_norms(np.sqrt(scan.squares))


def _check_scales(column: float, y: float) -> None:
    """The squares of X'y and of coefficients, which are of the size of |y| / |x_j|, must be numbers."""
    if column == 0.0 or y == 0.0:
        return
    if column * y > _LARGEST:
        raise NonFiniteError(f"X'y may be {column * y:.0e}, too large to square; rescale X or y")
    if column * y < _SMALLEST:
        raise InputError(f"X'y is at most {column * y:.0e}, too small to square; multiply X or y by a power of ten")
    if not 1.0 / _LARGEST < y / column < _LARGEST:
        raise InputError(f"y is {y / column:.0e} times as large as the columns of X; rescale X or y")


def first_columns(problem: Problem) -> IntArray:
    """Columns to start with: all of a small problem, else those most correlated with y, guessed from a slice of the
    rows where X is so large that the guess saves a read."""
    n, p = problem.n, problem.p
    forced = np.flatnonzero(problem.fix == 1)
    allowed = np.flatnonzero(problem.fix >= 0)
    if allowed.size <= 256 and (n * allowed.size <= 1 << 20 or n >= 20 * allowed.size):
        return allowed.astype(np.int64)
    size = min(max(100, 4 * _likely_size(problem)), allowed.size)
    if problem.xty is not None:
        correlation = np.abs(problem.xty)
    else:
        rows = max(500, 32 * min(_likely_size(problem), 100))
        if problem.design.nbytes >= SLICE_BYTES and problem.design.cheap_rows and rows <= n // 4:
            correlation = _slice_scores(problem, rows)
        else:
            correlation = np.abs(problem.design.scan(problem.y).xv)
    correlation[problem.fix < 0] = -1.0
    top = np.argpartition(-correlation, size - 1)[:size] if size < p else np.arange(p)
    return np.union1d(forced, top[problem.fix[top] >= 0]).astype(np.int64)


def _likely_size(problem: Problem) -> int:
    """A guess at the size of the answer: with a penalty, k says little about it."""
    return min(problem.k, 25) if problem.has_price else problem.k


def _slice_scores(problem: Problem, rows: int) -> FloatArray:
    """Score columns by the relaxation of the first rows: those it uses come first, then by correlation."""
    part = problem.design.rows(0, rows)
    y = problem.y[:rows]
    scores = np.abs(part.scan(y).xv)
    room = min(max(300, 10 * _likely_size(problem)), problem.p)
    top = np.argpartition(-scores, room - 1)[:room].astype(np.int64)
    # The ridge is weighted against fewer rows, so that the slice has the whole problem's balance.
    small = Problem(
        design=part,
        y=y,
        k=problem.k,
        penalty=problem.penalty * rows / problem.n,
        gamma=problem.gamma * problem.n / rows,
        fix=problem.fix,
        rules=None if problem.rules is None else replace(problem.rules, price=problem.rules.price * rows / problem.n),
    )
    work = WorkingSet(small)
    work.add(top)
    fix = problem.fix[top]
    node = work.quadratic().relax(fix, work.v, tolerance=1e-4 * 0.5 * float(y @ y), max_solves=50)
    scores[top[node.s > 0]] += scores.max()
    return scores
