"""The speed of one fused read of X beside that of `X.T @ v` of NumPy: `python -m benchmarks.speed.scan`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.report import Column, Table, environment, parser
from benchmarks.speed.timing import best
from parsifal.design import as_design

SLICE_ROWS = 500


COLUMNS = (
    Column("dtype", "dtype", 8, "s"),
    Column("order", "order", 7, "s"),
    Column("blas", "X.T @ v", 10, ".2f"),
    Column("scan", "scan", 10, ".2f"),
    Column("scan_ratio", "ratio", 6, ".2f"),
    Column("stats", "with stats", 10, ".2f"),
    Column("stats_ratio", "ratio", 6, ".2f"),
    Column("slice_ms", f"{SLICE_ROWS} rows, ms", 12, ".2f"),
    Column("slice_of_read", "of a read", 9, ".3f"),
)


def main(argv: Sequence[str]) -> None:
    """Print one line per dtype and order."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int)
    arguments.add_argument("--columns", type=int)
    arguments.add_argument("--repeats", type=int)
    arguments.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    args = arguments.parse_args(argv)

    n = args.rows or (1000 if args.quick else 10_000)
    p = args.columns or (500 if args.quick else 20_000)
    repeats = args.repeats or (1 if args.quick else 7)
    rng = np.random.default_rng(0)
    v = rng.standard_normal(n)
    title = f"One read, n = {n}, p = {p}: GB/s is bytes of X over time; ratio = speed of the read / speed of X.T @ v"
    table = Table("scan", title, COLUMNS, args.json)
    for dtype in args.dtypes:
        for order, name in (("C", "C"), ("F", "Fortran")):
            X = np.empty((n, p), dtype, order=order)
            for start in range(0, n, 500):
                X[start : start + 500] = 8.0 * rng.random((min(500, n - start), p))
            design = as_design(X)
            part, v_part = design.rows(0, min(n, SLICE_ROWS)), v[:SLICE_ROWS].copy()
            v_blas = v.astype(dtype)
            blas, plain, stats, piece = best(
                lambda X=X, v_blas=v_blas: X.T @ v_blas,
                lambda design=design: design.scan(v),
                lambda design=design: design.scan(v, stats=True),
                lambda part=part, v_part=v_part: part.scan(v_part),
                repeats=repeats,
            )
            gb = X.nbytes / 1e9
            table.row(
                n=n,
                p=p,
                dtype=dtype,
                order=name,
                blas=gb / blas,
                scan=gb / plain,
                scan_ratio=blas / plain,
                stats=gb / stats,
                stats_ratio=blas / stats,
                slice_ms=1e3 * piece,
                slice_of_read=piece / plain,
            )
            del X, design, part


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
