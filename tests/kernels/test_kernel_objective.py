"""The objective of kernels with a weak ridge: honest certificates hold, and every number against exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from forge.choice_problems import make_kernels
from forge.choice_referee import ChoiceQuestion, KernelReferee
from oracles.rational import dot, exact, rows
from parsifal.proof.kernel_objective import Part, fitted, mean_parts

WAYS = ("full rank", "low rank", "smooth", "factor", "not symmetric")


def kernel(rng: np.random.Generator, n: int, way: str) -> tuple[str, np.ndarray]:
    Z = rng.standard_normal((n, n if way == "full rank" else 2))
    if way == "factor":
        return "factor", Z
    if way == "smooth":
        return "matrix", np.exp(-0.5 * (Z[:, :1] - Z[:, :1].T) ** 2)
    K = Z @ Z.T
    if way == "not symmetric":
        # Sums of two entries are no doubles.
        K = K * (1 + 1e-13 * rng.standard_normal((n, n)))
    return "matrix", K


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("noise", [1.0, 1e-3])
@pytest.mark.parametrize("decade", range(-2, 9, 2))
def test_an_honest_certificate_holds_however_weak_the_ridge(way: str, noise: float, decade: int) -> None:
    rng = np.random.default_rng((decade + 2, WAYS.index(way)))
    for n in (6, 40):
        kernels = [kernel(rng, n, way) for _ in range(4)]
        product = [Z @ Z.T if kind == "factor" else Z for kind, Z in kernels]
        signal = product[0] @ rng.standard_normal(n) + product[1] @ rng.standard_normal(n)
        y = signal / signal.std() + noise * rng.standard_normal(n)
        solution = pf.solve_kernels(kernels, y, 2, 10.0**decade)
        c = solution.certificate
        assert c is not None
        result = pf.check(c, kernels, y)
        assert result, result.reason
        for change in (1e-10, -1e-10):
            assert not pf.check(replace(c, objective=c.objective * (1 + change), lower_bound=0.0), kernels, y)
        if n == 6:
            question = ChoiceQuestion(10.0**decade, 2, rows=n, price=(0.0,) * 4)
            worth = KernelReferee(kernels, {}, y).worth(tuple(c.support.tolist()), c.coef, question)
            assert abs(Fraction(c.objective) - worth) <= worth * Fraction(1, 10**12)


@pytest.mark.parametrize("seed", range(20))
def test_what_the_fit_may_be_off_by(seed: int) -> None:
    """Coefficients of every size, most of which the kernel takes to nothing."""
    rng = np.random.default_rng((seed, 9))
    n, way = 5, WAYS[seed % len(WAYS)]
    kind, values = kernel(rng, n, way)
    part = Part(values, None, True) if kind == "factor" else Part(*mean_parts(values), False)
    y = rng.standard_normal(n)
    w = rng.standard_normal(values.shape[1]) + 10.0 ** rng.uniform(0, 14) * np.linalg.svd(values)[2][-1]
    found = fitted(y, [part], [w])
    given, weights = rows(values), exact(w)
    if kind == "matrix":
        given = [[(a + b) / 2 for a, b in zip(row, column)] for row, column in zip(given, zip(*given))]
    fit = [dot(row, weights) for row in given]
    off = [a - b - c for a, b, c in zip(exact(y), fit, exact(found.residual))]
    assert dot(off, off) <= Fraction(found.error) ** 2
    (square, error), truth = found.squares[0], dot(weights, weights if kind == "factor" else fit)
    assert abs(Fraction(square) - truth) <= Fraction(error)
    size = float(np.abs(w) @ np.abs(values) @ np.abs(w)) if kind == "matrix" else float(truth)
    assert error <= 1e-14 * abs(float(truth)) + 1e-28 * size


def test_the_mean_of_a_matrix_and_its_transpose_is_exact() -> None:
    K = np.random.default_rng(0).standard_normal((6, 6)) * 10.0 ** np.random.default_rng(1).integers(-20, 20, (6, 6))
    high, low = mean_parts(K)
    assert low is not None
    for i in range(6):
        for j in range(6):
            assert Fraction(high[i, j]) + Fraction(low[i, j]) == (Fraction(K[i, j]) + Fraction(K[j, i])) / 2
    assert mean_parts(K + K.T)[1] is None


def test_an_objective_for_a_rounded_mean_is_refused() -> None:
    """Rounding the mean of two entries is worth more than 1e-12 where the ridge is weak."""
    rng = np.random.default_rng(3)
    n, gamma = 5, 1e9
    kernels: list[Any] = [kernel(rng, n, "not symmetric")]
    y = rng.standard_normal(n)
    rounded = [("matrix", 0.5 * (kernels[0][1] + kernels[0][1].T))]
    c = pf.solve_kernels(rounded, y, 1, gamma, force_in=[0]).certificate
    assert c is not None
    assert pf.check(c, rounded, y)
    question = ChoiceQuestion(gamma, 1, rows=n, price=(0.0,))
    worth = KernelReferee(kernels, {}, y).worth((0,), c.coef, question)
    assert abs(Fraction(c.objective) - worth) > worth * Fraction(1, 10**11)
    assert not pf.check(replace(c, lower_bound=0.0), kernels, y)


def test_a_bound_is_about_the_positive_part_of_a_matrix_that_is_indefinite_by_rounding() -> None:
    """The search took the matrix itself, whose optimum is higher, and called that optimal (found by the forger)."""
    seen = 0
    for number in range(400):
        problem = make_kernels(1, number)
        if "indefinite" not in problem.traits or problem.question.weight or problem.units != (1.0, 1.0):
            continue
        try:
            solution = problem.solve()
        except pf.ParsifalError:
            continue
        seen += 1
        assert Fraction(solution.lower_bound) <= problem.referee.optimum(problem.question)
    assert seen > 5


def test_no_response_and_no_coefficients_have_the_objective_zero() -> None:
    K = np.outer(np.arange(4.0), np.arange(4.0))
    solution = pf.solve_kernels([("matrix", K)], np.zeros(4), 1, 10.0, force_in=[0])
    assert solution.objective == 0.0
    assert pf.check(solution.certificate, [("matrix", K)], np.zeros(4))
