"""The journal of a cross-validation: cut off anywhere it still opens, and folds that are done are not done again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import KFold

import parsifal as pf
from oracles.reference import make_data
from parsifal.estimators import fold, fold_progress, fold_runner
from parsifal.files.journal import Journal, packed, unpacked
from stress.crash import main

OPTIONS: dict[str, Any] = {"ks": (1, 2, 3), "gammas": (0.05, 0.5), "cv": 4}


def fit(file: Path | None, **changed: Any) -> pf.SparseRegressorCV:
    X, y = make_data(0)
    data = {"X": changed.pop("X", X), "y": changed.pop("y", y)}
    return pf.SparseRegressorCV(checkpoint=file, **{**OPTIONS, **changed}).fit(**data)


def same(a: pf.SparseRegressorCV, b: pf.SparseRegressorCV) -> None:
    for name in ("mse_path_", "gap_path_", "score_path_", "ks_", "gammas_", "coef_", "support_"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert (a.k_, a.gamma_, a.objective_, a.lower_bound_) == (b.k_, b.gamma_, b.objective_, b.lower_bound_)
    for row, other in zip(a.support_path_, b.support_path_):
        for cell, found in zip(row, other):
            assert all(np.array_equal(s, t) for s, t in zip(cell, found))


@pytest.fixture
def folds_run(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every fold that is really run."""
    seen: list[int] = []
    run = fold.run_fold
    for module in (fold_runner, fold_progress):
        monkeypatch.setattr(module, "run_fold", lambda *args, **kw: (seen.append(1), run(*args, **kw))[1])
    return seen


def test_journal_cut_off_anywhere(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    entries = [{"number": i, "text": 'x"} \n' * i} for i in range(3)]
    with Journal(file, "test") as journal:
        journal.begin({"what": "this"})
        for entry in entries:
            journal.append(entry)
    data = file.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for cut in sorted({*range(0, len(data), 7), *(end + step for end in ends for step in (-2, -1, 0)), *range(12)}):
        # A power failure may also leave zeros at the end.
        file.write_bytes(data[:cut] + b"\0" * (cut % 3))
        with Journal(file, "test") as journal:
            whole = sum(end <= cut for end in ends)
            assert journal.head == ({"what": "this"} if whole else None)
            assert journal.entries == entries[: max(0, whole - 1)]
            if journal.head is None:
                journal.begin({"what": "this"})
            for entry in entries[len(journal.entries) :]:
                journal.append(entry)
        assert file.read_bytes() == data


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    with Journal(file, "test") as journal:
        journal.begin({})
        journal.append({"a": 1})
        journal.append({"a": 2})
    good = file.read_bytes()
    lines = good.splitlines(keepends=True)
    for content, kind, words in (
        (b"a,b,y\n1,2,3\n", "test", "it is something else"),
        (b"a,b,y", "test", "it is something else"),
        (good, "cross-validation", "it is something else"),
        (lines[0] + lines[1].replace(b"1}", b"3}") + lines[2], "test", "line 2 is damaged"),
        (b"x" + good, "test", "it is something else"),
    ):
        file.write_bytes(content)
        with pytest.raises(pf.DataError) as caught:
            Journal(file, kind)
        assert str(caught.value) == f"{file} is no journal of a {kind}: {words}; delete it to start anew"
        assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


def test_arrays_to_the_bit() -> None:
    for array in (np.array([[0.1, -np.inf], [np.nan, 5e-324]]), np.arange(3), np.empty((0, 2))):
        assert unpacked(packed(array), array.dtype.newbyteorder("<").str).tobytes() == array.tobytes()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_folds_that_are_done_are_not_done_again(
    tmp_path: Path, folds_run: list[int], jobs: int, scoring: str | None
) -> None:
    file = tmp_path / "cv.jsonl"
    expected = fit(None, scoring=scoring)
    folds_run.clear()
    same(fit(file, n_jobs=jobs, scoring=scoring), expected)
    assert len(folds_run) == 4
    lines = file.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    for left in (0, 2):
        folds_run.clear()
        file.write_bytes(b"".join(lines[: 5 - left]) + b'{"check":"torn')
        same(fit(file, n_jobs=jobs, scoring=scoring), expected)
        assert len(folds_run) == left


def test_processes_note_their_folds_too(tmp_path: Path) -> None:
    file = tmp_path / "cv.jsonl"
    with joblib.parallel_config(backend="loky"):
        found = fit(file, n_jobs=2)
    assert len(file.read_bytes().splitlines()) == 5
    same(found, fit(None))


_VICTIM = """
import os, sys
sys.path.insert(0, sys.argv[2])
import parsifal.files.journal
from test_journal import fit
from pathlib import Path
write, lines = os.write, []
def dies(handle, line):
    lines.extend([line] if line.startswith(b"{") else [])  # others write too
    if len(lines) == 4:  # the third fold, after the first line
        write(handle, line[: len(line) // 2])
        os.kill(os.getpid(), 9)
    return write(handle, line)
os.write = dies
fit(Path(sys.argv[1]))
"""


def test_killed_while_it_writes(tmp_path: Path, folds_run: list[int]) -> None:
    file = tmp_path / "cv.jsonl"
    command = [sys.executable, "-c", _VICTIM, str(file), str(Path(__file__).parent)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not file.read_bytes().endswith(b"\n")
    found = fit(file)
    assert len(folds_run) == 2
    same(found, fit(None))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cv.jsonl", f"cv.jsonl.k{found.k_}.gamma1.npz"]


def test_other_work_is_refused(tmp_path: Path) -> None:
    X, y = make_data(0)
    file = tmp_path / "cv.jsonl"
    fit(file)
    before = file.read_bytes()
    other = X.copy()
    other[3, 5] += 1e-6
    cases: dict[str, dict[str, Any]] = {
        "another X (column 5 differs)": {"X": other},
        "another y": {"y": y + 1e-9},
        "ks = [1, 2, 3], not [1, 2]": {"ks": (1, 2)},
        "gammas = [0.05, 0.5], not [0.5]": {"gammas": 0.5},
        "penalty = 0.0, not 0.1": {"penalty": 0.1},
        "standardize = True, not False": {"standardize": False},
        "fold_node_limit = 20.0, not 7.0": {"fold_node_limit": 7},
        "other features forced in or out": {"force_in": [2]},
        "scoring = False, not True": {"scoring": "r2"},
        "another split of the rows into folds (a splitter that shuffles needs a random_state)": {
            "cv": KFold(4, shuffle=True, random_state=1)
        },
    }
    for words, changed in cases.items():
        with pytest.raises(pf.InputError) as caught:
            fit(file, **changed)
        message = f"checkpoint {file} is of another cross-validation: {words}; delete the file to start anew"
        assert str(caught.value) == message
        assert file.read_bytes() == before


def test_one_process_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "cv.jsonl"
    with (
        Journal(file, "cross-validation"),
        pytest.raises(pf.DataError, match=r"another process \(pid \d+\) is writing"),
    ):
        fit(file)
    fit(file)


def test_commands_killed_at_random_moments(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The program behind `make crash`, at the size of a smoke test."""
    status = main(["--kills", "2", "--only", "solve", "--seed", "3", "--folder", str(tmp_path)])
    assert status == 0, capsys.readouterr().out
