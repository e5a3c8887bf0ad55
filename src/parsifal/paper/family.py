"""The figures of the paper's section "Parametric dependency": one parameter varies, the others are nominal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from parsifal.paper.drawing import NAMES, STYLES, draw_curve, panels, percent_axis, threshold, time_axis
from parsifal.paper.experiment import Experiment, Results
from parsifal.paper.measure import measure
from parsifal.paper.options import Options
from parsifal.paper.results import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The nominal values, starred in the paper's table of parameters.
P, K, SQRT_SNR = 5000, 10, 20.0

Sizes = Callable[[Setting], Plan]


def family(
    name: str,
    title: str,
    *,
    symbol: str,
    values: Sequence[float],
    vary: Callable[[Options, float], Setting],
    full: Sizes,
    quick: Sizes,
    false_alarms: bool,
) -> Experiment:
    """Make the experiment of one parameter.

    Parameters
    ----------
    name, title : str
        As in `Experiment`.
    symbol : str
        The parameter, for the legend.
    values : sequence of float
        Its values.
    vary : callable
        The setting for a value.
    full, quick : callables
        The plan for a setting.
    false_alarms : bool
        Whether there is a panel of F%, with k from cross-validation.
    """
    parts = ("known-k", "cv") if false_alarms else ("known-k",)

    def settings(options: Options) -> list[Setting]:
        chosen = values if options.values is None else options.values
        if len(set(chosen)) < len(chosen):
            raise InputError(f"a value of {symbol} is given twice")
        return [vary(options, value) for value in chosen]

    def tasks(options: Options) -> list[Task]:
        plans = [(s, (full if options.full else quick)(s).changed(options)) for s in settings(options)]
        out: list[Task] = []
        if options.wants("known-k"):
            out += [task for s, plan in plans for task in known_k_tasks(s, plan, options)]
        if "cv" in parts and options.wants("cv"):
            out += [task for s, plan in plans for task in cv_tasks(s, plan, options)]
        # Repeats outermost, so that an unfinished run has whole curves.
        return sorted(out, key=lambda task: (task["part"] == "cv", task["repeat"]))

    def table(results: Results) -> str:
        lines = [*HEADER]
        for s in settings(results.options):
            lines += table_rows(results, s)
        lines += ["", "Where the transitions are:", ""]
        for s in settings(results.options):
            lines += transitions(results, s)
        return "\n".join(lines) + "\n"

    def plots(results: Results) -> dict[str, Figure]:
        figure, axes = panels(3 if false_alarms else 2)
        methods = results.options.methods
        limit = None
        for i, s in enumerate(settings(results.options)):
            for j, method in enumerate(methods):
                rows = of_setting(results, s, "known-k", method=method)
                if rows:
                    limit = rows[0]["task"]["time_limit"]
                label = s.label if len(methods) == 1 else f"{s.label}, {NAMES[method]}"
                draw_curve(
                    axes[0],
                    time_curve(rows),
                    label=label,
                    style=STYLES[i],
                    dashed=j > 0,
                )
                draw_curve(
                    axes[1],
                    curve(rows, "accuracy"),
                    percent=True,
                    label=label,
                    style=STYLES[i],
                    dashed=j > 0,
                )
            if false_alarms:
                cv = curve(of_setting(results, s, "cv"), "false_alarm")
                draw_curve(axes[2], cv, percent=True, label=s.label, style=STYLES[i])
            threshold(axes, s.n0, f"$n_0$ = {s.n0:.0f}", STYLES[i].colour, level=i)
            threshold(axes, s.n1, f"$n_1$ = {s.n1:.0f}", STYLES[i].colour, style="--", level=i)
        time_axis(axes[0], limit)
        percent_axis(axes[1], "A% (k known)")
        if false_alarms:
            percent_axis(axes[2], "F% (k from CV)")
        axes[1].legend(loc="lower right", fontsize=8, framealpha=1.0, edgecolor="none")
        gamma = "1/√n" if results.options.gamma is None else f"{results.options.gamma:g}"
        figure.suptitle(f"{title.partition(': ')[2]}, gamma = {gamma}", fontsize=10)
        return {name: figure}

    return Experiment(name=name, title=title, parts=parts, tasks=tasks, measure=measure, table=table, plots=plots)


def full_plan(name: str, ns: Sequence[int]) -> Plan:
    """The paper's repeats and time limit."""
    repeats = reported.REPEATS[name]
    return Plan(ns=ns, cv_ns=ns, repeats=repeats, cv_repeats=repeats, time_limit=reported.TIME_LIMITS[name])
