from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import parsifal as pf
from benchmarks import evidence
from benchmarks.peers.referee import objective
from benchmarks.run import BENCHMARKS, main
from benchmarks.speed import fista, instances

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.filterwarnings("default")
def test_quick_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.jsonl"
    main([name, "--quick", "--json", str(file)])
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert rows
    # A printed line per row: every column is there, none is cut off.
    assert all(row["benchmark"] for row in rows)
    assert len(capsys.readouterr().out.splitlines()) > len(rows)


def test_unknown_name_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks.run", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"no benchmark 'nothing'; there are {', '.join(BENCHMARKS)}" in done.stderr


def test_prox_is_a_minimum() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        k, gamma, step = int(rng.integers(1, 8)), float(rng.uniform(0.01, 2)), float(rng.uniform(0.01, 2))
        z = rng.standard_normal(8) * rng.integers(0, 2, 8)

        def value(v: np.ndarray, z: np.ndarray = z, k: int = k, gamma: float = gamma, step: float = step) -> float:
            return float((v - z) @ (v - z)) / (2 * step) + fista.omega(v, k, gamma)

        v = fista.prox(z, k, gamma, step)
        assert fista.fractions(z, k, gamma, step).sum() <= k + 1e-9
        for size in (1e-1, 1e-3):
            moved = v + size * rng.standard_normal((20, 8))
            assert all(value(other) >= value(v) - 1e-12 for other in moved)


def test_fista_and_relax_agree() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(50, 120, 4, random_state=0)
    theirs = fista.fista(X, y, 4, 0.15, tolerance=1e-7)
    ours = pf.relax(X, y, 4, 0.15, tolerance=1e-8)
    assert theirs.converged
    assert theirs.bound <= ours.primal * (1 + 1e-9)
    assert theirs.bound == pytest.approx(ours.bound, rel=1e-6)


def test_real_data_have_the_shapes_that_are_claimed() -> None:
    for load, shape in ((instances.diabetes, (442, 65)), (instances.breast_cancer, (569, 464))):
        X, y = load()
        assert X.shape == shape
        assert X.flags.f_contiguous
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(np.mean(X**2, axis=0), 1.0, rtol=1e-6)
        assert abs(y.mean()) < 1e-9


def test_referee_agrees_with_the_solver() -> None:
    X, y, _ = pf.datasets.make_sparse_regression(60, 40, 4, random_state=0)
    sol = pf.solve(X, y, penalty=1.0, gamma=0.1)
    assert objective(X, y, sol.coef, 0.1, 1.0) == pytest.approx(sol.objective, rel=1e-12)


def test_evidence_runs_and_does_not_repeat_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.evidence", "--smoke", "--out", str(tmp_path), "figure1", "forge"]
    for said in ("code 0", "done before"):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert [said in line for line in done.stdout.splitlines() if "python" not in line] == [True, True]
    rows = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in rows] == ["figure1", "forge"]


def test_evidence_that_was_stopped_goes_on_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "measure.py"
    script.write_text(
        "import pathlib, sys, time\n"
        "rows = pathlib.Path(sys.argv[1], 'paper', 'x.jsonl')\n"
        "rows.parent.mkdir(parents=True, exist_ok=True)\n"
        "first = not rows.exists()\n"
        "rows.open('a').write('{}\\n')\n"
        "time.sleep(60 if first else 0)\n"
    )
    step = evidence.Step(name="x", command=f"{script} {{out}}", keep=("paper/x.jsonl",))
    monkeypatch.setattr(evidence, "STEPS", (step,))
    monkeypatch.setattr(evidence, "KEPT", tmp_path / "kept")
    runs = [
        evidence.Run(build=build, out=tmp_path / out, kept=evidence.KEPT, figures=tmp_path, smoke=False)
        for build, out in (("one", "here"), ("one", "there"), ("two", "third"))
    ]
    assert runs[0].all([step], perf_counter() + 2) == 0
    assert runs[1].all([step], None) == 0
    assert (tmp_path / "there" / "paper" / "x.jsonl").read_text() == "{}\n{}\n"
    # Rows of another build are not gone on with.
    assert runs[2].all([step], perf_counter() + 2) == 0
    assert (tmp_path / "third" / "paper" / "x.jsonl").read_text() == "{}\n"
    rows = [json.loads(line) for line in (evidence.KEPT / "steps.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["build"], row["code"]) for row in rows] == [("one", 124), ("one", 0), ("two", 124)]


def test_evidence_ends_at_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "_ended", lambda *_: 130)
    steps = [evidence.Step(name=name, command="-m parsifal") for name in ("first", "second")]
    run = evidence.Run(build="one", out=tmp_path, kept=tmp_path, figures=tmp_path, smoke=False)
    assert run.all(steps, None) == 130
    rows = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["step"], row["code"]) for row in rows] == [("first", 130)]


def test_evidence_names_commands_that_exist() -> None:
    for step in evidence.STEPS:
        words = step.command.split()
        module = Path(*words[1].split(".")) if words[0] == "-m" else Path(words[0])
        places = [ROOT / module, ROOT / "src" / module]
        assert any(place.with_suffix(".py").exists() or (place / "__main__.py").exists() for place in places), words
    names = [step.name for step in evidence.STEPS]
    assert len(set(names)) == len(names)
