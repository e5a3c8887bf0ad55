"""Arrays whose entries do not lie where their type wants them: bytes of a message, a field of a record.

A vectorised loop may take it for granted that they do, and end the process; which loops do so is the compiler's choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import parsifal as pf
import parsifal._core as _core
from parsifal.arrays import aligned
from parsifal.design.dask import scan_block, take_columns
from parsifal.design.read import Read
from parsifal.design.source import loaded_array

RNG = np.random.default_rng(0)
X = RNG.standard_normal((201, 303))
Y = X[:, :5].sum(axis=1) + RNG.standard_normal(201)


def askew(values: Any) -> np.ndarray:
    """The same array, one byte further on than it should be."""
    values = np.asarray(values)
    bytes_ = np.empty(values.nbytes + 1, dtype=np.uint8)
    out = bytes_[1:].view(values.dtype).reshape(values.shape)
    out[...] = values
    assert not out.flags.aligned
    return out


def test_a_solve() -> None:
    expected = pf.solve(X, Y, 5, 0.1, threads=1)
    for A, b in ((X, askew(Y)), (askew(X), Y), (askew(X), askew(Y))):
        found = pf.solve(A, b, 5, 0.1, threads=1, warm_start=askew(np.arange(5)))
        assert found.support.tolist() == expected.support.tolist()
        assert found.status == "optimal"
        assert pf.check(found.certificate, A, b)


def test_an_estimator() -> None:
    model = pf.SparseRegressor(k=5).fit(askew(X), askew(Y), sample_weight=askew(np.linspace(1, 2, 201)))
    expected = pf.SparseRegressor(k=5).fit(X, Y, sample_weight=np.linspace(1, 2, 201))
    assert np.allclose(model.coef_, expected.coef_)
    assert np.allclose(model.predict(askew(X)), expected.predict(X))


def test_groups() -> None:
    labels = np.arange(303) // 3
    found = pf.solve_groups(askew(X), askew(Y), askew(labels), 2)
    assert found.support.tolist() == pf.solve_groups(X, Y, labels, 2).support.tolist()


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_sparse_matrix(form: str, index: Any) -> None:
    S = sp.random(201, 50, 0.2, format=form, random_state=0)
    expected = S.T @ Y
    S.data, S.indices, S.indptr = askew(S.data), askew(S.indices.astype(index)), askew(S.indptr.astype(index))
    design = pf.as_design(S)
    assert np.allclose(design.scan(askew(Y)).xv, expected)
    assert np.allclose(design.columns(askew(np.arange(50))), S.toarray())


def test_a_block_of_a_worker() -> None:
    """Dask hands arrays over as parts of a message."""
    weight = RNG.random(201)
    shift = RNG.random(303)
    request = Read(v=Y, sum_weight=weight, square_weight=weight, stats=True)
    crooked = Read(v=askew(Y), sum_weight=askew(weight), square_weight=askew(weight), stats=True)
    plain = scan_block(X, request, shift, (0, 0))
    found = scan_block(askew(X), crooked, askew(shift), (0, 0))
    for field in ("xv", "sums", "squares"):
        assert np.allclose(getattr(found, field), getattr(plain, field))
    assert np.array_equal(take_columns(askew(X), askew(np.arange(300))), X[:, :300])


def test_the_core_refuses_instead_of_ending_the_process() -> None:
    matrix = loaded_array(X).matrix
    out = np.empty((201, 300), order="F")
    with pytest.raises(ValueError, match="not aligned"):
        matrix.gather(askew(np.arange(300)), out, 1)
    with pytest.raises(ValueError, match="not aligned"):
        matrix.scan(askew(Y), None, None, None, np.empty(303), None, None, 1)
    with pytest.raises(ValueError, match="not aligned"):
        matrix.scan(Y, None, None, None, askew(np.empty(303)), None, None, 1)
    with pytest.raises(ValueError, match="not aligned"):
        _core.SparseMatrix(data=1, indices=8, indptr=8, is_csc=True, is_f32=False, is_i64=True, n=2, p=2, lo=0, hi=2)


def test_what_is_aligned_is_not_copied() -> None:
    assert aligned(Y) is Y
    assert aligned(Y, np.float64) is Y
    copy = aligned(askew(Y))
    assert copy.flags.aligned
    assert np.array_equal(copy, Y)
