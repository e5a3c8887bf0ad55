"""Limits and Ctrl-C: wherever they strike, what comes back is valid. Nothing here asserts how long anything takes."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import parsifal as pf
import parsifal._core as _core
from parsifal.bound.ridge_loss import fit_support
from parsifal.bound.working_set import WorkingSet
from parsifal.deadline import TimeUp, limited
from parsifal.design.gram import product, stream_gram
from parsifal.problem.problem import make_problem
from parsifal.solver.reuse import Handover
from parsifal.solver.rounds import solve_root
from parsifal.solver.start import start_root

RNG = np.random.default_rng(5)
N, P = 40, 120
X = RNG.standard_normal((N, P))
Y = X[:, :6] @ np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]) + 2.0 * RNG.standard_normal(N)
GOOD = pf.solve(X, Y, 6, 1.0, node_limit=300).objective


def dask_array(path: Path) -> Any:
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(20, 60))


def file(path: Path) -> Any:
    np.save(path / "X.npy", X)
    return pf.open_design(path / "X.npy")


def standardised(path: Path) -> Any:
    return pf.design.View(pf.as_design(X), rows=np.arange(N))


KINDS: dict[str, Callable[[Path], Any]] = {
    "columns": lambda _: np.asfortranarray(X),
    "rows": lambda _: X,
    "float32": lambda _: X.astype(np.float32),
    "csr": lambda _: sp.csr_matrix(X),
    "csc": lambda _: sp.csc_matrix(X),
    "lifted": lambda _: pf.NonlinearFeatures(["x"], True).fit_design(X[:, :20]),
    "file": file,
    "dask": dask_array,
    "generated": lambda _: pf.datasets.SyntheticDesign(N, P, 6),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_read_goes_on_past_the_deadline(kind: str, tmp_path: Path) -> None:
    design = pf.as_design(KINDS[kind](tmp_path))
    reads = design.reads
    with limited(deadline=0.0):
        with pytest.raises(TimeUp):
            design.scan(Y)
        with pytest.raises(TimeUp):
            design.columns(np.arange(10))
    assert design.reads == reads
    assert design.scan(Y).xv.shape == (design.shape[1],)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [0.0, 0.02])
def test_a_limit_leaves_a_valid_answer(kind: str, limit: float, tmp_path: Path) -> None:
    matrix = KINDS[kind](tmp_path)
    solution = pf.solve(matrix, Y, 6, 1.0, time_limit=limit, warm_start=[0, 1])
    if limit == 0.0:
        assert solution.status == "time_limit"
    assert solution.objective <= pf.solve(matrix, Y, 2, 1.0, force_in=[0, 1]).objective * (1 + 1e-9)
    assert solution.lower_bound <= solution.objective
    if kind in ("columns", "rows", "csr", "csc", "file", "dask"):
        assert solution.lower_bound <= GOOD
    certificate = solution.certificate
    assert certificate is not None
    if certificate.complete:
        assert bool(pf.check(certificate, pf.as_design(matrix), Y))
    else:
        # Not one read was finished: then the claim is what is known without any.
        assert solution.lower_bound == 0


def test_products_end_with_the_time() -> None:
    with limited(deadline=0.0):
        for call in (
            lambda: product(X, X),
            lambda: stream_gram(pf.as_design(X), np.arange(3), np.arange(3, 9), Y),
        ):
            with pytest.raises(TimeUp):
                call()
    gram = np.asfortranarray(X.T @ X)
    keep = [5, 3, 100]
    assert np.array_equal(_core.submatrix(gram, keep), gram[np.ix_(keep, keep)])
    with pytest.raises(ValueError, match="out of range"):
        _core.submatrix(gram, [P])
    with pytest.raises(TimeUp):
        _core.submatrix(gram, keep, 1, 0.0)


def test_compiled_verbs_hand_back_what_they_have() -> None:
    gram = np.asfortranarray(X.T @ X)
    fix, zero = np.zeros(P, dtype=np.int8), np.zeros(P)
    rounding = _core.Rounding(
        norm=np.linalg.norm(X, axis=0), unit=1e-14, error=1e-14, base=1e-14, drift=1e-14, reach=float(np.linalg.norm(Y))
    )
    problem = _core.Quadratic(
        gram=gram, v0=zero, beta0=X.T @ Y, ls0=0.5 * float(Y @ Y), gamma=1.0, penalty=0.0, k=6, rounding=rounding
    )
    r = _core.relax(problem, fix=fix, start=zero, cutoff=np.inf, tolerance=1e-9, max_solves=1000, seconds=0.0)
    beta = X.T @ (Y - X @ r["best_v"])
    # D at its point, from the definition.
    alpha = Y - X @ r["best_v"]
    value = Y @ alpha - 0.5 * alpha @ alpha - 0.5 * np.sort(beta**2)[-6:].sum()
    assert r["bound"] == pytest.approx(value)
    assert r["bound"] <= GOOD
    support, found = _core.local_search(problem, fix=fix, support=[3, 7], greedy=False, max_moves=100, seconds=0.0)
    assert sorted(support) == [3, 7]
    assert found == pytest.approx(pf.solve(X, Y, 2, 1.0, force_in=[3, 7]).objective)
    best, found = _core.restarts(problem, fix=fix, s=np.ones(P), count=50, seconds=0.0)
    assert len(best) <= 6
    assert found >= GOOD * (1 - 1e-9)
    small = np.asfortranarray(X[:, :20].T @ X[:, :20])
    d = _core.tightening(small, np.ones(20), max_newton=60, unit=1e-14, gamma=1.0, seconds=0.0)
    assert np.linalg.eigvalsh(small - np.diag(d))[0] >= -1e-9


def test_a_round_cut_short_leaves_the_working_set_as_it_was() -> None:
    problem = make_problem(X, Y, k=6, gamma=1.0)
    work = WorkingSet(problem)
    work.add(np.arange(30))
    first = work.round(problem.fix, 1e-3)
    before = (work.v.copy(), work.alpha.copy(), work.beta.copy(), work.index.copy())
    with limited(deadline=0.0):
        with pytest.raises(TimeUp):
            work.round(problem.fix, 1e-9)
        with pytest.raises(TimeUp):
            work.add(np.arange(30, 40))
    assert all(np.array_equal(a, b) for a, b in zip(before, (work.v, work.alpha, work.beta, work.index)))
    assert np.allclose(X[:, :30].T @ work.alpha, work.beta)
    assert work.round(problem.fix, 1e-9).point.bound >= first.point.bound - 1e-9


def test_a_first_read_that_takes_less_than_was_kept_for_it_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    # A design made while it is read looks larger than it is slow: most of the limit is kept for its first read.
    monkeypatch.setattr("parsifal.bound.working_set._BYTES_A_SECOND", 1.0)
    data = pf.datasets.make_sparse_regression(200, 6000, 8, random_state=0)
    for limit in (0.5, 60.0):
        solution = pf.solve(data.X, data.y, 8, 0.1, time_limit=limit, memory_limit=1e6)
        assert solution.lower_bound > 0
    assert solution.status == "optimal"


@pytest.mark.parametrize("where", range(1, 12))
def test_whatever_ends_the_root_its_bound_has_a_record(where: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ctrl-C at the so-manieth call of a function that every round passes through.
    problem = make_problem(X, Y, k=6, gamma=1.0)
    root = start_root(problem, rel_gap=1e-6)
    calls = 0

    def pressed(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == where:
            raise KeyboardInterrupt
        return fit(*args, **kwargs)

    fit = fit_support
    monkeypatch.setattr("parsifal.solver.reduce.fit_support", pressed)
    handover = Handover()
    try:
        solve_root(root, handover=handover)
    except KeyboardInterrupt:
        assert root.largest_square > 0
    assert root.lower_bound <= GOOD
    assert root.steps
    assert root.lower_bound > 0


@pytest.mark.parametrize("call", [pf.path, pf.k_best])
def test_lists_within_a_limit(call: Callable[..., Any]) -> None:
    options = {"ks": range(1, 7)} if call is pf.path else {"k": 4, "count": 5}
    for limit in (0.0, 0.05):
        found = call(X, Y, gamma=1.0, time_limit=limit, **options)
        assert len(found) >= 1
        if call is pf.path:
            assert len(found) == 6
            assert all(s.lower_bound <= s.objective for s in found)
            exact = pf.solve(X, Y, 2, 1.0)
            assert found[1].lower_bound <= exact.objective * (1 + 1e-9)
            assert found[1].objective >= exact.objective * (1 - 1e-6)


@pytest.mark.parametrize("backend", ["scip", "highs", "gurobi"])
@pytest.mark.parametrize("method", ["cutting-plane", "big-m"])
def test_cutting_planes_within_a_limit(backend: str, method: Any) -> None:
    pytest.importorskip({"scip": "pyscipopt", "highs": "highspy", "gurobi": "gurobipy"}[backend])
    for limit in (0.0, 0.05):
        solution = pf.solve(X, Y, 6, 1.0, method=method, backend=backend, time_limit=limit)
        if limit == 0.0:
            assert solution.status == "time_limit"
        assert solution.lower_bound <= GOOD * (1 + 1e-6)
        assert solution.lower_bound <= solution.objective


def test_kernels_within_a_limit() -> None:
    kernels = [np.outer(X[:, j], X[:, j]) + np.outer(X[:, j + 20], X[:, j + 20]) for j in range(20)]
    exact = pf.solve_kernels(kernels, Y, 3, 1.0)
    for limit in (0.0, 0.01):
        found = pf.solve_kernels(kernels, Y, 3, 1.0, time_limit=limit)
        if limit == 0.0:
            assert found.status == "time_limit"
        assert found.lower_bound <= exact.objective * (1 + 1e-9)
        assert found.objective >= exact.objective * (1 - 1e-6)


def test_little_memory_changes_the_order_not_the_answer() -> None:
    plenty = pf.solve(X[:, :60], Y, 4, 1.0, threads=1)
    scarce = pf.solve(X[:, :60], Y, 4, 1.0, threads=1, memory_limit=0)
    assert plenty.status == scarce.status == "optimal"
    assert np.array_equal(plenty.support, scarce.support)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("a read", "design.scan(design.y)"),
        ("a product", "[_core.gram(wide, wide, 2) for _ in range(10**6)]"),
        ("the relaxation", "pf.relax(design, design.y, 20, 10.0)"),
    ],
)
def test_ctrl_c_is_heard_in_the_core(name: str, call: str) -> None:
    script = """
    import _thread, threading, numpy as np, parsifal as pf, parsifal._core as _core
    design = pf.datasets.SyntheticDesign(2_000_000, 20_000, 5)
    wide = np.asfortranarray(np.ones((50, 20_000)))
    import os, signal
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        CALL
    except KeyboardInterrupt:
        print("heard")
    """
    assert in_a_process(script.replace("CALL", call)) == "heard"


@pytest.mark.parametrize(
    "options",
    [
        "k=12, gamma=1.0",
        "k=12, gamma=1.0, threads=1",
        "penalty=0.5, gamma=1.0",
        "k=12, gamma=np.inf",
        "k=12, gamma=np.inf, threads=1",
        "k=12, gamma=1.0, method='cutting-plane', backend='scip'",
        "k=12, gamma=1.0, method='cutting-plane', backend='highs'",
        "k=12, gamma=1.0, method='cutting-plane', backend='gurobi'",
    ],
)
def test_ctrl_c_leaves_the_best_so_far(options: str) -> None:
    script = """
    import os, signal, threading, time, numpy as np, parsifal as pf
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 900))
    y = X[:, :12].sum(axis=1) + 2.0 * rng.standard_normal(60)
    begun = []
    def press_soon(_):
        # Once the solve is under way: before, imports of a backend can take longer than anything.
        if not begun:
            begun.append(threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)))
            begun[0].start()
    sol = pf.solve(X, y, OPTIONS, progress=press_soon)
    ok = sol.lower_bound <= sol.objective and sol.coef.shape == (900,)
    if sol.certificate is not None and sol.certificate.complete:
        ok = ok and bool(pf.check(sol.certificate, X, y))
    print(sol.status, ok)
    """
    # Gurobi says something of its own first.
    assert in_a_process(script.replace("OPTIONS", options)).splitlines()[-1] == "interrupted True"


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.4, 0.8])
def test_completions_cut_short_leave_a_valid_answer(limit: float) -> None:
    """In the table of correlations, in the first node or later: what was not gone through stays open."""
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((60, 1200)) + rng.standard_normal((60, 1))
    y = wide[:, :6].sum(axis=1) + 3.0 * rng.standard_normal(60)
    seen: list[pf.Progress] = []
    sol = pf.solve(wide, y, 6, np.inf, time_limit=limit, threads=2, progress=seen.append)
    assert sol.status == "time_limit"
    assert 0 <= sol.lower_bound <= sol.objective
    assert sol.certificate is not None
    # Without a ridge an open node proves nothing: the claim has to be what a check finds.
    assert sol.lower_bound == 0
    assert pf.check(sol.certificate, wide, y)


def test_progress_goes_on_while_completions_are_gone_through() -> None:
    """One node takes seconds: the caller is asked between nodes and during them, and what it raises is heard."""
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((60, 500)) + rng.standard_normal((60, 1))
    y = wide[:, :8].sum(axis=1) + 3.0 * rng.standard_normal(60)
    seen: list[pf.Progress] = []

    def enough(now: pf.Progress) -> None:
        seen.append(now)
        if len(seen) == 6:
            raise KeyboardInterrupt

    sol = pf.solve(wide, y, 8, np.inf, threads=1, progress=enough)
    assert sol.status == "interrupted"
    assert len(seen) == 6


def in_a_process(script: str) -> str:
    """Run a script; one that does not end is killed, and fails."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        watchdog = threading.Timer(240, child.kill)
        watchdog.start()
        out, err = child.communicate()
        watchdog.cancel()
    assert child.returncode == 0, err
    return out.strip().splitlines()[-1]  # a solver may have written before


@pytest.mark.parametrize(
    "where",
    ["parsifal.solver.tree.twins", "parsifal.solver.tree.SearchResult", "parsifal.solver.funnel.make_certificate"],
)
def test_ctrl_c_around_the_search_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Between the root and the compiled search, after it, and while the answer is put together."""
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((40, 80)), rng.standard_normal(40)
    module, _, name = where.rpartition(".")
    original, calls = getattr(importlib.import_module(module), name), []

    def pressed(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(*args, **options)

    monkeypatch.setattr(where, pressed)
    sol = pf.solve(A, b, k=8, gamma=1.0, node_limit=50)
    assert calls
    assert sol.status == "interrupted"
    assert sol.lower_bound <= sol.objective
    assert pf.check(sol.certificate, A, b)
