"""skglm (Bertrand et al.): a path of the minimax concave penalty (MCP)."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np

from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """Import."""
    import_module("skglm")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """A path of 100 penalties down to a thousandth of the largest, the concavity 3."""
    largest = float(np.max(np.abs(X.T @ y))) / X.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = import_module("skglm.solvers").AndersonCD(fit_intercept=False, warm_start=True)
        coefs = solver.path(
            X,
            y,
            import_module("skglm.datafits").Quadratic(),
            import_module("skglm.penalties").MCPenalty(largest, 3.0),
            alphas=largest * np.geomspace(1, 1e-3, 100),
        )[1]
    return Answer(supports=[], status="heuristic", keep=coefs)
