"""Do limits hold? `python -m benchmarks.guards.limits [--quick] [names]`

Every case is solved with a time limit of 2, 0.5 and 0.1 s, every problem of the benchmark suite with one of 2 s. What
counts is by how much it overshoots (at most 0.5 s on a machine that has nothing else to do), and that the answer is
valid all the same: the certificate is checked where there is one. Then each case is run without a limit, Ctrl-C is
pressed after a second, and the time to the answer taken. Last, the memory that a solve takes beside its `memory_limit`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

import parsifal as pf
from benchmarks.guards.limit_cases import Case, cases, drawn, suite_cases
from benchmarks.guards.memory import peak_increase
from benchmarks.report import Column, Table, environment, parser

ALLOWED = 0.5  # seconds
TIME = (
    Column("case", "case", 48, "s"),
    Column("limit", "limit, s", 8, ".1f"),
    Column("seconds", "took, s", 8, ".2f"),
    Column("over", "over, s", 8, ".2f"),
    Column("status", "status", 11, "s"),
    Column("gap", "gap", 8, ".1e"),
    Column("valid", "certificate", 11, "s"),
    Column("verdict", "", 5, "s"),
)
INTERRUPT = (
    Column("case", "case", 48, "s"),
    Column("seconds", "answer, s", 9, ".2f"),
    Column("status", "status", 11, "s"),
    Column("verdict", "", 5, "s"),
)
MEMORY = (
    Column("case", "case", 48, "s"),
    Column("limit_mb", "limit, MB", 9, ".0f"),
    Column("peak_mb", "peak, MB", 9, ".0f"),
    Column("left", "columns left", 12, "d"),
    Column("nodes", "nodes", 8, "d"),
    Column("status", "status", 11, "s"),
    Column("verdict", "", 5, "s"),
)


def status_of(answer: Any) -> str:
    """The status of a solution, or of the last of several."""
    return str(answer.status if hasattr(answer, "status") else answer[-1].status)


def verdict_on(answer: Any, data: Any) -> str:
    """Whether every certificate of the answer checks out."""
    certificate = getattr(answer, "certificate", None)
    if certificate is None or data is None:
        return "-"
    if not certificate.complete:
        return "claim only"
    result = pf.check(certificate, *data)
    return "valid" if result else f"INVALID: {result}"


def run_limits(chosen: Sequence[Case], limits: Sequence[float], table: Table) -> int:
    """Print one line per case and limit; returns how many overshoot or are not valid."""
    bad = 0
    for case in chosen:
        call, data = case.make()
        for limit in limits:
            started = time.monotonic()
            answer = call(limit)
            seconds = time.monotonic() - started
            valid = verdict_on(answer, data)
            good = seconds - limit <= ALLOWED and not valid.startswith("INVALID")
            bad += not good
            gap = answer.gap if hasattr(answer, "gap") else None
            table.row(
                case=case.name,
                limit=limit,
                seconds=seconds,
                over=max(0.0, seconds - limit),
                status=status_of(answer),
                gap=gap,
                valid=valid,
                verdict="" if good else "LATE" if valid in ("-", "valid", "claim only") else "WRONG",
            )
    return bad


def run_interrupts(chosen: Sequence[Case], quick: bool, table: Table) -> int:
    """Press Ctrl-C a second into every case, in a process of its own."""
    bad = 0
    for case in chosen:
        command = [
            sys.executable,
            "-m",
            "benchmarks.guards.limits",
            "--answer",
            case.name,
            *(["--quick"] if quick else []),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            # The first lines tell of the machine; data are made before the word.
            while (line := child.stdout.readline().strip()) != "ready":
                assert line, f"{case.name}: the process ended before its solve began"
            time.sleep(0.2 if quick else 1.0)
            pressed = time.monotonic()
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            # Gurobi says "Interrupt request received" in between.
            said = next((line for line in child.stdout if line.startswith("answer: ")), "answer: none")
            seconds = time.monotonic() - pressed
            child.kill()
        # A case that was done before the key was pressed says nothing.
        status = said.removeprefix("answer: ").strip()
        good = seconds <= 1.0 and status != "none"
        bad += not good
        table.row(case=case.name, seconds=seconds, status=status, verdict="" if good else "LATE")
    return bad


def answer_to(name: str, quick: bool) -> None:
    """The child of `run_interrupts`: solve one case without a limit, and say how it ended."""
    case = next(case for case in cases(quick) if case.name == name)
    call, _ = case.make()
    print("ready", flush=True)
    try:
        print(f"answer: {status_of(call(None))}", flush=True)
    except KeyboardInterrupt:
        print("answer: raised", flush=True)


def weigh(n: int, p: int, limit: float, seconds: float) -> dict[str, Any]:
    """The memory that one solve takes beside X."""
    X, y = drawn(n, p)()
    held: list[Any] = []
    peak = peak_increase(
        lambda: held.append(pf.solve(X, y, 10, 1.0, memory_limit=limit, time_limit=seconds, certificate_limit=0))
    )
    stats = held[0].stats
    return {"peak_mb": peak / 1e6, "left": stats["columns_left"], "nodes": stats["nodes"], "status": held[0].status}


def run_memory(quick: bool, table: Table) -> int:
    """Print the memory that solves take, for several limits and numbers of survivors, each in a fresh process.

    Return how many take more than they may.
    """
    bad = 0
    rows = [(40, 300, 2e7)]
    if not quick:
        rows = [(60, p, limit) for p in (2000, 8000) for limit in (1e8, 1e9, 2e9)]
        rows += [(80, 10_850, 2e9), (40, 400, 1e8), (40, 400, 2e7)]
    for n, p, limit in rows:
        # Memory that an earlier solve has given back would hide what this one takes.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(weigh, n, p, limit, 1.0 if quick else 30.0).result()
        over = 1e6 * found["peak_mb"] > max(limit, 16 * min(p, 5000) ** 2)
        bad += over
        table.row(case=f"n={n} p={p} gamma=1", limit_mb=limit / 1e6, **found, verdict="OVER" if over else "")
    return bad


def main(argv: Sequence[str]) -> None:
    """Print the three tables; exit status 1 if a limit does not hold."""
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="*", metavar="name", help="cases whose name contains one of these")
    arguments.add_argument("--answer", help="used by the program itself")
    arguments.add_argument("--only", choices=("time", "interrupt", "memory"), help="one of the three tables")
    args = arguments.parse_args(argv)
    if args.answer is not None:
        answer_to(args.answer, args.quick)
        return

    def wanted(case: Case) -> bool:
        return not args.names or any(word in case.name for word in args.names)

    chosen = [case for case in cases(args.quick) if wanted(case)]
    bad = 0
    if args.only in (None, "time"):
        table = Table("limits", "Time limits: took less limit is to be at most half a second", TIME, args.json)
        bad += run_limits(chosen, (0.2,) if args.quick else (2.0, 0.5, 0.1), table)
        if not args.quick:
            bad += run_limits([case for case in suite_cases() if wanted(case)], (2.0,), table)
    if args.only in (None, "interrupt"):
        table = Table("interrupts", "Ctrl-C: answered within a second", INTERRUPT, args.json)
        bad += run_interrupts(chosen, args.quick, table)
    if args.only in (None, "memory") and not args.names:
        table = Table(
            "memory", "Memory beside memory_limit (5000 columns' products, 200 MB, always)", MEMORY, args.json
        )
        bad += run_memory(args.quick, table)
    if bad:
        print(f"\n{bad} late, wrong or too large", flush=True)
    if bad and not args.quick:
        sys.exit(1)


if __name__ == "__main__":
    print(environment())
    main(sys.argv[1:])
