"""Solves that take long in one place or another, for `benchmarks.guards.limits`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import parsifal as pf
from benchmarks.peers.cases import full
from benchmarks.speed import instances
from parsifal.datasets import SyntheticDesign, make_sparse_regression

Answer = Any  # a Solution, a Path, a Ranking or a KernelSolution


@dataclass(frozen=True, kw_only=True)
class Case:
    """`make` gets the data ready and returns the solve, which takes a time limit (None: none).

    `data` gives X and y to check certificates with; None where there are none.
    """

    name: str
    make: Callable[[], tuple[Callable[[float | None], Answer], Any]]


def solve_case(name: str, draw: Callable[[], tuple[Any, Any]], **options: Any) -> Case:
    """A case of `solve`."""

    def make() -> tuple[Callable[[float | None], Answer], Any]:
        X, y = draw()
        return (lambda limit: pf.solve(X, y, time_limit=limit, **options)), (X, y)

    return Case(name=name, make=make)


def drawn(n: int, p: int, k: int = 10, dtype: Any = float, order: Any = "F", **options: Any) -> Callable[[], Any]:
    """Data of `make_sparse_regression`, drawn when they are needed."""

    def draw() -> tuple[Any, Any]:
        data = make_sparse_regression(n, p, k, random_state=0, dtype=dtype, order=order, **options)
        return data.X, data.y

    return draw


def sparse_wide(n: int, p: int, density: float, form: str) -> tuple[Any, Any]:
    """A sparse matrix and a response of ten of its columns."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(n, p, density, format=form, random_state=0, data_rvs=rng.standard_normal)
    w = np.zeros(p)
    w[rng.choice(p, 10, replace=False)] = 1.0
    return X, X @ w + 0.1 * rng.standard_normal(n)


def lifted(n: int, p: int) -> tuple[Any, Any]:
    """All products of p columns, never held."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    design = pf.NonlinearFeatures(["x", "x^2"], True).fit_design(X)
    return design, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.standard_normal(n)


def on_disk(n: int, p: int) -> tuple[Any, Any]:
    """A .npy file that is read in blocks, C-ordered: every column costs a read."""
    data = make_sparse_regression(n, p, 10, rho=0.5, sqrt_snr=2.0, random_state=0, dtype=np.float32, order="C")
    path = Path(tempfile.mkdtemp(prefix="parsifal-limits-")) / "X.npy"
    np.save(path, data.X)
    return pf.open_design(path), data.y


def dasked(n: int, p: int) -> tuple[Any, Any]:
    """A Dask array on the local scheduler."""
    import dask.array as da

    data = make_sparse_regression(n, p, 10, rho=0.5, sqrt_snr=2.0, random_state=0)
    return da.from_array(data.X, chunks=(n // 4, p // 4)), data.y


def generated() -> tuple[Any, Any]:
    """A billion entries, made while they are read."""
    design = SyntheticDesign(50_000, 20_000, 20)
    return design, design.y


def several(name: str, call: Callable[..., Answer], draw: Callable[[], tuple[Any, Any]], **options: Any) -> Case:
    """A path or a ranking."""

    def make() -> tuple[Callable[[float | None], Answer], Any]:
        X, y = draw()
        return (lambda limit: call(X, y, time_limit=limit, **options)), None

    return Case(name=name, make=make)


def kernels(name: str, n: int, p: int) -> Case:
    """RBF kernels of p variables, as matrices."""

    def make() -> tuple[Callable[[float | None], Answer], Any]:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, p))
        y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(n)
        parts = [np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(p)]
        return (lambda limit: pf.solve_kernels(parts, y, 5, 5.0 / np.sqrt(n), time_limit=limit)), None

    return Case(name=name, make=make)


def groups(name: str, n: int, p: int) -> Case:
    """Groups of four columns."""

    def make() -> tuple[Callable[[float | None], Answer], Any]:
        X, y = drawn(n, p, 20, sqrt_snr=2.0)()
        labels = np.arange(p) // 4
        return (lambda limit: pf.solve_groups(X, y, labels, 6, 1.0, time_limit=limit)), None

    return Case(name=name, make=make)


def suite_cases() -> Iterator[Case]:
    """Every problem of the benchmark suite's full plan whose data are here."""
    for case in full().cases:
        row = case.instance
        if row.n:
            yield solve_case(case.key, lambda row=row: row.draw(0), k=row.k, gamma=row.gamma)


