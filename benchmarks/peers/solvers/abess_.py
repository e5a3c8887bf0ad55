"""abess (Zhu et al.): splicing for exactly k columns, without a proof."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """Import."""
    import_module("abess.linear")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """Find k columns; nothing is centred or scaled, and without its own ridge: see `scalings`."""
    model = import_module("abess.linear").LinearRegression(support_size=job.k, fit_intercept=False, thread=job.threads)
    model.fit(X, y, is_normal=False)
    return Answer(supports=[np.flatnonzero(model.coef_).tolist()], status="heuristic", keep=model.coef_)
