"""The cutting planes against enumeration and the search, on every installed backend."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from cuts.cases import PUBLISHED, check, check_valid, constrained, each_backend, hard_case, small_case
from oracles.enumeration import Case, values
from parsifal import constraints as pc
from parsifal.cuts.master import BACKENDS, load_backend


@each_backend
@pytest.mark.parametrize("block", range(2))
def test_against_enumeration_and_the_search(backend: str, block: int) -> None:
    """Every problem by one of the backends, so that each has its own sixty."""
    first = 30 * (2 * list(BACKENDS).index(backend) + block)
    for seed in range(first, first + 30):
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


@each_backend
def test_constraints_against_enumeration(backend: str) -> None:
    first = 12 * list(BACKENDS).index(backend)
    for seed in range(first, first + 12):
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


# Big-M


@each_backend
def test_big_m_against_enumeration(backend: str) -> None:
    for seed in range(7):
        case = small_case(seed)
        try:
            solution = pf.solve(case.X, case.y, method="big-m", backend=backend, threads=1, **case.options)
            check(case, solution, case.optimum()[0])
        except Exception as error:
            raise AssertionError(f"seed {seed}: {case}") from error
    for seed in {"scip": (1, 3, 5), "highs": (0, 3, 4), "gurobi": range(8)}[backend]:  # those that take no seconds
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
