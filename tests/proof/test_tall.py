"""Columns by blocks of rows against the columns themselves, and a check that holds few of many rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import parsifal as pf
from parsifal.proof import records, tall
from parsifal.proof.columns import Columns

rng = np.random.default_rng(0)
X = rng.standard_normal((50, 9)) * 10.0 ** rng.integers(-3, 4, 9)


class Bare:
    """What `check` takes for a design without being one: no rows."""

    shape = X.shape

    def columns(self, idx: Any) -> np.ndarray:
        return X[:, idx]

    def scan(self, v: np.ndarray, *, stats: bool = False) -> Any:
        return pf.as_design(X).scan(v, stats=stats)


@pytest.mark.parametrize(
    "data",
    [X, np.asfortranarray(X), X.astype(np.float32), sp.csr_matrix(X), pf.as_design(X), Bare()],
    ids=["rows", "columns", "float32", "sparse", "design", "bare"],
)
def test_the_same_by_blocks(monkeypatch: pytest.MonkeyPatch, data: Any) -> None:
    columns, index = Columns(data), np.array([1, 4, 5, 8])
    held = tall.Tall(columns, index)
    monkeypatch.setattr(tall, "_HELD", 0)
    monkeypatch.setattr(tall, "_BLOCK", 30)
    blocks = tall.Tall(columns, index)
    assert blocks.entries == (0 if columns.has_rows else 200)
    w, v = rng.standard_normal(4), rng.standard_normal(50)
    for one, other in ((held, blocks), (held.take(np.array([0, 2, 3])), blocks.take(np.array([0, 2, 3])))):
        np.testing.assert_allclose(other.norms, one.norms, rtol=1e-15)
        np.testing.assert_array_equal(other.sizes, one.sizes)
        for factor in (1.0, 1e6):  # the latter cancels more than a double's digits should
            some = factor * w[: other.shape[1]]
            np.testing.assert_allclose(other.residual(v, some), one.residual(v, some), rtol=1e-11)
        np.testing.assert_allclose(other.transpose_times(v), one.transpose_times(v), rtol=1e-11)
        np.testing.assert_allclose(other.gram(), one.gram(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("gamma", [0.02, 3.0])
def test_a_check_by_blocks_accepts_and_refuses_the_same(monkeypatch: pytest.MonkeyPatch, gamma: float) -> None:
    Z = rng.standard_normal((80, 14)) + rng.standard_normal((80, 1))
    y = Z[:, :4].sum(axis=1) + 3 * rng.standard_normal(80)
    model = pf.SparseRegressor(k=4, gamma=gamma).fit(Z, y)
    assert model.certificate_ is not None
    assert model.certificate_.frame.max() >= 0
    monkeypatch.setattr(tall, "_HELD", 0)
    monkeypatch.setattr(tall, "_BLOCK", 100)
    monkeypatch.setattr(records, "_MOST_HELD", 0)
    assert model.check(Z, y)
    other = Z.copy()
    other[70, 2] += 0.5
    assert not model.check(other, y)


def test_terms_that_cancel_are_added_with_twice_the_digits() -> None:
    Z = rng.standard_normal((30, 3))
    Z[:, 2] = Z[:, 0] + Z[:, 1]
    y, w = rng.standard_normal(30), 1e9 * np.array([1.0, 1.0, -1.0]) + rng.standard_normal(3)
    columns = Columns(Z)  # in units of its own
    found = tall.Tall(columns, np.arange(3)).residual(y, np.ldexp(w, -columns.exponent))
    exact = [Fraction(a) - sum(Fraction(x) * Fraction(c) for x, c in zip(row, w)) for a, row in zip(y, Z)]
    np.testing.assert_allclose(found, [float(value) for value in exact], rtol=1e-15)
    assert np.abs(y - Z @ w - found).max() > 1e-9
