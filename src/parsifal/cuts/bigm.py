"""`solve(..., method="big-m")`: the formulation of Bertsimas, King and Mazumder, for comparison.

    min  f(w) + penalty sum s,   f(w) = 1/(2 gamma) |w|^2 + 1/2 |y - X w|^2,   -M_j s_j <= w_j <= M_j s_j,   s allowed

f enters through its tangents, which every backend can take (HiGHS has no quadratic objective with integers): the one at
the fit of a support is exact there, since its slope on the support's columns is zero.

M from the data: with H = X'X + I/gamma and w^ the ridge fit on all columns, f(w) = f(w^) + 1/2 (w - w^)'H(w - w^). So
all w with f(w) at most the incumbent's objective satisfy |w_j - w^_j| <= sqrt(2 (objective - f(w^)) (H^-1)_jj), and
M_j = |w^_j| + that excludes nothing better than the incumbent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.ridge_loss import primal_value, ridge
from parsifal.constraints import Row, restrict
from parsifal.cuts.claim import make_solution
from parsifal.cuts.loop import CutResult, run_loop
from parsifal.cuts.master import Choices, Cut, MasterModel, load_backend
from parsifal.cuts.options import CutOptions
from parsifal.cuts.oracle import RegressionOracle
from parsifal.cuts.planes import UNIT, Planes, Report
from parsifal.cuts.start import Start, first_start, prepare
from parsifal.deadline import TimeUp, limited
from parsifal.errors import BigMWarning, warn_user
from parsifal.problem.gap import Status, beyond_rounding
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Solution, reconcile

# For rounding in M, and so that M is not active where it happens to be exact.
_MARGIN = 1.01


class TangentPlanes(Planes):
    """The quadratic f through its tangents, in x = (s, w_j / M_j)."""

    X: FloatArray
    y: FloatArray
    gamma: float
    big_m: FloatArray

    def cut(self, support: IntArray) -> Cut:
        """The tangent at a support's fit."""
        self.visit(support)
        self.cut_supports.add(support.tobytes())
        return self.tangent(self.fit(support))

    def tangent(self, w: FloatArray) -> Cut:
        """eta >= f(w) + grad f(w)'(. - w): valid for any w, so that rounding in it does no harm."""
        self.cuts += 1
        alpha = self.y - self.X @ w
        gradient = w / self.gamma - self.X.T @ alpha
        value = primal_value(alpha, w, self.gamma)
        slope = np.concatenate([np.zeros(w.size), gradient * self.big_m]) / self.scale
        # Slopes at rounding level on the support would only disturb the solver.
        small = np.abs(slope) < 1e-9
        constant = (value - float(gradient @ w)) / self.scale - float(np.abs(slope[small]).sum())
        return Cut(constant=constant, slope=np.where(small, 0.0, slope))

    def fit(self, support: IntArray) -> FloatArray:
        """The coefficients of a support's ridge fit, zero elsewhere."""
        w = np.zeros(self.choices.size)
        w[support] = ridge(self.X[:, support], self.y, self.gamma)
        return w

    def separate(self, x: FloatArray, eta: float) -> Cut | None:
        w = x[self.choices.size :] * self.big_m
        if not self.worth_a_cut(primal_value(self.y - self.X @ w, w, self.gamma) / self.scale, eta):
            return None
        return self.tangent(w)

    def incumbent(self) -> tuple[FloatArray, float]:
        s, eta = super().incumbent()
        return np.concatenate([s, self.fit(self.support) / self.big_m]), eta


def safe_big_m(X: FloatArray, y: FloatArray, gamma: float, objective: float) -> FloatArray:
    """M_j of the module's docstring: no w with f(w) <= objective exceeds it."""
    n, p = X.shape
    best = ridge(X, y, gamma)
    slack = max(0.0, objective - primal_value(y - X @ best, best, gamma)) + beyond_rounding(y)
    if p <= n:
        inverse = np.diag(np.linalg.inv(X.T @ X + np.eye(p) / gamma))
    else:
        # (H^-1)_jj = gamma - gamma^2 x_j'(I + gamma XX')^-1 x_j
        inverse = gamma - gamma**2 * np.sum(X * np.linalg.solve(np.eye(n) + gamma * (X @ X.T), X), axis=0)
    # Never above gamma, and rounding must not take it below zero.
    inverse = np.clip(inverse, 1e-12 * gamma, gamma)
    return np.asarray(_MARGIN * (np.abs(best) + np.sqrt(2 * slack * inverse)))


