"""Least squares on columns that were chosen: coefficients, standard errors, R2.

With R the triangle of [X_S, y] (`design.triangle`), rho the last column's part beside R_S and M rows' worth of weight,

    w = R_S^-1 rho,   sigma^2 = |y - X_S w|^2 / (M - |S| - [intercept]),   se_j^2 = sigma^2 (X_S'X_S)^-1_jj.

The standard errors are those of a model that was fixed before the data were seen. The columns were chosen because they
fit these data, so intervals made from them are too short (docs/inference.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsifal._public import public
from parsifal.arrays import FloatArray, IntArray
from parsifal.blas import quiet_blas
from parsifal.design.triangle import triangle
from parsifal.problem.standardise import Training

SELECTION_NOTE = (
    "standard errors are as if the features had been fixed beforehand: after selection they are too small, and no "
    "basis for tests or intervals"
)


@public
@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquares:
    """The least-squares fit on the chosen features.

    Attributes
    ----------
    support : int array
        The features, sorted.
    coef : array of the same length
        Their coefficients, for the columns as given.
    standard_error : array of the same length
        As if the features had been fixed before the data were seen; NaN where the data do not determine them.
    intercept : float
        0 without one.
    all_coef : array of shape (p,)
        The coefficients of all features, most of them zero.
    r2, ridge_r2 : float
        Share of the sum of squares (about the mean, with an intercept) that this fit and the ridge fit explain; NaN
        where y is constant.
    sigma : float
        Residual standard deviation, with `df` degrees of freedom.
    df : float
        Rows (or sum of the weights) less the coefficients.
    """

    support: IntArray
    coef: FloatArray
    standard_error: FloatArray
    intercept: float
    all_coef: FloatArray
    r2: float
    ridge_r2: float
    sigma: float
    df: float

    def __repr__(self) -> str:
        return f"<LeastSquares: {self.support.size} features, R2 {self.r2:.4f}, sigma {self.sigma:.4g}>"


@quiet_blas()
def least_squares(training: Training, support: IntArray, ridge: FloatArray) -> LeastSquares:
    """Fit the columns of `support` by least squares, in bounded memory; `ridge`: coefficients of all columns."""
    upper = triangle(training.design, support, training.y)
    m = support.size
    factor, target = upper[:, :m], upper[:, m]
    # A cut at rounding: where columns depend on each other, the shortest of the best fits.
    coef, _, rank, _ = np.linalg.lstsq(factor, target, rcond=None) if m else (np.zeros(0), None, 0, None)
    rest = target - factor @ coef
    rss, total = float(rest @ rest), float(target @ target)
    behind = target - factor @ ridge[support]
    df = training.mass - m - training.adjusted.size - training.fit_intercept
    sigma = float(np.sqrt(rss / df)) if df > 0 else float("nan")
    error = np.full(m, np.nan)
    if rank == m:
        error = sigma * np.sqrt(np.sum(np.linalg.pinv(factor) ** 2, axis=1)) if m else error
    full = np.zeros(training.scale.size)
    full[support] = coef
    raw, intercept = training.unscaled(full)
    return LeastSquares(
        support=support,
        coef=raw[support],
        standard_error=error * np.abs(training.scale[support]),
        intercept=intercept,
        all_coef=raw,
        r2=_share(rss, total),
        ridge_r2=_share(float(behind @ behind), total),
        sigma=sigma,
        df=float(df),
    )


def _share(rest: float, total: float) -> float:
    return 1.0 - rest / total if total > 0 else float("nan")
