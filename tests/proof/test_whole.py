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


def factor(G: np.ndarray) -> np.ndarray:
    """The inverse of a Cholesky factor, or of something that has one."""
    try:
        return np.linalg.inv(np.linalg.cholesky(G))
    except np.linalg.LinAlgError:
        return np.linalg.inv(np.linalg.cholesky(G + 1e-9 * np.eye(len(G))))


@pytest.mark.parametrize("near", [0.0, 3.0, 1e3, 1e6])
def test_not_below_what_they_take(near: float) -> None:
    close = 0
    for seed in range(40):
        b, G = problem(seed, near)
        bound, exact = float(most_taken(b[None], G[None], factor(G)[None])[0]), solved(G, b)
        assert Fraction(bound) >= exact if np.isfinite(bound) else near >= 1e6
        close += bool(np.isfinite(bound) and bound <= float(exact) * (1 + 1e-6))
    assert close > 20 or near == 1e6


def test_not_below_whatever_is_said_to_be_the_factor() -> None:
    rng = np.random.default_rng(8)
    for seed in range(40):
        b, G = problem(seed, 1.0)
        for size in (1e-12, 1e-3, 0.1, 3.0):
            W = factor(G) + size * rng.standard_normal(G.shape)
            assert Fraction(min(float(most_taken(b[None], G[None], W[None])[0]), 1e300)) >= solved(G, b)


@pytest.mark.parametrize("near", [0.0, 3.0])
def test_no_set_without_the_leads_takes_more(near: float) -> None:
    fewer = 0
    problems = [problem(seed, near) for seed in range(60)]
    # Many of one size at a time.
    for m in range(2, 8):
        some = [(b, G) for b, G in problems if b.size == m]
        bs, Gs = np.array([b for b, _ in some]), np.array([G for _, G in some])
        for share in (0.1, 0.5, 0.9):
            most = np.array([share * float(solved(G, b)) for b, G in some])
            orders, counts, known = whole_leads(bs, Gs, most)
            assert known.all()
            for (b, G), limit, order, count in zip(some, most, orders, counts):
                assert sorted(order) == list(range(m))
                fewer += count < m
                for size in range(1, m - count + 1):
                    for rest in combinations(order[count:], size):
                        assert solved(G[np.ix_(rest, rest)], b[list(rest)]) <= Fraction(float(limit))
    assert fewer > 40


def test_not_known() -> None:
    one, two = np.ones((1, 2)), np.array([1.0])
    for G in ([[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]):
        assert most_taken(one, np.array([G]), np.eye(2)[None])[0] == np.inf
    assert most_taken(one, np.ones((1, 2, 2)), np.array([[[1.0, 0.0], [-1e9, 1e9]]]))[0] == np.inf
    assert not whole_leads(one, np.array([[[1.0, 2.0], [2.0, 1.0]]]), two)[2][0]


def test_one_without_a_factor_does_not_spoil_the_others() -> None:
    b, G = problem(4, 0.0)
    m = b.size
    singular, indefinite = np.ones((m, m)), np.eye(m) - 2.0
    most = 0.5 * float(solved(G, b))
    for spoiled in (singular, indefinite):
        orders, counts, known = whole_leads(np.array([b, b, b]), np.array([G, spoiled, G]), np.full(3, most))
        alone = whole_leads(b[None], G[None], np.array([most]))
        assert known.tolist()[0] == known.tolist()[2] == alone[2][0]
        assert counts[0] == counts[2] == alone[1][0]
        assert orders[0].tolist() == orders[2].tolist() == alone[0][0].tolist()
        assert not known[1]
