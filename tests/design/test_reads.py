"""Properties of a read: the same on any number of threads, and accurate where means dwarf deviations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from parsifal.design import Design, View, as_design, standardized
from parsifal.design.read import Read
from parsifal.errors import InputError

from .kinds import KINDS, values

HOLDERS: dict[str, Callable[[np.ndarray], object]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: X[:, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


# Large enough for threads; the last shapes are cut by rows, where there are too few columns to share out.
@pytest.mark.parametrize("shape", [(131, 5003), (4099, 301), (200_003, 3), (400_001, 1)])
@pytest.mark.parametrize("holder", HOLDERS)
def test_threads_do_not_change_a_bit(holder: str, shape: tuple[int, int]) -> None:
    X = values("float64", shape)
    if holder.startswith("cs"):
        X[np.random.default_rng(1).random(shape) < 0.5] = 0.0
    design = as_design(HOLDERS[holder](X))
    X = design.columns(np.arange(shape[1]))
    v = np.random.default_rng(2).standard_normal(shape[0])
    w = np.random.default_rng(3).random(shape[0])
    one = design.scan(v, stats=True, threads=1)
    size = np.abs(v) @ np.abs(X) + 1.0
    assert np.max(np.abs(one.xv - v @ X) / size) < 1e-13
    np.testing.assert_allclose(one.squares, np.einsum("ij,ij->j", X, X), rtol=1e-12)
    for threads in (0, 2, 3, 7):
        many = design.scan(v, stats=True, threads=threads)
        for field in ("xv", "sums", "squares"):
            assert np.array_equal(getattr(one, field), getattr(many, field))
    weighted = [design.read(Read(v=v, sum_weight=w, square_weight=w, stats=True, threads=t)) for t in (1, 3)]
    assert np.array_equal(weighted[0].squares, weighted[1].squares)
    np.testing.assert_allclose(weighted[0].squares, w @ (X * X), rtol=1e-12)


def test_a_request_and_its_parts() -> None:
    v, a, shift = np.arange(6.0), np.ones(6), np.arange(4.0)
    request = Read(v=v, shift=shift, sum_weight=a, stats=True)
    part = request.part(slice(2, 5), slice(1, 3))
    assert part.v.tolist() == [2.0, 3.0, 4.0]
    assert part.shift is not None
    assert part.shift.tolist() == [1.0, 2.0]
    assert part.sum_weight is not None
    assert part.sum_weight.shape == (3,)
    assert part.square_weight is None
    assert part.stats
    assert part.threads == 1
    assert np.shares_memory(part.v, v)
    with pytest.raises(TypeError, match="positional"):
        Read(v, shift)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        request.shift = None  # type: ignore[misc]


@pytest.mark.parametrize("holder", ["C", "Fortran", "csr", "csc"])
def test_large_gather(holder: str) -> None:
    X = values("float64", (9001, 60))
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    idx = np.random.default_rng(0).integers(0, 60, 200)
    design = as_design(HOLDERS[holder](X))
    np.testing.assert_array_equal(design.columns(idx), X[:, idx])
    coef = np.random.default_rng(1).standard_normal(200)
    np.testing.assert_allclose(design.matvec(idx, coef), X[:, idx] @ coef, rtol=1e-9, atol=1e-9)


def _check_standardized(design: Design, X: np.ndarray, rtol: float) -> None:
    view, center, scale = standardized(design, with_mean=True, with_std=True)
    exact = X.astype(np.longdouble)
    mean = exact.mean(axis=0)
    deviation = np.sqrt(((exact - mean) ** 2).mean(axis=0))
    np.testing.assert_allclose(center, mean.astype(float), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(scale, (1 / deviation).astype(float), rtol=rtol)
    v = np.random.default_rng(5).standard_normal(len(X))
    want = (v @ ((exact - mean) / deviation)).astype(float)
    scan = view.scan(v, stats=True)
    np.testing.assert_allclose(scan.xv, want, atol=rtol * np.abs(v).sum())
    np.testing.assert_allclose(scan.sums, 0.0, atol=rtol * len(X))
    np.testing.assert_allclose(scan.squares, len(X), rtol=rtol)


@pytest.mark.parametrize("holder", ["C", "Fortran", "strided", "csr", "csc"])
@pytest.mark.parametrize("far", [False, True])
def test_mean_much_larger_than_deviation(holder: str, far: bool) -> None:
    X = 1e8 + np.random.default_rng(0).standard_normal((3000, 7))
    if far:
        X[0] = 0.0  # the provisional shift is then no use
        X[0, 3] = 1e8
    made = HOLDERS[holder](X)
    _check_standardized(as_design(made), X[:, ::-1] if holder == "strided" else X, 1e-7)


@pytest.mark.parametrize("name", ["float32-C", "int16-Fortran", "pandas-mixed", "polars", "view-some-of-csr"])
def test_standardized_kinds(name: str) -> None:
    kind = KINDS[name]()
    _check_standardized(kind.design, kind.dense, 1e-10)


def test_standardized_costs_one_read() -> None:
    design = as_design(values())
    standardized(design, with_mean=True, with_std=True)
    assert design.reads <= 1.0 + 1.0 / 61 + 1e-12


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_constant_columns(dtype: str) -> None:
    X = values(dtype)
    X[:, 2] = 0.1
    X[:, 3] = 0.0
    X[::2, 4], X[1::2, 4] = 0.3, np.nextafter(X.dtype.type(0.3), X.dtype.type(1.0))
    view, _, scale = standardized(as_design(X), with_mean=True, with_std=True)
    np.testing.assert_array_equal(scale[2:5], 1.0)
    assert np.all(scale[5:] != 1.0)
    scan = view.scan(np.ones(61), stats=True)
    np.testing.assert_allclose(scan.squares[2:5], 0.0, atol=1e-12)
    np.testing.assert_allclose(scan.squares[5:], 61.0)


@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("with_std", [False, True])
def test_standardized_options(with_mean: bool, with_std: bool) -> None:
    X, r = values(), np.random.default_rng(1).random(61)
    r[0] = 0.0
    view, center, scale = standardized(as_design(X), with_mean=with_mean, with_std=with_std, row_weight=r)
    mean = np.average(X, axis=0, weights=r**2)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=r**2))
    np.testing.assert_allclose(center, mean if with_mean else 0.0, rtol=1e-11)
    np.testing.assert_allclose(scale, 1 / deviation if with_std else 1.0, rtol=1e-11)
    np.testing.assert_allclose(view.columns(range(23)), r[:, None] * (X - center) * scale, rtol=1e-10, atol=1e-12)


def test_view_arguments() -> None:
    design = as_design(np.ones((4, 2)))
    for arguments, message in (
        ({"rows": [0, 1, 1]}, "rows holds 1 more than once; use row_weight to count a row twice"),
        ({"rows": []}, "rows is empty; a view needs at least one row"),
        ({"rows": [4]}, "rows holds 4, but the rows are 0 to 3"),
        ({"rows": [True]}, r"rows is a mask of shape \(1,\); it must have shape \(4,\)"),
        ({"rows": slice(2, 2)}, "rows 2 to 2 do not make a slice of 4 rows"),
        ({"scale": [1.0, 0.0]}, r"scale\[1\] is 0; a scale must not be zero"),
        ({"center": [1.0, np.nan]}, r"center\[1\] is nan; it must be finite"),
        (
            {"rows": [0, 2], "row_weight": np.ones(4)},
            r"row_weight has shape \(4,\); it must have shape \(2,\)",
        ),
    ):
        with pytest.raises(InputError, match=message):
            View(design, **arguments)
    with pytest.raises(InputError, match="row_weight is zero everywhere"):
        standardized(design, with_mean=True, with_std=False, row_weight=np.zeros(4))


def test_view_reads_only_the_rows_around() -> None:
    design = as_design(values())
    View(design, rows=np.arange(10, 20)).scan(np.ones(10))
    assert design.reads == pytest.approx(10 / 61)
    outer = View(View(design, center=np.ones(23)), rows=[30, 32])
    outer.scan(np.ones(2))
    assert design.reads == pytest.approx(13 / 61)
