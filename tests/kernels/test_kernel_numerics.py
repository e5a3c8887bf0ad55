"""The bounds of `solve_kernels` and `solve_groups` against exact rational arithmetic, without a tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.rational import Matrix, dot, exact, rows, solve
from parsifal.kernels.group_root import halves
from parsifal.kernels.oracle import Block, Oracle, compressed, factor_block, matrix_block
from parsifal.proof.choice_checker import provable_choice


def exact_kernel(given: np.ndarray, factor: bool) -> Matrix:
    """ZZ', or the matrix itself, as fractions."""
    entries = rows(given)
    if not factor:
        return [[(entries[i][j] + entries[j][i]) / 2 for j in range(len(entries))] for i in range(len(entries))]
    return [[dot(a, b) for b in entries] for a in entries]


def exact_loss(kernels: list[Matrix], y: np.ndarray, gamma: float) -> Fraction:
    n, weight, response = len(y), Fraction(gamma), exact(y)
    system = [
        [Fraction(int(i == j)) + weight * sum((K[i][j] for K in kernels), Fraction(0)) for j in range(n)]
        for i in range(n)
    ]
    return dot(response, solve(system, response)) / 2


def least(kernels: list[Matrix], y: np.ndarray, gamma: float, penalty: float | np.ndarray, k: int) -> Fraction:
    sets = (chosen for size in range(k + 1) for chosen in combinations(range(len(kernels)), size))
    prices = [Fraction(float(price)) for price in np.broadcast_to(penalty, (len(kernels),))]
    return min(exact_loss([kernels[j] for j in S], y, gamma) + sum((prices[j] for j in S), Fraction(0)) for S in sets)


def draw(rng: np.random.Generator, tall: bool) -> tuple[list[Any], list[Matrix], np.ndarray]:
    """Factors over eight decades, some of dependent columns; short ones come with matrices of full rank."""
    n, m = (11, 4) if tall else (5, 4)
    given: list[Any] = []
    kernels = []
    for j in range(m):
        Z = rng.standard_normal((n, 2 if tall else 1 + j % 2)) * 10.0 ** rng.integers(-4, 4)
        if tall and j == 2:
            Z[:, 1] = Z[:, 0] * (1 + 1e-12)
        if not tall and j == 3:
            A = rng.standard_normal((n, n))
            given.append(A @ A.T)
            kernels.append(exact_kernel(given[-1], False))
            continue
        given.append(("factor", Z))
        kernels.append(exact_kernel(Z, True))
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3)
    if rng.random() < 0.5:
        y = given[0][1].sum(axis=1) * (1 + 1e-9 * y)
    return given, kernels, y


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_below_every_set(seed: int, tall: bool) -> None:
    rng = np.random.default_rng(seed)
    given, kernels, y = draw(rng, tall)
    scale = max(float(sum(K[i][i] for i in range(len(y)))) for K in kernels)
    for gamma in (1e-3 / scale, 1.0 / scale, 1e6 / scale):
        penalty = float(0.01 * y @ y) if seed % 3 == 0 else 0.0
        k = 1 + seed % 2
        solution = pf.solve_kernels(given, y, k, gamma, penalty=penalty)
        assert Fraction(solution.lower_bound) <= least(kernels, y, gamma, penalty, k)
        assert solution.lower_bound >= solution.objective - 1e-6 * abs(solution.objective) - 1e-9 * float(y @ y)


@pytest.mark.parametrize("kind", ["factors", "stand-ins", "matrix", "wide factor"])
@pytest.mark.parametrize("seed", range(25))
def test_the_value_of_one_set_is_not_exceeded(seed: int, kind: str) -> None:
    """One kernel that is in: at its own alpha the dual value is the loss, and only rounding is between the two."""
    rng = np.random.default_rng(100 + seed)
    n = 9
    Z = rng.standard_normal((n, {"matrix": n, "wide factor": n - 1}.get(kind, 2))) * 10.0 ** rng.integers(-3, 4)
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4)
    gamma = 10.0 ** rng.integers(-2, 5) / float(np.sum(Z * Z))
    block: Block = matrix_block(Z @ Z.T, "K") if kind == "matrix" else factor_block(Z)
    kernel = exact_kernel(Z @ Z.T, False) if kind == "matrix" else exact_kernel(Z, True)
    oracle = Oracle([block], y, gamma, compress=kind == "stand-ins")
    assert (oracle.slack > 0.0) == (kind == "stand-ins")
    alpha, reach = oracle.system(np.ones(1)).point(oracle.y)
    inside, nothing = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    bound, _ = oracle.bound(alpha, oracle.quadratic(alpha), inside, nothing, 0, reach=reach)
    loss = exact_loss([kernel], y, gamma)
    assert Fraction(bound) <= loss
    assert bound >= float(loss) - 1e-11 * float(y @ y)


