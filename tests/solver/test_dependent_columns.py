"""Without a ridge columns that depend on each other are decided first; what is left has a relaxation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import parsifal as pf

Change = Callable[[np.ndarray, np.random.Generator], None]


def _copy(X: np.ndarray, _: np.random.Generator) -> None:
    X[:, 5] = -2 * X[:, 1]


def _copies(X: np.ndarray, _: np.random.Generator) -> None:
    X[:, 5] = X[:, 1]
    X[:, 7] = -X[:, 1]


def _near_copy(X: np.ndarray, rng: np.random.Generator) -> None:
    X[:, 5] = X[:, 1] + 1e-13 * rng.standard_normal(X.shape[0])


def _sum(X: np.ndarray, _: np.random.Generator) -> None:
    X[:, 5] = X[:, 1] + X[:, 2] - X[:, 3]


def _zero(X: np.ndarray, _: np.random.Generator) -> None:
    X[:, 5] = 0


def _levels(X: np.ndarray, rng: np.random.Generator) -> None:
    X[:, :4] = np.eye(4)[rng.permutation(np.arange(X.shape[0]) % 4)]
    X[:, :4] -= X[:, :4].mean(axis=0)


def _least(X: np.ndarray, y: np.ndarray, k: int, forced: tuple[int, ...]) -> float:
    """By NumPy's least squares on every support."""
    free = [j for j in range(X.shape[1]) if j not in forced]
    best = np.inf
    for size in range(k - len(forced) + 1):
        for more in combinations(free, size):
            block = X[:, [*forced, *more]]
            w = np.linalg.lstsq(block, y, rcond=1e-10)[0]
            best = min(best, 0.5 * float(np.sum((y - block @ w) ** 2)))
    return best


@pytest.mark.usefixtures("relaxations_alone")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("forced", [(), (1,)], ids=["free", "forced"])
@pytest.mark.parametrize("change", [_copy, _copies, _near_copy, _sum, _zero, _levels])
def test_proven_by_relaxations(change: Change, forced: tuple[int, ...], threads: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((32, 9))
    change(X, rng)
    y = X @ (rng.standard_normal(9) * (np.arange(9) < 5)) + rng.standard_normal(32)
    sol = pf.solve(X, y, k=4, gamma=np.inf, force_in=forced, threads=threads)
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(_least(X, y, 4, forced), rel=1e-9)
    proof = sol.certificate
    assert proof is not None
    assert proof.frame.max() > 0  # a frame without the dependency, and with a diagonal
    assert (proof.frame_diagonal > 0).any()
    assert pf.check(proof, X, y), pf.check(proof, X, y)
    assert pf.check(proof, X, y, exact=True)


@pytest.fixture(scope="module")
def products() -> tuple[np.ndarray, np.ndarray]:
    """Diabetes with all products. Sex has two values: its square repeats it, to the last digits but one."""
    X, y = load_diabetes(return_X_y=True)
    terms = PolynomialFeatures(2, include_bias=False).fit_transform(StandardScaler().fit_transform(X))
    return StandardScaler().fit_transform(terms), y - y.mean()


@pytest.mark.parametrize("asked", [{"k": 7}, {"penalty": 5e4}], ids=["k", "penalty"])
def test_products_of_a_real_table(products: tuple[np.ndarray, np.ndarray], asked: dict[str, Any]) -> None:
    X, y = products
    sol = pf.solve(X, y, gamma=np.inf, **asked)
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(pf.solve(X, y, gamma=1e8, **asked).objective, rel=1e-6)
    assert pf.check(sol.certificate, X, y)


def test_bound_before_the_end() -> None:
    """Where no proof is found in time the bound says something all the same."""
    rng = np.random.default_rng(0)
    two = (rng.random((150, 6)) < 0.4).astype(float)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(np.hstack([two, rng.standard_normal((150, 6))]))
    X -= X.mean(axis=0)
    y = X[:, :12] @ rng.standard_normal(12) + 2 * rng.standard_normal(150)
    sol = pf.solve(X, y - y.mean(), k=9, gamma=np.inf, node_limit=300)
    assert sol.status == "node_limit"
    assert sol.gap < 0.5
