"""Data made ready for a fit with intercept, standardisation and weights, all through a view: X is never copied.

With observation weights m_i (1 each if none are given), M = sum m_i, and means and deviations taken with them, the
solver sees the columns sqrt(m_i) (x_ij - c_j) s_j and the response sqrt(m_i) (y_i - mean). A weight of 2 is the same
as the row written twice, a weight of 0 as the row left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from parsifal.design import Design, View, standardized
from parsifal.design.base import aligned
from parsifal.problem import FloatArray, IntArray, auto_gamma


@dataclass(frozen=True, kw_only=True)
class Training:
    """What the solver sees, and the way back.

    Attributes
    ----------
    design : Design
        The columns as the solver sees them.
    y : array
        The response as the solver sees it.
    center, scale : arrays of shape (p,)
        Subtracted from the columns, and the factor that follows.
    y_mean : float
        Subtracted from the response.
    mass : float
        Sum of the weights: the number of rows, if there are none.
    standardize : bool
        Whether the columns were scaled.
    """

    design: Design
    y: FloatArray
    center: FloatArray
    scale: FloatArray
    y_mean: float
    mass: float
    standardize: bool

    def auto_gamma(self) -> float:
        """sqrt(M) over the columns' mean sum of squares, which is M on standardised columns: then 1/sqrt(M)."""
        if self.standardize:
            return 1.0 / math.sqrt(self.mass)
        return auto_gamma(math.sqrt(self.mass), self.design.scan(self.y, stats=True))

    def unscaled(self, coef: FloatArray) -> tuple[FloatArray, float]:
        """Coefficients and intercept for the columns as the user has them."""
        raw = coef * self.scale
        active = np.flatnonzero(raw)
        return raw, self.y_mean - float(self.center[active] @ raw[active])


def prepare(
    design: Design,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    rows: IntArray | None = None,
    fit_intercept: bool,
    standardize: bool,
) -> Training:
    """Make the view; `weight` and `y` are for all rows of `design`, of which `rows` (None: all) are used."""
    if weight is not None:
        chosen = np.arange(design.shape[0]) if rows is None else rows
        chosen = chosen[weight[chosen] > 0]
        rows = chosen if chosen.size < design.shape[0] else rows
    base = design if rows is None else View(design, rows=rows)
    target = y if rows is None else y[rows]
    mass = weight if weight is None or rows is None else weight[rows]
    root = None if mass is None else np.sqrt(mass)
    total = float(target.size) if mass is None else float(mass.sum())
    view, center, scale = standardized(base, with_mean=fit_intercept, with_std=standardize, row_weight=root)
    mean = 0.0
    if fit_intercept:
        mean = float(target.mean()) if mass is None else float(mass @ target) / total
        target = target - mean
        # Once more: what rounding left of the mean would else be a part of every fit.
        rest = float(target.mean()) if mass is None else float(mass @ target) / total
        mean, target = mean + rest, target - rest
    return Training(
        design=view,
        y=aligned(target if root is None else target * root),
        center=center,
        scale=scale,
        y_mean=mean,
        mass=total,
        standardize=standardize,
    )
