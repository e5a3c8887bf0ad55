"""l0bnb (Hazimeh, Mazumder, Saab): branch and bound for the penalised form, in numba."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.peers import scalings
from benchmarks.peers.solvers import Answer, Job
from benchmarks.peers.solvers.logs import bound_lines, captured


def prepare() -> None:
    """Import."""
    if not hasattr(np, "Inf"):  # version 1.0.0 asks for a name that NumPy 2 has dropped
        vars(np)["Inf"] = np.inf
    import_module("l0bnb")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Solve the penalised form."""
    assert job.penalty is not None
    assert job.largest_hint is not None
    tree = import_module("l0bnb").BNBTree(X, y, int_tol=1e-6, rel_tol=min(1e-4, job.rel_gap))
    with captured() as log:
        sol = tree.solve(
            job.penalty,
            scalings.half_ridge(job.gamma),
            1.5 * job.largest_hint,
            gap_tol=job.rel_gap,
            time_limit=job.time_limit,
            verbose=job.trace,
        )
    # It also stops when no node is left to branch on, and then does not update its gap.
    done = sol.gap <= job.rel_gap or sol.sol_time < job.time_limit
    beta = np.asarray(sol.beta)
    bound = float(sol.cost) * (1 - float(sol.gap)) if 0 <= sol.gap < 1 else None
    return Answer(
        supports=[np.flatnonzero(beta).tolist()],
        claim=bool(done),
        status="optimal" if done else "time_limit",
        lower_bound=bound,
        nodes=int(tree.number_of_nodes),
        history=bound_lines(log.getvalue()),
    )
