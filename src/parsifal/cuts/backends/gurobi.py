"""Gurobi through gurobipy: one tree, cuts from a lazy callback."""

from __future__ import annotations

import math
from typing import Any

import gurobipy
import numpy as np
from gurobipy import GRB

from parsifal.arrays import FloatArray, IntArray
from parsifal.cuts.interrupt import Interruptible
from parsifal.cuts.master import BackendStatus, Capabilities, Cut, MasterModel, Outcome, Referee, Settings
from parsifal.errors import BackendError, MissingBackendError

CAPABILITIES = Capabilities(name="Gurobi", fractional=True, tolerance=1e-9)

STATUS: dict[int, BackendStatus] = {
    GRB.OPTIMAL: "optimal",
    GRB.INFEASIBLE: "infeasible",
    GRB.INF_OR_UNBD: "infeasible",
    GRB.TIME_LIMIT: "time_limit",
    GRB.NODE_LIMIT: "node_limit",
    GRB.INTERRUPTED: "interrupted",
}

PARAMETERS: dict[str, Any] = {
    "LazyConstraints": 1,
    "FeasibilityTol": CAPABILITIES.tolerance,
    "OptimalityTol": CAPABILITIES.tolerance,
    "IntFeasTol": CAPABILITIES.tolerance,
}

_NO_LICENCE = (10009, 10010)


def make_master(model: MasterModel, settings: Settings) -> GurobiMaster:
    """A master problem without cuts."""
    return GurobiMaster(model, settings)


def refused(error: gurobipy.GurobiError, variables: int) -> Exception:
    """Say what a licence lacks; any other error of Gurobi is passed on in our words."""
    if error.errno in _NO_LICENCE:
        return MissingBackendError(
            f"Gurobi's licence refuses this problem of {variables} variables ({error.message}). The licence that comes "
            "with gurobipy allows 2000 variables and 2000 rows: install a full one (free for academics), reduce the "
            'columns (force_out, screen=True), or use backend="scip"'
        )
    return BackendError(f"Gurobi failed: {error.message} (error {error.errno})")


class GurobiMaster:
    """The master problem in Gurobi."""

    def __init__(self, model: MasterModel, settings: Settings) -> None:
        self._settings = settings
        try:
            self._env = gurobipy.Env(params={"OutputFlag": 0})
        except gurobipy.GurobiError as error:
            raise refused(error, model.lower.size + 1) from error
        self.gurobi = gurobi = gurobipy.Model(env=self._env)
        for name, value in PARAMETERS.items():
            gurobi.setParam(name, value)
        gurobi.setParam("Threads", min(settings.threads, 1024))
        kinds = [GRB.BINARY] * model.choices.size + [GRB.CONTINUOUS] * (model.lower.size - model.choices.size)
        self.x = gurobi.addMVar(model.lower.size, lb=model.lower, ub=model.upper, obj=model.cost, vtype=np.array(kinds))
        self.eta = gurobi.addVar(lb=model.floor, obj=1.0)
        gurobi.update()
        self._vars = self.x.tolist()
        for row in model.rows:
            expression = self._expression(row.index, row.coef)
            if row.lower > -math.inf:
                gurobi.addLConstr(expression, GRB.GREATER_EQUAL, row.lower)
            if row.upper < math.inf:
                gurobi.addLConstr(expression, GRB.LESS_EQUAL, row.upper)

    def _expression(self, index: IntArray, coef: FloatArray) -> Any:
        return gurobipy.LinExpr(coef.tolist(), [self._vars[j] for j in index])

    def _left(self, cut: Cut) -> Any:
        index = np.flatnonzero(cut.slope)
        return self._expression(index, -cut.slope[index]) + self.eta

    def add_cut(self, cut: Cut) -> None:
        self.gurobi.addLConstr(self._left(cut), GRB.GREATER_EQUAL, cut.constant)

    def solve_lazy(self, referee: Referee) -> Outcome:
        gurobi, settings = self.gurobi, self._settings
        gurobi.setParam("MIPGap", settings.rel_gap)
        gurobi.setParam("MIPGapAbs", settings.abs_gap)
        gurobi.setParam("TimeLimit", min(settings.seconds_left, 1e100))
        if math.isfinite(settings.node_limit):
            gurobi.setParam("NodeLimit", settings.node_limit)
        x, eta = referee.incumbent()
        self.x.setAttr("Start", x)
        self.eta.setAttr("Start", eta)
        watch = _Watch(self, referee)
        try:
            with Interruptible() as watch.ctrl_c:
                gurobi.optimize(watch.call)
        except gurobipy.GurobiError as error:
            raise refused(error, len(self._vars) + 1) from error
        if watch.ctrl_c.pressed:
            watch.failure = watch.failure or KeyboardInterrupt()
        if watch.failure is not None and not isinstance(watch.failure, KeyboardInterrupt):
            if isinstance(watch.failure, gurobipy.GurobiError):
                raise refused(watch.failure, len(self._vars) + 1) from watch.failure
            raise watch.failure
        status = "interrupted" if watch.failure is not None else STATUS.get(gurobi.Status)
        if status is None:
            raise BackendError(f"Gurobi ended with status {gurobi.Status}")
        bound = float(gurobi.ObjBound)
        return Outcome(status=status, bound=bound if bound > -GRB.INFINITY else -math.inf, nodes=int(gurobi.NodeCount))

    def version(self) -> str:
        return "Gurobi " + ".".join(str(part) for part in gurobipy.gurobi.version())

    def close(self) -> None:
        self.gurobi.dispose()
        self._env.dispose()


