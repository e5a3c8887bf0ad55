"""`solve` against enumeration, degenerate problems, limits, warm starts and progress."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from enumeration import Case, random_case

import parsifal as pf

BLOCKS, BLOCK = 48, 50
BRANCHING = ("largest", "fractional", "strong", "pseudo")


def check(case: Case, solution: pf.Solution, optimum: float | None = None) -> None:
    """The solution is the optimum, is proven, and means what it says.

    Only where the fit is perfect to nine digits or so may double precision be too short to show the bound.
    """
    if optimum is None:
        optimum = case.optimum()[0]
    check_valid(case, solution, optimum)
    if solution.status == "gap_open":
        assert solution.objective < 1e-8 * square(case)
        return
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-14 * square(case))
    assert solution.gap <= 1e-6 or solution.objective - solution.lower_bound <= 1e-14 * square(case)


def check_valid(case: Case, solution: pf.Solution, optimum: float | None = None) -> None:
    """What every solution must satisfy, proven or not: feasible, consistent, and bounded from below."""
    support, coef = solution.support, solution.coef
    assert np.array_equal(support, np.unique(support))
    assert support.size <= case.most
    assert set(case.force_in) <= set(support.tolist())
    assert not set(case.force_out) & set(support.tolist())
    assert coef.shape == (case.p,)
    assert not np.delete(coef, support).any()
    value = 0.5 * np.sum((case.y - case.dense @ coef) ** 2) + coef @ coef / (2 * case.gamma)
    value += (case.penalty or 0.0) * support.size
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-13 * square(case))
    assert solution.lower_bound <= solution.objective
    assert solution.gap == pytest.approx(
        (solution.objective - solution.lower_bound) / max(solution.objective, np.finfo(float).tiny)
    )
    assert 0 < solution.stats["reads"] < 100
    assert solution.stats["nodes"] >= 0
    if optimum is not None:
        assert solution.objective >= optimum * (1 - 1e-9) - 1e-13 * square(case)
        assert solution.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * square(case)


def square(case: Case) -> float:
    return 2 * case.half


@pytest.mark.parametrize("block", range(BLOCKS))
def test_against_enumeration(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        case = random_case(np.random.default_rng(seed))
        optimum = case.optimum()[0]
        try:
            check(case, pf.solve(case.X, case.y, threads=1 + seed % 2, **case.options), optimum)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


@pytest.mark.parametrize("block", range(8))
def test_more_columns_against_enumeration(block: int) -> None:
    for seed in range(block * 50, (block + 1) * 50):
        case = random_case(np.random.default_rng((seed, 1)), least=15, most=26, largest_k=3)
        optimum = case.optimum()[0]
        try:
            check(case, pf.solve(case.X, case.y, threads=1 + seed % 2, **case.options), optimum)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


# Columns that safe fixing decides to the last one below the root: the leaf's own fit is the answer.
FOUND = {
    "one column or none": Case(
        np.array([[-2.6, -0.83], [-8.0, -3.1], [-0.052, -1.0], [-1.6, -0.33], [-0.03, 0.8], [-6.5, -1.6]]),
        np.array([1000.0, 40.0, -600.0, 2000.0, 2000.0, -1000.0]),
        gamma=100.0,
        k=1,
        penalty=287598.0,
    ),
    "three of four, scales 1e-3 to 1e6": Case(
        np.array([[2000.0, 0.007, 0.007, -3e5], [5000.0, 0.02, 0.05, 9e5], [-4000.0, -0.004, -0.01, 5e5]]),
        np.array([-0.5, 2.0, 1.0]),
        gamma=1e4,
        k=3,
    ),
    "three of four, one column at 1e6": Case(
        np.array(
            [
                [-0.092, -490000.0, 0.19, 0.32],
                [0.25, -1100000.0, 1.5, 0.74],
                [0.26, -810000.0, 1.2, 0.54],
                [-0.21, 1300000.0, -0.7, -0.89],
                [0.13, -1700000.0, 0.29, 1.1],
            ]
        ),
        np.array([0.0009, -0.001, 0.0008, 0.002, 0.002]),
        gamma=100.0,
        k=3,
    ),
    "penalty, scales 1e-5 to 1e6": Case(
        np.array(
            [
                [2e-05, 300.0, -0.04, -300000.0, -70.0],
                [3e-05, 100.0, -0.1, -400000.0, 50.0],
                [-1e-05, -300.0, 0.04, -600000.0, 6.0],
                [1e-05, 200.0, 0.6, -200000.0, -20.0],
                [2e-05, -300.0, -0.09, -600000.0, -70.0],
            ]
        ),
        np.array([0.001, -0.001, 0.002, -0.001, 1e-05]),
        gamma=1e6,
        penalty=3.234036821886384e-11,
    ),
    "zero column": Case(
        np.array(
            [
                [0.008, -3.0, 0.0, -0.0007, 70.0],
                [-0.004, 2.0, 0.0, -0.0003, 40000.0],
                [0.01, -0.2, 0.0, -0.0001, -10000.0],
                [-0.003, 0.9, 0.0, -0.0007, 9000.0],
                [0.006, -0.7, 0.0, 0.0002, 400.0],
            ]
        ),
        np.array([-0.4, 1.0, -2.0, -1.0, 0.9]),
        gamma=1e6,
        k=3,
    ),
    "one row": Case(np.array([[-3000.0, -1e6]]), np.array([-3000.0]), gamma=1e6, k=2),
    "one row, small response": Case(np.array([[-2e5, -1e5]]), np.array([-2e-4]), gamma=1e4, k=2),
}


@pytest.mark.parametrize("name", FOUND)
def test_decided_leaves(name: str) -> None:
    case = FOUND[name]
    check(case, pf.solve(case.X, case.y, threads=1, **case.options))


def tabular_case(rng: np.random.Generator) -> Case:
    """More rows than columns, correlated, partly whole numbers, weak ridge: what tightening and frames are for."""
    p = int(rng.integers(15, 20))
    n = int(rng.integers(p + 1, 150))
    k = int(rng.integers(2, 5))
    X = rng.standard_normal((n, p))
    if rng.random() < 0.5:
        X = np.sqrt(0.1) * X + np.sqrt(0.9) * rng.standard_normal((n, 1))
    else:
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    if rng.random() < 0.4:
        X[:, ::3] = np.round(3 * X[:, ::3])
        X[:, 1::3] = X[:, 1::3] > 0
    if rng.random() < 0.2:
        X[:, 3] = X[:, 7] + X[:, 11]
    if rng.random() < 0.2:
        X[:, 2] = -X[:, 9]
    if rng.random() < 0.3:
        X = X * 10 ** rng.uniform(-2, 3, p)
    signal_part = (X / np.maximum(X.std(axis=0), 1e-9)) @ (rng.standard_normal(p) * (rng.random(p) < 0.5))
    y = signal_part + rng.choice([0.3, 1.0, 3.0]) * rng.standard_normal(n)
    gamma = float(rng.choice([1.0, 1e2, 1e4, 1e6]))
    penalty = float(0.5 * (y @ y) * 10 ** rng.uniform(-4, -1)) if rng.random() < 0.3 else None
    return Case(X, y, gamma, k, penalty)


@pytest.mark.parametrize("block", range(16))
def test_tabular_data_against_enumeration(block: int) -> None:
    for seed in range(block * 10, (block + 1) * 10):
        case = tabular_case(np.random.default_rng((seed, 2)))
        solution = pf.solve(case.X, case.y, threads=1 + (seed // 4) % 2, branching=BRANCHING[seed % 4], **case.options)
        try:
            check(case, solution)
            assert solution.status == "optimal"
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}") from error


def correlated_case(n: int, p: int, k: int, gamma: float, **options: Any) -> Case:
    rng = np.random.default_rng(p)
    X = np.sqrt(0.5) * rng.standard_normal((n, p)) + np.sqrt(0.5) * rng.standard_normal((n, 1))
    y = X[:, :k].sum(axis=1) + 2 * rng.standard_normal(n)
    return Case(X, y, gamma, k, **options)


MEDIUM = {
    "weak ridge": correlated_case(100, 40, 8, 1e3),
    "more columns than rows": correlated_case(60, 80, 5, 0.3),
    "strong ridge": correlated_case(40, 70, 8, 0.1),
    "penalty and k": correlated_case(60, 60, 6, 0.3, penalty=3.0),
    "forced": correlated_case(60, 60, 6, 0.3, force_in=(50, 51), force_out=(0, 1)),
}


@pytest.mark.parametrize("name", MEDIUM)
def test_rules_and_threads_agree(name: str) -> None:
    case = MEDIUM[name]
    solutions = [
        pf.solve(case.X, case.y, branching=rule, threads=threads, **case.options)
        for rule in BRANCHING
        for threads in (1, 2)
    ]
    best = min(s.objective for s in solutions)
    assert solutions[0].stats["nodes"] > 1
    for solution in solutions:
        check_valid(case, solution)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert solution.lower_bound <= best * (1 + 1e-12)
        assert solution.lower_bound >= best * (1 - 1e-6)


def test_one_thread_is_repeatable() -> None:
    for case in MEDIUM.values():
        first, second = (pf.solve(case.X, case.y, threads=1, **case.options) for _ in range(2))
        assert first.objective == second.objective
        assert first.lower_bound == second.lower_bound
        assert first.coef.tobytes() == second.coef.tobytes()
        np.testing.assert_array_equal(first.support, second.support)
        for key in ("nodes", "reads", "linear_systems", "depth", "columns_left", "root_bound"):
            assert first.stats[key] == second.stats[key]


def test_layout_and_kind_do_not_matter() -> None:
    case = MEDIUM["penalty and k"]
    first = pf.solve(case.X, case.y, threads=1, **case.options)
    for X in (np.asfortranarray(case.X), pd.DataFrame(case.X), case.X.tolist(), pf.as_design(case.X)):
        again = pf.solve(X, case.y.tolist(), threads=1, **case.options)
        np.testing.assert_array_equal(again.support, first.support)
        assert again.objective == pytest.approx(first.objective, rel=1e-12)


def test_the_data_are_left_alone() -> None:
    case = MEDIUM["strong ridge"]
    X, y = case.X.copy(), case.y.copy()
    X.flags.writeable = y.flags.writeable = False
    support = np.array([3, 1])
    pf.solve(X, y, warm_start=support, **case.options)
    np.testing.assert_array_equal(X, case.X)
    np.testing.assert_array_equal(y, case.y)
    np.testing.assert_array_equal(support, [3, 1])


# Warm starts


@pytest.mark.parametrize("seed", range(20))
def test_a_warm_start_changes_nothing_but_the_way(seed: int) -> None:
    rng = np.random.default_rng((seed, 3))
    case = random_case(rng, least=4, most=9)
    supports = case.supports()
    start = np.array(supports[int(rng.integers(len(supports)))], dtype=int)
    mask = np.zeros(case.p, dtype=bool)
    mask[start] = True
    for warm_start in (start, start[::-1].tolist(), mask):
        check(case, pf.solve(case.X, case.y, warm_start=warm_start, threads=1, **case.options))


def test_never_worse_than_the_warm_start() -> None:
    case = hard_case()
    best = pf.solve(case.X, case.y, node_limit=200, **case.options)
    again = pf.solve(case.X, case.y, time_limit=0, warm_start=best.support, **case.options)
    assert again.objective <= best.objective * (1 + 1e-12)
    empty = pf.solve(case.X, case.y, time_limit=0, warm_start=[], **case.options)
    check_valid(case, empty)


# Limits


def hard_case() -> Case:
    """Fewer rows than columns and next to no ridge: the relaxation interpolates, the tree is endless."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
    return Case(X, y, gamma=1e3, k=10)


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
    """D(0) is the price of the columns that are forced in: whatever else fails, that is a bound."""
    case = random_case(np.random.default_rng((seed, 77)), least=12, most=20, largest_k=3)
    for limit in ({"time_limit": 0}, {"node_limit": 1}, {}):
        solution = pf.solve(case.X, case.y, **limit, **case.options)
        assert solution.lower_bound >= (case.penalty or 0.0) * len(case.force_in), f"{case}, {limit}"
    assert pf.relax(case.X, case.y, **case.options).bound >= (case.penalty or 0.0) * len(case.force_in), case


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
               lower_bound=s.lower_bound, stats=s.stats, k=s.k, penalty=s.penalty, gamma=s.gamma), sys.stdout)
