"""Best-first branch and bound over sets of kernels.

Lower bounds are dual values over every kernel (`Oracle.bound`), objectives are primal values of sets. What is pruned
or fixed is remembered by its bound, so the bound reported is the least over all parts, open or closed.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsifal.kernels.heuristics import Sets
from parsifal.kernels.oracle import FloatArray, Oracle
from parsifal.kernels.relaxation import BoolArray, Node, Relaxed, relax_node
from parsifal.limits import TimeUp, limited

Status = Literal["optimal", "time_limit", "node_limit", "interrupted", "gap_open"]

# Objective and bound that agree to this part of |y|^2 / 2 agree: no more digits are there.
_ROUNDING = 1e-14


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
    """

    def __init__(
        self, oracle: Oracle, root: Node, limits: Limits, report: Callable[[float, float, int, int], None]
    ) -> None:
        self._oracle = oracle
        self._root = root
        self._limits = limits
        self._report = report
        self._sets = Sets(oracle, root)
        self._floor = math.inf  # least bound of what is closed
        self._open: list[tuple[float, int, Node, FloatArray]] = []
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
        return self.objective - max(0.9 * self._limits.rel_gap * self.objective, _ROUNDING * self._oracle.half)

    @property
    def lower_bound(self) -> float:
        """No set is below this."""
        waiting = self._open[0][0] if self._open else math.inf
        return min(self._floor, waiting, self._current, self.objective)

    def run(self, warm_start: tuple[int, ...] | None) -> Found:
        """Search until nothing is left below the cutoff, or a limit is reached."""
        root_bound = 0.0
        left = int(np.count_nonzero(self._root.free))
        status: Status | None = None
        # Every loss is at least zero, so this is a bound before anything has been computed.
        self._push(0.0, self._root, np.zeros(self._oracle.m))
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
                        self._current, _, node, s = heapq.heappop(self._open)
                        remaining = self._branch(node, s)
                        self._current = math.inf
                        if self._nodes == 1:
                            root_bound, left = self.lower_bound, remaining
                        self._report(self.objective, self.lower_bound, self._nodes, len(self._open))
        except TimeUp:
            # The node in hand still counts with the bound that it came with.
            status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        # An early Ctrl-C may have come before any set had a value.
        self._sets.value(self._sets.best)
        lower_bound = self.lower_bound
        if closes(self.objective, lower_bound, self._limits.rel_gap, self._oracle.half):
            status = "optimal"
        return Found(
            support=self._sets.best,
            objective=self.objective,
            lower_bound=lower_bound,
            status=status or "gap_open",
            nodes=self._nodes,
            root_bound=root_bound,
            kernels_left=left,
            newton_steps=self._steps,
        )

    def _push(self, bound: float, node: Node, s: FloatArray) -> None:
        self._count += 1
        heapq.heappush(self._open, (bound, self._count, node, s))

    def _branch(self, node: Node, s: FloatArray) -> int:
        """Bound a node; close it, or put its two halves on the heap. Returns how many kernels are open."""
        self._nodes += 1
        relaxed = relax_node(self._oracle, node, s, cutoff=self.cutoff, tol=0.02 if self._nodes > 1 else 1e-3)
        self._steps += relaxed.steps
        self._sets.round(node, relaxed.s, polish=self._nodes == 1 or self._nodes % 20 == 0)
        bound = max(self._current, relaxed.lower_bound)
        leaf = node.room == 0 or not np.any(node.free)
        if bound >= self.cutoff or leaf:
            self._floor = min(self._floor, bound)
            return 0
        fixed_in, free = self._fix(node, relaxed)
        room = node.room - int(np.count_nonzero(fixed_in & ~node.fixed_in))
        if room < 0:
            # More kernels must be in than there is room for: no set here is below the cutoff.
            return 0
        reduced = Node(fixed_in=fixed_in, free=free if room else np.zeros_like(free), room=room)
        candidates = np.flatnonzero(reduced.free)
        if len(candidates) == 0:
            self._push(bound, reduced, relaxed.s)
            return 0
        weight = relaxed.s[candidates]
        score = weight * (1.0 - weight) * np.maximum(relaxed.terms[candidates], 0.0)
        if not np.any(weight * (1.0 - weight) > 1e-7):
            score = weight
        j = int(candidates[np.argmax(score)])
        if_in, if_out = _children(relaxed, node)
        inside, without = fixed_in.copy(), reduced.free.copy()
        inside[j], without[j] = True, False
        self._push(max(bound, float(if_in[j])), Node(fixed_in=inside, free=without, room=room - 1), relaxed.s)
        self._push(max(bound, float(if_out[j])), Node(fixed_in=fixed_in, free=without, room=room), relaxed.s)
        return len(candidates)

    def _fix(self, node: Node, relaxed: Relaxed) -> tuple[BoolArray, BoolArray]:
        """Kernels whose entry, or absence, lifts the bound to the cutoff are decided; the other side is closed."""
        if_in, if_out = _children(relaxed, node)
        out = node.free & (if_in >= self.cutoff)
        enter = node.free & ~out & (if_out >= self.cutoff)
        closed = np.concatenate([if_in[out], if_out[enter]])
        self._floor = min(self._floor, float(closed.min(initial=math.inf)))
        return node.fixed_in | enter, node.free & ~out & ~enter


def closes(objective: float, lower_bound: float, rel_gap: float, half: float) -> bool:
    """Whether the two are as close as asked for, or as close as rounding lets them be."""
    return objective - lower_bound <= max(rel_gap * objective, 2.0 * _ROUNDING * half)


def _children(relaxed: Relaxed, node: Node) -> tuple[FloatArray, FloatArray]:
    """The dual value of the node's alpha once kernel j is in, and once it is out, for every open kernel."""
    a, D = relaxed.terms, relaxed.lower_bound
    ranked = np.append(np.sort(a[node.free])[::-1], [0.0] * (node.room + 1))
    last_in = max(0.0, ranked[node.room - 1]) if node.room else math.inf
    first_out = max(0.0, ranked[node.room])
    top = a >= last_in if node.room else np.zeros(len(a), dtype=bool)
    # Of equal terms at the threshold some are in the sum and some are not; either way these are bounds.
    if_in = np.where(top & (a > 0.0), D, D + last_in - a)
    if_out = np.where(top & (a > 0.0), D + a - first_out, D)
    return if_in, if_out
