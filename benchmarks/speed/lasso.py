"""A Lasso path with the fastest solver that is installed, for the time beside ours."""

from __future__ import annotations

import multiprocessing
import warnings
from time import perf_counter
from typing import Any

import numpy as np


def lasso_path(X: np.ndarray, y: np.ndarray, k: int, limit: float) -> dict[str, Any]:
    """Seconds of a path of 100 penalties down to 1/100 of the largest, stopped after `limit` seconds.

    Runs in a fork, which shares X and can be killed.
    """
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_run, args=(X, y, k, send))
    started = perf_counter()
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return {"lasso_s": None, "lasso": f"> {limit:g} s"}
    seconds = perf_counter() - started
    if not receive.poll():
        return {"lasso_s": None, "lasso": "failed"}
    name, found = receive.recv()
    return {"lasso_s": seconds, "lasso": name, "lasso_finds_support_of_size": found}


def _run(X: np.ndarray, y: np.ndarray, k: int, send: Any) -> None:
    warnings.simplefilter("ignore")
    name, path = _solver()
    coefs = path(X, np.asarray(y, dtype=X.dtype))
    send.send((name, int(np.count_nonzero(coefs[:, -1]))))


def _solver() -> tuple[str, Any]:
    """celer where it is installed, else scikit-learn."""
    try:
        from celer import celer_path
    except ImportError:
        from sklearn.linear_model import lasso_path as sklearn_path

        return "scikit-learn", lambda X, y: sklearn_path(X, y, eps=1e-2, n_alphas=100)[1]
    return "celer", lambda X, y: celer_path(X, y, "lasso", eps=1e-2, n_alphas=100)[1]