def cases(quick: bool) -> Iterator[Case]:
    """All cases; with `quick`, one of a kind at the size of a smoke test."""
    if quick:
        yield solve_case("search", drawn(40, 300), k=10, gamma=1.0)
        yield several("path", pf.path, drawn(40, 200), ks=range(1, 8), gamma=1.0)
        yield solve_case("sparse", lambda: sparse_wide(100, 2000, 0.01, "csr"), k=8, gamma=1.0)
        yield kernels("kernels", 60, 10)
        return
    for row in instances.table():
        yield solve_case(f"{row.group}: {row.label}", lambda row=row: row.draw(0), k=row.k, gamma=row.gamma)
    yield solve_case("15,000 survivors", drawn(80, 15_000), k=10, gamma=1.0, memory_limit=4e9)
    yield solve_case("n=60 p=2000 gamma=1", drawn(60, 2000), k=10, gamma=1.0)
    yield solve_case("n=60 p=10000 gamma=1", drawn(60, 10_000), k=10, gamma=1.0)
    yield solve_case("rho=0.9, n=10000 p=5000 k=30", drawn(10_000, 5000, 30, rho=0.9, sqrt_snr=2.0), k=30, gamma=0.01)
    yield solve_case("n=3000 p=3000 k=300, weak ridge", drawn(3000, 3000, 300, rho=0.5, sqrt_snr=1.0), k=300, gamma=1.0)
    yield solve_case("penalty, n=2000 p=3000", drawn(2000, 3000, 50, rho=0.5, sqrt_snr=1.0), penalty=1.0, gamma=1e3)
    yield solve_case("penalty, n=100 p=5000", drawn(100, 5000, sqrt_snr=1.0), penalty=0.05, gamma=1.0)
    yield solve_case("tightened, n=1000 p=500", drawn(1000, 500, 20, rho=0.7, sqrt_snr=0.5), k=20, gamma=1e3)
    yield solve_case("diabetes, gamma=1e6", instances.diabetes, k=20, gamma=1e6)
    yield solve_case("breast cancer, gamma=1e6", instances.breast_cancer, k=15, gamma=1e6)
    yield solve_case("diabetes, gamma=1e12", instances.diabetes, k=20, gamma=1e12)
    yield solve_case(
        "float32, C order, n=5000 p=40000", drawn(5000, 40_000, 20, np.float32, "C", rho=0.7), k=20, gamma=0.01
    )
    yield solve_case("sparse rows, p=200000", lambda: sparse_wide(2000, 200_000, 1e-3, "csr"), k=20, gamma=10.0)
    yield solve_case("sparse columns, p=200000", lambda: sparse_wide(2000, 200_000, 1e-3, "csc"), k=20, gamma=10.0)
    yield solve_case("lifted, 20,000 features", lambda: lifted(2000, 200), k=8, gamma=1e-3)
    yield solve_case("a file of 400 MB", lambda: on_disk(20_000, 5000), k=10, gamma=0.01)
    yield solve_case("a Dask array", lambda: dasked(4000, 4000), k=10, gamma=0.1)
    yield solve_case("generated, n=50000 p=20000", generated, k=20, gamma=0.01)
    yield several("path, n=100 p=2000 k=1..20", pf.path, drawn(100, 2000, sqrt_snr=2.0), ks=range(1, 21), gamma=1.0)
    yield several("k_best, n=100 p=500", pf.k_best, drawn(100, 500, sqrt_snr=2.0), k=8, gamma=1.0, count=20)
    yield kernels("kernels, n=500 m=50", 500, 50)
    yield groups("groups, n=200 p=800", 200, 800)
    for backend in ("scip", "highs", "gurobi"):
        options = {"k": 10, "gamma": 1.0, "method": "cutting-plane", "backend": backend}
        yield solve_case(f"cutting planes, {backend}, n=80 p=1500", drawn(80, 1500), **options)
    yield solve_case("cutting planes, scip, p=15000", drawn(80, 15_000), k=10, gamma=1.0, method="cutting-plane")
    yield solve_case("big-M, scip, n=100 p=400", drawn(100, 400, sqrt_snr=1.0), k=10, gamma=1.0, method="big-m")
