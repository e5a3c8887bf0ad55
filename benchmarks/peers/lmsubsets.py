"""lmSubsets (R) and Parsifal without a ridge, more rows than columns: `python -m benchmarks.peers.lmsubsets`.

lmSubsets is the strongest rival there. For the best subset of one size, and for those of every size at once: whether
both find the same fits, and the median of the times, lmSubsets' inside R from a matrix in memory to its object,
Parsifal's inside Python from the same matrix to solutions with certificates. Columns that depend on others are left
out, and there is no intercept. lmSubsets is in no registry that `make peers` asks: install its source with
`R CMD INSTALL`, and name the library in R_LIBS.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.linalg

import parsifal as pf
from benchmarks.peers import realdata
from benchmarks.peers.leaps_tables import agree, taken
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed import instances
from benchmarks.speed.instances import Data

COLUMNS = (
    Column("table", "table", 26, "s"),
    Column("n", "n", 6),
    Column("p", "p", 4),
    Column("k", "k", 4, "s"),
    Column("agree", "agree", 6, "s"),
    Column("proven", "proven", 10, "s"),
    Column("parsifal_s", "Parsifal s", 11, ".4g"),
    Column("lmsubsets_s", "lmSubsets s", 12, ".4g"),
)


def lmsubsets(X: np.ndarray, y: np.ndarray, k: int, repeats: int, limit: float) -> tuple[float, list[list[int]]] | None:
    """Seconds, and the columns of every size; None after `limit` seconds a call."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "size").write_text(f"{X.shape[0]} {X.shape[1]} {k} {repeats}", encoding="ascii")
        X.ravel(order="F").tofile(folder / "X")
        y.tofile(folder / "y")
        script = Path(__file__).parent / "solvers" / "lmsubsets.R"
        try:
            subprocess.run(["Rscript", str(script), str(folder)], check=True, timeout=repeats * limit)
        except subprocess.TimeoutExpired:
            return None
        seconds, *supports = (folder / "answer").read_text(encoding="ascii").splitlines()
    return float(seconds), [[int(word) for word in support.split()] for support in supports]


def independent(data: Data) -> Data:
    """The columns without those that depend on earlier ones."""
    X, y = data
    factor, order = scipy.linalg.qr(X, mode="r", pivoting=True)
    size = np.abs(np.diag(factor))
    return np.asfortranarray(X[:, np.sort(order[: np.count_nonzero(size > 1e-7 * size[0])])]), y


def problems(quick: bool) -> Iterator[tuple[str, Data, list[int]]]:
    """Name, data, and sizes; 0 for all."""
    if quick:
        yield "diabetes", instances.diabetes(), [2]
        return
    for name, sizes in (("boston", [8]), ("college", [8]), ("hitters", [8, 0]), ("wage", [8])):
        yield name, realdata.table(name, interactions=False), sizes
    for name in ("boston", "auto"):
        yield f"{name}, products", realdata.table(name, interactions=True), [5, 10]
    yield "diabetes, products", instances.diabetes(), [5, 10, 0]
    for n, p, k, rho, snr in ((1000, 40, 10, 0.5, 1.0), (1000, 60, 15, 0.5, 1.0), (1000, 80, 20, 0.5, 1.0)):
        drawn = instances.synthetic("tall", n=n, p=p, k=k, rho=rho, sqrt_snr=snr, gamma=np.inf)
        yield f"drawn, rho={rho:g} sqrt_snr={snr:g}", drawn.draw(0), [5, k, *([0] if p == 40 else [])]
    drawn = instances.synthetic("tall", n=2000, p=300, k=10, rho=0.3, sqrt_snr=1.0, gamma=np.inf)
    yield "drawn, rho=0.3 sqrt_snr=1", drawn.draw(0), [10]


def ours(X: np.ndarray, y: np.ndarray, k: int, repeats: int, limit: float) -> tuple[float, list[pf.Solution]]:
    """Seconds, and the solution of every size."""
    asked: dict[str, Any] = {"gamma": np.inf, "fit_intercept": False, "time_limit": limit}
    if k:
        runs = [taken(partial(pf.solve, X, y, k=k, **asked), False) for _ in range(repeats)]
        return median(seconds for seconds, _ in runs), [runs[0][1]]
    paths = [taken(partial(pf.path, X, y, ks=range(1, X.shape[1] + 1), **asked), False) for _ in range(repeats)]
    return median(seconds for seconds, _ in paths), list(paths[0][1])


def main(argv: Sequence[str]) -> None:
    """Print the table; the exit code says whether all that ended agree."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=3, help="the median of so many times counts (3)")
    arguments.add_argument("--time-limit", type=float, default=60.0, help="seconds per call")
    args = arguments.parse_args(argv)
    print(environment())
    out = Table("lmsubsets", "lmSubsets and Parsifal, gamma = infinity", COLUMNS, args.json)
    failed = 0
    for name, data, sizes in problems(args.quick):
        X, y = independent(data)
        for k in sizes:
            seconds, solutions = ours(X, y, k, args.repeats, args.time_limit)
            proven = all(solution.status == "optimal" for solution in solutions)
            theirs = lmsubsets(X, y, k, args.repeats, args.time_limit)
            same = theirs is None or all(
                agree(X, y, solution.support.tolist(), support)
                for solution, support in zip(solutions, theirs[1], strict=True)
            )
            failed += not same
            out.row(
                table=name,
                n=X.shape[0],
                p=X.shape[1],
                k=str(k or "all"),
                agree="-" if theirs is None else "yes" if same else "NO",
                proven="yes" if proven else "no",
                parsifal_s=seconds,
                lmsubsets_s=None if theirs is None else theirs[0],
            )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
