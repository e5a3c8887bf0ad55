"""The relaxation at a node: min of c(s) + price's over 0 <= s <= 1, sum(s) <= k, some s fixed.

Sequential quadratic programming: the Hessian of c, gamma^2 V' M^-1 V with V = [K_j alpha] and M = I + gamma K_s, costs
little more than the loss itself, and the quadratic model over the box and the budget is solved by an active set. Far
from the solution, where c looks like 1/s, Newton steps are too short; there, majorise-minimise steps (s_j in proportion
to s_j sqrt(q_j), capped at 1) go faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from parsifal.arrays import BoolArray, FloatArray
from parsifal.bound.dual import dual_terms
from parsifal.deadline import check_time, seconds_left
from parsifal.kernels.oracle import Oracle, System

_MOST_STEPS = 60
_TRIALS = 12


@dataclass(frozen=True, kw_only=True)
class Node:
    """A part of the problem: kernels that are in, kernels that are open, and how many of those may enter."""

    fixed_in: BoolArray
    free: BoolArray
    room: int


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """What the relaxation of a node gave.

    Attributes
    ----------
    s : array of shape (m,)
        The weights.
    value : float
        The relaxation's objective there: at least the node's least value of the relaxation.
    lower_bound : float
        D at the best alpha met on the way: at most any objective in the node.
    terms : array of shape (m,)
        The a_j = gamma/2 q_j - price_j of the bound, each on the safe side.
    point : pair of arrays
        The weights and the alpha of the bound.
    """

    s: FloatArray
    value: float
    lower_bound: float
    terms: FloatArray
    steps: int
    point: tuple[FloatArray, FloatArray]


def relax_node(oracle: Oracle, node: Node, s: FloatArray, *, cutoff: float = math.inf, tol: float = 1e-4) -> Relaxed:
    """Solve the relaxation from the weights `s`, as far as it is worth.

    Parameters
    ----------
    oracle : Oracle
        Loss and bound.
    node : Node
        What is fixed.
    s : array of shape (m,)
        Where to start; made feasible first.
    cutoff : float
        A bound at or above it ends the node; once the value is below it, a rough solution will do.
    tol : float
        Relative gap between value and bound to stop at.
    """
    s = feasible(node, s)
    best, terms, value = -math.inf, np.zeros(oracle.m), math.inf
    point = s, np.zeros(oracle.n)
    system, alpha, reach, q, value = _evaluate(oracle, s)
    steps = 0
    for steps in range(1, _MOST_STEPS + 1):
        lower_bound, a = oracle.bound(alpha, q, node.fixed_in, node.free, node.room, reach=reach)
        if lower_bound > best:
            best, terms, point = lower_bound, a, (s, alpha)
        gap = value - best
        enough = tol * (cutoff - best) if value < cutoff < math.inf else 1e-9 * value
        if best >= cutoff or gap <= max(enough, 0.5 * oracle.resolution):
            break
        if not np.any(node.free) or node.room == 0 or steps == _MOST_STEPS or seconds_left() == 0:
            break
        if steps <= 2 or (gap > 0.05 * value and steps <= 6):
            moved = _majorise(oracle, node, s, q)
            trial = _evaluate(oracle, moved)
            if trial[-1] < value:
                s, (system, alpha, reach, q, value) = moved, trial
        direction, slope = _newton(oracle, node, s, system, alpha, q)
        if not slope < 0.0:
            break
        t = 1.0
        for _ in range(_TRIALS):
            check_time()
            moved = s + t * direction
            trial = _evaluate(oracle, moved)
            if trial[-1] <= value + 1e-4 * t * slope:
                break
            t *= 0.5
        else:
            break
        s, (system, alpha, reach, q, value) = moved, trial
    return Relaxed(s=s, value=value, lower_bound=best, terms=terms, steps=steps, point=point)


def feasible(node: Node, s: FloatArray) -> FloatArray:
    """The nearest sensible weights that the node allows; none of the open ones is zero for want of a start."""
    out = np.where(node.free, np.clip(s, 0.0, 1.0), 0.0)
    open_kernels = int(np.count_nonzero(node.free))
    if open_kernels and node.room:
        total = float(out.sum())
        if total < 0.5 * min(node.room, open_kernels):
            out[node.free] += (min(node.room, open_kernels) - total) / open_kernels
            np.minimum(out, 1.0, out=out)
        total = float(out.sum())
        if total > node.room:
            out *= node.room / total
    else:
        out[:] = 0.0
    out[node.fixed_in] = 1.0
    return out


def _evaluate(oracle: Oracle, s: FloatArray) -> tuple[System, FloatArray, float, FloatArray, float]:
    system = oracle.system(s)
    alpha, reach = system.point(oracle.y)
    q = oracle.quadratic(alpha)
    return system, alpha, reach, q, oracle.value(s, alpha, q)


def _majorise(oracle: Oracle, node: Node, s: FloatArray, q: FloatArray) -> FloatArray:
    """min over s' of sum_j |w_j|^2 / (2 gamma s'_j) + price_j s'_j with |w_j| = gamma s_j sqrt(q_j), on the budget:
    s'_j = |w_j| / sqrt(2 gamma (price_j + mu)), capped at 1, mu found by bisection."""
    w = np.where(node.free, oracle.gamma * s * np.sqrt(q), 0.0)
    out = np.where(node.fixed_in, 1.0, 0.0)
    used = np.flatnonzero(w > 0.0)
    if len(used) == 0:
        return out
    weights, price = w[used], oracle.price[used]

    def filled(mu: float) -> FloatArray:
        least = np.sqrt(2.0 * oracle.gamma * (price + mu))
        return np.minimum(1.0, np.divide(weights, least, out=np.ones(len(used)), where=least > 0.0))

    out[used] = filled(0.0)
    if out[used].sum() <= node.room:
        return out
    low, high = 0.0, float((weights.sum() / node.room) ** 2 / (2.0 * oracle.gamma))
    while filled(high).sum() > node.room:
        high *= 2.0
    for _ in range(100):
        middle = math.sqrt(low * high) if low > 0.0 else 1e-6 * high
        if filled(middle).sum() > node.room:
            low = middle
        else:
            high = middle
        if high - low <= 1e-12 * high or high < 1e-290:
            break
    out[used] = filled(high)
    return out


