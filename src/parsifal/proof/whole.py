"""All columns at once: no set of columns takes more off than all of them do (for `completions.py` and `levels.py`).

Problems (b, G) are given many at a time, of one size: b has a row and G a matrix for each.
"""

from __future__ import annotations

import numpy as np

from parsifal.proof.certificate import BoolArray, FloatArray, IntArray
from parsifal.proof.scaled import unit

# How much below what is allowed an estimate has to be before it is proven.
_CLEARLY = 1 - 1e-9


def whole_leads(b: FloatArray, G: FloatArray, most: FloatArray) -> tuple[IntArray, IntArray, BoolArray]:
    """For every problem an order of its columns; how many of the first make the others together take off at most
    `most`; and whether that is known, which it need not be of any.

    Those without which the others lose most come first. What is estimated for the choice is proven by `most_taken`.
    """
    problems, m = b.shape
    unknown = np.tile(np.arange(m), (problems, 1)), np.full(problems, m), np.zeros(problems, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            inverse = np.linalg.inv(G)
        except np.linalg.LinAlgError:
            return unknown if problems == 1 else _one_by_one(b, G, most)
        # With w the coefficients of all columns, column j is worth w_j^2 / (G^-1)_jj beside all others.
        worth = (inverse @ b[..., None])[..., 0] ** 2 / np.einsum("sii->si", inverse)
    order = np.argsort(-worth, axis=1, kind="stable")
    back, each = order[:, ::-1], np.arange(problems)[:, None]
    G, b = G[each[:, :, None], back[:, :, None], back[:, None, :]], b[each, back]
    try:
        W = np.linalg.inv(np.linalg.cholesky(G))
    except np.linalg.LinAlgError:
        return unknown if problems == 1 else _one_by_one(b, G, most, order)
    taken = np.cumsum((W @ b[..., None])[..., 0] ** 2, axis=1)
    others = np.count_nonzero(taken <= most[:, None] * _CLEARLY, axis=1)
    # The leads are replaced by unit columns that have nothing to do with the others, or with b.
    kept = np.arange(m) < others[:, None]
    b = np.where(kept, b, 0.0)
    both = kept[:, :, None] & kept[:, None, :]
    G, W = np.where(both, G, np.eye(m)), np.where(both, W, np.eye(m))
    return order, m - others, np.asarray(most_taken(b, G, W) <= most)


def _one_by_one(
    b: FloatArray, G: FloatArray, most: FloatArray, order: IntArray | None = None
) -> tuple[IntArray, IntArray, BoolArray]:
    """Each by itself, where one of them has no factor; columns in the reverse of `order`, if they have been put so."""
    found = [whole_leads(b[i : i + 1], G[i : i + 1], most[i : i + 1]) for i in range(b.shape[0])]
    orders, counts, known = (np.concatenate(part) for part in zip(*found))
    if order is not None:
        orders = np.take_along_axis(order[:, ::-1], orders, axis=1)
    return orders, counts, known


def most_taken(b: FloatArray, G: FloatArray, W: FloatArray) -> FloatArray:
    """Not below the largest 2 w'b - w'G w of all w; infinite where that is not known. W, whatever it is, is meant to be
    the inverse of a Cholesky factor of G.

    Proof: with r = b - G w0 it is w0'b + w0'r + the largest 2 v'r - v'G v, the last at most |r|^2 / h if G >= h Id, for
    any w0. And if W G W' differs from Id by at most `off` < 1 in Frobenius norm, W has an inverse and
    G >= (1 - off) (W'W)^-1 >= (1 - off) / |W|_F^2. What is computed of W G W' is off by twice unit(m) |W| |G| |W'|,
    and r by unit(m) (|b| + |G| |w0|).
    """
    m = b.shape[1]
    sizes, size, turned = np.abs(G), np.abs(W), np.swapaxes(W, 1, 2)
    off = np.abs(W @ G @ turned - np.eye(m)) + 2.1 * unit(m) * (size @ sizes @ np.abs(turned))
    worst, square = 1.01 * np.sqrt(np.einsum("sij,sij->s", off, off)), 1.01 * np.einsum("sij,sij->s", W, W)
    w = (turned @ (W @ b[..., None]))[..., 0]
    r = np.abs(b - (G @ w[..., None])[..., 0])
    r += 1.01 * unit(m) * (np.abs(b) + (sizes @ np.abs(w)[..., None])[..., 0])
    charge = np.einsum("sj,sj->s", np.abs(w), r) + unit(m) * np.einsum("sj,sj->s", np.abs(w), np.abs(b))
    value = np.einsum("sj,sj->s", w, b) + (1 + unit(m + 8)) * charge
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = value + 1.01 * np.einsum("sj,sj->s", r, r) * square / (1 - worst)
        bound += unit(8) * np.abs(bound)
    return np.asarray(np.where((worst < 1) & np.isfinite(bound), bound, np.inf))
