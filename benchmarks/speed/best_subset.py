"""Best subset selection without a ridge or with a weak one: `python -m benchmarks.speed.best_subset`.

What the relaxation says little about: gamma = infinity, huge and weak ridges, with more columns than rows and with
fewer, features of equal strength. The check of every proof is timed beside the solve.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

import numpy as np

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.instances import Data, Instance, diabetes, real, synthetic
from benchmarks.speed.search import counts, lasso, solve, warm_up
from benchmarks.speed.timing import timed

BEST_SUBSET = (
    Column("group", "", 7, "s"),
    Column("label", "instance", 52, "s"),
    Column("solve_s", "solve s", 9, ".3f"),
    Column("slowest_s", "slowest s", 9, ".3f"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("check_s", "check s", 9, ".3f"),
    Column("lasso_s", "lasso s", 9, ".4f"),
    Column("statuses", "status", 24, "s"),
)


def equal_features(k: int) -> Instance:
    """The best k of ten features of equal strength, n = 150, p = 2000."""

    def draw(seed: int) -> Data:
        data = pf.datasets.make_sparse_regression(150, 2000, 10, sqrt_snr=20.0, random_state=seed, order="F")
        return data.X, data.y

    label = f"{k} of 10 equal features, n=150 p=2000 gamma=1/sqrt(n)"
    return Instance(group="equal", label=label, k=k, gamma=1 / np.sqrt(150), draw=draw, n=150, p=2000)


def table() -> list[Instance]:
    """The rows."""
    sizes = [(60, 200, 3, 0.0, 3.0), (100, 500, 4, 0.0, 6.0), (200, 500, 5, 0.0, 6.0), (100, 200, 5, 0.0, 6.0)]
    sizes += [(200, 300, 5, 0.5, 3.0), (100, 500, 5, 0.0, 6.0), (200, 1000, 4, 0.5, 3.0), (200, 1000, 5, 0.5, 3.0)]
    rows = [synthetic("none", n=n, p=p, k=k, rho=rho, sqrt_snr=snr, gamma=np.inf) for n, p, k, rho, snr in sizes]
    rows += [real("huge", "diabetes", diabetes, k, gamma) for gamma in (1e6, np.inf) for k in (8, 10)]
    # More rows than columns, and more columns than any diagonal is looked for in detail; sets of few columns beside a
    # relaxation that says next to nothing.
    for gamma in (1.0, np.inf):
        rows += [
            synthetic("tall", n=2000, p=1000, k=10, rho=0.3, sqrt_snr=1.0, gamma=gamma),
            synthetic("tall", n=3000, p=600, k=20, rho=0.5, sqrt_snr=1.0, gamma=gamma),
            synthetic("tall", n=4000, p=3000, k=10, rho=0.3, sqrt_snr=2.0, gamma=gamma),
        ]
    rows += [
        synthetic("sets", n=200, p=1000, k=5, rho=0.3, sqrt_snr=3.0, gamma=10.0),
        synthetic("sets", n=500, p=5000, k=6, rho=0.0, sqrt_snr=6.0, gamma=10.0),
        synthetic("sets", n=1000, p=4000, k=8, rho=0.0, sqrt_snr=6.0, gamma=10.0),
    ]
    rows += [equal_features(k) for k in (3, 5, 7)]
    rows += [synthetic("weak", n=300, p=2000, gamma=10.0)]
    rows += [synthetic("edge", n=n, p=2000) for n in (60, 55)]
    return rows


def quick() -> list[Instance]:
    """The sizes of a smoke test."""
    return [
        synthetic("none", n=40, p=60, k=3, rho=0.5, sqrt_snr=3.0, gamma=np.inf),
        synthetic("weak", n=60, p=100, k=4, gamma=10.0),
    ]


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, help="data sets per row; the median counts (3)")
    arguments.add_argument("--groups", default="none,huge,tall,sets,equal,weak,edge", help="groups of rows, by name")
    arguments.add_argument("--time-limit", type=float, default=120.0, help="seconds per solve")
    args = arguments.parse_args(argv)
    seeds = args.seeds or (1 if args.quick else 3)
    warm_up()
    title = f"Best subset: solves to a proven gap of 1e-6; medians of {seeds} data sets"
    out = Table("best_subset", title, BEST_SUBSET, args.json)
    for row in quick() if args.quick else table():
        if row.group in args.groups.split(","):
            measure(out, row, range(seeds), args.time_limit)


def measure(out: Table, instance: Instance, seeds: Sequence[int], time_limit: float) -> None:
    """One row: solve, check and the Lasso's path on the same data."""
    runs = []
    for seed in seeds:
        X, y = instance.draw(seed)
        lasso_s = lasso(X, y)
        taken, sol = solve(X, y, time_limit, k=instance.k, gamma=instance.gamma)
        checked = np.nan
        if sol.status == "optimal" and sol.certificate is not None and sol.certificate.complete:
            certificate = sol.certificate
            checked, valid = timed(lambda c=certificate, X=X, y=y: pf.check(c, X, y))
            if not valid:
                raise AssertionError(f"{instance.label}, seed {seed}: {valid.reason}")
        runs.append((taken, sol.stats["nodes"], checked, lasso_s, sol.status, sol.gap))
    seconds, nodes, checks, lassos, statuses, gaps = (list(values) for values in zip(*runs))
    out.row(
        group=instance.group,
        label=instance.label,
        solve_s=median(seconds),
        slowest_s=max(seconds),
        nodes=median(nodes),
        check_s=median(checks),
        lasso_s=median(lassos),
        statuses=counts(statuses),
        seconds=seconds,
        checks=checks,
        gaps=gaps,
    )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
