"""okridge (Liu, Rosen, Zhong, Rudin): branch and bound for the form with k."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.peers import scalings
from benchmarks.peers.solvers import Answer, Job
from benchmarks.peers.solvers.logs import bound_lines, captured


def prepare() -> None:
    """Import; in version 0.1.1 the case p > n still calls a method by its former name."""
    import_module("okridge.tree")
    node = import_module("okridge.node").Node
    if not hasattr(node, "lower_solve"):
        node.lower_solve = node.lower_solve_fast


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Solve with at most k columns."""
    assert job.k is not None
    assert job.objective_hint is not None
    gap_tol = scalings.okridge_gap(job.rel_gap, job.objective_hint, y)
    with captured() as log:
        tree = import_module("okridge.tree").BNBTree(X=X, y=y, lambda2=1 / job.gamma)
        _, beta, gap, bound, _ = tree.solve(k=job.k, gap_tol=gap_tol, time_limit=job.time_limit, verbose=job.trace)
    done = gap <= gap_tol
    value = scalings.okridge_value
    return Answer(
        supports=[np.flatnonzero(beta).tolist()],
        claim=bool(done),
        status="optimal" if done else "time_limit",
        lower_bound=value(float(bound), y) if bound > -1e15 else None,
        history=[[at, value(upper, y), value(lower, y)] for at, upper, lower in bound_lines(log.getvalue())],
    )
