"""A random problem from a seed and a number: the same on every run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from oracles.enumeration import Asked
from parsifal.design import as_design
from stress.columns import FloatArray, random_columns, random_response
from stress.kinds import KINDS, Made, Parts

LARGEST_P, LARGEST_K = 400, 20


@dataclass(kw_only=True)
class StressProblem(Asked):
    """What is handed to the methods, and the plain matrix that it stands for."""

    seed: int
    number: int
    kind: str
    parts: Parts
    X: Any
    dense: FloatArray
    exact: bool
    y: FloatArray
    k: int | None
    penalty: float | None
    gamma: float
    force_in: tuple[int, ...]
    force_out: tuple[int, ...]
    traits: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        return int(self.dense.shape[0])

    @property
    def p(self) -> int:
        return int(self.dense.shape[1])

    def describe(self) -> dict[str, Any]:
        """For a file: everything but the data."""
        return {
            "seed": self.seed,
            "number": self.number,
            "kind": self.kind,
            "shape": [self.n, self.p],
            **self.options,
            "traits": self.traits,
        }


def generator(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng((seed, number))


def make_design(kind: str, parts: Parts, folder: Path) -> Made:
    """Put a kind together from its parts."""
    given, dense, exact = KINDS[kind].make(parts, folder)
    if not exact:
        # The design's own rounding of its columns is the problem that is solved; it must be the formula's, nearly.
        columns = np.asarray(as_design(given).columns(np.arange(dense.shape[1])), dtype=np.float64)
        size = np.linalg.norm(dense, axis=0) + np.linalg.norm(parts["X"]) * 1e-3
        if not np.all(np.linalg.norm(columns - dense, axis=0) <= 1e-9 * size):
            raise AssertionError(f"the columns of the {kind} design are not those of its formula")
        dense = columns
    return given, np.ascontiguousarray(dense, dtype=np.float64), exact


def make_problem(seed: int, number: int, folder: Path, most: int = LARGEST_P) -> StressProblem:
    """Make problem `number` of a seed, of at most `most` columns; kinds that are files put them into `folder`."""
    rng = generator(seed, number)
    traits: list[str] = []

    def happens(chance: float, trait: str) -> bool:
        if rng.random() < chance:
            traits.append(trait)
            return True
        return False

    n, p = _shape(rng, most)
    X = random_columns(rng, n, p, happens)
    names = list(KINDS)
    shares = np.array([KINDS[name].share for name in names])
    kind = str(rng.choice(names, p=shares / shares.sum()))
    parts = KINDS[kind].draw(rng, X)
    given, dense, exact = make_design(kind, parts, folder)
    p = dense.shape[1]
    y = np.array(given.y) if kind == "synthetic" and rng.random() < 0.7 else random_response(rng, dense, happens)
    k, penalty = _form(rng, p, y)
    gamma = _gamma(rng, dense, happens)
    force_in: tuple[int, ...] = ()
    force_out: tuple[int, ...] = ()
    if happens(0.25, "forced"):
        order = [int(j) for j in rng.permutation(p)]
        inside = min(int(rng.integers(0, 4)), p if k is None else min(k, p))
        force_in = tuple(order[:inside])
        force_out = tuple(order[inside : inside + int(rng.integers(0, p - inside + 1) * rng.random())])
    return StressProblem(
        seed=seed,
        number=number,
        kind=kind,
        parts=parts,
        X=given,
        dense=dense,
        exact=exact,
        y=y,
        k=k,
        penalty=penalty,
        gamma=gamma,
        force_in=force_in,
        force_out=force_out,
        traits=traits,
    )


def _shape(rng: np.random.Generator, most: int) -> tuple[int, int]:
    """Mostly small, with a tail to 400 columns."""
    part = rng.random()
    if part < 0.6:
        p = int(rng.integers(1, 13))
    elif part < 0.85:
        p = int(rng.integers(13, 61))
    elif part < 0.95:
        p = int(rng.integers(61, 201))
    else:
        p = int(rng.integers(201, LARGEST_P + 1))
    p = min(p, most)
    choices = [
        1,
        2,
        3,
        max(1, p // 3),
        p,
        int(rng.integers(1, 61)),
        int(rng.integers(1, 61)),
        int(rng.integers(p, 2 * p + 61)),
    ]
    n = int(rng.choice(choices, p=[0.03, 0.03, 0.04, 0.15, 0.1, 0.2, 0.2, 0.25]))
    return n, p


def _form(rng: np.random.Generator, p: int, y: FloatArray) -> tuple[int | None, float | None]:
    top = min(LARGEST_K, p + 1)
    k: int | None = int(rng.integers(1, (top if rng.random() < 0.3 else min(top, 6)) + 1))
    form = rng.choice(["k", "k", "k", "penalty", "both"])
    if form == "k":
        return k, None
    half = 0.5 * float(y @ y) or 1.0
    penalty = half * float(10 ** rng.uniform(-9, 1)) if rng.random() < 0.9 else float(rng.choice([0.0, 1e-300, 1e300]))
    # Without a limit on k a tiny penalty is a search over all supports: that is for few columns.
    return (None if form == "penalty" else k), penalty


def _gamma(rng: np.random.Generator, dense: FloatArray, happens: Any) -> float:
    """Mostly so that gamma |x|^2 is neither tiny nor huge; sometimes whatever."""
    if happens(0.15, "any gamma"):
        return float(10 ** rng.uniform(-8, 10))
    with np.errstate(over="ignore", under="ignore"):
        squares = float(np.median((dense**2).sum(axis=0)))
    if not math.isfinite(squares) or squares < 1e-290:
        squares = 1.0
    return float(np.clip(10 ** rng.uniform(-2, 5) / squares, 1e-250, 1e250))
