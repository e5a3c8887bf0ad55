"""Solves that are stopped and taken up again, at the root and in the tree, politely and by kill -9."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from parsifal.design.dense import DenseDesign
from parsifal.solver.checkpoint import Checkpoint

KW: dict[str, Any] = {"k": 6, "gamma": 0.25, "threads": 1}


def _problem(sqrt_snr: float = 1.8) -> tuple[np.ndarray, np.ndarray]:
    """A few hundred nodes; the more, the more noise."""
    X, y, _ = pf.datasets.make_sparse_regression(80, 200, 6, sqrt_snr=sqrt_snr, random_state=4)
    return X, y


@pytest.fixture(scope="module")
def expected() -> pf.Solution:
    sol = pf.solve(*_problem(), **KW)
    assert sol.status == "optimal"
    assert sol.stats["nodes"] > 100
    return sol


def test_tree_goes_on_where_it_was(tmp_path: Path, expected: pf.Solution) -> None:
    X, y = _problem()
    file, bound, nodes = tmp_path / "state.npz", -np.inf, 0
    for _ in range(100):
        sol = pf.solve(X, y, checkpoint=file, node_limit=90, **KW)
        assert bound <= sol.lower_bound <= expected.objective
        assert nodes < sol.stats["nodes"] <= nodes + 90
        bound, nodes = sol.lower_bound, sol.stats["nodes"]
        assert pf.check(sol.certificate, X, y)
        if sol.status == "optimal":
            break
        assert sol.status == "node_limit"
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, expected.support)
    assert sol.objective == expected.objective
    # The tree was not begun anew: the nodes of all runs together are about those of one.
    assert nodes < 2 * expected.stats["nodes"]
    # Done is done: two reads to see that X is the same, and the answer.
    again = pf.solve(X, y, checkpoint=file, **KW)
    assert again.status == "optimal"
    assert again.stats["nodes"] == nodes
    assert again.stats["reads"] == pytest.approx(2.0)
    assert pf.check(again.certificate, X, y)


def test_pauses_for_writing_do_not_change_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough, on a fast machine too, to be written in the middle.
    X, y = _problem(1.55)
    expected = pf.solve(X, y, **KW)
    monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (0.0,))
    written = []
    write = Checkpoint._write
    monkeypatch.setattr(Checkpoint, "_write", lambda self, arrays: (written.append(len(arrays)), write(self, arrays)))
    for threads in (1, 2):
        sol = pf.solve(X, y, checkpoint=tmp_path / f"{threads}.npz", **{**KW, "threads": threads})
        assert sol.status == "optimal"
        assert np.array_equal(sol.support, expected.support)
        assert pf.check(sol.certificate, X, y)
    # In the middle of the search and at its end, for both.
    assert written.count(max(written)) >= 4


class _Failing(DenseDesign):
    """Raises at a read, as a disk or a cluster may."""

    fail_at = 10**9

    def read(self, *args: Any, **kwargs: Any) -> Any:
        if self.reads >= self.fail_at:
            raise KeyboardInterrupt if self.polite else pf.DataError("the disk is gone")
        return super().read(*args, **kwargs)

    polite = False


@pytest.mark.parametrize("polite", [False, True])
def test_root_goes_on_where_it_was(tmp_path: Path, polite: bool) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(200, 2000, 15, rho=0.5, sqrt_snr=4.0, random_state=2)
    whole = pf.solve(X, y, k=15, gamma=0.07, time_limit=60, node_limit=1)
    assert whole.stats["reads"] >= 4
    file = tmp_path / "state.npz"
    design = _Failing(X)
    design.fail_at, design.polite = 3, polite
    if polite:
        stopped = pf.solve(design, y, k=15, gamma=0.07, checkpoint=file)
        assert stopped.status == "interrupted"
        assert stopped.lower_bound <= whole.objective
    else:
        with pytest.raises(pf.DataError, match="the disk is gone"):
            pf.solve(design, y, k=15, gamma=0.07, checkpoint=file)
    sol = pf.solve(X, y, k=15, gamma=0.07, checkpoint=file, node_limit=1)
    assert sol.stats["reads"] < whole.stats["reads"]
    assert sol.objective == pytest.approx(whole.objective, rel=1e-9)
    # A tree that has been cut off proves nothing yet; its bound holds all the same.
    assert sol.lower_bound <= whole.objective


_VICTIM = """
import sys, numpy as np, parsifal as pf
from parsifal.solver.checkpoint import Checkpoint
Checkpoint.__init__.__defaults__ = (0.01,)
X, y, _ = pf.datasets.make_sparse_regression(80, 300, 8, sqrt_snr=1.0, random_state=4)
pf.solve(X, y, k=8, gamma=0.25, threads=1, checkpoint=sys.argv[1])
"""


def test_kill_leaves_a_usable_file(tmp_path: Path) -> None:
    file = tmp_path / "state.npz"
    nodes = 0
    X, y, _ = pf.datasets.make_sparse_regression(80, 300, 8, sqrt_snr=1.0, random_state=4)
    for delay in (0.0, 0.2, 0.3):
        before = file.stat().st_mtime_ns if file.exists() else None
        with subprocess.Popen([sys.executable, "-c", _VICTIM, file]) as victim:
            end = time.monotonic() + 60
            while (
                (not file.exists() or file.stat().st_mtime_ns == before)
                and victim.poll() is None
                and time.monotonic() < end
            ):
                time.sleep(0.005)
            time.sleep(delay)
            victim.send_signal(signal.SIGKILL)
        assert file.exists()
        sol = pf.solve(X, y, k=8, gamma=0.25, threads=1, checkpoint=file, node_limit=1)
        assert sol.status == "node_limit"
        assert sol.stats["nodes"] >= nodes
        assert pf.check(sol.certificate, X, y)
        nodes = sol.stats["nodes"]
    assert nodes > 3
    # What a killed writer leaves behind is a file of another name, if any.
    assert all(path == file or path.name.startswith(".state.npz.") for path in tmp_path.iterdir())


def test_other_data_and_other_problems_are_refused(tmp_path: Path) -> None:
    X, y = _problem()
    file = tmp_path / "state.npz"
    for node_limit in (1, 30):  # from the root's state, and from the tree's
        pf.solve(X, y, checkpoint=file, node_limit=node_limit, **KW)
        Z = X.copy()
        Z[3, 5] += 1e-3
        for arguments, message in (
            ({"X": Z}, "was made from another X"),
            ({"y": y + 1e-9}, "is of another problem: another y"),
            ({"k": 5}, "k = 6, not 5"),
            ({"gamma": 0.2}, "gamma = 0.25, not 0.2"),
            ({"penalty": 0.1}, "penalty = 0.0, not 0.1"),
            ({"rel_gap": 1e-3}, "rel_gap"),
            ({"force_in": [3]}, "forced_in"),
            ({"X": X[:, :150]}, "shape"),
        ):
            with pytest.raises(pf.InputError, match=f"{message}.*delete the file to start anew"):
                pf.solve(**{"X": X, "y": y, "checkpoint": file, **KW, **arguments})


def test_damaged_file(tmp_path: Path) -> None:
    X, y = _problem()
    file = tmp_path / "state.npz"
    file.write_bytes(b"not an archive")
    with pytest.raises(pf.DataError, match="is no checkpoint, or a damaged one"):
        pf.solve(X, y, checkpoint=file, **KW)
    np.savez(file, a=np.ones(3))
    with pytest.raises(pf.DataError, match="is no checkpoint of format"):
        pf.solve(X, y, checkpoint=file, **KW)


def test_a_file_of_an_earlier_format_is_refused(tmp_path: Path) -> None:
    X, y = _problem()
    file = tmp_path / "state.npz"
    pf.solve(X, y, checkpoint=file, node_limit=5, **KW)
    with np.load(file) as saved:
        arrays = dict(saved)
    assert arrays["format"] == 4
    assert arrays["tree_nodes_seen"] == 5
    np.savez(file, **{**arrays, "format": np.asarray(3)})
    message = r"is no checkpoint of format 4 but of format 3, of another version of Parsifal; delete it to start anew"
    with pytest.raises(pf.DataError, match=message):
        pf.solve(X, y, checkpoint=file, **KW)


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    X, y = _problem()
    with pytest.raises(pf.DataError, match=r"cannot write .*: No such file or directory; make its folder first"):
        pf.solve(X, y, checkpoint=tmp_path / "nowhere" / "state.npz", **KW)
    with pytest.raises(pf.InputError, match="checkpoint must be a path"):
        pf.solve(X, y, checkpoint=3, **KW)
    with pytest.raises(pf.InputError, match="is a folder; give a file's name"):
        pf.solve(X, y, checkpoint=tmp_path, **KW)


def test_full_disk_costs_the_checkpoint_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _problem()
    file = tmp_path / "state.npz"

    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(RuntimeWarning, match="could not be written .No space left on device.; the solve goes on"):
        sol = pf.solve(X, y, checkpoint=file, **KW)
    assert sol.status == "optimal"
    assert list(tmp_path.iterdir()) == []


def test_columns_changed_where_the_dual_point_does_not_see_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    n, p, k, gamma = 60, 60, 8, 0.3
    X = rng.normal(size=(n, p))
    y = X[:, :6] @ np.ones(6) + 2.0 * rng.normal(size=n)
    file = tmp_path / "state.npz"
    assert pf.solve(X, y, k, gamma, checkpoint=file, node_limit=2, threads=1).status == "node_limit"
    with np.load(file) as saved:
        index, coef = saved["point_index"], saved["point_coef"]
        assert "gram" in saved
    alpha = y - X[:, index] @ coef
    beta = X.T @ alpha
    free = np.setdiff1d(np.arange(p), index)
    first, second = free[np.argsort(-np.abs(beta[free]))][:2]
    # x'alpha stays for both; 3 r and what is left of it now explain y far better than anything before.
    r = y - alpha * (alpha @ y) / (alpha @ alpha)
    other = X.copy()
    other[:, first] = alpha * beta[first] / (alpha @ alpha) + 3 * r
    other[:, second] = alpha * beta[second] / (alpha @ alpha) - 3 * r * np.sign(beta[first] * beta[second])
    assert np.allclose(other.T @ alpha, beta)
    with pytest.raises(pf.InputError, match=f"was made from another X: column {min(first, second)} differs"):
        pf.solve(other, y, k, gamma, checkpoint=file)
    assert pf.solve(X, y, k, gamma, checkpoint=file).status == "optimal"


def test_excluded_columns_changed_where_no_dual_point_sees_it(tmp_path: Path) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(50, 300, 6, sqrt_snr=4.0, random_state=1)
    options: dict[str, Any] = {"k": 6, "gamma": 0.1, "threads": 1}
    file = tmp_path / "state.npz"
    assert pf.solve(X, y, checkpoint=file, node_limit=2, **options).status == "node_limit"
    with np.load(file) as saved:
        alpha = y - X[:, saved["point_index"]] @ saved["point_coef"]
        column = int(np.setdiff1d(np.flatnonzero(saved["fix"] < 0), saved["point_index"])[0])
    # Across both the dual point and the response, and too small to be seen in a sum over all columns.
    step = np.random.default_rng(0).standard_normal(y.size)
    basis = np.linalg.qr(np.column_stack([alpha, y]))[0]
    other = X.copy()
    other[:, column] += 1e-6 * (step - basis @ (basis.T @ step))
    with pytest.raises(pf.InputError, match=f"was made from another X: column {column} differs; delete the file"):
        pf.solve(other, y, checkpoint=file, **options)
    # What the user forces out does not count.
    file = tmp_path / "forced.npz"
    pf.solve(X, y, checkpoint=file, node_limit=2, force_out=[column], **options)
    assert pf.solve(other, y, checkpoint=file, force_out=[column], **options).status == "optimal"


def test_one_process_at_a_time(tmp_path: Path, expected: pf.Solution) -> None:
    X, y = _problem()
    file = tmp_path / "state.npz"
    message = rf"another process \(pid {os.getpid()}\) is writing .*state.npz; wait for it, or give another file"
    with Checkpoint(file), pytest.raises(pf.DataError, match=message):
        pf.solve(X, y, checkpoint=file, **KW)
    assert pf.solve(X, y, checkpoint=file, **KW).objective == expected.objective
    assert list(tmp_path.iterdir()) == [file]


def test_tall_x_with_a_column_forced_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500_000, 20))
    X[:, 1:] += X[:, :-1] * 0.9
    y = X @ rng.normal(size=20) + 30 * rng.normal(size=500_000)
    options: dict[str, Any] = {"force_out": [3], "rel_gap": 1e-9, "threads": 1, "checkpoint": tmp_path / "state.npz"}
    assert pf.solve(X, y, 8, 1e-5, node_limit=1, **options).status == "node_limit"
    assert pf.solve(X, y, 8, 1e-5, **options).status == "optimal"
