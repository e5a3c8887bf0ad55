"""Limits, Ctrl-C and progress of `solve`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from api.cases import MEDIUM, check, check_valid, hard_case, square
from oracles.enumeration import Case, random_case
from parsifal.bound.dual import price_below


def check_unfinished(case: Case, solution: pf.Solution, status: str) -> None:
    check_valid(case, solution)
    assert solution.status == status
    assert solution.gap > 1e-6
    # The bound is one: a support that was planted, and the fit that a long search finds, are not below it.
    assert solution.lower_bound <= case.objective(tuple(range(10)))
    assert solution.lower_bound >= 0
    # Local search does at least as well as the planted support here.
    assert solution.objective <= case.objective(tuple(range(10)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": 0.2}, "time_limit"),
        ({"node_limit": 1}, "node_limit"),
        ({"node_limit": 37}, "node_limit"),
        ({"node_limit": 5, "time_limit": 1000}, "node_limit"),
        ({"node_limit": 300, "memory_limit": 1e4}, "node_limit"),
    ],
    ids=str,
)
def test_limits(limit: dict[str, Any], status: str, threads: int) -> None:
    case = hard_case()
    solution = pf.solve(case.X, case.y, threads=threads, **limit, **case.options)
    check_unfinished(case, solution, status)
    if "node_limit" in limit:
        assert solution.stats["nodes"] <= limit["node_limit"] + threads
    if limit.get("time_limit") == 0:
        assert solution.stats["nodes"] == 0


@pytest.mark.parametrize("seed", range(60))
def test_a_limit_leaves_a_valid_bound(seed: int) -> None:
    rng = np.random.default_rng((seed, 4))
    case = random_case(rng, least=6, most=10)
    optimum = case.optimum()[0]
    for limit in ({"time_limit": 0}, {"node_limit": 1}, {"node_limit": 3}, {"rel_gap": 0.5}, {"rel_gap": 0.01}):
        solution = pf.solve(case.X, case.y, **limit, **case.options)
        check_valid(case, solution, optimum)
        if solution.status == "optimal":
            promised = limit.get("rel_gap", 1e-6)
            assert solution.gap <= promised or solution.objective - solution.lower_bound <= 1e-14 * square(case)


@pytest.mark.parametrize("seed", [*range(40), 120, 1092, 1521, 1785, 2700])
def test_no_bound_is_below_that_of_alpha_zero(seed: int) -> None:
    """D(0) is the price of the columns that are forced in: whatever else fails, that is a bound, not rounded up."""
    case = random_case(np.random.default_rng((seed, 77)), least=12, most=20, largest_k=3)
    least = price_below(case.penalty or 0.0, len(case.force_in))
    for limit in ({"time_limit": 0}, {"node_limit": 1}, {}):
        solution = pf.solve(case.X, case.y, **limit, **case.options)
        assert solution.lower_bound >= least, f"{case}, {limit}"
    assert pf.relax(case.X, case.y, **case.options).bound >= least, case


def test_memory_limit_changes_the_order_not_the_answer() -> None:
    case = MEDIUM["more columns than rows"]
    check_valid(case, pf.solve(case.X, case.y, memory_limit=2e4, threads=2, **case.options))
    first = pf.solve(case.X, case.y, memory_limit=2e4, **case.options)
    second = pf.solve(case.X, case.y, **case.options)
    assert first.status == second.status == "optimal"
    assert first.objective == pytest.approx(second.objective, rel=1e-6)


CHILD = """
import json, os, signal, sys, threading, time
import numpy as np
import parsifal as pf

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 60))
y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
{setup}
s = pf.solve(X, y, k=10, gamma=1e3, time_limit=50, threads={threads}, progress=progress)
json.dump(dict(status=s.status, support=s.support.tolist(), coef=s.coef.tolist(), objective=s.objective,
               lower_bound=s.lower_bound, rel_gap=s.rel_gap, stats=s.stats, k=s.k, penalty=s.penalty,
               gamma=s.gamma), sys.stdout)
"""

INTERRUPTS = {
    "from outside": """
def progress(state):
    if state.nodes > 0 and not told:
        told.append(1)
        print("searching", flush=True)
told = []
""",
    "no progress": "progress = False; threading.Timer(0.5, interrupt).start()",
    "progress line": "progress = True; threading.Timer(0.5, interrupt).start()",
    "inside the callback": """
