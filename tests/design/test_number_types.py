"""Types of entries: integers of few bits give what their float64 copy gives, complex numbers are refused everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import zarr

import parsifal as pf

FEW = ["bool", "int8", "uint8", "int16", "uint16", "float16"]
MANY = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
SPARSE = ["csc", "csr", "coo", "bsr", "lil", "dok", "dia"]


def entries(dtype: str, n: int = 40, p: int = 9) -> np.ndarray:
    """Numbers over the whole range of the type, up to 2^31, whose squares it does not hold."""
    rng = np.random.default_rng(len(dtype) + ord(dtype[0]))
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (200 * rng.standard_normal((n, p))).astype(kind)
    if kind.kind == "b":
        return rng.random((n, p)) < 0.5
    low, high = max(np.iinfo(kind).min, -(2**31)), min(np.iinfo(kind).max, 2**31)
    X = rng.integers(low, high, (n, p), endpoint=True).astype(kind)
    X[rng.random((n, p)) < 0.3] = 0
    X[0, 0], X[1, 1] = high, low
    return X


def response(X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(1).standard_normal(X.shape[0])
    return X[:, :3].sum(axis=1) / np.abs(X).max() + 0.3 * noise


def dense_forms(X: np.ndarray) -> dict[str, Any]:
    return {
        "C": X,
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3],
        "pandas": pd.DataFrame(X),
        "Dask": da.from_array(X, chunks=(17, 4)),
    }


def assert_same(X: Any, copy: np.ndarray) -> None:
    y = response(copy)
    scan = pf.as_design(X).scan(y, stats=True)
    for found, expected in (
        (scan.xv, copy.T @ y),
        (scan.sums, copy.sum(axis=0)),
        (scan.squares, (copy**2).sum(axis=0)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    found, expected = pf.solve(X, y, k=3), pf.solve(copy, y, k=3)
    assert found.support.tolist() == expected.support.tolist()
    assert found.status == expected.status == "optimal"
    assert found.gamma == pytest.approx(expected.gamma, rel=1e-12)
    assert found.objective == pytest.approx(expected.objective, rel=1e-11)
    assert found.lower_bound == pytest.approx(expected.lower_bound, rel=1e-9)
    assert pf.check(found.certificate, copy, y)


@pytest.mark.parametrize("dtype", FEW + MANY)
def test_dense_types_give_what_float64_gives(dtype: str) -> None:
    X = entries(dtype)
    for form in dense_forms(X).values():
        assert_same(form, X.astype(np.float64))


@pytest.mark.parametrize("dtype", [dtype for dtype in FEW + MANY if dtype != "float16"])
def test_sparse_types_give_what_float64_gives(dtype: str) -> None:
    X = entries(dtype)
    for name in SPARSE:
        assert_same(getattr(sp, f"{name}_array")(X), X.astype(np.float64))
    assert_same(sp.csc_matrix(X), X.astype(np.float64))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int64", "float32"])
def test_entries_that_are_there_twice_are_added_without_overflow(dtype: str) -> None:
    X = entries(dtype)
    n, p = X.shape
    rows, columns = np.tile(np.repeat(np.arange(n), p), 2), np.tile(np.arange(p), 2 * n)
    twice = sp.coo_array((np.tile(X.ravel(), 2), (rows, columns)), shape=X.shape)
    copy = 2 * X.astype(np.float64)
    assert_same(twice, copy)
    model = pf.SparseRegressor(k=3).fit(twice, response(copy))
    np.testing.assert_allclose(model.predict(copy), pf.SparseRegressor(k=3).fit(copy, response(copy)).predict(copy))
    halves = sp.csr_array((np.repeat(X.ravel(), 2), np.repeat(columns[: n * p], 2), 2 * p * np.arange(n + 1)), X.shape)
    assert_same(halves, copy)
    assert halves.nnz == 2 * n * p, "the matrix of the caller is not changed"


@pytest.mark.parametrize("dtype", [*FEW, "int32", "uint64"])
def test_estimators_take_types_of_few_bits(dtype: str) -> None:
    X = entries(dtype)
    copy = X.astype(np.float64)
    y = response(copy)
    for make in (
        lambda: pf.SparseRegressor(k=3),
        lambda: pf.SparseRegressor(k=3, fit_intercept=False, standardize=False),
        lambda: pf.SparseKernelRegressor(["linear", "poly"], k=1, gamma=1e-3),
    ):
        expected = make().fit(copy, y).predict(copy)
        np.testing.assert_allclose(make().fit(X, y).predict(X), expected, rtol=1e-6, atol=1e-6)
    lifted = [pf.NonlinearFeatures(["x", "x^2"], products=True).fit(M).transform(M) for M in (X, copy)]
    np.testing.assert_allclose(*lifted)
    gamma = 5.0 / float(np.mean((copy**2).sum(axis=0)))
    groups = [[0, 1], [2, 3], [4, 5, 6]]
    found, expected = (pf.solve_groups(M, y, groups, k=2, gamma=gamma) for M in (X, copy))
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert pf.loss(X, y, [0, 2], gamma=gamma).value == pytest.approx(pf.loss(copy, y, [0, 2], gamma=gamma).value)
    assert pf.relax(X, y, k=2, gamma=gamma).bound == pytest.approx(pf.relax(copy, y, k=2, gamma=gamma).bound)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint64"])
def test_polars_and_files_of_few_bits(dtype: str, tmp_path: Path) -> None:
    X = entries(dtype)
    copy = X.astype(np.float64)
    assert_same(pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}), copy)
    np.save(tmp_path / "X.npy", X)
    assert_same(pf.open_design(tmp_path / "X.npy"), copy)
    pd.DataFrame(X).rename(columns=str).to_parquet(tmp_path / "X.parquet")
    assert_same(pf.open_design(tmp_path / "X.parquet"), copy)


# ---- Complex numbers

_RNG = np.random.default_rng(0)
REAL, Y = _RNG.standard_normal((12, 4)), _RNG.standard_normal(12)
Z = REAL + 1j


class ArrayLike:
    shape, dtype = Z.shape, Z.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return Z


FORMS: dict[str, Any] = {
    "array": Z,
    "single": Z.astype(np.complex64),
    "long": Z.astype(np.clongdouble),
    "list": Z.tolist(),
    "objects": Z.astype(object),
    "array-like": ArrayLike(),
    "csc": sp.csc_array(Z),
    "coo": sp.coo_matrix(Z),
    "pandas": pd.DataFrame(Z, columns=list("abcd")),
    "pandas, one column": pd.DataFrame(REAL, columns=list("abcd")).assign(c=Z[:, 2]),
    "pandas objects": pd.DataFrame(Z.astype(object), columns=list("abcd")),
    "polars objects": pl.DataFrame({name: Z[:, j].tolist() for j, name in enumerate("abcd")}),
    "Dask": da.from_array(Z, chunks=5),
    "Dask, in its blocks": da.from_array(REAL, chunks=5).map_blocks(lambda block: block + 1j, dtype=float),
}
CALLS: dict[str, Callable[[Any, Any], object]] = {
    "solve": lambda X, y: pf.solve(X, y, k=1, gamma=1.0),
    "cutting planes": lambda X, y: pf.solve(X, y, k=1, gamma=1.0, method="cutting-plane", backend="highs"),
    "relax": lambda X, y: pf.relax(X, y, k=1, gamma=1.0),
    "path": lambda X, y: pf.path(X, y, ks=(1,), gamma=1.0),
    "k_best": lambda X, y: pf.k_best(X, y, k=1, gamma=1.0, count=2),
    "loss": lambda X, y: pf.loss(X, y, [0], gamma=1.0),
    "solve_groups": lambda X, y: pf.solve_groups(X, y, [[0, 1]], k=1, gamma=1.0),
    "SparseRegressor": lambda X, y: pf.SparseRegressor(k=1).fit(X, y),
    "SparseRegressorCV": lambda X, y: pf.SparseRegressorCV(ks=(1,), cv=3).fit(X, y),
    "SparseKernelRegressor": lambda X, y: pf.SparseKernelRegressor(["linear", "rbf"], k=1, gamma=1.0).fit(X, y),
}
OF_X: dict[str, Callable[[Any], object]] = {
    "predict": lambda X: pf.SparseRegressor(k=1).fit(REAL, Y).predict(X),
    "kernel predict": lambda X: pf.SparseKernelRegressor(["linear"], k=1, gamma=1.0).fit(REAL, Y).predict(X),
    "NonlinearFeatures": lambda X: pf.NonlinearFeatures().fit(X),
    "transform": lambda X: pf.NonlinearFeatures().fit(REAL).transform(X),
    "scan": lambda X: pf.as_design(X).scan(Y),
}
SAID = r"(?i)complex|\+1j|dtype object"


# What a form is taken for is decided once for all solves, estimators and kernels; every call asks.
FORM_CALLS = [(form, call) for form in FORMS for call in ("solve", "SparseRegressor", "SparseKernelRegressor")]
FORM_CALLS += [(form, call) for form in ("array", "csc", "pandas, one column", "Dask, in its blocks") for call in CALLS]


@pytest.mark.parametrize(("form", "call"), sorted(set(FORM_CALLS)))
def test_complex_X_is_refused(call: str, form: str) -> None:
    with pytest.raises(pf.ParsifalError, match=SAID):
        CALLS[call](FORMS[form], Y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", OF_X)
def test_complex_X_is_refused_by_what_takes_X_only(call: str, form: str) -> None:
    with pytest.raises(pf.ParsifalError, match=SAID):
        OF_X[call](FORMS[form])


@pytest.mark.parametrize("call", CALLS)
def test_complex_y_is_refused(call: str) -> None:
    y = Y + 1j
    for form in (y, y.tolist(), y.astype(object), pd.Series(y), y.astype(np.complex64)):
        with pytest.raises(pf.InputError, match=SAID):
            CALLS[call](REAL, form)


def test_the_message_says_what_to_do() -> None:
    with pytest.raises(pf.InputError, match=r"y has dtype complex128; pass real numbers, e\.g\. y\.real$"):
        pf.solve(REAL, Y + 1j, k=1)
    with pytest.raises(pf.InputError, match=r"^X has dtype complex128; pass real numbers, e\.g\. np\.hstack"):
        pf.solve(sp.csr_array(Z), Y, k=1)
    with pytest.raises(
        pf.InputError, match=r"^column 'c' has dtype complex128; pass real numbers, e\.g\. its real and"
    ):
        pf.SparseRegressor(k=1).fit(FORMS["pandas, one column"], Y)
    with pytest.raises(pf.InputError, match=r"^Complex data not supported: X\[0, 0\] is .*1j\); pass real numbers$"):
        pf.SparseRegressor(k=1).fit(FORMS["objects"], Y)
    with pytest.raises(pf.DataError, match="in a Dask block, X has dtype complex128; pass real"):
        pf.solve(FORMS["Dask, in its blocks"], Y, k=1)
    with pytest.raises(pf.InputError, match=r"function 'x\+i' made complex numbers; it must make real ones"):
        pf.NonlinearFeatures([("x+i", lambda x: x + 1j)]).fit(REAL).transform(REAL)


def test_complex_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", Z)
    zarr.save(str(tmp_path / "X.zarr"), Z)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"] = Z
    for name in ("X.npy", "X.zarr", "X.h5"):
        with pytest.raises(pf.InputError, match="X has dtype complex128; pass real numbers"):
            pf.open_design(tmp_path / name)
    with pytest.raises(pf.InputError, match="X has dtype complex128; pass real numbers"):
        pf.as_design(np.load(tmp_path / "X.npy", mmap_mode="r"))
