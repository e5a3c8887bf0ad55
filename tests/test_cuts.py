"""The cutting planes against enumeration and the search, on every installed backend."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from enumeration import Case, random_case, values

import parsifal as pf
from parsifal import constraints as pc
from parsifal.cuts.loop import cutting_plane
from parsifal.cuts.master import BACKENDS, Choices, load_backend
from parsifal.cuts.oracle import RegressionOracle
from parsifal.cuts.rootcuts import best_choice


def installed(name: str) -> Any:
    missing = importlib.util.find_spec(BACKENDS[name]) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"{BACKENDS[name]} is not installed"))


each_backend = pytest.mark.parametrize("backend", [installed(name) for name in BACKENDS])
PUBLISHED = {"root_cuts": 0, "fractional_cuts": False, "screen": False}


def small_case(seed: int) -> Case:
    """A problem whose data are within what a solver's tolerances leave: nothing as extreme as the search is held to."""
    rng = np.random.default_rng((seed, 4))
    while True:
        case = random_case(rng, least=4, most=10)
        if case.gamma <= 1e4 and not {"badly scaled", "multiple", "constant"} & set(case.traits):
            return case


def check(case: Case, solution: pf.Solution, optimum: float) -> None:
    """True, and proven unless the fit is so good that the solver's tolerances are too coarse to show it."""
    check_valid(case, solution, optimum)
    assert solution.status in ("optimal", "gap_open")
    assert solution.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9 * case.half)
    if solution.status == "gap_open":
        assert solution.objective < 1e-3 * case.half
        assert solution.objective - solution.lower_bound < 1e-9 * case.half
    else:
        assert solution.gap <= 1e-6 or solution.objective - solution.lower_bound <= 2e-14 * case.half


def check_valid(case: Case, solution: pf.Solution, optimum: float) -> None:
    support, coef = solution.support, solution.coef
    assert support.size <= case.most
    assert set(case.force_in) <= set(support.tolist())
    assert not set(case.force_out) & set(support.tolist())
    value = 0.5 * np.sum((case.y - case.dense @ coef) ** 2) + coef @ coef / (2 * case.gamma)
    value += (case.penalty or 0.0) * support.size
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-13 * case.half)
    assert solution.lower_bound <= solution.objective
    assert solution.objective >= optimum * (1 - 1e-9) - 1e-13 * case.half
    assert solution.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * case.half
    if solution.certificate is not None:
        assert pf.check(solution.certificate, case.X, case.y)
        assert solution.certificate.lower_bound <= optimum * (1 + 1e-9) + 1e-13 * case.half
        # A check is valid for what the certificate claims; what it does not claim is said to rest on the solver.
        if solution.lower_bound > solution.certificate.lower_bound:
            assert solution.rests_on is not None


@each_backend
@pytest.mark.parametrize("block", range(6))
def test_against_enumeration_and_the_search(backend: str, block: int) -> None:
    for seed in range(block * 50, (block + 1) * 50):
        case = small_case(seed)
        optimum = case.optimum()[0]
        # Every third one as published: no help from safe fixing, from root cuts or from fractional points.
        options: dict[str, Any] = PUBLISHED if seed % 3 == 0 else {"screen": seed % 3 == 1}
        try:
            solution = pf.solve(
                case.X, case.y, method="cutting-plane", backend=backend, threads=1, **options, **case.options
            )
            check(case, solution, optimum)
            search = pf.solve(case.X, case.y, threads=1, **case.options)
            assert solution.objective == pytest.approx(search.objective, rel=2e-6, abs=1e-9 * case.half)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {case}, {options}") from error


