"""What the loop asks of a mixed-integer solver, and the table of those that there are.

The master problem, scaled so that eta is about a hundred at the solution (`UNIT`):

    min  eta + price * sum s    s.t.   eta >= constant_i + slope_i's  for every cut i,   sum s <= k,   rows,   s binary
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

import numpy as np

from parsifal.constraints import Row
from parsifal.errors import InputError, MissingBackendError
from parsifal.problem import FixArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Cut:
    """``eta >= constant + slope's``, in the master's scale."""

    constant: float
    slope: FloatArray


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The supports that are allowed: at most k columns, what is fixed, and the side constraints.

    Attributes
    ----------
    size : int
        Number of binaries.
    k : int
        Largest number of columns.
    fix : int8 array of shape (size,)
        1 in, -1 out, 0 free.
    rows : sequence of Row
        Side constraints.
    """

    size: int
    k: int
    fix: FixArray
    rows: Sequence[Row] = ()

    @property
    def lower(self) -> FloatArray:
        return (self.fix > 0).astype(np.float64)

    @property
    def upper(self) -> FloatArray:
        return (self.fix >= 0).astype(np.float64)

    def allows(self, support: IntArray) -> bool:
        """Whether this support is one of them."""
        forced = np.flatnonzero(self.fix == 1)
        if support.size > self.k or np.any(self.fix[support] < 0) or not np.isin(forced, support).all():
            return False
        return all(row.allows(support) for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class MasterModel:
    """The master problem without its cuts: the choices, the price of a column, and a lower bound on eta."""

    choices: Choices
    price: float
    floor: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How far the backend goes: gaps in the master's scale, a point in time, nodes, threads (0: its own choice)."""

    rel_gap: float
    abs_gap: float
    deadline: float
    node_limit: float
    threads: int
    fractional: bool

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a backend is and can do.

    Attributes
    ----------
    name : str
        As users know it.
    lazy : bool
        Whether cuts can be added while one tree is searched.
    fractional : bool
        Whether it can be given cuts at fractional points of the tree.
    tolerance : float
        The feasibility and optimality tolerance that it is told to work with.
    """

    name: str
    lazy: bool
    fractional: bool
    tolerance: float


BackendStatus = Literal["optimal", "infeasible", "time_limit", "node_limit", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a backend's run ended: its bound in the master's scale; the solution, and the cuts added on the way, if it
    was run once."""

    status: BackendStatus
    bound: float
    nodes: int
    solves: int = 1
    cuts: int = 0
    s: FloatArray | None = None
    eta: float = -np.inf


class Referee(Protocol):
    """What a backend asks while it runs; `Planes` of the loop answers."""

    def enforce(self, s: FloatArray, eta: float) -> Cut | None:
        """The cut that an integral s needs, or None if eta is as large as the loss."""

    def accepts(self, s: FloatArray, eta: float) -> bool:
        """Whether eta is as large as the loss at an integral s."""

    def separate(self, s: FloatArray, eta: float) -> Cut | None:
        """A cut at a fractional s, if it is worth having."""

    def incumbent(self) -> tuple[IntArray, float]:
        """The best support so far and its loss, in the master's scale."""

    def poll(self, bound: float, nodes: int, open_nodes: int) -> None:
        """Take note of the progress; raises what the user's function raises."""


class Master(Protocol):
    """A backend at work on one master problem."""

    capabilities: Capabilities

    def add_cut(self, cut: Cut) -> None:
        """Add a row, before a solve or between two of them."""

    def solve_lazy(self, referee: Referee) -> Outcome:
        """Search one tree to the end, asking `referee` for cuts; for backends with lazy cuts."""

    def solve_once(self, referee: Referee, rel_gap: float) -> Outcome:
        """Solve with the cuts that there are, to a relative gap."""

    def version(self) -> str:
        """Name and version of the solver."""

    def close(self) -> None:
        """Free what the solver holds."""


class Backend(Protocol):
    """What a backend's file defines."""

    CAPABILITIES: Capabilities

    def make_master(self, model: MasterModel, settings: Settings) -> Master:
        """A master problem without cuts."""


# Name of a backend and of its extra: the package that it needs.
BACKENDS = {"scip": "pyscipopt", "highs": "highspy", "gurobi": "gurobipy"}


def load_backend(name: str) -> Backend:
    """Import a backend's file, which imports its solver."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, not {name!r}")
    try:
        module = importlib.import_module(f"parsifal.cuts.backends.{name}")
    except ImportError as error:
        raise MissingBackendError(
            f'backend "{name}" needs the package {BACKENDS[name]}, which cannot be imported ({error}); '
            f'pip install "parsifal[{name}]"'
        ) from error
    return cast(Backend, module)
