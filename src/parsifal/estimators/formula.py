"""A sparse fit as a formula that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arguments import check_count
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
    try:
        weights, constant = np.asarray(coef, dtype=np.float64), float(intercept)
    except (TypeError, ValueError):
        raise InputError(f"coef must be {len(names)} numbers, and intercept a number") from None
    digits = check_count(digits, "digits")
    if weights.shape != (len(names),):
        raise InputError(f"coef has shape {weights.shape}; it must have shape ({len(names)},)")
    if not np.isfinite(weights).all() or not np.isfinite(constant):
        raise InputError("coef and intercept must be finite")
    terms = [(weights[j], f"*{names[j]}") for j in np.argsort(-np.abs(weights), kind="stable") if weights[j] != 0.0]
    if constant != 0.0 or not terms:
        terms.append((np.float64(constant), ""))
    text = ""
    for value, name in terms:
        sign = "-" if value < 0 else "+"
        text += (
            f" {sign} {abs(value):.{digits}g}{name}"
            if text
            else f"{'-' if value < 0 else ''}{abs(value):.{digits}g}{name}"
        )
    return text
