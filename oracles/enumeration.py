"""The optimum by enumeration, straight from the definition, and the random problems to enumerate."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

# Supports at a time: their matrices are made at once.
_BLOCK = 1000


class Asked:
    """What is asked of data, whoever made them."""

    y: np.ndarray
    gamma: float
    k: int | None
    penalty: float | None
    force_in: tuple[int, ...]
    force_out: tuple[int, ...]

    @property
    def p(self) -> int:
        raise NotImplementedError

    @property
    def most(self) -> int:
        return self.p if self.k is None else min(self.k, self.p)

    @property
    def half(self) -> float:
        """1/2 |y|^2: the size of the numbers that every objective is computed from."""
        return 0.5 * float(self.y @ self.y)

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `solve`."""
        return {
            "k": self.k,
            "gamma": self.gamma,
            "penalty": self.penalty,
            "force_in": list(self.force_in) or None,
            "force_out": list(self.force_out) or None,
        }

    @property
    def free(self) -> list[int]:
        """The columns that are not forced."""
        forced = {*self.force_in, *self.force_out}
        return [j for j in range(self.p) if j not in forced]

    def count(self) -> int:
        """How many supports are allowed."""
        room = min(self.most - len(self.force_in), len(self.free))
        return sum(comb(len(self.free), size) for size in range(room + 1))

    def supports(self) -> list[tuple[int, ...]]:
        """Every support that is allowed."""
        room = min(self.most - len(self.force_in), len(self.free))
        return [tuple(sorted(self.force_in + c)) for r in range(room + 1) for c in combinations(self.free, r)]


@dataclass
class Case(Asked):
    """Arguments of `solve` and what they are made of."""

    X: Any
    y: np.ndarray
    gamma: float
    k: int | None = None
    penalty: float | None = None
    force_in: tuple[int, ...] = ()
    force_out: tuple[int, ...] = ()
    traits: list[str] = field(default_factory=list)

    @property
    def dense(self) -> np.ndarray:
        return np.asarray(self.X.toarray() if sp.issparse(self.X) else self.X, dtype=float)

    @property
    def p(self) -> int:
        return int(self.X.shape[1])

    def objective(self, support: tuple[int, ...]) -> float:
        """c(S) + penalty |S|."""
        return float(values(self.dense, self.y, self.gamma, np.array([support], dtype=int))[0]) + self._price(support)

    def _price(self, support: tuple[int, ...]) -> float:
        return (self.penalty or 0.0) * len(support)

    def all_values(self) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """Every allowed support with its objective."""
        supports = self.supports()
        out = np.empty(len(supports))
        sizes = np.array([len(s) for s in supports])
        for size in np.unique(sizes):
            at = np.flatnonzero(sizes == size)
            chosen = np.array([supports[i] for i in at], dtype=int).reshape(at.size, size)
            out[at] = values(self.dense, self.y, self.gamma, chosen) + (self.penalty or 0.0) * size
        return supports, out

    def optimum(self) -> tuple[float, tuple[int, ...]]:
        supports, objective = self.all_values()
        best = int(np.argmin(objective))
        return float(objective[best]), supports[best]

    def __repr__(self) -> str:
        return f"Case(shape={self.X.shape}, {self.options}, {self.traits})"


def values(X: np.ndarray, y: np.ndarray, gamma: float, supports: np.ndarray) -> np.ndarray:
    """c(S) for every row of `supports`: the last diagonal entry of the R factor of [X_S, y; I/sqrt(gamma), 0]."""
    n, p = X.shape
    count, size = supports.shape
    if size == 0:
        return np.full(count, 0.5 * float(y @ y))
    norms = ridge_norms(X, gamma)
    if n > p + 1:
        data = np.linalg.qr(np.column_stack([X / norms, y]), mode="r")
        X, y = data[:, :p] * norms, data[:, p]
    out = np.empty(count)
    for start in range(0, count, _BLOCK):
        stacked = _stacked(X, y, gamma, supports[start : start + _BLOCK], norms)
        out[start : start + _BLOCK] = 0.5 * np.linalg.qr(stacked, mode="r")[:, size, size] ** 2
    return out


def coefficients(X: np.ndarray, y: np.ndarray, gamma: float, support: np.ndarray) -> np.ndarray:
    """The w of the least 1/2 |y - X_S w|^2 + |w|^2 / (2 gamma)."""
    if support.size == 0:
        return np.zeros(0)
    norms = ridge_norms(X, gamma)
    stacked = _stacked(X, y, gamma, support[None, :], norms)[0]
    return np.asarray(np.linalg.lstsq(stacked[:, :-1], stacked[:, -1], rcond=None)[0] / norms[support])


def ridge_norms(X: np.ndarray, gamma: float) -> np.ndarray:
    """The norms of the columns of [X; I/sqrt(gamma)], also where their squares are no numbers."""
    ridge = 1 / np.sqrt(gamma)
    largest = np.maximum(np.abs(X).max(axis=0), ridge)
    return np.asarray(largest * np.sqrt(((X / largest) ** 2).sum(axis=0) + (ridge / largest) ** 2))


