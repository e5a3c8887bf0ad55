"""Groups and kernels on the columns of a stress problem: methods against each other, all sets, and their proofs.

A set's value is recomputed in extended precision from the coefficients that the certificate states; no bound, of groups
or of kernels, may be above the least of these values.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import parsifal as pf
from stress.columns import FloatArray
from stress.problems import StressProblem
from stress.referee import FLOOR, ROUNDING

_MOST_SETS = 400
_MOST_COLUMNS = 60


def draw_groups(rng: np.random.Generator, p: int) -> list[list[int]]:
    """Groups of one to many columns, all columns in one at least, some in two."""
    order = [int(j) for j in rng.permutation(p)]
    groups = []
    while order:
        size = int(rng.choice([1, 2, 3, len(order)], p=[0.3, 0.3, 0.3, 0.1]))
        groups.append(sorted(order[:size]))
        order = order[size:]
    if rng.random() < 0.3 and p > 1:
        groups.append(sorted(int(j) for j in rng.permutation(p)[:2]))
    return groups


def weighted(problem: StressProblem, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """The rows as they count."""
    if weight is None:
        return problem.dense, problem.y
    root = np.sqrt(weight)
    return root[:, None] * problem.dense, root * problem.y


def value_of(X: FloatArray, y: FloatArray, gamma: float, price: float, coef: FloatArray) -> float:
    """1/2 |y - Z w|^2 + |w|^2 / (2 gamma) and the prices, in extended precision."""
    w = coef.astype(np.longdouble)
    residual = y.astype(np.longdouble) - X.astype(np.longdouble) @ w
    return float((residual @ residual) / 2 + (w @ w) / (2 * np.longdouble(gamma)) + np.longdouble(price))


def faults_of_choices(runner: Any) -> list[str]:
    """Everything that is wrong with the choices of groups of columns of the runner's problem."""
    problem, rng = runner.problem, runner.rng
    if problem.p > _MOST_COLUMNS or not np.isfinite(problem.gamma):
        return []
    groups = draw_groups(rng, problem.p)
    weight = rng.integers(0, 3, problem.n).astype(np.float64) if rng.random() < 0.3 else None
    if weight is not None:
        weight[0] = 1.0
    prices = rng.uniform(0, 0.1 * problem.half, len(groups)) if rng.random() < 0.4 else None
    asked: dict[str, Any] = {"k": min(3, len(groups)), "gamma": problem.gamma, "penalty": prices}
    asked |= {"sample_weight": weight, "time_limit": 1.0, "node_limit": 200}
    kernels = [("factor", np.ascontiguousarray(problem.dense[:, group])) for group in groups]
    found = {
        "groups": runner.attempt(
            "groups", lambda: pf.solve_groups(problem.dense, problem.y, groups, threads=1, **asked)
        ),
        "groups, 2 threads": runner.attempt(
            "groups, 2 threads", lambda: pf.solve_groups(problem.dense, problem.y, groups, threads=2, **asked)
        ),
        "kernels": runner.attempt("kernels", lambda: pf.solve_kernels(kernels, problem.y, **asked)),
    }
    X, y = weighted(problem, weight)
    half = 0.5 * float(y @ y)
    faults, bounds, values = [], {}, {}
    for name, solution in found.items():
        if solution is None:
            continue
        bounds[name] = solution.lower_bound
        certificate = solution.certificate
        if certificate.complete:
            data = kernels if name == "kernels" else problem.dense
            result = runner.attempt(f"{name}, check", lambda c=certificate, d=data: pf.check(c, d, problem.y))
            if result is not None and not result:
                faults.append(f"{name}: certificate: {result}")
        if name != "kernels":
            columns = np.concatenate([np.zeros(0, dtype=np.int64), *(groups[g] for g in solution.support)]).astype(int)
            price = 0.0 if prices is None else float(prices[solution.support].sum())
            value = value_of(X[:, columns], y, problem.gamma, price, certificate.coef)
            values[name] = value
            if abs(value - solution.objective) > ROUNDING * abs(value) + FLOOR * half:
                faults.append(f"{name}: objective {solution.objective!r}, but its coefficients are worth {value!r}")
    best = _enumerated(X, y, problem.gamma, groups, prices, asked["k"])
    if best is not None:
        values["enumeration"] = best
    for name, bound in bounds.items():
        for other, value in values.items():
            if not bound <= value + ROUNDING * abs(value) + FLOOR * half:
                faults.append(f"{name} has the bound {bound!r}, but {other} found {value!r}")
    return faults


def _enumerated(
    X: FloatArray, y: FloatArray, gamma: float, groups: list[list[int]], prices: FloatArray | None, k: int
) -> float | None:
    """The least value of all sets, each that of its coefficients, or None if there are too many."""
    sets = [chosen for size in range(k + 1) for chosen in combinations(range(len(groups)), size)]
    if len(sets) > _MOST_SETS:
        return None
    best = np.inf
    for chosen in sets:
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(groups[g] for g in chosen)]).astype(int)
        Z = X[:, columns]
        stacked = np.vstack([Z, np.eye(columns.size) / np.sqrt(gamma)])
        coef = np.linalg.lstsq(stacked, np.concatenate([y, np.zeros(columns.size)]), rcond=None)[0]
        price = 0.0 if prices is None else float(prices[list(chosen)].sum())
        best = min(best, value_of(Z, y, gamma, price, coef))
    return best
