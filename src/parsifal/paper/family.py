"""The figures of the paper's section "Parametric dependency": one parameter varies, the others are nominal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from parsifal.errors import InputError
from parsifal.paper import reported
from parsifal.paper.curves import (
    HEADER,
    Plan,
    Setting,
    curve,
    cv_tasks,
    known_k_tasks,
    of_setting,
    table_rows,
    time_curve,
    transitions,
)
from parsifal.paper.drawing import NAMES, STYLES, Style, draw_curve, panels, percent_axis, threshold, time_axis
from parsifal.paper.experiment import Experiment, Results
from parsifal.paper.measure import measure
from parsifal.paper.options import Options
from parsifal.paper.results import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The nominal values, starred in the paper's table of parameters.
P, K, SQRT_SNR = 5000, 10, 20.0

Sizes = Callable[[Setting], Plan]


@dataclass(frozen=True, kw_only=True)
class Family:
    """Figures of one parameter.

    Attributes
    ----------
    name, title : str
        As in `Experiment`.
    symbol : str
        The parameter, for error messages.
    values : sequence of float
        Its values.
    vary : callable
        The setting for a value.
    full, quick : callables
        The plan for a setting.
    false_alarms : bool
        Whether there is a panel of F%, with k from cross-validation.
    """

    name: str
    title: str
    symbol: str
    values: Sequence[float]
    vary: Callable[[Options, float], Setting]
    full: Sizes
    quick: Sizes
    false_alarms: bool

    def experiment(self) -> Experiment:
        """The experiment that runs, tabulates and draws them."""
        return Experiment(
            name=self.name,
            title=self.title,
            parts=("known-k", "cv") if self.false_alarms else ("known-k",),
            tasks=self.tasks,
            measure=measure,
            table=self.table,
            plots=self.plots,
        )

    def settings(self, options: Options) -> list[Setting]:
        """One for every value."""
        chosen = options.finite_values(self.values)
        if len(set(chosen)) < len(chosen):
            raise InputError(f"a value of {self.symbol} is given twice")
        return [self.vary(options, value) for value in chosen]

    def tasks(self, options: Options) -> list[Task]:
        """All runs, repeats outermost, so that an unfinished run has whole curves."""
        sizes = self.full if options.full else self.quick
        plans = [(s, sizes(s).changed(options)) for s in self.settings(options)]
        out: list[Task] = []
        if options.wants("known-k"):
            out += [task for s, plan in plans for task in known_k_tasks(s, plan, options)]
        if self.false_alarms and options.wants("cv"):
            out += [task for s, plan in plans for task in cv_tasks(s, plan, options)]
        return sorted(out, key=lambda task: (task["part"] == "cv", task["repeat"]))

    def table(self, results: Results) -> str:
        """Every point, and where the transitions are."""
        settings = self.settings(results.options)
        points = [line for s in settings for line in table_rows(results, s)]
        found = [line for s in settings for line in transitions(results, s)]
        return "\n".join([*HEADER, *points, "", "Where the transitions are:", "", *found]) + "\n"

    def plots(self, results: Results) -> dict[str, Figure]:
        """T and A% against n, and F% if there is a panel of it."""
        figure, axes = panels(3 if self.false_alarms else 2)
        limit = None
        for i, s in enumerate(self.settings(results.options)):
            limit = _draw_known_k(axes, results, s, STYLES[i]) or limit
            if self.false_alarms:
                cv = curve(of_setting(results, s, "cv"), "false_alarm")
                draw_curve(axes[2], cv, label=s.label, style=STYLES[i])
            threshold(axes, s.n0, f"$n_0$ = {s.n0:.0f}", STYLES[i].colour, level=i)
            threshold(axes, s.n1, f"$n_1$ = {s.n1:.0f}", STYLES[i].colour, style="--", level=i)
        time_axis(axes[0], limit)
        percent_axis(axes[1], "A% (k known)")
        if self.false_alarms:
            percent_axis(axes[2], "F% (k from CV)")
        axes[1].legend(loc="lower right", fontsize=8, framealpha=1.0, edgecolor="none")
        gamma = "1/√n" if results.options.gamma is None else f"{results.options.gamma:g}"
        figure.suptitle(f"{self.title.partition(': ')[2]}, gamma = {gamma}", fontsize=10)
        return {self.name: figure}


def _draw_known_k(axes: Sequence[Axes], results: Results, setting: Setting, style: Style) -> float | None:
    """Draw T and A% of every method in the first two panels; return the time limit of the runs, if there are any."""
    limit = None
    methods = results.options.methods
    for j, method in enumerate(methods):
        rows = of_setting(results, setting, "known-k", method=method)
        if rows:
            limit = rows[0]["task"]["time_limit"]
        label = setting.label if len(methods) == 1 else f"{setting.label}, {NAMES[method]}"
        draw_curve(axes[0], time_curve(rows), label=label, style=style, dashed=j > 0)
        draw_curve(axes[1], curve(rows, "accuracy"), label=label, style=style, dashed=j > 0)
    return limit


def full_plan(name: str, ns: Sequence[int]) -> Plan:
    """The paper's repeats and time limit."""
    repeats = reported.REPEATS[name]
    return Plan(ns=ns, cv_ns=ns, repeats=repeats, cv_repeats=repeats, time_limit=reported.TIME_LIMITS[name])
