"""A first-order opponent for `pf.relax`: FISTA with restart on the squared k-support norm, in NumPy.

It minimises 1/2 |y - X v|^2 + Omega(v) with

    Omega(v) = min_s sum v_j^2 / (2 gamma s_j),   0 <= s <= 1,   sum s <= k,

and stops at a relative gap between this value and the dual bound of the relaxation, as `pf.relax` does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fista:
    """Where FISTA stopped: ``bound <= optimum of the relaxation <= primal``."""

    v: np.ndarray
    primal: float
    bound: float
    iterations: int
    converged: bool


def fractions(z: np.ndarray, k: int, gamma: float, sigma: float) -> np.ndarray:
    """Return s_j = clamp((theta |z_j| - sigma) / gamma, 0, 1) with the theta for which sum s = k, exactly.

    The sum is piecewise linear and rises in theta, with corners at sigma / |z_j| and (sigma + gamma) / |z_j|.
    """
    magnitude = np.abs(z)
    m = np.sort(magnitude[magnitude > 0])[::-1]
    if m.size <= k:
        return (magnitude > 0).astype(float)
    corner = np.concatenate([sigma / m, (sigma + gamma) / m])
    slope = np.concatenate([m, -m]) / gamma
    order = np.argsort(corner, kind="stable")
    corner, slope = corner[order], np.cumsum(slope[order])
    total = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(corner))])
    # The sum reaches k between corner at - 1 and corner at.
    at = max(1, int(np.searchsorted(total, k)))
    theta = corner[at - 1] + (k - total[at - 1]) / slope[at - 1]
    return np.clip((theta * magnitude - sigma) / gamma, 0.0, 1.0)


def prox(z: np.ndarray, k: int, gamma: float, step: float) -> np.ndarray:
    """Return argmin_v |v - z|^2 / (2 step) + Omega(v)."""
    s = fractions(z, k, gamma, step)
    return z * (gamma * s / (gamma * s + step))


def omega(v: np.ndarray, k: int, gamma: float) -> float:
    """Return Omega(v)."""
    s = fractions(v, k, gamma, 0.0)
    used = v != 0
    return float(np.sum(v[used] ** 2 / s[used])) / (2 * gamma)


def dual_bound(y: np.ndarray, alpha: np.ndarray, beta: np.ndarray, k: int, gamma: float) -> float:
    """Return the dual value at the best multiple of alpha, where beta = X'alpha."""
    squares = beta**2
    top = float(np.partition(squares, squares.size - k)[squares.size - k :].sum())
    inner = float(y @ alpha)
    curvature = float(alpha @ alpha) + gamma * top
    return 0.5 * inner * inner / curvature if curvature > 0 else 0.0


def lipschitz(X: np.ndarray, iterations: int = 100, tolerance: float = 1e-3) -> float:
    """Return the largest eigenvalue of X'X by power iteration, with a little to spare."""
    u = np.random.default_rng(0).standard_normal(X.shape[0])
    value = 0.0
    for _ in range(iterations):
        u /= np.linalg.norm(u)
        u = X @ (X.T @ u)
        last, value = value, float(np.linalg.norm(u))
        if value - last <= tolerance * value:
            break
    return 1.02 * value


def fista(
    X: np.ndarray, y: np.ndarray, k: int, gamma: float, *, tolerance: float = 1e-6, max_iterations: int = 20_000
) -> Fista:
    """Solve the relaxation to a relative gap; one product with X and one with X' an iteration."""
    step = 1.0 / lipschitz(X)
    v = np.zeros(X.shape[1])
    fit = np.zeros(X.shape[0])
    w, fit_w = v, fit
    momentum, bound, primal = 1.0, -np.inf, np.inf
    for iteration in range(1, max_iterations + 1):
        alpha = y - fit_w
        beta = X.T @ alpha
        new = prox(w + step * beta, k, gamma, step)
        new_fit = X @ new
        if iteration % 5 == 0:
            # The gradient is at w, so that its dual value costs no further product.
            bound = max(bound, dual_bound(y, alpha, beta, k, gamma))
            residual = y - new_fit
            primal = 0.5 * float(residual @ residual) + omega(new, k, gamma)
            if primal - bound <= tolerance * primal:
                return Fista(new, primal, bound, iteration, True)
        if (w - new) @ (new - v) > 0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = (momentum - 1.0) / following
        w, fit_w = new + ahead * (new - v), new_fit + ahead * (new_fit - fit)
        v, fit, momentum = new, new_fit, following
    return Fista(v, primal, bound, max_iterations, False)