"""

INTERRUPTS = {
    "from outside": """
def progress(state):
    if state.nodes > 0 and not told:
        told.append(1)
        print("searching", flush=True)
told = []
""",
    "no progress": "progress = False; threading.Timer(1.0, interrupt).start()",
    "progress line": "progress = True; threading.Timer(1.0, interrupt).start()",
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
    small = FOUND["one row"]
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


# What comes with the answer


def test_auto_gamma() -> None:
    rng = np.random.default_rng(0)
    X, y = 3 * rng.standard_normal((50, 6)), rng.standard_normal(50)
    solution = pf.solve(X, y, k=2)
    assert solution.gamma == pytest.approx(np.sqrt(50) / np.mean(np.sum(X**2, axis=0)))
    check(Case(X, y, solution.gamma, 2), solution)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert pf.solve(X, y, k=2).gamma == pytest.approx(50**-0.5)
    assert pf.solve(np.zeros((4, 3)), np.ones(4), k=2).objective == pytest.approx(2.0)


def test_names() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a", "b", "c", "d"])
    y = (frame["a"] - 2 * frame["c"]).to_numpy()
    solution = pf.solve(frame, y, k=2, gamma=1.0)
    assert solution.selected == ["a", "c"]
    assert solution.feature_names == ("a", "b", "c", "d")
    assert str(solution).startswith("optimal: 2 columns [a, c]\nobjective ")
    assert pf.solve(frame, y, k=2, gamma=1.0, force_in=["d"], force_out=["c"]).selected == ["a", "d"]
    assert pf.solve(frame.to_numpy(), y, k=2, gamma=1.0).selected == ["x0", "x2"]


def test_copies_do_not_make_the_tree_explode() -> None:
    """Each of eight columns five times over: as many supports as ever, but only the first copies count."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((20, 8))
    y = base[:, :4].sum(axis=1) + rng.standard_normal(20)
    case = Case(np.repeat(base, 5, axis=1) * np.tile([1, -1, 1, 1, -1], 8), y, gamma=0.5, k=3)
    solution = pf.solve(case.X, case.y, threads=1, **case.options)
    check(case, solution)
    assert solution.status == "optimal"
    assert solution.stats["nodes"] < 1000


@pytest.mark.parametrize("k", [1, 3, 7, 100])
def test_no_response(k: int) -> None:
    solution = pf.solve(np.eye(5), np.zeros(5), k=k, gamma=1.0)
    assert solution.status == "optimal"
    assert solution.objective == solution.lower_bound == solution.gap == 0
    assert not solution.coef.any()