def _newton(
    oracle: Oracle, node: Node, s: FloatArray, system: System, alpha: FloatArray, q: FloatArray
) -> tuple[FloatArray, float]:
    """Direction to the minimum of the quadratic model, and the slope of c along it."""
    a = dual_terms(q, oracle.gamma, oracle.price)
    free = np.flatnonzero(node.free)
    ranked = np.sort(a[free])[::-1]
    threshold = max(0.0, ranked[min(node.room, len(free)) - 1])
    work = free[(s[free] > 0.0) | (a[free] >= 0.5 * threshold)]
    if len(work) == 0:
        # Every kernel costs more than it gains.
        return np.zeros(oracle.m), 0.0
    V = oracle.vectors(alpha, work)
    H = oracle.gamma**2 * (V.T @ system.solve(V))
    x = s[work]
    d = minimise_model(0.5 * (H + H.T), -a[work], x, float(node.room)) - x
    direction = np.zeros(oracle.m)
    direction[work] = d
    return direction, float(-a[work] @ d)


def minimise_model(H: FloatArray, g: FloatArray, x: FloatArray, room: float) -> FloatArray:
    """Minimise g'(z - x) + 1/2 (z - x)'H(z - x) over 0 <= z <= 1, sum(z) <= room by an active-set method from x."""
    m = len(x)
    z = x.copy()
    H = H + np.diag(1e-12 * np.maximum(np.diag(H), np.diag(H).max(initial=0.0) * 1e-3) + 1e-300)
    r = g.copy()
    tiny = 1e-12
    loose = (z > tiny) & (z < 1.0 - tiny)
    full = bool(z.sum() >= room * (1.0 - tiny))
    for _ in range(8 * m + 20):
        T = np.flatnonzero(loose)
        mu = 0.0
        p: FloatArray = np.zeros(0)
        if len(T):
            A = H[np.ix_(T, T)]
            rhs = np.column_stack([-r[T], -np.ones(len(T))])
            try:
                u: FloatArray = np.linalg.solve(A, rhs).astype(np.float64, copy=False)
            except np.linalg.LinAlgError:
                return z
            p = u[:, 0]
            with np.errstate(all="ignore"):
                if full:
                    mu = -float(p.sum() / u[:, 1].sum())
                    p = p + mu * u[:, 1]
            if not np.isfinite(p).all():
                # A ridge too weak for double precision: a poor step, which the line search judges.
                return z
        moving = len(T) > 0 and float(np.abs(p).max()) > 1e-10
        if moving:
            with np.errstate(divide="ignore", invalid="ignore"):
                ahead = np.where(p > 0.0, (1.0 - z[T]) / p, np.where(p < 0.0, -z[T] / p, np.inf))
            t = min(1.0, float(ahead.min()))
            growth = float(p.sum())
            hits_budget = False
            if not full and growth > 0.0 and z.sum() + t * growth >= room:
                t, hits_budget = max(0.0, (room - float(z.sum())) / growth), True
            z[T] += t * p
            r += H[:, T] @ (t * p)
            if hits_budget:
                full = True
                continue
            if t < 1.0:
                stuck = T[ahead <= t * (1.0 + 1e-12)]
                z[stuck] = np.round(z[stuck])
                loose[stuck] = False
                continue
        # At the minimum for this set: which constraint is worth leaving?
        if full and len(T) == 0:
            # Any mu between the two sides of the bounds will do; the largest of the zeros' pulls is the test.
            zero, one = r[z < 0.5], r[z >= 0.5]
            mu = max(0.0, 0.5 * (-zero.min(initial=0.0) - one.max(initial=-np.inf))) if len(one) else 0.0
            if not np.isfinite(mu):
                mu = 0.0
        if full and mu < 0.0:
            full = False
            continue
        reduced = r + (mu if full else 0.0)
        wrong = np.where(loose, 0.0, np.where(z < 0.5, -reduced, reduced))
        worst = int(np.argmax(wrong))
        if wrong[worst] <= 1e-9 * (abs(mu) + float(np.abs(g).max(initial=0.0))):
            break
        loose[worst] = True
        if full and len(T) == 0:
            # One loose kernel cannot move along the budget: let its best partner go too.
            other = np.where(loose, -np.inf, np.where((z < 0.5) == (z[worst] < 0.5), -np.inf, wrong))
            if np.isfinite(other.max(initial=-np.inf)):
                loose[int(np.argmax(other))] = True
    return np.clip(z, 0.0, 1.0)
