"""One run: draw the data that a task names, solve, and say how good the answer is and how long it took.

What needs scikit-learn is imported by the parts that do, before their clock starts: loading it takes seconds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.api.solving import solve
from parsifal.arrays import FloatArray, IntArray
from parsifal.bound.ridge_loss import loss
from parsifal.datasets import SparseData, make_sparse_regression
from parsifal.errors import InputError
from parsifal.metrics import accuracy, false_alarm_rate
from parsifal.paper.results import Task
from parsifal.problem.solution import Solution

# How `solve` is asked for a method. As published, the cutting planes cut at feasible supports only.
_PUBLISHED = {"root_cuts": 0, "fractional_cuts": False, "screen": False}
_METHODS: dict[str, dict[str, Any]] = {
    # The Gram matrix of the 15,000 columns of figure-p, and a copy of it.
    "search": {"memory_limit": 4e9},
    "cutting-plane": {"method": "cutting-plane", **_PUBLISHED},
    "cutting-plane-plus": {"method": "cutting-plane"},
}


def solve_by(X: Any, y: FloatArray, k: int, task: Task) -> Solution:
    """Solve as the task says: its method, backend, gamma, threads and time limit.

    Parameters
    ----------
    X, y, k
        As in `solve`.
    task : dict
        With ``method``, ``gamma``, ``time_limit``, ``threads``, and ``backend`` for cutting planes.
    """
    chosen = dict(_METHODS[task["method"]])
    if "method" in chosen:
        chosen["backend"] = task["backend"]
    return solve(X, y, k, task["gamma"], time_limit=task["time_limit"], threads=task["threads"], **chosen)


def draw(task: Task) -> SparseData:
    """Draw the data; the same for every part and method that has the same sizes and repeat."""
    shape = [task["n"], task["p"], task["k"], round(1000 * task["rho"]), round(1000 * task["sqrt_snr"])]
    rng = np.random.default_rng([task["repeat"], *shape])
    # Fortran order is what the Lasso would otherwise copy to first.
    return make_sparse_regression(
        task["n"], task["p"], task["k"], task["rho"], task["sqrt_snr"], random_state=rng, order="F"
    )


def recovery(truth: IntArray, support: IntArray) -> dict[str, Any]:
    """A%, F% and the number of columns chosen."""
    return {
        "accuracy": accuracy(truth, support),
        "false_alarm": false_alarm_rate(truth, support),
        "size": int(support.size),
    }


def of_solution(solution: Solution) -> dict[str, Any]:
    """What is kept of a solution; one that Ctrl-C cut short is no result, and stops the run."""
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    stats = solution.stats
    return {
        "status": solution.status,
        "gap": solution.gap,
        "objective": solution.objective,
        "nodes": stats.get("nodes"),
        "cuts": stats.get("cuts"),
    }


def known_k(task: Task) -> dict[str, Any]:
    """The exact fit with the true k."""
    data = draw(task)
    started, cpu = time.perf_counter(), time.process_time()
    solution = solve_by(data.X, data.y, task["k"], task)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        # Where the best fit found is better than the true support's, it is not the solver that misses the truth.
        "truth_objective": loss(data.X, data.y, data.support, task["gamma"]).value,
        **of_solution(solution),
        **recovery(data.support, solution.support),
    }


def lasso_known_k(task: Task) -> dict[str, Any]:
    """The Lasso with the true k: found on the exact path, timed as the paper's coordinate descent."""
    from parsifal.paper.glmnet import glmnet_path
    from parsifal.paper.lasso import lasso_at

    data = draw(task)
    started = time.perf_counter()
    glmnet_path(data.X, data.y, threads=1)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    point = lasso_at(data.X, data.y, task["k"])
    exact_path = time.perf_counter() - started
    found = np.empty(0, dtype=np.int64) if point is None else point.support
    return {"seconds": seconds, "seconds_exact_path": exact_path, **recovery(data.support, found)}


def cross_validated(task: Task) -> dict[str, Any]:
    """The exact fit with k from cross-validation."""
    data = draw(task)
    return choose_k(data.X, data.y, data.support, task)


def choose_k(X: npt.NDArray[Any], y: FloatArray, truth: IntArray, task: Task) -> dict[str, Any]:
    """Choose k in ``task["ks"]`` by cross-validation and fit to all rows, as the task's method does it.

    The folds are fitted by the search whatever the method: what they choose is a property of the data.
    """
    from sklearn.exceptions import ConvergenceWarning

    from parsifal.estimators.regressor_cv import SparseRegressorCV

    first, last = task["ks"]
    model = SparseRegressorCV(
        ks=range(first, last + 1),
        gammas=task["gamma"],
        cv=task["folds"],
        fit_intercept=False,
        standardize=False,
        fold_node_limit=task["fold_node_limit"],
        fold_time_limit=task.get("fold_time_limit"),
        time_limit=task["time_limit"],
        n_jobs=task["threads"],
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        # The status is kept with the result.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    solution = model.solution_ if task["method"] == "search" else solve_by(X, y, model.k_, task)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "k": model.k_, **of_solution(solution), **recovery(truth, solution.support)}


def lasso_cross_validated(task: Task) -> dict[str, Any]:
    """The Lasso with its weight from cross-validation."""
    from parsifal.paper.lasso import lasso_cv

    data = draw(task)
    started = time.perf_counter()
    support = lasso_cv(data.X, data.y, task["folds"])
    return {"seconds": time.perf_counter() - started, **recovery(data.support, support)}


PARTS: dict[str, Callable[[Task], dict[str, Any]]] = {
    "known-k": known_k,
    "gamma": known_k,
    "lasso": lasso_known_k,
    "cv": cross_validated,
    "lasso-cv": lasso_cross_validated,
}


def measure(task: Task) -> dict[str, Any]:
    """Measure a task of the figures."""
    if task["part"] not in PARTS:
        raise InputError(f"part must be one of {', '.join(PARTS)}, not {task['part']!r}")
    return PARTS[task["part"]](task)
