"""`k_best`: the best supports in order, each proven, and a bound on all the others.

The supports of exactly k columns are cut into *cells*, each by columns forced in and out (Lawler 1972). A cell waits
with a lower bound; the cell with the least bound is solved, or, if it is solved, its best support is the next in the
list, and the rest of the cell is cut into at most k cells: the first t columns of the support in, the next one out.

Adding a column never raises c, so the best support of at most k columns in a cell is as good as the best of exactly k.
With a penalty, supports of every size count, and there is one cell for each size to begin with.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from parsifal.driver import Options, run
from parsifal.handover import Handover
from parsifal.loss import fit_support
from parsifal.problem import FixArray, FloatArray, Gamma, IntArray, Problem, check_count, check_number, make_problem
from parsifal.progress import Progress, ProgressOption, Reporter
from parsifal.solution import Incumbent, Solution, Status
from parsifal.solve import check_options

_MOST_WITHIN = 1000
_BEYOND = 1e-5


@dataclass(frozen=True, kw_only=True)
class Ranking(Sequence[Incumbent]):
    """The best supports, best first.

    Attributes
    ----------
    entries : tuple of Incumbent
        Each has `support`, `coef` (on the support) and `objective`.
    lower_bound : float
        No support that is not listed has a smaller objective; infinite if all are listed.
    status : str
        ``"optimal"`` if the list is what was asked for; otherwise the limit that ended it: the objectives and the bound
        then hold as well, but a better support may be missing, down to the bound.
    k, penalty, gamma : the problem.
    frequency : dict
        For every column that is listed, the fraction of the listed supports that have it.
    stats : dict
        ``solves``, ``nodes``, ``seconds``, ``reads``.
    """

    entries: tuple[Incumbent, ...]
    lower_bound: float
    status: Status
    k: int
    penalty: float
    gamma: float
    feature_names: tuple[str, ...] | None
    stats: dict[str, Any]

    @overload
    def __getitem__(self, item: int) -> Incumbent: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[Incumbent, ...]: ...
    def __getitem__(self, item: int | slice) -> Incumbent | tuple[Incumbent, ...]:
        return self.entries[item]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Incumbent]:
        return iter(self.entries)

    @property
    def margin(self) -> float:
        """How much worse, relatively, every support but the best is, at least."""
        second = self.entries[1].objective if len(self.entries) > 1 else np.inf
        return _excess(min(second, self.lower_bound), self.entries[0].objective)

    @property
    def frequency(self) -> dict[str, float]:
        count: dict[str, int] = {}
        for entry in self.entries:
            for j in entry.support:
                count[self._name(j)] = count.get(self._name(j), 0) + 1
        ordered = sorted(count.items(), key=lambda item: -item[1])
        return {name: times / len(self.entries) for name, times in ordered}

    def _name(self, j: int) -> str:
        return f"x{j}" if self.feature_names is None else self.feature_names[j]

    def __str__(self) -> str:
        best = self.entries[0]
        lines = [f"{'rank':>4}  {'objective':>13}  {'worse by':>9}  columns"]
        for rank, entry in enumerate(self.entries, 1):
            excess = _excess(entry.objective, best.objective)
            if rank == 1:
                what = ", ".join(self._name(j) for j in entry.support)
            else:
                gone = [f"-{self._name(j)}" for j in np.setdiff1d(best.support, entry.support)]
                new = [f"+{self._name(j)}" for j in np.setdiff1d(entry.support, best.support)]
                what = " ".join(gone + new)
            lines.append(f"{rank:4d}  {entry.objective:13.8g}  {excess:9.3%}  {what}")
        lines.append(f"every other support has an objective of at least {self.lower_bound:.8g} ({self.status})")
        return "\n".join(lines)


@dataclass(kw_only=True)
class Cell:
    """Supports of exactly `size` columns between forced in and forced out; solved or waiting with a bound."""

    size: int
    fix: FixArray
    bound: float
    start: IntArray | None = None
    found: Incumbent | None = None


@dataclass(kw_only=True)
class _Search:
    """The cells, and what is shared between their solves."""

    problem: Problem
    options: Options
    deadline: float
    handover: Handover = field(default_factory=Handover)
    heap: list[tuple[float, int, Cell]] = field(default_factory=list)
    ticket: Iterator[int] = field(default_factory=itertools.count)
    solves: int = 0
    nodes: int = 0

    def push(self, cell: Cell) -> None:
        heapq.heappush(self.heap, (cell.bound, next(self.ticket), cell))

    def solve(self, cell: Cell, ceiling: float, reporter: Reporter) -> Status:
        """Find the cell's best support, or that all are above the ceiling; the bound rises to what is proven."""
        price = self.problem.penalty * cell.size
        forced = np.flatnonzero(cell.fix == 1).astype(np.int64)
        if forced.size == cell.size:
            p = self.problem
            cell.found = fit_support(p.design, p.y, forced, p.gamma, 0.0)
            cell.bound = max(cell.bound, cell.found.objective + price)
            return "optimal"
        here = replace(self.problem, k=cell.size, penalty=0.0, fix=cell.fix, xty=None)
        starts = [] if cell.start is None else [cell.start]
        # A little above, so that the bound, which stays below by the gap, says that the cell is out.
        solution = self.run(here, starts, (ceiling - price) * (1 + _BEYOND) + self.slack, reporter)
        cell.found = self.filled(solution, cell)
        cell.bound = max(cell.bound, solution.lower_bound + price)
        out = solution.status == "gap_open" and cell.bound > ceiling
        return "optimal" if out else solution.status

    def ceiling(self, entries: list[Incumbent], most: int, within: float) -> float:
        """The objective above which no support can be in the list any more."""
        known = sorted(
            [entry.objective for entry in entries]
            + [c.found.objective + self.problem.penalty * c.size for _, _, c in self.heap if c.found is not None]
        )
        best = _reach(known[0], within) if known else np.inf
        return min(best, known[most - 1]) if len(known) >= most else best

    def run(
        self,
        problem: Problem,
        starts: list[IntArray],
        ceiling: float = np.inf,
        reporter: Reporter | None = None,
    ) -> Solution:
        left = max(0.0, self.deadline - time.monotonic())
        options = replace(self.options, time_limit=left)
        solution = run(problem, options, starts=starts, handover=self.handover, ceiling=ceiling, reporter=reporter)
        self.solves += 1
        self.nodes += solution.stats["nodes"]
        return solution

    def filled(self, solution: Solution, cell: Cell) -> Incumbent:
        """The solution as a support of exactly the cell's size: columns that add nothing fill it up."""
        p = self.problem
        allowed = np.setdiff1d(np.flatnonzero(cell.fix >= 0), solution.support)
        room = cell.size - solution.support.size
        support = np.sort(np.concatenate([solution.support, allowed[:room]]))
        return fit_support(p.design, p.y, support, p.gamma, 0.0)

    def cut(self, cell: Cell) -> None:
        """Cut what is left of a solved cell without its best support into cells."""
        assert cell.found is not None
        support = cell.found.support
        free = support[cell.fix[support] == 0]
        allowed = int(np.count_nonzero(cell.fix >= 0))
        if allowed - 1 < cell.size:
            return
        fix = cell.fix.copy()
        for j in free:
            fix[j] = -1
            part = Cell(size=cell.size, fix=fix.copy(), bound=cell.bound, start=support[support != j])
            part.bound = max(part.bound, self.first_bound(part))
            self.push(part)
            fix[j] = 1

    def first_bound(self, cell: Cell) -> float:
        """What the dual points at hand say about a cell, before anything is solved."""
        here = replace(self.problem, k=cell.size, penalty=0.0, fix=cell.fix)
        bounds = [point.bound(here, cell.fix).bound for point in self.handover.points]
        return max(bounds, default=-np.inf) - self.slack + self.problem.penalty * cell.size

    @property
    def slack(self) -> float:
        """More than rounding could have added to a bound."""
        return 1e-12 * float(self.problem.y @ self.problem.y)

    def first_cells(self) -> Iterator[Cell]:
        """One cell with all supports of k columns; with a penalty, one for every size."""
        p = self.problem
        most = min(p.k, int(np.count_nonzero(p.fix >= 0)))
        if p.penalty == 0:
            yield Cell(size=most, fix=p.fix, bound=0.0)
            return
        # The penalised optimum leaves dual points, which bound every size at once.
        best = self.run(p, [])
        sizes = np.arange(np.count_nonzero(p.fix == 1), most + 1)
        for size, bound in zip(sizes.tolist(), self.size_bounds(sizes)):
            start = best.support if best.support.size == size else None
            yield Cell(size=size, fix=p.fix, bound=float(bound), start=start)

    def size_bounds(self, sizes: IntArray) -> FloatArray:
        """D for every size from forced-in up: the sums of the largest terms, for all sizes in one sort."""
        p = self.problem
        bounds = np.zeros(sizes.size)
        for point in self.handover.points:
            terms = 0.5 * p.gamma * point.beta**2
            base = 0.5 * float(point.alpha @ point.alpha) + float(point.coef @ point.beta[point.index])
            largest = np.sort(terms[p.fix == 0])[::-1]
            sums = np.concatenate([[0.0], np.cumsum(largest)])[: sizes.size]
            bounds = np.maximum(bounds, base - float(terms[p.fix == 1].sum()) - sums - self.slack)
        return bounds + p.penalty * sizes


