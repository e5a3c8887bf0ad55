"""What the paper's figures have in common: T, A% and F% against n, for some settings, methods and repeats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from parsifal.paper.experiment import Results
from parsifal.paper.options import Options
from parsifal.paper.results import Row, Task
from parsifal.paper.theory import n0, n1, noise_variance

RHO = 0.0
FOLDS = 5
FOLD_NODE_LIMIT = 20
_DRAWN_AGAIN = 4000  # samples for the band of a mean


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Data of one curve."""

    label: str
    p: int
    k: int
    sqrt_snr: float

    @property
    def n0(self) -> float:
        return n0(self.p, self.k, noise_variance(self.k, self.sqrt_snr))

    @property
    def n1(self) -> float:
        return n1(self.p, self.k, noise_variance(self.k, self.sqrt_snr))

    def data(self, n: int, repeat: int) -> Task:
        """The part of a task that says which data."""
        return {"n": n, "p": self.p, "k": self.k, "rho": RHO, "sqrt_snr": self.sqrt_snr, "repeat": repeat}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Sizes of a run.

    Attributes
    ----------
    ns, cv_ns : numbers of rows, with k known and with k from cross-validation
    repeats, cv_repeats : data sets per point
    time_limit : seconds of a solve
    fold_time_limit : seconds of a fit in a fold, beside the limit on its nodes
    """

    ns: Sequence[int]
    cv_ns: Sequence[int]
    repeats: int
    cv_repeats: int
    time_limit: float
    fold_time_limit: float | None = None

    def changed(self, options: Options) -> Plan:
        """With what the options say."""
        repeats = options.repeats
        return Plan(
            ns=self.ns if options.ns is None else options.ns,
            cv_ns=self.cv_ns if options.ns is None else options.ns,
            repeats=self.repeats if repeats is None else repeats,
            cv_repeats=self.cv_repeats if repeats is None else repeats,
            time_limit=self.time_limit if options.time_limit is None else options.time_limit,
            fold_time_limit=self.fold_time_limit,
        )


def solver(options: Options, method: str, n: int, time_limit: float, factor: float = 1.0) -> Task:
    """The part of a task that says how it is solved."""
    task: Task = {
        "method": method,
        "gamma": options.ridge(n, factor),
        "time_limit": time_limit,
        "threads": options.threads or 1,
    }
    return task if method == "search" else {**task, "backend": options.backend}


def known_k_tasks(setting: Setting, plan: Plan, options: Options) -> list[Task]:
    """Exact fits with the true k, by every method."""
    return [
        {"part": "known-k", **setting.data(n, repeat), **solver(options, method, n, plan.time_limit)}
        for repeat in range(plan.repeats)
        for n in plan.ns
        for method in options.methods
    ]


def cv_tasks(setting: Setting, plan: Plan, options: Options) -> list[Task]:
    """Exact fits with k from cross-validation over 1..2k, by the first method."""
    hurry = {} if plan.fold_time_limit is None else {"fold_time_limit": plan.fold_time_limit}
    return [
        {
            "part": "cv",
            **setting.data(n, repeat),
            **solver(options, options.methods[0], n, plan.time_limit),
            "ks": [1, 2 * setting.k],
            "folds": FOLDS,
            "fold_node_limit": FOLD_NODE_LIMIT,
            **hurry,
        }
        for repeat in range(plan.cv_repeats)
        for n in plan.cv_ns
    ]


def lasso_tasks(setting: Setting, plan: Plan) -> list[Task]:
    """The Lasso with the true k."""
    return [{"part": "lasso", **setting.data(n, repeat)} for repeat in range(plan.repeats) for n in plan.ns]


def lasso_cv_tasks(setting: Setting, plan: Plan) -> list[Task]:
    """The Lasso with its weight from cross-validation."""
    return [
        {"part": "lasso-cv", **setting.data(n, repeat), "folds": FOLDS}
        for repeat in range(plan.cv_repeats)
        for n in plan.cv_ns
    ]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A value at one n: the mean over the data sets, a band of 95 % confidence for it, and how many there are.

    `proven` is the share of the runs that were proven optimal, where that can be said.
    """

    n: int
    mean: float
    low: float
    high: float
    runs: int
    proven: float | None


def curve(rows: Sequence[Row], quantity: str) -> list[Point]:
    """The means of a result over the repeats, for every n, in order."""
    points = []
    for n in sorted({row["task"]["n"] for row in rows}):
        results = [row["result"] for row in rows if row["task"]["n"] == n]
        values = [float(result[quantity]) for result in results]
        proofs = [result["status"] == "optimal" for result in results if "status" in result]
        low, high = mean_band(values)
        points.append(
            Point(
                n=n,
                mean=fmean(values),
                low=low,
                high=high,
                runs=len(values),
                proven=fmean(proofs) if proofs else None,
            )
        )
    return points


def proven_curve(rows: Sequence[Row]) -> list[Point]:
    """The share of runs that were proven optimal, in percent, with Wilson's band."""
    points = []
    for n in sorted({row["task"]["n"] for row in rows}):
        proofs = [row["result"]["status"] == "optimal" for row in rows if row["task"]["n"] == n]
        low, high = share_band(sum(proofs), len(proofs))
        share = fmean(proofs)
        points.append(Point(n=n, mean=100 * share, low=100 * low, high=100 * high, runs=len(proofs), proven=share))
    return points


