"""Every kind of matrix that the API takes, made from plain columns; with the columns that it must stand for.

A kind is made in two steps, so that a problem can be saved as data (`stress.saved`): `draw` makes its parts, arrays and
numbers, with a generator and a matrix; `make` puts them together, with a folder for files. It returns what is handed
to `solve`, the matrix that this stands for, and whether it stands for it to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
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
from parsifal.estimators.nonlinear import NonlinearFeatures
from parsifal.problem.standardise import prepare
from stress.columns import FloatArray

Parts = dict[str, Any]
Made = tuple[Any, FloatArray, bool]

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


def _plain(rng: np.random.Generator, X: FloatArray) -> Parts:
    return {"X": X}


def _fortran(rng: np.random.Generator, X: FloatArray) -> Parts:
    return {"X": np.asfortranarray(X)}


def _float32(rng: np.random.Generator, X: FloatArray) -> Parts:
    small = _single(X)
    with np.errstate(over="ignore"):
        exact = bool(np.array_equal(small, small.astype(np.float32).astype(np.float64)))
    return {"X": small.astype(np.float32, order=rng.choice(["C", "F"])) if exact else small}


def _integer(rng: np.random.Generator, X: FloatArray) -> Parts:
    size = float(np.abs(X).max(initial=0.0)) or 1.0
    return {"X": np.round(X * (100.0 / size)).astype(rng.choice(["int8", "int16", "int32", "int64"]))}


def _boolean(rng: np.random.Generator, X: FloatArray) -> Parts:
    return {"X": X > 0}


def _array(parts: Parts, folder: Path) -> Made:
    return parts["X"], parts["X"].astype(np.float64), True


def _strided(parts: Parts, folder: Path) -> Made:
    X = parts["X"]
    big = np.full((2 * X.shape[0], 3 * X.shape[1]), 77.0)
    big[::2, ::3] = X
    return big[::2, ::3], X, True


def _csc(parts: Parts, folder: Path) -> Made:
    return sp.csc_array(parts["X"]), parts["X"], True


def _draw_csr(rng: np.random.Generator, X: FloatArray) -> Parts:
    single = _single(X)
    if rng.random() < 0.5 and np.array_equal(single, single.astype(np.float32)):
        return {"X": single.astype(np.float32)}
    return {"X": X}


def _csr(parts: Parts, folder: Path) -> Made:
    return sp.csr_matrix(parts["X"]), parts["X"].astype(np.float64), True


def _coo(parts: Parts, folder: Path) -> Made:
    return sp.coo_array(parts["X"]), parts["X"], True


def _pandas(parts: Parts, folder: Path) -> Made:
    X = parts["X"]
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), X, True


def _polars(parts: Parts, folder: Path) -> Made:
    X = parts["X"]
    return pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}), X, True


def _draw_npy(rng: np.random.Generator, X: FloatArray) -> Parts:
    return {"X": np.asarray(X, order=rng.choice(["C", "F"])), "open": bool(rng.random() < 0.5)}


def _npy(parts: Parts, folder: Path) -> Made:
    path = fresh(folder, ".npy")
    np.save(path, parts["X"])
    return (open_design(path) if parts["open"] else np.load(path, mmap_mode="r")), parts["X"], True


def _blocks(parts: Parts, folder: Path) -> Made:
    X, place = parts["X"], fresh(folder, "")
    place.mkdir()
    for number, part in enumerate(np.array_split(np.arange(X.shape[1]), min(3, X.shape[1]))):
        np.save(place / f"b{number}.npy", X[:, part])
    return open_design(place), X, True


def _parquet(parts: Parts, folder: Path) -> Made:
    X, path = parts["X"], fresh(folder, ".parquet")
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=13)
    return open_design(path), X, True


def _zarr(parts: Parts, folder: Path) -> Made:
    X, path = parts["X"], fresh(folder, ".zarr")
    chunks = (min(17, X.shape[0]), min(6, X.shape[1]))
    array = zarr.open_array(str(path), mode="w", shape=X.shape, chunks=chunks, dtype="f8")
    array[:] = X
    return open_design(path), X, True


def _hdf5(parts: Parts, folder: Path) -> Made:
    path = fresh(folder, ".h5")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=parts["X"])
    return open_design(path), parts["X"], True


def _draw_dask(rng: np.random.Generator, X: FloatArray) -> Parts:
    return {"X": X, "chunks": [int(rng.integers((size + 2) // 3, size + 1)) for size in X.shape]}


def _dask(parts: Parts, folder: Path) -> Made:
    return da.from_array(parts["X"], chunks=tuple(parts["chunks"])), parts["X"], True


def _draw_view(rng: np.random.Generator, X: FloatArray) -> Parts:
    """Rows chosen and weighted, columns centred and scaled; the rows that are left out are noise."""
    n, p = X.shape
    rows = np.sort(rng.permutation(2 * n)[:n])
    big = rng.standard_normal((2 * n, p))
    big[rows] = X
    weight = rng.random(n) + 0.5 if rng.random() < 0.5 else None
    center = X.mean(axis=0) if rng.random() < 0.5 else None
    scale = rng.random(p) + 0.5 if rng.random() < 0.5 else None
    sparse = bool(rng.random() < 0.3)
    return {"X": big, "rows": rows, "weight": weight, "center": center, "scale": scale, "sparse": sparse}


def _view(parts: Parts, folder: Path) -> Made:
    rows, weight, center, scale = (parts[name] for name in ("rows", "weight", "center", "scale"))
    base = sp.csr_array(parts["X"]) if parts["sparse"] else parts["X"]
    design = View(as_design(base), rows=rows, row_weight=weight, center=center, scale=scale)
    X = parts["X"][rows]
    dense = (X if center is None else X - center) * (1.0 if scale is None else scale)
    return design, dense if weight is None else weight[:, None] * dense, False


def _draw_standardised(rng: np.random.Generator, X: FloatArray) -> Parts:
    """What the estimators hand to `solve`: sample weights, an intercept, columns of unit deviation."""
    n = X.shape[0]
    weight = rng.integers(0, 4, n).astype(np.float64) if rng.random() < 0.5 else None
    if weight is not None and not weight.any():
        weight[0] = 1.0
    return {"X": X, "weight": weight, "standardize": bool(rng.random() < 0.7)}


def _standardised(parts: Parts, folder: Path) -> Made:
    X, weight = parts["X"], parts["weight"]
    n = X.shape[0]
    training = prepare(as_design(X), np.zeros(n), weight=weight, fit_intercept=True, standardize=parts["standardize"])
    used = np.arange(n) if weight is None else np.flatnonzero(weight)
    root = np.ones(used.size) if weight is None else np.sqrt(weight[used])
    return training.design, root[:, None] * ((X[used] - training.center) * training.scale), False


def _draw_lifted(rng: np.random.Generator, X: FloatArray) -> Parts:
    """Nonlinear features of a few columns, made while they are read."""
    size = float(np.abs(X).max(initial=0.0)) or 1.0
    base = X[:, : max(1, X.shape[1] // 4)] * (3.0 / size)
    return {"X": base, "products": bool(base.shape[1] <= 12 and rng.random() < 0.3)}


def _lifted(parts: Parts, folder: Path) -> Made:
    base, products = parts["X"], parts["products"]
    design = NonlinearFeatures(list(_FORMULAS), products, constant="keep").fit_design(as_design(base))
    columns = [f(base[:, j]) for j in range(base.shape[1]) for f in _FORMULAS.values()]
    if products:
        columns += [base[:, i] * base[:, j] for i in range(base.shape[1]) for j in range(i + 1, base.shape[1])]
    return design, np.column_stack(columns), False


def _draw_synthetic(rng: np.random.Generator, X: FloatArray) -> Parts:
    """The paper's data, made while they are read."""
    n, p = X.shape
    return {
        "n": n,
        "p": p,
        "k": int(rng.integers(1, min(p, 20) + 1)),
        "rho": float(rng.choice([0.0, 0.3, 0.9])),
        "sqrt_snr": float(rng.choice([1.0, 5.0, 20.0])),
        "seed": int(rng.integers(0, 2**32)),
    }