def k_best(
    X: Any,
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    count: int | None = None,
    *,
    tolerance: float | None = None,
    penalty: float | None = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    threads: int | None = None,
    force_in: Any = None,
    force_out: Any = None,
    progress: ProgressOption = False,
) -> Ranking:
    """List the best supports in order, with a proof that none is missing.

    Without a penalty the list is over supports of exactly `k` columns; with one, over all of at most `k`.

    Parameters
    ----------
    X, y, k, gamma, penalty, threads, force_in, force_out, progress
        As in `solve`.
    count : int, optional
        How many; 10 by default, 1000 with a `tolerance`.
    tolerance : float, optional
        List every support whose objective is within this relative distance of the best, at most `count`.
    rel_gap : float
        Supports closer together than this may change places.
    time_limit : float, optional
        Seconds for the whole list.
    node_limit : int, optional
        Nodes for each of the problems that are solved on the way.

    Returns
    -------
    Ranking
        A sequence of `Incumbent`; at a limit or Ctrl-C the list so far.
    """
    options = check_options(rel_gap=rel_gap, time_limit=time_limit, node_limit=node_limit, threads=threads)
    most = check_count(count, "count") if count is not None else 10 if tolerance is None else _MOST_WITHIN
    within = np.inf if tolerance is None else check_number(tolerance, "tolerance", minimum=0.0)
    started = time.monotonic()
    problem = make_problem(X, y, k=k, gamma=gamma, penalty=penalty, force_in=force_in, force_out=force_out)
    reads = problem.design.reads
    # The bound of a cell that is out must clear the ceiling by less than `_BEYOND`.
    options = replace(options, rel_gap=min(options.rel_gap, 0.5 * _BEYOND), certificate_limit=0.0)
    search = _Search(problem=problem, options=options, deadline=started + options.time_limit)
    entries: list[Incumbent] = []
    status: Status = "optimal"

    def snapshot(objective: float, bound: float, nodes: int) -> Progress:
        return Progress(
            objective=objective,
            lower_bound=min(bound, search.heap[0][0] if search.heap else np.inf),
            nodes=search.nodes + nodes,
            open_nodes=len(search.heap),
            seconds=time.monotonic() - started,
            reads=problem.design.reads - reads,
            label=f"{len(entries)} found",
        )

    def listener(cell: Cell, best: float) -> Reporter:
        """Tells during the solve of a cell what is known of all: one solve can take as long as a whole list."""
        price = problem.penalty * cell.size

        def show(inner: Progress) -> None:
            bound = max(cell.bound, inner.lower_bound + price)
            reporter.show(snapshot(min(best, inner.objective + price), bound, inner.nodes))

        return Reporter(show) if reporter.active else reporter

    with Reporter(progress) as reporter:
        for cell in search.first_cells():
            search.push(cell)
        while search.heap and len(entries) < most:
            best = min((entry.objective for entry in entries), default=np.inf)
            if search.heap[0][0] > _reach(best, within):
                break
            cell = heapq.heappop(search.heap)[2]
            if cell.found is None:
                ended = search.solve(cell, search.ceiling(entries, most, within), listener(cell, best))
                search.push(cell)
                status = status if ended == "optimal" else ended
                if ended in ("time_limit", "interrupted"):
                    break
            else:
                price = problem.penalty * cell.size
                entries.append(replace(cell.found, objective=cell.found.objective + price))
                search.cut(cell)
            reporter.show(snapshot(best, np.inf, 0))
    return _ranking(search, entries, status, within, started, problem.design.reads - reads)


