"""Exact arithmetic on small problems: doubles are fractions, so sums, products and linear systems have no rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

Matrix = list[list[Fraction]]


def exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def rows(X: np.ndarray) -> Matrix:
    return [exact(row) for row in X]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b)), Fraction(0))


def solve(A: Matrix, b: list[Fraction]) -> list[Fraction]:
    """Gauss's elimination; A is positive definite."""
    n = len(b)
    M = [[*row, value] for row, value in zip(A, b)]
    for i in range(n):
        for r in range(i + 1, n):
            factor = M[r][i] / M[i][i]
            for c in range(i, n + 1):
                M[r][c] -= factor * M[i][c]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        x[i] = (M[i][n] - dot(M[i][i + 1 : n], x[i + 1 :])) / M[i][i]
    return x


def is_positive_semidefinite(A: Matrix) -> bool:
    """By elimination: no pivot is negative, and a pivot of zero has a row of zeros."""
    M = [row[:] for row in A]
    n = len(M)
    for i in range(n):
        if M[i][i] < 0 or (M[i][i] == 0 and any(M[i][c] != 0 for c in range(i, n))):
            return False
        if M[i][i] == 0:
            continue
        for r in range(i + 1, n):
            factor = M[r][i] / M[i][i]
            for c in range(i, n):
                M[r][c] -= factor * M[i][c]
    return True


def is_positive_definite(A: Matrix) -> bool:
    """By elimination: every pivot is positive."""
    M = [row[:] for row in A]
    for i, row in enumerate(M):
        if row[i] <= 0:
            return False
        for r in range(i + 1, len(M)):
            factor = M[r][i] / row[i]
            M[r] = [a - factor * b for a, b in zip(M[r], row)]
    return True


def gram(X: np.ndarray) -> Matrix:
    columns = rows(X.T)
    return [[dot(a, b) for b in columns] for a in columns]


def value_of(X: np.ndarray, y: np.ndarray, support: Sequence[int], gamma: float) -> Fraction:
    """The smallest 1/2 |y - X w|^2 + |w|^2 / (2 gamma) on a support."""
    target, weight = exact(y), Fraction(gamma)
    half = dot(target, target) / 2
    if not support:
        return half
    columns = rows(X[:, list(support)].T)
    system = [[dot(a, b) + (1 / weight if i == j else 0) for j, b in enumerate(columns)] for i, a in enumerate(columns)]
    product = [dot(column, target) for column in columns]
    return half - dot(product, solve(system, product)) / 2


def optimum(X: np.ndarray, y: np.ndarray, k: int, gamma: float, penalty: float = 0.0) -> Fraction:
    """The best of all supports of at most k columns."""
    p = X.shape[1]
    supports = (S for size in range(min(k, p) + 1) for S in combinations(range(p), size))
    return min(value_of(X, y, S, gamma) + Fraction(penalty) * len(S) for S in supports)


def objective_of(
    X: np.ndarray, y: np.ndarray, support: np.ndarray, coef: np.ndarray, gamma: float, penalty: float
) -> Fraction:
    """The objective of these very coefficients."""
    w = exact(coef)
    alpha = [value - dot(row, w) for value, row in zip(exact(y), rows(X[:, support]))]
    return dot(alpha, alpha) / 2 + dot(w, w) / (2 * Fraction(gamma)) + Fraction(penalty) * len(w)


def dual_value(
    X: np.ndarray,
    y: np.ndarray,
    alpha: np.ndarray,
    gamma: float,
    penalty: float,
    k: int,
    inside: Sequence[int] = (),
) -> Fraction:
    """D at a vector of doubles, with the columns `inside` in and all others free."""
    a = exact(alpha)
    terms = [Fraction(gamma) / 2 * dot(column, a) ** 2 - Fraction(penalty) for column in rows(X.T)]
    free = sorted((term for j, term in enumerate(terms) if j not in inside and term > 0), reverse=True)
    taken = sum((terms[j] for j in inside), Fraction(0)) + sum(free[: k - len(inside)], Fraction(0))
    return dot(exact(y), a) - dot(a, a) / 2 - taken


def signed_optimum(
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    gamma: float,
    price: np.ndarray,
    sign: np.ndarray,
    allowed: Callable[[frozenset[int]], bool] = lambda support: True,
) -> Fraction:
    """The best of all allowed supports under signs and prices: a fit with signs is the best of those plain fits of its
    subsets that have the right signs."""
    p, target, weight = X.shape[1], exact(y), Fraction(gamma)
    half = dot(target, target) / 2
    columns = rows(X.T)
    system = [[dot(a, b) + (1 / weight if i == j else 0) for j, b in enumerate(columns)] for i, a in enumerate(columns)]
    product = [dot(column, target) for column in columns]
    fits: dict[frozenset[int], Fraction] = {}
    for size in range(min(k, p) + 1):
        for S in combinations(range(p), size):
            w = solve([[system[i][j] for j in S] for i in S], [product[i] for i in S])
            if all(int(sign[j]) * value >= 0 for j, value in zip(S, w)):
                fits[frozenset(S)] = half - dot([product[i] for i in S], w) / 2
    best = [
        min(value for part, value in fits.items() if part <= set(S)) + sum(exact(price[list(S)]), Fraction(0))
        for size in range(min(k, p) + 1)
        for S in combinations(range(p), size)
        if allowed(frozenset(S))
    ]
    return min(best)
