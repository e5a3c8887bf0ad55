"""The reduced problem: the columns that survive safe fixing, in memory and small.

Where few columns are left, only inner products matter from here on: the Gram matrix of the survivors around a reference
point stands in for the data, so that nothing later depends on n. Where many are left, and n is far below their number,
the columns themselves are held, and products computed when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.held import DistantColumns, HeldColumns, gather_columns, held_bytes, search_bytes
from parsifal.bound.quadratic import Quadratic, Survivors
from parsifal.bound.ridge_loss import fit_support
from parsifal.bound.working_set import WorkingSet
from parsifal.deadline import check_time, seconds_left, thread_limit, unhurried
from parsifal.design.gram import product
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent

# A Gram matrix of this many columns is 200 MB, whatever the memory limit is.
_ALWAYS_COLUMNS = 5000
_ALWAYS_BYTES = 64e6  # of what a search keeps for every column
_HELD_BYTES = 1 << 28
# Up to so many columns a row, or columns, all products are computed at once: later they are needed anyway. Beyond, with
# so many columns a row and few rows, X fits into the processor's cache and its products do not.
_COLUMNS_A_ROW = 4
_ALWAYS_FEW, _FEW_COLUMNS = 1000, 3000
_FEW_A_ROW = 20
_MOST_COLUMNS = 0.8  # of the memory, for columns
_CACHE_SHARE = 0.4  # of what the columns leave of the memory, for products of them
_COPIES_SHARE = 0.6  # of the memory, for coarse copies of columns that do not fit themselves
_MOMENT = 1 << 27  # multiplications of a fit


def room(memory_limit: float) -> float:
    """What may be planned for, so that the unplanned (threads, freed blocks, vectors) stays within the limit too."""
    return max(0.0, 0.95 * memory_limit - 12e6)


def most_columns(memory_limit: float) -> int:
    """How many survivors may be gathered: their Gram matrix, and a copy of it on the way, within the limit."""
    return max(_ALWAYS_COLUMNS, int(np.sqrt(room(memory_limit) / 16)))


def gram_pays(problem: Problem, columns: int, memory_limit: float) -> bool:
    """Whether so many survivors are gathered as a Gram matrix, rather than held as columns; without a ridge there is no
    relaxation, and products are all that counts."""
    most = max(_ALWAYS_FEW, _COLUMNS_A_ROW * problem.n, min(_FEW_COLUMNS, _FEW_A_ROW * problem.n))
    few = columns <= most or not np.isfinite(problem.gamma)
    return few and columns <= most_columns(memory_limit)


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """The surviving columns as a small problem.

    Attributes
    ----------
    problem : Problem
        The whole problem.
    index : int array of shape (m,)
        The surviving columns.
    fix : int8 array of shape (m,)
        Those among them that are fixed in have 1; none has -1.
    survivors : Quadratic or HeldColumns
        The problem on them (not tightened).
    columns : array of shape (n, m) or None
        The columns themselves, where the working set has just them.
    """

    problem: Problem
    index: IntArray
    fix: FixArray
    survivors: Survivors
    columns: FloatArray | None = None

    @property
    def quadratic(self) -> Quadratic:
        """The survivors in inner products, where they are so."""
        if not isinstance(self.survivors, Quadratic):
            raise TypeError("the survivors are held as columns")
        return self.survivors

    def fit(self, support: IntArray) -> Incumbent:
        """Fit a support (positions among the survivors) on the whole data."""
        return fit_in_time(self.problem, self.index[support])

    def shrink(self, fix: FixArray) -> Reduced:
        """Drop the columns that `fix` rules out, and put the rest in the order of X; LS stays the same function."""
        keep = np.flatnonzero(fix >= 0)
        keep = keep[np.argsort(self.index[keep])]
        q = self.quadratic
        dropped = np.flatnonzero((fix < 0) & (q.v0 != 0))
        v0, ls0, beta0, rounding = q.v0, q.ls0, q.beta0, q.rounding
        if dropped.size:
            # Move the reference point to one that the survivors span.
            change = q.gram[:, dropped] @ v0[dropped]
            ls0 = ls0 + float(v0[dropped] @ beta0[dropped]) + 0.5 * float(v0[dropped] @ change[dropped])
            v0, beta0 = v0.copy(), beta0 + change
            v0[dropped] = 0.0
            rounding = rounding.moved(q.v0 - v0)
        quadratic = replace(
            q,
            gram=np.asarray(_core.submatrix(q.gram, keep.tolist(), thread_limit(), seconds_left())),
            v0=v0[keep],
            beta0=beta0[keep],
            ls0=ls0,
            rounding=replace(rounding, norm=rounding.norm[keep]),
            rules=None if q.rules is None else q.rules.take(keep),
        )
        return Reduced(problem=self.problem, index=self.index[keep], fix=fix[keep], survivors=quadratic)


def fit_in_time(problem: Problem, support: IntArray, columns: FloatArray | None = None) -> Incumbent:
    """Fit a support, past the deadline too if it takes only a moment: what was found should not be lost by it."""
    p = problem
    if p.n * support.size**2 <= _MOMENT and (columns is not None or p.design.cheap_columns):
        with unhurried():
            return fit_support(p.design, p.y, support, p.gamma, p.penalty, columns, p.rules)
    check_time()
    return fit_support(p.design, p.y, support, p.gamma, p.penalty, columns, p.rules)


def reduce(problem: Problem, work: WorkingSet, fix: FixArray) -> Reduced:
    """Gather the columns that `fix` leaves; the point of the last read becomes the reference point."""
    index = np.flatnonzero(fix >= 0)
    if np.array_equal(index, work.index):
        survivors = work.quadratic()
        return Reduced(problem=problem, index=index, fix=fix[index], survivors=survivors, columns=work.columns)
    missing = np.setdiff1d(index, work.index)
    outside = np.flatnonzero((work.v != 0) & (fix[work.index] < 0))
    fits = 8 * problem.n * index.size <= min(_HELD_BYTES, problem.design.held_bytes)
    if missing.size > work.index.size and outside.size == 0 and fits:
        # Most survivors are new: one product over all of them beats growing the working set's matrix.
        columns = problem.design.columns(index)
        v0 = np.zeros(index.size)
        inside = np.isin(work.index, index)
        v0[np.searchsorted(index, work.index[inside])] = work.v[inside]
        gram = product(columns, columns)
        quadratic = replace(
            work.quadratic(),
            gram=gram,
            v0=v0,
            beta0=product(columns, work.alpha[:, None])[:, 0],
            rounding=work.rounding(gram),
            rules=problem.rules_on(index),
        )
        return Reduced(problem=problem, index=index, fix=fix[index], survivors=quadratic)
    if missing.size:
        work.add(missing)
    gathered = Reduced(problem=problem, index=work.index, fix=fix[work.index], survivors=work.quadratic())
    return gathered.shrink(gathered.fix)


def columns_fit(columns: int, memory_limit: float) -> bool:
    """Whether so many columns can be searched: what a search keeps for each of them, wherever they are, has to fit."""
    return search_bytes(columns, threads=1) <= max(_ALWAYS_BYTES, _MOST_COLUMNS * room(memory_limit))


def search_threads(columns: int, threads: int, memory_limit: float) -> int:
    """How many of the threads can search so many columns within the memory: each keeps some numbers for every one."""
    while threads > 1 and search_bytes(columns, threads=threads) > _MOST_COLUMNS * room(memory_limit):
        threads -= 1
    return threads


def hold(
    problem: Problem, index: IntArray, fix: FixArray, memory_limit: float, *, alpha: FloatArray, beta: FloatArray
) -> Reduced:
    """Hold the columns `index`, of which `fix` says which are in; where they do not fit, copies of as many as do.

    `alpha` is the root's dual vector; `beta`, over all columns of X, says which of them come first.
    """
    n, space = problem.n, room(memory_limit)
    placed = problem.design.in_place() if index.size == problem.p else None
    free = space - held_bytes(n, index.size, own=placed is None, threads=thread_limit(), k=problem.k)
    asked: dict[str, Any] = {"y": problem.y, "gamma": problem.gamma, "penalty": problem.penalty, "k": problem.k}
    asked["rules"] = problem.rules_on(index)
    survivors: Survivors
    if free >= (1 - _MOST_COLUMNS) * space:
        columns = gather_columns(problem.design, index) if placed is None else placed
        survivors = HeldColumns(columns=columns, own=placed is None, cache=_CACHE_SHARE * free, **asked)
    else:
        threads = search_threads(index.size, thread_limit(), memory_limit)
        free = max(0.0, space - search_bytes(index.size, threads=threads))
        copies = min(index.size, int(_COPIES_SHARE * free / n))
        copied = np.zeros(index.size, dtype=np.int8)
        copied[np.argsort(-np.abs(beta[index]), kind="stable")[:copies]] = 1
        share = 0.5 * _CACHE_SHARE * (free - n * copies)
        survivors = DistantColumns(
            design=problem.design,
            index=index,
            copied=copied,
            reference=alpha,
            kept=share,
            cache=share,
            **asked,
        )
    return Reduced(problem=problem, index=index, fix=fix, survivors=survivors)
