"""All columns at once: no set of columns takes more off than all of them do (for `completions.py`)."""

from __future__ import annotations

import numpy as np

from parsifal.proof.certificate import FloatArray, IntArray
from parsifal.proof.scaled import unit

# How much below what is allowed an estimate has to be before it is proven.
_CLEARLY = 1 - 1e-9


def whole_leads(b: FloatArray, G: FloatArray, most: float) -> tuple[IntArray, int] | None:
    """An order of the columns, and how many of the first make the others together take off at most `most`; None if
    that is not known of any.

    Those without which the others lose most come first. What is estimated for the choice is proven by `most_taken`.
    """
    order = np.arange(b.size)
    factor = _inverse_factor(G)
    if factor is None:
        return None
    # With w the coefficients of all columns, column j is worth w_j^2 / (G^-1)_jj beside all others.
    inverse = factor.T @ factor
    order = np.argsort(-((inverse @ b) ** 2) / inverse.diagonal(), kind="stable")
    back = order[::-1]
    factor = _inverse_factor(G[back][:, back])
    if factor is None:
        return None
    taken = np.cumsum((factor @ b[back]) ** 2)
    count = b.size - int(np.searchsorted(taken, most * _CLEARLY, side="right"))
    rest = order[count:]
    if rest.size and not most_taken(b[rest], G[rest][:, rest]) <= most:
        return None
    return order, count


def most_taken(b: FloatArray, G: FloatArray) -> float:
    """Not below the largest 2 w'b - w'G w of all w; infinite where that is not known.

    Proof: with r = b - G w0 it is w0'b + w0'r + the largest 2 v'r - v'G v, the last at most |r|^2 / h if G >= h Id, for
    any w0. And if W G W' differs from Id by at most `off` < 1 in Frobenius norm, W has an inverse and
    G >= (1 - off) (W'W)^-1 >= (1 - off) / |W|_F^2. What is computed of W G W' is off by twice unit(m) |W| |G| |W'|,
    and r by unit(m) (|b| + |G| |w0|).
    """
    W, m = _inverse_factor(G), b.size
    if W is None:
        return np.inf
    sizes, size = np.abs(G), np.abs(W)
    off = np.abs(W @ G @ W.T - np.eye(m)) + 2.1 * unit(m) * (size @ sizes @ size.T)
    worst, square = 1.01 * float(np.linalg.norm(off)), 1.01 * float(np.sum(W * W))
    w = W.T @ (W @ b)
    r = np.abs(b - G @ w) + 1.01 * unit(m) * (np.abs(b) + sizes @ np.abs(w))
    if not worst < 1:
        return np.inf
    value = float(w @ b) + (1 + unit(m + 8)) * float(np.abs(w) @ r + unit(m) * (np.abs(w) @ np.abs(b)))
    bound = value + 1.01 * float(r @ r) * square / (1 - worst)
    return bound + unit(8) * abs(bound) if np.isfinite(bound) else np.inf


def _inverse_factor(G: FloatArray) -> FloatArray | None:
    """The inverse of a Cholesky factor of G, or something near it; None if there is none."""
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(G))
    except np.linalg.LinAlgError:
        return None
    return inverse if np.isfinite(inverse).all() else None
