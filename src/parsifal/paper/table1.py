"""Table 1: seconds of exact sparse regression and of the Lasso; rho = 0.1, sqrt(SNR) = 20, 27 cells (k, p, n).

X is drawn in memory (float32) where there is room for it; else it is made while it is read (`SyntheticDesign`), and the
time includes making it anew at every read.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from parsifal.datasets import SyntheticDesign, make_sparse_regression
from parsifal.deadline import usable_cores
from parsifal.errors import InputError
from parsifal.files.system import total_memory
from parsifal.paper import reported
from parsifal.paper.curves import seconds, solver
from parsifal.paper.drawing import INK, LASSO, METHOD, NAMES, Style, panels
from parsifal.paper.experiment import Experiment, Results
from parsifal.paper.measure import of_solution, recovery, solve_by
from parsifal.paper.options import Options
from parsifal.paper.results import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHO, SQRT_SNR = 0.1, 20.0
TIME_LIMIT = 3600.0
FULL = tuple(itertools.product(reported.TABLE1_KS, reported.TABLE1_PS, reported.TABLE1_NS))
QUICK = tuple((k, 50_000, 10_000) for k in reported.TABLE1_KS)
# Share of the free memory that X may take.
_ROOM = 0.6


def tasks(options: Options) -> list[Task]:
    """Exact and Lasso for every cell, the small ones first."""
    cells = options.cells or (FULL if options.full else QUICK)
    for k, p, n in cells:
        if not (n >= 1 and 1 <= k <= p):
            raise InputError(f"a cell is k,p,n with 1 <= k <= p, not {k},{p},{n}")
    threads = options.threads or usable_cores()
    limit = TIME_LIMIT if options.time_limit is None else options.time_limit
    out: list[Task] = []
    for k, p, n in sorted(cells, key=lambda cell: (cell[1] * cell[2], cell[0])):
        for repeat in range(options.repeats or 1):
            data = {"n": n, "p": p, "k": k, "rho": RHO, "sqrt_snr": SQRT_SNR, "repeat": repeat}
            if options.wants("exact"):
                for method in options.methods:
                    out.append({"part": "exact", **data, **solver(options, method, n, limit), "threads": threads})
            if options.wants("lasso"):
                out.append({"part": "lasso", **data, "threads": threads})
    return out


def free_bytes() -> int:
    """Memory that can be had without swapping, as the system sees it; half of all memory where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return (total_memory() or 4 << 30) // 2


def draw(task: Task) -> tuple[Any, Any, Any, str]:
    """X, y, the true support, and how X is held."""
    n, p, k = task["n"], task["p"], task["k"]
    if 4 * n * p <= _ROOM * free_bytes():
        rng = np.random.default_rng([task["repeat"], n, p, k])
        data = make_sparse_regression(
            n, p, k, task["rho"], task["sqrt_snr"], random_state=rng, dtype=np.float32, order="F"
        )
        return data.X, data.y, data.support, "memory"
    design = SyntheticDesign(n, p, k, rho=task["rho"], sqrt_snr=task["sqrt_snr"], seed=task["repeat"])
    return design, design.y, design.support, "generated"


def measure(task: Task) -> dict[str, Any]:
    """Time the exact fit, or the whole Lasso path; drawing X is not counted."""
    from parsifal.paper.glmnet import glmnet_path, on_path  # scikit-learn: seconds, and nothing to time

    X, y, truth, held = draw(task)
    started = time.perf_counter()
    if task["part"] == "lasso":
        path = glmnet_path(X, y, threads=task["threads"])
        taken = time.perf_counter() - started
        point = on_path(path, task["k"])
        found = np.empty(0, dtype=np.int64) if point is None else point.support
        return {"seconds": taken, "held": held, "weights": len(path), **recovery(truth, found)}
    solution = solve_by(X, y, task["k"], task)
    taken = time.perf_counter() - started
    return {
        "seconds": taken,
        "held": held,
        "reads": solution.stats.get("reads"),
        **of_solution(solution),
        **recovery(truth, solution.support),
    }


