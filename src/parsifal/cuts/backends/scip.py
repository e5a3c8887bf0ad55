"""SCIP through PySCIPOpt: one tree, cuts from a constraint handler."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pyscipopt
from pyscipopt import SCIP_EVENTTYPE, SCIP_RESULT

from parsifal.arrays import FloatArray, IntArray
from parsifal.cuts.interrupt import Interruptible
from parsifal.cuts.master import BackendStatus, Capabilities, Cut, MasterModel, Outcome, Referee, Settings
from parsifal.errors import BackendError

T = TypeVar("T")

CAPABILITIES = Capabilities(name="SCIP", fractional=True, tolerance=1e-7)

STATUS: dict[str, BackendStatus] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "infeasible": "infeasible",
    "timelimit": "time_limit",
    "totalnodelimit": "node_limit",
    "nodelimit": "node_limit",
    "userinterrupt": "interrupted",
}

PARAMETERS: dict[str, Any] = {
    # A thousandth of it, which SCIP asks of its LP solver after a failure, is the least that this one knows.
    "numerics/feastol": CAPABILITIES.tolerance,
    "numerics/dualfeastol": CAPABILITIES.tolerance,
    # The objective is known only through cuts that come later: nothing may be concluded from its absence.
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
    # Ctrl-C is ours: SCIP's own handler writes to the terminal.
    "misc/catchctrlc": False,
    "timing/clocktype": 2,
}


def make_master(model: MasterModel, settings: Settings) -> ScipMaster:
    """A master problem without cuts."""
    return ScipMaster(model, settings)


class ScipMaster:
    """The master problem in SCIP."""

    def __init__(self, model: MasterModel, settings: Settings) -> None:
        self._settings = settings
        self.scip = scip = pyscipopt.Model("parsifal")
        scip.hideOutput()
        scip.setParams(PARAMETERS)
        lower, upper, cost = model.lower.tolist(), model.upper.tolist(), model.cost.tolist()
        if max(map(abs, cost), default=0.0) >= scip.infinity():
            raise BackendError(
                f"SCIP takes {scip.infinity():g} and more for infinite, and the penalty is {max(cost):.3g} times "
                "the size of the problem; use another backend or a smaller penalty"
            )
        self.x = [
            scip.addVar(vtype="B" if j < model.choices.size else "C", lb=lower[j], ub=upper[j], obj=cost[j])
            for j in range(len(cost))
        ]
        self.eta = scip.addVar(vtype="C", lb=model.floor, ub=None, obj=1.0)
        self._terms = [pyscipopt.scip.Term(v) for v in (*self.x, self.eta)]
        for row in model.rows:
            self._add_row(row.index, row.coef, row.lower, row.upper)

    def _add_row(self, index: IntArray, coef: FloatArray, lower: float, upper: float) -> None:
        expression = pyscipopt.Expr(dict(zip((self._terms[j] for j in index), coef.tolist())))
        sides = (None if math.isinf(side) else side for side in (lower, upper))
        self.scip.addCons(pyscipopt.scip.ExprCons(expression, *sides))

    def add_cut(self, cut: Cut) -> None:
        index = np.append(np.flatnonzero(cut.slope), len(self.x))
        self._add_row(index, np.append(-cut.slope[index[:-1]], 1.0), cut.constant, math.inf)

    def solve_lazy(self, referee: Referee) -> Outcome:
        scip, settings = self.scip, self._settings
        scip.setParam("limits/gap", settings.rel_gap)
        scip.setParam("limits/absgap", settings.abs_gap)
        scip.setParam("limits/time", min(settings.seconds_left, 1e20))
        if math.isfinite(settings.node_limit):
            scip.setParam("limits/totalnodes", int(settings.node_limit))
        handler = _LossHandler(self, referee)
        scip.includeConshdlr(
            handler,
            "loss",
            "eta is at least the loss",
            sepapriority=100,
            # After integrality: only integral points are enforced.
            enfopriority=-10,
            chckpriority=-10_000_000,
            sepafreq=1 if settings.fractional else -1,
            needscons=False,
        )
        scip.includeEventhdlr(_Watch(handler), "watch", "progress and interrupts")
        self.offer(referee)
        with Interruptible() as handler.ctrl_c:
            _optimize(scip)
        if handler.failure is not None and not isinstance(handler.failure, KeyboardInterrupt):
            raise handler.failure
        status = STATUS.get("userinterrupt" if handler.failure is not None else scip.getStatus())
        if status is None:
            raise BackendError(f"SCIP ended with status {scip.getStatus()!r}")
        bound = float(scip.getDualbound())
        return Outcome(
            status=status,
            bound=-math.inf if scip.isInfinity(-bound) else bound,
            nodes=int(scip.getNTotalNodes()),
        )

    def offer(self, referee: Referee) -> None:
        """Hand the best solution over."""
        x, eta = referee.incumbent()
        start = self.scip.createSol()
        for j in np.flatnonzero(x):
            self.scip.setSolVal(start, self.x[j], float(x[j]))
        self.scip.setSolVal(start, self.eta, eta)
        if self.scip.getStageName() == "SOLVING":
            self.scip.trySol(start)
        else:
            self.scip.addSol(start)

    def version(self) -> str:
        return f"SCIP {self.scip.version()}"

    def close(self) -> None:
        self.scip.freeProb()


def _optimize(scip: pyscipopt.Model) -> None:
    try:
        scip.optimize()
    except Exception as error:
        # PySCIPOpt has no errors of its own.
        raise BackendError(f"{error}; the data are too badly scaled for it: rescale the columns or centre y") from error


class _LossHandler(pyscipopt.Conshdlr):
    """The constraint "eta >= c(s)", known through `referee` only.

    What goes wrong in a callback is kept and ends the solve: PySCIPOpt itself would print it and go on.
    """

    def __init__(self, master: ScipMaster, referee: Referee) -> None:
        self.master, self.referee = master, referee
        self.failure: BaseException | None = None
        self.ctrl_c = Interruptible()
        self._offered = referee.incumbent()[1]

    def guarded(self, answer: Callable[[], T], otherwise: T) -> T:
        """The answer of a callback, or `otherwise` once something has gone wrong."""
        if self.failure is None:
            try:
                if self.ctrl_c.pressed:
                    raise KeyboardInterrupt
                return answer()
            except BaseException as error:
                self.failure = error
        self.model.interruptSolve()
        return otherwise

    def _point(self, solution: Any = None) -> tuple[FloatArray, float]:
        value = self.model.getSolVal
        return np.array([value(solution, v) for v in self.master.x]), float(value(solution, self.master.eta))

    def _enforce(self) -> dict[str, Any]:
        cut = self.referee.enforce(*self._point())
        self._offer_better()
        if cut is None:
            return {"result": SCIP_RESULT.FEASIBLE}
        self.master.add_cut(cut)
        return {"result": SCIP_RESULT.CONSADDED}

    def _offer_better(self) -> None:
        """A support found on the way is a solution that SCIP may not have, with eta at its true loss."""
        best = self.referee.incumbent()[1]
        if best < self._offered:
            self._offered = best
            self.master.offer(self.referee)

    def _separate(self) -> dict[str, Any]:
        self._offer_better()
        cut = self.referee.separate(*self._point())
        if cut is None:
            return {"result": SCIP_RESULT.DIDNOTFIND}
        self.master.add_cut(cut)
        return {"result": SCIP_RESULT.CONSADDED}

    def consenfolp(self, constraints: Any, nusefulconss: Any, solinfeasible: Any) -> dict[str, Any]:
        return self.guarded(self._enforce, {"result": SCIP_RESULT.INFEASIBLE})

    def consenfops(self, constraints: Any, nusefulconss: Any, solinfeasible: Any, objinfeasible: Any) -> dict[str, Any]:
        return self.guarded(self._enforce, {"result": SCIP_RESULT.INFEASIBLE})

    def conscheck(self, constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        accepted = self.guarded(lambda: self.referee.accepts(*self._point(solution)), False)
        return {"result": SCIP_RESULT.FEASIBLE if accepted else SCIP_RESULT.INFEASIBLE}

    def conssepalp(self, constraints: Any, nusefulconss: Any) -> dict[str, Any]:
        return self.guarded(self._separate, {"result": SCIP_RESULT.DIDNOTRUN})

    def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
        both = nlockspos + nlocksneg
        for variable in (*self.master.x, self.master.eta):
            self.model.addVarLocksType(variable, locktype, both, both)


class _Watch(pyscipopt.Eventhdlr):
    """Looks up after every LP: progress is reported, and Ctrl-C heard."""

    def __init__(self, handler: _LossHandler) -> None:
        self.handler = handler

    def eventinit(self) -> None:
        self.model.catchEvent(SCIP_EVENTTYPE.LPEVENT | SCIP_EVENTTYPE.NODEEVENT, self)

    def eventexec(self, event: Any) -> None:
        self.handler.guarded(self._look, None)

    def _look(self) -> None:
        scip = self.model
        nodes = int(scip.getNTotalNodes())
        bound = float(scip.getDualbound())
        self.handler.referee.poll(-math.inf if scip.isInfinity(-bound) else bound, nodes, int(scip.getNNodesLeft()))
