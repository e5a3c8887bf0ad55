"""Parsifal: the search, and the paper's cutting planes and big-M on mixed-integer solvers."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.solvers import SOLVERS, Answer, Job


def prepare() -> None:
    """Import."""
    import parsifal  # noqa: F401


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Solve by the method that the solver's name stands for."""
    import parsifal as pf

    history = pf.History() if job.trace else None
    problem = {} if job.penalty is None else {"penalty": job.penalty}
    sol = pf.solve(
        X,
        y,
        k=job.k,
        gamma=job.gamma,
        rel_gap=job.rel_gap,
        time_limit=job.time_limit,
        threads=job.threads,
        progress=False if history is None else history,
        **problem,
        **SOLVERS[job.solver].options,
    )
    return Answer(
        supports=[sol.support.tolist()],
        claim=sol.status == "optimal",
        status=sol.status,
        lower_bound=sol.lower_bound,
        nodes=int(sol.stats["nodes"]),
        largest=float(np.max(np.abs(sol.coef), initial=0.0)),
        history=[[p.seconds, p.objective, p.lower_bound] for p in history or ()],
        keep=sol,
    )


def after(answer: Answer, job: Job) -> None:
    """Keep the search's proof for the referee."""
    certificate = answer.keep.certificate
    if job.certificate is not None and answer.keep.rests_on is None and certificate is not None:
        certificate.save(job.certificate)