def mean_band(values: Sequence[float]) -> tuple[float, float]:
    """A band of 95 % confidence for the mean: percentiles of the means of samples drawn again from the values.

    The values are bounded or skewed (percentages, times up to a limit), which a normal band would leave.
    """
    sample = np.asarray(values, dtype=float)
    if sample.size < 2:
        return float(sample[0]), float(sample[0])
    drawn = np.random.default_rng(0).integers(0, sample.size, (_DRAWN_AGAIN, sample.size))
    low, high = np.percentile(sample[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def share_band(successes: int, runs: int) -> tuple[float, float]:
    """Wilson's band of 95 % confidence for a share."""
    z = 1.959964
    share = successes / runs
    centre = (share + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * math.sqrt(share * (1 - share) / runs + z**2 / (4 * runs**2))
    # At the ends the formula gives the end itself, but for rounding.
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == runs else centre + half)


def time_curve(rows: Sequence[Row]) -> list[Point]:
    """The times, without runs that ended unproven before their limit: theirs are not those of a solution."""
    solved = curve([row for row in rows if row["result"].get("status") != "gap_open"], "seconds")
    # They count where it is said how many were proven.
    proven = {point.n: point.proven for point in curve(rows, "seconds")}
    return [replace(point, proven=proven[point.n]) for point in solved]


def settled_from(points: Sequence[Point], holds: Callable[[Point], bool]) -> int | None:
    """The smallest n from which on a condition holds at every n that was measured."""
    found = None
    for point in reversed(points):
        if not holds(point):
            break
        found = point.n
    return found


def of_setting(results: Results, setting: Setting, part: str, **wanted: Any) -> list[Row]:
    """Rows of one curve."""
    return results.of(part=part, p=setting.p, k=setting.k, sqrt_snr=setting.sqrt_snr, **wanted)


def table_rows(results: Results, setting: Setting) -> list[str]:
    """Markdown rows: one per method and n."""
    lines = []
    cv = {point.n: point for point in curve(of_setting(results, setting, "cv"), "false_alarm")}
    lasso_cv = {point.n: point for point in curve(of_setting(results, setting, "lasso-cv"), "false_alarm")}
    curves = [(method, of_setting(results, setting, "known-k", method=method)) for method in results.options.methods]
    curves.append(("Lasso", of_setting(results, setting, "lasso")))
    for i, (method, rows) in enumerate(curves):
        times, found = curve(rows, "seconds"), curve(rows, "accuracy")
        alarms = lasso_cv if method == "Lasso" else cv if i == 0 else {}
        ns = sorted({point.n for point in times} | set(alarms))
        for n in ns:
            t = next((point for point in times if point.n == n), None)
            a = next((point for point in found if point.n == n), None)
            cells = [
                setting.label,
                method,
                str(n),
                "" if t is None else str(t.runs),
                "" if t is None else spread(t, seconds),
                "" if t is None or t.proven is None else f"{100 * t.proven:.0f}",
                "" if a is None else spread(a, percent),
                spread(alarms[n], percent) if n in alarms else "",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


HEADER = [
    "| data | method | n | runs | T [s] | proven % | A% | F% (k from CV) |",
    "|---|---|--:|--:|--:|--:|--:|--:|",
]


def transitions(results: Results, setting: Setting) -> list[str]:
    """Sentences that say where each transition is."""
    lines = []
    for method in results.options.methods:
        rows = of_setting(results, setting, "known-k", method=method)
        if rows:
            lines += transitions_of(f"{setting.label}, {method}", rows)
    rows = of_setting(results, setting, "lasso")
    if rows:
        lines.append(f"- {setting.label}, Lasso: A% = 100 {_from(_all_found(rows))}.")
    lines.append(f"- {setting.label}, theory with the noise of the data: n0 = {setting.n0:.1f}, n1 = {setting.n1:.1f}.")
    return lines


def transitions_of(label: str, rows: Sequence[Row]) -> list[str]:
    """The sentences about one method with k known."""
    limit = rows[0]["task"]["time_limit"]
    proven = settled_from(curve(rows, "seconds"), lambda point: point.proven == 1.0)
    lines = [f"- {label}: every run proven within {limit:g} s {_from(proven)}; A% = 100 {_from(_all_found(rows))}."]
    early = sorted({row["task"]["n"] for row in rows if row["result"]["status"] == "gap_open"})
    if early:
        where = ", ".join(map(str, early))
        lines.append(
            f"- {label}: at n = {where} runs ended unproven before the limit: the problem "
            "that the root left was too large for the tree; their T is not that of a solution."
        )
    runs = Counter(row["task"]["n"] for row in rows)
    beaten = Counter(row["task"]["n"] for row in rows if _beats_the_truth(row["result"]))
    for n in sorted(beaten):
        lines.append(
            f"- {label}, n = {n}: in {beaten[n]} of {runs[n]} runs the fit found is better "
            "than that of the true support."
        )
    return lines


def _all_found(rows: Sequence[Row]) -> int | None:
    """The n from which on every run finds all true columns."""
    return settled_from(curve(rows, "accuracy"), lambda point: point.mean == 100.0)


def _beats_the_truth(result: dict[str, Any]) -> bool:
    """Whether a wrong support has a smaller objective than the true one: then no exact method can find the truth."""
    if "truth_objective" not in result or result["accuracy"] == 100.0:
        return False
    return bool(result["objective"] < result["truth_objective"] * (1 - 1e-9))


def _from(n: int | None) -> str:
    return "at no n up to the largest" if n is None else f"from n = {n} on"


def seconds(value: float) -> str:
    """Three digits, whatever the size."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def percent(value: float) -> str:
    return f"{value:.0f}"


def spread(point: Point, show: Callable[[float], str]) -> str:
    """The mean, and its band where it is wider than what is shown."""
    low, high = show(point.low), show(point.high)
    return show(point.mean) if low == high else f"{show(point.mean)} ({low} to {high})"
