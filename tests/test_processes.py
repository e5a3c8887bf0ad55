"""Processes within processes: no deadlock, and no more threads than were given.

Everything runs in a process of its own with a hard timeout, so that a deadlock is a failure and not a wait.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from parsifal.deadline import _quota, limited, seconds_left, thread_limit, usable_cores

PREAMBLE = """
import os, threading
import numpy as np
import parsifal as pf

def solve(seed=0, threads=2, p=150):
    # Large enough that products, reads and the search all start threads.
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, p)), rng.standard_normal(40)
    return round(pf.solve(X, y, k=4, gamma=1.0, node_limit=30, threads=threads).objective, 9)

def threads_seen(call):
    # The most threads that the process has at once during a call, sampled.
    seen, done = [0], threading.Event()
    def watch():
        while not done.is_set():
            seen[0] = max(seen[0], len(os.listdir("/proc/self/task")))
    watcher = threading.Thread(target=watch, daemon=True)
    before = len(os.listdir("/proc/self/task"))
    watcher.start()
    call()
    done.set()
    watcher.join()
    return seen[0] - before - 1
"""


def run(script: str, *, timeout: float = 240, **environment: str) -> str:
    """Run a script in a process of its own; whatever hangs is killed and fails."""
    code = PREAMBLE + textwrap.dedent(script)
    path = os.pathsep.join(p for p in (os.environ.get("PYTHONPATH"),) if p)
    env = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            pytest.fail(f"deadlock: no answer in {timeout} s")
    assert child.returncode == 0, err
    return out.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_after_threads_have_run() -> None:
    # By hand, twice over: the parent's threads are gone in the child, and nothing may wait for them.
    out = run(
        """
        first = solve()
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if solve() == first and solve(1) != first else 1)
            assert os.waitpid(pid, 0)[1] == 0
        print(solve() == first)
        """
    )
    assert out == "True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_while_a_solve_runs_in_another_thread() -> None:
    out = run(
        """
        expected = solve(0)
        worker = threading.Thread(target=lambda: [solve(seed) for seed in range(4)])
        worker.start()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if solve(0) == expected else 1)
        ended = os.waitpid(pid, 0)[1]
        worker.join()
        print(ended)
        """
    )
    assert out == "0"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    if method != "spawn" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    # Spawned workers import the script, so it is a file.
    script = tmp_path / "script.py"
    body = """
    if __name__ == "__main__":
        import multiprocessing
        expected = [solve(seed) for seed in range(3)]
        with multiprocessing.get_context("METHOD").Pool(2) as pool:
            print(pool.map(solve, range(3), chunksize=1) == expected)
    """
    script.write_text(PREAMBLE + textwrap.dedent(body).replace("METHOD", method), encoding="utf-8")
    out = run(f"import runpy, sys; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert out == "True"


def test_joblib_within_joblib() -> None:
    # All in one process, whose workers serve every pair: each has to load scikit-learn.
    out = run(
        """
        from joblib import Parallel, delayed, parallel_config

        def fold(seed, inner):
            rng = np.random.default_rng(seed)
            X, y = rng.standard_normal((40, 10)), rng.standard_normal(40)
            with parallel_config(inner):
                model = pf.SparseRegressorCV(ks=[1, 2], gammas=1.0, cv=2, n_jobs=2).fit(X, y)
            return round(model.solution_.objective, 9)

        expected = [fold(seed, "sequential") for seed in range(2)]
        for outer, inner in (("threading", "threading"), ("loky", "threading"), ("loky", "loky")):
            with parallel_config(outer):
                found = Parallel(n_jobs=2)(delayed(fold)(seed, inner) for seed in range(2))
            print(outer, inner, found == expected, flush=True)
        """
    )
    assert out.splitlines() == ["threading threading True", "loky threading True", "loky loky True"]


@pytest.mark.parametrize("processes", [True, False])
def test_in_a_dask_worker(processes: bool, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    body = f"""
    if __name__ == "__main__":
        from distributed import Client, LocalCluster
        expected = [solve(seed) for seed in range(3)]
        with LocalCluster(n_workers=1 + {processes}, threads_per_worker=2 - {processes}, processes={processes},
                          dashboard_address=None) as cluster, Client(cluster) as client:
            print(client.gather(client.map(solve, range(3), pure=False)) == expected)
    """
    script.write_text(PREAMBLE + textwrap.dedent(body), encoding="utf-8")
    out = run(f"import runpy, sys; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert out == "True"


def test_one_thread_is_one_thread() -> None:
    # Search, reads and products: with threads=1 the search's own worker is all there is beside the caller.
    out = run(
        """
        print(threads_seen(lambda: solve(threads=1, p=400)))
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((3000, 1500)), rng.standard_normal(3000)
        print(threads_seen(lambda: pf.solve(X, y, k=5, gamma=1e-3, threads=1, time_limit=1)))
        """,
        OPENBLAS_NUM_THREADS="1",
    )
    assert all(int(count) <= 1 for count in out.split())


def test_threads_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARSIFAL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    every = usable_cores()
    assert 1 <= every <= len(os.sched_getaffinity(0))
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert usable_cores() == 1
    monkeypatch.setenv("PARSIFAL_NUM_THREADS", "1000")
    assert usable_cores() == len(os.sched_getaffinity(0))
    for word in ("", "many", "0", "-2"):
        monkeypatch.setenv("PARSIFAL_NUM_THREADS", word)
        monkeypatch.setenv("OMP_NUM_THREADS", word)
        assert usable_cores() == every


def test_quota_of_a_control_group(tmp_path: Path) -> None:
    assert _quota(tmp_path) > 1000
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("150000\n", encoding="ascii")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n", encoding="ascii")
    _quota.cache_clear()
    assert _quota(tmp_path) == 2
    (tmp_path / "cpu.max").write_text("max 100000\n", encoding="ascii")
    _quota.cache_clear()
    assert _quota(tmp_path) == 2  # "max" is no number: the older interface is asked
    (tmp_path / "cpu.max").write_text("400000 100000\n", encoding="ascii")
    _quota.cache_clear()
    assert _quota(tmp_path) == 4
    _quota.cache_clear()


def test_inner_scopes_are_tighter() -> None:
    assert seconds_left() == float("inf")
    with limited(deadline=0.0, threads=3):
        assert seconds_left() == 0
        assert thread_limit() == 3
        with limited(threads=8):
            assert thread_limit() == 3
            assert seconds_left() == 0
        with limited(threads=2):
            assert thread_limit() == 2
    assert seconds_left() == float("inf")
