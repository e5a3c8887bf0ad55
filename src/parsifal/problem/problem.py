"""What is asked: the data, the sparsity, the ridge, and what the user has already decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arguments import (
    Gamma,
    check_count,
    check_number,
    check_response,
    check_support,
)
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.design import Design, as_design
from parsifal.errors import InputError, suggestion
from parsifal.problem.gamma import column_gamma, resolve_gamma


@dataclass(frozen=True, kw_only=True)
class Problem:
    """min over supports S of ``c(S) + penalty |S|`` with ``|S| <= k``, checked and ready to be solved.

    Attributes
    ----------
    design : Design
        The columns.
    y : array of shape (n,)
        The response, float64.
    k : int
        Largest number of columns; the number of columns itself where only a penalty was given.
    penalty : float
        Price of a column, 0 where only `k` was given.
    gamma : float
        Ridge weight: the objective has ``1/(2 gamma) |w|^2``.
    fix : int8 array of shape (p,)
        1 for columns forced in, -1 for columns forced out, 0 for the rest.
    xty : array of shape (p,) or None
        X'y if a read has already given it.
    """

    design: Design
    y: FloatArray
    k: int
    penalty: float
    gamma: float
    fix: FixArray
    xty: FloatArray | None = None

    @property
    def n(self) -> int:
        return self.design.shape[0]

    @property
    def p(self) -> int:
        return self.design.shape[1]

    @cached_property
    def empty_objective(self) -> float:
        """1/2 y'y: the objective of no column at all, and the size of the numbers that the others are computed from."""
        return 0.5 * float(self.y @ self.y)


def make_problem(
    X: Any,
    y: Any,
    *,
    k: int | None = None,
    gamma: Gamma = "auto",
    penalty: float | None = None,
    force_in: Sequence[int] | npt.NDArray[Any] | None = None,
    force_out: Sequence[int] | npt.NDArray[Any] | None = None,
) -> Problem:
    """Check every argument and gather them in a `Problem`; errors name the argument and what would do."""
    design = as_design(X)
    n, p = design.shape
    if n == 0 or p == 0:
        raise InputError(f"X has shape ({n}, {p}); at least one row and one column are needed")
    response = check_response(y, n)
    if k is None and penalty is None:
        raise InputError("give k (how many columns), penalty (the price of a column), or both")
    size = p if k is None else min(check_count(k, "k"), p)
    price = 0.0 if penalty is None else check_number(penalty, "penalty", minimum=0.0)
    fix = check_forced(design, force_in, force_out)
    forced = int(np.count_nonzero(fix == 1))
    if forced > size:
        raise InputError(f"force_in names {forced} columns, but k = {size}; raise k or force fewer columns in")
    xty: FloatArray | None = None

    def auto() -> float:
        nonlocal xty
        scan = design.scan(response, stats=True)
        xty = scan.xv
        return column_gamma(n, scan)

    weight = resolve_gamma(gamma, auto)
    return Problem(design=design, y=response, k=size, penalty=price, gamma=weight, fix=fix, xty=xty)


def check_forced(design: Design, force_in: Any, force_out: Any) -> FixArray:
    """Turn force_in and force_out (indices, a mask, or names) into one int8 vector."""
    fix = np.zeros(design.shape[1], dtype=np.int8)
    for value, mark, name in ((force_in, 1, "force_in"), (force_out, -1, "force_out")):
        if value is None:
            continue
        index = check_columns(design, value, name)
        both = index[fix[index] != 0]
        if both.size:
            raise InputError(f"column {both[0]} is both in force_in and in force_out")
        fix[index] = mark
    return fix


def check_columns(design: Design, value: Any, name: str) -> IntArray:
    """Columns given as indices, a mask, or names, as sorted indices."""
    return check_support(_named(design, value, name), design.shape[1], name)


def _named(design: Design, value: Any, name: str) -> Any:
    """Replace feature names by their indices; anything else passes through."""
    array = np.asarray([value] if isinstance(value, str) else value)
    if array.ndim != 1 or array.size == 0 or not all(isinstance(item, str) for item in array.tolist()):
        return value
    if design.feature_names is None:
        raise InputError(f"{name} names columns, but X has no column names; give indices")
    position = {feature: j for j, feature in enumerate(design.feature_names)}
    for item in array.tolist():
        if item not in position:
            raise InputError(f"{name} names {item!r}, which is not a column of X{suggestion(item, position)}")
    return np.array([position[item] for item in array.tolist()], dtype=np.int64)
