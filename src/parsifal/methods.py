"""The search as a method of `solve`: run the root, hand on to the search, put the answer together."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from parsifal.certificate import Certificate
from parsifal.check import provable_bound
from parsifal.problem import IntArray, Problem
from parsifal.progress import Progress, Reporter
from parsifal.proof import make_certificate
from parsifal.root import Root, solve_root, start_root
from parsifal.search import SearchResult, run_search
from parsifal.solution import Solution, Status

_MOST_RECHECKED = 2000  # records of a proof


def solve_by_search(
    problem: Problem,
    *,
    rel_gap: float,
    started: float,
    time_limit: float,
    node_limit: float,
    threads: int,
    warm_start: IntArray | None,
    reporter: Reporter,
    branching: str,
    memory_limit: float,
    certificate_limit: float,
) -> Solution:
    """Solve by branch and bound; the arguments are those of `solve`, checked."""
    reads = problem.design.reads

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

    root = start_root(problem, rel_gap=rel_gap, warm_start=warm_start)
    found: SearchResult | None = None
    status: Status
    with reporter:
        try:
            solve_root(root, deadline=started + time_limit, report=report)
            at_root = time.monotonic() - started
            status = "optimal" if root.closed else "time_limit" if at_root >= time_limit else "gap_open"
        except KeyboardInterrupt:
            # The root keeps its incumbent and bound up to date, so what it has is a true answer.
            at_root = time.monotonic() - started
            status = "interrupted"
        if status == "gap_open" and root.reduced is not None:
            found = run_search(
                root,
                time_limit=time_limit - at_root,
                node_limit=node_limit,
                threads=threads,
                branching=branching,
                memory_limit=memory_limit,
                certificate_limit=certificate_limit,
                poll=poll if reporter.active else None,
            )
            status = found.status
    lower_bound = root.claim(root.lower_bound)
    certificate = make_certificate(root, found, lower_bound, certificate_limit)
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