def solve_big_m(
    problem: Problem,
    rows: Sequence[Row],
    options: CutOptions,
    *,
    warm_start: IntArray | None,
    report: Report,
) -> Solution:
    """Solve the big-M formulation."""
    load_backend(options.backend)
    reads, deadline, big_m = problem.design.reads, options.deadline, options.big_m
    start = first_start(problem, rows, options.rel_gap, warm_start)
    result: CutResult | None = None
    status: Status = "gap_open"
    lower_bound, safe = start.lower_bound, True
    at_root = time.monotonic()
    try:
        with limited(deadline=deadline, threads=options.threads):
            if at_root < deadline:
                prepare(start, False, report)
            at_root = time.monotonic()
            lower_bound = start.lower_bound
            if at_root >= deadline:
                status = "time_limit"
            else:
                result, safe = _run(start, options, report)
    except TimeUp:
        status, lower_bound = "time_limit", start.lower_bound
    except KeyboardInterrupt:
        status, lower_bound = "interrupted", start.lower_bound
    if result is not None:
        # A bound on the formulation is one on the problem only if M excludes nothing.
        if safe:
            lower_bound = max(lower_bound, result.lower_bound)
            lower_bound = reconcile(start.incumbent.objective, lower_bound, problem.empty_objective)
        # Where big_m may exclude better supports, more than rounding is left.
        ended = result.status if safe or result.status not in ("optimal", "precision") else "gap_open"
        status = start.settled(ended, lower_bound)
    solution = make_solution(
        start,
        result,
        status=status,
        lower_bound=lower_bound,
        root_bound=start.lower_bound,
        reads=problem.design.reads - reads,
        seconds={
            "root": at_root - options.started,
            "master": time.monotonic() - at_root,
            "total": time.monotonic() - options.started,
        },
    )
    if big_m is not None and np.any(np.abs(solution.coef) >= big_m * (1 - 1e-6)):
        warn_user(
            f"big_m = {big_m:g} is active: a coefficient of the solution has size {np.abs(solution.coef).max():g}. "
            "Better supports may have been excluded; raise big_m, or leave it out",
            BigMWarning,
        )
    return solution


def _run(start: Start, options: CutOptions, report: Report) -> tuple[CutResult, bool]:
    p, big_m = start.problem, options.big_m
    index = np.flatnonzero(p.fix >= 0).astype(np.int64)
    X = p.design.columns(index)
    choices = Choices(size=index.size, k=p.k, fix=p.fix[index], rows=restrict(start.rows, index, p.p))
    planes = TangentPlanes(
        RegressionOracle(p.design, p.y, p.gamma, index),
        choices,
        penalty=p.penalty,
        floor=0.0,
        tolerance=load_backend(options.backend).CAPABILITIES.tolerance,
        report=lambda value, bound, nodes, left: (
            report(value, max(start.lower_bound, min(bound, value)), nodes, left)
            if safe
            else report(value, start.lower_bound, nodes, left)
        ),
    )
    needed = safe_big_m(X, p.y, p.gamma, start.incumbent.objective)
    safe = big_m is None or bool(np.all(big_m >= needed))
    planes.X, planes.y, planes.gamma = X, p.y, p.gamma
    planes.big_m = np.maximum(needed if big_m is None else np.full(index.size, big_m), np.finfo(np.float64).tiny)
    planes.visit(np.flatnonzero(np.isin(index, start.incumbent.support)).astype(np.int64))
    half = p.empty_objective
    planes.scale = (max(planes.objective, 1e-4 * half) or 1.0) / UNIT
    model = MasterModel(choices=choices, price=planes.scaled_price, floor=0.0, big_m=np.ones(index.size))
    points = [ridge(X, p.y, p.gamma)]
    if start.relaxation is not None:
        points.append(start.relaxation.coef[index])
    result = run_loop(
        planes,
        model,
        options.backend,
        first=lambda: [planes.tangent(w) for w in points],
        empty=half,
        rel_gap=start.rel_gap,
        deadline=options.deadline,
        node_limit=options.node_limit,
        threads=options.threads,
        fractional=True,
        exact=safe,
    )
    start.offer(index[result.support])
    return result, safe
