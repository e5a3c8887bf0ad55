"""leaps (R) and Parsifal without a ridge on every real table: `python -m benchmarks.peers.leaps_tables`.

For every number of columns k from 1 to 8: whether both find the same fit, and the median of five times, of `solve` for
that k and of one call of regsubsets with nvmax = k, which answers all smaller ones too; so `path` for all of them is
timed beside the largest. Both are asked without an intercept. leaps is timed inside R, from a matrix in memory to its
object, Parsifal inside Python, from the same matrix to solutions with certificates; neither checks anything there. Each
time is that of a call, repeated until 10 ms are over. Needs `make peers`, or
`python -m benchmarks.peers.environments leaps data`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

import numpy as np

import parsifal as pf
from benchmarks.peers import realdata
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed import instances
from benchmarks.speed.instances import Data

T = TypeVar("T")

COLUMNS = (
    Column("table", "table", 20, "s"),
    Column("n", "n", 6),
    Column("p", "p", 4),
    Column("k", "k", 3),
    Column("agree", "agree", 6, "s"),
    Column("proven", "proven", 7, "s"),
    Column("parsifal_ms", "Parsifal ms", 12, ".2f"),
    Column("leaps_ms", "leaps ms", 10, ".2f"),
    Column("path_ms", "path ms", 10, ".2f"),
)
# Two sums of squares are the same up to so much, relatively: both are computed in double precision.
_SAME = 1e-9
_ENOUGH = 0.01  # seconds of calls


class Answers(NamedTuple):
    """What leaps says for k = 1, 2, ...: supports, sums of squares, and seconds with a column for every repeat."""

    supports: list[list[int]]
    rss: list[float]
    seconds: np.ndarray


def leaps(X: np.ndarray, y: np.ndarray, most: int, repeats: int, cpu: bool = False) -> Answers:
    """regsubsets with every nvmax up to `most`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "leaps.size").write_text(f"{X.shape[0]} {X.shape[1]} {most} {repeats} {int(cpu)}", encoding="ascii")
        X.ravel(order="F").tofile(folder / "leaps.X")
        y.tofile(folder / "leaps.y")
        script = Path(__file__).parent / "solvers" / "leaps_all.R"
        subprocess.run(["Rscript", str(script), str(folder)], check=True)
        answer = np.loadtxt(folder / "leaps.answer", ndmin=2)
        seconds = np.loadtxt(folder / "leaps.seconds", ndmin=2).reshape(most, repeats)
    supports = [np.flatnonzero(row).tolist() for row in answer[:, 1:]]
    return Answers(supports, answer[:, 0].tolist(), seconds)


def agree(X: np.ndarray, y: np.ndarray, ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether two supports are the same or fit equally well, by a fit of both on the data."""
    sums = [float(np.sum((y - X[:, s] @ np.linalg.lstsq(X[:, s], y, rcond=None)[0]) ** 2)) for s in (ours, theirs)]
    return set(ours) == set(theirs) or abs(sums[0] - sums[1]) <= _SAME * max(sums)


def taken(call: Callable[[], T], cpu: bool) -> tuple[float, T]:
    """The seconds of a call, by the clock or of the processor, and what it returned; as leaps_all.R takes them."""
    clock = process_time if cpu else perf_counter
    calls, started = 0, clock()
    while calls == 0 or clock() - started < _ENOUGH:
        result = call()
        calls += 1
    return (clock() - started) / calls, result


def compare(out: Table, name: str, data: Data, most: int, repeats: int, time_limit: float, cpu: bool) -> int:
    """A row for every k; how many do not agree, or are not proven."""
    X, y = data
    most, failed = min(most, X.shape[1]), 0
    theirs = leaps(X, y, most, repeats, cpu)
    ks = list(range(1, most + 1))
    asked: dict[str, Any] = {"gamma": np.inf, "fit_intercept": False, "time_limit": time_limit}
    asked["threads"] = 1 if cpu else None
    path_s = [taken(partial(pf.path, X, y, ks=ks, **asked), cpu)[0] for _ in range(repeats)]
    # All times first: the threads of a BLAS go on spinning after `agree`, and count as time of the processor.
    timed = {k: [taken(partial(pf.solve, X, y, k=k, **asked), cpu) for _ in range(repeats)] for k in ks}
    for k, runs in timed.items():
        solution = runs[0][1]
        same = agree(X, y, solution.support.tolist(), theirs.supports[k - 1])
        failed += not (same and solution.status == "optimal")
        out.row(
            table=name,
            n=X.shape[0],
            p=X.shape[1],
            k=k,
            agree="yes" if same else "NO",
            proven="yes" if solution.status == "optimal" else solution.status,
            parsifal_ms=1e3 * median(seconds for seconds, _ in runs),
            leaps_ms=1e3 * median(theirs.seconds[k - 1]),
            path_ms=1e3 * median(path_s) if k == most else None,
            objective=solution.objective,
            rss=theirs.rss[k - 1],
        )
    return failed


def tables() -> dict[str, Data]:
    """Every real table of the suite that leaps can take: fewer columns than rows, and no products of columns."""
    found = {name: realdata.table(name, interactions=False) for name in realdata.TABLES}
    X, y = instances.diabetes()
    return {**found, "diabetes": (np.asfortranarray(X[:, :10]), y)}


def main(argv: Sequence[str]) -> None:
    """Print the table; the exit code says whether all agree and are proven."""
    arguments = parser(__doc__)
    arguments.add_argument("--tables", help="of these names, separated by commas (all)")
    arguments.add_argument("--k", type=int, default=8, help="largest number of columns (8)")
    arguments.add_argument("--repeats", type=int, default=5, help="the median of so many times counts (5)")
    arguments.add_argument("--time-limit", type=float, default=60.0, help="seconds per solve")
    arguments.add_argument(
        "--cpu", action="store_true", help="seconds of the processor, one thread: for a busy machine"
    )
    args = arguments.parse_args(argv)
    chosen = args.tables.split(",") if args.tables else ["longley", "copper"] if args.quick else None
    out = Table("leaps", "leaps and Parsifal, gamma = infinity", COLUMNS, args.json)
    failed = 0
    for name, data in tables().items():
        if chosen is None or name in chosen:
            failed += compare(out, name, data, args.k, args.repeats, args.time_limit, args.cpu)
    print(f"\n{'All agree and are proven.' if failed == 0 else f'{failed} rows do not agree, or are not proven.'}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
