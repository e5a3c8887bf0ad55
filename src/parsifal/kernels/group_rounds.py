"""The root of groups: rounds of relaxation on a working set and pricing over all groups; then probes.

A probe is the relaxation without one group of the best set. Where its bound passes the cutoff, every better set has the
group, and with it in, the next relaxation bounds and fixes more. A probe's dual point is a step of the proof as any
other: with the next best term in place of the group's own, its value is that of the sets without the group. In a tree
the same would be a chain of nodes, on all groups that are left instead of the few of the working set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import dual_terms
from parsifal.deadline import check_time, seconds_left
from parsifal.design.gram import product
from parsifal.kernels.group_root import GroupRoot, around, priced

# Groups that the relaxation is first solved on, and that may join it in a round.
_FIRST, _JOIN = 30, 60
_ALONG = 40  # that do if any does
_MOST_ROUNDS = 30
_PROBE_ROUNDS = 4
_TOLERANCE = 1e-3  # of the way from the bound to the cutoff
_HOPELESS = 1e3  # a probe ends when its relaxation is below the cutoff by a thousandth of what is known of it


def solve_root(root: GroupRoot) -> None:
    """Rounds until no group outside the working set matters, with probes in between while they put groups in."""
    rounds = _Rounds(root)
    rounds.run()
    while not root.exhausted and rounds.probe_best():
        rounds.run()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Relaxed:
    """Coefficients of all columns and weights of all groups, their value, and the problem on the working set."""

    v: FloatArray
    s: FloatArray
    primal: float
    quadratic: _core.Quadratic


class _Rounds:
    """The working set, its inner products, and the last dual point."""

    def __init__(self, root: GroupRoot) -> None:
        p = root.problem
        self.root, self.problem = root, p
        self.norms = np.sqrt(np.einsum("ij,ij->j", p.Z, p.Z))
        self.beta, self.alpha, self.v = p.Z.T @ p.y, p.y, np.zeros(p.Z.shape[1])
        self.work = _first_groups(root, self.beta)
        self.held: IntArray = np.empty(0, dtype=np.int64)
        self.gram = np.empty((0, 0))

    def run(self) -> None:
        """Relax, look for better sets, price and fix, until no group outside matters."""
        root = self.root
        for _ in range(_MOST_ROUNDS):
            gap = max(root.cutoff - root.bound, 0.0)
            tolerance = max(_TOLERANCE * gap, 0.05 * root.policy.allowance(root.cutoff))
            relaxed = self._relax(root.fix, tolerance, slack=0.0)
            root.keep(relaxed.v, relaxed.s)
            _improve(root, relaxed.quadratic, self.problem.compiled(self.work), self.work)
            gains = self._price(relaxed.v)
            if root.exhausted or not self._join(gains, root.fix):
                return

    def probe_best(self) -> bool:
        """Probe the groups of the best set, that of the largest weight first, up to one that stays open.

        True if a group is in that was not.
        """
        root = self.root
        order = root.best.support[np.argsort(-root.s[root.best.support], kind="stable")]
        before = np.count_nonzero(root.fix == 1)
        for group in order[root.fix[order] == 0].tolist():
            if root.exhausted or (root.fix[group] == 0 and not self._probe(group)):
                break
        return bool(np.count_nonzero(root.fix == 1) > before)

    def _probe(self, group: int) -> bool:
        """Whether no set without the group is below the cutoff."""
        root = self.root
        for _ in range(_PROBE_ROUNDS):
            fix = root.fix.copy()
            fix[group] = -1
            relaxed = self._relax(fix, 0.05 * root.policy.allowance(root.cutoff), slack=_HOPELESS)
            if relaxed.primal < root.cutoff:
                return False  # no bound can pass it, and more groups only lower it
            gains = self._price(relaxed.v)
            if root.exhausted or root.fix[group] != 0:
                return True
            if not self._join(gains, fix):
                return False
        return False

    def _relax(self, fix: FixArray, tolerance: float, *, slack: float) -> _Relaxed:
        """The relaxation on the working set."""
        check_time()
        p, root, work = self.problem, self.root, self.work
        columns = p.columns(work)
        self._hold(columns)
        at = self.v[columns]
        if np.count_nonzero(at) < np.count_nonzero(self.v):
            # Around the part that is left of it.
            self._move(columns[at != 0], at[at != 0])
        quadratic = around(p, self.gram, self.norms[columns], at, self.beta[columns], self.alpha).compiled
        relaxed = _core.relax_groups(
            quadratic,
            p.compiled(work),
            fix=fix[work],
            start=root.s[work],
            cutoff=root.cutoff,
            tolerance=tolerance,
            slack=slack,
            max_solves=400,
            seconds=seconds_left(),
        )
        root.count(relaxed["solves"])
        v, s = np.zeros(p.Z.shape[1]), np.zeros(p.size)
        v[columns], s[work] = relaxed["v"], relaxed["s"]
        return _Relaxed(v=v, s=s, primal=relaxed["primal"], quadratic=quadratic)

    def _hold(self, columns: IntArray) -> None:
        """The inner products of these columns, which are at least those that were held; old ones are kept."""
        if columns.size == self.held.size:
            return
        Z = self.problem.Z
        fresh = ~np.isin(columns, self.held)
        block = np.asfortranarray(Z[:, columns[fresh]])
        gram = product(block, block)
        if self.held.size:
            old, new = np.flatnonzero(~fresh), np.flatnonzero(fresh)
            inner, cross = gram, product(np.asfortranarray(Z[:, self.held]), block)
            gram = np.empty((columns.size, columns.size), order="F")
            gram[np.ix_(old, old)], gram[np.ix_(new, new)] = self.gram, inner
            gram[np.ix_(old, new)], gram[np.ix_(new, old)] = cross, cross.T
        self.gram, self.held = gram, columns

    def _move(self, active: IntArray, values: FloatArray) -> None:
        """The dual point of these coefficients."""
        Z = self.problem.Z
        self.v = np.zeros(Z.shape[1])
        self.v[active] = values
        self.alpha = self.problem.y - Z[:, active] @ values
        self.beta = Z.T @ self.alpha

    def _price(self, v: FloatArray) -> FloatArray:
        """The dual point of v over all groups: what it bounds and fixes is noted. Returns the groups' terms."""
        p, root = self.problem, self.root
        self._move(np.flatnonzero(v), v[v != 0])
        bound, gains = priced(p, self.alpha, self.beta, self.norms, root.fix)
        root.take(v, self.beta, bound, gains)
        return gains

    def _join(self, gains: FloatArray, fix: FixArray) -> bool:
        """Let groups outside join that the dual value takes, or would like to; whether there are any."""
        missing = _violators(self.problem.k, gains, self.work, np.where(self.root.fix == 0, fix, self.root.fix))
        # What is fixed out stays: the relaxation passes over it.
        self.work = np.union1d(self.work, missing)
        return missing.size > 0


