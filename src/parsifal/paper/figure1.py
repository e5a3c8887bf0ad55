"""Figure 1: time, accuracy and false alarms against n, exact and Lasso; p = 2000, k = 10, rho = 0, sqrt(SNR) = 20.

k is known for T and A%; for F% it comes from cross-validation over 1..20. The time panel with both methods is the
computational phase transition. The paper does not state gamma: a second picture shows what it changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from parsifal.paper import reported
from parsifal.paper.curves import (
    HEADER,
    Plan,
    Setting,
    curve,
    cv_tasks,
    known_k_tasks,
    lasso_cv_tasks,
    lasso_tasks,
    of_setting,
    percent,
    proven_curve,
    seconds,
    solver,
    spread,
    table_rows,
    time_curve,
    transitions,
    transitions_of,
)
from parsifal.paper.drawing import (
    INK,
    LASSO,
    METHOD,
    NAMES,
    STYLES,
    draw_curve,
    panels,
    percent_axis,
    threshold,
    time_axis,
)
from parsifal.paper.experiment import Experiment, Results
from parsifal.paper.measure import measure
from parsifal.paper.options import Options
from parsifal.paper.results import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P, K, SQRT_SNR = 2000, 10, 20.0
# Times 1/sqrt(n), or times the gamma that was given; infinity is best subset selection without a ridge.
GAMMA_FACTORS = (0.1, 1.0, 10.0, math.inf)

FULL = Plan(
    ns=tuple(range(30, 241, 10)),
    cv_ns=tuple(range(30, 241, 10)),
    repeats=reported.REPEATS["figure1"],
    cv_repeats=reported.REPEATS["figure1"],
    time_limit=reported.TIME_LIMITS["figure1"],
)
QUICK = Plan(
    ns=(30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200),
    cv_ns=(40, 60, 80, 100, 120, 140, 160, 180, 200),
    repeats=3,
    cv_repeats=2,
    time_limit=20.0,
)
QUICK_GAMMA_NS = (80, 100, 120, 160, 200)


def setting(options: Options) -> Setting:
    """The one setting of the figure."""
    p, k = options.p or P, options.k or K
    return Setting(label=f"p = {p}, k = {k}", p=p, k=k, sqrt_snr=SQRT_SNR)


def tasks(options: Options) -> list[Task]:
    """All runs, those with k known first."""
    plan = (FULL if options.full else QUICK).changed(options)
    here = setting(options)
    out: list[Task] = []
    if options.wants("known-k"):
        out += known_k_tasks(here, plan, options)
    if options.wants("lasso"):
        out += lasso_tasks(here, plan)
    if options.wants("lasso-cv"):
        out += lasso_cv_tasks(here, plan)
    if options.wants("gamma"):
        out += _gamma_tasks(here, plan, options)
    if options.wants("cv"):
        out += cv_tasks(here, plan, options)
    return out


def _gamma_tasks(here: Setting, plan: Plan, options: Options) -> list[Task]:
    ns = plan.ns if options.full or options.ns is not None else QUICK_GAMMA_NS
    return [
        {
            "part": "gamma",
            "factor": factor,
            **here.data(n, repeat),
            **solver(options, options.methods[0], n, plan.time_limit, factor),
        }
        for repeat in range(plan.repeats)
        for n in ns
        for factor in options.values or GAMMA_FACTORS
    ]


def table(results: Results) -> str:
    """Every point, where the transitions are, what the paper says, and what gamma changes."""
    here = setting(results.options)
    lines = [*HEADER, *table_rows(results, here), "", "Where the transitions are:", "", *transitions(results, here)]
    if (here.p, here.k) == (P, K):
        said = reported.FIGURE1
        lines.append(
            f"- The paper: n0 about {said['n0']}, exact method fast and A% = 100 from n_t = {said['n_t']} on, "
            f"n1 = {said['n1']}, Lasso A% = 100 from about {said['lasso_recovers']} on."
        )
    sensitivity = results.of(part="gamma")
    if sensitivity:
        lines += [
            "",
            f"Sensitivity to gamma ({results.options.methods[0]}):",
            "",
            "| gamma | n | runs | T [s] | proven % | A% |",
            "|--:|--:|--:|--:|--:|--:|",
        ]
        for factor in _factors(results):
            rows = results.of(part="gamma", factor=factor)
            for t, a in zip(curve(rows, "seconds"), curve(rows, "accuracy")):
                lines.append(
                    f"| {_gamma_name(results.options, factor)} | {t.n} | {t.runs} | {spread(t, seconds)} "
                    f"| {100 * (t.proven or 0):.0f} | {spread(a, percent)} |"
                )
        lines.append("")
        for factor in _factors(results):
            rows = results.of(part="gamma", factor=factor)
            lines += transitions_of(f"gamma = {_gamma_name(results.options, factor)}", rows)
    return "\n".join(lines) + "\n"


def _factors(results: Results) -> list[float]:
    """The factors that there are runs of."""
    return sorted({row["task"]["factor"] for row in results.of(part="gamma")})


def _gamma_name(options: Options, factor: float) -> str:
    if math.isinf(factor):
        return "infinity"
    return f"{factor:g}/sqrt(n)" if options.gamma is None else f"{factor * options.gamma:g}"


def plots(results: Results) -> dict[str, Figure]:
    """The figure, and the sensitivity to gamma."""
    out = {"figure1": _main(results)}
    if results.of(part="gamma"):
        out["figure1-gamma"] = _sensitivity(results)
    return out


def _main(results: Results) -> Figure:
    here = setting(results.options)
    figure, axes = panels(4)
    limit = None
    for method in results.options.methods:
        rows = of_setting(results, here, "known-k", method=method)
        if rows:
            limit = rows[0]["task"]["time_limit"]
        label, style = NAMES[method], METHOD[method]
        draw_curve(axes[0], time_curve(rows), label=label, style=style)
        draw_curve(axes[1], curve(rows, "accuracy"), label=label, style=style)
        cv = of_setting(results, here, "cv", method=method)
        draw_curve(axes[2], curve(cv, "false_alarm"), label=label, style=style)
        draw_curve(axes[3], proven_curve(rows), label=label, style=style)
    draw_curve(axes[0], curve(of_setting(results, here, "lasso"), "seconds"), label="Lasso path", style=LASSO)
    draw_curve(axes[1], curve(of_setting(results, here, "lasso"), "accuracy"), label="Lasso", style=LASSO)
    lasso_cv = curve(of_setting(results, here, "lasso-cv"), "false_alarm")
    draw_curve(axes[2], lasso_cv, label="Lasso", style=LASSO)
    threshold(axes, here.n0, f"$n_0$ = {here.n0:.0f}", INK)
    threshold(axes, here.n1, f"$n_1$ = {here.n1:.0f}", LASSO.colour)
    if (here.p, here.k) == (P, K):
        said = reported.FIGURE1
        threshold(axes, said["n0"], f"paper: $n_0$ ≈ {said['n0']}", INK, style="--")
        threshold(axes, said["n_t"], f"paper: $n_t$ = {said['n_t']}", "#0072B2", style="--")
        threshold(axes, said["lasso_recovers"], f"paper: Lasso {said['lasso_recovers']}", LASSO.colour, style="--")
    time_axis(axes[0], limit)
    percent_axis(axes[1], "A% (k known)")
    percent_axis(axes[2], "F% (k from CV)")
    percent_axis(axes[3], "proven, %")
    # The legend is where the curves are not.
    axes[1].legend(
        *axes[0].get_legend_handles_labels(), loc="lower right", fontsize=8, framealpha=1.0, edgecolor="none"
    )
    gamma = "1/√n" if results.options.gamma is None else f"{results.options.gamma:g}"
    figure.suptitle(
        f"Exact sparse regression and the Lasso: {here.label}, √SNR = {SQRT_SNR:g}, gamma = {gamma}", fontsize=10
    )
    return figure


def _sensitivity(results: Results) -> Figure:
    here = setting(results.options)
    figure, axes = panels(3)
    for i, factor in enumerate(_factors(results)):
        rows = results.of(part="gamma", factor=factor)
        label = f"gamma = {_gamma_name(results.options, factor).replace('sqrt(n)', '√n')}"
        draw_curve(axes[0], time_curve(rows), label=label, style=STYLES[i])
        draw_curve(axes[1], curve(rows, "accuracy"), label=label, style=STYLES[i])
        draw_curve(axes[2], proven_curve(rows), label=label, style=STYLES[i])
    time_axis(axes[0], results.of(part="gamma")[0]["task"]["time_limit"])
    percent_axis(axes[1], "A% (k known)")
    percent_axis(axes[2], "proven, %")
    axes[1].legend(loc="lower right", fontsize=8, framealpha=1.0, edgecolor="none")
    figure.suptitle(f"Sensitivity to gamma ({NAMES[results.options.methods[0]]}): {here.label}", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="figure1",
    title="Figure 1: time, accuracy and false alarms against n, exact and Lasso",
    parts=("known-k", "lasso", "cv", "lasso-cv", "gamma"),
    tasks=tasks,
    measure=measure,
    table=table,
    plots=plots,
)
run, plot = EXPERIMENT.run, EXPERIMENT.plot
