"""The cuts: evaluated once per point, scaled, made safe for a solver's arithmetic, and remembered."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.cuts.master import Choices, Cut
from parsifal.cuts.oracle import Oracle

# Solvers drop coefficients below this; dropping one ourselves keeps the row valid.
_SMALLEST = 1e-9
_REPORT_SECONDS = 0.05
# eta at the solution, about: solvers' tolerances are absolute, so this is how many digits they leave.
UNIT = 100.0
# A fractional point is worth a cut if that lifts eta by this much.
_WORTH = 1e-3 * UNIT
# How far from the inner point to s fractional cuts are tried.
_STEPS = (0.25, 1.0)

Report = Callable[[float, float, int, int], None]


class Planes:
    """The loss through its cuts, in the master's scale; the best support seen; what a backend asks while it runs.

    Parameters
    ----------
    oracle : Oracle
        The loss.
    choices : Choices
        The supports that are allowed.
    penalty : float or array
        Price of a column, or of each.
    floor : float
        No allowed support has a smaller loss.
    tolerance : float
        By how much eta may fall short of the loss, in the master's scale.
    report : callable
        Gets objective, bound, nodes and open nodes now and then.
    """

    def __init__(
        self,
        oracle: Oracle,
        choices: Choices,
        *,
        penalty: float | FloatArray,
        floor: float,
        tolerance: float,
        report: Report | None,
    ) -> None:
        self.oracle, self.choices = oracle, choices
        self.price: FloatArray = np.zeros(choices.size) + penalty
        self.tolerance = tolerance
        self.scale = 1.0
        self.floor = floor
        self.best: IntArray | None = None
        self.inner: FloatArray | None = None  # a fractional point with a small loss
        self.objective = np.inf
        self.bound = -np.inf
        self.cuts = 0
        self.evaluations = 0
        self._report = report
        self._reported = -np.inf
        self._seen: dict[bytes, tuple[float, FloatArray]] = {}
        self.cut_supports: set[bytes] = set()

    @property
    def scaled_price(self) -> FloatArray:
        """The prices in the master's scale, infinite where that is too small for them."""
        with np.errstate(over="ignore"):
            return np.asarray(self.price / self.scale)

    # The loss

    def visit(self, support: IntArray) -> float:
        """Evaluate a support, once; returns its loss and keeps it if it is the best."""
        key = support.tobytes()
        if key not in self._seen:
            value, gradient = self._evaluate(self.indicator(support))
            self._seen[key] = value, gradient
            total = value + float(self.price[support].sum())
            if total < self.objective and self.choices.allows(support):
                self.best, self.objective = support, total
        return self._seen[key][0]

    @property
    def support(self) -> IntArray:
        """The best support so far."""
        if self.best is None:
            raise ValueError("no support has been visited")
        return self.best

    def cut(self, support: IntArray) -> Cut:
        """The paper's cut at a support."""
        key = support.tobytes()
        self.visit(support)
        self.cut_supports.add(key)
        self.cuts += 1
        value, gradient = self._seen[key]
        return self._make(value, gradient, self.indicator(support))

    def cut_at(self, s: FloatArray) -> tuple[float, Cut]:
        """The loss (in the master's scale) and the cut at a fractional s."""
        value, gradient = self._evaluate(s)
        self.cuts += 1
        return value / self.scale, self._make(value, gradient, s)

    def gradient_at(self, s: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its gradient at any s, unscaled."""
        return self._evaluate(s)

    def _evaluate(self, s: FloatArray) -> tuple[float, FloatArray]:
        self.evaluations += 1
        value, gradient = self.oracle.value_and_gradient(s)
        return float(value), gradient

    def indicator(self, support: IntArray) -> FloatArray:
        """The support as a vector of zeros and ones."""
        s = np.zeros(self.choices.size)
        s[support] = 1.0
        return s

    def _make(self, value: float, gradient: FloatArray, s: FloatArray) -> Cut:
        """Scale a cut, tighten its coefficients and drop the smallest.

        Where the gradient is not positive, a slope below floor - constant may be lifted to it: a binary s with that
        column in has loss >= floor, which is all that the cut says there then. So no coefficient is larger than the
        cut's constant, however weak the ridge.
        """
        constant = (value - float(gradient @ s)) / self.scale
        slope = gradient / self.scale
        if not np.any(slope > 0):
            slope = np.maximum(slope, -max(0.0, constant - self.floor / self.scale))
        small = np.abs(slope) < _SMALLEST
        if small.any():
            dropped = np.sort(np.minimum(slope[small], 0.0))[: self.choices.k]
            constant += float(dropped.sum())
            slope = np.where(small, 0.0, slope)
        return Cut(constant=constant, slope=slope)

    # What a backend asks

    def enforce(self, x: FloatArray, eta: float) -> Cut | None:
        support = np.flatnonzero(x[: self.choices.size] > 0.5).astype(np.int64)
        value = self.visit(support) / self.scale
        # A support that has its cut and still falls short does so by the backend's arithmetic: its bound is then
        # below the loss, which is safe, and asking again would not end.
        if eta >= value - self.tolerance or support.tobytes() in self.cut_supports:
            return None
        return self.cut(support)

    def accepts(self, x: FloatArray, eta: float) -> bool:
        support = np.flatnonzero(x[: self.choices.size] > 0.5).astype(np.int64)
        return eta >= self.visit(support) / self.scale - self.tolerance or support.tobytes() in self.cut_supports

    def separate(self, x: FloatArray, eta: float) -> Cut | None:
        s = np.clip(x, 0.0, 1.0)
        # Cuts at points near one inside, where the loss is small, say more about the solution than cuts at s itself, so
        # that far fewer do. The first that reaches s is taken.
        for step in _STEPS if self.inner is not None else (1.0,):
            point = s if self.inner is None else step * s + (1 - step) * self.inner
            value, gradient = self._evaluate(point)
            cut = self._make(value, gradient, point)
            if self.worth_a_cut(cut.constant + float(cut.slope @ s), eta):
                self.cuts += 1
                return cut
        return None

    def worth_a_cut(self, value: float, eta: float) -> bool:
        """Whether what a cut says at a fractional point is above eta there by enough."""
        return value >= eta + _WORTH

    def incumbent(self) -> tuple[FloatArray, float]:
        return self.indicator(self.support), (self.objective - float(self.price[self.support].sum())) / self.scale

    def poll(self, bound: float, nodes: int, open_nodes: int) -> None:
        self.bound = max(self.bound, bound * self.scale)
        now = time.monotonic()
        if self._report is not None and now - self._reported >= _REPORT_SECONDS:
            self._reported = now
            self._report(self.objective, self.bound, nodes, open_nodes)
