"""The parts of `benchmarks.speed.scale` beside Table 1: reads from disk, memory, growth, sparse matrices."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

import parsifal as pf
from benchmarks.guards.memory import high_water
from benchmarks.report import Column, Table
from benchmarks.speed.timing import best
from parsifal.datasets import SyntheticDesign

_BLOCK = 1 << 23  # entries made at a time
_ALLOWED = 500e6  # bytes beyond the budget


def in_memory(data: SyntheticDesign) -> np.ndarray:
    """All of a generated X, float32 in Fortran order."""
    n, p = data.shape
    X = np.empty((n, p), np.float32, order="F")
    step = max(1, _BLOCK // n)
    for left in range(0, p, step):
        X[:, left : left + step] = data.columns(np.arange(left, min(p, left + step)))
    return X


def write_file(path: Path, n: int, p: int, seed: int, rho: float, order: str = "F") -> None:
    """Write a generated X to a .npy file in float32, in blocks."""
    data = SyntheticDesign(n, p, 1, rho=rho, seed=seed)
    header = {"descr": "<f4", "fortran_order": order == "F", "shape": (n, p)}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        if order == "F":
            step = max(1, _BLOCK // n)
            for left in range(0, p, step):
                block = data.columns(np.arange(left, min(p, left + step)))
                file.write(memoryview(block.T.astype(np.float32)).cast("B"))
        else:
            step = max(1, _BLOCK // p)
            for top in range(0, n, step):
                block = data.rows(top, min(n, top + step)).columns(np.arange(p))
                file.write(memoryview(block.astype(np.float32, order="C")).cast("B"))
        file.flush()
        os.fsync(file.fileno())


def sequential(path: Path) -> int:
    """Read a file from beginning to end, and do nothing with it."""
    memory, total = memoryview(bytearray(1 << 23)), 0
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        while count := file.readinto(memory):
            total += count
    return total


def forget(path: Path) -> None:
    """Ask the kernel to drop the file from its cache."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def _after(prepare: Callable[[Path], object], path: Path, call: Callable[[], object], repeats: int) -> float:
    """Shortest time of a call, each after `prepare`."""
    shortest = float("inf")
    for _ in range(repeats):
        prepare(path)
        started = perf_counter()
        call()
        shortest = min(shortest, perf_counter() - started)
    return shortest


def _need_disk(folder: Path, size: float) -> None:
    free = shutil.disk_usage(folder).free
    if size > 0.9 * free:
        raise SystemExit(f"{folder} has {free / 1e9:.1f} GB free, {size / 1e9:.1f} GB are needed; use --gigabytes less")


def read(args: Any) -> None:
    """Print one line per kind of file and state of the cache, and per array in memory."""
    n = 500 if args.quick else 20_000
    p = max(1, int((args.gigabytes or (0.002 if args.quick else 4.0)) * 1e9 / (4 * n)))
    _need_disk(args.folder, 4 * n * p)
    columns = (
        Column("order", "order", 7, "s"),
        Column("where", "where", 15, "s"),
        Column("against", "against", 19, "s"),
        Column("plain", "GB/s", 7, ".2f"),
        Column("scan", "scan GB/s", 9, ".2f"),
        Column("ratio", "ratio", 6, ".2f"),
    )
    title = f"One read of {4 * n * p / 1e9:.2f} GB, float32, n = {n}, p = {p}: speed of a scan / of plain reading"
    table = Table("scale.read", title, columns, args.json)
    v = np.random.default_rng(0).standard_normal(n)
    repeats = 1 if args.quick else 3
    for order in "FC":
        path = args.folder / f"read-{order}.npy"
        try:
            write_file(path, n, p, args.seed, 0.1, order)
            design = pf.open_design(path)
            gigabytes = 4 * n * p / 1e9
            for where, prepare in (("disk", forget), ("page cache", sequential)):
                # Taking turns, so that a noisy neighbour disturbs both alike.
                plain, scan = float("inf"), float("inf")
                for _ in range(repeats):
                    plain = min(plain, _after(prepare, path, lambda path=path: sequential(path), 1))
                    scan = min(scan, _after(prepare, path, lambda design=design: design.scan(v), 1))
                table.row(
                    order=order,
                    where=where,
                    against="sequential reading",
                    plain=gigabytes / plain,
                    scan=gigabytes / scan,
                    ratio=plain / scan,
                )
            plain, scan = _times_in_memory(path, v, repeats)
            row = {"plain": gigabytes / plain, "scan": gigabytes / scan, "ratio": plain / scan}
            table.row(order=order, where="memory", against="X.T @ v of NumPy", **row)
        finally:
            path.unlink(missing_ok=True)