def _synthetic(parts: Parts, folder: Path) -> Made:
    design = SyntheticDesign(**parts)
    return design, np.asarray(design.columns(np.arange(parts["p"])), dtype=np.float64), True


@dataclass(frozen=True)
class Kind:
    """How often a kind comes, and how it is made."""

    share: float
    make: Callable[[Parts, Path], Made]
    draw: Callable[[np.random.Generator, FloatArray], Parts] = _plain


# Kinds that open files or start a scheduler take more time than the solve, and come less often.
KINDS: dict[str, Kind] = {
    "C": Kind(5, _array),
    "Fortran": Kind(5, _array, _fortran),
    "strided": Kind(2, _strided),
    "float32": Kind(5, _array, _float32),
    "integer": Kind(2, _array, _integer),
    "boolean": Kind(1, _array, _boolean),
    "csc": Kind(3, _csc),
    "csr": Kind(3, _csr, _draw_csr),
    "coo": Kind(1, _coo),
    "pandas": Kind(1, _pandas),
    "polars": Kind(1, _polars),
    "npy": Kind(2, _npy, _draw_npy),
    "npy blocks": Kind(1, _blocks),
    "parquet": Kind(1, _parquet),
    "zarr": Kind(0.3, _zarr),
    "hdf5": Kind(1, _hdf5),
    "dask": Kind(0.7, _dask, _draw_dask),
    "view": Kind(4, _view, _draw_view),
    "standardised": Kind(4, _standardised, _draw_standardised),
    "lifted": Kind(2, _lifted, _draw_lifted),
    "synthetic": Kind(2, _synthetic, _draw_synthetic),
}
