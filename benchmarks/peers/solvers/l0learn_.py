"""l0learn (Hazimeh, Mazumder, Nonet): coordinate descent with local search along a path of L0 penalties."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.peers import scalings
from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """Import."""
    import_module("l0learn")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """A path up to k columns with the ridge that comes nearest."""
    assert job.k is not None
    ridge = scalings.l0learn_ridge(X, job.gamma)
    model = import_module("l0learn").fit(
        X,
        y,
        penalty="L0L2",
        algorithm="CDPSI",
        num_gamma=1,
        gamma_max=ridge,
        gamma_min=ridge,
        max_support_size=min(job.k + 1, *X.shape),
        intercept=False,
    )
    coefs = np.asarray(model.coeff(include_intercept=False).todense())
    return Answer(supports=[], status="heuristic", keep=coefs)
