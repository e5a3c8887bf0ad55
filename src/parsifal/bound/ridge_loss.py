"""The regression loss and its gradient (Algorithm 2 of the paper).

For a support S, or a vector s in [0, 1]^p, with X_s the columns scaled by sqrt(s_j):

    c(s)     = min_w  1/(2 gamma) |w|^2 + 1/2 |y - X_s w|^2 = 1/2 y' alpha
    alpha(s) = y - X_s (I/gamma + X_s'X_s)^-1 X_s' y
    dc/ds_j  = -gamma/2 (x_j' alpha)^2
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import parsifal._core as _core
from parsifal._public import public
from parsifal.arguments import SMALLEST_SQUARE, check_gamma, check_response, check_support
from parsifal.arrays import BoolArray, FloatArray, IntArray
from parsifal.bound.dual import dual_terms, safe_dual_value
from parsifal.bound.rounding import sum_unit
from parsifal.design import Design, as_design
from parsifal.errors import InputError, NumericalError
from parsifal.problem.column_rules import ColumnRules, SignArray
from parsifal.problem.solution import Incumbent

# Singular values of unit columns below it are rounding, where there is no ridge.
_DEPENDENT = 1e-11


@public
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
        Ridge weight, > 0; ``np.inf``: none.

    Returns
    -------
    Loss
        ``(value, gradient)``; the gradient has length p and is never positive. Without a ridge it is minus infinity for
        every column that has something to add, and zero for the others.
    """
    design = as_design(X)
    n, p = design.shape
    response = check_response(y, n)
    weight = check_gamma(gamma, ridgeless=True)
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
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            w = ridge(columns, response, weight)
            alpha = response - columns @ w
        value = check_value(primal_value(alpha, w, weight), index, response, columns)
    scan = design.scan(alpha, stats=True)
    beta, squares = scan.xv, np.asarray(scan.squares)
    if np.isinf(weight):
        level = sum_unit(n + index.size) * float(np.linalg.norm(response))
        adds = np.abs(beta) > 8 * level * np.sqrt(squares)
        return Loss(value, np.where(adds, -np.inf, 0.0))
    with np.errstate(over="ignore"):
        # In this order: gamma beta_j^2 may be a number where beta_j^2 is none.
        gradient = -dual_terms((np.sqrt(weight) * beta) ** 2, 1.0)
    if not np.isfinite(gradient).all():
        column = int(np.argmax(np.abs(beta)))
        raise NumericalError(f"the gradient at column {column} is no number in double precision; rescale X or y")
    return Loss(value, gradient)


def ridge(columns: FloatArray, y: FloatArray, gamma: float) -> FloatArray:
    """Minimise 1/(2 gamma) |w|^2 + 1/2 |y - columns w|^2.

    Normal equations with refinement against residuals computed from the columns (cpp/bound/fit.hpp); where they are too
    ill-conditioned to be factorised, a QR factorisation of the columns stacked on I/sqrt(gamma). Without a ridge,
    columns that depend on each other share what they explain (the smallest of the solutions).
    """
    k = columns.shape[1]
    if k == 0:
        return np.zeros(0)
    w = _core.fit_columns(columns, y, gamma)
    if w.size:
        return w
    if np.isinf(gamma):
        unit, exponent = _to_size_one(columns)
        norms = np.linalg.norm(unit, axis=0)
        norms[norms == 0] = 1.0
        return np.asarray(np.ldexp(np.linalg.lstsq(unit / norms, y, rcond=_DEPENDENT)[0] / norms, -exponent))
    # Equilibrated: columns of very different scale would otherwise spoil the factorisation.
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns) + 1 / gamma)
    stacked = np.vstack([columns / norms, np.diag(1 / (math.sqrt(gamma) * norms))])
    padded = np.concatenate([y, np.zeros(k)])
    return np.asarray(np.linalg.lstsq(stacked, padded, rcond=1e-15)[0] / norms)


def _to_size_one(columns: FloatArray) -> tuple[FloatArray, IntArray]:
    """Columns times powers of two, and the exponents that were taken off: without a ridge units do not matter, but
    squares of tiny entries would be zero, and a column of zeros spans nothing."""
    exponent = np.frexp(np.abs(columns).max(axis=0, initial=0.0))[1]
    return np.ldexp(columns, -exponent), exponent


def primal_value(alpha: FloatArray, w: FloatArray, gamma: float) -> float:
    """1/2 |alpha|^2 + |w|^2 / (2 gamma) for alpha = y - X w: an upper bound on c(S) whatever w is."""
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isinf(gamma):
            return 0.5 * float(alpha @ alpha)
        square = float(w @ w)
        if not SMALLEST_SQUARE < square < np.inf:
            # The quotient may be a number where the squares are none.
            scaled = w / np.sqrt(gamma)
            return 0.5 * float(alpha @ alpha) + 0.5 * float(scaled @ scaled)
        return 0.5 * float(alpha @ alpha) + 0.5 * square / gamma


def check_value(value: float, support: IntArray, y: FloatArray, columns: FloatArray) -> float:
    """Return the value of a fit, or say that it is none and of which columns."""
    if np.isfinite(value):
        return value
    least = int(np.argmin(np.abs(columns).max(axis=0))) if columns.size else -1
    which = "" if least < 0 else f" (column {support[least]} has entries up to {np.abs(columns[:, least]).max():.1e})"
    raise NumericalError(
        f"the fit of {support.size} columns{which} to y, of entries up to {np.abs(y).max():.1e}, has no value in "
        "double precision; rescale X or y, or use another gamma"
    )