def _cell(results: Results, **wanted: Any) -> tuple[float, bool, bool] | None:
    """Mean seconds, whether X was made while it was read, and whether every run was right (and proven)."""
    rows = [row["result"] for row in results.of(**wanted)]
    if not rows:
        return None
    right = all(r["accuracy"] == 100.0 and r.get("status", "optimal") == "optimal" for r in rows)
    return float(np.mean([r["seconds"] for r in rows])), any(r["held"] == "generated" for r in rows), right


def table(results: Results) -> str:
    """Seconds beside the paper's; a star where X was made while it was read."""
    methods = results.options.methods
    names = [*(f"{method}: exact T [s]" for method in methods), "paper: exact", "Lasso T [s]", "paper: Lasso"]
    lines = ["| k | p | n | " + " | ".join(names) + " |", "|--:|--:|--:|" + "--:|" * len(names)]
    wrong = 0
    for k, p, n in sorted({(row["task"]["k"], row["task"]["p"], row["task"]["n"]) for row in results.rows}):
        where = {"k": k, "p": p, "n": n}
        ours = [_cell(results, part="exact", method=method, **where) for method in methods]
        lasso = _cell(results, part="lasso", **where)
        wrong += sum(cell is not None and not cell[2] for cell in (*ours, lasso))
        cells = [
            *(_shown(cell) for cell in ours),
            _reported(reported.TABLE1_EXACT, (k, p, n)),
            _shown(lasso),
            _reported(reported.TABLE1_LASSO, (k, p, n)),
        ]
        lines.append(f"| {k} | {p} | {n} | " + " | ".join(cells) + " |")
    lines += ["", "`*`: X did not fit in memory and was made anew at every read; the time includes that."]
    every = "Every exact fit is proven optimal, and every fit has the true support."
    lines += [every if wrong == 0 else f"{wrong} entries are marked `!`: not proven, or not the true support."]
    return "\n".join(lines) + "\n"


def _shown(cell: tuple[float, bool, bool] | None) -> str:
    return "" if cell is None else f"{seconds(cell[0])}{'*' if cell[1] else ''}{'' if cell[2] else ' !'}"


def _reported(values: Any, cell: tuple[int, int, int]) -> str:
    if cell not in values:
        return ""
    return "NA" if values[cell] is None else f"{values[cell]:.1f}"


def plots(results: Results) -> dict[str, Figure]:
    """Seconds against the size of X, ours and the paper's."""
    figure, axes = panels(1, height=4.0)
    ax = axes[0]
    series: list[tuple[str, Style, list[tuple[float, float]]]] = []
    for method in results.options.methods:
        rows = results.of(part="exact", method=method)
        series.append((NAMES[method], METHOD[method], [(_size(row), row["result"]["seconds"]) for row in rows]))
    rows = results.of(part="lasso")
    series.append(("Lasso path", LASSO, [(_size(row), row["result"]["seconds"]) for row in rows]))
    for name, values, marker in (
        ("the paper: cutting planes", reported.TABLE1_EXACT, "x"),
        ("the paper: Lasso (GLMNet)", reported.TABLE1_LASSO, "+"),
    ):
        points = [(float(p * n), value) for (_, p, n), value in values.items() if value is not None]
        series.append((name, Style(INK, marker), points))
    for name, style, points in series:
        if points:
            x, t = zip(*points)
            ax.plot(x, t, ls="", ms=6, label=name, color=style.colour, marker=style.marker)
    ax.set(xscale="log", yscale="log", xlabel="entries of X, n p", ylabel="T [s]")
    ax.legend(frameon=False, fontsize=8)
    figure.suptitle("Table 1: time against the size of X, k = 10, 20, 30", fontsize=10)
    return {"table1": figure}


def _size(row: dict[str, Any]) -> float:
    return float(row["task"]["n"] * row["task"]["p"])


EXPERIMENT = Experiment(
    name="table1",
    title="Table 1: scalability beside the Lasso",
    parts=("exact", "lasso"),
    tasks=tasks,
    measure=measure,
    table=table,
    plots=plots,
)
run, plot = EXPERIMENT.run, EXPERIMENT.plot
