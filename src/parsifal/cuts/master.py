"""What the loop asks of a mixed-integer solver, and the table of those that there are.

The master problem, scaled so that eta is about a hundred at the solution (`UNIT`):

    min  eta + price's    s.t.   eta >= constant_i + slope_i's  for every cut i,   sum s <= k,   rows,   s binary
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast, runtime_checkable

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.constraints import Row
from parsifal.errors import InputError, MissingBackendError


@dataclass(frozen=True, kw_only=True)
class Cut:
    """``eta >= constant + slope'x``, in the master's scale."""

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
    """The master problem without its cuts, as a backend builds it: variables x and eta, and rows on x.

    Attributes
    ----------
    choices : Choices
        The binaries come first in x.
    price : array of shape (size,)
        Cost of the binaries; eta costs 1, everything else nothing.
    floor : float
        A lower bound on eta.
    big_m : array of shape (size,) or None
        For the big-M formulation: x has a coefficient w_j for every binary too, with |w_j| <= big_m_j s_j.
    """

    choices: Choices
    price: FloatArray
    floor: float
    big_m: FloatArray | None = None

    @property
    def lower(self) -> FloatArray:
        return self.choices.lower if self.big_m is None else np.concatenate([self.choices.lower, -self.big_m])

    @property
    def upper(self) -> FloatArray:
        return self.choices.upper if self.big_m is None else np.concatenate([self.choices.upper, self.big_m])

    @property
    def cost(self) -> FloatArray:
        cost = np.zeros(self.lower.size)
        cost[: self.choices.size] = self.price
        return cost

    @property
    def rows(self) -> list[Row]:
        m = self.choices.size
        rows = [Row(index=np.arange(m), coef=np.ones(m), lower=-np.inf, upper=float(self.choices.k))]
        rows += self.choices.rows
        if self.big_m is not None:
            for j, most in enumerate(self.big_m):
                pair = np.array([m + j, j])
                rows.append(Row(index=pair, coef=np.array([1.0, -most]), lower=-np.inf, upper=0.0))
                rows.append(Row(index=pair, coef=np.array([1.0, most]), lower=0.0, upper=np.inf))
        return [row for row in rows if row.index.size or row.lower > 0 or row.upper < 0]


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
    fractional : bool
        Whether it can be given cuts at fractional points of the tree.
    tolerance : float
        The feasibility and optimality tolerance that it is asked to work with.
    """

    name: str
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
    x: FloatArray | None = None
    eta: float = -np.inf


class Referee(Protocol):
    """What a backend asks while it runs; x are its variables without eta, `Planes` answers."""

    def enforce(self, x: FloatArray, eta: float) -> Cut | None:
        """The cut that an integral x needs, or None if eta is as large as the loss."""

    def accepts(self, x: FloatArray, eta: float) -> bool:
        """Whether eta is as large as the loss at an integral x."""

    def separate(self, x: FloatArray, eta: float) -> Cut | None:
        """A cut at a fractional x, if it is worth having."""

    def incumbent(self) -> tuple[FloatArray, float]:
        """The best x so far and its loss, in the master's scale."""

    def poll(self, bound: float, nodes: int, open_nodes: int) -> None:
        """Take note of the progress; raises what the user's function raises."""


class Master(Protocol):
    """A backend at work on one master problem."""

    def add_cut(self, cut: Cut) -> None:
        """Add a row, before a solve or between two of them."""

    def version(self) -> str:
        """Name and version of the solver."""

    def close(self) -> None:
        """Free what the solver holds."""


@runtime_checkable
class LazyMaster(Master, Protocol):
    """One that takes cuts while it searches."""

    def solve_lazy(self, referee: Referee) -> Outcome:
        """Search one tree to the end, asking `referee` for cuts."""


class TurnMaster(Master, Protocol):
    """One that has to be started anew with every cut."""

    def solve_once(self, referee: Referee, rel_gap: float) -> Outcome:
        """Solve with the cuts that there are, to a relative gap."""


class Backend(Protocol):
    """What a backend's file defines."""

    CAPABILITIES: Capabilities

    def make_master(self, model: MasterModel, settings: Settings) -> LazyMaster | TurnMaster:
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
