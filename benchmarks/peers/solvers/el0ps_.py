"""el0ps (Guyard et al.): branch and bound for the penalised form, in numba on pybnb."""

from __future__ import annotations

import functools
import sys
from importlib import import_module

import numpy as np

from benchmarks.peers import scalings
from benchmarks.peers.solvers import Answer, Job
from benchmarks.peers.solvers.logs import captured, pybnb_lines


def prepare() -> None:
    """Import; pybnb would start MPI unless it is told not to, and one process needs none."""
    try:
        import_module("mpi4py.MPI")
    except (ImportError, RuntimeError):
        sys.modules["mpi4py"] = None  # type: ignore[assignment]
    pybnb = import_module("pybnb")
    if not isinstance(pybnb.Solver, functools.partial):
        pybnb.Solver = functools.partial(pybnb.Solver, comm=None)
    import_module("el0ps.solver")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Solve the penalised form."""
    assert job.penalty is not None
    assert job.objective_hint is not None
    gap = scalings.el0ps_gap(job.rel_gap, job.objective_hint)
    solver = import_module("el0ps.solver").BnbSolver(
        relative_gap=gap, time_limit=job.time_limit, relative_tol=min(1e-4, gap), verbose=job.trace
    )
    with captured() as log:
        result = solver.solve(
            import_module("el0ps.datafit").Leastsquares(y),
            import_module("el0ps.penalty").L2norm(scalings.half_ridge(job.gamma)),
            X,
            job.penalty,
        )
    status = str(result.status)
    return Answer(
        supports=[np.flatnonzero(np.asarray(result.x)).tolist()],
        claim=status == "optimal",
        status=status,
        nodes=int(result.iter_count),
        history=pybnb_lines(log.getvalue()),
    )
