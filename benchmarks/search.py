"""How fast a solve with proof is, beside `lasso_path`, l0bnb and el0ps: `python -m benchmarks.search`.

scikit-learn's `lasso_path` with its defaults (100 fits, none of them proven to be the best sparse one) is timed on the
same data in the same run. l0bnb and el0ps solve the penalised problem only, so that Parsifal solves it too for that
comparison: same data, gamma and penalty, and the objectives that they end with are computed here, not taken from them.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.linear_model import lasso_path

import parsifal as pf
from benchmarks import instances
from benchmarks.instances import Instance
from benchmarks.peers import Peer, Settings, available, objective
from benchmarks.report import Column, Table, environment, parser
from benchmarks.timing import timed

LABEL_WIDTH = 52

SEARCH = (
    Column("group", "", 1, "s"),
    Column("label", "instance", LABEL_WIDTH, "s"),
    Column("solve_s", "solve s", 9, ".4f"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("lasso_s", "lasso s", 9, ".4f"),
    Column("ratio", "solve/lasso", 11, ".2f"),
    Column("statuses", "status", 24, "s"),
    Column("checked", "certificates", 12, "s"),
)
PEERS = (
    Column("group", "", 1, "s"),
    Column("label", "instance, penalised form", LABEL_WIDTH, "s"),
    Column("solver", "solver", 9, "s"),
    Column("seconds", "seconds", 9, ".4f"),
    Column("nodes", "nodes", 8, ".0f"),
    Column("times_ours", "x Parsifal", 10, ".1f"),
    Column("excess", "objective", 10, "+.1e"),
    Column("statuses", "status", 24, "s"),
)


def main(argv: Sequence[str]) -> None:
    """Print the speed table, the comparison with the peers, and the growth."""
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, help="data sets per row; the median counts (10)")
    arguments.add_argument("--time-limit", type=float, default=60.0, help="seconds per solve, for every solver")
    arguments.add_argument("--groups", default="abcdefg", help="letters of the rows to run, g is growth")
    arguments.add_argument("--peer-gap", type=float, default=1e-4, help="relative gap asked of the peers; ours is 1e-6")
    arguments.add_argument(
        "--check", action="store_true", help="check every certificate, untimed (slow for large trees)"
    )
    arguments.add_argument("--no-peers", action="store_true", help="leave l0bnb and el0ps out")
    args = arguments.parse_args(argv)
    seeds = range(args.seeds or (2 if args.quick else 10))
    rows, series = instances.quick() if args.quick else (instances.table(), instances.growth())
    rows = [row for row in rows if row.group in args.groups]
    warm_up()
    if rows:
        title = f"Solves to a proven gap of 1e-6; medians of {len(seeds)} data sets (3 runs for real data)"
        speed = Table("search", title, SEARCH, args.json)
        for instance in rows:
            measure(speed, instance, seeds, args.time_limit, args.check or args.quick)
    if not (args.quick or args.no_peers):
        compare(rows, seeds, Settings(args.peer_gap, args.time_limit), args.json)
    if "g" in args.groups:
        grow(Table("growth", "Growth", SEARCH, args.json), series, seeds, args.time_limit)


def warm_up() -> None:
    """Load what the first calls would load."""
    X, y, _ = pf.datasets.make_sparse_regression(30, 20, 2, random_state=0, order="F")
    pf.solve(X, y, k=2, gamma=0.1)
    lasso_path(X, y)


def solve(X: np.ndarray, y: np.ndarray, time_limit: float, **problem: float) -> tuple[float, pf.Solution]:
    """Time a solve and hold its objective against the data."""
    seconds, sol = timed(lambda: pf.solve(X, y, time_limit=time_limit, **problem))
    value = objective(X, y, sol.coef, sol.gamma, sol.penalty)
    if abs(value - sol.objective) > 1e-8 * value or sol.lower_bound > value * (1 + 1e-9):
        raise AssertionError(f"claimed {sol.objective} with bound {sol.lower_bound}, but the coefficients give {value}")
    return seconds, sol


def lasso(X: np.ndarray, y: np.ndarray) -> float:
    """Time `lasso_path` with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # paths of hard data do not converge everywhere
        return timed(lambda: lasso_path(X, y))[0]


def counts(statuses: Sequence[str]) -> str:
    """Say ``9 optimal, 1 time_limit``."""
    return ", ".join(f"{count} {status}" for status, count in Counter(statuses).most_common())