def progress(state):
    if state.nodes > 0:
        interrupt()
        time.sleep(0.01)
""",
    "at the root": """
def progress(state):
    if state.nodes == 0:
        interrupt()
        time.sleep(0.01)
""",
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", INTERRUPTS)
def test_ctrl_c_returns_the_best_so_far(name: str, threads: int) -> None:
    code = CHILD.format(setup=INTERRUPTS[name], threads=threads)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        if name == "from outside":
            assert child.stdout.readline() == "searching\n"
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=100)
    assert child.returncode == 0, err[-2000:]
    answer = json.loads(out)
    answer["support"], answer["coef"] = np.array(answer["support"]), np.array(answer["coef"])
    check_unfinished(hard_case(), pf.Solution(**answer), "interrupted")


def test_ctrl_c_works_again_afterwards() -> None:
    """The handler is left as it was: the next Ctrl-C is an ordinary one."""
    code = CHILD.format(setup=INTERRUPTS["no progress"], threads=1)
    code += """
try:
    interrupt(); time.sleep(5)
except KeyboardInterrupt:
    print(" ordinary")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout.endswith(" ordinary\n"), done.stderr[-2000:]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on the address space")
def test_more_threads_than_the_system_gives() -> None:
    """A thread that cannot be started is no reason to end the process."""
    code = """
import resource
import numpy as np
import parsifal as pf
rng = np.random.default_rng(0)
X = rng.standard_normal((40, 60))
y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    pf.solve(X, y, k=10, gamma=1e3, node_limit=20, threads=3000)
except (pf.ParsifalError, RuntimeError, OSError):
    pass
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "alive\n"


# Progress


@pytest.mark.parametrize("name", MEDIUM)
def test_progress_is_monotone_and_true(name: str) -> None:
    case = MEDIUM[name]
    seen: list[pf.Progress] = []
    solution = pf.solve(case.X, case.y, progress=seen.append, branching="fractional", **case.options)
    check_progress(seen, solution)


def check_progress(seen: list[pf.Progress], solution: pf.Solution) -> None:
    assert seen
    assert np.all(np.diff([state.lower_bound for state in seen]) >= 0)
    assert np.all(np.diff([state.objective for state in seen]) <= 1e-9 * seen[0].objective)
    assert np.all(np.diff([state.nodes for state in seen]) >= 0)
    assert np.all(np.diff([state.seconds for state in seen]) >= 0)
    for state in seen:
        assert state.lower_bound <= solution.objective * (1 + 1e-9)
        assert state.objective >= solution.objective * (1 - 1e-9)
        assert state.gap >= 0
        assert state.open_nodes >= 0
        assert state.reads > 0
    assert solution.lower_bound >= seen[-1].lower_bound - 1e-9 * solution.objective


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_of_a_search_that_is_cut_off(threads: int) -> None:
    case = hard_case()
    seen: list[pf.Progress] = []
    solution = pf.solve(case.X, case.y, progress=seen.append, time_limit=0.6, threads=threads, **case.options)
    check_progress(seen, solution)
    assert seen[-1].nodes > 0
    assert seen[-1].nodes <= solution.stats["nodes"]


@pytest.mark.parametrize("nodes", [0, 1])
def test_a_progress_function_that_raises(nodes: int) -> None:
    """Its exception comes out, from the root as from the search, and the next solve is not impressed."""

    class StopHere(Exception):
        pass

    def progress(state: pf.Progress) -> None:
        if state.nodes >= nodes:
            raise StopHere(state.nodes)

    case = hard_case()
    with pytest.raises(StopHere) as caught:
        pf.solve(case.X, case.y, progress=progress, time_limit=50, **case.options)
    assert caught.value.args[0] >= nodes
    small = random_case(np.random.default_rng(0))
    check(small, pf.solve(small.X, small.y, threads=1, **small.options))


def test_progress_true_writes_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    case = hard_case()
    pf.solve(case.X, case.y, progress=True, time_limit=0.3, **case.options)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert "\r" not in captured.err
    for line in captured.err.splitlines():
        for word in ("best", "bound", "gap", "nodes", "open", "reads"):
            assert f"  {word} " in line


def test_no_progress_no_output(capfd: pytest.CaptureFixture[str]) -> None:
    case = MEDIUM["strong ridge"]
    pf.solve(case.X, case.y, **case.options)
    assert capfd.readouterr() == ("", "")