def constrained(seed: int) -> tuple[Case, list[Any], list[tuple[int, ...]]]:
    """A case, constraints on it, and the supports that satisfy them."""
    rng = np.random.default_rng((seed, 11))
    p, n = int(rng.integers(6, 11)), int(rng.integers(5, 40))
    X = rng.standard_normal((n, p))
    y = X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(n)
    penalty = float(rng.choice([0.0, 0.3])) or None
    case = Case(X, y, float(10 ** rng.uniform(-2, 2)), int(rng.integers(2, 5)), penalty)
    order = [int(j) for j in rng.permutation(p)]
    weight = rng.integers(-3, 6, p).astype(float)
    group = order[: int(rng.integers(3, 6))]
    kinds = {
        "at most": (pc.AtMost(group, 1), lambda s: len(set(group) & s) <= 1),
        "implies": (pc.Implies(order[0], order[1]), lambda s: order[0] not in s or order[1] in s),
        "implies two": (pc.Implies(0, [1, 2]), lambda s: 0 not in s or {1, 2} <= s),
        "exclude": (pc.Exclude(order[2], order[3]), lambda s: not {order[2], order[3]} <= s),
        "linear": (pc.Linear(weight, 1.0, 6.0), lambda s: 1.0 <= sum(weight[j] for j in s) <= 6.0),
        "at least": (
            pc.Linear({order[4]: 1, order[5]: 1}, lower=1),
            lambda s: order[4] in s or order[5] in s,
        ),
    }
    chosen = [kinds[str(name)] for name in rng.choice(list(kinds), int(rng.integers(1, 4)), replace=False)]
    allowed = [s for s in case.supports() if all(holds(set(s)) for _, holds in chosen)]
    return case, [constraint for constraint, _ in chosen], allowed


@each_backend
def test_constraints_against_enumeration(backend: str) -> None:
    for seed in range(30):
        case, constraints, allowed = constrained(seed)
        options = PUBLISHED if seed % 3 == 0 else {}
        optimum = min(case.objective(s) for s in allowed)
        solution = pf.solve(
            case.X,
            case.y,
            method="cutting-plane",
            backend=backend,
            constraints=constraints,
            threads=1,
            **options,
            **case.options,
        )
        try:
            assert tuple(solution.support.tolist()) in allowed
            check(case, solution, optimum)
            assert solution.status == "optimal"
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}, {constraints}") from error


def test_constraints_by_name_and_alone() -> None:
    pytest.importorskip("pyscipopt")
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a", "b", "c", "d"])
    y = X["a"] + X["b"] + 0.1 * rng.standard_normal(30)
    free = pf.solve(X, y, k=2, gamma=1.0, method="cutting-plane")
    assert free.selected == ["a", "b"]
    bound = pf.solve(X, y, k=2, gamma=1.0, method="cutting-plane", constraints=pc.Exclude("a", "b"))
    assert len({"a", "b"} & set(bound.selected)) == 1
    assert bound.objective > free.objective


