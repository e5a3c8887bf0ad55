"""`solve`: check the arguments and hand the problem to a method."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from parsifal.arguments import Gamma, check_count, check_flag, check_number, check_support
from parsifal.arrays import IntArray
from parsifal.constraints import Constraint, make_rows
from parsifal.cuts import ROOT_CUTS
from parsifal.cuts.options import CutOptions
from parsifal.deadline import usable_cores
from parsifal.errors import InputError
from parsifal.problem.problem import Problem, make_problem
from parsifal.problem.progress import Progress, ProgressOption, Reporter
from parsifal.problem.solution import Solution, on_given_columns
from parsifal.problem.standardise import view_of, warn_of_level
from parsifal.solver.checkpoint import Checkpoint
from parsifal.solver.funnel import run
from parsifal.solver.options import Options
from parsifal.solver.tree import BRANCHING

if TYPE_CHECKING:
    from parsifal.cuts.planes import Report

_MOST_THREADS = 256

Method = Literal["search", "cutting-plane", "big-m"]
# The options that only some methods have.
METHODS: dict[str, set[str]] = {
    "search": {"branching", "memory_limit", "certificate_limit", "checkpoint", "constraints", "sign"},
    "cutting-plane": {"backend", "constraints", "sign", "root_cuts", "fractional_cuts", "screen"},
    "big-m": {"backend", "constraints", "big_m"},
}


def solve(
    X: Any,
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    fit_intercept: bool | None = None,
    standardize: bool = False,
    penalty: Any = None,
    rel_gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    threads: int | None = None,
    warm_start: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    sign: Any = 0,
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
    nonzeros, on X and y exactly as given: nothing is centred or scaled unless `fit_intercept` or `standardize` say so.

    Parameters
    ----------
    X : matrix of shape (n, p)
        NumPy array, pandas or polars frame, SciPy CSR/CSC matrix, or a `Design`. Never copied.
    y : array of shape (n,)
        The response.
    k : int, optional
        Largest number of columns. May be left out if `penalty` is given; more than p means p.
    gamma : float or "auto"
        Ridge weight, > 0; large means a weak ridge, ``np.inf`` none (best subset selection). ``"auto"`` is ``sqrt(n) /
        mean squared column norm``, which is 1/sqrt(n) on standardised columns: the paper's value.
    fit_intercept : bool, optional
        Whether to fit an intercept, which is not penalised: X and y are centred. Off by default, with a warning where
        the mean of y is farther from zero than 1.5 standard deviations.
    standardize : bool
        Whether to divide columns by their standard deviation first. `coef` is for the columns as given all the same;
        `Solution.check` and `Solution.summary` do to X and y what was done here.
    penalty : float, array of shape (p,), or mapping from columns to numbers, optional
        Price of a column, >= 0: one for all, or one for each. Columns that a mapping (by name or index) leaves out cost
        nothing.
    rel_gap : float
        Relative gap at which the answer counts as proven: "optimal" means that, and nothing less. Where double
        precision does not resolve so much (perfect fits, a y with a large level), the status is "precision".
    time_limit, node_limit : float and int, optional
        Seconds, and nodes of the search tree. At a limit the best solution so far is returned with its true bound. With
        few nodes, supports are looked for less long at the root, too.
    threads : int, optional
        Threads of the search; all cores by default. With one thread a solve is repeatable bit for bit.
    warm_start : indices, mask or None
        A support to start from; the answer is never worse.
    force_in, force_out : indices, mask or names, optional
        Columns that must, or must not, be chosen.
    sign : {0, 1, -1}, array of shape (p,), or mapping from columns to these, optional
        1: coefficients are >= 0; -1: <= 0; 0: either. An array has one entry a column; columns that a mapping (by name
        or index) leaves out may have either sign.
    progress : bool or callable
        True shows a line with incumbent, bound, gap and nodes; a callable gets a `Progress` up to twenty times a
        second, and stops the solve if it raises.
    branching : {"largest", "fractional", "strong", "pseudo"}
        Rule that picks the column to branch on.
    memory_limit : float
        Bytes that the search may take beyond X: open nodes, before it turns depth first, and the columns that survive
        the root, or products of them (docs/limits.md). Survivors that do not fit are read from X when they are needed.
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
        Side constraints on the support from `parsifal.constraints`; for every method. The search decides them at its
        nodes and its certificate states them.
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
            "sign": sign,
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
    training = view_of(X, y, fit_intercept=fit_intercept, standardize=standardize)
    if training is not None:
        X, y = training.design, training.y
    problem = make_problem(
        X,
        y,
        k=k,
        gamma=gamma,
        penalty=penalty,
        force_in=force_in,
        force_out=force_out,
        sign=sign,
        constraints=constraints if method == "search" else None,
    )
    if fit_intercept is None:
        warn_of_level(problem.y)
    start = None if warm_start is None else _check_start(problem, warm_start)
    reporter = Reporter(progress)
    if method == "search":
        answer = _search(problem, options, start, reporter, started, checkpoint)
    else:
        cut_options = CutOptions(
            backend=backend,
            rel_gap=options.rel_gap,
            started=started,
            time_limit=options.time_limit,
            node_limit=options.node_limit,
            threads=options.threads,
            root_cuts=_check_cuts(root_cuts),
            fractional_cuts=check_flag(fractional_cuts, "fractional_cuts"),
            screening=check_flag(screen, "screen"),
            big_m=None if big_m is None else check_number(big_m, "big_m", minimum=0.0),
        )
        answer = _on_a_master(method, problem, constraints, cut_options, start, reporter)
    return answer if training is None else on_given_columns(answer, training)


def _search(
    problem: Problem,
    options: Options,
    start: IntArray | None,
    reporter: Reporter,
    started: float,
    checkpoint: str | os.PathLike[str] | None,
) -> Solution:
    """By branch and bound."""
    # gamma="auto" has read X, in the user's time.
    options = replace(options, time_limit=max(0.0, options.time_limit - (time.monotonic() - started)))
    starts = [] if start is None else [start]
    with nullcontext() if checkpoint is None else Checkpoint(checkpoint) as keeper:
        return run(problem, options, starts=starts, reporter=reporter, checkpoint=keeper)


def _on_a_master(
    method: str,
    problem: Problem,
    constraints: Constraint | Iterable[Constraint] | None,
    options: CutOptions,
    start: IntArray | None,
    reporter: Reporter,
) -> Solution:
    """By the cutting planes or the big-M formulation on a mixed-integer solver."""
    if method == "big-m" and problem.rules is not None:
        if not problem.rules.uniform:
            raise InputError(
                'a penalty per column does not apply to method="big-m"; use method="search" or method="cutting-plane"'
            )
        problem = replace(problem, rules=None)
    if math.isinf(problem.gamma):
        raise InputError(f'method="{method}" needs a ridge; give a finite gamma, or use method="search"')
    rows = make_rows(constraints, problem.design)
    if start is not None and not all(row.allows(start) for row in rows):
        raise InputError("warm_start violates the constraints")
    solve_on_master = _master_method(method)
    with reporter:
        report = _report(reporter, problem, options.started)
        return solve_on_master(problem, rows, options, warm_start=start, report=report)


def _master_method(method: str) -> Callable[..., Solution]:
    """Import a method when it is needed: SciPy's solvers take longer to load than everything else here."""
    if method == "big-m":
        from parsifal.cuts.bigm import solve_big_m

        return solve_big_m
    from parsifal.cuts.regression import solve_cutting_plane

    return solve_cutting_plane


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
    # Once: reading a signature takes a noticeable part of a tiny solve.
    return {name: parameter.default for name, parameter in signature(solve).parameters.items()}


