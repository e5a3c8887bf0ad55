"""The regression loss and its gradient (Algorithm 2 of the paper).

For a support S, or a vector s in [0, 1]^p, with X_s the columns scaled by sqrt(s_j):

    c(s)     = min_w  1/(2 gamma) |w|^2 + 1/2 |y - X_s w|^2 = 1/2 y' alpha
    alpha(s) = y - X_s (I/gamma + X_s'X_s)^-1 X_s' y
    dc/ds_j  = -gamma/2 (x_j' alpha)^2
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from parsifal.design import Design, as_design
from parsifal.errors import InputError
from parsifal.problem import FloatArray, IntArray, check_gamma, check_response, check_support
from parsifal.solution import Incumbent


class Loss(NamedTuple):
    """c(s) and its gradient with respect to s."""

    value: float
    gradient: FloatArray


def loss(X: Any, y: Any, support: Any, gamma: float) -> Loss:
    """Evaluate the regression loss c(s) and its gradient.

    Parameters
    ----------
    X : matrix or Design of shape (n, p)
        The columns: an array, a frame, a sparse matrix or a `Design`.
    y : array of shape (n,)
        The response.
    support : int array, bool array or float array
        Column indices, a mask of length p, or a fractional s in [0, 1]^p.
    gamma : float
        Ridge weight, > 0.

    Returns
    -------
    Loss
        ``(value, gradient)``; the gradient has length p and is never positive.
    """
    design = as_design(X)
    n, p = design.shape
    response = check_response(y, n)
    weight = check_gamma(gamma)
    array = np.asarray(support)
    if array.dtype.kind == "f" and array.size:
        if array.shape != (p,) or not np.all((array >= 0) & (array <= 1)):
            raise InputError(f"a fractional s must have shape ({p},) and entries in [0, 1]")
        index, root = np.flatnonzero(array), np.sqrt(array[array > 0])
    else:
        index = check_support(support, p)
        root = np.ones(index.size)
    columns = design.columns(index) * root
    with np.errstate(over="ignore", invalid="ignore"):
        usable = bool(np.isfinite(np.einsum("ij,ij->j", columns, columns)).all())
    # The read refuses entries that are not finite, or too large to square, and names the first.
    alpha = response
    if usable:
        w = ridge(columns, response, weight)
        alpha = response - columns @ w
    beta = design.scan(alpha, stats=True).xv
    return Loss(primal_value(alpha, w, weight), -0.5 * weight * beta**2)


def ridge(columns: FloatArray, y: FloatArray, gamma: float) -> FloatArray:
    """Minimise 1/(2 gamma) |w|^2 + 1/2 |y - columns w|^2.

    Normal equations with refinement against residuals computed from the columns; where they are too ill-conditioned
    to be factorised, a QR factorisation of the columns stacked on I/sqrt(gamma).
    """
    k = columns.shape[1]
    if k == 0:
        return np.zeros(0)
    # Equilibrated: columns of very different scale would otherwise spoil the factorisation.
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns) + 1 / gamma)
    scaled = columns / norms
    ridge_diagonal = 1 / (gamma * norms**2)
    system = scaled.T @ scaled
    system[np.diag_indices(k)] += ridge_diagonal
    try:
        factor = np.linalg.cholesky(system)
        well = bool(factor.diagonal().min() > 1e-5)
    except np.linalg.LinAlgError:
        well = False
    if not well:
        stacked = np.vstack([scaled, np.diag(np.sqrt(ridge_diagonal))])
        padded = np.concatenate([y, np.zeros(k)])
        return np.asarray(np.linalg.lstsq(stacked, padded, rcond=1e-15)[0] / norms)
    inverse = np.linalg.inv(system)
    u = inverse @ (scaled.T @ y)
    for _ in range(2):
        u = u + inverse @ (scaled.T @ (y - scaled @ u) - ridge_diagonal * u)
    return np.asarray(u / norms)


def primal_value(alpha: FloatArray, w: FloatArray, gamma: float) -> float:
    """1/2 |alpha|^2 + |w|^2 / (2 gamma) for alpha = y - X w: an upper bound on c(S) whatever w is."""
    return 0.5 * float(alpha @ alpha) + 0.5 * float(w @ w) / gamma


def fit_support(
    design: Design, y: FloatArray, support: IntArray, gamma: float, penalty: float, columns: FloatArray | None = None
) -> Incumbent:
    """Fit a support on the columns themselves; its objective is a primal value and hence an upper bound."""
    order = np.argsort(support)
    support = support[order]
    block = design.columns(support) if columns is None else columns[:, order]
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(np.einsum("ij,ij->j", block, block)).all():
            design.scan(y, stats=True)  # names the entry
    w = ridge(block, y, gamma)
    return Incumbent(support=support, coef=w, objective=primal_value(y - block @ w, w, gamma) + penalty * support.size)
