"""Cross-validation with many rows beside LassoCV: `python -m benchmarks.defaults.many_rows [ROWS] [COLUMNS]`.

Processor seconds, BLAS with one thread for both.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LassoCV
from threadpoolctl import threadpool_limits

import parsifal as pf


def timed(name: str, call: Callable[[], object]) -> None:
    """Print what a call takes, and the process's largest size so far."""
    started = time.process_time()
    call()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:20} {time.process_time() - started:8.1f} s {size:8.0f} MB", flush=True)


def main(rows: int = 1_000_000, columns: int = 50) -> None:
    """Fit, cross-validate, check."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = X[:, :8].sum(axis=1) + 3 * rng.standard_normal(rows) + 5
    model, cv = pf.SparseRegressor(k=8), pf.SparseRegressorCV()
    with threadpool_limits(1, "blas"):
        timed("the data", lambda: None)
        timed("SparseRegressor", lambda: model.fit(X, y))
        timed("check", lambda: model.check(X, y))
        timed("SparseRegressorCV", lambda: cv.fit(X, y))
        timed("LassoCV", lambda: LassoCV(cv=5).fit(X, y))
    print(f"chosen: k = {cv.k_}, gamma = {cv.gamma_:.3g}, {cv.status_}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
