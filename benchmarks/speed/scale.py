"""Larger than memory: `python -m benchmarks.speed.scale [--parts table1 read memory growth sparse] [--quick]`.

table1   the paper's Table 1, all 27 cells, each where it fits: memory, disk (float32), or generated while it is read
read     the speed of a read from disk beside plain sequential reading, and in memory beside `X.T @ v`
memory   the peak memory of a solve from disk beside its budget
growth   time against n * p over three decades, generated; with a plot
sparse   SciPy CSC with millions of columns

Every measurement has a process of its own. With --json FILE, cells of Table 1 that FILE has already are skipped, so
that a long run can be continued.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import parsifal as pf
from benchmarks.guards.memory import high_water
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed import scale_parts
from benchmarks.speed.lasso import lasso_path
from parsifal.datasets import SyntheticDesign

RHO, SQRT_SNR = 0.1, 20.0
# Seconds of the paper, by k, p, n (thousands): exact, Lasso.
PAPER: dict[tuple[int, int], tuple[tuple[float | None, ...], tuple[float | None, ...]]] = {
    (10, 50): ((21.2, 34.4, 310.4), (69.5, 140.1, 431.3)),
    (10, 100): ((33.4, 66.0, 528.7), (146.0, 322.7, 884.5)),
    (10, 200): ((61.5, 114.9, None), (279.7, 566.9, None)),
    (20, 50): ((15.6, 38.3, 311.7), (107.1, 142.2, 467.5)),
    (20, 100): ((29.2, 62.7, 525.0), (216.7, 332.5, 988.0)),
    (20, 200): ((55.3, 130.6, None), (353.3, 649.8, None)),
    (30, 50): ((31.4, 52.0, 306.4), (99.4, 220.2, 475.5)),
    (30, 100): ((49.7, 101.0, 491.2), (318.4, 420.9, 911.1)),
    (30, 200): ((81.4, 185.2, None), (480.3, 884.0, None)),
}
COLUMNS = (
    Column("n", "n", 7, "d"),
    Column("p", "p", 7, "d"),
    Column("k", "k", 3, "d"),
    Column("storage", "storage", 9, "s"),
    Column("gigabytes", "GB", 6, ".2f"),
    Column("solve_s", "solve s", 8, ".2f"),
    Column("reads", "reads", 6, ".2f"),
    Column("peak_mb", "peak MB", 8, ".0f"),
    Column("status", "status", 10, "s"),
    Column("gap", "gap", 8, ".1e"),
    Column("recovered", "truth found", 11, "s"),
    Column("paper_s", "paper s", 8, ".1f"),
    Column("lasso_s", "Lasso s", 8, ".1f"),
    Column("lasso", "Lasso by", 12, "s"),
    Column("paper_lasso_s", "paper's s", 9, ".1f"),
)
BYTES = 4  # float32


def solve_cell(n: int, p: int, k: int, seed: int, path: Path | None, lasso_limit: float | None) -> dict[str, Any]:
    """One cell: from the file, or (without one) generated. The Lasso gets X in memory."""
    data = SyntheticDesign(n, p, k, rho=RHO, sqrt_snr=SQRT_SNR, seed=seed)
    X: Any = data
    if path is not None:
        X = pf.open_design(path) if lasso_limit is None else scale_parts.in_memory(data)
    started = perf_counter()
    sol = pf.solve(X, data.y, k=k, gamma=1 / np.sqrt(n))
    row = {
        "solve_s": perf_counter() - started,
        "peak_mb": high_water() / 1e6,
        "reads": sol.stats["reads"],
        "nodes": sol.stats["nodes"],
        "status": sol.status,
        "gap": sol.gap,
        "recovered": "yes" if np.array_equal(sol.support, data.support) else "no",
        "stages": sol.stats["seconds"],
    }
    if lasso_limit is not None and lasso_limit > 0:
        row |= lasso_path(X, data.y, k, lasso_limit)
    return row


def in_process(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call in a process of its own, whose peak memory is the call's."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def choose(n: int, p: int, storage: str, folder: Path) -> str:
    """Where X of this size goes; refuses what does not fit."""
    size, memory, disk = n * p * BYTES, available_memory(), shutil.disk_usage(folder).free
    fits = {"memory": size <= 0.75 * memory, "disk": size <= 0.8 * disk, "generated": True}
    if storage == "auto":
        # A file of more than 45 GB takes longer to write than to make again.
        fits["disk"] &= size <= 45e9
        return next(kind for kind, fit in fits.items() if fit)
    if not fits[storage]:
        room = memory if storage == "memory" else disk
        raise SystemExit(
            f"n = {n}, p = {p} in {storage} needs {size / 1e9:.1f} GB, but {room / 1e9:.1f} GB are free; "
            "take --storage generated, which needs neither"
        )
    return storage


def available_memory() -> int:
    """Bytes that processes could still take."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return 0


