"""The suite from the command line: `python -m benchmarks.peers --plan quick`; `make bench-quick`, `make bench-full`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from time import perf_counter

from benchmarks.peers.cases import PLANS
from benchmarks.peers.report import write
from benchmarks.peers.session import Session, Settings
from benchmarks.peers.solvers import SOLVERS
from benchmarks.peers.store import Store


def main(argv: Sequence[str]) -> None:
    """Run a plan and write the report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plan", choices=PLANS, default="quick")
    arguments.add_argument("--out", type=Path, help="folder of the results (bench-results/PLAN)")
    arguments.add_argument("--only", default="*", metavar="PATTERN", help="cases whose name matches, as in a shell")
    arguments.add_argument("--solvers", help=f"separated by commas, of {', '.join(SOLVERS)}; Parsifal is always in")
    arguments.add_argument("--seeds", type=_seeds, help="of the drawn problems, separated by commas (the plan's)")
    arguments.add_argument("--time-limit", type=float, help="seconds for every solve")
    arguments.add_argument("--threads", type=int, default=_cores(), help="of every solver that can (all cores)")
    arguments.add_argument(
        "--memory", type=float, help="gigabytes that a solver may take (two thirds of what there is)"
    )
    arguments.add_argument("--fresh", action="store_true", help="start over instead of going on")
    arguments.add_argument("--report", action="store_true", help="only write the report of what is there")
    arguments.add_argument("--list", action="store_true", help="name the cases and leave")
    args = arguments.parse_args(argv)
    plan = PLANS[args.plan]()
    if args.list:
        for case in plan.cases:
            print(f"{case.key:60s} {case.instance.label}")
        return
    names = args.solvers.split(",") if args.solvers else plan.solvers or tuple(SOLVERS)
    for name in names:
        if name not in SOLVERS:
            arguments.error(f"no solver {name!r}; there are {', '.join(SOLVERS)}")
    cases = tuple(case for case in plan.cases if fnmatch(case.key, args.only))
    if not cases:
        arguments.error(f"no case matches {args.only!r}; --list names them")
    plan = replace(plan, cases=cases, time_limit=args.time_limit or plan.time_limit)
    out = args.out or Path("bench-results") / plan.name
    out.mkdir(parents=True, exist_ok=True)
    file = out / "rows.jsonl"
    if args.fresh:
        file.unlink(missing_ok=True)
    store = Store(file)
    if not args.report:
        settings = Settings(
            solvers=("parsifal", *(name for name in names if name != "parsifal")),
            seeds=args.seeds,
            threads=args.threads,
            memory=int(args.memory * 1e9) if args.memory else _memory(),
            log=out / "workers.log",
        )
        started = perf_counter()
        Session(plan, store, settings).run()
        print(f"{perf_counter() - started:.0f} s")
    print(write(store, out))


def _seeds(text: str) -> list[int]:
    seeds = list(dict.fromkeys(int(word) for word in text.split(",")))
    if min(seeds) < 0:
        raise argparse.ArgumentTypeError(f"seeds are whole numbers from 0 on, not {text!r}")
    return seeds


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 2 / 3)


if __name__ == "__main__":
    main(sys.argv[1:])
