"""Data made ready for a fit with intercept, standardisation and weights, through a view where X is not to be copied.

With observation weights m_i (1 each if none are given), M = sum m_i, and means and deviations taken with them, the
solver sees the columns sqrt(m_i) (x_ij - c_j) s_j and the response sqrt(m_i) (y_i - mean). A weight of 2 is the same
as the row written twice, a weight of 0 as the row left out.

Columns to adjust for are always in the model, not counted and not shrunk: as the intercept is, they are projected out
of the response and of all columns, and their coefficients follow from those of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.arguments import check_flag, check_response
from parsifal.arrays import FloatArray, IntArray, aligned
from parsifal.design import Design, Scan, View, as_design, standardized
from parsifal.design.adjusted import Adjusted, adjust_for
from parsifal.errors import warn_user
from parsifal.problem.gamma import column_gamma

# Standard deviations that the mean of y may be from zero before its level counts as forgotten.
_FAR = 1.5
# The weakest ridge that "auto" stands for, on standardised columns.
_WEAKEST = 10.0


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """Columns that were projected out, and the way back to their coefficients.

    Attributes
    ----------
    index : int array of shape (a,)
        The columns.
    cross : array of shape (q, p)
        Q'X for the basis Q of their span.
    target : array of shape (q,)
        Q'y.
    """

    index: IntArray
    cross: FloatArray
    target: FloatArray

    def completed(self, coef: FloatArray) -> FloatArray:
        """The coefficients with those of the adjusted columns: the least-squares fit to what the others leave.

        Where adjusted columns depend on each other, the shortest of the coefficients that fit alike.
        """
        rest = self.target - self.cross @ coef
        out = coef.copy()
        out[self.index] = np.linalg.lstsq(self.cross[:, self.index], rest, rcond=1e-12)[0]
        return out


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
    fit_intercept, standardize : bool
        Whether columns and response were centred, and columns scaled.
    adjustment : Adjustment or None
        The columns that were projected out of these.
    """

    design: Design
    y: FloatArray
    center: FloatArray
    scale: FloatArray
    y_mean: float
    mass: float
    fit_intercept: bool
    standardize: bool
    adjustment: Adjustment | None = None

    @property
    def adjusted(self) -> IntArray:
        """The columns that are adjusted for: in every model, never chosen."""
        return np.empty(0, dtype=np.int64) if self.adjustment is None else self.adjustment.index

    def completed(self, coef: FloatArray) -> FloatArray:
        """Coefficients on the columns as the solver sees them, with those of the columns that are adjusted for."""
        return coef if self.adjustment is None else self.adjustment.completed(coef)

    def auto_gamma(self) -> float:
        """What the estimators take for ``gamma="auto"``: (M - p)/p, at most 10 and at least the paper's value.

        Where rows are many, that is next to no ridge, and coefficients are close to those of least squares; where
        columns outnumber rows, a strong one predicts better, and makes a proof possible (docs/defaults.md).
        """
        paper = self.paper_gamma()
        columns = self.scale.size - self.adjusted.size
        unit = paper * math.sqrt(self.mass)  # 1 on standardised columns
        return max(paper, unit * min(_WEAKEST, (self.mass - columns) / columns))

    def paper_gamma(self) -> float:
        """sqrt(M) over the columns' mean sum of squares, which is M on standardised columns: then 1/sqrt(M)."""
        if self.standardize:
            return 1.0 / math.sqrt(self.mass)
        scan = self.design.scan(self.y, stats=True)
        if self.adjustment is not None and scan.sums is not None and scan.squares is not None:
            # Nothing is left of those, which would only make the mean smaller.
            xv, sums, squares = (np.delete(part, self.adjusted) for part in (scan.xv, scan.sums, scan.squares))
            scan = Scan(xv=xv, sums=sums, squares=squares)
        return column_gamma(self.mass, scan)

    def unscaled(self, coef: FloatArray) -> tuple[FloatArray, float]:
        """Coefficients and intercept for the columns as the user has them."""
        raw = self.completed(coef) * self.scale
        active = np.flatnonzero(raw)
        return raw, self.y_mean - float(self.center[active] @ raw[active])


def column_scale(
    X: FloatArray, weight: FloatArray | None = None, *, fit_intercept: bool, standardize: bool
) -> tuple[FloatArray, FloatArray]:
    """What to subtract from the columns of an array in memory, and the factor that follows, for a fit on a copy."""
    center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if standardize:
        if weight is None:
            mean, deviation = X.mean(axis=0), X.std(axis=0)
        else:
            mean = np.average(X, axis=0, weights=weight)
            deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
        varies = deviation > 1e-13 * np.abs(mean)
        scale[varies] = 1.0 / deviation[varies]
        # Centred columns under a linear kernel would be an intercept by another name.
        if fit_intercept:
            center = mean
    return center, scale


def prepare(
    design: Design,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    rows: IntArray | None = None,
    adjust: IntArray | None = None,
    fit_intercept: bool,
    standardize: bool,
) -> Training:
    """Make the view; `weight` and `y` are for all rows of `design`, of which `rows` (None: all) are used.

    The columns `adjust` are projected out after centring, scaling and weighting.
    """
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
    target = aligned(target if root is None else target * root)
    seen: Design = view
    adjustment = None
    if adjust is not None and adjust.size:
        seen = adjust_for(view, adjust)
        adjustment, target = _adjusted(seen, adjust, target)
    return Training(
        design=seen,
        y=target,
        center=center,
        scale=scale,
        y_mean=mean,
        mass=total,
        fit_intercept=fit_intercept,
        standardize=standardize,
        adjustment=adjustment,
    )


def _adjusted(design: Adjusted, index: IntArray, y: FloatArray) -> tuple[Adjustment, FloatArray]:
    """The way back, and the response with the basis taken out of it."""
    Q = design.basis
    first = Q.T @ y
    rest = y - Q @ first
    # Once more: what rounding has left would else be a part of every fit.
    more = Q.T @ rest
    return Adjustment(index=index, cross=design.cross, target=first + more), aligned(rest - Q @ more)


def view_of(X: Any, y: Any, *, fit_intercept: bool | None, standardize: bool) -> Training | None:
    """What `solve` sees with these arguments; None where it sees X and y as they are."""
    scaled = check_flag(standardize, "standardize")
    centred = fit_intercept is not None and check_flag(fit_intercept, "fit_intercept")
    if not (centred or scaled):
        return None
    design = as_design(X)
    return prepare(design, check_response(y, design.shape[0]), fit_intercept=centred, standardize=scaled)


def warn_of_level(y: FloatArray) -> None:
    """A level that nobody asked to fit takes columns of its own, which then look like a finding."""
    with np.errstate(all="ignore"):
        mean, deviation = float(y.mean()), float(y.std())
    if 0 < _FAR * deviation < abs(mean) < math.inf:
        warn_user(
            f"y has mean {mean:.4g} and standard deviation {deviation:.4g}, and no intercept is fitted: columns may be "
            "chosen for the level of y alone; pass fit_intercept=True (or False, if y has no level of its own)",
            UserWarning,
        )
