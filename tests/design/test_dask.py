"""Designs on a real cluster of worker processes: solved, with a worker killed in the middle, after the client went."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker

import parsifal as pf
from parsifal.design.dask import DaskDesign

pytestmark = [
    pytest.mark.filterwarnings("default"),  # a cluster that loses a worker warns, and so does its shutdown
    pytest.mark.xdist_group("cluster"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, timeout=30) as client,
    ):
        yield client


def _problem() -> tuple[np.ndarray, np.ndarray, pf.Solution]:
    X, y, _ = pf.datasets.make_sparse_regression(150, 400, 5, rho=0.2, random_state=3)
    return X, y, pf.solve(X, y, k=5, gamma=0.1)


def test_solve_on_the_workers(client: Client) -> None:
    X, y, expected = _problem()
    array = da.from_array(X, chunks=(150, 60)).persist()
    sol = pf.solve(array, y, k=5, gamma=0.1)
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, expected.support)
    assert sol.objective == pytest.approx(expected.objective, rel=1e-12)
    assert pf.check(sol.certificate, pf.as_design(array), y)
    # The workers read: this process has seen the chosen columns only.
    design = DaskDesign(array)
    design.scan(y)
    assert design.reads == 1.0


def test_folder_of_blocks_held_by_workers(client: Client, tmp_path: Path) -> None:
    X, y, expected = _problem()
    for number, columns in enumerate(np.array_split(np.arange(400), 7)):
        np.save(tmp_path / f"block{number}.npy", X[:, columns])
    sol = pf.solve(pf.open_design(tmp_path, dask=True), y, k=5, gamma=0.1)
    assert np.array_equal(sol.support, expected.support)


class _Slow:
    """A block that takes a while, and says once which process makes it."""

    def __init__(self, X: np.ndarray, folder: Path) -> None:
        self.X, self.folder = X, folder

    def __call__(self, block_info: Any = None) -> np.ndarray:
        (_, _), (left, right) = block_info[None]["array-location"]
        (self.folder / f"{os.getpid()}").touch()
        time.sleep(0.15)
        assert get_worker() is not None
        return self.X[:, left:right]


def test_a_worker_killed_in_the_middle_of_a_read(client: Client, tmp_path: Path) -> None:
    X, y, expected = _problem()
    # Not persisted: every read makes the blocks anew, slowly enough to be interrupted.
    array = da.map_blocks(_Slow(X, tmp_path), dtype=float, chunks=((150,), (40,) * 10))
    killed: list[int] = []

    def kill() -> None:
        workers = set(client.run(os.getpid).values())
        end = time.monotonic() + 20
        while time.monotonic() < end and not killed:
            for file in tmp_path.iterdir():
                if int(file.name) in workers:
                    killed.append(int(file.name))
                    os.kill(killed[0], signal.SIGKILL)
                    return
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    sol = pf.solve(array, y, k=5, gamma=0.1)
    thread.join()
    assert killed
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, expected.support)
    assert sol.objective == pytest.approx(expected.objective, rel=1e-12)
    client.wait_for_workers(2, timeout=30)


def test_nan_in_a_block_is_named(client: Client) -> None:
    X, y, _ = _problem()
    X[17, 333] = np.nan
    with pytest.raises(pf.NonFiniteError, match=r"X\[17, 333\] is NaN \(row 17, column 33 of the Dask block"):
        pf.solve(da.from_array(X, chunks=(150, 100)), y, k=5, gamma=0.1)


def test_a_failing_block_is_an_error(client: Client) -> None:
    def fail(block: np.ndarray) -> np.ndarray:
        raise OSError("disk on fire")

    array = da.ones((150, 400), chunks=(150, 100)).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(pf.DataError, match="disk on fire"):
        pf.solve(array, np.ones(150), k=5, gamma=0.1)


def test_joblib_runs_solves_on_the_same_client(client: Client) -> None:
    X, y, expected = _problem()
    design = pf.datasets.SyntheticDesign(150, 400, 4, rho=0.2, seed=1)
    with joblib.parallel_config(backend="dask"):
        sols = joblib.Parallel()(joblib.delayed(pf.solve)(X, y, k=k, gamma=0.1) for k in (4, 5))
        made = joblib.Parallel()(joblib.delayed(pf.solve)(design, design.y, k=4, gamma=0.1) for _ in range(2))
    assert np.array_equal(sols[1].support, expected.support)
    assert all(np.array_equal(sol.support, design.support) for sol in made)


def test_cross_validation_on_the_same_client(client: Client) -> None:
    X, y, expected = _problem()
    here = pf.SparseRegressorCV(ks=[4, 5], gammas=[0.1], cv=3).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = pf.SparseRegressorCV(ks=[4, 5], gammas=[0.1], cv=3, n_jobs=2).fit(X, y)
    assert there.k_ == here.k_
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(np.flatnonzero(there.coef_), expected.support)


def test_no_workers_is_not_a_hang() -> None:
    with (
        LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, timeout=30),
    ):
        design = DaskDesign(da.ones((10, 4), chunks=(10, 2)), timeout=0.5)
        with pytest.raises(pf.DataError, match=r"no Dask worker for 0.5 s; start workers"):
            design.scan(np.ones(10))


def test_a_closed_client_is_an_error() -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        client = Client(cluster, timeout=30)
        array = client.persist(da.ones((10, 4), chunks=(10, 2)))
        design = pf.as_design(array)
        client.close()
        with pytest.raises(pf.DataError, match="the Dask client is closed; create a new Client"):
            design.scan(np.ones(10))


def test_unusable_dask_input() -> None:
    ones = da.ones((10, 4), chunks=5)
    for array, message in (
        (da.ones(10), "must have two dimensions"),
        (ones[ones[:, 0] > 0], "unknown size; call X.compute_chunk_sizes"),
        (da.ones((0, 3)), "at least one row"),
        (da.ones((3, 3), dtype=complex), "pass real numbers"),
    ):
        with pytest.raises(pf.InputError, match=message):
            pf.as_design(array)
