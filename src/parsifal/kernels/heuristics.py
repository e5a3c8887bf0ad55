"""Good sets of kernels: rounding the relaxation, greedy growth and swaps, all valued by their primal objective."""

from __future__ import annotations

import math

import numpy as np

from parsifal.arrays import FloatArray
from parsifal.deadline import check_time
from parsifal.kernels.oracle import Oracle
from parsifal.kernels.relaxation import Node

# Candidates that are tried for a place: those of steepest descent.
_CANDIDATES = 10
_SWEEPS = 6


class Sets:
    """The best set so far, and the values of all sets that were looked at.

    Parameters
    ----------
    oracle : Oracle
        The loss.
    root : Node
        Kernels that must be in, kernels that may, and how many of those.
    """

    def __init__(self, oracle: Oracle, root: Node) -> None:
        self._oracle = oracle
        self._must = set(np.flatnonzero(root.fixed_in).tolist())
        self._may = np.flatnonzero(root.free)
        self._most = len(self._must) + root.room
        self._values: dict[tuple[int, ...], tuple[float, FloatArray]] = {}
        self.best: tuple[int, ...] = tuple(sorted(self._must))
        self.objective = math.inf

    def start(self, warm_start: tuple[int, ...] | None) -> None:
        """Value the smallest set, the user's own and the greedy one."""
        self.value(self.best)
        if warm_start is not None:
            self._swap(self._grow(tuple(sorted(warm_start))))
        self._grow(tuple(sorted(self._must)))

    def round(self, node: Node, s: FloatArray, *, polish: bool) -> None:
        """Take the largest weights; improve the set by swaps if asked to or if it is the best so far."""
        free = np.flatnonzero(node.free & (s > 0.0))
        chosen = free[np.argsort(-s[free], kind="stable")[: node.room]]
        support = tuple(sorted({*np.flatnonzero(node.fixed_in).tolist(), *chosen.tolist()}))
        known = support in self._values
        before = self.objective
        self.value(support)
        if (polish and not known) or self.objective < before:
            self._swap(self._grow(support))

    def polish(self) -> None:
        """Improve the best set by growth and swaps: values are told apart better than bounds."""
        self._swap(self._grow(self.best))

    def value(self, support: tuple[int, ...]) -> float:
        """c(S) + prices of S, computed from the kernels."""
        if support not in self._values:
            if self._values:
                check_time()
            s = np.zeros(self._oracle.m)
            s[list(support)] = 1.0
            alpha = self._oracle.system(s).solve(self._oracle.y)
            value = self._oracle.value(s, alpha)
            self._values[support] = (value, alpha)
            if value < self.objective:
                self.best, self.objective = support, value
        return self._values[support][0]

    def _steepest(self, support: tuple[int, ...]) -> list[int]:
        self.value(support)
        q = self._oracle.quadratic(self._values[support][1])
        others = self._may[~np.isin(self._may, support)]
        return [int(j) for j in others[np.argsort(-q[others], kind="stable")[:_CANDIDATES]]]

    def _grow(self, support: tuple[int, ...]) -> tuple[int, ...]:
        while len(support) < self._most:
            grown = [tuple(sorted((*support, j))) for j in self._steepest(support)]
            if not grown:
                break
            best = min(grown, key=self.value)
            if self.value(best) >= self.value(support):
                break
            support = best
        return support

    def _swap(self, support: tuple[int, ...]) -> tuple[int, ...]:
        for _ in range(_SWEEPS):
            before = self.value(support)
            for i in support:
                if i in self._must or i not in support:
                    continue
                less = tuple(j for j in support if j != i)
                trials = [less, *(tuple(sorted((*less, j))) for j in self._steepest(less))]
                best = min(trials, key=self.value)
                if self.value(best) < self.value(support):
                    support = best
            if not self.value(support) < before:
                break
        return support
