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


@pytest.mark.parametrize("penalty", [0.0, 0.2])
def test_forced_columns_that_nearly_repeat_each_other_are_not_called_optimal(penalty: float) -> None:
    """Without a ridge their difference, 1e-14 of them, may fit y with coefficients of 1e15: what is claimed of such
    sets is what the checker proves. One of the two alone is an ordinary problem."""
    rng = np.random.default_rng(170)
    X, y = rng.standard_normal((15, 5)), rng.standard_normal(15)
    X[:, 2] = X[:, 0] * (1 + 4e-15 * rng.standard_normal(15))
    both = pf.solve(X, y, k=5, gamma=np.inf, penalty=penalty, force_in=[0, 2])
    assert both.status == "precision"
    assert pf.check(both.certificate, X, y)
    assert pf.check(both.certificate, X, y, exact=True)
    one = pf.solve(X, y, k=5, gamma=np.inf, penalty=penalty, force_in=[0])
    assert one.status == "optimal"
    assert pf.check(one.certificate, X, y)
