"""What files do where there is no POSIX: Windows' locks and reads, with a stand-in for its module."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import parsifal as pf
from parsifal.files import system
from parsifal.files.atomic import Lock, replacing
from parsifal.files.journal import Journal
from parsifal.paper.results import ResultsFile


class Locks:
    """`msvcrt.locking` within this process: bytes of files, each of one handle."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self) -> None:
        self.held: dict[tuple[int, int, int], int] = {}

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert count == 1
        status = os.fstat(handle)
        byte = (status.st_dev, status.st_ino, os.lseek(handle, 0, os.SEEK_CUR))
        if mode == self.LK_UNLCK:
            assert self.held.pop(byte) == handle
        elif self.held.setdefault(byte, handle) != handle:
            raise PermissionError(errno.EACCES, "Permission denied")


@pytest.fixture(autouse=True)
def windows(monkeypatch: pytest.MonkeyPatch) -> Locks:
    """Neither `fcntl` nor `preadv`, and files that have to be closed to be renamed."""
    locks = Locks()
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "msvcrt", locks)
    monkeypatch.setattr(system, "CLOSED_TO_RENAME", True)
    monkeypatch.setattr(
        system, "os", SimpleNamespace(**{name: getattr(os, name) for name in ("lseek", "read", "SEEK_CUR", "SEEK_SET")})
    )
    return locks


def test_one_process_at_a_time(tmp_path: Path, windows: Locks) -> None:
    file = tmp_path / "f"
    with Lock(file):
        with pytest.raises(pf.DataError, match=rf"another process \(pid {os.getpid()}\) is writing"):
            Lock(file)
        assert len(windows.held) == 1
    assert not windows.held
    Lock(file).release()


def test_a_file_is_closed_when_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")
    handles: list[int] = []
    rename = os.replace

    def closed(source: Path, target: Path) -> None:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handles[0])
        rename(source, target)

    monkeypatch.setattr(os, "replace", closed)
    with replacing(file) as new:
        handles.append(new.fileno())
        new.write(b"new")
    assert file.read_bytes() == b"new"
    with pytest.raises(ZeroDivisionError), replacing(file) as new:
        new.write(bytes(1 // 0))
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "trial") as journal:
        journal.begin({"of": "locks"})
        journal.append({"step": 1})
        with pytest.raises(pf.DataError, match="another process"):
            Journal(tmp_path / "j", "trial")
    with Journal(tmp_path / "j", "trial") as journal:
        assert journal.entries == [{"step": 1}]


def test_results_are_claimed(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path, "trial") as first, ResultsFile(path, "trial") as second:
        assert first.claim({"n": 1})
        assert not second.claim({"n": 1})
        assert second.claim({"n": 2})
        first.append({"task": {"n": 1}, "seconds": 1.0})
        second.append({"task": {"n": 2}, "seconds": 2.0})
        first.release({"n": 1})
        assert second.claim({"n": 1})
        assert [row["seconds"] for row in first.rows().values()] == [1.0, 2.0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_are_read_without_preadv(tmp_path: Path, order: str) -> None:
    X = np.asarray(np.random.default_rng(0).standard_normal((50, 40)), order=order)
    np.save(tmp_path / "x.npy", X)
    design = pf.open_design(tmp_path / "x.npy")
    v = np.arange(50.0)
    assert np.allclose(design.scan(v).xv, X.T @ v, rtol=1e-12)
    assert np.array_equal(design.columns([3, 17]), X[:, [3, 17]])


def test_memory_is_not_known_without_a_system_that_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.total_memory() is None
    monkeypatch.setattr(system, "os", os)
    assert system.total_memory() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