def _times_in_memory(path: Path, v: np.ndarray, repeats: int) -> list[float]:
    X, small = np.load(path), v.astype(np.float32)
    return best(lambda: X.T @ small, lambda: pf.as_design(X).scan(v), repeats=repeats)


def solve_file(path: Path, k: int, seed: int, budget: float) -> dict[str, Any]:
    """Solve from a file; the peak memory is this process's."""
    design = pf.open_design(path, memory_limit=budget)
    n, p = design.shape
    y, truth = (lambda data: (data.y, data.support))(SyntheticDesign(n, p, k, rho=0.1, seed=seed))
    before = high_water()
    started = perf_counter()
    sol = pf.solve(design, y, k=k, gamma=1 / np.sqrt(n))
    return {
        "solve_s": perf_counter() - started,
        "before": before,
        "peak": high_water(),
        "reads": sol.stats["reads"],
        "status": sol.status,
        "recovered": "yes" if np.array_equal(sol.support, truth) else "no",
    }


def memory(args: Any) -> None:
    """Print one line per order of the file and budget."""
    n = 500 if args.quick else 50_000
    p = max(1, int((args.gigabytes or (0.002 if args.quick else 8.0)) * 1e9 / (4 * n)))
    _need_disk(args.folder, 4 * n * p)
    columns = (
        Column("order", "order", 7, "s"),
        Column("gigabytes", "file GB", 7, ".2f"),
        Column("budget_mb", "budget MB", 9, ".0f"),
        Column("peak_mb", "peak MB", 8, ".0f"),
        Column("kept", "<= budget + 500 MB", 18, "s"),
        Column("solve_s", "solve s", 8, ".2f"),
        Column("reads", "reads", 6, ".2f"),
        Column("status", "status", 10, "s"),
        Column("recovered", "truth found", 11, "s"),
    )
    title = f"Peak memory of a process that solves from disk, n = {n}, p = {p}, k = 20"
    table = Table("scale.memory", title, columns, args.json)
    for order in "FC":
        path = args.folder / f"memory-{order}.npy"
        try:
            write_file(path, n, p, args.seed, 0.1, order)
            for budget in (64e6,) if args.quick else (64e6, 256e6, 1e9):
                with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                    row = pool.submit(solve_file, path, min(20, p // 4), args.seed, budget).result()
                table.row(
                    order=order,
                    gigabytes=4 * n * p / 1e9,
                    budget_mb=budget / 1e6,
                    peak_mb=row["peak"] / 1e6,
                    kept="yes" if row["peak"] <= budget + _ALLOWED else "NO",
                    **{name: row[name] for name in ("solve_s", "reads", "status", "recovered")},
                )
        finally:
            path.unlink(missing_ok=True)


def growth(args: Any) -> None:
    """Print one line per size; the slope of log time against log n * p at the end."""
    sizes = [(2000, 10_000), (4000, 15_000), (6000, 33_000), (10_000, 60_000), (20_000, 100_000)]
    sizes += [(40_000, 150_000), (100_000, 200_000)]
    if args.quick:
        sizes = [(300, 1000), (600, 2000)]
    columns = (
        Column("n", "n", 7, "d"),
        Column("p", "p", 7, "d"),
        Column("entries", "n * p", 9, ".1e"),
        Column("solve_s", "solve s", 8, ".3f"),
        Column("per_read_s", "s a read", 8, ".3f"),
        Column("reads", "reads", 6, ".2f"),
        Column("status", "status", 10, "s"),
        Column("recovered", "truth found", 11, "s"),
    )
    table = Table(
        "scale.growth", "Time against n * p, generated while it is read, k = 10, rho = 0.1", columns, args.json
    )
    rows = []
    for n, p in sizes:
        data = SyntheticDesign(n, p, 10, rho=0.1, seed=args.seed)
        started = perf_counter()
        sol = pf.solve(data, data.y, k=10, gamma=1 / np.sqrt(n))
        seconds = perf_counter() - started
        row = {"n": n, "p": p, "entries": float(n * p), "solve_s": seconds, "reads": sol.stats["reads"]}
        row |= {"per_read_s": seconds / sol.stats["reads"], "status": sol.status}
        table.row(**row, recovered="yes" if np.array_equal(sol.support, data.support) else "no")
        rows.append(row)
    x, t = np.log([row["entries"] for row in rows]), np.log([row["solve_s"] for row in rows])
    print(f"time grows as (n p)^{np.polyfit(x, t, 1)[0]:.2f}")
    if args.plot is not None:
        _plot(rows, args.plot)


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    x = np.array([row["entries"] for row in rows])
    t = np.array([row["solve_s"] for row in rows])
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.loglog(x, t, "o-", label="solved to proven optimality")
    rate = np.exp(np.mean(np.log(t / x)))
    axes.loglog(x, rate * x, "--", color="0.6", label="linear in n p")
    for row in rows:
        axes.annotate(f"{row['reads']:.1f} reads", (row["entries"], row["solve_s"]), (6, -10), fontsize=7,
                      textcoords="offset points")  # fmt: skip
    axes.margins(x=0.12)
    axes.set_xlabel("entries of X, n p")
    axes.set_ylabel("seconds")
    axes.set_title("k = 10, rho = 0.1, X generated while it is read")
    axes.legend()
    axes.grid(True, which="major", alpha=0.3)
    figure.savefig(path, dpi=150)


def sparse(args: Any) -> None:
    """Print one line per width of a SciPy CSC matrix."""
    columns = (
        Column("n", "n", 7, "d"),
        Column("p", "p", 9, "d"),
        Column("nonzeros", "nonzeros", 10, "d"),
        Column("design_s", "design s", 8, ".3f"),
        Column("product_s", "X.T @ y s", 9, ".3f"),
        Column("solve_s", "solve s", 8, ".3f"),
        Column("reads", "reads", 6, ".2f"),
        Column("nodes", "nodes", 6, "d"),
        Column("status", "status", 10, "s"),
        Column("recovered", "truth found", 11, "s"),
    )
    table = Table("scale.sparse", "SciPy CSC, ten entries a column, k = 10", columns, args.json)
    rng = np.random.default_rng(args.seed)
    for p in (2000,) if args.quick else (200_000, 2_000_000, 5_000_000):
        X, y, truth = _sparse_problem(rng, 2000, p)
        started = perf_counter()
        design = pf.as_design(X)
        design_s = perf_counter() - started
        product_s, solve_s = best(
            lambda X=X, y=y: X.T @ y, lambda design=design, y=y: pf.solve(design, y, k=10, gamma=1.0), repeats=2
        )
        sol = pf.solve(design, y, k=10, gamma=1.0)
        table.row(
            n=2000,
            p=p,
            nonzeros=X.nnz,
            design_s=design_s,
            product_s=product_s,
            solve_s=solve_s,
            reads=sol.stats["reads"],
            nodes=sol.stats["nodes"],
            status=sol.status,
            recovered="yes" if np.array_equal(sol.support, truth) else "no",
        )


def _sparse_problem(rng: np.random.Generator, n: int, p: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Ten entries a column, ten columns that matter."""
    each = 10
    indices = rng.integers(0, n, p * each, dtype=np.int32)
    X = sp.csc_array((rng.standard_normal(p * each), indices, np.arange(0, p * each + 1, each)), shape=(n, p))
    X.sum_duplicates()
    truth = np.sort(rng.choice(p, 10, replace=False))
    return X, X[:, truth] @ rng.choice([-5.0, 5.0], 10) + 0.05 * rng.standard_normal(n), truth
