"""A small problem from a seed and a number: the same on every run, and small enough for the referee."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from forge.referee import FloatArray, Question, Referee
from parsifal.proof.certificate import INDEPENDENCE

LARGEST_P, LARGEST_N = 8, 20
# Every so many problems are forged for; the solver, which is quicker, gets all of them.
FORGED_EVERY = 4
# Units of X and y, and a gamma for them; None is one that fits the columns.
UNITS: tuple[tuple[float, float, float | None], ...] = (
    (1e150, 1.0, 1e10),
    (1e150, 1e150, None),
    (1e6, 1.0, 1e300),
    (1e-82, 1e-82, 1e164),
    (1e200, 1.0, None),
    (1e200, 1e200, 1.0),
    (1e-160, 1e-160, 1e300),
    (1e-300, 1.0, 1e300),
    (1.0, 1e-300, None),
    (1.0, 1e150, None),
    (1.0, 1e153, 1e12),
    (1e-140, 1e-140, 1e280),
    (1e140, 1e-140, 1e-280),
    (1e-155, 1e-155, 1.0),
    (1e300, 1e300, 1e-300),
    (1e300, 1e-300, 1e300),
)


@dataclass(kw_only=True)
class ForgeProblem:
    """What is handed to the checker, the plain matrix that it stands for, and the referee who knows its optimum."""

    seed: int
    number: int
    X: Any
    y: FloatArray
    question: Question
    traits: list[str] = field(default_factory=list)
    # The same data in ordinary units: data = (units[0] X, units[1] y), by powers of two.
    plain: tuple[FloatArray, FloatArray]
    units: tuple[float, float]

    def __post_init__(self) -> None:
        self.dense = np.asarray(self.X.toarray() if sp.issparse(self.X) else self.X, dtype=np.float64)
        self.referee = Referee(self.dense, self.y)

    @property
    def n(self) -> int:
        return int(self.dense.shape[0])

    @property
    def p(self) -> int:
        return int(self.dense.shape[1])

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `solve`."""
        q = self.question
        return {
            "k": q.k,
            "gamma": q.gamma,
            "penalty": q.penalty or None,
            "force_in": sorted(q.forced_in) or None,
            "force_out": sorted(q.forced_out) or None,
        }

    def columns_of(self, items: list[int]) -> list[int]:
        """The columns of `dense` that belong to items of the choice: here the items are columns."""
        return items

    def frame(self, items: list[int], diagonal: list[float]) -> tuple[list[int], list[Any]]:
        """A frame of a draft, from a diagonal over the items' columns."""
        return items, diagonal

    def block(self, draft: Any, support: tuple[int, ...]) -> FloatArray:
        """What the coefficients of a support multiply."""
        return self.dense[:, list(support)]

    def marks(self, draft: Any, w: FloatArray) -> FloatArray:
        """What a draft's fingerprint is of, for the w of its first record."""
        beta = self.dense.T @ (self.y - self.dense @ w)
        beta[[j for j in draft.forced_out if 0 <= j < self.p]] = 0.0
        return np.asarray(beta)

    def arrays(self) -> dict[str, Any]:
        """The data, for a file."""
        return {"X": self.dense, "y": self.y}

    def describe(self) -> dict[str, Any]:
        """For a file: everything but the data."""
        kind = f"{type(self.X).__name__} of {self.X.dtype}"
        head = {"seed": self.seed, "number": self.number, "shape": [self.n, self.p], "kind": kind}
        return {**head, **self.options, "traits": self.traits}


def generator(seed: int, number: int, purpose: int = 0) -> np.random.Generator:
    return np.random.default_rng((seed, number, purpose))


def make_problem(seed: int, number: int) -> ForgeProblem:
    """Problem `number` of a seed."""
    rng = generator(seed, number)
    traits: list[str] = []
    X, y = _level(rng, traits, number) if rng.random() < 0.15 else _data(rng, traits)
    units, wanted = (1.0, 1.0), None
    if "level" not in traits and rng.random() < 0.35:
        x_unit, y_unit, wanted = UNITS[int(rng.integers(len(UNITS)))]
        units = (_binary(x_unit), _binary(y_unit))
        traits.append(f"units {x_unit:g}, {y_unit:g}")
    with np.errstate(over="ignore"):
        given = X * units[0]
        response = y * units[1]
    if not (np.isfinite(given).all() and np.isfinite(response).all()):
        given, response, units = X, y, (1.0, 1.0)
    if wanted is None:
        wanted = float(10 ** rng.uniform(0, 6)) if "level" in traits else _gamma(rng, X, units[0])
    if "level" not in traits and generator(seed, number, 3).random() < 0.15:
        wanted = math.inf
        traits.append("no ridge")
    question = _question(rng, X, y, wanted, units[1], traits)
    return ForgeProblem(
        seed=seed,
        number=number,
        X=_kind(rng, given, units, traits),
        y=response,
        question=question,
        traits=traits,
        plain=(X, y),
        units=units,
    )


def _level(rng: np.random.Generator, traits: list[str], number: int) -> tuple[FloatArray, FloatArray]:
    """A constant column, and a response that it explains but for a part of order one."""
    traits.append("level")
    # A search that stops too early shows with many columns; the referee of many forgeries needs few.
    n, p = int(rng.integers(8, 13)), LARGEST_P + 3
    if number % FORGED_EVERY == 0:
        p = LARGEST_P - int(rng.integers(0, 4))
    X = rng.standard_normal((n, p))
    level = 10.0 ** (7.0 if rng.random() < 0.5 else rng.uniform(3, 9))
    signal = X[:, 1:4] @ rng.standard_normal(3)
    X[:, int(rng.choice([0, p - 1]))] = level
    return X, level + signal + rng.standard_normal(n)