def _first_groups(root: GroupRoot, beta: FloatArray) -> IntArray:
    p = root.problem
    gains = dual_terms(p.sums(beta**2), p.gamma, p.price)
    allowed = np.flatnonzero(root.fix >= 0)
    count = max(_FIRST, 3 * min(p.k, p.size)) if p.k < p.size else _FIRST
    top = allowed[np.argsort(-gains[allowed], kind="stable")[:count]]
    return np.union1d(np.union1d(np.flatnonzero(root.fix == 1), top), root.best.support).astype(np.int64)


def _violators(k: int, gains: FloatArray, work: IntArray, fix: FixArray) -> IntArray:
    """The strongest groups outside the working set that have more to give than the last that is chosen inside."""
    room = k - int(np.count_nonzero(fix == 1))
    inside = np.sort(gains[work[fix[work] == 0]])[::-1]
    threshold = max(0.0, float(inside[room - 1])) if 0 < room <= inside.size else 0.0
    outside = fix == 0
    outside[work] = False
    count = int(np.count_nonzero(outside & (gains > threshold * (1 + 1e-9))))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    # The next best come along: new inner products, a few at a time, cost more than columns without weight.
    order = np.flatnonzero(outside)
    return order[np.argsort(-gains[order], kind="stable")[: min(max(count, _ALONG), _JOIN)]].astype(np.int64)


def _improve(root: GroupRoot, quadratic: _core.Quadratic, groups: _core.Groups, work: IntArray) -> None:
    """Sets from the relaxation's largest weights, and, the first time, from what is known and by greedy growth."""
    p = root.problem
    free = work[(root.fix[work] == 0) & (root.s[work] > 0)]
    room = p.k - int(np.count_nonzero(root.fix == 1))
    rounded = free[np.argsort(-root.s[free], kind="stable")[: max(room, 0)]]
    starts = [np.union1d(np.flatnonzero(root.fix == 1), rounded)]
    if not root.steps:
        starts.append(root.best.support)
    for start in starts:
        if start.size > p.k or not np.isin(start, work).all():
            continue
        position = np.searchsorted(work, start).tolist()
        found, _ = _core.improve_groups(
            quadratic, groups, fix=p.fix[work], support=position, max_moves=200, seconds=seconds_left()
        )
        support = work[np.asarray(found, dtype=np.int64)]
        if not np.array_equal(support, root.best.support):
            root.offer(support)
