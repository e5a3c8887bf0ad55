"""The speed of one fused read of X beside that of `X.T @ v` of NumPy: `python -m benchmarks.scan`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter, sleep

import numpy as np

from parsifal.design import as_design

SLICE_ROWS = 500


def best(*calls: Callable[[], object], repeats: int) -> list[float]:
    """Shortest time of each call; the calls take turns, so that a noisy neighbour disturbs all alike."""
    # OpenBLAS threads go on spinning for some 30 ms after a product and would take a core from the next call.
    pause = 0.1
    times = [float("inf")] * len(calls)
    for _ in range(repeats):
        for number, call in enumerate(calls):
            sleep(pause)
            start = perf_counter()
            call()
            times[number] = min(times[number], perf_counter() - start)
    return times


def main() -> None:
    """Print one line per dtype and order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    args = parser.parse_args()

    n, p = args.rows, args.columns
    rng = np.random.default_rng(0)
    v = rng.standard_normal(n)
    print(f"n = {n}, p = {p}; GB/s is bytes of X over time; ratio = speed of the read / speed of X.T @ v")
    print(
        f"{'dtype':8} {'order':7} {'X.T @ v':>10} {'scan':>10} {'ratio':>6} {'with stats':>10} {'ratio':>6}",
        end="",
    )
    print(f" {f'{SLICE_ROWS} rows':>10} {'of a read':>9}")
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
                repeats=args.repeats,
            )
            gb = X.nbytes / 1e9
            print(f"{dtype:8} {name:7} {gb / blas:10.2f} {gb / plain:10.2f} {blas / plain:6.2f}", end="")
            print(
                f" {gb / stats:10.2f} {blas / stats:6.2f} {1e3 * piece:7.2f} ms {piece / plain:9.3f}",
                flush=True,
            )
            del X, design, part


if __name__ == "__main__":
    main()
