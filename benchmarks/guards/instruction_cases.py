"""Small solves whose instructions are counted; run under callgrind by `benchmarks.guards.instructions`, not by hand.

`python -m benchmarks.guards.instruction_cases SHIM`: SHIM is a library with `start` and `finish`, which switch counting
on and off, and write the counts under a name.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse

import parsifal as pf


def data(n: int, p: int, k: int, *, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, the first k with coefficients of 1 and -1. From a seed, without anything of our own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, :k] @ np.where(np.arange(k) % 2, -1.0, 1.0) + noise * np.sqrt(k) * rng.standard_normal(n)
    return np.asfortranarray(X), y


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    """Names and calls. Each is some five to a hundred million instructions of the core."""
    X, y = data(400, 4000, 10, noise=0.1)
    rows, single = np.ascontiguousarray(X), np.asfortranarray(X, dtype=np.float32)
    sparse = scipy.sparse.csr_matrix(np.where(np.abs(X) > 2.0, X, 0.0))
    for name, matrix in (("columns", X), ("rows", rows), ("float32", single), ("sparse", sparse)):
        design = pf.as_design(matrix)
        yield f"scan, {name}", lambda design=design: [design.scan(y, stats=i % 2 == 0) for i in range(4)]
    relaxed = data(100, 1500, 10, noise=0.5)
    yield "relaxation", lambda: pf.relax(*relaxed, k=10, gamma=0.1)
    easy = data(150, 1500, 8, noise=0.05)
    yield "root alone", lambda: pf.solve(*easy, k=8, gamma=0.1, threads=1)
    wide = data(50, 400, 8, noise=0.3)
    yield "search, k", lambda: pf.solve(*wide, k=8, gamma=0.5, node_limit=12, threads=1)
    yield "search, penalty", lambda: pf.solve(*wide, penalty=1.0, gamma=0.5, node_limit=12, threads=1)
    tall = data(120, 40, 8, noise=1.0)
    yield "search, tightened", lambda: pf.solve(*tall, k=8, gamma=10.0, node_limit=25, threads=1)
    yield "path", lambda: pf.path(*tall, ks=range(1, 7), gamma=1.0, node_limit=8, threads=1)


def main(shim: str) -> None:
    """Run every case twice, the second time counted: the first pays for imports and caches."""
    library = ctypes.CDLL(shim)
    for name, call in cases():
        call()
        library.start()
        call()
        library.finish(name.encode())


if __name__ == "__main__":
    main(sys.argv[1])
