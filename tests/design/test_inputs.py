"""What `as_design` takes and refuses, in which words, and that it copies nothing."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from parsifal.design import View, as_design
from parsifal.errors import InputError, NonFiniteError

from .kinds import DTYPES, LAYOUTS, values

BAD = {
    "one dimension": (np.ones(5), "X has shape (5,); it must have two dimensions, e.g. X.reshape(-1, 1)"),
    "three dimensions": (
        np.ones((2, 3, 4)),
        "X has shape (2, 3, 4); it must have two dimensions, e.g. X.reshape(len(X), -1)",
    ),
    "no rows": (np.ones((0, 3)), "X has shape (0, 3); it needs at least one row and one column"),
    "no columns": (np.ones((3, 0)), "X has shape (3, 0); it needs at least one row and one column"),
    "object": (
        np.array([[1, None]], dtype=object),
        "X has dtype object; if its entries are numbers, convert it with X.astype(float)",
    ),
    "complex": (
        np.ones((2, 2), complex),
        "X has dtype complex128; pass real numbers, e.g. np.hstack([X.real, X.imag])",
    ),
    "string": (np.array([["a"]]), "X has dtype <U1; encode it as numbers first"),
    "date": (
        np.zeros((1, 1), "datetime64[s]"),
        "X has dtype datetime64[s]; encode it as numbers first",
    ),
    "byte order": (
        np.ones((2, 2), ">f8"),
        "X has dtype >f8 in foreign byte order; convert it with X.astype('float64')",
    ),
    "long double": (
        np.ones((2, 2), np.longdouble),
        f"X has dtype {np.dtype(np.longdouble)}; convert it with X.astype(float)",
    ),
    "masked": (
        np.ma.masked_array(np.ones((2, 2))),
        "X is a masked array; drop or fill the masked entries, e.g. X.filled(0.0)",
    ),
    "ragged": (
        [[1.0], [1.0, 2.0]],
        "X is a list that does not make a matrix: setting an array element with a sequence.",
    ),
    "no matrix": (
        "X",
        "X is a str; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix",
    ),
    "pandas series": (pd.Series([1.0]), "X is a pandas Series; pass a DataFrame, e.g. X.to_frame()"),
    "pandas text": (
        pd.DataFrame({"a": [1.0], "b": pd.Series(["x"], dtype=object)}),
        "column 'b' has dtype object; drop it or encode it as numbers",
    ),
    "pandas category": (
        pd.DataFrame({"a": pd.Categorical(["x"])}),
        "column 'a' has dtype category; drop it or encode it as numbers",
    ),
    "pandas sparse": (
        pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}),
        "column 'a' is sparse; pass a SciPy matrix, e.g. X.sparse.to_coo().tocsc()",
    ),
    "pandas empty": (pd.DataFrame(), "X has shape (0, 0); it needs at least one row and one column"),
    "pandas twins": (
        pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"]),
        "columns 0 and 2 are both named 'a'; rename one of them",
    ),
    "polars series": (pl.Series([1.0]), "X is a polars Series; pass a DataFrame, e.g. X.to_frame()"),
    "polars lazy": (pl.LazyFrame({"a": [1.0]}), "X is a polars LazyFrame; pass X.collect()"),
    "polars text": (
        pl.DataFrame({"a": ["x"]}),
        "column 'a' has dtype String; drop it or encode it as numbers",
    ),
    "sparse complex": (
        sp.csr_array(np.ones((2, 2), complex)),
        "X has dtype complex128; pass real numbers",
    ),
    "sparse empty": (sp.csr_array((0, 4)), "X has shape (0, 4); it needs at least one row and one column"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input(X: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        as_design(X)
    assert str(caught.value).startswith(message)


def test_np_matrix_is_refused() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0]])
    with pytest.raises(InputError, match=r"X is an np.matrix; pass np.asarray\(X\)"):
        as_design(matrix)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_sparse_indices_outside_the_matrix(make: type) -> None:
    X = make(np.eye(3))
    X.indices[1] = 3
    with pytest.raises(InputError, match="indices that point outside"):
        as_design(X)


def test_feature_names() -> None:
    assert as_design(pd.DataFrame(np.ones((2, 2)))).feature_names == ("0", "1")
    assert as_design(pl.DataFrame({"a": [1], "b": [2.0]})).feature_names == ("a", "b")
    assert as_design(np.ones((2, 2))).feature_names is None


def test_frames_of_unusual_numbers() -> None:
    frame = pl.DataFrame({"d": [Decimal("1.5"), Decimal("2.5")], "b": [True, False], "n": [1, None]})
    np.testing.assert_array_equal(as_design(frame).columns([0, 1]), [[1.5, 1.0], [2.5, 0.0]])
    with pytest.raises(NonFiniteError, match=r"X\[1, 2\] \(column 'n'\) is NaN"):
        as_design(frame).scan(np.ones(2))


def test_subclass_of_a_frame() -> None:
    class Frame(pd.DataFrame):
        pass

    assert as_design(Frame({"a": [1.0], "b": [2]})).feature_names == ("a", "b")


# ---- Entries that are not finite


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def _nullable(X: np.ndarray) -> pd.DataFrame:
    return _frame(X).astype({"x3": "Float64"})


HOLDERS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas": _frame,
    "pandas-nullable": _nullable,
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
}
VALUES = {
    np.nan: "is NaN; drop or impute missing values",
    np.inf: "is inf; drop or replace infinite values",
    -np.inf: "is -inf; drop or replace infinite values",
    1e200: "is 1e+200, too large to square; rescale the column",
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_nonfinite_entries_are_located(holder: str, value: float) -> None:
    X = values()
    X[12, 3] = X[40, 3] = X[1, 20] = value
    design = as_design(HOLDERS[holder](X))
    place = "X[12, 3]" if design.feature_names is None else "X[12, 3] (column 'x3')"
    views = [
        design,
        design.rows(5, 50),
        View(design, row_weight=np.arange(1.0, 62.0), center=np.ones(23), scale=np.full(23, 3.0)),
        View(View(design, rows=np.arange(60, 4, -1)), rows=np.arange(2, 50)),
    ]
    for view in views:
        with pytest.raises(NonFiniteError) as caught:
            view.scan(np.ones(view.shape[0]), stats=True)
        assert str(caught.value) == f"{place} {VALUES[value]}"


def test_half_and_single_infinities() -> None:
    for dtype in ("float16", "float32"):
        for value in (np.inf, -np.inf, np.nan):
            X = values(dtype)
            X[3, 4] = value
            with pytest.raises(NonFiniteError, match=r"X\[3, 4\] is (-?inf|NaN)"):
                as_design(X).scan(np.zeros(len(X)))


def test_overflow_of_the_product() -> None:
    with pytest.raises(NonFiniteError, match="scale v down"):
        as_design(np.full((3, 2), 1e10)).scan(np.full(3, 1e308))


def test_every_half() -> None:
    X = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    X = X[np.isfinite(X)].reshape(-1, 1)
    np.testing.assert_array_equal(as_design(X).columns([0]), X.astype(np.float64))


# ---- No copies


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_are_read_in_place(dtype: str, layout: str) -> None:
    array = LAYOUTS[layout](values(dtype))
    array.flags.writeable = True
    design, v = as_design(array), np.ones(len(array))
    before = design.scan(v).xv
    array[0, 0] = not array[0, 0] if dtype == "bool" else array[0, 0] + 1
    assert abs(design.scan(v).xv[0] - before[0]) == pytest.approx(1.0, abs=1e-2)


def _tall(p: int) -> dict[str, object]:
    X = np.ones((20_000, p))
    frame = pd.DataFrame({f"x{j}": np.ones(20_000, np.float32 if j % 2 else np.float64) for j in range(p)})
    return {
        "C": X,
        "Fortran": np.asfortranarray(X),
        "strided": X[::-2, ::3],
        "int16": X.astype(np.int16),
        "pandas": pd.DataFrame(X),
        "pandas-mixed": frame,
        "polars": pl.DataFrame({f"x{j}": np.ones(20_000) for j in range(p)}),
        "csr": sp.csr_array(X),
        "csc": sp.csc_array(X),
    }


@pytest.mark.parametrize("name", list(_tall(1)))
def test_no_copy_is_made(name: str) -> None:
    X = _tall(40)[name]
    as_design(_tall(2)[name])
    tracemalloc.start()
    try:
        design = as_design(X)
        n, p = design.shape
        design.scan(np.ones(n), stats=True)
        rows = np.arange(0, n, 2)
        View(design, rows=rows, center=np.ones(p)).scan(np.ones(len(rows)), stats=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < max(8 * 8 * n, design.nbytes // 3)


def test_sparse_input_is_left_alone() -> None:
    X = sp.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    as_design(X).scan(np.ones(1))
    np.testing.assert_array_equal(X.indices, [1, 0, 1])
    assert X.nnz == 3


def test_imports_are_lazy() -> None:
    code = (
        "import sys, parsifal.design as d, numpy as np; d.as_design(np.ones((2, 2))).scan(np.ones(2));"
        "print([m for m in ('pandas', 'polars', 'scipy.sparse') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
