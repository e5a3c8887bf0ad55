"""Best-first branch and bound over sets of kernels.

Lower bounds are dual values over every kernel (`Oracle.bound`), objectives are primal values of sets. What is pruned
or fixed is remembered by its bound, so the bound reported is the least over all parts, open or closed.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from parsifal.arrays import BoolArray, FloatArray, IntArray
from parsifal.deadline import TimeUp, limited
from parsifal.kernels.group_root import halves
from parsifal.kernels.heuristics import Sets
from parsifal.kernels.kernel_record import Decision, Journal
from parsifal.kernels.oracle import Oracle
from parsifal.kernels.relaxation import Node, Relaxed, relax_node
from parsifal.problem.gap import Status, closes, cutoff, settled


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop: relative gap, moment of the monotonic clock, number of nodes."""

    rel_gap: float
    deadline: float
    nodes: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the search ended with."""

    support: tuple[int, ...]
    objective: float
    lower_bound: float
    status: Status
    nodes: int
    root_bound: float
    kernels_left: int
    newton_steps: int


@dataclass(frozen=True)
class Origin:
    """How a node came about, and a dual point that bounds it until it has one of its own."""

    decision: Decision
    point: int


class Search:
    """The state of a search.

    Parameters
    ----------
    oracle : Oracle
        Loss and bound.
    root : Node
        What is fixed from the start, and how many kernels may be chosen.
    limits : Limits
        When to stop.
    report : callable
        Called after every node with objective, lower bound, nodes and open nodes.
    journal : Journal
        Where the proof is written.
    """

    def __init__(
        self,
        oracle: Oracle,
        root: Node,
        limits: Limits,
        report: Callable[[float, float, int, int], None],
        journal: Journal,
    ) -> None:
        self._oracle = oracle
        self._root = root
        self._limits = limits
        self._report = report
        self._journal = journal
        self._sets = Sets(oracle, root)
        self._floor = math.inf  # least bound of what is closed
        self._open: list[tuple[float, int, Node, FloatArray, Origin]] = []
        self._in_hand: Origin | None = None
        self._count = 0
        self._nodes = 0
        self._steps = 0
        self._current = math.inf  # bound of the node in hand

    @property
    def objective(self) -> float:
        """The best value so far."""
        return self._sets.objective

    @property
    def cutoff(self) -> float:
        """What a set has to go below in order to matter."""
        return cutoff(self.objective, rel_gap=self._limits.rel_gap, resolution=self._oracle.resolution)

    @property
    def lower_bound(self) -> float:
        """No set is below this."""
        waiting = self._open[0][0] if self._open else math.inf
        return min(self._floor, waiting, self._current, self.objective)

    @property
    def _closed(self) -> bool:
        return closes(self.objective, self.lower_bound, self._limits.rel_gap)

    def run(self, warm_start: tuple[int, ...] | None) -> Found:
        """Search until nothing is left below the cutoff, or a limit is reached."""
        root_bound = 0.0
        left = int(np.count_nonzero(self._root.free))
        status: Status | None = None
        # Every loss is at least zero, so this is a bound before anything has been computed.
        nothing = self._journal.add_point(np.zeros(self._oracle.rows))
        self._push(0.0, self._root, np.zeros(self._oracle.m), Origin(Decision(), nothing))
        try:
            with limited(deadline=self._limits.deadline):
                self._sets.start(warm_start)
                while self._open and status is None:
                    if self._open[0][0] >= self.cutoff:
                        break
                    if time.monotonic() >= self._limits.deadline:
                        status = "time_limit"
                    elif self._nodes >= self._limits.nodes:
                        status = "node_limit"
                    else:
                        self._current, _, node, s, self._in_hand = heapq.heappop(self._open)
                        remaining = self._branch(node, s, self._in_hand)
                        self._current, self._in_hand = math.inf, None
                        if self._nodes == 1:
                            root_bound, left = self.lower_bound, remaining
                        self._report(self.objective, self.lower_bound, self._nodes, len(self._open))
        except TimeUp:
            # The node in hand still counts with the bound that it came with.
            status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        self._close_records()
        # An early Ctrl-C may have come before any set had a value.
        self._sets.value(self._sets.best)
        if status is None and not self._closed:
            with suppress(KeyboardInterrupt):
                self._sets.polish()
        lower_bound = self.lower_bound
        return Found(
            support=self._sets.best,
            objective=self.objective,
            lower_bound=lower_bound,
            status=settled(status or "optimal", self.objective, lower_bound, self._limits.rel_gap),
            nodes=self._nodes,
            root_bound=root_bound,
            kernels_left=left,
            newton_steps=self._steps,
        )

    def _push(self, bound: float, node: Node, s: FloatArray, origin: Origin) -> None:
        self._count += 1
        heapq.heappush(self._open, (bound, self._count, node, s, origin))

    def _close_records(self) -> None:
        """Parts that nobody has looked at are bounded by the dual point that they came with."""
        waiting = [origin for *_, origin in self._open] + ([self._in_hand] if self._in_hand is not None else [])
        for origin in waiting:
            self._journal.add(origin.decision, origin.point)

    def _record(self, origin: Origin, relaxed: Relaxed, fixed: IntArray | None = None) -> Origin:
        """Write a node's record; what its children come from."""
        point = origin.point
        if relaxed.lower_bound > -math.inf:
            point = self._journal.add_point(self._oracle.point_in_data(*relaxed.point))
        # From here on the node is in the journal, or all of it is not.
        self._in_hand = None
        return Origin(Decision(parent=self._journal.add(origin.decision, point, fixed)), point)

    def _branch(self, node: Node, s: FloatArray, origin: Origin) -> int:
        """Bound a node; close it, or put its two halves on the heap. Returns how many kernels are open."""
        self._nodes += 1
        relaxed = relax_node(self._oracle, node, s, cutoff=self.cutoff, tol=0.02 if self._nodes > 1 else 1e-3)
        self._steps += relaxed.steps
        self._sets.round(node, relaxed.s, polish=self._nodes == 1 or self._nodes % 20 == 0)
        bound = max(self._current, relaxed.lower_bound)
        leaf = node.room == 0 or not np.any(node.free)
        if bound >= self.cutoff or leaf:
            self._floor = min(self._floor, bound)
            self._record(origin, relaxed)
            return 0
        fixed_in, free = self._fix(node, relaxed)
        fixed = [1 + np.flatnonzero(fixed_in & ~node.fixed_in), -1 - np.flatnonzero(node.free & ~free & ~fixed_in)]
        below = self._record(origin, relaxed, np.concatenate(fixed))
        room = node.room - int(np.count_nonzero(fixed_in & ~node.fixed_in))
        if room < 0:
            # More kernels must be in than there is room for: no set here is below the cutoff.
            return 0
        reduced = Node(fixed_in=fixed_in, free=free if room else np.zeros_like(free), room=room)
        candidates = np.flatnonzero(reduced.free)
        if len(candidates) == 0:
            self._push(bound, reduced, relaxed.s, below)
            return 0
        weight = relaxed.s[candidates]
        score = weight * (1.0 - weight) * np.maximum(relaxed.terms[candidates], 0.0)
        if not np.any(weight * (1.0 - weight) > 1e-7):
            score = weight
        j = int(candidates[np.argmax(score)])
        if_in, if_out = halves(relaxed.lower_bound, relaxed.terms, node.free, node.room)
        inside, without = fixed_in.copy(), reduced.free.copy()
        inside[j], without[j] = True, False
        for bound_there, child, side in (
            (float(if_in[j]), Node(fixed_in=inside, free=without, room=room - 1), 1),
            (float(if_out[j]), Node(fixed_in=fixed_in, free=without, room=room), -1),
        ):
            decision = replace(below.decision, choice=j, side=side)
            self._push(max(bound, bound_there), child, relaxed.s, Origin(decision, below.point))
        return len(candidates)

    def _fix(self, node: Node, relaxed: Relaxed) -> tuple[BoolArray, BoolArray]:
        """Kernels whose entry, or absence, lifts the bound to the cutoff are decided; the other side is closed."""
        if_in, if_out = halves(relaxed.lower_bound, relaxed.terms, node.free, node.room)
        out = node.free & (if_in >= self.cutoff)
        enter = node.free & ~out & (if_out >= self.cutoff)
        closed = np.concatenate([if_in[out], if_out[enter]])
        self._floor = min(self._floor, float(closed.min(initial=math.inf)))
        return node.fixed_in | enter, node.free & ~out & ~enter
