"""Every kind of matrix that the API takes, made from plain columns; with the columns that it must stand for.

A kind is a function of a generator, a matrix and a folder for files. It returns what is handed to `solve`, the matrix
that this stands for, and whether it stands for it to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import zarr

from parsifal.datasets import SyntheticDesign
from parsifal.design import View, as_design, open_design
from parsifal.lifting import NonlinearFeatures
from parsifal.training import prepare
from stress.columns import FloatArray

Made = tuple[Any, FloatArray, bool]
Kind = Callable[[np.random.Generator, FloatArray, Path], Made]

_FORMULAS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "x": lambda x: x,
    "x^2": lambda x: x**2,
    "sqrt|x|": lambda x: np.sqrt(np.abs(x)),
    "tanh(2 x)": lambda x: np.tanh(2 * x),
}


def fresh(folder: Path, suffix: str) -> Path:
    """A path in the folder that nothing else has."""
    return Path(tempfile.mkdtemp(dir=folder)) / f"x{suffix}"


def _single(X: FloatArray) -> FloatArray:
    """X as float32 can hold it, or as it is where that would lose columns."""
    largest = float(np.abs(X).max(initial=0.0))
    return X.astype(np.float32).astype(np.float64) if 1e-10 < largest < 1e15 or largest == 0.0 else X


def _c(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return np.ascontiguousarray(X), X, True


def _fortran(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return np.asfortranarray(X), X, True


def _strided(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    big = np.full((2 * X.shape[0], 3 * X.shape[1]), 77.0)
    big[::2, ::3] = X
    return big[::2, ::3], X, True


def _float32(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    small = _single(X)
    with np.errstate(over="ignore"):
        exact = bool(np.array_equal(small, small.astype(np.float32).astype(np.float64)))
    return small.astype(np.float32, order=rng.choice(["C", "F"])) if exact else small, small, True


def _integer(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    size = float(np.abs(X).max(initial=0.0)) or 1.0
    whole = np.round(X * (100.0 / size))
    return whole.astype(rng.choice(["int8", "int16", "int32", "int64"])), whole, True


def _boolean(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return X > 0, (X > 0).astype(np.float64), True


def _csc(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return sp.csc_array(X), X, True


def _csr(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    single = _single(X)
    if rng.random() < 0.5 and np.array_equal(single, single.astype(np.float32)):
        return sp.csr_matrix(single.astype(np.float32)), single, True
    return sp.csr_matrix(X), X, True


def _coo(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return sp.coo_array(X), X, True


def _pandas(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), X, True


def _polars(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    return pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}), X, True


def _npy(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    path = fresh(folder, ".npy")
    np.save(path, np.asarray(X, order=rng.choice(["C", "F"])))
    return (open_design(path) if rng.random() < 0.5 else np.load(path, mmap_mode="r")), X, True


def _blocks(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    place = fresh(folder, "")
    place.mkdir()
    for number, part in enumerate(np.array_split(np.arange(X.shape[1]), min(3, X.shape[1]))):
        np.save(place / f"b{number}.npy", X[:, part])
    return open_design(place), X, True


def _parquet(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    path = fresh(folder, ".parquet")
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=13)
    return open_design(path), X, True


def _zarr(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    path = fresh(folder, ".zarr")
    chunks = (min(17, X.shape[0]), min(6, X.shape[1]))
    array = zarr.open_array(str(path), mode="w", shape=X.shape, chunks=chunks, dtype="f8")
    array[:] = X
    return open_design(path), X, True


def _hdf5(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    path = fresh(folder, ".h5")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X)
    return open_design(path), X, True


def _dask(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    chunks = tuple(int(rng.integers((size + 2) // 3, size + 1)) for size in X.shape)
    return da.from_array(X, chunks=chunks), X, True


def _view(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    """Rows chosen and weighted, columns centred and scaled; the rows that are left out are noise."""
    n, p = X.shape
    rows = np.sort(rng.permutation(2 * n)[:n])
    big = rng.standard_normal((2 * n, p))
    big[rows] = X
    weight = rng.random(n) + 0.5 if rng.random() < 0.5 else None
    center = X.mean(axis=0) if rng.random() < 0.5 else None
    scale = rng.random(p) + 0.5 if rng.random() < 0.5 else None
    base = sp.csr_array(big) if rng.random() < 0.3 else big
    design = View(as_design(base), rows=rows, row_weight=weight, center=center, scale=scale)
    dense = (X if center is None else X - center) * (1.0 if scale is None else scale)
    return design, dense if weight is None else weight[:, None] * dense, False


def _standardised(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    """What the estimators hand to `solve`: sample weights, an intercept, columns of unit deviation."""
    n = X.shape[0]
    weight = rng.integers(0, 4, n).astype(np.float64) if rng.random() < 0.5 else None
    if weight is not None and not weight.any():
        weight[0] = 1.0
    training = prepare(
        as_design(X), np.zeros(n), weight=weight, fit_intercept=True, standardize=bool(rng.random() < 0.7)
    )
    used = np.arange(n) if weight is None else np.flatnonzero(weight)
    root = np.ones(used.size) if weight is None else np.sqrt(weight[used])
    return training.design, root[:, None] * ((X[used] - training.center) * training.scale), False


def _lifted(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    """Nonlinear features of a few columns, made while they are read."""
    size = float(np.abs(X).max(initial=0.0)) or 1.0
    base = X[:, : max(1, X.shape[1] // 4)] * (3.0 / size)
    products = bool(base.shape[1] <= 12 and rng.random() < 0.3)
    design = NonlinearFeatures(list(_FORMULAS), products, constant="keep").fit_design(as_design(base))
    columns = [f(base[:, j]) for j in range(base.shape[1]) for f in _FORMULAS.values()]
    if products:
        columns += [base[:, i] * base[:, j] for i in range(base.shape[1]) for j in range(i + 1, base.shape[1])]
    return design, np.column_stack(columns), False


def _synthetic(rng: np.random.Generator, X: FloatArray, folder: Path) -> Made:
    """The paper's data, made while they are read."""
    n, p = X.shape
    design = SyntheticDesign(
        n,
        p,
        k=int(rng.integers(1, min(p, 20) + 1)),
        rho=float(rng.choice([0.0, 0.3, 0.9])),
        sqrt_snr=float(rng.choice([1.0, 5.0, 20.0])),
        seed=int(rng.integers(0, 2**32)),
    )
    return design, np.asarray(design.columns(np.arange(p)), dtype=np.float64), True


# How often a kind comes; those that open files or start a scheduler take more time than the solve.
KINDS: dict[str, tuple[float, Kind]] = {
    "C": (5, _c),
    "Fortran": (5, _fortran),
    "strided": (2, _strided),
    "float32": (5, _float32),
    "integer": (2, _integer),
    "boolean": (1, _boolean),
    "csc": (3, _csc),
    "csr": (3, _csr),
    "coo": (1, _coo),
    "pandas": (1, _pandas),
    "polars": (1, _polars),
    "npy": (2, _npy),
    "npy blocks": (1, _blocks),
    "parquet": (1, _parquet),
    "zarr": (0.3, _zarr),
    "hdf5": (1, _hdf5),
    "dask": (0.7, _dask),
    "view": (4, _view),
    "standardised": (4, _standardised),
    "lifted": (2, _lifted),
    "synthetic": (2, _synthetic),
}