def _stacked(X: np.ndarray, y: np.ndarray, gamma: float, supports: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """[X_S, y; I/sqrt(gamma), 0] for every support, with columns scaled to norm one."""
    n, size = X.shape[0], supports.shape[1]
    diagonal = np.arange(size)
    stacked = np.zeros((len(supports), n + size, size + 1))
    stacked[:, :n, :size] = np.transpose(X[:, supports], (1, 0, 2)) / norms[supports][:, None, :]
    stacked[:, :n, size] = y
    stacked[:, n + diagonal, diagonal] = 1 / (np.sqrt(gamma) * norms[supports])
    return stacked


def random_case(rng: np.random.Generator, *, least: int = 1, most: int = 10, largest_k: int | None = None) -> Case:
    """A problem of random shape, form and degeneracy."""
    p = int(rng.integers(least, most + 1))
    n = int(rng.choice([1, 2, 3, p, rng.integers(1, 61), rng.integers(1, 61), rng.integers(p, 61 + p)]))
    traits: list[str] = []

    def happens(chance: float, trait: str) -> bool:
        if rng.random() < chance:
            traits.append(trait)
            return True
        return False

    X = _columns(rng, n, p, happens)
    dense = np.asarray(X, dtype=float)
    y = _response(rng, dense, happens)
    gamma = float(rng.choice([1e-3, 1.0, 1e5, 1e6])) if rng.random() < 0.2 else float(10 ** rng.uniform(-3, 6))
    k: int | None = int(rng.integers(1, (largest_k or p + 2) + 1))
    penalty = None
    form = rng.choice(["k", "k", "penalty", "both"])
    if form != "k":
        penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-6, 0.3)) or 0.1
    if form == "penalty" and largest_k is None:
        k = None
    force_in: tuple[int, ...] = ()
    force_out: tuple[int, ...] = ()
    if happens(0.25, "forced"):
        order = [int(j) for j in rng.permutation(p)]
        inside = min(int(rng.integers(0, 4)), p if k is None else min(k, p))
        force_in = tuple(order[:inside])
        force_out = tuple(order[inside : inside + int(rng.integers(0, p - inside + 1))])
    if "sparse" in traits and rng.random() < 0.5:
        X = sp.csc_matrix(X)
    return Case(X, y, gamma, k, penalty, force_in, force_out, traits)


def _columns(rng: np.random.Generator, n: int, p: int, happens: Any) -> np.ndarray:
    X = rng.standard_normal((n, p))

    def some(count: int) -> np.ndarray:
        return rng.integers(0, p, count)

    if happens(0.3, "correlated"):
        rho = rng.choice([0.3, 0.7, 0.9, 0.99])
        if rng.random() < 0.5:
            X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1))
        else:
            for j in range(1, p):
                X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    if happens(0.2, "duplicated"):
        source = some(1)
        X[:, some(int(rng.integers(1, 4)))] = X[:, source]
    if happens(0.15, "negated"):
        a, b = some(2)
        X[:, a] = -X[:, b]
    if happens(0.15, "multiple"):
        a, b = some(2)
        X[:, a] = X[:, b] * rng.choice([2.0, 0.5, 3.0, 1 + 1e-9, 1 + 1e-6, 1e-3, 1e4])
    if p >= 3 and happens(0.15, "collinear"):
        a, b, c = rng.permutation(p)[:3]
        X[:, c] = X[:, a] + X[:, b]
    if happens(0.1, "zero"):
        X[:, some(1)] = 0
    if happens(0.1, "constant"):
        X[:, some(1)] = rng.choice([1.0, 5.0, -1e3])
    if happens(0.12, "badly scaled"):
        X *= 10.0 ** rng.uniform(-6, 6, p)
    elif happens(0.1, "scaled"):
        X *= 10.0 ** rng.uniform(-3, 3)
    if happens(0.08, "integer"):
        X = np.round(3 * X).astype(np.int64)
    elif happens(0.08, "float32"):
        X = X.astype(np.float32)
    elif happens(0.08, "sparse"):
        X = X * (rng.random(X.shape) < 0.3)
    return X


def _response(rng: np.random.Generator, X: np.ndarray, happens: Any) -> np.ndarray:
    n, p = X.shape
    if happens(0.04, "y = 0"):
        return np.zeros(n)
    if happens(0.25, "y in the span"):
        chosen = rng.integers(0, p, int(rng.integers(1, 4)))
        return np.asarray(X[:, chosen] @ rng.choice([-1.0, 1.0, 2.0, 0.5], chosen.size))
    if happens(0.5, "signal"):
        chosen = rng.integers(0, p, int(rng.integers(1, 6)))
        y = X[:, chosen] @ rng.standard_normal(chosen.size)
        size = np.linalg.norm(y) / np.sqrt(n) + 1e-9
        return np.asarray(y + 10 ** rng.uniform(-6, 1) * size * rng.standard_normal(n))
    return np.asarray(rng.standard_normal(n) * 10.0 ** rng.choice([0, 0, 0, -3, 3]))
