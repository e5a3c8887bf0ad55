"""A solver's own process: `python -m benchmarks.peers.worker NAME`, jobs on stdin, answers on stdout, a line each.

It imports the solver and solves two small problems before it is ready, so that whatever is compiled at the first call
is compiled; the time from the start of the process to the first answer is the latency that a user sees. Needs NumPy
only, and whatever the solver needs.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib import import_module, metadata
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any, TextIO

import numpy as np

from benchmarks.guards.memory import peak_increase
from benchmarks.peers import scalings
from benchmarks.peers.solvers import SOLVERS, Answer, Job, Solver
from benchmarks.speed.timing import PAUSE

ENOUGH = 0.3  # seconds after which a solve is not repeated


def main() -> None:
    """Serve until stdin ends."""
    out = _own_stdout()
    solver = SOLVERS[sys.argv[1]]
    limit = os.environ.get("SUITE_MEMORY")
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    try:
        prepare, _ = solver.load()
        prepare()
        with tempfile.TemporaryDirectory() as folder:
            for job in _warm_up(solver, folder):
                run(solver, job, lambda event: None)
                _send(out, {"event": "warm"})
    except Exception as error:
        _send(out, {"event": "failed", "error": _describe(error)})
        return
    _send(out, {"event": "ready", "version": _version(solver)})
    for line in sys.stdin:
        try:
            answer = run(solver, Job(**json.loads(line)), lambda event: _send(out, {"event": event}))
        except Exception as error:  # whatever a peer raises is its answer
            traceback.print_exc()
            answer = {"event": "answer", "error": _describe(error)}
        _send(out, answer)


def run(solver: Solver, job: Job, say: Callable[[str], None]) -> dict[str, Any]:
    """Solve one job: the shortest of up to three runs counts if they are short; memory is the first run's.

    `say` is called with "loaded" and "solved": only what lies between is under the time limit.
    """
    X, y = np.load(Path(job.data) / "X.npy"), np.load(Path(job.data) / "y.npy")
    _, solve = solver.load()
    say("loaded")
    best, cpu, answer, memory, spent = np.inf, 0.0, None, None, 0.0

    def call() -> None:
        nonlocal best, cpu, answer, spent
        used, started = process_time(), perf_counter()
        found = solve(X, y, job)
        seconds, used = perf_counter() - started, process_time() - used
        spent += seconds
        counted = seconds if found.seconds is None else found.seconds
        if answer is None or counted < best:
            best, cpu, answer = counted, used, found

    for turn in range(max(1, job.repeats)):
        sleep(PAUSE)
        if turn == 0:
            memory = peak_increase(call)
        else:
            call()
        if spent > ENOUGH:
            break
    say("solved")
    assert isinstance(answer, Answer)
    after = getattr(import_module(f"benchmarks.peers.solvers.{solver.module}"), "after", None)
    if after is not None:
        after(answer, job)
    if not answer.supports and isinstance(answer.keep, np.ndarray):
        assert job.k is not None
        answer.supports = scalings.from_path(X, answer.keep, job.k)
    fields = asdict(replace(answer, keep=None))
    del fields["keep"]
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 if solver.name == "leaps" else 0
    return {
        "event": "answer",
        **fields,
        "seconds": best,
        "cpu": None if solver.name == "leaps" else cpu,
        "memory": max(memory or 0, children),
    }


def _warm_up(solver: Solver, folder: str) -> list[Job]:
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((40, 50)))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(40)
    np.save(Path(folder) / "X.npy", X)
    np.save(Path(folder) / "y.npy", y)
    jobs = []
    for form in (*solver.forms, solver.forms[0]):
        jobs.append(
            Job(
                solver=solver.name,
                data=folder,
                k=3 if form == "k" else None,
                gamma=0.2,
                penalty=2.0 if form == "penalty" else None,
                rel_gap=1e-4,
                time_limit=60.0,
                threads=int(os.environ.get("OMP_NUM_THREADS", "1")),
                objective_hint=10.0,
                largest_hint=1.5,
                repeats=1,
            )
        )
    return jobs


def _own_stdout() -> TextIO:
    """Keep stdout for the answers; what solvers print, in C too, goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def _send(out: TextIO, message: dict[str, Any]) -> None:
    out.write(json.dumps(message, default=_plain) + "\n")
    out.flush()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def _version(solver: Solver) -> str:
    if solver.name == "leaps":
        command = ["Rscript", "-e", "cat(as.character(packageVersion('leaps')))"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    names = {"lasso": "scikit-learn", "cutting-scip": "pyscipopt", "big-m-scip": "pyscipopt"}
    names |= {"cutting-gurobi": "gurobipy", "cutting-highs": "highspy"}
    try:
        return metadata.version(names.get(solver.name, solver.name))
    except metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
