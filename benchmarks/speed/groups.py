"""Groups of columns: the compiled search of `solve_groups` beside the Python search on the same groups as kernels.

``python -m benchmarks.speed.groups``: n = 500, 200 groups of five columns, k = 5, by the noise; CPU seconds of one
thread each, turn by turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser

COLUMNS = (
    Column("snr", "snr", 5, "g"),
    Column("status", "status", 11, "s"),
    Column("same", "same set", 8, "s"),
    Column("nodes", "nodes", 6, "d"),
    Column("compiled", "compiled, CPU s", 15, ".2f"),
    Column("python_nodes", "nodes, Python", 13, "d"),
    Column("python", "Python, CPU s", 13, ".2f"),
    Column("times", "times", 6, ".1f"),
)


def make(
    n: int, groups: int, width: int, k: int, snr: float, seed: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Independent columns; k groups with coefficients of size one, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, groups * width))
    members = np.split(np.arange(groups * width), groups)
    fit = np.zeros(n)
    for g in rng.choice(groups, k, replace=False):
        fit += X[:, members[g]] @ rng.choice([-1.0, 1.0], width)
    return X, fit + rng.standard_normal(n) * fit.std() / snr, members


def main(argv: Sequence[str]) -> None:
    """Print one line per noise level."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=500)
    arguments.add_argument("--groups", type=int, default=200)
    arguments.add_argument("--snr", type=float, nargs="*", default=[3.0, 1.0, 0.8, 0.7])
    arguments.add_argument("--time-limit", type=float, default=120.0)
    args = arguments.parse_args(argv)
    rows, groups, noise = (100, 20, [3.0]) if args.quick else (args.rows, args.groups, args.snr)
    X, y, members = make(20, 4, 2, 1, 1.0, 0)
    pf.solve_groups(X, y, members, 1)  # what is imported when it is first asked for
    table = Table("groups", f"The best 5 of {groups} groups of five columns, n = {rows}", COLUMNS, args.json)
    for snr in noise:
        X, y, members = make(rows, groups, 5, 5, snr, 0)
        started = time.process_time()
        ours = pf.solve_groups(X, y, members, 5, threads=1, time_limit=args.time_limit)
        compiled = time.process_time() - started
        started = time.process_time()
        kernels = [("factor", X[:, member]) for member in members]
        python = pf.solve_kernels(kernels, y, 5, ours.gamma, time_limit=args.time_limit)
        interpreted = time.process_time() - started
        table.row(
            snr=snr,
            status=ours.status,
            same="yes" if ours.support.tolist() == python.support.tolist() else "no",
            nodes=ours.stats["nodes"],
            compiled=compiled,
            python_nodes=python.stats["nodes"],
            python=interpreted,
            times=interpreted / compiled,
        )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