@each_backend
@pytest.mark.parametrize("size", [1e-120, 1e-9, 1e9, 1e140])
def test_the_size_of_y_does_not_matter(backend: str, size: float) -> None:
    """eta is scaled: a tolerance of 1e-6 would be larger than all of c at 1e-9, and lost in it at 1e9."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 8))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(20)
    case = Case(X, size * y, 0.5, 3)
    optimum = case.optimum()[0]
    for options in ({}, PUBLISHED):
        solution = pf.solve(X, size * y, k=3, gamma=0.5, method="cutting-plane", backend=backend, **options)
        assert solution.status == "optimal"
        check(case, solution, optimum)


@each_backend
def test_nothing_to_explain(backend: str) -> None:
    X = np.eye(4)
    solution = pf.solve(X, np.zeros(4), k=2, gamma=1.0, method="cutting-plane", backend=backend, force_in=[1])
    assert solution.objective == solution.lower_bound == 0.0
    assert solution.status == "optimal"
    every = pf.solve(X, np.ones(4), k=4, gamma=1.0, method="cutting-plane", backend=backend, force_in=[0, 1, 2, 3])
    assert every.support.tolist() == [0, 1, 2, 3]
    assert every.status == "optimal"


# Limits, interrupts, progress


def hard_case() -> Case:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    return Case(X, X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40), 0.1, 10)


@pytest.fixture(scope="module")
def hard_optimum() -> float:
    case = hard_case()
    solution = pf.solve(case.X, case.y, **case.options)
    assert solution.status == "optimal"
    return solution.objective


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
               lower_bound=s.lower_bound, k=s.k, penalty=s.penalty, gamma=s.gamma), sys.stdout)
sys.stdout.flush()
try:
    interrupt(); time.sleep(5)
except KeyboardInterrupt:
    print(" ordinary")
"""
INTERRUPTS = {
    "in the solver": "progress = False; threading.Timer(1.5, interrupt).start()",
    "in a callback": """
def progress(state):
    if state.seconds > 0.5 and state.nodes > 0:
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


# The parts


def test_a_cut_is_below_the_loss_everywhere_and_touches_it() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 8)), rng.standard_normal(15)
    oracle = RegressionOracle(pf.as_design(X), y, 2.0, np.arange(8))
    for _ in range(20):
        s = rng.random(8) * rng.integers(0, 2, 8)
        value, gradient = oracle.value_and_gradient(s)
        expected = pf.loss(X, y, s, 2.0)
        assert value == pytest.approx(expected.value, rel=1e-10)
        np.testing.assert_allclose(gradient, expected.gradient, rtol=1e-8, atol=1e-12)
        for other in rng.random((20, 8)):
            assert pf.loss(X, y, other, 2.0).value >= value + gradient @ (other - s) - 1e-10


def test_planes_stay_below_the_loss_on_every_support() -> None:
    """Scaling, tightening of coefficients and dropping small ones leave a cut valid on binaries."""
    from parsifal.cuts.planes import Planes

    rng = np.random.default_rng(3)
    for gamma in (1e-6, 1.0, 1e6):
        X, y = rng.standard_normal((12, 9)), rng.standard_normal(12)
        X[:, 0] *= 1e-4
        case = Case(X, y, gamma, 3)
        supports, loss = case.all_values()
        choices = Choices(size=9, k=3, fix=np.zeros(9, np.int8))
        oracle = RegressionOracle(pf.as_design(X), y, gamma, np.arange(9))
        floor = 0.999 * float(loss.min())
        planes = Planes(oracle, choices, penalty=0.0, floor=floor, tolerance=1e-9, report=None)
        planes.scale = float(loss.min()) / 100
        cuts = [planes.cut(np.array(support, dtype=np.int64)) for support in supports]
        cuts += [planes.cut_at(s)[1] for s in rng.random((10, 9))]
        indicator = np.array([[float(j in s) for j in range(9)] for s in supports])
        for number, cut in enumerate(cuts):
            below = cut.constant + indicator @ cut.slope
            assert np.all(below <= loss / planes.scale * (1 + 1e-9))
            assert np.abs(cut.slope).max() <= abs(cut.constant) + 1e-9
            if number < len(supports):
                assert below[number] == pytest.approx(loss[number] / planes.scale, rel=1e-8)


@each_backend
def test_the_loop_takes_any_loss(backend: str) -> None:
    """The kernel loss 1/2 y'(I + gamma sum s_j K_j)^-1 y, with its own gradient."""
    rng = np.random.default_rng(2)
    n, m, gamma = 12, 7, 0.7
    Z = rng.standard_normal((m, n, 2))
    y = rng.standard_normal(n)

    class Kernels:
        size = m

        def value_and_gradient(self, s: np.ndarray) -> tuple[float, np.ndarray]:
            K = np.einsum("j,jab,jcb->ac", s, Z, Z)
            alpha = np.linalg.solve(np.eye(n) + gamma * K, y)
            gradient = -0.5 * gamma * np.sum(np.einsum("jab,a->jb", Z, alpha) ** 2, axis=1)
            return 0.5 * float(y @ alpha), gradient

    best = min(
        Kernels().value_and_gradient(np.isin(np.arange(m), s).astype(float))[0] for s in combinations(range(m), 3)
    )
    for cuts in (0, 20):
        result = cutting_plane(Kernels(), 3, backend=backend, most_root_cuts=cuts)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-9)
        assert result.lower_bound <= best * (1 + 1e-12)
        assert result.cuts >= 1


def test_best_choice_is_the_best() -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        case, constraints, allowed = constrained(seed)
        weight = rng.standard_normal(case.p)
        rows = pc.make_rows(constraints, pf.as_design(case.X))
        for kept, supports in ((rows, allowed), ([], case.supports())):
            if not supports:
                continue
            choices = Choices(size=case.p, k=case.most, fix=np.zeros(case.p, np.int8), rows=kept)
            found = best_choice(choices, weight)
            assert choices.allows(found)
            best = max(sum(weight[j] for j in s) for s in supports)
            assert weight[found].sum() == pytest.approx(best, abs=1e-9)


# Big-M