def _check_method(method: str, options: dict[str, Any]) -> None:
    """Refuse an option that was changed although it does not apply to the method."""
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    for name, value in options.items():
        if name not in METHODS[method] and not _is_default(value, _defaults()[name]):
            fitting = " or ".join(f'method="{other}"' for other, names in METHODS.items() if name in names)
            raise InputError(f'{name} does not apply to method="{method}"; use {fitting}')


def _is_default(value: Any, default: Any) -> bool:
    """Whether an option was left as it is; what has no truth value (an array) was not."""
    try:
        return bool(value == default)
    except ValueError:
        return False


def _check_cuts(root_cuts: Any) -> int:
    if isinstance(root_cuts, bool) or not isinstance(root_cuts, (int, np.integer)) or root_cuts < 0:
        raise InputError(f"root_cuts must be a whole number >= 0, not {root_cuts!r}")
    return int(root_cuts)


def _report(reporter: Reporter, problem: Problem, started: float) -> Report:
    reads, best = problem.design.reads, np.inf

    def report(objective: float, lower_bound: float, nodes: int, open_nodes: int) -> None:
        # One support is valued from the columns and, in the master's units, by the oracle: apart by rounding.
        nonlocal best
        best = min(best, objective)
        reporter.show(
            Progress(
                objective=best,
                lower_bound=min(lower_bound, best),
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
    if problem.rules is not None and not problem.allows(start):
        raise InputError(f"warm_start violates {' and '.join(problem.rules.rows.broken(start)[:3])}")
    return start
