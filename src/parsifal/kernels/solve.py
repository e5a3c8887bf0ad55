"""`solve_kernels` and `solve_groups`: check the arguments, search, put the answer together."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from parsifal.design import as_design
from parsifal.design.base import LARGEST
from parsifal.errors import InputError
from parsifal.kernels.oracle import Block, FloatArray, IntArray, Oracle, factor_block, matrix_block
from parsifal.kernels.relaxation import Node
from parsifal.kernels.search import Limits, Search, Status, closes
from parsifal.problem import Gamma, check_count, check_gamma, check_number, check_response, check_support
from parsifal.progress import Progress, ProgressOption, Reporter
from parsifal.solution import reconcile, relative_gap


@dataclass(frozen=True, kw_only=True)
class KernelSolution:
    """The best set of kernels found and what is known about every other one.

    Attributes
    ----------
    support : int array
        The chosen kernels or groups, sorted.
    alpha : array of shape (n,)
        The residual of the fit, and its dual vector: the fit is ``gamma * sum_j K_j @ alpha`` over the support.
    coef : array of shape (p,) or None
        Coefficients of the columns, where groups of columns were chosen.
    objective : float
        ``1/2 y' (I + gamma sum_j K_j)^-1 y + penalty * (number of kernels)``.
    lower_bound : float
        No set of kernels has a smaller objective.
    status : str
        ``"optimal"`` if the gap is at most `rel_gap`; otherwise why the search ended.
    k, penalty, gamma : the problem that was solved, with ``gamma="auto"`` replaced by its value.
    stats : dict
        ``nodes``, ``seconds`` and ``search_seconds``, ``root_bound``, ``kernels_left`` after safe fixing at the root,
        ``newton_steps``.
    """

    support: IntArray
    alpha: FloatArray
    coef: FloatArray | None = None
    objective: float
    lower_bound: float
    status: Status
    k: int
    penalty: float
    gamma: float
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        return (
            f"{self.status}: {self.support.size} kernels {self.support.tolist()}\n"
            f"objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}, gap {self.gap:.2e}"
        )


def solve_kernels(
    kernels: Sequence[Any],
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    penalty: float | None = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    warm_start: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    progress: ProgressOption = False,
) -> KernelSolution:
    """Choose the best `k` of many kernels for kernel ridge regression, and prove that no other choice is better.

    Minimises ``1/2 y' (I + gamma sum_{j in S} K_j)^-1 y + penalty |S|`` over sets S of at most `k` kernels. This is the
    paper's sparse regression with K_j in place of x_j x_j'.

    Parameters
    ----------
    kernels : sequence of arrays
        Positive semidefinite matrices K_j of shape (n, n), or factors Z_j of shape (n, r) with K_j = Z_j Z_j'. A square
        factor is given as a pair ``("factor", Z)``.
    y : array of shape (n,)
        The response.
    k : int, optional
        Largest number of kernels. May be left out if `penalty` is given.
    gamma : float or "auto"
        Ridge weight, > 0; large means a weak ridge. ``"auto"`` is ``sqrt(n) / mean trace of the kernels``.
    penalty : float, optional
        Price of a kernel, >= 0.
    rel_gap, time_limit, node_limit, progress
        As in `solve`.
    warm_start, force_in, force_out : indices or mask, optional
        Kernels to start from; kernels that must, and must not, be chosen.

    Returns
    -------
    KernelSolution
        Ctrl-C ends the search with status ``"interrupted"`` and the best set so far.
    """
    started = time.monotonic()
    response = check_response(y, np.shape(y)[0] if np.ndim(y) else 0)
    with threadpool_limits(1, "blas"):
        blocks = as_blocks(kernels, len(response))
        return solve_blocks(
            blocks,
            response,
            k,
            gamma,
            penalty=penalty,
            rel_gap=rel_gap,
            time_limit=time_limit,
            node_limit=node_limit,
            warm_start=warm_start,
            force_in=force_in,
            force_out=force_out,
            progress=progress,
            started=started,
        )


def solve_groups(
    X: Any, y: Any, groups: Any, k: int | None = None, gamma: Gamma = "auto", **options: Any
) -> KernelSolution:
    """Choose the best `k` groups of columns, each entering with all its columns or not at all.

    Parameters
    ----------
    X : matrix of shape (n, p)
        As in `solve`.
    y : array of shape (n,)
        The response.
    groups : sequence of index sequences, or one label a column
        The columns of every group; groups may overlap. With labels, groups are in sorted order of the labels.
    k, gamma, **options
        As in `solve_kernels`.

    Returns
    -------
    KernelSolution
        With `coef`, so that ``X @ coef`` is the fit.
    """
    design = as_design(X)
    members = as_groups(groups, design.shape[1])
    factors = [("factor", design.columns(member)) for member in members]
    for member, (_, Z) in zip(members, factors):
        bad = np.argwhere(~np.isfinite(Z))
        if len(bad):
            raise InputError(f"X[{bad[0][0]}, {member[bad[0][1]]}] is not finite; drop or impute missing values")
        large = np.argwhere(np.abs(Z) > LARGEST)
        if len(large):
            i, j = large[0]
            raise InputError(f"X[{i}, {member[j]}] is {Z[i, j]:.3g}, too large to square; rescale the column")
    sol = solve_kernels(factors, check_response(y, design.shape[0]), k, gamma, **options)
    coef = np.zeros(design.shape[1])
    for j in sol.support:
        np.add.at(coef, members[j], sol.gamma * (factors[j][1].T @ sol.alpha))
    values = {name: getattr(sol, name) for name in KernelSolution.__dataclass_fields__}
    return KernelSolution(**{**values, "coef": coef})


def as_groups(groups: Any, p: int) -> list[IntArray]:
    """Turn labels or lists of columns into arrays of columns."""
    try:
        items = list(groups)
    except TypeError:
        raise InputError(f"groups must be lists of columns or one label a column, not {groups!r}") from None
    if items and all(np.ndim(item) == 0 for item in items):
        if len(items) != p:
            raise InputError(f"groups has {len(items)} labels, but X has {p} columns")
        labels = np.asarray(items)
        return [np.flatnonzero(labels == label).astype(np.int64) for label in np.unique(labels)]
    out = [check_support(item, p, f"groups[{i}]") for i, item in enumerate(items)]
    if not out or any(len(group) == 0 for group in out):
        raise InputError("groups is empty or holds an empty group; every group needs at least one column")
    return out


def as_blocks(kernels: Sequence[Any], n: int) -> list[Block]:
    """Check matrices and factors, and hold each in its cheaper form."""
    try:
        items = list(kernels)
    except TypeError:
        raise InputError(f"kernels must be a sequence of matrices and factors, not {type(kernels).__name__}") from None
    if not items:
        raise InputError("kernels is empty; give at least one matrix or factor")
    blocks = []
    for j, item in enumerate(items):
        name = f"kernels[{j}]"
        kind = None
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
            kind, item = item
            if kind not in ("factor", "matrix"):
                raise InputError(f"{name} is a {kind!r}; a pair must say 'factor' or 'matrix'")
        array = np.asarray(item)
        if array.ndim != 2 or array.dtype.kind not in "fiub" or array.shape[0] != n:
            raise InputError(f"{name} has shape {array.shape}; a matrix or factor of numbers with {n} rows is needed")
        values = np.asarray(array, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise InputError(f"{name} holds NaN or infinite values")
        square = values.shape[1] == n
        if kind == "matrix" and not square:
            raise InputError(f"{name} has shape {values.shape}; a kernel matrix must be {n} by {n}")
        if square and kind != "factor":
            eps = float(np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps)
            blocks.append(matrix_block(values, name, eps))
        else:
            blocks.append(factor_block(values))
    return blocks


def solve_blocks(
    blocks: Sequence[Block],
    y: FloatArray,
    k: int | None,
    gamma: Gamma,
    *,
    penalty: float | None,
    rel_gap: float,
    time_limit: float | None,
    node_limit: int | None,
    warm_start: Any,
    force_in: Any,
    force_out: Any,
    progress: ProgressOption,
    started: float,
) -> KernelSolution:
    """Solve on kernels that are already blocks; parameters as in `solve_kernels`."""
    m = len(blocks)
    if k is None and penalty is None:
        raise InputError("give k (how many kernels), penalty (the price of a kernel), or both")
    size = m if k is None else min(check_count(k, "k"), m)
    price = 0.0 if penalty is None else check_number(penalty, "penalty", minimum=0.0)
    weight = resolve_gamma(blocks, len(y), gamma)
    limit = math.inf if time_limit is None else check_number(time_limit, "time_limit", minimum=0.0)
    limits = Limits(
        rel_gap=check_number(rel_gap, "rel_gap", minimum=0.0),
        deadline=started + limit,
        nodes=math.inf if node_limit is None else float(check_count(node_limit, "node_limit")),
    )
    root, start = _root(m, size, warm_start, force_in, force_out)
    reporter = Reporter(progress)

    def report(objective: float, lower_bound: float, nodes: int, open_nodes: int) -> None:
        seconds = time.monotonic() - started
        reporter.show(
            Progress(
                objective=objective,
                lower_bound=lower_bound,
                nodes=nodes,
                open_nodes=open_nodes,
                seconds=seconds,
                reads=1.0,
            )
        )

    searching = time.monotonic()
    with reporter:
        found = Search(Oracle(blocks, y, weight, price), root, limits, report).run(start)
    support = np.array(found.support, dtype=np.int64)
    # The objective that is reported comes from the kernels themselves, not from compressed ones.
    chosen = Oracle([blocks[j] for j in support], y, weight, price, compress=False)
    ones = np.ones(len(support))
    alpha = chosen.system(ones).solve(y)
    objective = chosen.value(ones, alpha)
    half = 0.5 * float(y @ y)
    lower_bound = reconcile(objective, found.lower_bound, half)
    status = found.status
    if status == "optimal" and not closes(objective, lower_bound, limits.rel_gap, 10.0 * half):
        status = "gap_open"
    return KernelSolution(
        support=support,
        alpha=alpha,
        objective=objective,
        lower_bound=lower_bound,
        status=status,
        k=size,
        penalty=price,
        gamma=weight,
        stats={
            "nodes": found.nodes,
            "seconds": time.monotonic() - started,
            "search_seconds": time.monotonic() - searching,
            "root_bound": found.root_bound,
            "kernels_left": found.kernels_left,
            "newton_steps": found.newton_steps,
        },
    )


def resolve_gamma(blocks: Sequence[Block], n: int, gamma: Gamma) -> float:
    """Return gamma as a number; ``"auto"`` is sqrt(n) / mean trace."""
    if not isinstance(gamma, str):
        return check_gamma(gamma)
    if gamma != "auto":
        raise InputError(f'gamma must be a positive number or "auto", not {gamma!r}')
    traces = [
        float(np.sum(block.factor**2)) if block.factor is not None else float(np.trace(np.asarray(block.matrix)))
        for block in blocks
    ]
    mean = float(np.mean(traces))
    return math.sqrt(n) / mean if mean > 0.0 else 1.0


def _root(m: int, size: int, warm_start: Any, force_in: Any, force_out: Any) -> tuple[Node, tuple[int, ...] | None]:
    masks: list[npt.NDArray[np.bool_]] = []
    for value, name in ((force_in, "force_in"), (force_out, "force_out")):
        mask = np.zeros(m, dtype=bool)
        if value is not None:
            mask[check_support(value, m, name)] = True
        masks.append(mask)
    inside, outside = masks
    if np.any(inside & outside):
        raise InputError(f"kernel {np.flatnonzero(inside & outside)[0]} is both in force_in and in force_out")
    room = size - int(np.count_nonzero(inside))
    if room < 0:
        raise InputError(f"force_in names {size - room} kernels, but k = {size}; raise k or force fewer kernels in")
    start = None
    if warm_start is not None:
        chosen = check_support(warm_start, m, "warm_start")
        if len(chosen) > size:
            raise InputError(f"warm_start has {len(chosen)} kernels, but k = {size}")
        if np.any(outside[chosen]) or not np.isin(np.flatnonzero(inside), chosen).all():
            raise InputError("warm_start contradicts force_in or force_out")
        start = tuple(int(j) for j in chosen)
    return Node(fixed_in=inside, free=~inside & ~outside, room=room), start
