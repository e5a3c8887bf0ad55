"""Columns that are equal but for their last digits, and a weak ridge: the data tell what inner products do not."""

from __future__ import annotations

import numpy as np
import pytest

import parsifal as pf
from parsifal.solver import funnel


@pytest.mark.parametrize(("seed", "gamma"), [(10, 1e6), (30, 1e6), (30, 1e7), (32, 1e7)])
def test_the_first_search_is_enough(seed: int, gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a column of two values and its square: sets with both are worth what one is, and no search is needed to
    prove that again."""
    for name in ("_finer", "_polished"):
        monkeypatch.setattr(funnel._Solve, name, lambda *_: None)
    monkeypatch.setattr(funnel, "_provable", lambda *_: None)
    rng = np.random.default_rng(seed)
    n, p = 60, 14
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.5 * rng.standard_normal((p, p)))
    sides = 2.0 * (rng.random(n) < 0.5) - 1
    X[:, 1], X[:, 7] = sides, -sides * (1 + 1e-15 * rng.standard_normal(n)) + 1e-15
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean(X**2, axis=0))
    y = X[:, :4].sum(axis=1) + 3 * rng.standard_normal(n)
    assert 1e-16 < np.abs(X[:, 1] + X[:, 7]).max() < 1e-14
    found = pf.solve(X, y, k=5, gamma=gamma)
    assert found.status == "optimal"
    assert pf.check(found.certificate, X, y)
