"""Bounds under signs, prices and side constraints in exact arithmetic, without any tolerance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import parsifal as pf
from bound.test_numerics import problem
from oracles import rational
from parsifal.constraints import AtMost, Implies
from parsifal.proof.checker import provable_bound


@pytest.mark.parametrize("condition", [1e0, 1e4, 1e8])
@pytest.mark.parametrize("block", range(3))
def test_no_bound_is_above_the_exact_optimum(condition: float, block: int) -> None:
    for seed in range(block * 8, block * 8 + 8):
        arguments = problem(seed, condition)
        X, y = arguments["X"], arguments["y"]
        assert isinstance(X, np.ndarray)
        assert isinstance(y, np.ndarray)
        rng = np.random.default_rng([7, seed])
        p, k, gamma = X.shape[1], int(arguments.get("k", X.shape[1])), float(arguments["gamma"])  # type: ignore[call-overload]
        price = rng.random(p) * 0.02 * float(y @ y) * (seed % 3 > 0)
        sign = rng.integers(-1, 2, p) if seed % 2 else np.ones(p, dtype=np.int64)
        rows = [AtMost([0, 1]), Implies(p - 1, 0)] if seed % 4 == 0 and p > 2 else []

        def allowed(support: frozenset[int], last: int = p - 1, rows: list[object] = rows) -> bool:
            return not rows or (len(support & {0, 1}) <= 1 and (last not in support or 0 in support))

        best = rational.signed_optimum(X, y, k, gamma, price, sign, allowed)
        found = pf.solve(X, y, k, gamma, penalty=price, sign=sign, constraints=rows, fit_intercept=False)
        assert found.certificate is not None
        assert Fraction(found.lower_bound) <= best, seed
        assert Fraction(provable_bound(found.certificate, X, y)) <= best, seed
        if not rows:
            assert Fraction(pf.relax(X, y, k, gamma, penalty=price, sign=sign).bound) <= best, seed
        assert pf.check(found.certificate, X, y), seed
        assert pf.check(found.certificate, X, y, exact=True), seed
        w = found.coef[found.support]
        value = rational.objective_of(X, y, found.support, w, gamma, 0.0)
        value += sum((Fraction(float(cost)) for cost in price[found.support]), Fraction(0))
        assert best <= value
        assert abs(float(value) - found.objective) <= 1e-13 * (float(y @ y) + found.objective)