def ridge_with_signs(columns: FloatArray, y: FloatArray, gamma: float, sign: SignArray) -> FloatArray:
    """`ridge` with w_j >= 0 where sign_j = 1 and w_j <= 0 where it is -1: Lawson and Hanson's active-set method.

    Every step is a fit of the columns that are not held at zero; it ends where no column that is would leave it.
    """
    w = ridge(columns, y, gamma)
    active = ~_wrong(w, sign)
    if active.all():
        return w
    # A feasible point to begin with: without the columns of the wrong sign, until none is left.
    while True:
        w = _fit_some(columns, y, gamma, active)
        wrong = active & _wrong(w, sign)
        if not wrong.any():
            break
        active &= ~wrong
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    for _ in range(3 * w.size + 10):
        pull = columns.T @ (y - columns @ w) * sign
        # What rounding leaves of a gradient that is zero is not worth a step.
        pull[active | (pull <= 1e-12 * norms * float(np.linalg.norm(y)))] = 0.0
        if not pull.any():
            break
        active[np.argmax(pull / np.maximum(norms, 1e-300))] = True
        while True:
            z = _fit_some(columns, y, gamma, active)
            wrong = active & _wrong(z, sign)
            if not wrong.any():
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(wrong, w / (w - z), np.inf)
            part = np.where(np.isnan(part), 0.0, part)
            w = w + float(part.min()) * (z - w)
            active &= ~(part <= part.min())
            w[~active] = 0.0
        w = z
    return w


def _wrong(w: FloatArray, sign: SignArray) -> BoolArray:
    return np.asarray((sign != 0) & ~(sign * w > 0))


def _fit_some(columns: FloatArray, y: FloatArray, gamma: float, active: BoolArray) -> FloatArray:
    w = np.zeros(active.size)
    w[active] = ridge(columns[:, active], y, gamma)
    return w


def fit_support(
    design: Design,
    y: FloatArray,
    support: IntArray,
    gamma: float,
    penalty: float,
    columns: FloatArray | None = None,
    rules: ColumnRules | None = None,
) -> Incumbent:
    """Fit a support on the columns themselves; its objective is a primal value and hence an upper bound.

    `rules` are those of all columns: their signs hold for the fit, and their prices count in place of the penalty.
    """
    if support.size == 0:
        return Incumbent(support=support, coef=np.zeros(0), objective=0.5 * float(y @ y))
    order = np.argsort(support)
    support = support[order]
    block = design.columns(support) if columns is None else columns[:, order]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not np.isfinite(np.einsum("ij,ij->j", block, block)).all():
            design.scan(y, stats=True)  # names the entry
        if rules is not None and np.any(rules.sign[support]):
            w = ridge_with_signs(block, y, gamma, rules.sign[support])
        else:
            w = ridge(block, y, gamma)
        value, usual = _core.fit_value(block, y, w, gamma)
        if not usual:
            value = primal_value(precise_residual(y, block, w), w, gamma)
        value += penalty * support.size if rules is None else float(rules.price[support].sum())
    return Incumbent(support=support, coef=w, objective=check_value(value, support, y, block))


def support_bound(
    design: Design, y: FloatArray, fit: Incumbent, gamma: float, rules: ColumnRules | None = None
) -> float:
    """A lower bound on c(S) for this support alone (with rules, and its price): the dual value at its residual."""
    block = design.columns(fit.support)
    alpha = y - block @ fit.coef
    if np.isinf(gamma):
        sign = None if rules is None else rules.sign[fit.support]
        price = 0.0 if rules is None else float(rules.price[fit.support].sum())
        return _ridgeless_bound(block, y, alpha, fit.coef, sign) + price * (1 - sum_unit(fit.support.size))
    error = sum_unit(y.size) * float(np.linalg.norm(alpha)) * np.linalg.norm(block, axis=0)
    inside, k = np.ones(fit.support.size, dtype=np.int8), fit.support.size
    here = None if rules is None else rules.take(fit.support)
    bound, _ = safe_dual_value(y, alpha, block.T @ alpha, error, inside, gamma=gamma, penalty=0.0, k=k, rules=here)
    return max(bound, 0.0)


def _ridgeless_bound(
    block: FloatArray, y: FloatArray, alpha: FloatArray, w: FloatArray, sign: SignArray | None
) -> float:
    """1/2 |alpha|^2 less what its part in the span of the columns can be: |X'alpha|^2 / (2 smallest eigenvalue).

    A product of the wrong sign, of a column whose coefficient is zero, is none that a change of coefficients can use.
    """
    block, exponent = _to_size_one(block)
    with np.errstate(over="ignore"):
        w = np.ldexp(w, exponent)
    norms = np.linalg.norm(block, axis=0)
    unit = block[:, norms > 0] / norms[norms > 0]
    size = float(np.linalg.norm(alpha))
    blur = sum_unit(w.size) * (float(np.linalg.norm(y)) + float(np.abs(w) @ norms))  # of alpha as it was computed
    if unit.shape[1] == 0:
        return max(0.0, 0.5 * size**2 * (1 - sum_unit(y.size)))
    eps = sum_unit(y.size + unit.shape[1])
    least = float(np.linalg.eigvalsh(unit.T @ unit)[0]) - 2 * unit.shape[1] * eps
    if not least > 0:
        return 0.0
    product = unit.T @ alpha
    if sign is not None:
        own, held = sign[norms > 0], w[norms > 0] == 0
        product = np.where((own != 0) & held, np.maximum(own * product, 0.0), product)
    within = float(np.linalg.norm(product)) + float(np.sqrt(unit.shape[1])) * (eps * size + blur)
    return float(max(0.0, 0.5 * (size - blur) ** 2 * (1 - eps) - 0.5 * within**2 / least))


def precise_residual(y: FloatArray, columns: FloatArray, w: FloatArray) -> FloatArray:
    """y - columns @ w with twice the digits of a double (cpp/bound/precise.hpp)."""
    return _core.precise_residual(y, columns, w)
