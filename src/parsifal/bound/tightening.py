"""Tightening: part of the Gram matrix's diagonal joins the ridge.

With X'X - diag(d) positive semidefinite,

    LS(w) + |w|^2 / (2 gamma) = [LS(w) - 1/2 sum d_j w_j^2] + sum (d_j + 1/gamma) w_j^2 / 2,

the bracket is still convex, and the relaxation divides the whole second part by s_j. In the variables
v_j = w_j sqrt(1 + gamma d_j) = w_j / S_j the problem has the old form with Gram matrix S (X'X - diag(d)) S.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FixArray, FloatArray
from parsifal.bound.dual import threshold
from parsifal.bound.quadratic import NodeRelaxation, Quadratic
from parsifal.bound.rounding import sum_unit
from parsifal.deadline import seconds_left

# Columns beyond which all have the same part of their squares (cpp/bound/tighten.cpp), and beyond which that is tried
# first.
MOST_IN_DETAIL, EVEN_FIRST = 500, 64
# The least eigenvalue of columns of length one beyond which the same diagonal for all is a good one to begin with.
_MUCH = 0.03


@dataclass(frozen=True, kw_only=True)
class Tightened:
    """A tightened problem and the way back: ``w = v * scale``."""

    quadratic: Quadratic
    diagonal: FloatArray
    scale: FloatArray


def tightening_diagonal(
    gram: FloatArray, weight: FloatArray | None = None, *, unit: float, gamma: float, max_newton: int = 20
) -> FloatArray:
    """Return d with ``X'X - diag(d)`` positive semidefinite, weight'd as large as a few steps make it.

    That holds for the exact ``X'X``, from which `gram` differs by at most `unit` times the columns' norms: a little is
    taken off every entry, which makes those slightly negative that belong to columns in a linear dependency.
    ``1 + gamma d`` stays above 0.9.
    """
    if weight is None:
        weight = np.ones(gram.shape[0])
    return np.asarray(
        _core.tightening(gram, weight, max_newton=max_newton, unit=unit, gamma=gamma, seconds=seconds_left())
    )


def tighten(problem: Quadratic, diagonal: FloatArray) -> Tightened:
    """Move `diagonal` from the least-squares part of the problem to its ridge."""
    # Without a ridge the diagonal is all there is: in these units it is that of gamma = 1.
    ridgeless = np.isinf(problem.gamma)
    scale = 1.0 / np.sqrt(diagonal if ridgeless else 1.0 + problem.gamma * diagonal)
    gram = np.array(problem.gram, order="F")
    gram[np.diag_indices(problem.size)] -= diagonal
    gram *= scale[:, None]
    gram *= scale[None, :]
    quadratic = replace(
        problem,
        gamma=1.0 if ridgeless else problem.gamma,
        gram=gram,
        v0=problem.v0 / scale,
        beta0=scale * (problem.beta0 + diagonal * problem.v0),
        ls0=problem.ls0 - 0.5 * float(diagonal @ problem.v0**2),
        rounding=problem.rounding.tightened(scale, problem.v0),
    )
    return Tightened(quadratic=quadratic, diagonal=diagonal, scale=scale)


def tighten_evenly(problem: Quadratic) -> Tightened | None:
    """Tighten by the same part of all columns' squares, which takes a moment; None if that is not much."""
    tightened = tighten_all(problem, max_newton=0)
    if tightened is None or tightened.diagonal[0] < _MUCH * problem.gram[0, 0]:
        return None
    return tightened


def tighten_all(problem: Quadratic, *, max_newton: int = 20) -> Tightened | None:
    """Tighten with the largest diagonal, columns counting alike whatever their units; None if there is none."""
    squares = np.maximum(np.diag(problem.gram), np.finfo(np.float64).tiny)
    unit = problem.rounding.unit + sum_unit(problem.size)
    diagonal = tightening_diagonal(problem.gram, 1.0 / squares, unit=unit, gamma=problem.gamma, max_newton=max_newton)
    enough = np.all(diagonal > 0) if np.isinf(problem.gamma) else np.any(diagonal > 0)
    return tighten(problem, diagonal) if enough else None


def strain(q: Quadratic, y: FloatArray, node: NodeRelaxation, fix: FixArray) -> float:
    """What the rounding of alpha = y - X w can be worth at a tightened node: gamma |beta_j| times the error of beta_j,
    over the columns that the dual value takes, or nearly; `q` is the tightened problem."""
    norms = q.rounding.norm
    size = np.abs(node.best_beta)
    sizes = size if q.rules is None else q.rules.sizes(node.best_beta, q.gamma)
    near = sizes >= 0.999 * threshold(node.best_beta, fix, gamma=q.gamma, penalty=q.penalty, k=q.k, rules=q.rules)
    reach = float(np.linalg.norm(y)) + 2 * float(np.abs(node.best_v) @ norms)
    return sum_unit(int(np.count_nonzero(node.best_v))) * reach * q.gamma * float(size[near] @ norms[near])
