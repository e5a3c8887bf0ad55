"""How fast a solve with proof is, beside `lasso_path`: `python -m benchmarks.speed.search`.

scikit-learn's `lasso_path` with its defaults (100 fits, none of them proven to be the best sparse one) is timed on the
same data in the same run. Other solvers: `benchmarks.peers`.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from statistics import median

import numpy as np
from sklearn.linear_model import lasso_path

import parsifal as pf
from benchmarks.peers.referee import objective
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed import instances
from benchmarks.speed.instances import Instance
from benchmarks.speed.timing import timed

LABEL_WIDTH = 52

SEARCH = (
    Column("group", "", 1, "s"),
    Column("label", "instance", LABEL_WIDTH, "s"),
    Column("solve_s", "solve s", 9, ".4f"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("lasso_s", "lasso s", 9, ".4f"),
    Column("ratio", "solve/lasso", 11, ".2f"),
    Column("statuses", "status", 24, "s"),
    Column("checked", "certificates", 12, "s"),
)


def main(argv: Sequence[str]) -> None:
    """Print the speed table and the growth."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, help="data sets per row; the median counts (10)")
    arguments.add_argument("--time-limit", type=float, default=60.0, help="seconds per solve, for every solver")
    arguments.add_argument("--groups", default="abcdefg", help="letters of the rows to run, g is growth")
    arguments.add_argument(
        "--check", action="store_true", help="check every certificate, untimed (slow for large trees)"
    )
    args = arguments.parse_args(argv)
    seeds = range(args.seeds or (2 if args.quick else 10))
    rows, series = instances.quick() if args.quick else (instances.table(), instances.growth())
    rows = [row for row in rows if row.group in args.groups]
    warm_up()
    if rows:
        title = f"Solves to a proven gap of 1e-6; medians of {len(seeds)} data sets (3 runs for real data)"
        speed = Table("search", title, SEARCH, args.json)
        for instance in rows:
            measure(speed, instance, seeds, args.time_limit, args.check or args.quick)
    if "g" in args.groups:
        grow(Table("growth", "Growth", SEARCH, args.json), series, seeds, args.time_limit)


def warm_up() -> None:
    """Load what the first calls would load."""
    X, y, _ = pf.datasets.make_sparse_regression(30, 20, 2, random_state=0, order="F")
    pf.solve(X, y, k=2, gamma=0.1)
    lasso_path(X, y)


def solve(X: np.ndarray, y: np.ndarray, time_limit: float, **problem: float) -> tuple[float, pf.Solution]:
    """Time a solve and hold its objective against the data."""
    seconds, sol = timed(lambda: pf.solve(X, y, time_limit=time_limit, **problem))
    value = objective(X, y, sol.coef, sol.gamma, sol.penalty)
    if abs(value - sol.objective) > 1e-8 * value or sol.lower_bound > value * (1 + 1e-9):
        raise AssertionError(f"claimed {sol.objective} with bound {sol.lower_bound}, but the coefficients give {value}")
    return seconds, sol


def lasso(X: np.ndarray, y: np.ndarray) -> float:
    """Time `lasso_path` with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # paths of hard data do not converge everywhere
        return timed(lambda: lasso_path(X, y))[0]


def counts(statuses: Sequence[str]) -> str:
    """Say ``9 optimal, 1 time_limit``."""
    return ", ".join(f"{count} {status}" for status, count in Counter(statuses).most_common())


def measure(table: Table, instance: Instance, seeds: range, time_limit: float, check: bool = False) -> float:
    """One row: the solve and the lasso path on the same data; returns the median seconds."""
    seconds, lasso_s, nodes, statuses, gaps, checks = [], [], [], [], [], []
    for seed in range(3) if instance.fixed else seeds:
        X, y = instance.draw(seed)
        lasso_s.append(lasso(X, y))
        taken, sol = solve(X, y, time_limit, k=instance.k, gamma=instance.gamma)
        seconds.append(taken)
        nodes.append(sol.stats["nodes"])
        statuses.append(sol.status)
        gaps.append(sol.gap)
        if check and sol.certificate is not None:
            checks.append("valid" if pf.check(sol.certificate, X, y) else "INVALID")
    table.row(
        group=instance.group,
        label=instance.label,
        n=instance.n,
        p=instance.p,
        k=instance.k,
        gamma=instance.gamma,
        solve_s=median(seconds),
        nodes=median(nodes),
        lasso_s=median(lasso_s),
        ratio=median(seconds) / median(lasso_s),
        statuses=counts(statuses),
        checked=counts(checks) if check else None,
        solve_seconds=seconds,
        solve_nodes=nodes,
        gaps=gaps,
        lasso_seconds=lasso_s,
    )
    return median(seconds)


def grow(table: Table, series: dict[str, list[Instance]], seeds: range, time_limit: float) -> None:
    """Time against n and p past the transition, with the slope in log-log; then nodes against n below it."""
    for axis, line in series.items():
        seconds = [measure(table, instance, seeds, time_limit) for instance in line]
        if axis == "wall":
            continue
        sizes = [getattr(instance, axis) for instance in line]
        slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
        half = len(sizes) // 2
        upper = np.polyfit(np.log(sizes[half - 1 :]), np.log(seconds[half - 1 :]), 1)[0]
        print(f"  time ~ {axis}^{slope:.2f} over all sizes, {axis}^{upper:.2f} over the upper half\n", flush=True)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
