"""A read of nonlinear features, computed on the fly and held in memory: `python -m benchmarks.speed.lifting`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

import parsifal as pf
from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import best

COLUMNS = (
    Column("dictionary", "dictionary", 12, "s"),
    Column("n", "n", 7, "d"),
    Column("p", "columns", 8, "d"),
    Column("features", "features", 9, "d"),
    Column("lazy_ms", "lazy, ms", 9, ".1f"),
    Column("held_ms", "held, ms", 9, ".1f"),
    Column("ratio", "ratio", 6, ".1f"),
    Column("lazy_ns", "ns a value", 10, ".1f"),
    Column("held_mb", "held, MB", 9, ".0f"),
    Column("base_mb", "X, MB", 7, ".0f"),
)
DICTIONARIES = {"paper": (None, False), "x, products": (["x"], True), "sqrt, x^2": (["x", "sqrt|x|", "x^2"], False)}


def main(argv: Sequence[str]) -> None:
    """Print one line per dictionary and shape."""
    args = parser(__doc__).parse_args(argv)
    shapes = [(100, 20)] if args.quick else [(2000, 200), (20_000, 40)]
    table = Table("lifting", "One read of lifted features, computed and held; ratio = lazy / held", COLUMNS, args.json)
    for n, p in shapes:
        X = np.random.default_rng(0).standard_normal((n, p))
        v = np.ones(n)
        for name, (functions, products) in DICTIONARIES.items():
            lift = pf.NonlinearFeatures(functions, products)
            lazy = lift.fit_design(X)
            held = pf.as_design(lift.transform(X))
            times = best(
                lambda lazy=lazy, v=v: lazy.scan(v), lambda held=held, v=v: held.scan(v), repeats=1 if args.quick else 5
            )
            table.row(
                dictionary=name,
                n=n,
                p=p,
                features=lazy.shape[1],
                lazy_ms=1e3 * times[0],
                held_ms=1e3 * times[1],
                ratio=times[0] / times[1],
                lazy_ns=1e9 * times[0] / (n * lazy.shape[1]),
                held_mb=held.nbytes / 1e6,
                base_mb=X.nbytes / 1e6,
            )


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
