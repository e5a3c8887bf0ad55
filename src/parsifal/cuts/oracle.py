"""What the cutting planes need of a loss: its value and gradient at an s in [0, 1]^m (Algorithm 2 of the paper).

A cut is an affine function below c on all of [0, 1]^m. It comes from a dual vector: for ANY alpha

    c(s) >= y'alpha - 1/2 |alpha|^2 - gamma/2 sum_j s_j (x_j'alpha)^2,

with equality at s where alpha = alpha(s); where coefficients have signs, with max(0, sign_j x_j'alpha) in place of
x_j'alpha. So a cut is valid however inexactly alpha was computed, provided that value
and gradient are both taken from the same alpha: they are the dual value, not the primal one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.dual import dual_terms
from parsifal.bound.ridge_loss import ridge, ridge_with_signs
from parsifal.design import Design
from parsifal.problem.column_rules import ColumnRules

# Columns are held in memory up to this size; beyond it every cut is a read of X.
_HELD_BYTES = 1 << 28


class Oracle(Protocol):
    """A convex loss c of an indicator s."""

    @property
    def size(self) -> int:
        """Number of binaries."""

    def value_and_gradient(self, s: FloatArray) -> tuple[float, FloatArray]:
        """Return v and g with ``c(t) >= v + g'(t - s)`` for all t in [0, 1]^size, and v = c(s) up to rounding."""


class RegressionOracle:
    """The paper's regression loss on some columns of a design.

    Parameters
    ----------
    design : Design
        X.
    y : array of shape (n,)
        The response.
    gamma : float
        Ridge weight.
    index : int array
        The columns that the binaries stand for.
    rules : ColumnRules, optional
        The signs of their coefficients; prices are the master's.
    """

    def __init__(
        self, design: Design, y: FloatArray, gamma: float, index: IntArray, rules: ColumnRules | None = None
    ) -> None:
        self.design, self.y, self.gamma, self.index = design, y, gamma, index
        self.rules = rules if rules is not None and rules.signed else None
        held = 8 * design.shape[0] * index.size <= _HELD_BYTES
        self._columns = design.columns(index) if held else None

    @property
    def size(self) -> int:
        return int(self.index.size)

    def value_and_gradient(self, s: FloatArray) -> tuple[float, FloatArray]:
        """alpha = y - X_s (I/gamma + X_s'X_s)^-1 X_s'y with X_s = columns times sqrt(s_j); then one pass X'alpha."""
        active = np.flatnonzero(s > 0)
        root = np.sqrt(s[active])
        block = self._take(active) * root
        w = self._fit(block, active)
        alpha = self.y - block @ w
        beta = self._products(alpha)
        reach = beta if self.rules is None else self.rules.reach(beta)
        gradient = -dual_terms(reach**2, self.gamma)
        # y'alpha - 1/2 |alpha|^2 = 1/2 |alpha|^2 + w'X_s'alpha, in which nearly perfect fits keep their digits.
        constant = 0.5 * float(alpha @ alpha) + float((w * root) @ beta[active])
        return constant + float(gradient[active] @ s[active]), gradient

    def _fit(self, block: FloatArray, active: IntArray) -> FloatArray:
        if self.rules is None:
            return ridge(block, self.y, self.gamma)
        return ridge_with_signs(block, self.y, self.gamma, self.rules.sign[active])

    def _take(self, active: IntArray) -> FloatArray:
        return self.design.columns(self.index[active]) if self._columns is None else self._columns[:, active]

    def _products(self, alpha: FloatArray) -> FloatArray:
        if self._columns is None:
            return self.design.scan(alpha).xv[self.index]
        return np.asarray(alpha @ self._columns)
