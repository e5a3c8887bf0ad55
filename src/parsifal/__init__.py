"""Parsifal: exact sparse regression, the best k-sparse ridge fit with a proof that no other support is better."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# _dispatch comes first: it chooses the compiled core.
from parsifal import _dispatch as _dispatch
from parsifal import constraints, datasets, metrics
from parsifal.api.paths import Path, path
from parsifal.api.ranking import Ranking, k_best
from parsifal.api.relaxing import relax
from parsifal.api.solving import solve
from parsifal.bound.relaxation import Relaxation
from parsifal.bound.ridge_loss import Loss, loss
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
from parsifal.problem.least_squares import LeastSquares
from parsifal.problem.progress import History, Progress
from parsifal.problem.solution import Incumbent, Solution
from parsifal.proof.certificate import Certificate, CheckResult
from parsifal.proof.checker import check
from parsifal.proof.choice import GroupCertificate, KernelCertificate

if TYPE_CHECKING:
    from parsifal import plots, tabular
    from parsifal.estimators import NonlinearFeatures, SparseKernelRegressor, SparseRegressor, SparseRegressorCV
    from parsifal.kernels import KernelSolution, solve_groups, solve_kernels
    from parsifal.reporting import report
    from parsifal.tabular.transformer import TableEncoder

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "BigMWarning",
    "Certificate",
    "CheckResult",
    "DataError",
    "Design",
    "GroupCertificate",
    "History",
    "Incumbent",
    "InputError",
    "KernelCertificate",
    "KernelSolution",
    "LeastSquares",
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
    "TableEncoder",
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
    "tabular",
]

# What needs scikit-learn or another library that takes its time is imported when it is first asked for.
_LAZY = {
    "KernelSolution": "parsifal.kernels",
    "NonlinearFeatures": "parsifal.estimators",
    "SparseKernelRegressor": "parsifal.estimators",
    "SparseRegressor": "parsifal.estimators",
    "SparseRegressorCV": "parsifal.estimators",
    "TableEncoder": "parsifal.tabular.transformer",
    "plots": "parsifal.plots",
    "report": "parsifal.reporting",
    "solve_groups": "parsifal.kernels",
    "solve_kernels": "parsifal.kernels",
    "tabular": "parsifal.tabular",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LAZY[name])
    value = module if _LAZY[name] == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, and no module that happens to be loaded."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
