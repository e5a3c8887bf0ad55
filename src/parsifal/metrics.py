"""How well a support was recovered, in percent, as the paper measures it.

The whole truth is A% = 100, nothing but the truth is F% = 0:

    A% = 100 |true and found| / |true|,   F% = 100 |found, not true| / |found|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parsifal.arrays import IntArray
from parsifal.errors import InputError


def accuracy(true_support: Any, support: Any) -> float:
    """Return A%, the share of the true support that was found.

    Parameters
    ----------
    true_support, support : int arrays or masks
        Column indices in any order, or boolean masks over all columns.

    Returns
    -------
    float
        From 0 to 100. An empty true support is found by anything: 100.
    """
    true, found = _indices(true_support, "true_support"), _indices(support, "support")
    return 100.0 * np.isin(true, found).sum().item() / true.size if true.size else 100.0


def false_alarm_rate(true_support: Any, support: Any) -> float:
    """Return F%, the share of the found support that is not true.

    Parameters
    ----------
    true_support, support : int arrays or masks
        Column indices in any order, or boolean masks over all columns.

    Returns
    -------
    float
        From 0 to 100. An empty support raises no false alarm: 0.
    """
    true, found = _indices(true_support, "true_support"), _indices(support, "support")
    return 100.0 * np.isin(found, true, invert=True).sum().item() / found.size if found.size else 0.0


def _indices(support: Any, name: str) -> IntArray:
    array = np.asarray(support)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; a vector of column indices is needed")
    if array.dtype.kind == "b":
        return np.flatnonzero(array).astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} has dtype {array.dtype}; whole column indices or a boolean mask are needed")
    index = np.unique(array.astype(np.int64))
    if index[0] < 0:
        raise InputError(f"{name} names column {index[0]}; column indices start at 0")
    return index
