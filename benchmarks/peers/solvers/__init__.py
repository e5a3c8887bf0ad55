"""The solvers that take part: how each is called. A peer's package is imported in its own process only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Job:
    """A problem for a worker, on the paper's scale."""

    solver: str
    data: str  # folder with X.npy and y.npy
    k: int | None
    gamma: float
    penalty: float | None
    rel_gap: float
    time_limit: float
    threads: int
    objective_hint: float | None = None  # Parsifal's objective and largest coefficient: see scalings, Favours
    largest_hint: float | None = None
    trace: bool = False  # keep the history of the gap, untimed
    repeats: int = 3
    certificate: str | None = None  # where to keep the proof


@dataclass(kw_only=True)
class Answer:
    """What a solver says; supports are judged by the referee, the rest is its own word on the paper's scale."""

    supports: list[list[int]]
    claim: bool = False
    status: str = ""
    lower_bound: float | None = None
    nodes: int | None = None
    largest: float | None = None
    seconds: float | None = None  # where the call cannot be timed from outside, as in R
    history: list[list[float]] = field(default_factory=list)  # seconds, objective, lower bound
    keep: Any = None  # for `after`, which is not timed


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A solver that takes part."""

    name: str
    environment: str | None  # of .peers; None: the project's own
    module: str  # with `solve` functions below benchmarks.peers.solvers
    exact: bool
    forms: tuple[str, ...] = ("k",)
    options: dict[str, Any] = field(default_factory=dict)
    columns: int | None = None  # no use with more
    needs_ridge: bool = False  # refuses gamma = infinity

    def load(self) -> tuple[Callable[[], None], Callable[[np.ndarray, np.ndarray, Job], Answer]]:
        """Return `prepare` and `solve`, in the process that has the package."""
        module = import_module(f"benchmarks.peers.solvers.{self.module}")
        return module.prepare, module.solve


BACKENDS = ("scip", "gurobi", "highs")
SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        Solver(name="parsifal", environment=None, module="parsifal_", exact=True, forms=("k", "penalty")),
        Solver(name="l0bnb", environment="l0bnb", module="l0bnb_", exact=True, forms=("penalty",)),
        Solver(name="el0ps", environment="el0ps", module="el0ps_", exact=True, forms=("penalty",), needs_ridge=True),
        Solver(name="okridge", environment="okridge", module="okridge_", exact=True),
        Solver(name="leaps", environment="leaps", module="leaps_", exact=True, columns=80),
        *(
            Solver(
                name=f"cutting-{backend}",
                environment=None,
                module="parsifal_",
                exact=True,
                options={"method": "cutting-plane", "backend": backend},
                needs_ridge=True,
            )
            for backend in BACKENDS
        ),
        Solver(
            name="big-m-scip",
            environment=None,
            module="parsifal_",
            exact=True,
            options={"method": "big-m", "backend": "scip"},
            columns=500,
            needs_ridge=True,
        ),
        Solver(name="abess", environment="abess", module="abess_", exact=False),
        Solver(name="l0learn", environment="l0learn", module="l0learn_", exact=False),
        Solver(name="lasso", environment=None, module="lasso_", exact=False),
        Solver(name="celer", environment="celer", module="celer_", exact=False),
        Solver(name="adelie", environment="adelie", module="adelie_", exact=False),
        Solver(name="skglm", environment="skglm", module="skglm_", exact=False),
    )
}
PATHS = ("lasso", "celer", "adelie")  # Lasso paths, which a proof should not take longer than