@pytest.mark.parametrize("seed", range(10))
def test_inner_products_of_stand_ins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 4)) * 10.0 ** rng.integers(-5, 5, 4)
    A[:, 3] = A[:, 2] if seed % 2 else 0.0
    R, slack = compressed(A)
    assert 0 < slack < 1e-13
    norms = [dot(a, a) for a in rows(A.T)]
    for i, (a, r) in enumerate(zip(rows(A.T), rows(R.T))):
        for j, (b, q) in enumerate(zip(rows(A.T), rows(R.T))):
            off = dot(a, b) - dot(r, q)
            assert off * off <= Fraction(slack) ** 2 * norms[i] * norms[j]


@pytest.mark.parametrize("seed", range(20))
def test_the_bounds_of_the_two_halves_of_a_node_are_not_above_their_exact_dual_values(seed: int) -> None:
    """With the terms and the bound as given, the halves are sums of them: those must not round up either."""
    rng = np.random.default_rng((seed, 3))
    m, room = 8, int(rng.integers(1, 5))
    # Terms of every size, as with a price that is large or small beside the gains.
    terms = rng.standard_normal(m) * 10.0 ** rng.integers(-6, 6, m)
    bound = float(rng.standard_normal() * 10.0 ** rng.integers(-3, 3))
    if_in, if_out = halves(bound, terms, np.ones(m, dtype=bool), room)
    a = exact(terms)
    positive = sorted((value for value in a if value > 0), reverse=True)
    taken = sum(positive[:room], Fraction(0))
    for j in range(m):
        others = sorted((a[i] for i in range(m) if i != j and a[i] > 0), reverse=True)
        inside = Fraction(bound) + taken - a[j] - sum(others[: room - 1], Fraction(0))
        outside = Fraction(bound) + taken - sum(others[:room], Fraction(0))
        assert Fraction(if_in[j]) <= inside
        assert Fraction(if_out[j]) <= outside
        assert if_in[j] == pytest.approx(float(inside), rel=1e-9)
        assert if_out[j] == pytest.approx(float(outside), rel=1e-9)


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_no_record_proves_more_than_is_true(seed: int, tall: bool) -> None:
    """What the checker finds that the records prove, and what it refuses: against the exact least value."""
    rng = np.random.default_rng((seed, 5))
    given, kernels, y = draw(rng, tall)
    scale = max(float(sum(K[i][i] for i in range(len(y)))) for K in kernels)
    price = rng.uniform(0, 0.02 * float(y @ y), len(given)) if seed % 3 == 0 else 0.0
    for gamma in (1e-3 / scale, 1.0 / scale, 1e5 / scale):
        truth = least(kernels, y, gamma, price, 2)
        above = math.nextafter(float(truth) * (1 + 1e-15), math.inf)
        solution = pf.solve_kernels(given, y, 2, gamma, penalty=price)
        assert solution.certificate is not None
        assert Fraction(provable_choice(solution.certificate, given, y)) <= truth
        assert pf.check(solution.certificate, given, y)
        assert not pf.check(replace(solution.certificate, lower_bound=above), given, y)
        if not tall:
            continue
        X = np.hstack([Z for _, Z in given])
        groups = np.split(np.arange(X.shape[1]), np.cumsum([Z.shape[1] for _, Z in given])[:-1])
        solution = pf.solve_groups(X, y, groups, 2, gamma, penalty=price)
        assert solution.certificate is not None
        assert Fraction(solution.lower_bound) <= truth
        assert solution.lower_bound >= solution.objective - 1e-6 * abs(solution.objective) - 1e-9 * float(y @ y)
        assert Fraction(provable_choice(solution.certificate, X, y)) <= truth
        for exact_arithmetic in (False, True):
            assert pf.check(solution.certificate, X, y, exact=exact_arithmetic)
            changed = replace(solution.certificate, lower_bound=above)
            assert not pf.check(changed, X, y, exact=exact_arithmetic)


def test_the_certificate_of_matrices_that_are_no_kernels_by_a_little_holds() -> None:
    """A check takes gamma times the negative part off; the claim has to leave room for that."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, kernels = rng.normal(size=4), []
        for _ in range(3):
            vectors = np.linalg.qr(rng.normal(size=(4, 4)))[0]
            values = np.array([1.0, rng.random(), 1e-3, -9e-10]) * 10 ** rng.uniform(0, 2)
            kernel = vectors @ np.diag(values) @ vectors.T
            kernels.append((kernel + kernel.T) / 2)
        solution = pf.solve_kernels(kernels, y, 3, gamma=250.0)
        assert solution.status == "optimal"
        assert pf.check(solution.certificate, [("matrix", kernel) for kernel in kernels], y)
