"""Survivors that are held as columns: the same answers as from a Gram matrix, within the memory, for every wish."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parsifal as pf
import parsifal._core as core
import parsifal.solver.reduce as reducing
import parsifal.solver.rounds as rounds
from benchmarks.speed.wide import blocks
from parsifal.bound.held import DistantColumns, HeldColumns, gather_columns
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.design import as_design
from parsifal.solver import funnel
from parsifal.solver.record import make_certificate
from parsifal.solver.tree import twins

GAMMA = 0.15


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are held however few they are; a search on more than 300 of them is on working sets."""
    _hold(monkeypatch)


def _hold(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_ALWAYS_FEW", "_FEW_COLUMNS", "_COLUMNS_A_ROW"):
        monkeypatch.setattr(reducing, name, 0)
    asked: Any = SimpleNamespace(n=60, gamma=GAMMA)
    assert not reducing.gram_pays(asked, 301, 2e9)


def _data(seed: int, n: int = 60, p: int = 700, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    return blocks(n, p, k, 2.5, seed)


# A column forced in leaves a thousand exhausted records to check: on fewer columns, and once.
@pytest.mark.parametrize(
    ("seed", "p", "wish"),
    [(seed, 700, wish) for seed in range(3) for wish in ({}, {"penalty": 1.5}, {"force_out": [7, 8]})]
    + [(1, 320, {"force_in": [3], "force_out": [7, 8]})],
    ids=str,
)
def test_answers_are_those_of_the_gram_matrix(
    seed: int, p: int, wish: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = _data(seed, p=p)
    plain = pf.solve(X, y, k=4, gamma=GAMMA, threads=1, **wish)
    _hold(monkeypatch)
    sol = pf.solve(X, y, k=4, gamma=GAMMA, threads=1, **wish)
    assert plain.status == sol.status == "optimal"
    assert sol.stats["nodes"] > 0
    assert sol.objective == pytest.approx(plain.objective, rel=1e-6)
    assert pf.check(sol.certificate, X, y)


def test_a_proof_holds_in_exact_arithmetic(held: None) -> None:
    X, y = _data(5, n=40, p=400, k=3)
    sol = pf.solve(X, y, k=3, gamma=GAMMA, threads=1)
    assert sol.status == "optimal"
    assert sol.stats["nodes"] > 0
    assert pf.check(sol.certificate, X, y, exact=True)


@pytest.mark.parametrize("scale", [1e-120, 1e-5, 1e5, 1e70])
def test_units_change_nothing(held: None, scale: float) -> None:
    X, y = _data(1, n=40, p=400, k=3)
    plain = pf.solve(X, y, k=3, gamma=GAMMA, threads=1)
    sol = pf.solve(X, scale * y, k=3, gamma=GAMMA, threads=1)
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, plain.support)
    assert sol.objective == pytest.approx(scale**2 * plain.objective, rel=1e-6)


def test_columns_of_very_different_sizes(held: None) -> None:
    X, y = _data(2, n=40, p=400, k=3)
    X = X * np.exp(np.random.default_rng(0).normal(0, 3, X.shape[1]))
    X[0, 5] = 1e4  # one large entry leaves little for the others to be seen by
    sol = pf.solve(X, y, k=3, gamma=GAMMA, threads=1, node_limit=200)
    assert pf.check(sol.certificate, X, y)


def test_repeatable_with_one_thread(held: None) -> None:
    X, y = _data(3)
    first, second = (pf.solve(X, y, k=4, gamma=GAMMA, threads=1, node_limit=40) for _ in range(2))
    assert first.lower_bound == second.lower_bound
    assert first.stats["linear_systems"] == second.stats["linear_systems"]


def test_two_certificates_of_one_search_are_the_same(held: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a second look at the last digits: the names of columns are not put in the places of names."""
    made: list[pf.Certificate] = []

    def twice(*args: Any) -> pf.Certificate:
        made.extend(make_certificate(*args) for _ in range(2))
        return made[-1]

    monkeypatch.setattr(funnel, "make_certificate", twice)
    X, y = _data(0, p=500)
    sol = pf.solve(X, y, k=4, gamma=GAMMA, threads=1, force_out=[0, 1, 2], node_limit=60)
    first, second = made
    assert np.any(first.fixed_column != 0)
    assert first.coef_index.size > 0
    for name in ("coef_index", "fixed_column", "column", "frame_column"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert pf.check(sol.certificate, X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("order", "forced"), [("F", False), ("C", False), ("F", True)])
def test_columns_are_held_where_they_lie(
    held: None, dtype: type, order: str, forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place if they lie one after the other and all survive, otherwise as a copy; the answer is the same."""
    seen: list[reducing.Reduced] = []

    def hold(*args: Any, **options: Any) -> reducing.Reduced:
        seen.append(reducing.hold(*args, **options))
        return seen[-1]

    monkeypatch.setattr(rounds, "hold", hold)
    X, y = blocks(40, 320, 4, 1.0, 6, dtype)
    X = np.array(X, order=order)
    X.flags.writeable = False
    sol = pf.solve(X, y, k=4, gamma=GAMMA, threads=1, node_limit=5, force_out=[7] if forced else [])
    survivors = seen[-1].survivors
    assert isinstance(survivors, HeldColumns)
    in_place = order == "F" and survivors.size == X.shape[1]
    assert in_place == (order == "F" and not forced)
    assert survivors.own == (not in_place) == (not np.shares_memory(survivors.columns, X))
    assert survivors.nbytes - int(survivors.cache) == survivors.columns.size * (1 + X.itemsize * survivors.own)
    assert pf.check(sol.certificate, X, y)


def test_equal_columns_are_found(held: None) -> None:
    X, y = _data(4, n=40, p=400, k=3)
    support = pf.solve(X, y, k=3, gamma=GAMMA, threads=1).support
    X = np.concatenate([X, X[:, support[:1]], -X[:, support[1:2]]], axis=1)
    sol = pf.solve(X, y, k=3, gamma=GAMMA, threads=1)
    assert sol.status == "optimal"
    assert pf.check(sol.certificate, X, y)
    problem = type("P", (), {"fix": np.zeros(402, dtype=np.int8), "rules": None})
    columns = HeldColumns(columns=np.asfortranarray(X), y=y, gamma=GAMMA, penalty=0.0, k=3, cache=1e6)
    reduced = reducing.Reduced(
        problem=problem, index=np.arange(402), fix=np.zeros(402, dtype=np.int8), survivors=columns
    )
    found = twins(reduced)
    assert found[400] == support[0]
    assert found[401] == support[1]
    assert np.count_nonzero(found >= 0) == 2


@pytest.mark.parametrize("cache", [0.0, 2e4, 1e8], ids=["none", "some", "all"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_local_search_on_columns(cache: float, dtype: type) -> None:
    """Whatever room there is for products, moves are priced as by the whole Gram matrix."""
    X, y = blocks(50, 300, 4, 2.0, 1, dtype)
    wide = X.astype(np.float64)
    gram = np.asfortranarray(wide.T @ wide)
    rounding = Rounding(norm=np.sqrt(np.diag(gram)), unit=sum_unit(50), error=0, base=0, drift=0, reach=0)
    zero = np.zeros(300)
    whole = Quadratic(
        gram=gram, v0=zero, beta0=wide.T @ y, ls0=0.5 * y @ y, gamma=0.2, penalty=0.0, k=4, rounding=rounding
    )
    some = HeldColumns(columns=X, y=y, gamma=0.2, penalty=0.0, k=4, cache=cache)
    fix = np.zeros(300, dtype=np.int8)
    fix[17] = -1
    for start in ([], [0, 50, 100, 150], [299]):
        support, value = whole.local_search(fix, np.array(start, dtype=np.int64), greedy=True)
        found, same = some.local_search(fix, np.array(start, dtype=np.int64), greedy=True)
        assert np.array_equal(found, support)
        assert same == pytest.approx(value, rel=1e-10)


def test_storage_is_kept() -> None:
    random = np.random.default_rng(0)
    single = random.standard_normal((20, 30)).astype(np.float32)
    index = np.array([2, 5, 29])
    assert gather_columns(as_design(single), index).dtype == np.float32
    double = single.astype(np.float64)
    assert gather_columns(as_design(double), index).dtype == np.float32
    double[3, 29] += 1e-12
    held = gather_columns(as_design(double), index)
    assert held.dtype == np.float64
    assert held.flags.f_contiguous
    np.testing.assert_array_equal(held, double[:, index])


def test_the_search_goes_on_from_a_checkpoint(held: None, tmp_path: Path) -> None:
    X, y = _data(6)
    kw: dict[str, Any] = {"k": 4, "gamma": GAMMA, "threads": 1}
    whole = pf.solve(X, y, **kw)
    file = tmp_path / "state.npz"
    part = pf.solve(X, y, checkpoint=file, node_limit=5, **kw)
    assert part.status == "node_limit"
    rest = pf.solve(X, y, checkpoint=file, **kw)
    assert rest.status == "optimal"
    assert rest.objective == pytest.approx(whole.objective, rel=1e-6)
    assert pf.check(rest.certificate, X, y)
    other = X.copy()
    other[0, 0] += 1.0
    with pytest.raises(pf.InputError, match="made from another X"):
        pf.solve(other, y, checkpoint=file, **kw)


_WITHIN_LIMIT = """
import resource
import numpy as np
import parsifal as pf
from benchmarks.guards.memory import peak_increase
from benchmarks.speed.wide import blocks

X, y = blocks(60, 12_000, 5, 2.0, 0)
pf.solve(X[:, :100], y, k=2, gamma=0.1)
found = []
grown = peak_increase(lambda: found.append(
    pf.solve(X, y, k=5, gamma=0.1, threads=2, node_limit=150, memory_limit=100e6, certificate_limit=0)))
print(grown, found[0].status, found[0].stats["nodes"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_limit_holds_where_a_gram_matrix_would_not_fit() -> None:
    """8 m^2 bytes would be 1.2 GB; the limit is 100 MB, and the search runs all the same."""
    run = subprocess.run([sys.executable, "-c", _WITHIN_LIMIT], capture_output=True, text=True, timeout=300, check=True)
    grown, status, nodes = run.stdout.split()
    assert status == "node_limit"
    assert int(nodes) == 150
    assert int(grown) < 100e6


_FROM_A_FILE = """
import sys
import numpy as np
import parsifal as pf
from benchmarks.guards.memory import peak_increase
from benchmarks.speed.wide import blocks

path, limit, nodes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
X, y = blocks(150, 20_000, 8, 2.0, 0)
np.save(path, X)
del X
pf.solve(np.random.default_rng(0).standard_normal((30, 40)), np.ones(30), k=2, gamma=0.1)
design = pf.open_design(path, memory_limit=8e6)
found = []
grown = peak_increase(lambda: found.append(pf.solve(
    design, y, k=8, gamma=0.08, threads=2, node_limit=nodes, memory_limit=limit, certificate_limit=0)))
sol = found[0]
print(grown, sol.status, sol.stats["nodes"], sol.stats["columns_left"], sol.lower_bound > sol.stats["root_bound"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("limit", "most"), [(20e6, 2), (60e6, 6)], ids=["some copies", "all copies"])
def test_a_file_whose_survivors_do_not_fit_is_searched(limit: float, most: int, tmp_path: Path) -> None:
    """X has 24 MB and every column survives: whatever the limit, there is a search, and the bound rises."""
    run = subprocess.run(
        [sys.executable, "-c", _FROM_A_FILE, str(tmp_path / "x.npy"), str(limit), str(most)],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    grown, status, nodes, left, raised = run.stdout.split()
    assert (status, int(nodes), int(left), raised) == ("node_limit", most, 20_000, "True")
    # Below some 64 MB the numbers that a search keeps for each column are more than the limit.
    assert int(grown) < max(limit, 60e6)


@pytest.mark.parametrize("copies", [0.0, 0.3])
def test_columns_without_a_copy_are_bounded_by_a_reference(
    copies: float, held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even coarse copies of all columns: the proof is over all of them all the same."""
    X, y = _data(3, n=40, p=400, k=3)
    whole = pf.solve(X, y, k=3, gamma=GAMMA, threads=2)
    monkeypatch.setattr(reducing, "held_bytes", lambda *_, **__: np.inf)
    monkeypatch.setattr(reducing, "room", lambda limit: 400 * 40 * copies / reducing._COPIES_SHARE + 1)
    monkeypatch.setattr(reducing, "search_bytes", lambda *_, **__: 0.0)
    sol = pf.solve(X, y, k=3, gamma=GAMMA, threads=2)
    assert sol.status == "optimal"
    assert sol.stats["nodes"] > 0
    assert sol.objective == pytest.approx(whole.objective, rel=1e-6)
    assert pf.check(sol.certificate, X, y)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e60])
def test_bounds_from_a_far_reference_stay_below_the_optimum(scale: float) -> None:
    """Half of the columns have no copy, and the reference is no dual point: bounds are bounds all the same."""
    random = np.random.default_rng(0)
    X, y = _data(7, n=30, p=400, k=3)
    X = X * scale
    X[:, 11] = 0.0
    design = as_design(X)
    fix = np.zeros(400, dtype=np.int8)
    copied = (random.random(400) < 0.5).astype(np.int8)
    gamma = GAMMA / scale**2
    plain = pf.solve(X, y, k=3, gamma=gamma, threads=1)
    far = DistantColumns(
        design=design, index=np.arange(400), copied=copied, reference=y * 1.5, y=y, gamma=gamma, penalty=0.0, k=3,
        kept=1e4, cache=1e5,
    )  # fmt: skip
    found = core.search(
        far.compiled, fix=fix, w=np.zeros(400), diagonal=np.zeros(400), twin=[-1] * 400,
        objective=plain.objective * 1.01,
        options=core.SearchOptions(node_limit=30, completions=False, dive=0.0),
    )  # fmt: skip
    assert found["lower_bound"] <= plain.objective * (1 + 1e-9)
    assert found["lower_bound"] > 0.1 * plain.objective


def test_columns_that_do_not_fit_are_read_when_they_are_needed(held: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse copy prices the nodes; the bound is over all columns, and the proof holds for X."""
    X, y = _data(3, n=40, p=400, k=3)
    whole = pf.solve(X, y, k=3, gamma=GAMMA, threads=2)
    monkeypatch.setattr(reducing, "held_bytes", lambda *_, **__: np.inf)
    sol = pf.solve(X, y, k=3, gamma=GAMMA, threads=2)
    assert sol.status == "optimal"
    assert sol.stats["nodes"] > 0
    assert sol.objective == pytest.approx(whole.objective, rel=1e-6)
    assert pf.check(sol.certificate, X, y)


def test_bound_and_objective_improve_all_along(held: None) -> None:
    """From the first snapshots on there are an incumbent and a bound, and neither ever gets worse."""
    X, y = blocks(60, 3000, 5, 2.0, 1)
    history = pf.History()
    sol = pf.solve(X, y, k=5, gamma=GAMMA, threads=2, node_limit=300, progress=history)
    assert sol.status == "node_limit"
    root = [snapshot for snapshot in history if snapshot.nodes == 0]
    assert np.isfinite(root[0].objective)
    assert root[-1].lower_bound > 0
    later = [snapshot for snapshot in history if snapshot.nodes > 0]
    assert len(later) > 1
    assert all(a.objective >= b.objective for a, b in itertools.pairwise(history))
    assert all(a.lower_bound <= b.lower_bound + 1e-9 * sol.objective for a, b in itertools.pairwise(history))
    assert later[-1].lower_bound > root[-1].lower_bound