def table1(args: Any) -> None:
    """Print one line per cell."""
    ns, ps, ks = (10_000, 20_000, 100_000), (50_000, 100_000, 200_000), (10, 20, 30)
    if args.quick:
        ns, ps, ks = (400,), (1000,), (5,)
    title = f"Table 1: rho = {RHO}, sqrt(SNR) = {SQRT_SNR:g}, gamma = 1/sqrt(n), float32, one process a cell"
    table = Table("scale.table1", title, COLUMNS, args.json)
    done = _cells_in(args.json)
    for n in ns:
        for p in ps:
            wanted = [k for k in ks if (n, p, k) not in done and (not args.cells or f"{n},{p},{k}" in args.cells)]
            if not wanted:
                continue
            storage = choose(n, p, args.storage, args.folder)
            path = args.folder / f"table1-{n}-{p}.npy" if storage != "generated" else None
            if storage == "disk" and path is not None:
                in_process(scale_parts.write_file, path, n, p, args.seed, RHO)
            try:
                for k in wanted:
                    limit = args.lasso_limit if storage == "memory" else None
                    row = in_process(solve_cell, n, p, k, args.seed, path, limit)
                    exact, lasso = PAPER.get((k, p // 1000), ((None,) * 3, (None,) * 3))
                    at = ns.index(n) if n >= 10_000 else 0
                    table.row(
                        n=n,
                        p=p,
                        k=k,
                        storage=storage,
                        gigabytes=n * p * BYTES / 1e9,
                        paper_s=exact[at],
                        paper_lasso_s=lasso[at],
                        **row,
                    )
            finally:
                if path is not None:
                    path.unlink(missing_ok=True)


def _cells_in(file: Path | None) -> set[tuple[int, int, int]]:
    if file is None or not file.exists():
        return set()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {(row["n"], row["p"], row["k"]) for row in rows if row["benchmark"] == "scale.table1"}


PARTS: dict[str, Callable[[Any], None]] = {
    "read": scale_parts.read,
    "memory": scale_parts.memory,
    "sparse": scale_parts.sparse,
    "growth": scale_parts.growth,
    "table1": table1,
}


def main(argv: Sequence[str]) -> None:
    """Run the parts that are asked for, all by default."""
    arguments = parser(__doc__)
    arguments.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    arguments.add_argument("--cells", nargs="+", metavar="N,P,K", help="cells of Table 1, e.g. 100000,200000,10")
    arguments.add_argument("--storage", choices=["auto", "memory", "disk", "generated"], default="auto")
    arguments.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="for files of up to 45 GB")
    arguments.add_argument("--gigabytes", type=float, help="size of the file of `read` and `memory`")
    arguments.add_argument("--lasso-limit", type=float, default=600.0, help="seconds for a Lasso path; 0: none")
    arguments.add_argument("--plot", type=Path, metavar="PNG", help="where the plot of `growth` goes")
    arguments.add_argument("--seed", type=int, default=0)
    args = arguments.parse_args(argv)
    if not os.access(args.folder, os.W_OK):
        arguments.error(f"{args.folder} cannot be written; name another --folder")
    for name in args.parts:
        PARTS[name](args)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
