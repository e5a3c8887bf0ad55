"""Parsifal: exact sparse regression, the best k-sparse ridge fit with a proof that no other support is better."""

from parsifal import constraints, datasets, metrics
from parsifal.certificate import Certificate, CheckResult
from parsifal.check import check
from parsifal.design import Design, as_design
from parsifal.errors import (
    BackendError,
    BigMWarning,
    InputError,
    MissingBackendError,
    NonFiniteError,
    NumericalError,
    ParsifalError,
)
from parsifal.loss import Loss, loss
from parsifal.progress import Progress
from parsifal.relaxation import Relaxation, relax
from parsifal.solution import Solution
from parsifal.solve import solve

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "BigMWarning",
    "Certificate",
    "CheckResult",
    "Design",
    "InputError",
    "Loss",
    "MissingBackendError",
    "NonFiniteError",
    "NumericalError",
    "ParsifalError",
    "Progress",
    "Relaxation",
    "Solution",
    "as_design",
    "check",
    "constraints",
    "datasets",
    "loss",
    "metrics",
    "relax",
    "solve",
]
