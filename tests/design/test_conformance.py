"""What every kind of design must do, checked against NumPy on the plain array."""

from __future__ import annotations

import numpy as np
import pytest

from parsifal.design import Design, as_design
from parsifal.design.read import Read
from parsifal.errors import InputError

from .kinds import CLASSES, KINDS, Kind


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]()


def test_every_class_of_design_is_there() -> None:
    def classes(of: type[Design]) -> set[type[Design]]:
        # Other tests in this process may have made subclasses of their own.
        ours = [kind for kind in of.__subclasses__() if kind.__module__.startswith("parsifal")]
        return set().union(*map(classes, ours)) or {of}

    assert {type(KINDS[name]().design) for name in CLASSES} == classes(Design)


def _vector(n: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n)


def _close(got: np.ndarray, terms: np.ndarray, tol: float) -> None:
    """Compare column sums; the scale of the rounding is the sum of the terms' sizes."""
    exact = terms.sum(axis=0, dtype=np.longdouble)
    size = np.abs(terms).sum(axis=0) + 1.0
    assert got.dtype == np.float64
    assert got.shape == exact.shape
    assert np.max(np.abs(got - exact) / size) <= tol


def test_shape_and_scan(kind: Kind) -> None:
    X, design = kind.dense, kind.design
    v = _vector(len(X))
    assert isinstance(design, Design)
    assert as_design(design) is design
    assert design.shape == X.shape
    scan = design.scan(v, stats=True)
    _close(scan.xv, v[:, None] * X, kind.tol)
    _close(scan.sums, X, kind.tol)
    _close(scan.squares, X * X, kind.tol)
    plain = design.scan(v.tolist())
    assert plain.sums is None
    assert plain.squares is None
    _close(plain.xv, v[:, None] * X, kind.tol)


def test_read_with_shift_and_weights(kind: Kind) -> None:
    X, design = kind.dense, kind.design
    n, p = X.shape
    v, a, b, shift = _vector(n), _vector(n, 1), _vector(n, 2) ** 2, _vector(p, 3)
    d = X - shift
    scan = design.read(Read(v=v, shift=shift, sum_weight=a, square_weight=b, stats=True))
    _close(scan.xv, v[:, None] * d, 10 * kind.tol)
    _close(scan.sums, a[:, None] * d, 10 * kind.tol)
    _close(scan.squares, b[:, None] * d**2, 10 * kind.tol)
    only_b = design.read(Read(v=v, square_weight=b, stats=True))
    _close(only_b.sums, X, kind.tol)
    _close(only_b.squares, b[:, None] * X**2, kind.tol)


def test_columns_and_matvec(kind: Kind) -> None:
    X, design = kind.dense, kind.design
    n, p = X.shape
    idx = np.array([p - 1, 0, p // 2, 0])
    got = design.columns(idx)
    assert got.dtype == np.float64
    assert got.flags.f_contiguous
    assert got.flags.writeable
    np.testing.assert_allclose(got, X[:, idx], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(design.columns(range(p)), X, rtol=1e-12, atol=1e-12)
    coef = _vector(4)
    np.testing.assert_allclose(design.matvec(idx, coef), X[:, idx] @ coef, rtol=1e-11, atol=1e-11)
    assert design.columns([]).shape == (n, 0)
    assert np.array_equal(design.matvec([], []), np.zeros(n))


def test_row_slices(kind: Kind) -> None:
    X, design = kind.dense, kind.design
    n = len(X)
    start, stop = n // 3, max(n // 3 + 1, n - n // 4)
    part = design.rows(start, stop)
    v = _vector(stop - start)
    assert part.shape == (stop - start, X.shape[1])
    assert part.feature_names == design.feature_names
    _close(part.scan(v).xv, v[:, None] * X[start:stop], kind.tol)
    np.testing.assert_allclose(part.columns([0]), X[start:stop, :1], rtol=1e-12, atol=1e-12)
    for wrong in ((0, 0), (2, 1), (0, n + 1), (-1, n)):
        with pytest.raises(InputError, match="do not make a slice"):
            design.rows(*wrong)


def test_reads_are_counted(kind: Kind) -> None:
    design = kind.design
    n = design.shape[0]
    assert design.reads == 0.0
    design.scan(np.ones(n))
    assert design.reads == pytest.approx(1.0)
    half = max(1, n // 2)
    part = design.rows(0, half)
    part.scan(np.ones(half))
    part.scan(np.ones(half))
    assert part.reads == pytest.approx(2.0)
    assert design.reads == pytest.approx(1.0 + 2.0 * half / n)
    assert design.nbytes > 0


@pytest.mark.parametrize("name", CLASSES)
def test_bad_arguments(name: str) -> None:
    kind = KINDS[name]()
    n, p = kind.design.shape
    with pytest.raises(InputError, match=rf"v has shape \({n + 1},\); it must have shape \({n},\)"):
        kind.design.scan(np.ones(n + 1))
    with pytest.raises(InputError, match=r"v\[0\] is nan; it must be finite"):
        kind.design.scan(np.full(n, np.nan))
    with pytest.raises(InputError, match=rf"idx holds {p}, but the columns are 0 to {p - 1}"):
        kind.design.columns([0, p])
    with pytest.raises(InputError, match="idx holds -1"):
        kind.design.columns([-1])
    with pytest.raises(InputError, match="idx has dtype float64"):
        kind.design.columns([0.0])
    with pytest.raises(InputError, match=r"coef has shape \(2,\)"):
        kind.design.matvec([0], [1.0, 2.0])
