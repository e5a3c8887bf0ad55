"""A Lasso path as GLMNet computes it: coordinate descent down a grid of weights, with strong rules to skip columns.

    min_w  1/(2 n) |y - X w|^2 + a |w|_1,    a_1 > a_2 > ... from where w = 0

The strong rule keeps the columns with |x_j'r| / n >= 2 a_t - a_{t-1}, r the residual at a_{t-1}; one read of X after
the solve tells whether it was right. So X may be any `Design`, and a path costs about one read per weight.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path
from threadpoolctl import threadpool_limits

from parsifal.arrays import FloatArray, IntArray
from parsifal.design import Design, as_design
from parsifal.errors import InputError

# GLMNet's grid and where it stops early: at this share of the variance, or when a step adds less than the other one.
WEIGHTS = 100
LEAST_WIDE, LEAST_TALL = 1e-2, 1e-4
_ENOUGH, _NO_MORE = 0.999, 1e-5
_LEAST_STEPS = 5
_SLACK = 1e-6
_TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True)
class LassoPoint:
    """A point of a Lasso path.

    Attributes
    ----------
    support : int array
        Columns with a nonzero coefficient, sorted.
    coef : array
        Their coefficients.
    weight : float
        The weight a of the L1 norm.
    """

    support: IntArray
    coef: FloatArray
    weight: float


def weight_grid(largest: float, n: int, p: int) -> FloatArray:
    """GLMNet's weights, given the largest."""
    if not largest > 0:
        raise InputError("y is orthogonal to every column, so the Lasso has no path")
    return np.geomspace(largest, largest * (LEAST_WIDE if n < p else LEAST_TALL), WEIGHTS)


def glmnet_path(X: Any, y: FloatArray, *, early_stop: bool = True, threads: int = 0) -> list[LassoPoint]:
    """Compute the path; this is what the paper times.

    Parameters
    ----------
    X : matrix of shape (n, p)
        Anything that `as_design` takes.
    y : array of shape (n,)
        The response.
    early_stop : bool
        Whether to end the path where GLMNet does, once a smaller weight explains no more.
    threads : int
        Threads of a read; 0 means all cores.

    Returns
    -------
    list of LassoPoint
        One per weight, the largest weight first.
    """
    # The products are small, and the BLAS's threads would only be in the way of those of the reads.
    with threadpool_limits(1, "blas"):
        return _path(as_design(X), y, early_stop, threads)


def _path(design: Design, y: FloatArray, early_stop: bool, threads: int) -> list[LassoPoint]:
    n, p = design.shape
    total = float(y @ y)
    scores = np.abs(design.scan(y, threads=threads).xv) / n
    weights = weight_grid(float(scores.max()), n, p)
    held = _Held(design, y)
    before, explained = weights[0], 0.0
    path: list[LassoPoint] = []
    for step, weight in enumerate(weights):
        held.add(np.flatnonzero(scores >= 2 * weight - before))
        while True:
            held.solve(weight)
            residual = held.residual()
            scores = np.abs(design.scan(residual, threads=threads).xv) / n
            missing = np.setdiff1d(np.flatnonzero(scores > weight * (1 + _SLACK)), held.index)
            if missing.size == 0:
                break
            held.add(missing)
        path.append(held.point(float(weight)))
        now = 1.0 - float(residual @ residual) / total
        no_more = step >= _LEAST_STEPS and now - explained < _NO_MORE * now
        if early_stop and (now > _ENOUGH or no_more):
            break
        before, explained = weight, now
    return path


def on_path(path: list[LassoPoint], k: int) -> LassoPoint | None:
    """Return the least regularised point of a path that has exactly k nonzeros, or None."""
    return next((point for point in reversed(path) if point.support.size == k), None)


class _Held:
    """The columns that have been let in, their Gram matrix, and the coefficients."""

    def __init__(self, design: Design, y: FloatArray) -> None:
        self.design, self.y = design, y
        self.index: IntArray = np.empty(0, dtype=np.int64)
        self.columns: FloatArray = np.empty((design.shape[0], 0), order="F")
        self.gram: FloatArray = np.empty((0, 0))
        self.products: FloatArray = np.empty(0)
        self.coef: FloatArray = np.empty(0)

    def add(self, wanted: IntArray) -> None:
        """Let columns in; those that are in already stay where they are."""
        new = np.setdiff1d(wanted, self.index)
        if new.size == 0:
            return
        columns = self.design.columns(new)
        across = self.columns.T @ columns
        self.gram = np.block([[self.gram, across], [across.T, columns.T @ columns]])
        self.columns = np.asfortranarray(np.hstack([self.columns, columns]))
        self.products = np.concatenate([self.products, columns.T @ self.y])
        self.index = np.concatenate([self.index, new])
        self.coef = np.concatenate([self.coef, np.zeros(new.size)])

    def solve(self, weight: float) -> None:
        """Coordinate descent on these columns, from the coefficients of the weight before."""
        if self.index.size == 0:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, coefs, _ = lasso_path(
                self.columns,
                self.y,
                alphas=[weight],
                precompute=self.gram,
                Xy=self.products,
                coef_init=self.coef,
                tol=_TOLERANCE,
            )
        self.coef = np.ascontiguousarray(coefs[:, 0])

    def residual(self) -> FloatArray:
        nonzero = np.flatnonzero(self.coef)
        return self.y - self.columns[:, nonzero] @ self.coef[nonzero]

    def point(self, weight: float) -> LassoPoint:
        order = np.argsort(self.index)
        order = order[self.coef[order] != 0]
        return LassoPoint(support=self.index[order], coef=self.coef[order], weight=weight)
