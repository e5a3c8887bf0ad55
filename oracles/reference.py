"""What the estimators should find, in plain NumPy: data copied, weighted, centred and scaled; all supports tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np


@dataclass
class Reference:
    """The data as an estimator's documentation says that the solver sees them."""

    Z: np.ndarray
    r: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    y_mean: float
    mass: float
    standardize: bool

    @property
    def auto_gamma(self) -> float:
        n, p = self.mass, self.Z.shape[1]
        squares = n if self.standardize else np.mean((self.Z**2).sum(axis=0))
        return float(max(1 / np.sqrt(n), min(10.0, (n - p) / p)) * n / squares)

    def fit(self, support: Any, gamma: float) -> tuple[np.ndarray, float]:
        """Ridge coefficients on a support, and c(S)."""
        A = self.Z[:, list(support)]
        big = np.vstack([A, np.eye(A.shape[1]) / np.sqrt(gamma)])
        rhs = np.concatenate([self.r, np.zeros(A.shape[1])])
        w = np.linalg.lstsq(big, rhs, rcond=None)[0]
        return w, 0.5 * float(((rhs - big @ w) ** 2).sum())

    def supports(self, k: int, force_in: Any = (), force_out: Any = (), exactly: bool = False) -> list[tuple[int, ...]]:
        free = [j for j in range(self.Z.shape[1]) if j not in force_in and j not in force_out]
        room = k - len(force_in)
        sizes = [room] if exactly else range(room + 1)
        return [tuple(sorted([*force_in, *c])) for m in sizes for c in combinations(free, m)]

    def ranked(self, gamma: float, supports: list[tuple[int, ...]], penalty: float = 0.0) -> list[tuple[float, Any]]:
        """Objectives with their supports, best first."""
        G, b, half = self.Z.T @ self.Z, self.Z.T @ self.r, 0.5 * float(self.r @ self.r)
        answer = []
        for s in supports:
            i = list(s)
            u = np.linalg.solve(G[np.ix_(i, i)] + np.eye(len(i)) / gamma, b[i]) if i else np.zeros(0)
            answer.append((half - 0.5 * float(b[i] @ u) + penalty * len(i), s))
        return sorted(answer)

    def best(self, k: int, gamma: float, penalty: float = 0.0, **forced: Any) -> tuple[tuple[int, ...], float]:
        value, support = self.ranked(gamma, self.supports(k, **forced), penalty)[0]
        return support, value

    def unscaled(self, support: Any, gamma: float) -> tuple[np.ndarray, float]:
        """coef_ and intercept_ of the fit on a support."""
        coef = np.zeros(self.Z.shape[1])
        coef[list(support)] = self.fit(support, gamma)[0] / self.scale[list(support)]
        return coef, self.y_mean - float(self.center @ coef)


def reference(X: Any, y: Any, weight: Any = None, *, fit_intercept: bool = True, standardize: bool = True) -> Reference:
    """Weight, centre and scale copies of the data."""
    X, y = np.array(X, dtype=float), np.array(y, dtype=float)
    m = np.ones(len(y)) if weight is None else np.array(weight, dtype=float)
    mass = float(m.sum())
    center = m @ X / mass if fit_intercept else np.zeros(X.shape[1])
    y_mean = float(m @ y / mass) if fit_intercept else 0.0
    deviation = np.sqrt(m @ (X - m @ X / mass) ** 2 / mass)
    scale = np.where(deviation > 0, deviation, 1.0) if standardize else np.ones(X.shape[1])
    root = np.sqrt(m)
    return Reference(
        root[:, None] * (X - center) / scale, root * (y - y_mean), center, scale, y_mean, mass, standardize
    )


def make_data(seed: int = 0, n: int = 40, p: int = 7, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns with different scales and offsets, and a response on three of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    y = 2.0 * X[:, 1 % p] - 1.5 * X[:, 3 % p] + 0.8 * X[:, 4 % p] + noise * rng.standard_normal(n) + 5.0
    return X * np.logspace(-1, 1, p) + np.linspace(-3, 3, p), y
