"""Wide, noisy, correlated problems: `python -m benchmarks.speed.wide`.

Blocks of 50 columns with correlation 0.7, standardised, gamma = 1/sqrt(n): nothing is fixed at the root, so the search
sees every column. What counts is the gap when the time is up, the memory beyond X, and the objective early on
(`benchmarks.peers`, group `wide`, has other solvers beside it).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

import numpy as np

import parsifal as pf
from benchmarks.guards.memory import peak_increase
from benchmarks.peers.referee import objective
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.instances import Data
from benchmarks.speed.timing import timed

# n, p, k, sqrt_snr, seconds
ROWS = (
    (300, 5_000, 10, 3.0, 60.0),
    (300, 10_000, 10, 3.0, 60.0),
    (300, 20_000, 10, 3.0, 120.0),
    (150, 20_000, 8, 2.0, 30.0),
    (500, 50_000, 10, 3.0, 120.0),
    (100, 100_000, 5, 3.0, 60.0),
)
QUICK = ((60, 600, 4, 3.0, 0.5),)

WIDE = (
    Column("label", "instance", 36, "s"),
    Column("limit", "limit s", 7, ".0f"),
    Column("solve_s", "solve s", 8, ".2f"),
    Column("root_gap", "root gap", 9, ".4f"),
    Column("gap", "gap", 9, ".2g"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("rate", "nodes/s", 8, ".0f"),
    Column("megabytes", "MB", 6, ".0f"),
    Column("status", "status", 12, "s"),
)


def blocks(n: int, p: int, k: int, sqrt_snr: float, seed: int, dtype: type = np.float64) -> Data:
    """Blocks of 50 columns with correlation 0.7, coefficients of one size, columns with mean 0 and mean square 1."""
    random = np.random.default_rng(seed)
    X = np.empty((n, p), order="F", dtype=dtype)
    for start in range(0, p, 50):
        width = min(50, p - start)
        part = np.sqrt(0.7) * random.standard_normal((n, 1)) + np.sqrt(0.3) * random.standard_normal((n, width))
        part -= part.mean(axis=0)
        X[:, start : start + width] = part / np.sqrt(np.mean(part**2, axis=0))
    support = random.choice(p, k, replace=False)
    signal = X[:, support].astype(np.float64) @ random.choice([-1.0, 1.0], k)
    noise = random.standard_normal(n)
    y = signal + noise * (np.linalg.norm(signal) / (sqrt_snr * np.linalg.norm(noise)))
    return X, y - y.mean()


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, help="data sets per row; the median counts (3)")
    arguments.add_argument("--rows", default="", help="positions of the rows to run, as in 0,2 (all)")
    arguments.add_argument("--time-limit", type=float, help="seconds, instead of each row's own")
    arguments.add_argument("--threads", type=int, default=0, help="of the solves (every core)")
    args = arguments.parse_args(argv)
    rows = QUICK if args.quick else ROWS
    if args.rows:
        rows = tuple(rows[int(position)] for position in args.rows.split(","))
    table = Table("wide", "Wide problems: blocks of 50 columns, correlation 0.7; medians", WIDE, args.json)
    for n, p, k, sqrt_snr, seconds in rows:
        runs = [
            run(n, p, k, sqrt_snr, seed, args.time_limit or seconds, args.threads)
            for seed in range(args.seeds or (1 if args.quick else 3))
        ]
        table.row(
            label=f"n={n} p={p} k={k} sqrt_snr={sqrt_snr:g}",
            limit=args.time_limit or seconds,
            **{name: median(float(r[name]) for r in runs) for name in runs[0] if name != "status"},
            status=",".join(sorted({str(r["status"]) for r in runs})),
            runs=runs,
        )


def run(n: int, p: int, k: int, sqrt_snr: float, seed: int, seconds: float, threads: int) -> dict[str, float | str]:
    """One solve, its objective held against the data."""
    X, y = blocks(n, p, k, sqrt_snr, seed)
    found: list[pf.Solution] = []
    taken = 0.0

    def solve() -> None:
        nonlocal taken
        taken, sol = timed(
            lambda: pf.solve(X, y, k=k, gamma=1 / np.sqrt(n), time_limit=seconds, threads=threads or None)
        )
        found.append(sol)

    grown = peak_increase(solve)
    sol = found[0]
    value = objective(X, y, sol.coef, sol.gamma, sol.penalty)
    if abs(value - sol.objective) > 1e-8 * value or sol.lower_bound > value * (1 + 1e-9):
        raise AssertionError(f"claimed {sol.objective} with bound {sol.lower_bound}, but the coefficients give {value}")
    return {
        "solve_s": taken,
        "root_gap": 1 - sol.stats["root_bound"] / sol.objective,
        "gap": sol.gap,
        "nodes": sol.stats["nodes"],
        "rate": sol.stats["nodes"] / max(sol.stats["seconds"]["search"], 1e-9),
        "megabytes": grown / 1e6,
        "objective": sol.objective,
        "status": sol.status,
    }


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
