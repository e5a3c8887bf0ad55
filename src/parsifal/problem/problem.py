"""What is asked: the data, the sparsity, the ridge, and what the user has already decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from parsifal.constraints import side_rows
from parsifal.design import Design, as_design
from parsifal.errors import InputError, suggestion
from parsifal.problem.column_rules import ColumnRules, check_prices, check_signs
from parsifal.problem.feasible import conflict, first_allowed
from parsifal.problem.gamma import column_gamma, resolve_gamma

_NEARLY = 1e-4  # of a span of unit vectors
_PLAIN = (type(None), int, float)  # of a penalty that is one for all columns


@dataclass(frozen=True, kw_only=True)
class Problem:
    """min over supports S of ``c(S) + penalty |S|`` with ``|S| <= k``, checked and ready to be solved.

    Where columns are not all alike, `rules` has their prices, signs and side constraints: c(S) is then the fit with
    these signs, prices count in place of the penalty, and only supports that the side constraints allow are meant.

    Attributes
    ----------
    design : Design
        The columns.
    y : array of shape (n,)
        The response, float64.
    k : int
        Largest number of columns; the number of columns itself where only a penalty was given.
    penalty : float
        Price of a column, 0 where only `k` was given, or where columns have prices of their own.
    gamma : float
        Ridge weight: the objective has ``1/(2 gamma) |w|^2``.
    fix : int8 array of shape (p,)
        1 for columns forced in, -1 for columns forced out, 0 for the rest.
    xty : array of shape (p,) or None
        X'y if a read has already given it.
    rules : ColumnRules or None
        Prices, signs and side constraints of all columns; None: they are all alike.
    """

    design: Design
    y: FloatArray
    k: int
    penalty: float
    gamma: float
    fix: FixArray
    xty: FloatArray | None = None
    rules: ColumnRules | None = None

    @property
    def n(self) -> int:
        return self.design.shape[0]

    @property
    def p(self) -> int:
        return self.design.shape[1]

    @property
    def prices(self) -> float | FloatArray:
        """The price of a column, or of each where they differ."""
        return self.penalty if self.rules is None or self.rules.uniform else self.rules.price

    def price_of(self, support: IntArray) -> float:
        """What these columns cost."""
        return self.penalty * support.size if self.rules is None else float(self.rules.price[support].sum())

    def allows(self, support: IntArray) -> bool:
        """Whether side constraints allow this support."""
        return self.rules is None or self.rules.rows.allow(support)

    @property
    def stated(self) -> dict[str, Any]:
        """What a certificate says of prices, signs and side constraints: of single columns only where they differ."""
        rules = self.rules
        if rules is None:
            return {"penalty": self.penalty}
        rows = rules.rows
        return {
            "penalty": self.penalty if rules.uniform else 0.0,
            "price": np.zeros(0) if rules.uniform else rules.price,
            "sign": rules.sign.astype(np.int64) if rules.signed else np.zeros(0, dtype=np.int64),
            "row_offset": rows.offset,
            "row_column": rows.column,
            "row_coef": rows.coef,
            "row_upper": rows.upper,
        }

    def rules_on(self, index: IntArray | None) -> ColumnRules | None:
        """The rules of these columns; None: of all."""
        return self.rules if self.rules is None or index is None else self.rules.take(index)

    @property
    def has_price(self) -> bool:
        """Whether any column costs anything."""
        return self.penalty > 0 if self.rules is None else bool(np.any(self.rules.price))

    @cached_property
    def forced_nearly_depend(self) -> bool:
        """Whether, without a ridge, columns that are forced in nearly depend on each other: what their differences fit
        counts, and inner products do not see it."""
        forced = np.flatnonzero(self.fix == 1)
        if np.isfinite(self.gamma) or forced.size < 2:
            return False
        columns = self.design.columns(forced)
        norms = np.linalg.norm(columns, axis=0)
        return bool(np.linalg.svd(columns / np.where(norms > 0, norms, 1.0), compute_uv=False)[-1] < _NEARLY)

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
    penalty: Any = None,
    force_in: Sequence[int] | npt.NDArray[Any] | None = None,
    force_out: Sequence[int] | npt.NDArray[Any] | None = None,
    sign: Any = None,
    constraints: Any = None,
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
    rules = check_rules(design, penalty, sign, constraints)
    alike = penalty is None or rules is not None
    price = 0.0 if alike else check_number(penalty, "penalty", minimum=0.0)
    if rules is not None and rules.uniform and rules.price.size:
        price = float(rules.price[0])
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
    problem = Problem(design=design, y=response, k=size, penalty=price, gamma=weight, fix=fix, xty=xty, rules=rules)
    return problem if rules is None else with_implied(problem)


def check_rules(design: Design, penalty: Any, sign: Any, constraints: Any) -> ColumnRules | None:
    """Prices, signs and side constraints, or None where a plain penalty says all there is."""
    if type(penalty) in _PLAIN and (sign is None or (type(sign) is int and sign == 0)) and constraints is None:
        return None
    prices = None if penalty is None else check_prices(design, penalty)
    signs = check_signs(design, sign)
    rows = side_rows(constraints, design)
    if prices is None:
        if not np.any(signs) and rows.count == 0:
            return None
        same = 0.0 if penalty is None else check_number(penalty, "penalty", minimum=0.0)
        prices = np.full(design.shape[1], same)
    return ColumnRules(price=prices, sign=signs, rows=rows)


def with_implied(problem: Problem) -> Problem:
    """The problem with what its side constraints imply; an `InputError` names those that allow nothing."""
    rules = problem.rules
    if rules is None or rules.rows.count == 0:
        return problem
    fix, possible = rules.propagate(problem.fix)
    if possible and np.count_nonzero(fix == 1) <= problem.k and first_allowed(rules, fix, problem.k) is not None:
        return replace(problem, fix=fix)
    forced = " with the columns that are forced in and out" if np.any(problem.fix) else ""
    raise InputError(
        f"no support of at most {problem.k} columns{forced} satisfies {conflict(rules, problem.fix, problem.k)}; "
        "drop a constraint, or raise k"
    )


def check_forced(design: Design, force_in: Any, force_out: Any) -> FixArray:
    """Turn force_in and force_out (indices, a mask, or names) into one int8 vector."""
    fix = np.zeros(design.shape[1], dtype=np.int8)
    for value, mark, name in ((force_in, 1, "force_in"), (force_out, -1, "force_out")):
        if value is None:
            continue
        index = check_columns(design, value, name)
        both = index[fix[index] != 0]
        if both.size:
            raise InputError(f"column {column_name(design, both[0])} is both in force_in and in force_out")
        fix[index] = mark
    return fix


def check_columns(design: Design, value: Any, name: str) -> IntArray:
    """Columns given as indices, a mask, or names, as sorted indices."""
    return check_support(_named(design, value, name), design.shape[1], name)


def column_name(design: Design, j: int) -> str:
    """What a message calls a column: its name, or its number."""
    return str(j) if design.feature_names is None else repr(design.feature_names[j])


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