class _Watch:
    """Gurobi's callback: cuts where it has a solution or a relaxation, progress, and Ctrl-C."""

    def __init__(self, master: GurobiMaster, referee: Referee) -> None:
        self.master, self.referee = master, referee
        self.failure: BaseException | None = None
        self.ctrl_c = Interruptible()
        self._offered = referee.incumbent()[1]

    def call(self, model: Any, where: int) -> None:
        if self.failure is None:
            try:
                if self.ctrl_c.pressed:
                    raise KeyboardInterrupt
                self._look(model, where)
            except BaseException as error:
                self.failure = error
        if self.failure is not None:
            model.terminate()
            # A solution that has not been looked at must not be taken over with too small an eta.
            if where == GRB.Callback.MIPSOL:
                model.cbLazy(self.master.eta, GRB.GREATER_EQUAL, self._offered)

    def _look(self, model: Any, where: int) -> None:
        master = self.master
        if where == GRB.Callback.MIPSOL:
            x = np.asarray(model.cbGetSolution(master._vars))
            cut = self.referee.enforce(x, float(model.cbGetSolution(master.eta)))
            if cut is not None:
                model.cbLazy(master._left(cut), GRB.GREATER_EQUAL, cut.constant)
        elif where == GRB.Callback.MIPNODE and model.cbGet(GRB.Callback.MIPNODE_STATUS) == GRB.OPTIMAL:
            if master._settings.fractional:
                x = np.asarray(model.cbGetNodeRel(master._vars))
                cut = self.referee.separate(x, float(model.cbGetNodeRel(master.eta)))
                if cut is not None:
                    model.cbLazy(master._left(cut), GRB.GREATER_EQUAL, cut.constant)
            self._offer(model)
        elif where == GRB.Callback.MIP:
            bound, nodes = model.cbGet(GRB.Callback.MIP_OBJBND), int(model.cbGet(GRB.Callback.MIP_NODCNT))
            self.referee.poll(float(bound), nodes, int(model.cbGet(GRB.Callback.MIP_NODLFT)))

    def _offer(self, model: Any) -> None:
        """A support found on the way is a solution that Gurobi may not have, with eta at its true loss."""
        x, eta = self.referee.incumbent()
        if eta < self._offered:
            self._offered = eta
            model.cbSetSolution(self.master._vars, x.tolist())
            model.cbSetSolution(self.master.eta, eta)