def _ranking(
    search: _Search, entries: list[Incumbent], status: Status, within: float, started: float, reads: float
) -> Ranking:
    problem = search.problem
    bound = search.heap[0][0] if search.heap else np.inf
    if not entries:
        # A limit struck before the first was proven: the best found still is a support.
        cells = [cell for _, _, cell in search.heap if cell.found is not None]
        entries = [replace(c.found, objective=c.found.objective + problem.penalty * c.size) for c in cells if c.found]
    entries.sort(key=lambda entry: entry.objective)
    near = [entry for entry in entries if entry.objective <= _reach(entries[0].objective, within)]
    if len(near) < len(entries):
        bound = min(bound, entries[len(near)].objective)
    return Ranking(
        entries=tuple(near),
        lower_bound=bound,
        status=status,
        k=problem.k,
        penalty=problem.penalty,
        gamma=problem.gamma,
        feature_names=problem.design.feature_names,
        stats={
            "solves": search.solves,
            "nodes": search.nodes,
            "reads": reads,
            "seconds": time.monotonic() - started,
        },
    )


def _reach(best: float, within: float) -> float:
    """The largest objective within a relative distance; a best of zero times an infinite distance is no number."""
    return np.inf if np.isinf(within) else best * (1 + within)


def _excess(value: float, best: float) -> float:
    return (value - best) / best if best > 0 else np.inf if value > 0 else 0.0
