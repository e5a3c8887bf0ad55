"""Parsifal: exact sparse regression, the best k-sparse ridge fit with a proof that no other support is better."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from parsifal import datasets, metrics
from parsifal.certificate import Certificate, CheckResult
from parsifal.check import check
from parsifal.design import Design, as_design, open_design
from parsifal.errors import DataError, InputError, NonFiniteError, NumericalError, ParsifalError
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

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "CheckResult",
    "DataError",
    "Design",
    "History",
    "InputError",
    "Loss",
    "NonFiniteError",
    "NumericalError",
    "ParsifalError",
    "Path",
    "Progress",
    "Ranking",
    "Relaxation",
    "Solution",
    "SparseRegressor",
    "SparseRegressorCV",
    "as_design",
    "check",
    "datasets",
    "k_best",
    "loss",
    "metrics",
    "open_design",
    "path",
    "plots",
    "relax",
    "solve",
]

# What needs scikit-learn or another library that takes its time is imported when it is first asked for.
_LAZY = {
    "plots": "parsifal.plots",
    "SparseRegressor": "parsifal.estimators",
    "SparseRegressorCV": "parsifal.crossval",
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
