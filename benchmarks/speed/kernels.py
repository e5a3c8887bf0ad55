"""Choosing k of many kernels, with proof: `python -m benchmarks.speed.kernels`.

An additive model of three variables; a linear and an RBF kernel for every variable, centred, of trace n.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import timed

COLUMNS = (
    Column("n", "n", 5, "d"),
    Column("kernels", "kernels", 8, "d"),
    Column("k", "k", 3, "d"),
    Column("gamma", "gamma", 8, ".3g"),
    Column("status", "status", 11, "s"),
    Column("gap", "gap", 8, ".1e"),
    Column("nodes", "nodes", 6, "d"),
    Column("seconds", "fit, s", 8, ".2f"),
    Column("search_seconds", "search, s", 9, ".2f"),
)


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Three smooth effects and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + np.tanh(2 * X[:, 2]) + 0.3 * rng.standard_normal(n)


def main(argv: Sequence[str]) -> None:
    """Print one line per size, sparsity and ridge weight."""
    arguments = parser(__doc__)
    arguments.add_argument("--time-limit", type=float, default=60.0)
    args = arguments.parse_args(argv)
    sizes = [(60, 5)] if args.quick else [(200, 25), (300, 50), (500, 100)]
    table = Table("kernels", "The best k kernels: whole fit, and search alone", COLUMNS, args.json)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for n, p in sizes:
        X, y = data(n, p)
        for k in (2,) if args.quick else (3, 5):
            for times_auto in (1.0, 5.0):
                gamma = times_auto / np.sqrt(n)
                model = pf.SparseKernelRegressor(k=k, gamma=gamma, time_limit=args.time_limit)
                seconds, _ = timed(lambda model=model, X=X, y=y: model.fit(X, y))
                sol = model.solution_
                table.row(
                    n=n,
                    kernels=len(model.kernels_),
                    k=k,
                    gamma=gamma,
                    status=sol.status,
                    gap=sol.gap,
                    nodes=sol.stats["nodes"],
                    seconds=seconds,
                    search_seconds=sol.stats["search_seconds"],
                )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
