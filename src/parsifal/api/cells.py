"""The cells of `k_best`: parts of the supports, each bounded, solved when its turn comes, and cut around its best.

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
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.ridge_loss import fit_support, support_bound
from parsifal.bound.rounding import safe_sum
from parsifal.constraints import at_least, join_rows
from parsifal.problem.feasible import first_allowed
from parsifal.problem.gap import Status, beyond_rounding, settled, worst
from parsifal.problem.problem import Problem
from parsifal.problem.progress import Progress, Reporter
from parsifal.problem.solution import Incumbent, Solution
from parsifal.solver.funnel import run
from parsifal.solver.options import Options
from parsifal.solver.reuse import Handover

# By how much, relatively, the bound of a cell that is out clears the ceiling at most.
BEYOND = 1e-5


@dataclass(kw_only=True)
class Cell:
    """Supports of exactly `size` columns between forced in and forced out; solved or waiting with a bound."""

    size: int
    fix: FixArray
    bound: float
    start: IntArray | None = None
    found: Incumbent | None = None


@dataclass(kw_only=True)
class CellSearch:
    """The cells, and what is shared between their solves."""

    problem: Problem
    options: Options
    deadline: float
    handover: Handover = field(default_factory=Handover)
    heap: list[tuple[float, int, Cell]] = field(default_factory=list)
    ticket: Iterator[int] = field(default_factory=itertools.count)
    entries: list[Incumbent] = field(default_factory=list)
    solves: int = 0
    nodes: int = 0
    started: float = field(default_factory=time.monotonic)
    reads: float = 0.0  # of the design before this list

    def list_best(self, most: int, within: float, reporter: Reporter) -> Status:
        """List supports, best first, until there are `most` or the rest is not within reach; why it ended."""
        status: Status = "optimal"
        for cell in self.first_cells():
            self.push(cell)
        while self.heap and len(self.entries) < most:
            best = min((entry.objective for entry in self.entries), default=np.inf)
            if self.heap[0][0] > reach(best, within):
                break
            cell = heapq.heappop(self.heap)[2]
            if cell.found is None:
                ended = self.solve(cell, self.ceiling(most, within), self.listener(cell, best, reporter))
                if cell.found is not None:
                    self.push(cell)
                status = worst([status, ended])
                if ended in ("time_limit", "interrupted"):
                    break
            else:
                self.entries.append(self.priced(cell, cell.found))
                self.cut(cell)
            reporter.show(self.snapshot(best, np.inf, 0))
        return status

    def priced(self, cell: Cell, found: Incumbent) -> Incumbent:
        """A cell's support with the price of its columns."""
        return replace(found, objective=found.objective + self.price(cell))

    def price(self, cell: Cell) -> float:
        """What the columns of a cell cost beside what its solves count: nothing where they have rules of their own."""
        return self.problem.penalty * cell.size if self.problem.rules is None else 0.0

    def inside(self, cell: Cell) -> Problem | None:
        """The problem of a cell; None if side constraints leave nothing of it.

        With rules the prices stay where they are, and the size of the cell is a side constraint.
        """
        p = self.problem
        if p.rules is None:
            return replace(p, k=cell.size, penalty=0.0, fix=cell.fix, xty=None)
        rules = p.rules.with_rows(join_rows([p.rules.rows, at_least(cell.size, p.p)]))
        fix, possible = rules.propagate(cell.fix)
        if not possible or first_allowed(rules, fix, cell.size) is None:
            return None
        return replace(p, k=cell.size, fix=fix, xty=None, rules=rules)

    def snapshot(self, objective: float, bound: float, nodes: int) -> Progress:
        """What is known of all cells, one of which is being solved."""
        return Progress(
            objective=objective,
            lower_bound=min(bound, self.heap[0][0] if self.heap else np.inf),
            nodes=self.nodes + nodes,
            open_nodes=len(self.heap),
            seconds=time.monotonic() - self.started,
            reads=self.problem.design.reads - self.reads,
            label=f"{len(self.entries)} found",
        )

    def listener(self, cell: Cell, best: float, reporter: Reporter) -> Reporter:
        """Reports during the solve of a cell what is known of all: one solve can take as long as a whole list."""
        price = self.price(cell)

        def show(inner: Progress) -> None:
            bound = max(cell.bound, float(safe_sum(inner.lower_bound, price)))
            reporter.show(self.snapshot(min(best, inner.objective + price), bound, inner.nodes))

        return Reporter(show) if reporter.active else reporter

    def push(self, cell: Cell) -> None:
        heapq.heappush(self.heap, (cell.bound, next(self.ticket), cell))

    def solve(self, cell: Cell, ceiling: float, reporter: Reporter) -> Status:
        """Find the cell's best support, or that all are above the ceiling; the bound rises to what is proven."""
        price, here = self.price(cell), self.inside(cell)
        if here is None:
            return "optimal"
        forced = np.flatnonzero(here.fix == 1).astype(np.int64)
        if forced.size == cell.size:
            p = self.problem
            cell.found = fit_support(p.design, p.y, forced, p.gamma, 0.0, rules=p.rules)
            bound = support_bound(p.design, p.y, cell.found, p.gamma, p.rules)
            cell.bound = max(cell.bound, float(safe_sum(bound, price)))
            # Columns that are all but equal may fit better than double precision finds out.
            return settled("optimal", cell.found.objective, bound, self.options.rel_gap)
        starts = [] if cell.start is None else [cell.start]
        # A little above, so that the bound, which stays below by the gap, says that the cell is out.
        above = (ceiling - price) * (1 + BEYOND) + beyond_rounding(self.problem.y)
        solution = self.run(here, starts, above, reporter)
        cell.found = self.filled(solution, cell)
        cell.bound = max(cell.bound, float(safe_sum(solution.lower_bound, price)))
        return "optimal" if cell.bound > ceiling and solution.status == "gap_open" else solution.status

    def ceiling(self, most: int, within: float) -> float:
        """The objective above which no support can be in the list any more."""
        known = sorted(
            [entry.objective for entry in self.entries]
            + [c.found.objective + self.price(c) for _, _, c in self.heap if c.found is not None]
        )
        best = reach(known[0], within) if known else np.inf
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
        if p.rules is not None:  # which have seen to it
            return fit_support(p.design, p.y, solution.support, p.gamma, 0.0, rules=p.rules)
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
        own = 0.0 if self.problem.rules is None else self.problem.penalty
        here = replace(self.problem, k=cell.size, penalty=own, fix=cell.fix)
        bounds = [point.priced(here, cell.fix).bound for point in self.handover.points]
        return float(safe_sum(max(bounds, default=-np.inf), self.price(cell)))

    def first_cells(self) -> Iterator[Cell]:
        """One cell with all supports of k columns; with a penalty, one for every size."""
        p = self.problem
        most = min(p.k, int(np.count_nonzero(p.fix >= 0)))
        if not p.has_price:
            # Side constraints may leave no support of so many columns.
            for size in range(most, -1 if p.rules is not None else most - 1, -1):
                cell = Cell(size=size, fix=p.fix, bound=0.0)
                if self.inside(cell) is not None:
                    yield cell
                    return
            return
        # The penalised optimum leaves dual points, which bound every size at once.
        best = self.run(p, [])
        sizes = np.arange(np.count_nonzero(p.fix == 1), most + 1)
        for size, bound in zip(sizes.tolist(), self.size_bounds(sizes)):
            start = best.support if best.support.size == size else None
            yield Cell(size=size, fix=p.fix, bound=float(bound), start=start)

    def size_bounds(self, sizes: IntArray) -> FloatArray:
        """What the dual points at hand say about every size from forced-in up."""
        p = self.problem
        bounds = np.zeros(sizes.size)
        if p.rules is not None:
            cells = [Cell(size=int(size), fix=p.fix, bound=0.0) for size in sizes]
            return np.maximum(bounds, [self.first_bound(cell) for cell in cells])
        for point in self.handover.points:
            bounds = np.maximum(bounds, point.bounds(p, int(sizes[-1])))
        return safe_sum(bounds, p.penalty * sizes.astype(np.float64))


def reach(best: float, within: float) -> float:
    """The largest objective within a relative distance; a best of zero times an infinite distance is no number."""
    return np.inf if np.isinf(within) else best * (1 + within)
