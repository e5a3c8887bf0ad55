"""What the cutting planes claim besides the solver's word, against exact rational arithmetic, without a tolerance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles import rational
from parsifal.cuts.regression import _floor
from parsifal.cuts.start import first_start
from parsifal.problem.problem import make_problem

METHODS: dict[str, dict[str, Any]] = {
    "cutting-plane": {"root_cuts": 0, "fractional_cuts": False, "screen": False},
    "big-m": {},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_price_of_what_is_forced_in_is_not_rounded_up(method: str) -> None:
    pytest.importorskip("highspy")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 4)), np.zeros(5)
    for penalty in (0.1, 0.7, 1138.9, 3e8 / 7):
        solution = pf.solve(
            X, y, 3, 1.0, penalty=penalty, force_in=[0, 1, 2], method=method, backend="highs", **METHODS[method]
        )
        optimum = rational.value_of(X, y, [0, 1, 2], 1.0) + 3 * Fraction(penalty)
        assert Fraction(solution.lower_bound) <= optimum
        assert solution.lower_bound == pytest.approx(float(optimum), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_floor_of_the_loss_is_the_bound_less_the_price_of_k_columns(seed: int) -> None:
    """Where the price is large, the difference is that of two numbers that round."""
    rng = np.random.default_rng(seed)
    X, y, k = rng.standard_normal((6, 4)), rng.standard_normal(6), 3
    penalty = float(10 ** rng.uniform(-2, 10))
    start = first_start(make_problem(X, y, k=k, gamma=1.0, penalty=penalty, force_in=[0, 1, 2]), [], 1e-6, None)
    start.lower_bound = start.incumbent.objective
    rest = Fraction(start.lower_bound) - k * Fraction(penalty)
    assert Fraction(_floor(start)) <= max(rest, Fraction(0))
    if penalty < 1e3:
        assert _floor(start) == pytest.approx(float(rest), rel=1e-6)
