"""`solve`: check the arguments and hand the problem to a method."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from parsifal.checkpoint import Checkpoint
from parsifal.constraints import Constraint, make_rows
from parsifal.cuts import ROOT_CUTS
from parsifal.driver import Options, run
from parsifal.errors import InputError
from parsifal.limits import usable_cores
from parsifal.problem import (
    Gamma,
    IntArray,
    Problem,
    check_count,
    check_flag,
    check_number,
    check_support,
    make_problem,
)
from parsifal.progress import Progress, ProgressOption, Reporter
from parsifal.search import BRANCHING
from parsifal.solution import Solution

if TYPE_CHECKING:
    from parsifal.cuts.planes import Report

_MOST_THREADS = 256

Method = Literal["search", "cutting-plane", "big-m"]
# The options that only some methods have.
METHODS: dict[str, set[str]] = {
    "search": {"branching", "memory_limit", "certificate_limit", "checkpoint"},
    "cutting-plane": {"backend", "constraints", "root_cuts", "fractional_cuts", "screen"},
    "big-m": {"backend", "constraints", "big_m"},
}


def solve(
    X: Any,
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    penalty: float | None = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    threads: int | None = None,
    warm_start: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    progress: ProgressOption = False,
    branching: str = "pseudo",
    memory_limit: float = 2e9,
    certificate_limit: float = 64e6,
    checkpoint: str | os.PathLike[str] | None = None,
    method: Method = "search",
    backend: str = "scip",
    constraints: Constraint | Iterable[Constraint] | None = None,
    root_cuts: int = ROOT_CUTS,
    fractional_cuts: bool = True,
    screen: bool = True,
    big_m: float | None = None,
) -> Solution:
    """Find the best sparse ridge fit and prove that no other support is better.

    Minimises ``1/2 |y - X w|^2 + |w|^2 / (2 gamma) + penalty * (number of nonzeros of w)`` over w with at most `k`
    nonzeros, on X and y exactly as given: nothing is centred or scaled.

    Parameters
    ----------
    X : matrix of shape (n, p)
        NumPy array, pandas or polars frame, SciPy CSR/CSC matrix, or a `Design`. Never copied.
    y : array of shape (n,)
        The response.
    k : int, optional
        Largest number of columns. May be left out if `penalty` is given; more than p means p.
    gamma : float or "auto"
        Ridge weight, > 0; large means a weak ridge. ``"auto"`` is ``sqrt(n) / mean squared column norm``, which is
        1/sqrt(n) on standardised columns.
    penalty : float, optional
        Price of a column, >= 0.
    rel_gap : float
        Relative gap at which the answer counts as proven. (A fit that is perfect up to rounding counts as proven once
        objective and bound agree to 1e-14 |y|^2.)
    time_limit, node_limit : float and int, optional
        Seconds, and nodes of the search tree. At a limit the best solution so far is returned with its true bound.
    threads : int, optional
        Threads of the search; all cores by default. With one thread a solve is repeatable bit for bit.
    warm_start : indices, mask or None
        A support to start from; the answer is never worse.
    force_in, force_out : indices, mask or names, optional
        Columns that must, or must not, be chosen.
    progress : bool or callable
        True shows a line with incumbent, bound, gap and nodes; a callable gets a `Progress` up to twenty times a
        second, and stops the solve if it raises.
    branching : {"largest", "fractional", "strong", "pseudo"}
        Rule that picks the column to branch on.
    memory_limit : float
        Bytes that open nodes may take before the search turns depth first, and that the products of the columns that
        survive the root may take: about 11,000 columns by default (5000 in any case). With more survivors there is no
        search, and the status is "gap_open".
    certificate_limit : float
        Bytes that the certificate's proof may take; a larger one is dropped, and the certificate says so. 0: none.
    checkpoint : path, optional
        File for the state of the solve. It is written after every read of X and every minute of the search, whole or
        not at all; if it is there at the start, the solve goes on from it, at the price of one or two reads of X, which
        check that X is the same. The other arguments that say what is solved must be the same too.
    method : {"search", "cutting-plane", "big-m"}
        Branch and bound of our own; the paper's cutting planes on a mixed-integer solver; or the big-M formulation on
        one, for comparison. The latter two need the solver (``pip install "parsifal[scip]"``), and part of their
        bound rests on its word (`Solution.rests_on`). `branching`, `memory_limit`, `certificate_limit` and
        `checkpoint` are for the search alone.
    backend : {"scip", "highs", "gurobi"}
        The mixed-integer solver.
    constraints : constraint or sequence of them, optional
        Side constraints on the support from `parsifal.constraints`; for the cutting planes and big-M.
    root_cuts : int
        Cutting planes: at most so many cuts at fractional points before the tree, the first at the relaxation's
        optimum. 0 with ``fractional_cuts=False, screen=False`` is the paper's method as published.
    fractional_cuts : bool
        Cutting planes: whether to cut at fractional points in the tree too (SCIP and Gurobi).
    screen : bool
        Cutting planes: whether safe fixing removes columns before the master problem is built.
    big_m : float, optional
        Big-M: bound on the size of every coefficient. By default one per column that provably excludes nothing.

    Returns
    -------
    Solution
        Ctrl-C ends the solve with status ``"interrupted"`` and the best solution so far.
    """
    started = time.monotonic()
    _check_method(
        method,
        {
            "branching": branching,
            "memory_limit": memory_limit,
            "certificate_limit": certificate_limit,
            "checkpoint": checkpoint,
            "backend": backend,
            "constraints": constraints,
            "root_cuts": root_cuts,
            "fractional_cuts": fractional_cuts,
            "screen": screen,
            "big_m": big_m,
        },
    )
    options = check_options(
        rel_gap=rel_gap,
        time_limit=time_limit,
        node_limit=node_limit,
        threads=threads,
        branching=branching,
        memory_limit=memory_limit,
        certificate_limit=certificate_limit,
    )
    problem = make_problem(X, y, k=k, gamma=gamma, penalty=penalty, force_in=force_in, force_out=force_out)
    start = None if warm_start is None else _check_start(problem, warm_start)
    reporter = Reporter(progress)
    if method == "search":
        # gamma="auto" has read X, in the user's time.
        left = max(0.0, options.time_limit - (time.monotonic() - started))
        starts = [] if start is None else [start]
        options = replace(options, time_limit=left)
        with nullcontext() if checkpoint is None else Checkpoint(checkpoint) as keeper:
            return run(problem, options, starts=starts, reporter=reporter, checkpoint=keeper)
    rows = make_rows(constraints, problem.design)
    if start is not None and not all(row.allows(start) for row in rows):
        raise InputError("warm_start violates the constraints")
    common: dict[str, Any] = {
        "rel_gap": options.rel_gap,
        "started": started,
        "time_limit": options.time_limit,
        "node_limit": options.node_limit,
        "threads": options.threads,
        "warm_start": start,
        "report": _report(reporter, problem, started),
    }
    # Only now: these import SciPy's solvers, which take longer than everything else here.
    with reporter:
        if method == "big-m":
            from parsifal.cuts.bigm import solve_big_m

            largest = None if big_m is None else check_number(big_m, "big_m", minimum=0.0)
            return solve_big_m(problem, rows, **common, backend=backend, big_m=largest)
        from parsifal.cuts.regression import solve_cutting_plane

        return solve_cutting_plane(
            problem,
            rows,
            **common,
            backend=backend,
            root_cuts=_check_cuts(root_cuts),
            fractional_cuts=check_flag(fractional_cuts, "fractional_cuts"),
            screening=check_flag(screen, "screen"),
        )


def check_options(
    *,
    rel_gap: float,
    time_limit: float | None,
    node_limit: int | None,
    threads: int | None,
    branching: str = "pseudo",
    memory_limit: float = 2e9,
    certificate_limit: float = 64e6,
) -> Options:
    """Check what `solve` and its relatives take, and gather it."""
    if not isinstance(branching, str) or branching not in BRANCHING:
        raise InputError(f"branching must be one of {', '.join(BRANCHING)}, not {branching!r}")
    return Options(
        rel_gap=check_number(rel_gap, "rel_gap", minimum=0.0),
        time_limit=math.inf if time_limit is None else check_number(time_limit, "time_limit", minimum=0.0),
        node_limit=math.inf if node_limit is None else float(check_count(node_limit, "node_limit")),
        threads=usable_cores() if threads is None else min(check_count(threads, "threads"), _MOST_THREADS),
        branching=branching,
        memory_limit=check_number(memory_limit, "memory_limit", minimum=0.0),
        certificate_limit=check_number(certificate_limit, "certificate_limit", minimum=0.0),
    )


@cache
def _defaults() -> dict[str, Any]:
    # Once: reading the signature was a fifth of a tiny solve.
    return {name: parameter.default for name, parameter in signature(solve).parameters.items()}


def _check_method(method: str, options: dict[str, Any]) -> None:
    """Refuse an option that was changed although it does not apply to the method."""
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    for name, value in options.items():
        if name not in METHODS[method] and value != _defaults()[name]:
            fitting = " or ".join(f'method="{other}"' for other, names in METHODS.items() if name in names)
            raise InputError(f'{name} does not apply to method="{method}"; use {fitting}')


def _check_cuts(root_cuts: Any) -> int:
    if isinstance(root_cuts, bool) or not isinstance(root_cuts, (int, np.integer)) or root_cuts < 0:
        raise InputError(f"root_cuts must be a whole number >= 0, not {root_cuts!r}")
    return int(root_cuts)


def _report(reporter: Reporter, problem: Problem, started: float) -> Report:
    reads = problem.design.reads

    def report(objective: float, lower_bound: float, nodes: int, open_nodes: int) -> None:
        reporter.show(
            Progress(
                objective=objective,
                lower_bound=min(lower_bound, objective),
                nodes=nodes,
                open_nodes=open_nodes,
                seconds=time.monotonic() - started,
                reads=problem.design.reads - reads,
            )
        )

    return report


def _check_start(problem: Problem, warm_start: Any) -> IntArray:
    start = check_support(warm_start, problem.p, "warm_start")
    if start.size > problem.k:
        raise InputError(f"warm_start has {start.size} columns, but k = {problem.k}")
    forced = np.flatnonzero(problem.fix == 1)
    if np.any(problem.fix[start] < 0) or not np.isin(forced, start).all():
        raise InputError("warm_start contradicts force_in or force_out")
    return start
