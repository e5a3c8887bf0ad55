"""BLAS is held back while a scope is open, and gets its threads back afterwards."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import parsifal as pf
from parsifal.blas import blas_lifted, quiet_blas
from parsifal.proof import checker


def threads() -> list[int]:
    return [
        library.get_num_threads() for library in ThreadpoolController().lib_controllers if library.user_api == "blas"
    ]


@pytest.fixture
def two() -> object:
    with threadpool_limits(2, "blas"):
        yield


@pytest.mark.usefixtures("two")
def test_nested() -> None:
    before = threads()
    assert before
    with quiet_blas():
        assert set(threads()) == {1}
        with quiet_blas():
            assert set(threads()) == {1}
            with blas_lifted():
                assert set(threads()) == {1}  # another scope may be another thread's
        assert set(threads()) == {1}
        with blas_lifted():
            assert threads() == before
        assert set(threads()) == {1}
    assert threads() == before
    with blas_lifted():
        assert threads() == before


@pytest.mark.usefixtures("two")
def test_threads_below_a_scope() -> None:
    before = threads()
    seen = []

    def work() -> None:
        with quiet_blas():
            seen.append(set(threads()))

    with quiet_blas():
        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(10)
        assert set(threads()) == {1}
    assert seen == [{1}, {1}]
    assert threads() == before


@pytest.mark.usefixtures("two")
def test_the_last_scope_in_another_thread() -> None:
    """threadpoolctl listens to one thread: what another could not give back is given back later."""
    before = threads()
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        with quiet_blas():
            entered.set()
            leave.wait(10)

    worker = threading.Thread(target=work)
    with quiet_blas():
        worker.start()
        entered.wait(10)
    leave.set()
    worker.join(10)
    with quiet_blas():
        pass
    assert threads() == before


@pytest.mark.usefixtures("two")
def test_an_error_gives_them_back() -> None:
    before = threads()
    with pytest.raises(RuntimeError), quiet_blas():
        raise RuntimeError
    assert threads() == before


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(("rows", "quiet"), [(100, True), (1_000_000, False)])
def test_a_check_of_few_numbers(rows: int, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    proof = pf.solve(np.eye(3), np.ones(3), k=1, gamma=1.0).certificate
    monkeypatch.setattr(checker, "_check_columns", lambda *_: seen.append(threads()))
    before = threads()
    checker.check(proof, np.broadcast_to(0.0, (rows, 3)), np.zeros(rows))
    assert seen == [[1] * len(before) if quiet else before]
    assert threads() == before
