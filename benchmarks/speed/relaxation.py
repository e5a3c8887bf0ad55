"""`pf.relax` beside FISTA, and the overhead of a tiny solve: `python -m benchmarks.speed.relaxation`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

import numpy as np

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.fista import fista
from benchmarks.speed.timing import timed
from parsifal.datasets import make_sparse_regression

TOLERANCE = 1e-6

RELAXATION = (
    Column("n", "n", 5, "d"),
    Column("relax_ms", "pf.relax ms", 12, ".2f"),
    Column("solves", "linear systems", 14, ".0f"),
    Column("fista_ms", "FISTA ms", 10, ".1f"),
    Column("iterations", "iterations", 10, ".0f"),
    Column("converged", "converged", 9, "s"),
    Column("ratio", "FISTA / pf.relax", 16, ".1f"),
    Column("difference", "bounds differ by", 16, ".1e"),
)
TINY = (
    Column("label", "instance", 22, "s"),
    Column("median_ms", "median ms", 10, ".2f"),
    Column("best_ms", "best ms", 10, ".2f"),
    Column("optimal", "proven", 8, "s"),
)


def main(argv: Sequence[str]) -> None:
    """Print one line per n, then the tiny solve."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int)
    arguments.add_argument("--columns", type=int)
    arguments.add_argument("--rows", type=int, nargs="+")
    arguments.add_argument("--repeats", type=int, default=5, help="calls of pf.relax per data set, the best counts")
    args = arguments.parse_args(argv)
    p, k = args.columns or (200 if args.quick else 2000), 5 if args.quick else 10
    seeds = range(args.seeds or (1 if args.quick else 5))
    title = f"The relaxation, p = {p}, k = {k}, gamma = 1/sqrt(n), relative gap {TOLERANCE:g}, medians of {len(seeds)}"
    table = Table("relaxation", title, RELAXATION, args.json)
    for n in args.rows or ([60] if args.quick else [60, 80, 100, 120, 150, 200]):
        compare(table, n, p, k, seeds, args.repeats)
    tiny(Table("tiny", "A tiny problem, end to end", TINY, args.json), 5 if args.quick else 200)


def compare(table: Table, n: int, p: int, k: int, seeds: range, repeats: int) -> None:
    """Time both on the same data; the two bounds must agree."""
    relax_s, fista_s, solves, iterations, difference = [], [], [], [], []
    converged = 0
    gamma = 1 / np.sqrt(n)
    for seed in seeds:
        X, y, _ = make_sparse_regression(n, p, k, random_state=seed, order="F")
        pf.relax(X, y, k, gamma, tolerance=TOLERANCE)
        calls = [timed(lambda X=X, y=y: pf.relax(X, y, k, gamma, tolerance=TOLERANCE)) for _ in range(repeats)]
        ours = calls[0][1]
        seconds, theirs = timed(lambda X=X, y=y: fista(X, y, k, gamma, tolerance=TOLERANCE))
        relax_s.append(min(call[0] for call in calls))
        fista_s.append(seconds)
        solves.append(ours.solves)
        iterations.append(theirs.iterations)
        converged += theirs.converged
        difference.append(abs(ours.bound - theirs.bound) / ours.bound)
    table.row(
        n=n,
        p=p,
        k=k,
        relax_ms=1e3 * median(relax_s),
        solves=median(solves),
        fista_ms=1e3 * median(fista_s),
        iterations=median(iterations),
        converged=f"{converged}/{len(seeds)}",
        ratio=median(b / a for a, b in zip(relax_s, fista_s)),
        difference=max(difference),
        relax_seconds=relax_s,
        fista_seconds=fista_s,
    )


def tiny(table: Table, repeats: int) -> None:
    """Time what a solve costs where there is nothing to solve."""
    X, y, _ = make_sparse_regression(100, 20, 3, random_state=0)
    calls = [timed(lambda: pf.solve(X, y, k=3, gamma=0.1), pause=0.0) for _ in range(repeats + 1)][1:]
    seconds = [call[0] for call in calls]
    table.row(
        label="n = 100, p = 20, k = 3",
        median_ms=1e3 * median(seconds),
        best_ms=1e3 * min(seconds),
        optimal="yes" if all(sol.status == "optimal" for _, sol in calls) else "no",
    )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
