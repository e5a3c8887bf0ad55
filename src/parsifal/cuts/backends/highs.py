"""HiGHS through highspy: one tree per turn, as it has no lazy constraints; every solution on the way gives a cut."""

from __future__ import annotations

import math
from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsVarType

from parsifal.arrays import FloatArray, IntArray
from parsifal.cuts.interrupt import Interruptible
from parsifal.cuts.master import BackendStatus, Capabilities, Cut, MasterModel, Outcome, Referee, Settings
from parsifal.errors import BackendError

CAPABILITIES = Capabilities(name="HiGHS", fractional=False, tolerance=1e-9)

STATUS: dict[Any, BackendStatus] = {
    HighsModelStatus.kOptimal: "optimal",
    HighsModelStatus.kInfeasible: "infeasible",
    HighsModelStatus.kTimeLimit: "time_limit",
    HighsModelStatus.kSolutionLimit: "node_limit",
    HighsModelStatus.kInterrupt: "interrupted",
}

OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "mip_feasibility_tolerance": CAPABILITIES.tolerance,
    "primal_feasibility_tolerance": CAPABILITIES.tolerance,
    "dual_feasibility_tolerance": CAPABILITIES.tolerance,
    "mip_abs_gap": 0.0,
}

_KIND = highspy.cb.HighsCallbackType


def make_master(model: MasterModel, settings: Settings) -> HighsMaster:
    """A master problem without cuts."""
    return HighsMaster(model, settings)


class HighsMaster:
    """The master problem in HiGHS."""

    def __init__(self, model: MasterModel, settings: Settings) -> None:
        self._settings = settings
        self._nodes = 0
        self.highs = highs = highspy.Highs()
        for name, value in OPTIONS.items():
            highs.setOptionValue(name, value)
        if settings.threads:
            highs.setOptionValue("threads", settings.threads)
        self._size = model.lower.size
        cost = np.append(model.cost, 1.0)
        lower, upper = np.append(model.lower, model.floor), np.append(model.upper, math.inf)
        for c, low, high in zip(cost.tolist(), lower.tolist(), upper.tolist()):
            highs.addCol(c, low, high, 0, np.empty(0, np.int32), np.empty(0))
        binaries = model.choices.size
        highs.changeColsIntegrality(
            binaries, np.arange(binaries, dtype=np.int32), np.array([HighsVarType.kInteger] * binaries)
        )
        for row in model.rows:
            self._add_row(row.index, row.coef, row.lower, row.upper)

    def _add_row(self, index: IntArray, coef: FloatArray, lower: float, upper: float) -> None:
        self.highs.addRow(lower, upper, index.size, index.astype(np.int32), coef)

    def add_cut(self, cut: Cut) -> None:
        index = np.append(np.flatnonzero(cut.slope), self._size)
        self._add_row(index, np.append(-cut.slope[index[:-1]], 1.0), cut.constant, math.inf)

    def solve_once(self, referee: Referee, rel_gap: float) -> Outcome:
        highs, settings = self.highs, self._settings
        left = settings.node_limit - self._nodes
        if left <= 0 or settings.seconds_left <= 0:
            return Outcome(status="node_limit" if left <= 0 else "time_limit", bound=-math.inf, nodes=0)
        highs.setOptionValue("mip_rel_gap", rel_gap)
        if math.isfinite(left):
            highs.setOptionValue("mip_max_nodes", int(left))
        # HiGHS's clock runs on from turn to turn.
        highs.setOptionValue("time_limit", min(highs.getRunTime() + settings.seconds_left, 1e20))
        x, eta = referee.incumbent()
        start = highspy.HighsSolution()
        start.col_value = np.append(x, eta).tolist()
        highs.setSolution(start)
        watch = _Watch(referee, settings, self._size, self._nodes)
        highs.setCallback(watch.call, None)
        for kind in (_KIND.kCallbackMipImprovingSolution, _KIND.kCallbackMipInterrupt, _KIND.kCallbackSimplexInterrupt):
            highs.startCallback(kind)
        with Interruptible() as watch.ctrl_c:
            done = highs.run()
            if done == highspy.HighsStatus.kError and highs.getModelStatus() == HighsModelStatus.kNotset:
                # Its threads were started by an earlier solve, and were not as many as this one asks for.
                highspy.Highs.resetGlobalScheduler(True)
                highs.run()
        highs.setCallback(None, None)
        if watch.ctrl_c.pressed:
            watch.failure = watch.failure or KeyboardInterrupt()
        if watch.failure is not None and not isinstance(watch.failure, KeyboardInterrupt):
            raise watch.failure
        found = highs.getModelStatus()
        status = "interrupted" if watch.failure is not None else STATUS.get(found)
        if status == "interrupted" and watch.failure is None:
            status = "time_limit"
        if status is None:
            raise BackendError(f"HiGHS ended with status {highs.modelStatusToString(found)!r}")
        info = highs.getInfo()
        nodes = max(0, int(info.mip_node_count))
        self._nodes += nodes
        for cut in watch.cuts:
            self.add_cut(cut)
        values = np.array(highs.getSolution().col_value)
        bound = float(info.mip_dual_bound)
        return Outcome(
            status=status,
            bound=bound if math.isfinite(bound) else -math.inf,
            nodes=nodes,
            cuts=len(watch.cuts),
            x=values[: self._size] if values.size > self._size else None,
            eta=float(values[self._size]) if values.size > self._size else -math.inf,
        )

    def version(self) -> str:
        return f"HiGHS {self.highs.version()}"

    def close(self) -> None:
        self.highs.clear()


class _Watch:
    """HiGHS's callback: cuts for the solutions met, progress, and Ctrl-C."""

    def __init__(self, referee: Referee, settings: Settings, size: int, nodes: int) -> None:
        self.referee, self.settings, self.size, self.nodes = referee, settings, size, nodes
        self.late = False
        self.cuts: list[Cut] = []
        self.failure: BaseException | None = None
        self.ctrl_c = Interruptible()

    def call(self, kind: Any, message: str, out: Any, into: Any, data: Any) -> None:
        try:
            if self.ctrl_c.pressed and self.failure is None:
                raise KeyboardInterrupt
            if kind == _KIND.kCallbackMipImprovingSolution:
                self._solution(np.array(out.mip_solution))
            elif kind == _KIND.kCallbackMipInterrupt and self.failure is None:
                self.referee.poll(float(out.mip_dual_bound), self.nodes + max(0, int(out.mip_node_count)), 1)
        except BaseException as error:
            self.failure = self.failure or error
        self.late = self.settings.seconds_left <= 0
        if (self.failure is not None or self.late) and kind != _KIND.kCallbackMipImprovingSolution:
            into.user_interrupt = True

    def _solution(self, values: FloatArray) -> None:
        if values.size == self.size + 1 and self.failure is None:
            cut = self.referee.enforce(values[: self.size], float(values[self.size]))
            if cut is not None:
                self.cuts.append(cut)
