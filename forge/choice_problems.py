"""Small choices among groups and kernels from a seed and a number: data of `make_problem`, and more of their own."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

import parsifal as pf
from forge.choice_referee import ChoiceQuestion, GroupReferee, KernelReferee
from forge.problems import ForgeProblem, generator, make_problem
from forge.referee import FloatArray
from oracles.rational import Matrix

MOST_MEMBERS, MOST_KERNEL_ROWS, MOST_ITEMS = 8, 6, 5
# An orthogonal basis of whole numbers: a kernel made of it has a positive part that is known exactly.
_BASIS = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=float)


@dataclass(kw_only=True)
class ChoiceProblem(ForgeProblem):
    """A choice; `X` is what the checker is handed: a matrix, or a list of kernels."""

    question: Any
    # What `dense` is for groups: their columns side by side, their rows weighted.
    raw: FloatArray | None = None
    positive: dict[int, Matrix] = field(default_factory=dict)
    # What to multiply by to get here from a problem in ordinary units, which is `ordinary`: factors or X, and y.
    ordinary: Any = None

    @property
    def kernels(self) -> bool:
        return self.raw is None

    def __post_init__(self) -> None:
        self.referee: Any
        if self.raw is None:
            # A record's coefficients are its dual point.
            self.dense = np.eye(self.y.size)
            self.referee = KernelReferee(self.X, self.positive, self.y)
        else:
            self.referee = GroupReferee(self.raw, self.y)
            self.dense = self.referee.members(self.question)

    @property
    def p(self) -> int:
        return len(self.question.price)

    @property
    def options(self) -> dict[str, Any]:
        q = self.question
        given = {"penalty": np.array(q.price), "sample_weight": np.array(q.weight) if q.weight else None}
        forced = {"force_in": sorted(q.forced_in) or None, "force_out": sorted(q.forced_out) or None}
        groups = {} if self.kernels else {"groups": [list(group) for group in q.groups]}
        return {"k": q.k, "gamma": q.gamma, **given, **forced, **groups}

    def solve(self, **other: Any) -> Any:
        """The package's answer."""
        function: Any = pf.solve_kernels if self.kernels else pf.solve_groups
        return function(self.X, self.y, **{**self.options, "time_limit": 20.0, "node_limit": 500, **other})

    def describe(self) -> dict[str, Any]:
        kind = "kernels" if self.kernels else f"{type(self.X).__name__} of {self.X.dtype} in groups"
        head = {"seed": self.seed, "number": self.number, "kind": kind, "traits": self.traits}
        plain = {name: getattr(self.question, name) for name in ("k", "gamma", "price", "weight", "groups")}
        return {
            **head,
            **plain,
            "forced_in": sorted(self.question.forced_in),
            "forced_out": sorted(self.question.forced_out),
        }

    def columns_of(self, items: list[int]) -> list[int]:
        count = len(self.question.groups)
        return [] if self.kernels else self.referee.positions(tuple(g for g in items if g < count), self.question)

    def frame(self, items: list[int], diagonal: list[float]) -> tuple[list[int], list[Any]]:
        if self.kernels:
            return items, diagonal
        ends = np.cumsum([0, *(len(self.question.groups[g]) for g in items)]).tolist()
        return items, [diagonal[a:b] for a, b in itertools.pairwise(ends)]

    def block(self, draft: Any, support: tuple[int, ...]) -> FloatArray:
        question = self.referee.question(draft.build())
        if self.kernels:
            return np.hstack([np.zeros((self.n, 0)), *(self.referee.values(j, question) for j in support)])
        return np.asarray(self.referee.members(question)[:, self.referee.positions(support, question)])

    def marks(self, draft: Any, w: FloatArray) -> FloatArray:
        question = self.referee.question(draft.build())
        items = 0 if question is None else self.referee.items(question)
        gone = {j for j in draft.forced_out if 0 <= j < items}
        if items == 0:
            return np.zeros(0)
        if self.kernels:
            values = [self.referee.values(j, question) for j in range(items)]
            squares = [
                float(np.sum((Z.T @ w) ** 2)) if kind == "factor" else float(w @ (Z + Z.T) @ w / 2)
                for (kind, _), Z in zip(self.X, values)
            ]
            return np.array([0.0 if j in gone else square for j, square in enumerate(squares)])
        members = self.referee.members(question)
        fitted = members[:, : w.size] @ w[: members.shape[1]]
        beta = members.T @ (self.referee.response(question) - fitted)
        beta[self.referee.positions(tuple(gone), question)] = 0.0
        return np.asarray(beta)

    def arrays(self) -> dict[str, Any]:
        if not self.kernels:
            return {"X": self.raw, "y": self.y}
        return {"y": self.y, **{f"kernel_{j}_{kind}": values for j, (kind, values) in enumerate(self.X)}}


