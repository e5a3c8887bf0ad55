"""The paper's Table 1 as a multiple of one read of X: `python -m benchmarks.speed.table1`.

Every kind of X (dtype and order) has a process of its own, which holds one X: 4 GB at the full size in float64.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import parsifal as pf
from benchmarks.guards.memory import peak_increase
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import best, timed
from parsifal.datasets import make_sparse_regression

RHO, SQRT_SNR = 0.1, 20.0

COLUMNS = (
    Column("dtype", "dtype", 8, "s"),
    Column("order", "order", 5, "s"),
    Column("k", "k", 3, "d"),
    Column("product_s", "X.T @ y s", 10, ".3f"),
    Column("solve_s", "solve s", 9, ".3f"),
    Column("ratio", "ratio", 6, ".2f"),
    Column("reads", "reads", 6, ".2f"),
    Column("nodes", "nodes", 6, "d"),
    Column("status", "status", 10, "s"),
    Column("gap", "gap", 8, ".1e"),
    Column("recovered", "truth found", 11, "s"),
    Column("extra_memory", "extra memory, % of X", 20, ".2f"),
)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One X and the responses to explain with it."""

    n: int
    p: int
    ks: tuple[int, ...]
    dtype: str
    order: str
    repeats: int
    seed: int


def response(X: np.ndarray, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a true support and y as `make_sparse_regression` does, for an X that is there already."""
    support = np.sort(rng.choice(X.shape[1], k, replace=False))
    signal = X[:, support].astype(float) @ rng.choice([-1.0, 1.0], k)
    noise = rng.standard_normal(X.shape[0])
    return signal + noise * (np.linalg.norm(signal) / (SQRT_SNR * np.linalg.norm(noise))), support


def measure(task: Task) -> list[dict[str, Any]]:
    """Draw X, then measure every k on it."""
    started = perf_counter()
    X = make_sparse_regression(task.n, task.p, 1, rho=RHO, random_state=task.seed, dtype=task.dtype, order=task.order).X
    drawn = perf_counter() - started
    gamma = 1 / np.sqrt(task.n)
    rng = np.random.default_rng(task.seed)
    rows = []
    for k in task.ks:
        y, truth = response(X, k, rng)
        y_blas = y.astype(X.dtype)  # a float64 y would make NumPy copy a float32 X

        def solve(y: np.ndarray = y, k: int = k) -> pf.Solution:
            return pf.solve(X, y, k=k, gamma=gamma)

        extra = peak_increase(solve)
        _, sol = timed(solve)
        product_s, solve_s = best(lambda y_blas=y_blas: X.T @ y_blas, solve, repeats=task.repeats)
        rows.append(
            {
                "n": task.n,
                "p": task.p,
                "k": k,
                "dtype": task.dtype,
                "order": task.order,
                "product_s": product_s,
                "solve_s": solve_s,
                "ratio": solve_s / product_s,
                "reads": sol.stats["reads"],
                "nodes": sol.stats["nodes"],
                "status": sol.status,
                "gap": sol.gap,
                "recovered": "yes" if np.array_equal(sol.support, truth) else "no",
                "extra_memory": 100.0 * extra / X.nbytes,
                "draw_s": drawn,
                "stages": sol.stats["seconds"],
            }
        )
    return rows


def main(argv: Sequence[str]) -> None:
    """Print one line per kind of X and k."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int)
    arguments.add_argument("--columns", type=int)
    arguments.add_argument("--ks", type=int, nargs="+")
    arguments.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    arguments.add_argument("--orders", nargs="+", default=["C", "F"])
    arguments.add_argument("--repeats", type=int, default=3, help="the best of so many counts")
    arguments.add_argument("--seed", type=int, default=0)
    args = arguments.parse_args(argv)
    n = args.rows or (500 if args.quick else 10_000)
    p = args.columns or (1000 if args.quick else 50_000)
    ks = tuple(args.ks or ((5,) if args.quick else (10, 20, 30)))
    title = f"Table 1: n = {n}, p = {p}, rho = {RHO}, sqrt(SNR) = {SQRT_SNR:g}, gamma = 1/sqrt(n)"
    table = Table("table1", title, COLUMNS, args.json)
    for dtype in args.dtypes:
        for order in args.orders:
            task = Task(n=n, p=p, ks=ks, dtype=dtype, order=order, repeats=args.repeats, seed=args.seed)
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                for row in pool.submit(measure, task).result():
                    table.row(**row)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
