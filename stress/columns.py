"""Random columns and responses, with what makes them awkward."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Happens = Callable[[float, str], bool]


def random_columns(rng: np.random.Generator, n: int, p: int, happens: Happens) -> FloatArray:
    """A matrix with correlated, equal, collinear, constant, zero, sparse, integer or badly scaled columns."""
    X = rng.standard_normal((n, p))

    def some(count: int) -> npt.NDArray[np.int64]:
        return rng.integers(0, p, count)

    if happens(0.3, "correlated"):
        rho = float(rng.choice([0.3, 0.7, 0.9, 0.99, 0.999]))
        if rng.random() < 0.5:
            X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1))
        else:
            for j in range(1, p):
                X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    if happens(0.12, "sparse"):
        X *= rng.random(X.shape) < rng.choice([0.05, 0.3])
    elif happens(0.1, "integer"):
        X = np.round(rng.choice([0.6, 3.0]) * X)
    elif happens(0.04, "binary"):
        X = (X > 0.5).astype(np.float64)
    if happens(0.2, "duplicated"):
        X[:, some(int(rng.integers(1, 2 + p // 4)))] = X[:, some(1)]
    if happens(0.1, "negated"):
        a, b = some(2)
        X[:, a] = -X[:, b]
    if happens(0.12, "multiple"):
        a, b = some(2)
        X[:, a] = X[:, b] * rng.choice([2.0, 0.5, 3.0, 1 + 1e-9, 1 + 1e-6, 1e-3, 1e4])
    if happens(0.08, "nearly equal"):
        a, b = some(2)
        X[:, a] = X[:, b] + 10.0 ** rng.uniform(-12, -4) * rng.standard_normal(n)
    if p >= 3 and happens(0.15, "collinear"):
        a, b, c = rng.permutation(p)[:3]
        X[:, c] = X[:, a] + X[:, b]
    if p >= 6 and happens(0.05, "low rank"):
        rank = int(rng.integers(1, 5))
        X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    if happens(0.1, "zero"):
        X[:, some(int(rng.integers(1, 3)))] = 0.0
    if happens(0.1, "constant"):
        X[:, some(1)] = rng.choice([1.0, 5.0, -1e3])
    if happens(0.06, "shifted"):
        X += 10.0 ** rng.uniform(0, 5, p)
    if happens(0.12, "badly scaled"):
        X *= 10.0 ** rng.uniform(-6, 6, p)
    elif happens(0.1, "scaled"):
        X *= 10.0 ** rng.uniform(-3, 3)
    elif happens(0.02, "far off"):
        X *= 10.0 ** rng.choice([-60, -20, 20, 60])
    return X


def random_response(rng: np.random.Generator, X: FloatArray, happens: Happens) -> FloatArray:
    """A response: zero, in the span, with noise of any size, or noise alone."""
    n, p = X.shape
    if happens(0.03, "y = 0"):
        return np.zeros(n)
    if happens(0.2, "y in the span"):
        chosen = rng.integers(0, p, int(rng.integers(1, min(p, 20) + 1)))
        return np.asarray(X[:, chosen] @ rng.choice([-1.0, 1.0, 2.0, 0.5], chosen.size))
    if happens(0.6, "signal"):
        chosen = rng.integers(0, p, int(rng.integers(1, min(p, 20) + 1)))
        y = X[:, chosen] @ rng.standard_normal(chosen.size)
        size = np.linalg.norm(y) / np.sqrt(n) + 1e-9
        return np.asarray(y + 10 ** rng.uniform(-6, 1) * size * rng.standard_normal(n))
    if happens(0.1, "integer y"):
        return rng.integers(-3, 4, n).astype(np.float64)
    return np.asarray(rng.standard_normal(n) * 10.0 ** rng.choice([0, 0, 0, -3, 3]))
