"""The report's pictures: performance profiles, and the gap over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.solvers import SOLVERS
from benchmarks.peers.store import Store
from benchmarks.peers.tables import Judged, named

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c564b", "#7f7f7f", "#bcbd22")
STYLES = ("-", "--", "-.", ":")


def profile(times: dict[str, np.ndarray], tau: np.ndarray) -> dict[str, np.ndarray]:
    """Dolan and Moré: the share of problems that a solver has solved within tau times the best time.

    Times are infinite where there is no proof; a problem that nobody solved counts against everyone.
    """
    table = np.array(list(times.values()))
    best = table.min(axis=0)
    with np.errstate(invalid="ignore"):
        relative = np.where(np.isfinite(table), table / best, np.inf)
    return {name: (row[:, None] <= tau[None, :]).mean(axis=0) for name, row in zip(times, relative)}


def draw_profiles(judged: Judged, file: Path) -> bool:
    """One panel a form; only problems that every solver of the panel was given."""
    plt = _pyplot()
    forms = [form for form in ("k", "penalty") if any(key[2] == form for key in judged)]
    panels = []
    for form in forms:
        solvers = [
            "parsifal",
            *(name for name in named(judged, exact=True, form=form) if SOLVERS[name].columns is None),
        ]
        problems = [
            solved for key, solved in judged.items() if key[2] == form and all(name in solved for name in solvers)
        ]
        if problems and len(solvers) > 1:
            panels.append((form, solvers, problems))
    if not panels:
        return False
    figure, axes = plt.subplots(1, len(panels), figsize=(6.2 * len(panels), 4.2), squeeze=False, layout="constrained")
    for axis, (form, solvers, problems) in zip(axes[0], panels):
        times = {
            name: np.array([solved[name].seconds if solved[name].proven else np.inf for solved in problems])
            for name in solvers
        }
        finite = [t for row in times.values() for t in row[np.isfinite(row)]]
        tau = np.geomspace(1, max(10.0, 2 * max(finite, default=1.0) / max(min(finite, default=1.0), 1e-6)), 400)
        for name, share in profile(times, tau).items():
            axis.step(tau, share, where="post", **_line(name))
        axis.set(
            xscale="log",
            xlim=(1, tau[-1]),
            ylim=(-0.02, 1.03),
            xlabel="time to proof, as a multiple of the fastest",
            ylabel="share of problems proven",
            title=f"{'at most k columns' if form == 'k' else 'a penalty per column'}: {len(problems)} problems",
        )
        axis.grid(alpha=0.25)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=5, fontsize=8, frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return True


def draw_gaps(store: Store, file: Path) -> bool:
    """The relative gap of each solver that tells it, against time; one panel a problem."""
    plt = _pyplot()
    traces: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in store.of("trace"):
        if len(row["history"]) > 0:
            traces.setdefault((row["case"], row["form"]), []).append(row)
    if not traces:
        return False
    wide = min(len(traces), 2)
    tall = -(-len(traces) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=(6.2 * wide, 3.9 * tall), squeeze=False, layout="constrained")
    for axis in axes.flat[len(traces) :]:
        axis.set_visible(False)
    for axis, ((case, form), rows) in zip(axes.flat, traces.items()):
        for row in rows:
            history = np.array(row["history"], dtype=float)
            gap = np.clip((history[:, 1] - history[:, 2]) / np.maximum(np.abs(history[:, 1]), 1e-300), 0.0, 1.0)
            seconds = np.maximum(history[:, 0], 1e-3)
            if row["seconds"]:
                seconds = np.append(seconds, max(row["seconds"], seconds[-1]))
                gap = np.append(gap, 0.0 if row["claim"] else gap[-1])
            axis.step(seconds, 100 * gap, where="post", clip_on=False, **_line(row["solver"]))
            if row["claim"]:
                axis.plot(seconds[-1], 100 * gap[-1], "o", color=_line(row["solver"])["color"], clip_on=False)
        axis.set(
            xscale="log",
            ylim=(0, 150),
            xlabel="seconds",
            ylabel="gap, %",
            title=f"{case}{'' if form == 'k' else ', penalised'}",
        )
        axis.set_yscale("symlog", linthresh=0.01, linscale=0.4)
        axis.set_yticks([0, 0.01, 0.1, 1, 10, 100], ["0", "0.01", "0.1", "1", "10", "100"])
        axis.minorticks_off()
        axis.title.set_fontsize(9)
        axis.grid(alpha=0.25)
        axis.legend(fontsize=8, frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return True


def _line(name: str) -> dict[str, Any]:
    at = list(SOLVERS).index(name)
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": "-" if name == "parsifal" else STYLES[1 + at % 3],
        "linewidth": 2.4 if name == "parsifal" else 1.5,
        "label": "Parsifal" if name == "parsifal" else name,
    }


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
