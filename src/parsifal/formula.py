"""A sparse fit as a formula that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError


def show_formula(names: Sequence[Any] | npt.NDArray[Any], coef: npt.ArrayLike, intercept: float, digits: int) -> str:
    """Write ``sum_j coef_j name_j + intercept``, largest coefficient first.

    Parameters
    ----------
    names : sequence of str
        What the coefficients multiply.
    coef : array-like
        Zeros are left out.
    intercept : float
        Written last, unless it is zero.
    digits : int
        Significant digits.
    """
    weights = np.asarray(coef, dtype=np.float64)
    if weights.shape != (len(names),):
        raise InputError(f"coef has shape {weights.shape}; it must have shape ({len(names)},)")
    terms = [(weights[j], f"*{names[j]}") for j in np.argsort(-np.abs(weights), kind="stable") if weights[j] != 0.0]
    if intercept != 0.0 or not terms:
        terms.append((np.float64(intercept), ""))
    text = ""
    for value, name in terms:
        sign = "-" if value < 0 else "+"
        text += (
            f" {sign} {abs(value):.{digits}g}{name}"
            if text
            else f"{'-' if value < 0 else ''}{abs(value):.{digits}g}{name}"
        )
    return text
