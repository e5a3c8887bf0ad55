"""The scikit-learn face: estimators, cross-validation, nonlinear features, an outlook before a long solve.

Each is imported when it is first asked for: what else is here does without scikit-learn, which takes its time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsifal.estimators.kernel_regressor import SparseKernelRegressor
    from parsifal.estimators.nonlinear import NonlinearFeatures
    from parsifal.estimators.regressor import SparseRegressor
    from parsifal.estimators.regressor_cv import SparseRegressorCV

__all__ = ["NonlinearFeatures", "SparseKernelRegressor", "SparseRegressor", "SparseRegressorCV"]

_MODULES = {
    "NonlinearFeatures": "nonlinear",
    "SparseKernelRegressor": "kernel_regressor",
    "SparseRegressor": "regressor",
    "SparseRegressorCV": "regressor_cv",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
