"""What all columns together take off, against exact arithmetic, without a tolerance."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from parsifal.proof.whole import most_taken, whole_leads


def solved(G: np.ndarray, b: np.ndarray) -> Fraction:
    """b'G^-1 b, exactly, for a positive definite G."""
    rows = [[Fraction(float(g)) for g in row] + [Fraction(float(v))] for row, v in zip(G, b)]
    total = Fraction(0)
    for i, row in enumerate(rows):
        total += row[-1] * row[-1] / row[i]
        for later in rows[i + 1 :]:
            step = later[i] / row[i]
            for j in range(i, len(row)):
                later[j] -= step * row[j]
    return total


def problem(seed: int, near: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit columns, all of them near one direction, and their products with something."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    X = rng.standard_normal((12, m)) + near * rng.standard_normal((12, 1))
    X /= np.linalg.norm(X, axis=0)
    G = X.T @ X
    np.fill_diagonal(G, 1.0)
    return X.T @ rng.standard_normal(12), G


@pytest.mark.parametrize("near", [0.0, 3.0, 1e3, 1e6])
def test_not_below_what_they_take(near: float) -> None:
    close = 0
    for seed in range(40):
        b, G = problem(seed, near)
        bound, exact = most_taken(b, G), solved(G, b)
        assert Fraction(bound) >= exact if np.isfinite(bound) else near >= 1e6
        close += bool(np.isfinite(bound) and bound <= float(exact) * (1 + 1e-6))
    assert close > 20 or near == 1e6


@pytest.mark.parametrize("near", [0.0, 3.0])
def test_no_set_without_the_leads_takes_more(near: float) -> None:
    fewer = 0
    for seed in range(40):
        b, G = problem(seed, near)
        for share in (0.1, 0.5, 0.9):
            most = share * float(solved(G, b))
            found = whole_leads(b, G, most)
            assert found is not None
            order, count = found
            assert sorted(order) == list(range(b.size))
            fewer += count < b.size
            for size in range(1, b.size - count + 1):
                for some in combinations(order[count:], size):
                    assert solved(G[np.ix_(some, some)], b[list(some)]) <= Fraction(most)
    assert fewer > 40


def test_not_known() -> None:
    assert most_taken(np.ones(2), np.ones((2, 2))) == np.inf
    assert most_taken(np.ones(2), np.array([[1.0, 0.0], [0.0, -1.0]])) == np.inf
    assert whole_leads(np.ones(2), np.array([[1.0, 2.0], [2.0, 1.0]]), 1.0) is None