@each_backend
def test_big_m_against_enumeration(backend: str) -> None:
    for seed in range(8):
        case = small_case(seed)
        try:
            solution = pf.solve(case.X, case.y, method="big-m", backend=backend, threads=1, **case.options)
            check(case, solution, case.optimum()[0])
        except Exception as error:
            raise AssertionError(f"seed {seed}: {case}") from error
    for seed in range(5):
        case, constraints, allowed = constrained(seed)
        if allowed:
            solution = pf.solve(
                case.X, case.y, method="big-m", backend=backend, constraints=constraints, threads=1, **case.options
            )
            check(case, solution, min(case.objective(s) for s in allowed))


def test_big_m_from_the_data_excludes_nothing_better() -> None:
    from parsifal.cuts.bigm import safe_big_m

    rng = np.random.default_rng(0)
    for n, p in ((30, 8), (6, 9)):
        X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
        for gamma in (0.01, 1.0, 100.0):
            case = Case(X, y, gamma, 3)
            supports, loss = case.all_values()
            level = float(np.median(loss))
            most = safe_big_m(X, y, gamma, level)
            for support, value in zip(supports, loss):
                if value <= level and support:
                    Z = X[:, support]
                    w = np.linalg.solve(Z.T @ Z + np.eye(len(support)) / gamma, Z.T @ y)
                    assert np.all(np.abs(w) <= most[list(support)])


@each_backend
def test_an_active_big_m_is_told_and_proves_nothing(backend: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 8))
    y = 3 * X[:, 0] + X[:, 1] + 0.1 * rng.standard_normal(30)
    case = Case(X, y, 10.0, 2)
    optimum = case.optimum()[0]
    with pytest.warns(pf.BigMWarning, match="raise big_m"):
        tight = pf.solve(X, y, k=2, gamma=10.0, method="big-m", backend=backend, big_m=0.5)
    check_valid(case, tight, optimum)
    assert tight.lower_bound == pytest.approx(tight.stats["root_bound"])
    loose = pf.solve(X, y, k=2, gamma=10.0, method="big-m", backend=backend, big_m=1e3)
    check(case, loose, optimum)


@each_backend
@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"time_limit": 0.5}, {"node_limit": 5}])
def test_big_m_limits(backend: str, limit: dict[str, float], hard_optimum: float) -> None:
    case = hard_case()
    solution = pf.solve(case.X, case.y, method="big-m", backend=backend, **limit, **case.options)
    assert solution.status == next(iter(limit))
    check_valid(case, solution, hard_optimum)


# Errors


def test_a_missing_backend_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.eye(3), np.ones(3)
    for name, package in BACKENDS.items():
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, f"parsifal.cuts.backends.{name}", raising=False)
        with pytest.raises(pf.MissingBackendError, match=rf'{package}.*pip install "parsifal\[{name}\]"'):
            pf.solve(X, y, k=1, gamma=1.0, method="cutting-plane", backend=name)