def _data(rng: np.random.Generator, traits: list[str]) -> tuple[FloatArray, FloatArray]:
    n, p = int(rng.integers(1, LARGEST_N + 1)), int(rng.integers(1, LARGEST_P + 1))
    X = rng.standard_normal((n, p))

    def happens(chance: float, trait: str) -> bool:
        if rng.random() < chance:
            traits.append(trait)
            return True
        return False

    def two() -> list[int]:
        return [int(j) for j in rng.integers(0, p, 2)]

    if happens(0.5, "correlated"):
        X = X + rng.choice([0.8, 3.0]) * rng.standard_normal((n, 1))
    if happens(0.15, "whole numbers"):
        X = np.round(rng.choice([2.0, 60.0]) * X).clip(-127, 127)
    if happens(0.25, "equal"):
        a, b = two()
        X[:, a] = rng.choice([-1.0, 1.0]) * X[:, b]
    if happens(0.1, "equal"):
        X[:, int(rng.integers(p))] = X[:, 0]
    if happens(0.1, "nearly equal"):
        a, b = two()
        X[:, a] = X[:, b] * (1 + 10 ** rng.uniform(-15, -6))
    if p >= 3 and happens(0.15, "collinear"):
        a, b, c = rng.permutation(p)[:3]
        X[:, c] = X[:, a] + X[:, b]
    if happens(0.08, "zero column"):
        X[:, int(rng.integers(p))] = 0.0
    if happens(0.12, "badly scaled"):
        X = X * 10.0 ** rng.uniform(*rng.choice([(-6, 6), (-60, 60), (-150, 150), (-300, 300)]), p)
    return X, _response(rng, X, happens)


def _response(rng: np.random.Generator, X: FloatArray, happens: Any) -> FloatArray:
    n, p = X.shape
    if happens(0.02, "y = 0"):
        return np.zeros(n)
    norms = np.abs(X).max(axis=0)
    unit = X / np.where(norms > 0, norms, 1.0)
    signal = unit[:, rng.integers(0, p, 3)] @ rng.choice([-1.0, 0.5, 2.0], 3)
    noise = rng.standard_normal(n)
    if happens(0.1, "in the span"):
        return np.asarray(signal)
    if happens(0.4, "signal"):
        return np.asarray(signal + 10 ** rng.uniform(-6, 0.5) * noise)
    return np.asarray(noise)


def _binary(unit: float) -> float:
    """A power of two of about this size: rescaling a certificate by it is exact."""
    return float(2.0 ** np.round(np.log2(unit)))


def _gamma(rng: np.random.Generator, X: FloatArray, unit: float) -> float:
    """About 1e-2 to 1e4 over the columns' squares, if that is a number; now and then any number."""
    if rng.random() < 0.06:
        return float(10.0 ** rng.uniform(-300, 300))
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        typical = np.median(np.sqrt((X**2).mean(axis=0)))
        gamma = float(10 ** rng.uniform(-2, 4) / X.shape[0] / typical**2 / unit / unit)
    ordinary = float(10 ** rng.uniform(-3, 6))
    return gamma if 1e-300 <= gamma <= 1e300 and rng.random() < 0.7 else ordinary


def _question(
    rng: np.random.Generator, X: FloatArray, y: FloatArray, gamma: float, unit: float, traits: list[str]
) -> Question:
    p = X.shape[1]
    k, penalty = int(rng.integers(1, min(p, 5) + 1)), 0.0
    if "level" in traits:
        k = int(rng.integers(3, 7))
    elif rng.random() < 0.35:
        with np.errstate(over="ignore", under="ignore"):
            penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-4, 0) * unit * unit)
        penalty = penalty if np.isfinite(penalty) else 1.0
        k = p if rng.random() < 0.6 else k
    inside: list[int] = []
    outside: list[int] = []
    if rng.random() < 0.2:
        traits.append("forced")
        order = [int(j) for j in rng.permutation(p)]
        inside = order[: int(rng.integers(0, min(k, 2) + 1))]
        outside = order[len(inside) : len(inside) + int(rng.integers(0, min(3, p - len(inside)) + 1))]
    independence = INDEPENDENCE if math.isinf(gamma) else 0.0
    return Question(gamma, k, penalty, frozenset(inside), frozenset(outside), independence)


def _kind(rng: np.random.Generator, X: FloatArray, units: tuple[float, float], traits: list[str]) -> Any:
    """The matrix in one of the forms that it can be handed over in without a change of its numbers."""
    if "whole numbers" in traits and units == (1.0, 1.0) and np.array_equal(X, X.clip(-127, 127).astype(np.int8)):
        kinds = [sp.csc_matrix, sp.csr_matrix, np.asarray, np.asfortranarray]
        return kinds[int(rng.integers(4))](X.astype(rng.choice(["int8", "int64", "int16"])))
    chance = rng.random()
    if chance < 0.1:
        return np.asfortranarray(X)
    if chance < 0.2:
        return sp.csc_matrix(X)
    with np.errstate(over="ignore", under="ignore"):
        small = X.astype(np.float32)
    if chance < 0.35 and np.isfinite(small).all() and units == (1.0, 1.0):
        # Other numbers than X's, but the same in every use: the plain matrix is what it stands for.
        return small
    return X
