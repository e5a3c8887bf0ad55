"""What the data say of one set of columns (`_core.least_value`) against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import parsifal._core as _core
from oracles.rational import dot, exact, solve


def _least(X: np.ndarray, y: np.ndarray, gamma: float) -> Fraction:
    """The objective of the best coefficients, exactly."""
    columns, target = [exact(x) for x in X.T], exact(y)
    ridge = Fraction(0) if np.isinf(gamma) else 1 / Fraction(gamma)
    gram = [[dot(a, b) + (ridge if a is b else 0) for b in columns] for a in columns]
    products = [dot(a, target) for a in columns]
    return (dot(target, target) - dot(products, solve(gram, products))) / 2


@pytest.mark.parametrize("gamma", [np.inf, 1e6, 0.3])
@pytest.mark.parametrize("near", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("noise", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_never_above_the_objective_and_seldom_far_below(seed: int, noise: float, near: float, gamma: float) -> None:
    rng = np.random.default_rng([7, seed])
    X = near * rng.standard_normal((12, 4)) + rng.standard_normal((12, 1))
    X = np.asfortranarray(X * 10.0 ** rng.integers(-3, 4, 4))
    y = X @ rng.standard_normal(4) + noise * np.abs(X).max() * rng.standard_normal(12)
    found, true = _core.least_value(X, y, gamma), _least(X, y, gamma)
    assert Fraction(found) <= true
    assert found >= float(true) * (1 - 1e-7) - 1e-12 * float(y @ y) / near


def test_nothing_is_known_of_columns_that_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(10), rng.standard_normal(10)
    assert _core.least_value(np.asfortranarray(np.stack([x, 3 * x], axis=1)), y, np.inf) == 0.0
    perfect = np.asfortranarray(x[:, None])
    assert _core.least_value(perfect, 2 * x, np.inf) == 0.0
