"""The outer approximation loop (Algorithm 1 of the paper), on any loss and any backend.

    s_1 <- warm start
    while eta_t < c(s_t):
        s_{t+1}, eta_{t+1} <- argmin { eta : s allowed, eta >= c(s_i) + grad c(s_i)'(s - s_i) for i <= t }

A backend with lazy cuts runs the loop within one tree, the others solve a master problem per turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from parsifal.arrays import FixArray, FloatArray, IntArray
from parsifal.bound.dual import sum_below
from parsifal.bound.rounding import safe_sum
from parsifal.constraints import Row
from parsifal.cuts import ROOT_CUTS
from parsifal.cuts.master import (
    BackendStatus,
    Choices,
    Cut,
    LazyMaster,
    MasterModel,
    Outcome,
    Settings,
    TurnMaster,
    load_backend,
)
from parsifal.cuts.oracle import Oracle
from parsifal.cuts.planes import UNIT, Planes, Report
from parsifal.cuts.rootcuts import best_choice, root_cuts
from parsifal.deadline import TimeUp
from parsifal.errors import BackendError, InputError
from parsifal.problem.gap import PRUNE, Status, closes, resolution_of, settled
from parsifal.problem.solution import reconcile

# A fit that is perfect but for this fraction of c(0) is scaled as if it were not: rows keep a usable range.
_PERFECT = 1e-4
# A turn of the many-tree loop closes this much of the gap before it asks for the next cuts.
_LOOSE = 0.1


@dataclass(frozen=True, kw_only=True)
class CutResult:
    """How the cutting planes ended.

    Attributes
    ----------
    support : int array
        The best support, in positions of the oracle's binaries.
    objective : float
        Its loss plus the penalty.
    lower_bound : float
        The backend's bound less `tolerance`; never above the objective.
    status : str
        As in `Solution`.
    cuts, root_cuts : int
        Cuts in the master, and how many of them are at fractional points before the tree.
    nodes, solves : int
        Nodes of the backend's trees, and how many trees.
    tolerance : float
        What was taken off the backend's bound for its tolerances.
    backend : str
        Name and version of the solver.
    """

    support: IntArray
    objective: float
    lower_bound: float
    status: Status
    cuts: int
    root_cuts: int
    nodes: int
    solves: int
    tolerance: float
    backend: str


def cutting_plane(
    oracle: Oracle,
    k: int,
    *,
    penalty: float | FloatArray = 0.0,
    fix: FixArray | None = None,
    rows: Sequence[Row] = (),
    backend: str = "scip",
    start: IntArray | None = None,
    relaxed: FloatArray | None = None,
    floor: float = 0.0,
    most_root_cuts: int = ROOT_CUTS,
    fractional: bool = False,
    rel_gap: float = 1e-6,
    deadline: float = np.inf,
    node_limit: float = np.inf,
    threads: int = 0,
    report: Report | None = None,
) -> CutResult:
    """Minimise ``c(s) + penalty * sum s`` over the binary s that are allowed.

    Parameters
    ----------
    oracle : Oracle
        The loss c.
    k : int
        Largest number of ones.
    penalty : float or array
        Price of a one, or of each.
    fix : int8 array, optional
        1 for ones that must be there, -1 for those that must not.
    rows : sequence of Row
        Side constraints.
    backend : {"scip", "highs", "gurobi"}
        The solver of the master problem.
    start : int array, optional
        An allowed support to start from.
    relaxed : array, optional
        A fractional s, best the optimum of the relaxation: where the first cut is made, and where `start` comes from
        if there is none.
    floor : float
        A lower bound on c over the allowed supports.
    most_root_cuts : int
        Cuts at fractional points before the tree.
    fractional : bool
        Whether to cut at fractional points in the tree too, where the backend can.
    rel_gap, deadline, node_limit, threads
        When to stop (`deadline` is a time of `time.monotonic`), and with how many threads (0: the backend's choice).
    report : callable, optional
        Gets objective, bound, nodes and open nodes up to twenty times a second.
    """
    tolerance = load_backend(backend).CAPABILITIES.tolerance
    choices = Choices(size=oracle.size, k=k, fix=np.zeros(oracle.size, np.int8) if fix is None else fix, rows=rows)
    planes = Planes(oracle, choices, penalty=penalty, floor=floor, tolerance=tolerance, report=report)
    point = np.zeros(oracle.size) if relaxed is None else relaxed
    value, gradient = planes.gradient_at(point)
    planes.visit(best_choice(choices, -gradient - penalty) if start is None else start)
    if planes.best is None:
        raise InputError("start is not an allowed support")
    empty = value if relaxed is None else planes.gradient_at(np.zeros(oracle.size))[0]
    planes.scale = (max(planes.objective, _PERFECT * empty) or 1.0) / UNIT

    model = MasterModel(choices=choices, price=planes.scaled_price, floor=floor / planes.scale)
    return run_loop(
        planes,
        model,
        backend,
        first=lambda: root_cuts(planes, relaxed, most_root_cuts, deadline),
        empty=empty,
        rel_gap=rel_gap,
        deadline=deadline,
        node_limit=node_limit,
        threads=threads,
        fractional=fractional,
    )


def run_loop(
    planes: Planes,
    model: MasterModel,
    backend: str,
    *,
    first: Callable[[], list[Cut]],
    empty: float,
    rel_gap: float,
    deadline: float,
    node_limit: float,
    threads: int,
    fractional: bool,
    exact: bool = True,
) -> CutResult:
    """The loop itself, from an incumbent on: `first` makes the cuts to start with, `empty` is the loss of s = 0, and
    `exact` says whether the model admits every allowed support's fit (a bound above the incumbent is then an error)."""
    module = load_backend(backend)
    choices = model.choices
    # What the backend's tolerances can be worth in eta, see docs/cutting-planes.md.
    slack = module.CAPABILITIES.tolerance * (2 * choices.k + 3)
    settings = Settings(
        rel_gap=max(0.0, PRUNE * rel_gap - 2 * slack / UNIT),
        abs_gap=max(0.0, resolution_of(empty) / planes.scale - slack),
        deadline=deadline,
        node_limit=node_limit,
        threads=threads,
        fractional=fractional and module.CAPABILITIES.fractional,
    )
    master = module.make_master(model, settings)
    cuts: list[Cut] = []
    try:
        cuts = first()
        for cut in (*cuts, planes.cut(planes.support)):
            master.add_cut(cut)
        if not np.any(choices.fix == 0):
            outcome = Outcome(status="optimal", bound=planes.objective / planes.scale, nodes=0, solves=0)
        elif isinstance(master, LazyMaster):
            outcome = master.solve_lazy(planes)
        else:
            outcome = _many_trees(master, planes, settings)
    except (KeyboardInterrupt, TimeUp) as stop:
        status: BackendStatus = "time_limit" if isinstance(stop, TimeUp) else "interrupted"
        outcome = Outcome(status=status, bound=planes.bound / planes.scale, nodes=0, solves=0)
    finally:
        version = master.version()
        master.close()
    if outcome.status == "infeasible":
        raise BackendError(f"{version} finds no solution although it was given one")
    objective = planes.objective
    price = sum_below(planes.price[choices.fix == 1])
    # The price alone is a bound too, and none of its digits is lost.
    least = max(price, float(safe_sum(planes.floor, price)))
    lower_bound = max((outcome.bound - slack) * planes.scale, least)
    lower_bound = reconcile(objective, lower_bound, empty) if exact else min(lower_bound, objective)
    return CutResult(
        support=planes.support,
        objective=objective,
        lower_bound=lower_bound,
        status=settled(outcome.status, objective, lower_bound, rel_gap),
        cuts=planes.cuts,
        root_cuts=len(cuts),
        nodes=outcome.nodes,
        solves=outcome.solves,
        tolerance=slack * planes.scale,
        backend=version,
    )


def _many_trees(master: TurnMaster, planes: Planes, settings: Settings) -> Outcome:
    """One master problem per turn; early ones are solved loosely, as any of their solutions gives a cut."""
    bound, nodes, solves = -np.inf, 0, 0
    while True:
        objective = planes.objective / planes.scale
        gap = max(settings.rel_gap, _LOOSE * min(1.0, (objective - bound) / objective)) if objective > 0 else 0.0
        turn = master.solve_once(planes, gap)
        bound, nodes, solves = max(bound, turn.bound), nodes + turn.nodes, solves + 1
        done = Outcome(status=turn.status, bound=bound, nodes=nodes, solves=solves)
        planes.poll(bound, nodes, 0)
        objective = planes.objective / planes.scale
        if turn.status != "optimal" or turn.x is None:
            return done
        if closes(objective, bound, settings.rel_gap) or objective - bound <= settings.abs_gap:
            return done
        cut = planes.enforce(turn.x, turn.eta)
        if cut is not None:
            master.add_cut(cut)
        elif gap <= settings.rel_gap and not turn.cuts:
            return done
