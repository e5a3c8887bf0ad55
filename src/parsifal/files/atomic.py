"""Files that are written whole or not at all, and files that one process at a time may write.

A file is replaced by renaming a finished, synced one over it: whenever the process is killed, the power fails or the
disk is full, the name stands for the old content or for the new. The unfinished file is ``.<name>.tmp`` in the same
folder; one that a killed process has left is harmless, and the next write of the same file takes it over.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from parsifal.errors import DataError, InputError
from parsifal.files import system

AnyPath = str | os.PathLike[str]


@contextlib.contextmanager
def replacing(path: AnyPath) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of `path` once the block has ended without an error.

    Parameters
    ----------
    path : path
        A link is followed. A device or a pipe is written as it is.

    Raises
    ------
    DataError
        If it cannot be written, whatever the reason; what was there before is as it was.
    """
    try:
        target = Path(os.path.realpath(path))
    except TypeError:
        raise InputError(f"a path is needed to write to, not {path!r}") from None
    try:
        if _is_special(target):
            with open(target, "wb") as device:
                yield device
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        partial = target.with_name(f".{target.name}.tmp")
        done = False
        file = _open_locked(partial)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if system.CLOSED_TO_RENAME:
                file.close()
            os.replace(partial, target)
            done = True
        finally:
            # While it is locked, where an open file can be removed; whoever waits for it would write into nothing.
            if not done and not system.CLOSED_TO_RENAME:
                with contextlib.suppress(OSError):
                    partial.unlink()
            # After a failed write this writes the rest once more, in vain.
            with contextlib.suppress(OSError):
                file.close()
            if not done and system.CLOSED_TO_RENAME:
                with contextlib.suppress(OSError):
                    partial.unlink()
        sync_folder(target.parent)
    except OSError as error:
        raise unwritable(path, error) from error


def file_path(path: AnyPath, name: str) -> Path:
    """An argument that names a file, or will.

    Parameters
    ----------
    path : path
        What was given; a folder is refused.
    name : str
        The argument's.
    """
    try:
        checked = Path(path)
    except TypeError:
        raise InputError(f"{name} must be a path, not {path!r}") from None
    if checked.is_dir():
        raise InputError(f"{name} {checked} is a folder; give a file's name")
    return checked


def unwritable(path: AnyPath, error: OSError) -> DataError:
    """The error in our words."""
    remedy = {
        errno.ENOSPC: "make room and run again",
        errno.EDQUOT: "make room and run again",
        errno.ENOENT: "make its folder first",
        errno.EISDIR: "give a file's name",
    }.get(error.errno or 0, "check its folder and its permissions")
    return DataError(f"cannot write {os.fspath(path)}: {error.strerror or error}; {remedy}")


def sync_folder(folder: Path) -> None:
    """Have a renaming on the disk too."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Lock:
    """At most one process writes `path`: a lock on ``.<name>.lock`` beside it, which the system takes from the dead.

    Parameters
    ----------
    path : path
        What is written.

    Raises
    ------
    DataError
        If another has the lock, with its process id; or if the folder cannot be written.
    """

    def __init__(self, path: AnyPath) -> None:
        self._path = Path(path)
        target = Path(os.path.realpath(path))
        self._name = target.with_name(f".{target.name}.lock")
        self._handle: int | None = None
        try:
            while self._handle is None:
                self._handle = self._take()
        except OSError as error:
            raise unwritable(path, error) from error

    def _take(self) -> int | None:
        handle = os.open(self._name, os.O_RDWR | os.O_CREAT | system.BINARY | system.PRIVATE, 0o666)
        try:
            if not system.lock_file(handle, wait=False):
                owner = system.read_at(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
                raise DataError(
                    f"another process (pid {owner}) is writing {self._path}; wait for it, or give another file"
                )
            # Whoever held it may have removed the name in the meantime.
            if not _is_at(handle, self._name):
                os.close(handle)
                return None
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())
        except BaseException:
            os.close(handle)
            raise
        return handle

    def release(self) -> None:
        """Let others write."""
        if self._handle is None:
            return
        with contextlib.suppress(OSError):
            self._name.unlink()
        # A child that was forked meanwhile has the same lock: closing alone would not give it up.
        system.unlock_file(self._handle)
        os.close(self._handle)
        self._handle = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.release()


def _open_locked(partial: Path) -> IO[bytes]:
    """Open the unfinished file, empty; a second writer of the same file waits for the first."""
    while True:
        handle = os.open(partial, os.O_RDWR | os.O_CREAT | system.BINARY | system.PRIVATE | system.NO_LINKS, 0o666)
        try:
            system.lock_file(handle, wait=True)
            if _is_at(handle, partial):
                os.ftruncate(handle, 0)
                return os.fdopen(handle, "w+b")
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
