"""Proofs by exhausted records, made by hand, and small problems of every kind to make them for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from oracles.exact import ExactValues, Support
from oracles.rational import objective_of
from parsifal.proof.certificate import INDEPENDENCE, Certificate, fingerprint
from proof.helpers import ints


@dataclass
class Exhaustible:
    """A problem and the exact value of every support that counts."""

    X: np.ndarray
    y: np.ndarray
    k: int
    gamma: float
    penalty: float = 0.0
    forced_in: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        exact, forced = ExactValues(self.X, self.y), frozenset(self.forced_in)
        price = Fraction(self.penalty)
        self.exact = exact
        self.values: dict[Support, Fraction] = {
            support: value + price * len(support)
            for support, value in exact.values(self.gamma).items()
            if len(support) <= self.k
            and forced <= set(support)
            and (self.independence == 0 or exact.independent(support, self.independence, forced))
        }
        self.optimum = min(self.values.values())
        self.support = min(self.values, key=lambda support: (self.values[support], len(support)))

    @property
    def independence(self) -> float:
        return INDEPENDENCE if math.isinf(self.gamma) else 0.0

    def certificate(self, lower_bound: float | None = None, **changes: Any) -> Certificate:
        """An empty record and an exhausted one below it, which stands for all supports."""
        support = ints(*self.support)
        coef = np.array([float(w) for w in self.exact.coef(self.support, self.gamma)])
        ridge = 1e300 if math.isinf(self.gamma) else self.gamma
        objective = float(objective_of(self.X, self.y, support, coef, ridge, self.penalty))
        values: dict[str, Any] = {
            "shape": self.X.shape,
            "k": self.k,
            "penalty": self.penalty,
            "gamma": self.gamma,
            "forced_in": ints(*self.forced_in),
            "forced_out": ints(),
            "support": support,
            "coef": coef,
            "objective": objective,
            "lower_bound": lower_bound if lower_bound is not None else float(self.optimum) * (1 - 9e-8),
            "complete": True,
            "fingerprint": fingerprint(self.X.T @ self.y),
            "independence": self.independence,
            "parent": ints(-1, 0),
            "column": ints(-1, -1),
            "side": ints(0, 0),
            "frame": ints(-1, -1),
            "kind": ints(0, 1),
            "coef_offset": ints(0, 0, 0),
            "coef_index": ints(),
            "coef_value": np.zeros(0),
            "fixed_offset": ints(0, 0, 0),
            "fixed_column": ints(),
            "frame_offset": ints(0),
            "frame_column": ints(),
            "frame_diagonal": np.zeros(0),
            "twin_later": ints(),
            "twin_earlier": ints(),
        }
        return Certificate(**{**values, **changes})


SHAPES = (
    "plain",
    "twins",
    "sum",
    "nearly",
    "conditioned",
    "units",
    "whole numbers",
    "perfect",
    "nearly perfect",
    "level",
)


@cache
def exhaustible(shape: str, seed: int, gamma: float, *, priced: bool = False, forced: bool = False) -> Exhaustible:
    """A problem of up to eight columns, kept with its exact values: many tests ask for the same ones."""
    rng = np.random.default_rng([SHAPES.index(shape), seed])
    p, n, k = int(rng.integers(4, 9)), int(rng.integers(3, 13)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, p))
    if shape == "twins":
        X[:, 1] = X[:, 0]
    elif shape == "sum":
        X[:, 2] = X[:, 0] + X[:, 1]
    elif shape == "nearly":
        X[:, 1] = X[:, 0] + 10.0 ** -rng.uniform(3, 15) * rng.standard_normal(n)
    elif shape == "conditioned":
        left, _, right = np.linalg.svd(X, full_matrices=False)
        X = left @ np.diag(np.logspace(0, -rng.uniform(1, 12), left.shape[1])) @ right
    elif shape == "units":
        X *= 10.0 ** rng.uniform(-4, 4, p)
    elif shape == "whole numbers":
        X = rng.integers(-2, 3, (n, p)).astype(float)
    y = rng.standard_normal(n)
    if "perfect" in shape:
        y = X[:, :2] @ rng.standard_normal(2)
    if shape == "nearly perfect":
        y = y + 10.0 ** -rng.uniform(2, 9) * rng.standard_normal(n)
    if shape == "level":
        X[:, 0], y = 1.0, y + 1e5
    penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-4, -0.5)) if priced else 0.0
    return Exhaustible(X, y, k, gamma, penalty, (int(rng.integers(p)),) if forced else ())