def test_gurobi_says_what_its_licence_lacks() -> None:
    pytest.importorskip("gurobipy")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2100)), rng.standard_normal(20)
    problem = {"k": 3, "gamma": 0.1, "time_limit": 1.0}
    try:
        pf.solve(X, y, method="cutting-plane", backend="gurobi", screen=False, **problem)
    except pf.MissingBackendError as error:
        told = str(error)
    else:
        pytest.skip("a full licence is installed")
    assert "2000 variables" in told
    assert 'backend="scip"' in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "simplex"}, "method must be one of"),
        ({"method": "cutting-plane", "backend": "cplex"}, "backend must be one of scip, highs, gurobi"),
        ({"method": "cutting-plane", "branching": "strong"}, 'branching does not apply to method="cutting-plane"'),
        ({"backend": "highs"}, 'backend does not apply to method="search"; use method="cutting-plane"'),
        ({"constraints": [pc.Exclude(0, 1)]}, 'constraints does not apply .* use method="cutting-plane"'),
        ({"root_cuts": 3}, "root_cuts does not apply"),
        ({"method": "cutting-plane", "big_m": 1.0}, 'use method="big-m"'),
        ({"method": "cutting-plane", "root_cuts": -1}, "root_cuts must be a whole number"),
        ({"method": "cutting-plane", "constraints": 3}, "sequence of constraints"),
        ({"method": "cutting-plane", "constraints": ["x"]}, "'x' is no constraint"),
        ({"method": "cutting-plane", "constraints": [pc.AtMost([0, 9], 1)]}, "names column 9"),
        ({"method": "cutting-plane", "constraints": [pc.AtMost([0, 1], -1)]}, "count must be"),
        ({"method": "cutting-plane", "constraints": [pc.AtMost(3, 1)]}, "sequence of indices"),
        ({"method": "cutting-plane", "constraints": [pc.Exclude(1)]}, "fewer than two"),
        ({"method": "cutting-plane", "constraints": [pc.Exclude(1, 1)]}, "twice"),
        ({"method": "cutting-plane", "constraints": [pc.Implies("a", "b")]}, "names column 'a'"),
        ({"method": "cutting-plane", "constraints": [pc.Linear({0: "x"})]}, "'x' is no number"),
        ({"method": "cutting-plane", "constraints": [pc.Linear([1.0, 2.0])]}, r"shape \(2,\)"),
        ({"method": "cutting-plane", "constraints": [pc.Linear({0: 1}, 2, 1)]}, "above upper"),
        ({"method": "cutting-plane", "constraints": [pc.Linear({0: np.nan})]}, "finite"),
        ({"method": "cutting-plane", "constraints": [pc.Linear({0: 1}, lower=2)]}, "no support satisfies"),
        (
            {"method": "cutting-plane", "constraints": [pc.Exclude(0, 1)], "warm_start": [0, 1]},
            "warm_start violates the constraints",
        ),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pf.InputError, match=message):
        pf.solve(np.eye(4), np.ones(4), k=2, gamma=1.0, **options)


def test_a_bound_above_the_incumbent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that claims too much is caught, not believed."""
    pytest.importorskip("pyscipopt")
    from dataclasses import replace

    backend: Any = load_backend("scip")
    honest = backend.ScipMaster.solve_lazy

    def boast(self: Any, referee: Any) -> Any:
        outcome = honest(self, referee)
        return replace(outcome, bound=1.01 * outcome.bound)

    monkeypatch.setattr(backend.ScipMaster, "solve_lazy", boast)
    case = hard_case()
    with pytest.raises(pf.NumericalError, match="above the objective"):
        pf.solve(case.X[:, :12], case.y, k=3, gamma=1.0, method="cutting-plane", **PUBLISHED)


def test_values_agree_with_the_loss() -> None:
    """The referee of this file and `loss` are independent of each other."""
    case = small_case(0)
    support = tuple(range(min(2, case.p)))
    expected = values(case.dense, case.y, case.gamma, np.array([support]))[0]
    assert pf.loss(case.X, case.y, list(support), case.gamma).value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("delta", [1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("method", ["cutting-plane", "big-m"])
def test_a_constraint_broken_by_less_than_a_solver_sees(method: str, delta: float) -> None:
    X = np.random.default_rng(0).standard_normal((20, 3))
    only = pc.Linear({0: 0.3, 1: 0.4, 2: 0.3 + delta}, lower=0.9, upper=1.0)
    with pytest.raises(pf.InputError, match="no support satisfies the constraints"):
        pf.solve(X, X[:, 0], k=3, gamma=1.0, method=method, backend="highs", constraints=only)


@pytest.mark.parametrize("rel_gap", [1e-6, 1e-4, 1e-2, 0.1])
def test_screening_keeps_the_incumbent_that_the_master_starts_from(rel_gap: float) -> None:
    rules = [pc.AtMost([0], 0), pc.Linear({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, lower=2.0)]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 6))
        y = 3 * X[:, 0] + rng.standard_normal(20)
        options: dict[str, Any] = {"k": 2, "gamma": 1e-3 if seed % 2 else 0.1, "constraints": rules}
        found = pf.solve(X, y, method="cutting-plane", backend="highs", rel_gap=rel_gap, **options)
        assert found.status == "optimal"
        best = min(pf.loss(X, y, list(pair), options["gamma"]).value for pair in combinations([1, 2, 3, 4], 2))
        assert found.lower_bound <= best * (1 + 1e-9)
        assert found.objective <= best * (1 + 1.1 * rel_gap)
