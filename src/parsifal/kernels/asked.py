"""What is asked of a choice among kernels or groups besides the data, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.arguments import check_count, check_number, check_support, check_weight
from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.deadline import usable_cores
from parsifal.errors import InputError

_MOST_THREADS = 1024
_MOST_WEIGHT = 1e150


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """How many, at what prices, which ones for certain, and when to stop.

    Attributes
    ----------
    k : int
        At most so many; the number of kernels where there is a price only.
    price : array of shape (m,)
        Of every kernel.
    penalty : float or array
        The prices as they were given.
    fix : int8 array of shape (m,)
        1 for kernels that must be chosen, -1 for those that must not.
    start : int array or None
        A set to start from.
    rel_gap, seconds, nodes, threads, certificate_limit : as in `solve`; infinite where there is no limit.
    """

    k: int
    price: FloatArray
    penalty: float | FloatArray
    fix: FixArray
    start: IntArray | None
    rel_gap: float
    seconds: float
    nodes: float
    threads: int
    certificate_limit: float

    @property
    def room(self) -> int:
        """How many more than those that must be chosen."""
        return self.k - int(np.count_nonzero(self.fix == 1))


def check_asked(
    m: int,
    *,
    k: Any,
    penalty: Any,
    rel_gap: Any,
    time_limit: Any,
    node_limit: Any,
    threads: Any,
    warm_start: Any,
    force_in: Any,
    force_out: Any,
    certificate_limit: Any,
) -> Asked:
    """Check what `solve_kernels` and `solve_groups` take besides the data, for m kernels."""
    if k is None and penalty is None:
        raise InputError("give k (how many kernels or groups), penalty (the price of one), or both")
    size = m if k is None else min(check_count(k, "k"), m)
    price, given = _prices(penalty, m)
    fix = np.zeros(m, dtype=np.int8)
    for value, name, side in ((force_in, "force_in", 1), (force_out, "force_out", -1)):
        chosen = check_support(() if value is None else value, m, name, noun="kernel or group")
        if np.any(fix[chosen] == 1):
            raise InputError(f"kernel or group {chosen[fix[chosen] == 1][0]} is both in force_in and in force_out")
        fix[chosen] = side
    inside = np.flatnonzero(fix == 1)
    if inside.size > size:
        raise InputError(f"force_in names {inside.size} kernels or groups, but k = {size}; raise k or force fewer in")
    start = None
    if warm_start is not None:
        start = check_support(warm_start, m, "warm_start", noun="kernel or group")
        if start.size > size:
            raise InputError(f"warm_start has {start.size} kernels or groups, but k = {size}")
        if np.any(fix[start] == -1) or not np.isin(inside, start).all():
            raise InputError("warm_start contradicts force_in or force_out")
    return Asked(
        k=size,
        price=price,
        penalty=given,
        fix=fix,
        start=start,
        rel_gap=check_number(rel_gap, "rel_gap", minimum=0.0),
        seconds=math.inf if time_limit is None else check_number(time_limit, "time_limit", minimum=0.0),
        nodes=math.inf if node_limit is None else float(check_count(node_limit, "node_limit")),
        threads=usable_cores() if threads is None else min(check_count(threads, "threads"), _MOST_THREADS),
        certificate_limit=check_number(certificate_limit, "certificate_limit", minimum=0.0),
    )


def check_rows(sample_weight: Any, n: int) -> FloatArray | None:
    """Weights of the rows, of a size that can be multiplied with data of any size."""
    weight = check_weight(sample_weight, n)
    if weight is not None:
        extreme = np.flatnonzero((weight > 0) & ~((weight > 1 / _MOST_WEIGHT) & (weight < _MOST_WEIGHT)))
        if extreme.size:
            at = extreme[0]
            raise InputError(f"sample_weight[{at}] is {weight[at]:g}; divide all weights by their mean")
    return weight


def counted_rows(y: FloatArray, weight: FloatArray | None, rows: float | None) -> float:
    """The number of rows that "auto" counts: given, or the sum of their weights."""
    if rows is not None:
        return rows
    return float(len(y)) if weight is None else float(weight.sum())


def _prices(penalty: Any, m: int) -> tuple[FloatArray, float | FloatArray]:
    """One price a kernel, and what was given: a number, or one price for every kernel."""
    if penalty is None:
        return np.zeros(m), 0.0
    if isinstance(penalty, (list, tuple, np.ndarray)):
        values = list(penalty)
        if len(values) != m:
            raise InputError(f"penalty has {len(values)} prices, but there are {m} kernels or groups")
        price = np.array([check_number(value, f"penalty[{j}]", minimum=0.0) for j, value in enumerate(values)])
        return price, price.copy()
    number = check_number(penalty, "penalty", minimum=0.0)
    return np.full(m, number), number
