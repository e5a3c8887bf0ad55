"""Problems for the mixed-integer solvers, and what every answer to them must satisfy."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case, random_case
from parsifal import constraints as pc
from parsifal.cuts.master import BACKENDS


def installed(name: str) -> Any:
    missing = importlib.util.find_spec(BACKENDS[name]) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"{BACKENDS[name]} is not installed"))


each_backend = pytest.mark.parametrize("backend", [installed(name) for name in BACKENDS])
PUBLISHED = {"root_cuts": 0, "fractional_cuts": False, "screen": False}


def small_case(seed: int) -> Case:
    """A problem whose data are within what a solver's tolerances leave: nothing as extreme as the search is held to."""
    rng = np.random.default_rng((seed, 4))
    while True:
        case = random_case(rng, least=4, most=10)
        if case.gamma <= 1e4 and not {"badly scaled", "multiple", "constant"} & set(case.traits):
            return case


def check(case: Case, solution: pf.Solution, optimum: float) -> None:
    """True, and proven."""
    check_valid(case, solution, optimum)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9 * case.half)
    assert solution.gap <= 1e-6


def check_valid(case: Case, solution: pf.Solution, optimum: float) -> None:
    support, coef = solution.support, solution.coef
    assert support.size <= case.most
    assert set(case.force_in) <= set(support.tolist())
    assert not set(case.force_out) & set(support.tolist())
    value = 0.5 * np.sum((case.y - case.dense @ coef) ** 2) + coef @ coef / (2 * case.gamma)
    value += (case.penalty or 0.0) * support.size
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-13 * case.half)
    assert solution.lower_bound <= solution.objective
    assert solution.objective >= optimum * (1 - 1e-9) - 1e-13 * case.half
    assert solution.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * case.half
    if solution.certificate is not None:
        assert pf.check(solution.certificate, case.X, case.y)
        assert solution.certificate.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * case.half
        # A check is valid for what the certificate claims; what it does not claim is said to rest on the solver.
        if solution.lower_bound > solution.certificate.lower_bound:
            assert solution.rests_on is not None


def constrained(seed: int) -> tuple[Case, list[Any], list[tuple[int, ...]]]:
    """A case, constraints on it, and the supports that satisfy them."""
    rng = np.random.default_rng((seed, 11))
    p, n = int(rng.integers(6, 11)), int(rng.integers(5, 40))
    X = rng.standard_normal((n, p))
    y = X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(n)
    penalty = float(rng.choice([0.0, 0.3])) or None
    case = Case(X, y, float(10 ** rng.uniform(-2, 2)), int(rng.integers(2, 5)), penalty)
    order = [int(j) for j in rng.permutation(p)]
    weight = rng.integers(-3, 6, p).astype(float)
    group = order[: int(rng.integers(3, 6))]
    kinds = {
        "at most": (pc.AtMost(group, 1), lambda s: len(set(group) & s) <= 1),
        "implies": (pc.Implies(order[0], order[1]), lambda s: order[0] not in s or order[1] in s),
        "implies two": (pc.Implies(0, [1, 2]), lambda s: 0 not in s or {1, 2} <= s),
        "exclude": (pc.Exclude(order[2], order[3]), lambda s: not {order[2], order[3]} <= s),
        "linear": (pc.Linear(weight, 1.0, 6.0), lambda s: 1.0 <= sum(weight[j] for j in s) <= 6.0),
        "at least": (
            pc.Linear({order[4]: 1, order[5]: 1}, lower=1),
            lambda s: order[4] in s or order[5] in s,
        ),
    }
    chosen = [kinds[str(name)] for name in rng.choice(list(kinds), int(rng.integers(1, 4)), replace=False)]
    allowed = [s for s in case.supports() if all(holds(set(s)) for _, holds in chosen)]
    return case, [constraint for constraint, _ in chosen], allowed


def hard_case() -> Case:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    return Case(X, X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40), 0.1, 10)
