"""The paper's cutting planes on mixed-integer solvers, beside the search: `python -m benchmarks.speed.cuts`.

The grid of the paper's Figure 1 at p = 1900, so that the licence that comes with Gurobi can take part: k = 10, rho = 0,
sqrt(SNR) = 20, gamma = 1/sqrt(n). Every answer is held against the data here; statuses are counted as reported.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

import parsifal as pf
from benchmarks.peers.referee import objective
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.search import counts
from benchmarks.speed.timing import timed

PACKAGES = {"scip": "pyscipopt", "gurobi": "gurobipy", "highs": "highspy"}
PUBLISHED = {"root_cuts": 0, "fractional_cuts": False, "screen": False}
COLUMNS = (
    Column("n", "n", 5, "d"),
    Column("method", "method", 24, "s"),
    Column("seconds", "seconds", 9, ".3f"),
    Column("slowest", "slowest", 9, ".3f"),
    Column("cuts", "cuts", 7, ".0f"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("left", "columns", 8, ".0f"),
    Column("gap", "worst gap", 10, ".1e"),
    Column("statuses", "status", 28, "s"),
)


def methods(backends: Sequence[str], published: bool, big_m: bool) -> dict[str, dict[str, Any]]:
    """What is compared, by name; solvers that are not installed are left out."""
    there = [name for name in backends if importlib.util.find_spec(PACKAGES[name]) is not None]
    found: dict[str, dict[str, Any]] = {"search": {}}
    for name in there:
        found[name] = {"method": "cutting-plane", "backend": name}
    if published:
        for name in there:
            found[f"{name}, as published"] = {"method": "cutting-plane", "backend": name, **PUBLISHED}
    if big_m:
        for name in there:
            found[f"{name}, big-M"] = {"method": "big-m", "backend": name}
    return found


def main(argv: Sequence[str]) -> None:
    """Print time, cuts and nodes for every n and method."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, nargs="*", help="the values of n (80 to 200 by 20)")
    arguments.add_argument("--columns", type=int, help="p (1900)")
    arguments.add_argument("--seeds", type=int, help="data sets per row; the median counts (3)")
    arguments.add_argument("--time-limit", type=float, help="seconds per solve (60)")
    arguments.add_argument("--backends", default="scip,gurobi,highs", help="separated by commas")
    arguments.add_argument("--published", action="store_true", help="also the paper's method as published")
    arguments.add_argument("--big-m", action="store_true", help="also the big-M formulation (Gurobi: p < 1000)")
    args = arguments.parse_args(argv)
    sizes = args.rows or ([60] if args.quick else list(range(80, 201, 20)))
    p = args.columns or (100 if args.quick else 1900)
    k = 3 if args.quick else 10
    seeds = range(args.seeds or (1 if args.quick else 3))
    limit = args.time_limit or (5.0 if args.quick else 60.0)
    compared = methods(args.backends.split(","), args.published or args.quick, args.big_m or args.quick)
    title = f"Cutting planes at p = {p}, k = {k}: medians of {len(seeds)} data sets, at most {limit:g} s a solve"
    table = Table("cuts", title, COLUMNS, args.json)
    for n in sizes:
        for name, options in compared.items():
            measure(table, n, p, k, seeds, limit, name, options)


def measure(
    table: Table, n: int, p: int, k: int, seeds: range, limit: float, name: str, options: dict[str, Any]
) -> None:
    """One row: a method on the data sets of one n."""
    seconds, solutions = [], []
    for seed in seeds:
        X, y, _ = pf.datasets.make_sparse_regression(n, p, k, rho=0.0, sqrt_snr=20.0, random_state=seed, order="F")
        gamma = 1 / np.sqrt(n)
        taken, sol = timed(lambda X=X, y=y, g=gamma: pf.solve(X, y, k=k, gamma=g, time_limit=limit, **options))
        value = objective(X, y, sol.coef, sol.gamma, sol.penalty)
        if abs(value - sol.objective) > 1e-8 * value or sol.lower_bound > value * (1 + 1e-9):
            raise AssertionError(f"{name} claimed {sol.objective} and {sol.lower_bound}; the coefficients give {value}")
        seconds.append(taken)
        solutions.append(sol)
    table.row(
        n=n,
        method=name,
        seconds=median(seconds),
        slowest=max(seconds),
        cuts=median(sol.stats["cuts"] for sol in solutions) if options else None,
        nodes=median(sol.stats["nodes"] for sol in solutions),
        left=median(sol.stats["columns_left"] for sol in solutions),
        gap=max(sol.gap for sol in solutions),
        statuses=counts([sol.status for sol in solutions]),
        all_seconds=seconds,
        all_objectives=[sol.objective for sol in solutions],
    )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
