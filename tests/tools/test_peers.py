"""The benchmark suite: mappings on enumerable problems, the referee, the store, the workers, a smoke run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from benchmarks.peers import cases, figures, leaps_tables, referee, runner, scalings, widedata
from benchmarks.peers.environments import ENVIRONMENTS, PINS, find_python, missing
from benchmarks.peers.outcomes import Ratio, findings, middle, outcomes
from benchmarks.peers.report import write
from benchmarks.peers.runner import Crew
from benchmarks.peers.session import Session, Settings
from benchmarks.peers.solvers import SOLVERS, Job
from benchmarks.peers.solvers.logs import bound_lines, pybnb_lines
from benchmarks.peers.store import Store

ROOT = Path(__file__).parents[2]
GAMMA = 0.2


def small(seed: int = 0, n: int = 30, p: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p))
    return X, X[:, 0] - 2 * X[:, 2] + 0.7 * X[:, 3] + 0.5 * rng.standard_normal(n) + 0.4


def fit(X: np.ndarray, y: np.ndarray, support: tuple[int, ...], gamma: float = GAMMA) -> np.ndarray:
    """The ridge fit by its normal equations, with zeros elsewhere."""
    w, at = np.zeros(X.shape[1]), list(support)
    w[at] = np.linalg.solve(X[:, at].T @ X[:, at] + np.eye(len(at)) / gamma, X[:, at].T @ y)
    return w


def paper(X: np.ndarray, y: np.ndarray, w: np.ndarray, gamma: float = GAMMA) -> float:
    return 0.5 * float(np.sum((y - X @ w) ** 2)) + float(w @ w) / (2 * gamma)


def supports(p: int, largest: int) -> list[tuple[int, ...]]:
    return [s for size in range(largest + 1) for s in combinations(range(p), size)]


# --- scalings -------------------------------------------------------------------------------------------------------


def test_peers_objectives_are_the_papers_on_our_scale() -> None:
    X, y = small()
    rng = np.random.default_rng(1)
    for _ in range(20):
        w = rng.standard_normal(7) * rng.integers(0, 2, 7)
        size, residual = np.count_nonzero(w), y - X @ w
        c = paper(X, y, w)
        half = scalings.half_ridge(GAMMA)
        l0bnb = 0.5 * float(residual @ residual) + 0.3 * size + half * float(w @ w)  # and el0ps
        assert l0bnb == pytest.approx(c + 0.3 * size)
        okridge = float(residual @ residual) - float(y @ y) + float(w @ w) / GAMMA
        assert scalings.okridge_value(okridge, y) == pytest.approx(c)
        rows, response = scalings.augmented(X, y, GAMMA)
        assert 0.5 * float(np.sum((response - rows @ w) ** 2)) == pytest.approx(c)


def test_l0learns_ridge_is_exact_for_columns_of_equal_norm() -> None:
    X, y = small()
    X = 3.0 * X / np.linalg.norm(X, axis=0)
    ridge = scalings.l0learn_ridge(X, GAMMA)
    for support in supports(7, 3):
        w = fit(X, y, support)
        b = 3.0 * w
        theirs = 0.5 * float(np.sum((y - X / 3.0 @ b) ** 2)) + ridge * float(b @ b)
        assert theirs == pytest.approx(paper(X, y, w))


def test_gaps_come_to_the_same() -> None:
    _, y = small()
    half_yy = 0.5 * float(y @ y)
    for c in (0.02 * half_yy, 0.9 * half_yy):
        bound = c * (1 - 1e-4)
        theirs = [2 * v - 2 * half_yy for v in (c, bound)]
        assert (theirs[0] - theirs[1]) / abs(theirs[0]) == pytest.approx(scalings.okridge_gap(1e-4, c, y))
    for c in (0.01, 50.0):
        assert (c - c * (1 - 1e-4)) / max(1.0, c) == pytest.approx(scalings.el0ps_gap(1e-4, c))


@pytest.mark.parametrize("seed", range(4))
def test_the_price_of_k_columns_buys_k_columns(seed: int) -> None:
    X, y = small(seed)
    values = {s: referee.ridge_value(X, y, s, GAMMA) for s in supports(7, 7)}
    best = [min(v for s, v in values.items() if len(s) == size) for size in range(8)]
    checked = 0
    for k in range(1, 7):
        if best[k - 1] - best[k] <= best[k] - best[k + 1]:
            continue  # not convex there: no penalty gives k columns
        penalty = scalings.price(best[k - 1], best[k], best[k + 1])
        chosen = min(values, key=lambda s: values[s] + penalty * len(s))
        # Convex at k is not convex everywhere; the answer has k columns or is better than every support of k columns.
        assert len(chosen) == k or values[chosen] + penalty * len(chosen) < best[k] + penalty * k
        sol = pf.solve(X, y, penalty=penalty, gamma=GAMMA)
        assert sol.objective == pytest.approx(values[chosen] + penalty * len(chosen))
        checked += len(chosen) == k
    assert checked >= 2


def test_supports_of_a_path() -> None:
    X = np.array([[1.0, 0, 0, 0], [0, 10.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    path = np.array([[0, 1, 1, 3], [0, 0, 0, 1.0], [0, 0, 2, 2], [0, 0, 0, 0.5]])
    # The last point has four columns; 10 * 1 and 1 * 3 are its largest.
    assert scalings.from_path(X, path, 2) == [[0], [0, 2], [0, 1]]


# --- the referee ----------------------------------------------------------------------------------------------------


def test_referee_values_and_bounds() -> None:
    X, y = small()
    values = {s: referee.ridge_value(X, y, s, GAMMA) for s in supports(7, 7)}
    for support, value in values.items():
        assert value == pytest.approx(paper(X, y, fit(X, y, support)))
    optimum = min(v for s, v in values.items() if len(s) <= 3)
    assert pf.solve(X, y, k=3, gamma=GAMMA).objective == pytest.approx(optimum)
    penalised = min(v + 0.8 * len(s) for s, v in values.items())
    rng = np.random.default_rng(2)
    for support in supports(7, 3):
        alpha = y - X @ fit(X, y, support) + 0.1 * rng.standard_normal(30)
        assert referee.dual_value(X, y, alpha, 3, GAMMA) <= optimum + 1e-9
        assert referee.dual_value(X, y, alpha, None, GAMMA, 0.8) <= penalised + 1e-9
    value, support = referee.best_support(X, y, [[0], [2, 0, 3], [0, 1, 2, 3]], k=3, gamma=GAMMA, penalty=0.0)
    assert support == (0, 2, 3)
    assert value == pytest.approx(values[0, 2, 3])


def answer(objective: float | None, **more: Any) -> dict[str, Any]:
    return {"objective": objective, "support": [1], "claim": True, "rel_gap": 1e-4, "lower_bound": None, **more}


def test_referee_refutes() -> None:
    judged = referee.judge(
        {
            "best": answer(10.0, lower_bound=9.9999, certificate="valid, 3 records"),
            "close": answer(10.0009),
            "wrong": answer(10.01),
            "no claim": answer(11.0, claim=False),
            "bound": answer(11.0, claim=False, lower_bound=10.5),
            "certificate": answer(10.0, certificate="INVALID: record 3"),
            "nothing": answer(None, claim=False, error="killed"),
        },
        half_yy=50.0,
    )
    assert {name for name, v in judged.items() if v.verdict.startswith("WRONG")} == {"wrong", "bound", "certificate"}
    assert {name for name, v in judged.items() if v.proven} == {"best", "close"}
    assert judged["no claim"].verdict == "unproven"
    assert judged["nothing"].verdict == "no answer: killed"


# --- rows, ratios, reports ------------------------------------------------------------------------------------------


def test_store_survives_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    store = Store(file)
    store.add("problem", case="a", seed=0, form="k")
    store.add("answer", case="a", seed=0, form="k", solver="parsifal", seconds=1.0)
    with file.open("ab") as handle:
        handle.write(b'{"row": "answer", "case": "a", "se')
    again = Store(file)
    assert again.rows == store.rows
    again.add("answer", case="a", seed=0, form="k", solver="lasso", seconds=2.0)
    assert [json.loads(line)["row"] for line in file.read_text(encoding="utf-8").splitlines()] == [
        "problem",
        "answer",
        "answer",
    ]
    assert set(again.answers()["a", 0, "k"]) == {"parsifal", "lasso"}


def test_ratios_say_what_is_only_a_bound(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.jsonl")
    rows = [
        ("fast", "parsifal", 0.5, True, 10.0),
        ("fast", "okridge", 5.0, True, 10.0),
        ("fast", "abess", 0.1, False, 9.0),
        ("stopped", "parsifal", 0.5, True, 10.0),
        ("stopped", "okridge", 8.0, False, 11.0),
        ("behind", "parsifal", 8.0, False, 10.0),
        ("behind", "okridge", 2.0, True, 10.0),
    ]
    for case in ("fast", "stopped", "behind"):
        store.add("problem", case=case, seed=0, form="k", half_yy=50.0, time_limit=8.0, label="", group="")
    for solver in ("parsifal", "okridge", "abess"):
        store.add("start", solver=solver, latency=1.0, version="1")
    for case, solver, seconds, claim, objective in rows:
        more = {"seconds": seconds, "status": "", "error": None, "nodes": 1, "memory": 1, "load": 0.0}
        store.add("answer", case=case, seed=0, form="k", solver=solver, **answer(objective, claim=claim), **more)
    judged = outcomes(store)
    text = write(store, tmp_path).read_text(encoding="utf-8")
    assert "| fast | 0.5000 | 0/1 | **WRONG** |" in text  # abess has refuted both
    assert "| stopped | 0.5000 | 1/1 | >16 |" in text
    assert "| behind | 8.00 | 0/1 | **<0.25** |" in text
    told = [str(finding) for finding in findings(judged)]
    assert any(line.startswith("fast seed 0, k: abess has the better support, 9 against 10") for line in told)
    assert any("okridge has its proof in 2.0000 s" in line for line in told)
    assert str(middle([Ratio(value=2.0), Ratio(value=16.0, sign=">"), Ratio(value=30.0)])) == ">16"
    # The first may be anything above 2, so that the median is at least 16.
    assert str(middle([Ratio(value=2.0, sign=">"), Ratio(value=16.0), Ratio(value=30.0)])) == ">16"
    assert str(middle([Ratio(value=2.0), Ratio(value=16.0), Ratio(value=30.0, sign=">")])) == "16"
    assert str(middle([Ratio(value=2.0), Ratio(value=16.0), Ratio(value=30.0, sign="<")])) == "<16"


def test_profile() -> None:
    tau = np.array([1.0, 2.0, 10.0])
    times = {"a": np.array([1.0, 4.0, np.inf, np.inf]), "b": np.array([5.0, 2.0, 3.0, np.inf])}
    shares = figures.profile(times, tau)
    np.testing.assert_allclose(shares["a"], [0.25, 0.5, 0.5])
    np.testing.assert_allclose(shares["b"], [0.5, 0.5, 0.75])


def test_logs_of_bounds() -> None:
    log = "l: 1, (d: 12.5, p: 13.0), u: 14.25, g: 0.1, t: 0.5 s\nl:2 d: -1e+03,  u: -9.5E2, g: 0.0, t: 1.25,"
    assert bound_lines(log) == [[0.5, 14.25, 12.5], [1.25, -950.0, -1000.0]]
    table = (
        "         0         1  |            inf            -inf        inf%             inf |      0.0       0.00\n"
        "*        7         2  |       67.97439        66.93216     1.5333%     1.042231526 |      7.7     799.28\n"
        "      Expl    Unexpl  |      Incumbent           Bound   Rel. Gap         Abs. Gap | Time (s)  Nodes/Sec\n"
    )
    assert pybnb_lines(table) == [[7.7, 67.97439, 66.93216]]


# --- environments and workers ---------------------------------------------------------------------------------------


def test_pins_name_versions_and_nothing_else() -> None:
    for name in ENVIRONMENTS:
        lines = (PINS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        assert lines
        assert all(line.count("==") == 1 and "/" not in line and "@" not in line for line in lines)
    assert missing(None) is None
    with pytest.raises(LookupError, match=r"needs Python 2\.1"):
        find_python(("2.1",))


def test_plans_are_well_formed() -> None:
    for make in cases.PLANS.values():
        plan = make()
        keys = [case.key for case in plan.cases]
        assert len(set(keys)) == len(keys)
        assert all(len(cases.seeds_of(plan, case)) >= 1 for case in plan.cases)
        assert set(plan.solvers or ()) <= set(SOLVERS)


def test_wide_tables_are_standardised_and_their_response_is_no_column() -> None:
    X = np.random.default_rng(0).standard_normal((20, 30))
    X[:, 7] *= 5.0  # varies most: the response
    X[:, 9] = 3.0  # does not vary
    columns, y = widedata.one_gene(X)
    assert columns.shape == (20, 28)
    np.testing.assert_allclose(y, X[:, 7] - X[:, 7].mean())
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose((columns**2).mean(axis=0), 1.0)
    kept = np.delete(X, [7, 9], axis=1)
    np.testing.assert_allclose(columns, (kept - kept.mean(axis=0)) / kept.std(axis=0))


def test_a_wide_table_that_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(widedata, "R_TABLES", tmp_path)
    with pytest.raises(FileNotFoundError, match="gasoline is not here: run make peers"):
        widedata.from_r("gasoline")
    np.savetxt(tmp_path / "gasoline.csv", [[1.0, 2.0, 5.0], [3.0, 4.0, 5.0]], delimiter=",")
    columns, y = widedata.from_r("gasoline")
    np.testing.assert_allclose(columns, [[-1.0], [1.0]])
    np.testing.assert_allclose(y, [-1.0, 1.0])


def test_seeds_that_are_named_are_drawn() -> None:
    plan = cases.smoke()
    drawn, fixed = plan.cases[0], replace(plan.cases[0], instance=replace(plan.cases[0].instance, fixed=True))
    assert list(cases.seeds_of(plan, drawn)) == [0]
    assert list(cases.seeds_of(plan, drawn, [7, 9])) == [7, 9]
    assert list(cases.seeds_of(plan, fixed, [7, 9])) == [0]


def test_workers_that_fail_hang_or_die_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = small()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    common = {"k": 3, "gamma": GAMMA, "penalty": None, "rel_gap": 1e-6, "threads": 1, "repeats": 1}
    job = Job(solver="parsifal", data=str(tmp_path), time_limit=20.0, **common)
    with Crew(threads=1, memory=None, log=tmp_path / "log") as crew:
        told = crew.ask(job)
        assert told["supports"] == [pf.solve(X, y, k=3, gamma=GAMMA).support.tolist()]
        assert told["claim"]
        assert crew.started["parsifal"]["latency"] > 0
        assert (
            "FileNotFoundError" in crew.ask(Job(solver="parsifal", data="nowhere", time_limit=1.0, **common))["error"]
        )
        process = crew.worker("parsifal")._process
        os.kill(process.pid, signal.SIGSTOP)
        monkeypatch.setattr(runner, "FILE_LIMIT", 1.0)
        told = crew.ask(Job(solver="parsifal", data=str(tmp_path), time_limit=0.0, **common))
        assert told["error"].startswith("killed: no answer after")
        assert process.poll() is not None
        monkeypatch.undo()
        process = crew.worker("parsifal")._process
        process.kill()
        process.wait()
        assert crew.ask(job)["claim"]  # a new one has been started


def test_smoke_run_and_going_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.peers", "--plan", "smoke", "--out", str(tmp_path), "--time-limit", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for part in ("| parsifal |", "cutting-highs", "lasso", "profiles.png", "gaps.png", "refuted\n\nNone."):
        assert part in text
    assert (tmp_path / "profiles.png").stat().st_size > 5000
    store = Store(tmp_path / "rows.jsonl")
    before = list(store.of("answer"))
    ours = [row for row in before if row["solver"] == "parsifal"]
    assert len(ours) == 3
    assert all(row["certificate"].startswith("valid") for row in ours)
    # What is there is not measured again; what a kill has taken is.
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if '"row": "answer"' in line)
    (tmp_path / "rows.jsonl").write_text("".join(lines[:last] + lines[last + 1 :]), encoding="utf-8")
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=True)
    after = list(Store(tmp_path / "rows.jsonl").of("answer"))
    assert len(after) == len(before)
    assert after[:-1] == before[:-1]


def test_fits_that_are_the_same_agree_with_leaps() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    X[:, 3] = 2 * X[:, 1]
    assert leaps_tables.agree(X, y, [0, 1], [1, 0])
    assert leaps_tables.agree(X, y, [0, 1], [0, 3])
    assert not leaps_tables.agree(X, y, [0, 1], [0, 2])


def test_what_the_referee_says_of_a_proof(tmp_path: Path) -> None:
    """A proof that was too large to keep is not a wrong one; one of another claim is."""
    X, y = small()
    whole, claim = (pf.solve(X, y, k=3, gamma=GAMMA, certificate_limit=limit) for limit in (1e6, 0))
    assert not claim.certificate.complete
    settings = Settings(solvers=("parsifal",), seeds=None, threads=1, memory=None, log=tmp_path / "log")
    checked = Session(cases.smoke(), Store(tmp_path / "rows"), settings)._check

    def said(sol: pf.Solution, lower_bound: float) -> str:
        sol.certificate.save(tmp_path / "proof.npz")
        return checked(tmp_path / "proof.npz", X, y, sol.objective, {"lower_bound": lower_bound})

    assert said(whole, whole.lower_bound).startswith("valid")
    assert said(claim, claim.lower_bound) == "not kept: larger than certificate_limit"
    for sol in (whole, claim):
        assert said(sol, sol.lower_bound * 1.01).startswith("INVALID")
