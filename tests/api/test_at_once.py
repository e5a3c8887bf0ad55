"""Few columns, all of whose sets are gone through: the exact optimum, by a proof of one exhausted record."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles import ways
from oracles.exact import ExactValues
from parsifal.proof.certificate import EXHAUSTED

ASKED: list[dict[str, Any]] = [
    {"k": 3},
    {"k": 8},
    {"penalty": 2.0},
    {"k": 2, "penalty": 0.5},
    {"k": 3, "force_in": [1], "force_out": [4, 5]},
]


def problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, two of them all but equal; in some problems more columns than rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    X = rng.standard_normal((n, 8)) + rng.standard_normal((n, 1))
    X[:, 7] = X[:, 2] + 1e-4 * rng.standard_normal(n)
    return X, X[:, :3] @ [2.0, -1.0, 1.0] + rng.standard_normal(n)


@pytest.mark.parametrize("gamma", [0.05, 1.0, 1e6, math.inf])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_bounds_and_optima_are_exact(asked: dict[str, Any], gamma: float) -> None:
    for seed in range(3):
        X, y = problem(seed)
        sol = pf.solve(X, y, gamma=gamma, threads=1, fit_intercept=False, **asked)
        inside, outside = set(asked.get("force_in", [])), set(asked.get("force_out", []))
        price = Fraction(asked.get("penalty", 0.0))
        optimum = min(
            value + price * len(S)
            for S, value in ExactValues(X, y).values(gamma).items()
            if len(S) <= asked.get("k", 8) and inside <= set(S) and not outside & set(S)
        )
        assert sol.status == "optimal"
        assert Fraction(sol.lower_bound) <= optimum
        assert sol.objective <= float(optimum) * (1 + 1.1e-6)
        assert sol.certificate is not None
        assert pf.check(sol.certificate, X, y)
        assert pf.check(sol.certificate, X, y, exact=True)


def test_one_record_is_the_proof_and_a_tree_says_the_same() -> None:
    for seed in range(5):
        X, y = problem(seed)
        sets = pf.solve(X, y, k=3, gamma=1.0, threads=1, fit_intercept=False)
        with ways.relaxations_alone():
            tree = pf.solve(X, y, k=3, gamma=1.0, threads=1, fit_intercept=False)
        assert sets.certificate is not None
        assert tree.certificate is not None
        assert np.count_nonzero(sets.certificate.kind == EXHAUSTED) == 1
        assert not np.any(tree.certificate.kind == EXHAUSTED)
        assert sets.support.tolist() == tree.support.tolist()
        assert sets.objective == pytest.approx(tree.objective, rel=1e-12)


def test_limits_and_progress() -> None:
    X, y = problem(0)
    seen: list[pf.Progress] = []
    sol = pf.solve(X, y, k=3, gamma=1.0, fit_intercept=False, progress=seen.append)
    assert seen[-1].gap <= 1e-6
    stopped = pf.solve(X, y, k=3, gamma=1.0, fit_intercept=False, time_limit=1e-9)
    assert stopped.lower_bound <= sol.objective <= stopped.objective * (1 + 1e-12)
    assert stopped.status == "time_limit"
    assert stopped.check(X, y)


def test_signs_and_constraints() -> None:
    X, y = problem(1)
    rules: dict[str, Any] = {"sign": 1, "constraints": [pf.constraints.AtMost([0, 1, 2], 1)]}
    sets = pf.solve(X, y, k=3, gamma=1.0, threads=1, fit_intercept=False, **rules)
    with ways.trees():
        tree = pf.solve(X, y, k=3, gamma=1.0, threads=1, fit_intercept=False, **rules)
    assert sets.status == tree.status == "optimal"
    assert sets.objective == pytest.approx(tree.objective, rel=1e-9)
    assert (sets.coef >= 0).all()
    assert np.isin(sets.support, [0, 1, 2]).sum() <= 1
    assert sets.check(X, y)
