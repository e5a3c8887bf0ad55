"""Synthetic data as in the paper's section "Data description".

The rows of X are N(0, Sigma) with Sigma_ij = rho^|i-j|, k entries of w are -1 or 1, the others 0, and

    y = X w + E,   |X w| / |E| = sqrt(SNR).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from parsifal.arguments import check_count, check_number
from parsifal.arrays import FloatArray, IntArray
from parsifal.design.generated import SyntheticDesign
from parsifal.errors import InputError

__all__ = ["SparseData", "SyntheticDesign", "make_sparse_regression"]

# Rows drawn together. The order of the draws, and so the data that belong to a seed, depends on it.
_BLOCK_ROWS = 1024
# Entries drawn at a time: few enough to stay in the cache until they have been filtered and stored.
_BLOCK_ENTRIES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class SparseData:
    """A data set with the truth behind it; unpacks as ``X, y, support``.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The columns.
    y : array of shape (n_samples,)
        The response, float64 whatever the type of X.
    coef : array of shape (n_features,)
        The true coefficients: 0, -1 or 1.
    support : int array of shape (k,)
        The columns with a nonzero coefficient, sorted.
    """

    X: npt.NDArray[Any]
    y: FloatArray
    coef: FloatArray
    support: IntArray

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return iter((self.X, self.y, self.support))


def make_sparse_regression(
    n_samples: int,
    n_features: int,
    k: int,
    rho: float = 0.0,
    sqrt_snr: float = 20.0,
    random_state: int | np.random.Generator | None = None,
    dtype: npt.DTypeLike = float,
    order: Literal["C", "F"] = "C",
) -> SparseData:
    """Draw a sparse regression problem whose answer is known.

    Needs the memory of X and a few megabytes.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X.
    k : int
        Number of nonzero coefficients, each -1 or 1, at places chosen uniformly.
    rho : float
        Correlation of neighbouring columns, in [0, 1); that of columns i and j is ``rho ** abs(i - j)``.
    sqrt_snr : float
        ``|X w| / |E|``, which holds exactly; ``math.inf`` means no noise.
    random_state : int, Generator or None
        Seed. The same seed gives the same data in either order; the two dtypes share coefficients, but not X.
    dtype : float64 or float32
        Type of X; normals are drawn in it.
    order : {"C", "F"}
        Memory order of X.

    Returns
    -------
    SparseData
        ``X, y, support = make_sparse_regression(...)``, or by name, with ``coef`` too.
    """
    n, p = check_count(n_samples, "n_samples"), check_count(n_features, "n_features")
    size = check_count(k, "k")
    if size > p:
        raise InputError(f"k = {size} nonzero coefficients do not fit into n_features = {p} columns")
    correlation = check_number(rho, "rho", minimum=0.0)
    if correlation >= 1.0:
        raise InputError(f"rho must be in [0, 1), not {rho}")
    ratio = math.inf if sqrt_snr == math.inf else check_number(sqrt_snr, "sqrt_snr", minimum=0.0)
    if ratio == 0.0:
        raise InputError("sqrt_snr must be > 0; use math.inf for data without noise")
    kind = _check_dtype(dtype)
    if order not in ("C", "F"):
        raise InputError(f'order must be "C" or "F", not {order!r}')
    rng = _generator(random_state)

    support = np.sort(rng.choice(p, size, replace=False)).astype(np.int64)
    coef = np.zeros(p)
    coef[support] = rng.choice([-1.0, 1.0], size)
    X = np.empty((n, p), kind, order=order)
    _fill(X, correlation, rng)
    signal = np.asarray(X[:, support], dtype=np.float64) @ coef[support]
    noise = rng.standard_normal(n)
    if ratio < math.inf:
        signal += noise * (np.linalg.norm(signal) / (ratio * np.linalg.norm(noise)))
    return SparseData(X=X, y=signal, coef=coef, support=support)


def _fill(X: npt.NDArray[Any], rho: float, rng: np.random.Generator) -> None:
    """Draw X block by block, with x_j = rho x_{j-1} + sqrt(1 - rho^2) z_j along the columns."""
    n, p = X.shape
    innovation = X.dtype.type(math.sqrt((1.0 - rho) * (1.0 + rho)))
    factor = X.dtype.type(rho)
    memory = np.empty(max(_BLOCK_ENTRIES, _BLOCK_ROWS), X.dtype)
    for top in range(0, n, _BLOCK_ROWS):
        rows = slice(top, min(n, top + _BLOCK_ROWS))
        height = rows.stop - rows.start
        width = max(1, _BLOCK_ENTRIES // height)
        last, scaled = np.empty(height, X.dtype), np.empty(height, X.dtype)
        for left in range(0, p, width):
            right = min(p, left + width)
            # One row of the block is one column of X, so that each step of the recursion is contiguous.
            block = memory[: (right - left) * height].reshape(right - left, height)
            rng.standard_normal(out=block, dtype=X.dtype.type)
            if rho > 0.0:
                if left > 0:
                    block[0] *= innovation
                    block[0] += np.multiply(last, factor, out=scaled)
                block[1:] *= innovation
                for before, column in pairwise(block):
                    column += np.multiply(before, factor, out=scaled)
                last[:] = block[-1]
            X[rows, left:right] = block.T


def _check_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise InputError(f"dtype must be float64 or float32, not {dtype!r}") from None
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"dtype must be float64 or float32, not {kind}")
    return kind


def _generator(random_state: Any) -> np.random.Generator:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, (bool, np.bool_)) or not isinstance(random_state, (int, np.integer)):
        raise InputError(f"random_state must be a whole number, a numpy Generator or None, not {random_state!r}")
    if random_state < 0:
        raise InputError(f"random_state must be >= 0, not {random_state}")
    return np.random.default_rng(int(random_state))
