"""`relax`: the dual relaxation alone."""

from __future__ import annotations

from typing import Any

from parsifal.arguments import Gamma, check_number
from parsifal.bound.relaxation import Relaxation, relax_problem
from parsifal.problem.problem import make_problem


def relax(
    X: Any,
    y: Any,
    k: int | None = None,
    gamma: Gamma = "auto",
    *,
    penalty: Any = None,
    force_in: Any = None,
    force_out: Any = None,
    sign: Any = 0,
    tolerance: float = 1e-6,
) -> Relaxation:
    """Solve the dual relaxation of the sparse regression problem.

    Parameters
    ----------
    X, y, k, gamma, penalty, force_in, force_out, sign
        As in `solve`.
    tolerance : float
        Relative gap between the relaxation's primal and dual value at which to stop.

    Returns
    -------
    Relaxation
    """
    problem = make_problem(
        X,
        y,
        k=k,
        gamma=gamma,
        penalty=penalty,
        force_in=force_in,
        force_out=force_out,
        sign=sign,
    )
    return relax_problem(problem, check_number(tolerance, "tolerance", minimum=0.0))
