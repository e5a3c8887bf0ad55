"""Where theory puts the transitions: n0 of exact sparse regression and n1 of the Lasso.

    n0 = 2 k log p / log(2 k / sigma^2 + 1)          Gamarnik and Zadik, binary coefficients, rho = 0
    n1 = (2 k + sigma^2) log(p - k)                  Wainwright, rho = 0

sigma^2 is the variance of the noise. With k coefficients of -1 or 1 on uncorrelated columns of variance one, the signal
has variance k, so that |S| / |E| = sqrt(SNR) means sigma^2 = k / SNR.
"""

from __future__ import annotations

from parsifal.errors import InputError
from parsifal.estimators.outlook import information_threshold, lasso_threshold


def noise_variance(k: int, sqrt_snr: float) -> float:
    """sigma^2 = k / SNR: the noise of the paper's data at rho = 0.

    Parameters
    ----------
    k : int
        Number of true features.
    sqrt_snr : float
        |S| / |E|.
    """
    if not (k >= 1 and sqrt_snr > 0):
        raise InputError(f"k must be at least 1 and sqrt_snr > 0, not {k} and {sqrt_snr}")
    return k / sqrt_snr**2


def n0(p: int, k: int, noise: float) -> float:
    """Samples below which no method can find the true support; infinite noise makes it infinite.

    Parameters
    ----------
    p, k : int
        Number of features, and of true ones.
    noise : float
        Variance of the noise; see `noise_variance`.
    """
    _check(p, k, noise)
    return information_threshold(k, p, noise)


def n1(p: int, k: int, noise: float) -> float:
    """Samples from which the Lasso finds the true support.

    Parameters
    ----------
    p, k, noise
        As in `n0`.
    """
    _check(p, k, noise)
    return lasso_threshold(k, p, noise)


def _check(p: int, k: int, noise: float) -> None:
    if not 1 <= k < p:
        raise InputError(f"the thresholds need 1 <= k < p, not k = {k}, p = {p}")
    if not noise >= 0:
        raise InputError(f"the noise variance must be >= 0, not {noise}")
