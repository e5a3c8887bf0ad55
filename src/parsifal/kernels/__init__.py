"""Sparse kernel regression and group selection: the best k of many kernels, with proof."""

from parsifal.kernels.group_solve import solve_groups
from parsifal.kernels.kernel_solve import solve_kernels
from parsifal.kernels.oracle import Oracle
from parsifal.kernels.solution import KernelSolution

__all__ = ["KernelSolution", "Oracle", "solve_groups", "solve_kernels"]
