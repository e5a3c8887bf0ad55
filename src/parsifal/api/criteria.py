"""Information criteria of a sparse ridge fit, from what a `Solution` holds.

With RSS the sum of squared residuals, n rows, p columns and a support of m columns,

    AIC  = n log(RSS / n) + 2 df
    BIC  = n log(RSS / n) + df log n
    eBIC = BIC + 2 log C(p, m)

where df = sum_i d_i / (d_i + 1/gamma), d_i the eigenvalues of X_S'X_S, is the trace of the ridge's hat matrix: m for
a weak ridge, less for a strong one, and the columns' rank without one. The last term of eBIC is the price of having
chosen m out of p (Chen and Chen 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from parsifal.arrays import FloatArray, IntArray

_BLURRED = 1e-8  # more than rounding makes of the eigenvalues of inner products
_RANK = 1e-20  # squares of singular values below this part of the largest are zero but for rounding


def degrees_of_freedom(columns: FloatArray, gamma: float) -> float:
    """Trace of the hat matrix of a ridge fit on these columns."""
    if math.isinf(gamma) and _far(columns.T @ columns):
        return float(columns.shape[1])
    d = np.linalg.svd(columns, compute_uv=False) ** 2 if columns.size else np.zeros(0)
    if math.isinf(gamma):
        return float(np.count_nonzero(d > _RANK * d.max(initial=0.0)))
    return float(np.sum(d / (d + 1.0 / gamma)))


def far_from_dependent(gram: FloatArray, supports: Sequence[IntArray]) -> list[bool]:
    """Of each of these supports, whether the columns' inner products show that no singular value counts as zero, which
    spares computing them."""
    if _far(gram):
        # No principal submatrix has a smaller eigenvalue.
        return [True] * len(supports)
    return [_far(gram[support[:, None], support]) for support in supports]


def _far(gram: FloatArray) -> bool:
    """Whether the columns of this Gram matrix are so."""
    squares = gram.diagonal()
    least, most = squares.min(initial=np.inf), squares.sum()
    if not 1e-280 < least <= most < 1e280:
        return False
    scale = 1 / np.sqrt(squares)
    # The squared singular values are at least `least` times those of the unit columns, and at most `most`.
    return bool(least * (np.linalg.eigvalsh(gram * scale * scale[:, None])[0] - _BLURRED) > _RANK * most)


def log_binomial(p: int, m: int) -> float:
    """log C(p, m)."""
    return math.lgamma(p + 1) - math.lgamma(m + 1) - math.lgamma(p - m + 1)


def fit_term(rss: float, n: int) -> float:
    """n log(RSS / n); a perfect fit counts as one at the smallest positive number."""
    return n * math.log(max(rss / n, float(np.finfo(np.float64).tiny)))
