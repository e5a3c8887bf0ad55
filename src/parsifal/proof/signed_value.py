"""The objective of a support whose coefficients have signs, from below and from the data.

Let A hold the columns of the support with the ridge in them, A'A >= h Id, u coefficients of the right signs and
r = y - A u. Any other coefficients of the right signs are u + v, where v_j has the sign of column j wherever u_j is
zero and the column has one. Twice their objective is

    |r - A v|^2  >=  |r|^2 - 2 v'A'r + h |v|^2  >=  |r|^2 - |g|^2 / h,

with g_j = |a_j'r|, and g_j = max(0, sign_j a_j'r) where u_j is zero and the column has a sign: a product of the other
sign only adds. So any u will do, and one that an active-set method has found loses no more than rounding.
"""

from __future__ import annotations

import numpy as np

from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.place import Place
from parsifal.proof.scaled import UNDERFLOW, precise_residual, total, unit


def signed_value(place: Place) -> float:
    """Not above the objective of the columns of a place with the signs of their coefficients, their price included.

    Proof: above, with the allowances of `Place`: r is off by `drift`, its products by unit(n + q) besides.
    """
    data, price = place.data, place.data.price_of(place.index)
    sign = data.sign[place.index[place.some]]
    if place.q == 0 or not sign.any() or not place.h > 0:
        return price
    y = np.concatenate([data.y, np.zeros(place.q)])
    u = _fit(place.A, y, sign)
    if not np.isfinite(u).all() or np.any(sign * u < 0):
        return price
    r = precise_residual(y, place.A, u)
    length = float(np.linalg.norm(r))
    if not np.isfinite(length):
        return price
    drift = unit(0) * length + 4 * unit(place.q) ** 2 * (data.size + float(np.abs(u) @ place.norms)) + UNDERFLOW
    off = (unit(place.terms) * length + drift) * place.norms
    product = place.A.T @ r
    slope = np.where((sign != 0) & (u == 0), np.maximum(sign * product + off, 0.0), np.abs(product) + off)
    shortest = max(0.0, length * (1 - unit(place.terms)) - drift)
    rest = total(shortest * shortest * (1 - 4 * unit(0)), -1.02 * float(slope @ slope) / place.h - UNDERFLOW)
    return max(price, total(0.5 * rest, price)) if rest > 0 else price


def _fit(A: FloatArray, y: FloatArray, sign: IntArray) -> FloatArray:
    """Least squares with signs, about (Lawson and Hanson). Nothing rests on how good it is."""
    q = A.shape[1]
    active, u = sign == 0, np.zeros(q)
    u = _solve(A, y, active)
    lengths = np.linalg.norm(A, axis=0)
    level = 1e-14 * lengths * float(np.linalg.norm(y))
    for _ in range(3 * q + 10):
        pull = sign * (A.T @ (y - A @ u))
        pull[active | (pull <= level)] = 0.0
        if not pull.any():
            break
        active[np.argmax(pull / np.maximum(lengths, UNDERFLOW))] = True
        for _ in range(q + 1):
            z = _solve(A, y, active)
            wrong = active & (sign != 0) & ~(sign * z > 0)
            if not wrong.any():
                u = z
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(wrong, u / (u - z), np.inf)
            part = np.where(np.isnan(part), 0.0, part)
            u = u + float(part.min()) * (z - u)
            active &= part > part.min()
            u[~active] = 0.0
    # Steps that rounding has led astray.
    return np.where(sign * u < 0, 0.0, u)


def _solve(A: FloatArray, y: FloatArray, active: np.ndarray) -> FloatArray:
    u = np.zeros(A.shape[1])
    if active.any():
        columns = A[:, active]
        some = np.linalg.lstsq(columns, y, rcond=None)[0]
        u[active] = some + np.linalg.lstsq(columns, y - columns @ some, rcond=None)[0]
    return u