def make_groups(seed: int, number: int) -> ChoiceProblem:
    """Groups of the columns of problem `number` of a seed, some overlapping, weighted, priced."""
    base, rng = make_problem(seed, number), generator(seed, number, 4)
    raw, traits = base.dense, base.traits[:]
    most = min(raw.shape[1], MOST_MEMBERS)
    order = [int(j) for j in rng.permutation(raw.shape[1])[:most]]
    count = int(rng.integers(1, min(most, MOST_ITEMS) + 1))
    groups = [sorted(order[g::count]) for g in range(count)]
    while len(order) < MOST_MEMBERS and rng.random() < 0.3:
        # A column of two groups.
        traits.append("overlapping")
        column, group = int(rng.choice(order)), groups[int(rng.integers(count))]
        order.append(column)
        if column not in group:
            group.append(column)
    gamma = base.question.gamma if math.isfinite(base.question.gamma) else float(10 ** rng.uniform(-2, 6))
    question = _question(rng, base, gamma, count, traits)
    question = replace(question, groups=tuple(tuple(sorted(group)) for group in groups))
    common = {"seed": seed, "number": number, "traits": traits}
    problem = ChoiceProblem(
        X=base.X, y=base.y, raw=raw, question=question, plain=base.plain, units=base.units, **common
    )
    if base.units != (1.0, 1.0):
        X, y = base.plain
        (x_unit, y_unit) = base.units
        ordinary = _in_units(question, x_unit * x_unit, y_unit)
        if ordinary is not None:
            problem.ordinary = ChoiceProblem(
                X=X, y=y, raw=X, question=ordinary, plain=base.plain, units=(1.0, 1.0), **common
            )
    return problem


def make_kernels(seed: int, number: int) -> ChoiceProblem:
    """Factors and matrices from the data of problem `number` of a seed, some of them indefinite or not symmetric."""
    base, rng = make_problem(seed, number), generator(seed, number, 5)
    traits = base.traits[:]
    (X, y), (x_unit, y_unit) = base.plain, base.units
    n = min(len(y), MOST_KERNEL_ROWS, 4 if rng.random() < 0.4 else MOST_KERNEL_ROWS)
    X, y = X[:n], y[:n]
    count = int(rng.integers(1, MOST_ITEMS + 1))
    extreme = not 1e-140 < x_unit < 1e140
    kernels: list[tuple[str, FloatArray]] = []
    positive: dict[int, Matrix] = {}
    for j in range(count):
        with np.errstate(all="ignore"):
            kind, values, part = _kernel(rng, X, traits, only_factors=extreme)
        if not np.isfinite(values).all() or not (np.abs(values).max(initial=0.0) < 1e140 or kind == "factor"):
            kind, values, part = "factor", np.ones((n, 1)), None
        if part is not None:
            unit = Fraction(x_unit) ** 2
            positive[j] = [[unit * value for value in row] for row in part]
        kernels.append((kind, values))
    gamma = base.question.gamma if math.isfinite(base.question.gamma) else float(10 ** rng.uniform(-2, 6))
    question = _question(rng, base, gamma, count, traits)
    question = replace(question, observations=n, weight=question.weight[:n])
    with np.errstate(all="ignore"):
        given = [(kind, values * (x_unit if kind == "factor" else x_unit * x_unit)) for kind, values in kernels]
        response = y * y_unit
    common = {"seed": seed, "number": number, "traits": traits, "plain": (X, y)}
    plain_parts = {
        j: [[value / Fraction(x_unit) ** 2 for value in row] for row in part] for j, part in positive.items()
    }
    if not all(np.isfinite(values).all() for _, values in given):
        return ChoiceProblem(X=kernels, y=y, question=question, positive=plain_parts, units=(1.0, 1.0), **common)
    problem = ChoiceProblem(X=given, y=response, question=question, positive=positive, units=base.units, **common)
    if base.units != (1.0, 1.0):
        ordinary = _in_units(question, x_unit * x_unit, y_unit)
        if ordinary is not None:
            problem.ordinary = ChoiceProblem(
                X=kernels, y=y, question=ordinary, positive=plain_parts, units=(1.0, 1.0), **common
            )
    return problem


