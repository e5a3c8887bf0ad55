"""Sparse kernel regression and group selection: the best k of many kernels, with proof."""

from parsifal.kernels.estimator import SparseKernelRegressor
from parsifal.kernels.oracle import Oracle
from parsifal.kernels.solve import KernelSolution, solve_groups, solve_kernels

__all__ = ["KernelSolution", "Oracle", "SparseKernelRegressor", "solve_groups", "solve_kernels"]
