"""celer (Massias, Gramfort, Salmon): the Lasso path by working sets."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np

from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """Import."""
    import_module("celer")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """A path of 100 penalties, with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coefs = import_module("celer").celer_path(X, y, "lasso")[1]
    return Answer(supports=[], status="heuristic", keep=coefs)