def measure(table: Table, instance: Instance, seeds: range, time_limit: float, check: bool = False) -> float:
    """One row: the solve and the lasso path on the same data; returns the median seconds."""
    seconds, lasso_s, nodes, statuses, gaps, checks = [], [], [], [], [], []
    for seed in range(3) if instance.fixed else seeds:
        X, y = instance.draw(seed)
        lasso_s.append(lasso(X, y))
        taken, sol = solve(X, y, time_limit, k=instance.k, gamma=instance.gamma)
        seconds.append(taken)
        nodes.append(sol.stats["nodes"])
        statuses.append(sol.status)
        gaps.append(sol.gap)
        if check and sol.certificate is not None:
            checks.append("valid" if pf.check(sol.certificate, X, y) else "INVALID")
    table.row(
        group=instance.group,
        label=instance.label,
        n=instance.n,
        p=instance.p,
        k=instance.k,
        gamma=instance.gamma,
        solve_s=median(seconds),
        nodes=median(nodes),
        lasso_s=median(lasso_s),
        ratio=median(seconds) / median(lasso_s),
        statuses=counts(statuses),
        checked=counts(checks) if check else None,
        solve_seconds=seconds,
        solve_nodes=nodes,
        gaps=gaps,
        lasso_seconds=lasso_s,
    )
    return median(seconds)


def compare(rows: Sequence[Instance], seeds: range, settings: Settings, json_file: Path | None) -> None:
    """The penalised form beside the peers that are installed."""
    chosen = [instance for instance in rows if instance.peers]
    peers, notes = available() if chosen else ({}, [])
    if not peers:
        print("\nNo peers: " + ("; ".join(notes) or "no row asks for them"))
        return
    title = (
        f"The penalised form beside other exact solvers: gap 1e-6 asked of Parsifal, {settings.gap:g} of the others, "
        f"at most {settings.time_limit:g} s;\n"
        "objective = excess over Parsifal's of what the coefficients cost (+: worse; largest of the finished solves)\n"
    )
    table = Table("peers", title + "\n".join(notes), PEERS, json_file)
    for instance in chosen:
        compare_one(table, instance, seeds, settings, peers)


def price(X: np.ndarray, y: np.ndarray, instance: Instance, time_limit: float) -> float:
    """A penalty for which k columns are the best choice: between the gains of the last and of the next column."""
    below, at, above = (
        pf.solve(X, y, k=size, gamma=instance.gamma, time_limit=time_limit).objective
        for size in (instance.k - 1, instance.k, instance.k + 1)
    )
    return float(np.sqrt((below - at) * max(at - above, 1e-6 * at)))


def compare_one(table: Table, instance: Instance, seeds: range, settings: Settings, peers: dict[str, Peer]) -> None:
    """One row per solver; the penalty is chosen per data set."""
    seconds: dict[str, list[float]] = {name: [] for name in ("parsifal", *peers)}
    nodes: dict[str, list[int]] = {name: [] for name in seconds}
    statuses: dict[str, list[str]] = {name: [] for name in seconds}
    excess: dict[str, list[float]] = {name: [] for name in seconds}
    penalties = []
    for seed in seeds:
        X, y = instance.draw(seed)
        penalty = price(X, y, instance, settings.time_limit)
        penalties.append(penalty)
        taken, ours = solve(X, y, settings.time_limit, gamma=instance.gamma, penalty=penalty)
        seconds["parsifal"].append(taken)
        nodes["parsifal"].append(ours.stats["nodes"])
        statuses["parsifal"].append(ours.status)
        excess["parsifal"].append(0.0)
        largest = float(np.max(np.abs(ours.coef)))
        for name, peer in peers.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                taken, answer = timed(
                    lambda peer=peer, X=X, y=y, c=penalty, m=largest: peer(X, y, instance.gamma, c, m, settings)
                )
            value = objective(X, y, answer.coef, instance.gamma, penalty)
            seconds[name].append(taken)
            nodes[name].append(answer.nodes)
            statuses[name].append("optimal" if answer.done else "time_limit")
            excess[name].append(value / ours.objective - 1.0)
    for name in seconds:
        finished = [value for value, status in zip(excess[name], statuses[name]) if status == "optimal"]
        table.row(
            group=instance.group,
            label=instance.label,
            solver=name,
            seconds=median(seconds[name]),
            nodes=median(nodes[name]),
            times_ours=median(seconds[name]) / median(seconds["parsifal"]),
            excess=max(finished, key=abs) if finished else None,
            statuses=counts(statuses[name]),
            all_seconds=seconds[name],
            all_excess=excess[name],
            penalties=penalties,
        )


def grow(table: Table, series: dict[str, list[Instance]], seeds: range, time_limit: float) -> None:
    """Time against n and p past the transition, with the slope in log-log; then nodes against n below it."""
    for axis, line in series.items():
        seconds = [measure(table, instance, seeds, time_limit) for instance in line]
        if axis == "wall":
            continue
        sizes = [getattr(instance, axis) for instance in line]
        slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
        half = len(sizes) // 2
        upper = np.polyfit(np.log(sizes[half - 1 :]), np.log(seconds[half - 1 :]), 1)[0]
        print(f"  time ~ {axis}^{slope:.2f} over all sizes, {axis}^{upper:.2f} over the upper half\n", flush=True)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
