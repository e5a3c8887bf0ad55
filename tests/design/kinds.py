"""Every kind of matrix that can be a design, each with the plain array that it stands for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from itertools import combinations

import dask.array as da
import numpy as np
import pandas as pd
import scipy.sparse as sp

from parsifal.datasets import SyntheticDesign
from parsifal.design import View, as_design
from parsifal.design.adjusted import adjust_for
from parsifal.estimators.nonlinear import NonlinearFeatures

from .file_kinds import hdf5, memmap, npy, npy_folder, parquet, zarr_array
from .kind import DTYPES, Kind, N, P, values


def _padded(X: np.ndarray) -> np.ndarray:
    big = np.full((2 * X.shape[0], 3 * X.shape[1]), 77, X.dtype)
    big[::2, ::3] = X
    return big[::2, ::3]


def _unaligned(X: np.ndarray) -> np.ndarray:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    out = raw[1:].view(X.dtype).reshape(X.shape)
    out[:] = X
    return out


def _readonly(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided-C": _padded,
    "strided-F": lambda X: _padded(X.T.copy()).T,
    "reversed-C": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "reversed-F": lambda X: np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
    "wide-rows": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "readonly": _readonly,
    "unaligned": _unaligned,
}


def _dense(dtype: str, layout: str, shape: tuple[int, int] = (N, P)) -> Callable[[], Kind]:
    def make() -> Kind:
        X = values(dtype, shape)
        array = LAYOUTS[layout](X)
        assert np.array_equal(array, X)
        return Kind(as_design(array), X.astype(np.float64), array)

    return make


def _mixed() -> Kind:
    dtypes = (DTYPES * 2)[:P]
    X = values()
    frame = pd.DataFrame({f"x{j}": values(dtype)[:, j] for j, dtype in enumerate(dtypes)})
    assert X.shape == frame.shape
    return Kind(as_design(frame), frame.to_numpy(dtype=np.float64))


def _nullable() -> Kind:
    X = np.round(values())
    kinds = ["Int64", "Float32", "float64", "Float64", "double[pyarrow]"]
    frame = pd.DataFrame({f"x{j}": pd.Series(X[:, j]).astype(kinds[j % 5]) for j in range(P)})
    return Kind(as_design(frame), X)


def _polars() -> Kind:
    import polars as pl  # not above: it does not load under ThreadSanitizer (scripts/sanitize.py)

    frame = pl.DataFrame({f"x{j}": values((DTYPES * 2)[j])[:, j] for j in range(P)})
    return Kind(as_design(frame), np.column_stack([values((DTYPES * 2)[j])[:, j] for j in range(P)]).astype(float))


def _polars_chunks() -> Kind:
    import polars as pl

    X = values()
    top, bottom = pl.DataFrame(X[:20]), pl.DataFrame(X[20:])
    return Kind(as_design(pl.concat([top, bottom], rechunk=False)), X)


def _pandas_blocks() -> Kind:
    X = values()
    frame = pd.concat([pd.DataFrame(X[:, :10]), pd.DataFrame(X[:, 10:])], axis=1)
    frame.columns = range(P)
    return Kind(as_design(frame), X)


def _thin(seed: int = 1) -> np.ndarray:
    X = values()
    X[np.random.default_rng(seed).random(X.shape) < 0.8] = 0.0
    X[:, 4] = 0.0
    X[7] = 0.0
    X[:, 5] = 3.0
    return X


def _sparse(make: Callable[[np.ndarray], sp.sparray], dtype: str = "float64", wide: bool = False) -> Callable[[], Kind]:
    def build() -> Kind:
        X = _thin().astype(dtype)
        matrix = make(X)
        if wide:
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        return Kind(as_design(matrix), X.astype(np.float64))

    return build


def _jumbled(X: np.ndarray) -> sp.csr_array:
    """CSR with every entry stored as two halves, the columns of a row in backward order."""
    half = sp.csr_array(X / 2.0)
    data, indices, indptr = [], [], [0]
    for i in range(X.shape[0]):
        row = slice(half.indptr[i], half.indptr[i + 1])
        for _ in range(2):
            data.extend(half.data[row][::-1])
            indices.extend(half.indices[row][::-1])
        indptr.append(len(data))
    return sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


def _slice(make: Callable[[], Kind]) -> Callable[[], Kind]:
    def build() -> Kind:
        kind = make()
        n = len(kind.dense)
        memory = None if kind.memory is None else kind.memory[11 : n - 7]
        return Kind(kind.design.rows(5, n - 2).rows(6, n - 12), kind.dense[11 : n - 7], memory)

    return build


def _view(make: Callable[[], Kind], rows: str, depth: int = 1) -> Callable[[], Kind]:
    def build() -> Kind:
        kind = make()
        design, dense = kind.design, kind.dense
        rng = np.random.default_rng(3)
        for _ in range(depth):
            n, p = design.shape
            chosen = {
                "all": None,
                "some": rng.permutation(n)[: n - 9],
                "near": np.arange(4, n - 3),
                "mask": np.arange(n) % 3 > 0,
                "step": slice(2, n, 2),
                "slice": slice(3, n - 1),
            }[rows]
            dense = dense if chosen is None else dense[chosen]
            w = rng.random(len(dense)) + 0.5
            c, s = rng.standard_normal(p), rng.random(p) + 0.5
            design = View(design, rows=chosen, row_weight=w, center=c, scale=s)
            dense = w[:, None] * (dense - c) * s
        return Kind(design, dense, tol=1e-11)

    return build


def _plain_views() -> Kind:
    """A view of a view that folds into one: no weight below a centring."""
    kind = _dense("float64", "C")()
    c, s = np.linspace(-1, 1, P), np.linspace(1, 2, P)
    order = np.random.default_rng(5).permutation(N)[:40]
    inner = View(kind.design, rows=order, center=c, scale=s)
    w = np.linspace(1, 3, 20)
    outer = View(inner, rows=np.arange(20), center=s, row_weight=w)
    last = View(outer, scale=s)
    return Kind(last, w[:, None] * ((kind.dense[order][:20] - c) * s - s) * s, tol=1e-11)


def _adjusted(inner: str) -> Callable[[], Kind]:
    """Two columns, and one that depends on them, projected out."""

    def build() -> Kind:
        kind = _plain_views() if inner == "view" else _dense("float32", "C")()
        design = adjust_for(kind.design, np.array([1, 4, 9]))
        A = kind.dense[:, [1, 4, 9]].astype(np.float64)
        dense = kind.dense - A @ np.linalg.lstsq(A, kind.dense.astype(np.float64), rcond=None)[0]
        dense[:, [1, 4, 9]] = 0.0
        return Kind(design, dense, tol=1e-10)

    return build


def _synthetic(rho: float, shape: tuple[int, int] = (N, P)) -> Callable[[], Kind]:
    def make() -> Kind:
        design = SyntheticDesign(*shape, k=3, rho=rho, seed=4)
        return Kind(design, SyntheticDesign(*shape, k=3, rho=rho, seed=4).columns(np.arange(shape[1])))

    return make


def _dask(chunks: tuple[int, int], dtype: str = "float64") -> Callable[[], Kind]:
    def make() -> Kind:
        X = values(dtype)
        return Kind(as_design(da.from_array(X, chunks=chunks)), X.astype(np.float64))

    return make


def _lifted(make: Callable[[], Kind], products: bool | str = False) -> Callable[[], Kind]:
    """Nonlinear features; what they must equal is written down here once more."""
    formulas = {
        "x": lambda x: x,
        "sqrt|x|": lambda x: np.sqrt(np.abs(x)),
        "x^2": lambda x: x**2,
        "tanh(2 x)": lambda x: np.tanh(2 * x),
    }

    def build() -> Kind:
        kind = make()
        lift = NonlinearFeatures(list(formulas), products, constant="keep")
        design = lift.fit_design(kind.design)
        kind.design.reads = 0.0
        X = kind.dense
        columns = [f(X[:, j]) for j in range(X.shape[1]) for f in formulas.values()]
        factors = [(j // 4, c) for j, c in enumerate(columns) if products == "all" or j % 4 == 0]
        if products:
            columns += [a * b for (i, a), (j, b) in combinations(factors, 2) if i != j]
        return Kind(design, np.column_stack(columns), tol=1e-11)

    return build


def _dense_pairs() -> list[tuple[str, str]]:
    """Every type with every layout that its code path knows.

    Doubles and floats are read in place where they lie apart as they should, and packed otherwise. The other types are
    always packed, by rows or by columns, with any stride: two layouts each, and the others in turn.
    """
    in_place, packed = DTYPES[:2], DTYPES[2:]
    turns = itertools.cycle([name for name in LAYOUTS if name not in ("C", "Fortran")])
    pairs = [(dtype, layout) for dtype in in_place for layout in LAYOUTS]
    return pairs + [(dtype, layout) for dtype in packed for layout in ("C", "Fortran", next(turns))]


KINDS: dict[str, Callable[[], Kind]] = {
    **{f"{dtype}-{layout}": _dense(dtype, layout) for dtype, layout in _dense_pairs()},
    **{
        f"{shape}-{order}": _dense("float64", order, shape)
        for shape in ((1, 1), (1, 9), (9, 1), (300, 2))
        for order in "C"
    },
    "one-row-F": _dense("float32", "Fortran", (1, 40)),
    "one-column-reversed": _dense("float32", "reversed-C", (40, 1)),
    "list": lambda: Kind(as_design(values().tolist()), values()),
    "pandas": lambda: Kind(as_design(pd.DataFrame(values())), values()),
    "pandas-float32": lambda: Kind(as_design(pd.DataFrame(values("float32"))), values("float32").astype(float)),
    "pandas-blocks": _pandas_blocks,
    "pandas-mixed": _mixed,
    "pandas-nullable": _nullable,
    "polars": _polars,
    "polars-chunks": _polars_chunks,
    **{
        f"{make.__name__}-{dtype}-{'int64' if wide else 'int32'}": _sparse(make, dtype, wide)
        for make in (sp.csr_array, sp.csc_array)
        for dtype in ("float64", "float32")
        for wide in (False, True)
    },
    "csr_matrix": _sparse(sp.csr_matrix),
    "csc_matrix": _sparse(sp.csc_matrix, "float32", wide=True),
    "csr-int": _sparse(sp.csr_array, "int16"),
    "coo": _sparse(sp.coo_array),
    "lil": _sparse(sp.lil_matrix),
    "csr-jumbled": _sparse(_jumbled),
    "csc-jumbled": _sparse(lambda X: sp.csc_array(_jumbled(X.T).T)),
    **{f"npy-{dtype}-{order}": npy(dtype, order) for dtype in ("float64", "float32", "int8") for order in "CF"},
    **{f"npy-{dtype}": npy(dtype, order) for dtype, order in zip(DTYPES[2:], itertools.cycle("CF"))},
    **{f"npy-block{block}-{order}": npy("float32", order, block) for block in (40, 300, 1000) for order in "CF"},
    **{f"npy-{shape}-{order}": npy("float64", order, 64, shape) for shape in ((1, 9), (9, 1)) for order in "CF"},
    **{f"memmap-{order}": memmap(order) for order in "CF"},
    "npy-folder": npy_folder,
    "parquet": parquet(1),
    "parquet-folder": parquet(12),
    "zarr": zarr_array,
    "hdf5-chunks": hdf5((10, 9)),
    "hdf5-contiguous": hdf5(None),
    **{f"synthetic-{rho}": _synthetic(rho) for rho in (0.0, 0.3, 0.9)},
    "synthetic-chains": _synthetic(0.5, (1100, 300)),
    **{f"dask-{chunks}": _dask(chunks) for chunks in ((N, 5), (10, P), (20, 7))},
    "dask-int8": _dask((N, 8), "int8"),
    "dask-folder": lambda: npy_folder(dask=True),
}
BASES = {
    name: KINDS[name]
    for name in ("float64-C", "float64-Fortran", "float32-strided-C", "bool-C", "pandas-mixed", "polars")
} | {"csr": KINDS["csr_array-float64-int32"], "csc": KINDS["csc_array-float32-int64"]}
BASES |= {name: KINDS[name] for name in ("npy-block300-C", "npy-block300-F", "parquet", "synthetic-0.3")}
# How rows are chosen is resolved before the base is asked: a dense, a sparse and a streamed one see all ways.
_ROWS = ("all", "some", "near", "mask", "step", "slice")
_turns = itertools.cycle(_ROWS)
for _name, _make in BASES.items():
    KINDS[f"slice-of-{_name}"] = _slice(_make)
    for _rows in _ROWS if _name in ("float64-C", "csr", "npy-block300-C") else (next(_turns), next(_turns)):
        KINDS[f"view-{_rows}-of-{_name}"] = _view(_make, _rows)
    KINDS[f"slice-of-view-of-{_name}"] = _slice(_view(_make, "all"))
    KINDS[f"view-of-view-of-{_name}"] = _view(_make, "some", depth=2)
    KINDS[f"view-of-slice-of-{_name}"] = _view(_slice(_make), "mask")
    KINDS[f"lifted-{_name}"] = _lifted(_make)
KINDS["lifted-products"] = _lifted(KINDS["float64-C"], products=True)
KINDS["lifted-all-products"] = _lifted(_dense("float64", "C", (30, 5)), products="all")
KINDS["lifted-one-row"] = _lifted(_dense("float64", "C", (1, 9)))
KINDS["lifted-tall"] = _lifted(_dense("float32", "C", (9001, 3)), products=True)
KINDS["lifted-view"] = _lifted(_view(KINDS["float64-C"], "some"))
KINDS["slice-of-lifted"] = _slice(_lifted(KINDS["float64-C"], products=True))
KINDS["view-of-lifted"] = _view(_lifted(KINDS["float64-C"], products=True), "mask", depth=2)
KINDS["views-folded"] = _plain_views
KINDS["adjusted"] = _adjusted("plain")
KINDS["adjusted-view"] = _adjusted("view")

# One kind for every class of design: for what does not depend on the entries.
CLASSES = ["float64-C", "pandas-mixed", "polars", "csr_array-float64-int32", "csc_array-float64-int32", "npy-float64-C"]
CLASSES += ["npy-folder", "parquet", "zarr", "hdf5-chunks", "synthetic-0.3", "dask-(20, 7)", "slice-of-float64-C"]
CLASSES += ["slice-of-parquet", "view-some-of-float64-C", "view-of-view-of-float64-C", "lifted-float64-C"]
CLASSES += ["lifted-products", "slice-of-lifted", "one-row-F", "adjusted", "adjusted-view"]
