"""`solve`: check the arguments, run the root, hand on to the search, put the answer together."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from parsifal.certificate import Certificate
from parsifal.check import provable_bound
from parsifal.errors import InputError
from parsifal.problem import Gamma, IntArray, Problem, check_count, check_number, check_support, make_problem
from parsifal.progress import Progress, ProgressOption, Reporter
from parsifal.proof import make_certificate
from parsifal.root import Root, solve_root, start_root
from parsifal.search import BRANCHING, SearchResult, run_search
from parsifal.solution import Solution, Status

_MOST_THREADS = 256
_MOST_RECHECKED = 2000  # records of a proof


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
        Bytes that open nodes may take before the search turns depth first.
    certificate_limit : float
        Bytes that the certificate's proof may take; a larger one is dropped, and the certificate says so. 0: none.

    Returns
    -------
    Solution
        Ctrl-C ends the search with status ``"interrupted"`` and the best solution so far.
    """
    started = time.monotonic()
    gap = check_number(rel_gap, "rel_gap", minimum=0.0)
    limit = math.inf if time_limit is None else check_number(time_limit, "time_limit", minimum=0.0)
    most_nodes = math.inf if node_limit is None else float(check_count(node_limit, "node_limit"))
    workers = _cores() if threads is None else min(check_count(threads, "threads"), _MOST_THREADS)
    most_memory = check_number(memory_limit, "memory_limit", minimum=0.0)
    most_proof = check_number(certificate_limit, "certificate_limit", minimum=0.0)
    if not isinstance(branching, str) or branching not in BRANCHING:
        raise InputError(f"branching must be one of {', '.join(BRANCHING)}, not {branching!r}")
    problem = make_problem(X, y, k=k, gamma=gamma, penalty=penalty, force_in=force_in, force_out=force_out)
    start = None if warm_start is None else _check_start(problem, warm_start)
    reads = problem.design.reads

    reporter = Reporter(progress)

    def report(root: Root) -> None:
        reporter.show(
            Progress(
                objective=root.incumbent.objective,
                lower_bound=root.claim(root.lower_bound),
                nodes=0,
                open_nodes=1,
                seconds=time.monotonic() - started,
                reads=problem.design.reads - reads,
            )
        )

    def poll(objective: float, lower_bound: float, nodes: float, open_nodes: float, seconds: float) -> None:
        reporter.show(
            Progress(
                objective=min(objective, root.incumbent.objective),
                lower_bound=root.claim(max(root.lower_bound, lower_bound)),
                nodes=int(nodes),
                open_nodes=int(open_nodes),
                seconds=time.monotonic() - started,
                reads=problem.design.reads - reads,
            )
        )

    root = start_root(problem, rel_gap=gap, warm_start=start)
    found: SearchResult | None = None
    status: Status
    with reporter:
        try:
            solve_root(root, deadline=started + limit, report=report)
            at_root = time.monotonic() - started
            status = "optimal" if root.closed else "time_limit" if at_root >= limit else "gap_open"
        except KeyboardInterrupt:
            # The root keeps its incumbent and bound up to date, so what it has is a true answer.
            at_root = time.monotonic() - started
            status = "interrupted"
        if status == "gap_open" and root.reduced is not None:
            found = run_search(
                root,
                time_limit=limit - at_root,
                node_limit=most_nodes,
                threads=workers,
                branching=branching,
                memory_limit=most_memory,
                certificate_limit=most_proof,
                poll=poll if reporter.active else None,
            )
            status = found.status
    lower_bound = root.claim(root.lower_bound)
    certificate = make_certificate(root, found, lower_bound, most_proof)
    if root.beyond_gram and certificate.complete and certificate.records <= _MOST_RECHECKED:
        # Columns so large that the Gram matrix has lost the digits that count: claim what the data themselves prove.
        lower_bound = min(lower_bound, max(provable_bound(certificate, problem.design, problem.y), root.floor))
        certificate = replace(certificate, lower_bound=lower_bound)
        if status == "optimal" and not root.allows(lower_bound):
            status = "gap_open"
    return _solution(root, status, found, started, at_root, problem.design.reads - reads, lower_bound, certificate)


def _solution(
    root: Root,
    status: Status,
    found: SearchResult | None,
    started: float,
    at_root: float,
    reads: float,
    lower_bound: float,
    certificate: Certificate,
) -> Solution:
    problem, best = root.problem, root.incumbent
    coef = np.zeros(problem.p)
    coef[best.support] = best.coef
    total = time.monotonic() - started
    return Solution(
        support=best.support,
        coef=coef,
        objective=best.objective,
        lower_bound=lower_bound,
        status=status,
        k=problem.k,
        penalty=problem.penalty,
        gamma=problem.gamma,
        stats={
            "nodes": 0 if found is None else found.nodes,
            "reads": reads,
            "seconds": {"root": at_root, "search": 0.0 if found is None else found.seconds, "total": total},
            "columns_left": int(np.count_nonzero(root.fix >= 0)),
            "root_bound": root.root_bound,
            "linear_systems": root.solves + (0 if found is None else found.solves),
            "depth": 0 if found is None else found.depth,
        },
        feature_names=problem.design.feature_names,
        certificate=certificate,
    )


def _check_start(problem: Problem, warm_start: Any) -> IntArray:
    start = check_support(warm_start, problem.p, "warm_start")
    if start.size > problem.k:
        raise InputError(f"warm_start has {start.size} columns, but k = {problem.k}")
    forced = np.flatnonzero(problem.fix == 1)
    if np.any(problem.fix[start] < 0) or not np.isin(forced, start).all():
        raise InputError("warm_start contradicts force_in or force_out")
    return start


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
