"""adelie (Yang, Hastie): the Lasso path in C++."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np

from benchmarks.peers.solvers import Answer, Job


def prepare() -> None:
    """Import."""
    import_module("adelie")


def solve(X: np.ndarray, y: np.ndarray, job: Job) -> Answer:
    """A path of 100 penalties, with its defaults, and no intercept."""
    adelie = import_module("adelie")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = adelie.grpnet(X, adelie.glm.gaussian(y), intercept=False, progress_bar=False, n_threads=job.threads)
    return Answer(supports=[], status="heuristic", keep=np.asarray(state.betas.todense()).T)
