"""Parsifal: exact sparse regression, the best k-sparse ridge fit with a proof that no other support is better."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from parsifal import datasets, metrics
from parsifal.certificate import Certificate, CheckResult
from parsifal.check import check
from parsifal.design import Design, as_design
from parsifal.errors import InputError, LiftingWarning, NonFiniteError, NumericalError, ParsifalError
from parsifal.loss import Loss, loss
from parsifal.progress import Progress
from parsifal.relaxation import Relaxation, relax
from parsifal.solution import Solution
from parsifal.solve import solve

if TYPE_CHECKING:
    from parsifal.kernels import KernelSolution, SparseKernelRegressor, solve_groups, solve_kernels
    from parsifal.lifting import NonlinearFeatures

__version__ = "0.1.0"

# Names whose modules import scikit-learn, which takes longer than everything else here: loaded when first asked for.
_LAZY = {
    "KernelSolution": "parsifal.kernels",
    "NonlinearFeatures": "parsifal.lifting",
    "SparseKernelRegressor": "parsifal.kernels",
    "solve_groups": "parsifal.kernels",
    "solve_kernels": "parsifal.kernels",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'parsifal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [
    "Certificate",
    "CheckResult",
    "Design",
    "InputError",
    "KernelSolution",
    "LiftingWarning",
    "Loss",
    "NonFiniteError",
    "NonlinearFeatures",
    "NumericalError",
    "ParsifalError",
    "Progress",
    "Relaxation",
    "Solution",
    "SparseKernelRegressor",
    "as_design",
    "check",
    "datasets",
    "loss",
    "metrics",
    "relax",
    "solve",
    "solve_groups",
    "solve_kernels",
]