def _in_units(question: Any, square: float, unit: float) -> Any:
    """The question in ordinary units: gamma goes with the kernels, prices with y squared."""
    with np.errstate(all="ignore"):
        gamma = question.gamma * square
        price = tuple(value / unit / unit for value in question.price)
    if not (1e-300 <= gamma <= 1e300 and all(map(math.isfinite, price))):
        return None
    return replace(question, gamma=gamma, price=price)


def _question(
    rng: np.random.Generator, base: ForgeProblem, gamma: float, count: int, traits: list[str]
) -> ChoiceQuestion:
    k = int(rng.integers(1, count + 1))
    price = (0.0,) * count
    if rng.random() < 0.5:
        half = 0.5 * float(base.plain[1] @ base.plain[1])
        with np.errstate(all="ignore"):
            drawn = half * 10 ** rng.uniform(-4, 0, count) * base.units[1] * base.units[1]
        price = tuple(float(value) for value in drawn) if np.isfinite(drawn).all() else price
        traits.append("prices")
    weight: tuple[float, ...] = ()
    if rng.random() < 0.2:
        traits.append("weights")
        drawn = rng.choice([1.0, 2.0, 0.25, rng.uniform(0, 3), 0.0], base.n)
        weight = tuple(float(value) for value in drawn)
    inside: list[int] = []
    outside: list[int] = []
    if rng.random() < 0.2:
        order = [int(j) for j in rng.permutation(count)]
        inside = order[: int(rng.integers(0, min(k, 1) + 1))]
        outside = order[len(inside) : len(inside) + int(rng.integers(0, min(2, count - len(inside)) + 1))]
    return ChoiceQuestion(
        gamma=gamma,
        k=k,
        forced_in=frozenset(inside),
        forced_out=frozenset(outside),
        price=price,
        observations=base.n,
        weight=weight,
    )


def _kernel(
    rng: np.random.Generator, X: FloatArray, traits: list[str], only_factors: bool
) -> tuple[str, FloatArray, Matrix | None]:
    """One kernel, and its positive part if that is another matrix."""
    n, p = X.shape
    columns = rng.integers(0, p, int(rng.choice([1, 1, 2, 3])))
    chance = rng.random()
    if only_factors or chance < 0.35:
        return "factor", X[:, columns], None
    if chance < 0.5:
        # Whole numbers: of low rank, and positive semidefinite to the last digit.
        Z = np.round(rng.standard_normal((n, len(columns))) * rng.choice([2.0, 50.0]))
        return "matrix", Z @ Z.T * 2.0 ** rng.integers(-8, 8), None
    if chance < 0.65 or n != 4:
        Z = X[:, columns] if rng.random() < 0.5 else rng.standard_normal((n, n))
        K = Z @ Z.T
        return "matrix", (K + K.T) / 2, None
    return _made_of_the_basis(rng, traits)


def _made_of_the_basis(rng: np.random.Generator, traits: list[str]) -> tuple[str, FloatArray, Matrix | None]:
    """Eigenvalues that differ by up to 2^30, none, one or two of them below zero; at times not quite symmetric."""
    values = np.where(rng.random(4) < 0.4, 0.0, 2.0 ** rng.integers(-30, 1, 4) * rng.choice([1.0, 3.0], 4))
    values[0] = 1.0
    if rng.random() < 0.6:
        traits.append("indefinite")
        values[int(rng.integers(1, 4))] = -(2.0 ** -float(rng.choice([27, 28, 30, 34, 40, 50])))
    # Negative ones too small beside the others would be rounded away.
    K = (_BASIS * values) @ _BASIS.T / 4
    part = [
        [
            sum((Fraction(max(v, 0.0)) * int(a * b) for v, a, b in zip(values, row, other)), Fraction(0)) / 4
            for other in _BASIS
        ]
        for row in _BASIS
    ]
    exact = [
        [sum((Fraction(v) * int(a * b) for v, a, b in zip(values, row, other)), Fraction(0)) / 4 for other in _BASIS]
        for row in _BASIS
    ]
    if [[Fraction(float(value)) for value in row] for row in K] != exact:
        return "matrix", K, None
    if rng.random() < 0.3:
        traits.append("not symmetric")
        skew = np.triu(np.round(rng.standard_normal((4, 4)) * 2), 1) * 2.0**-32
        lower = K + (skew - skew.T)
        if np.array_equal(lower - K, skew - skew.T):
            K = lower
    return "matrix", K, part
