"""Files are replaced whole or not at all, whatever happens to the disk or to the process."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from parsifal.files.atomic import Lock, replacing, unwritable


@contextmanager
def small_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond `limit` bytes: a write fails in the middle, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    with replacing(file) as new:
        new.write(b"new")
        new.flush()
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(file) as new:
        new.write(bytes(1 // (new.write(b"new") - 3)))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    message = f"cannot write {file}: File too large; check its folder and its permissions"
    with small_disk(1000), pytest.raises(pf.DataError) as caught, replacing(file) as new:
        new.write(bytes(2000))
    assert str(caught.value) == message
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_certificate_on_a_full_disk(tmp_path: Path) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(50, 300, 6, sqrt_snr=4.0, random_state=1)
    certificate = pf.solve(X, y, k=6, gamma=0.1).certificate
    assert certificate is not None
    file = tmp_path / "proof.npz"
    certificate.save(file)
    before = file.read_bytes()
    with small_disk(len(before) // 2), pytest.raises(pf.DataError, match=r"cannot write .*: File too large"):
        certificate.save(file)
    assert file.read_bytes() == before
    assert pf.check(pf.Certificate.load(file), X, y)
    assert list(tmp_path.iterdir()) == [file]


def test_checkpoint_on_a_full_disk(tmp_path: Path) -> None:
    X, y, _ = pf.datasets.make_sparse_regression(80, 200, 6, sqrt_snr=1.8, random_state=4)
    file = tmp_path / "state.npz"
    kw: dict[str, Any] = {"k": 6, "gamma": 0.25, "threads": 1, "checkpoint": file}
    first = pf.solve(X, y, node_limit=30, **kw)
    before = file.read_bytes()
    with small_disk(4096), pytest.warns(RuntimeWarning, match="File too large.; the solve goes on"):
        assert pf.solve(X, y, node_limit=60, **kw).stats["nodes"] > first.stats["nodes"]
    assert file.read_bytes() == before
    assert pf.solve(X, y, **kw).status == "optimal"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "No space left on device; make room and run again"),
        (errno.EROFS, "Read-only file system; check its folder and its permissions"),
        (errno.EACCES, "Permission denied; check its folder and its permissions"),
    ],
)
def test_words(code: int, words: str) -> None:
    assert str(unwritable("f", OSError(code, os.strerror(code)))) == f"cannot write f: {words}"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(pf.DataError) as caught, replacing(tmp_path):
        pass
    assert str(caught.value) == f"cannot write {tmp_path}: it is a folder; give a file's name"
    nowhere = tmp_path / "nowhere" / "f"
    with pytest.raises(pf.DataError) as caught, replacing(nowhere):
        pass
    assert str(caught.value) == f"cannot write {nowhere}: No such file or directory; make its folder first"
    (tmp_path / "file").write_text("")
    with pytest.raises(pf.DataError, match="Not a directory; check its folder"), replacing(tmp_path / "file" / "f"):
        pass


def test_read_only_folder() -> None:
    # Not below tmp_path, where none but its owner may go; and the superuser writes everywhere.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        file.write_text("old")
        os.chmod(folder, 0o555)
        user = os.geteuid()
        os.seteuid(user or 65534)
        try:
            for write in (replacing(file).__enter__, lambda: Lock(file)):
                with pytest.raises(pf.DataError) as caught:
                    write()
                words = f"cannot write {file}: Permission denied; check its folder and its permissions"
                assert str(caught.value) == words
        finally:
            os.seteuid(user)
            os.chmod(folder, 0o700)
        assert file.read_text() == "old"


def test_links_and_devices(tmp_path: Path) -> None:
    file, link = tmp_path / "f", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    with replacing(link) as new:
        new.write(b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    with replacing("/dev/null") as nothing:
        nothing.write(b"new")
    assert Path("/dev/null").is_char_device()


def test_what_a_killed_writer_leaves_is_taken_over(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    code = (
        "import os, signal, sys\n"
        "from parsifal.files.atomic import replacing\n"
        "with replacing(sys.argv[1]) as new:\n"
        "    new.write(bytes(100_000)); new.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, file], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    with replacing(file) as new:
        new.write(b"new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


_MANY = """
import sys
from parsifal.files.atomic import replacing
for i in range(60):
    with replacing(sys.argv[1]) as file:
        for _ in range(20):
            file.write(sys.argv[2].encode() * 500)
            file.flush()
"""


def test_many_writers_of_one_file(tmp_path: Path) -> None:
    file = tmp_path / "f"
    writers = [subprocess.Popen([sys.executable, "-c", _MANY, file, letter]) for letter in "abc"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if file.exists():
            content = file.read_bytes()
            assert len(content) == 10_000
            assert len(set(content)) == 1
            seen.add(content[:1])
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen
    assert list(tmp_path.iterdir()) == [file]


def test_lock(tmp_path: Path) -> None:
    file = tmp_path / "f"
    with Lock(file):
        with pytest.raises(pf.DataError) as caught:
            Lock(file)
        assert str(caught.value) == (
            f"another process (pid {os.getpid()}) is writing {file}; wait for it, or give another file"
        )
    with Lock(file):
        pass
    assert list(tmp_path.iterdir()) == []
    code = (
        "import os, signal, sys\nfrom parsifal.files.atomic import Lock\nLock(sys.argv[1])\nos.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, file], check=False).returncode == -signal.SIGKILL
    with Lock(file):
        pass
    assert list(tmp_path.iterdir()) == []


def test_signs_are_the_same_everywhere() -> None:
    from parsifal.design.identity import Sketch

    signs = Sketch(12345).signs(70)
    assert "".join("+" if sign > 0 else "-" for sign in signs[:40]) == "+++++--+-+-++-+-+--+-+--+---+++++-+-++++"
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.array_equal(Sketch(12345).signs(40), signs[:40])
