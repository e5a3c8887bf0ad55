"""Limits, Ctrl-C and progress of the cutting planes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import parsifal as pf
from cuts.cases import check, check_valid, each_backend, hard_case, small_case
from parsifal.cuts.master import load_backend


@each_backend
@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"time_limit": 0.0}, "time_limit"),
        ({"time_limit": 0.5}, "time_limit"),
        ({"node_limit": 1}, "node_limit"),
        ({"node_limit": 20}, "node_limit"),
    ],
)
def test_limits(backend: str, limit: dict[str, float], status: str, hard_optimum: float) -> None:
    case = hard_case()
    solution = pf.solve(case.X, case.y, method="cutting-plane", backend=backend, **limit, **case.options)
    assert solution.status == status
    check_valid(case, solution, hard_optimum)
    assert 0 <= solution.lower_bound < solution.objective


@each_backend
def test_a_loose_gap_is_enough_when_asked_for(backend: str) -> None:
    case = small_case(7)
    solution = pf.solve(case.X, case.y, method="cutting-plane", backend=backend, rel_gap=0.3, **case.options)
    check_valid(case, solution, case.optimum()[0])
    assert solution.status == "optimal"
    assert solution.gap <= 0.3


@each_backend
def test_progress_is_monotone_and_true(backend: str, hard_optimum: float) -> None:
    case, seen = hard_case(), []
    load_backend(backend)  # a first import would be counted against the limit
    pf.solve(
        case.X, case.y, method="cutting-plane", backend=backend, time_limit=1.0, progress=seen.append, **case.options
    )
    assert len(seen) >= 3
    for before, after in pairwise(seen):
        assert after.objective <= before.objective
        assert after.lower_bound >= before.lower_bound
        assert after.seconds >= before.seconds
    assert all(state.lower_bound <= hard_optimum * (1 + 1e-6) for state in seen)


@each_backend
def test_an_exception_in_progress_stops_the_solve(backend: str) -> None:
    case = hard_case()

    def progress(state: pf.Progress) -> None:
        if state.seconds > 0.3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pf.solve(
            case.X, case.y, method="cutting-plane", backend=backend, progress=progress, time_limit=50, **case.options
        )


CHILD = """
import json, os, signal, sys, threading, time
import numpy as np
import parsifal as pf

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 60))
y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
# What is imported on the way is imported now, so that the signal finds the solve and not an import.
pf.solve(X[:, :3], y, k=1, gamma=0.1, method="cutting-plane", backend="{backend}")
{setup}
s = pf.solve(X, y, k=10, gamma=0.1, time_limit=50, method="cutting-plane", backend="{backend}", progress=progress)
json.dump(dict(status=s.status, support=s.support.tolist(), coef=s.coef.tolist(), objective=s.objective,
               lower_bound=s.lower_bound, rel_gap=s.rel_gap, k=s.k, penalty=s.penalty, gamma=s.gamma), sys.stdout)
sys.stdout.flush()
try:
    interrupt(); time.sleep(5)
except KeyboardInterrupt:
    print(" ordinary")
"""
INTERRUPTS = {
    "in the solver": "progress = False; threading.Timer(0.7, interrupt).start()",
    "in a callback": """
def progress(state):
    if state.seconds > 0.2 and state.nodes > 0:
        interrupt()
        time.sleep(0.01)
""",
    "before the solver": """
def progress(state):
    interrupt()
    time.sleep(0.01)
""",
}


@each_backend
@pytest.mark.parametrize("name", INTERRUPTS)
def test_ctrl_c_returns_the_best_so_far(backend: str, name: str, hard_optimum: float) -> None:
    code = CHILD.format(setup=INTERRUPTS[name], backend=backend)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        out, err = child.communicate(timeout=100)
    assert child.returncode == 0, err[-2000:]
    assert err == ""
    out = out.removeprefix("\nInterrupt request received\n")  # Gurobi's own word, which no parameter silences
    assert out.endswith(" ordinary\n"), "the next Ctrl-C is an ordinary one"
    answer = json.loads(out.removesuffix(" ordinary\n"))
    answer["support"], answer["coef"] = np.array(answer["support"]), np.array(answer["coef"])
    solution = pf.Solution(**answer)
    assert solution.status == "interrupted"
    check_valid(hard_case(), solution, hard_optimum)


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    pytest.importorskip("pyscipopt")
    import threading

    case, found = small_case(3), []
    before = signal.getsignal(signal.SIGINT)
    work = threading.Thread(
        target=lambda: found.append(pf.solve(case.X, case.y, method="cutting-plane", **case.options))
    )
    work.start()
    work.join()
    assert signal.getsignal(signal.SIGINT) is before
    check(case, found[0], case.optimum()[0])
