"""The stress program at smoke size: it runs, finds nothing, and would say so if it did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import parsifal as pf
from stress import asked
from stress.__main__ import main
from stress.kinds import KINDS
from stress.methods import Runner
from stress.problems import make_problem
from stress.referee import answer_of, disagreements, enumerate_supports, enumerated, faults_of
from stress.saved import load_problem, save_problem

ROOT = Path(__file__).parents[2]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stress", "--out", str(folder), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=dict(os.environ))


def test_smoke(tmp_path: Path) -> None:
    done = run("--seed", "11", "--problems", "20", "--most-columns", "30", "--jobs", "2", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "seed-11" / "summary.json").read_text())
    assert summary["problems"] == 20
    assert summary["disagreements"] == 0
    assert summary["certificates"] > 20
    assert "| disagreements | 0 |" in done.stdout
    assert "python -m stress --seed 11 --start 20" in done.stdout


def test_a_hang_is_counted_and_saved(tmp_path: Path) -> None:
    done = run("--seed", "11", "--problems", "1", "--hang", "0", folder=tmp_path)
    assert done.returncode == 1
    assert "no answer within 0 s" in done.stdout
    assert (tmp_path / "seed-11" / "problem-0.json").exists()


def test_a_seed_and_a_number_give_the_same_problem(tmp_path: Path) -> None:
    for number in range(30):
        first, second = (make_problem(3, number, tmp_path) for _ in range(2))
        assert first.describe() == second.describe()
        assert np.array_equal(first.dense, second.dense)
        assert np.array_equal(first.y, second.y)


def test_a_problem_of_every_kind_survives_its_file(tmp_path: Path) -> None:
    seen: set[str] = set()
    for number in range(400):
        problem = make_problem(5, number, tmp_path, most=8)
        if problem.kind in seen:
            continue
        seen.add(problem.kind)
        save_problem(tmp_path / "saved.npz", problem, ["checkpoint"])
        again, extras = load_problem(tmp_path / "saved.npz", tmp_path)
        assert extras == ["checkpoint"]
        assert again.describe() == problem.describe()
        assert type(again.X) is type(problem.X)
        assert getattr(again.X, "dtype", None) == getattr(problem.X, "dtype", None)
        assert np.array_equal(again.dense, problem.dense)
        assert np.array_equal(again.y, problem.y)
    assert seen == set(KINDS)


def test_save_and_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "found" / "problem.npz")
    said = []
    for arguments in (["--seed", "11", "--replay", "4", "--save", path], ["--replay-file", path]):
        monkeypatch.setattr(sys, "argv", ["stress", *arguments])
        assert main() == 0
        said.append(json.loads(capsys.readouterr().out))
    for name in ("problem", "extras", "faults"):
        assert said[0][name] == said[1][name]


def test_every_kind_comes(tmp_path: Path) -> None:
    kinds = {make_problem(5, number, tmp_path).kind for number in range(400)}
    assert kinds == set(KINDS)


def test_the_referee_sees_a_wrong_bound_and_a_wrong_objective(tmp_path: Path) -> None:
    made = (make_problem(7, i, tmp_path, most=8) for i in range(100))
    problem = next(q for q in made if q.p > 5 and q.half > 0 and not q.penalty)
    solution = pf.solve(problem.X, problem.y, **problem.options, threads=1)
    supports = enumerate_supports(problem)
    assert supports is not None
    listed = enumerated(problem, supports)
    right = answer_of(problem, "search", solution)
    assert faults_of(problem, right) == []
    assert disagreements(problem, [right, listed]) == []
    high = replace(right, lower_bound=right.objective + 1e-6 * problem.half)
    assert len(faults_of(problem, high)) == 1
    assert len(disagreements(problem, [high, listed])) == 2
    wrong = replace(right, objective=right.objective - 1e-6 * problem.half)
    assert any("are worth" in fault for fault in faults_of(problem, wrong))
    worse = replace(right, method="worse", value=right.value + problem.half, lower_bound=right.value + problem.half)
    assert any("but enumeration found" in fault for fault in disagreements(problem, [worse, listed]))


def test_an_error_of_another_kind_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise IndexError("out of range")

    monkeypatch.setattr(pf, "solve", broken)
    outcome = Runner(make_problem(3, 0, tmp_path), tmp_path).run()
    assert "search: IndexError: out of range" in outcome.faults


def test_what_is_asked_for_in_every_combination(capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds 192 to 255 have products with a hierarchy and columns to adjust for, with everything else."""
    assert asked.main(["--start", "192", "--count", "64"]) == 0
    said = capsys.readouterr().out
    assert "64 problems" in said
    assert "CUT SHORT" not in said
    assert all(name in said for name in asked.installed())


def test_a_run_that_is_cut_short_fails_if_a_count_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked.main(["--seconds", "-1", "--count", "5"]) == 2
    assert "CUT SHORT after 0 of 5 problems; go on with --start 0" in capsys.readouterr().out
    assert asked.main(["--seconds", "-1"]) == 0
    assert "CUT SHORT" not in capsys.readouterr().out


def test_a_disagreement_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(asked, "faults_of", lambda seed, **how: ("optimal", ["wrong"] if seed == 3 else []))
    assert asked.main(["--count", "5"]) == 1
    assert "problem 3 (" in capsys.readouterr().out
