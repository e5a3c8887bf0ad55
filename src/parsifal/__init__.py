"""Parsifal: exact sparse regression, the best k-sparse ridge fit with a proof that no other support is better."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# _dispatch comes first: it chooses the compiled core.
from parsifal import _dispatch as _dispatch
from parsifal import constraints, datasets, metrics
from parsifal.certificate import Certificate, CheckResult
from parsifal.check import check
from parsifal.design import Design, as_design, open_design
from parsifal.errors import (
    BackendError,
    BigMWarning,
    DataError,
    InputError,
    LiftingWarning,
    MissingBackendError,
    NonFiniteError,
    NumericalError,
    ParsifalError,
)
from parsifal.loss import Loss, loss
from parsifal.path import Path, path
from parsifal.progress import History, Progress
from parsifal.ranking import Ranking, k_best
from parsifal.relaxation import Relaxation, relax
from parsifal.solution import Solution
from parsifal.solve import solve

if TYPE_CHECKING:
    from parsifal import plots
    from parsifal.crossval import SparseRegressorCV
    from parsifal.estimators import SparseRegressor
    from parsifal.kernels import KernelSolution, SparseKernelRegressor, solve_groups, solve_kernels
    from parsifal.lifting import NonlinearFeatures
    from parsifal.reporting import report

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "BigMWarning",
    "Certificate",
    "CheckResult",
    "DataError",
    "Design",
    "History",
    "InputError",
    "KernelSolution",
    "LiftingWarning",
    "Loss",
    "MissingBackendError",
    "NonFiniteError",
    "NonlinearFeatures",
    "NumericalError",
    "ParsifalError",
    "Path",
    "Progress",
    "Ranking",
    "Relaxation",
    "Solution",
    "SparseKernelRegressor",
    "SparseRegressor",
    "SparseRegressorCV",
    "as_design",
    "check",
    "constraints",
    "datasets",
    "k_best",
    "loss",
    "metrics",
    "open_design",
    "path",
    "plots",
    "relax",
    "report",
    "solve",
    "solve_groups",
    "solve_kernels",
]

# What needs scikit-learn or another library that takes its time is imported when it is first asked for.
_LAZY = {
    "KernelSolution": "parsifal.kernels",
    "NonlinearFeatures": "parsifal.lifting",
    "SparseKernelRegressor": "parsifal.kernels",
    "SparseRegressor": "parsifal.estimators",
    "SparseRegressorCV": "parsifal.crossval",
    "plots": "parsifal.plots",
    "report": "parsifal.reporting",
    "solve_groups": "parsifal.kernels",
    "solve_kernels": "parsifal.kernels",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LAZY[name])
    value = module if _LAZY[name] == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
