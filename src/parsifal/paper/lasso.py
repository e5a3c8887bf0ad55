"""The Lasso as the paper compares with it: on its path, the least regularised point with exactly k nonzeros."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, lars_path

from parsifal.arrays import FloatArray, IntArray
from parsifal.errors import InputError
from parsifal.paper.glmnet import LassoPoint, weight_grid

_ROUNDING = 1e-12


def lasso_at(X: npt.NDArray[Any], y: FloatArray, k: int) -> LassoPoint | None:
    """Return the least regularised Lasso solution with exactly k nonzeros, from the exact path (LARS).

    Between two breakpoints of the path the support stays the same, so the point is the lower end of the last
    stretch with k nonzeros. A column that leaves there counts still.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns as they are: nothing is centred or scaled.
    y : array of shape (n,)
        The response.
    k : int
        Number of nonzeros.

    Returns
    -------
    LassoPoint or None
        None if no point of the path has k nonzeros.
    """
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    with warnings.catch_warnings():
        # Where the path reaches a perfect fit it stops early, and says so.
        warnings.simplefilter("ignore")
        weights, _, coefs = lars_path(X, y, method="lasso")
    # A column that leaves the path does so with a coefficient that is zero up to rounding.
    nonzero = np.abs(coefs) > _ROUNDING * np.abs(coefs).max(initial=1e-300)
    for step in range(coefs.shape[1] - 1, 0, -1):
        # Above a breakpoint, what is nonzero at either end of the stretch.
        inside = np.flatnonzero(nonzero[:, step - 1] | nonzero[:, step])
        if inside.size == k:
            return LassoPoint(support=inside, coef=coefs[inside, step].copy(), weight=float(weights[step]))
    return None


def lasso_cv(X: npt.NDArray[Any], y: FloatArray, folds: int) -> IntArray:
    """Return the support of the Lasso whose weight, and so number of nonzeros, predicts best in cross-validation.

    Parameters
    ----------
    X, y
        As in `lasso_at`.
    folds : int
        Number of folds.
    """
    n, p = X.shape
    model = LassoCV(alphas=weight_grid(float(np.abs(y @ X).max()) / n, n, p), fit_intercept=False, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return np.flatnonzero(model.coef_).astype(np.int64)
