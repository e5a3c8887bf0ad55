"""System calls that differ between systems: locks on bytes of a file, and reads at a place of it.

POSIX locks files by `fcntl`, Windows by `msvcrt`; both give up the locks of a process that dies. Windows reads at a
place by going there first, opens files as text unless asked otherwise, and lets no one rename or remove an open file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from types import ModuleType
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
msvcrt: ModuleType | None
try:
    import msvcrt
except ImportError:  # POSIX
    msvcrt = None

# Flags of `os.open`, where there are such.
BINARY: int = getattr(os, "O_BINARY", 0)
PRIVATE: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0)

# Whether an open file can be neither renamed nor removed.
CLOSED_TO_RENAME = fcntl is None

# File systems without locks; what else is promised of a file holds on them too.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
# Windows forbids others to read what is locked, so a lock of the whole file is one of a byte that no file has.
_BEYOND = 1 << 40
_BETWEEN_TRIES = 0.05


def lock_file(handle: int, *, wait: bool) -> bool:
    """Lock a file against other processes, and other handles of this one.

    Parameters
    ----------
    handle : int
        Of the open file.
    wait : bool
        Whether to wait for it.

    Returns
    -------
    bool
        Whether it is locked now (or the file system has no locks).
    """
    if fcntl is None:
        return lock_byte(handle, _BEYOND, wait=wait)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def unlock_file(handle: int) -> None:
    """Give up `lock_file`'s lock, also where a forked child has inherited it."""
    with contextlib.suppress(OSError):
        if fcntl is None:
            unlock_byte(handle, _BEYOND)
        else:
            fcntl.flock(handle, fcntl.LOCK_UN)


def lock_byte(handle: int, place: int, *, wait: bool) -> bool:
    """Lock one byte of a file, which need not exist, against other processes; False if another has it."""
    while True:
        try:
            if fcntl is not None:
                fcntl.lockf(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, place)
            elif msvcrt is not None:
                _at(handle, place, msvcrt.LK_NBLCK)
            return True
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise
            if not wait:
                return False
        time.sleep(_BETWEEN_TRIES)


def unlock_byte(handle: int, place: int) -> None:
    """Give up `lock_byte`'s lock."""
    if fcntl is not None:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)
    elif msvcrt is not None:
        _at(handle, place, msvcrt.LK_UNLCK)


def _at(handle: int, place: int, mode: int) -> None:
    assert msvcrt is not None
    before = os.lseek(handle, 0, os.SEEK_CUR)
    try:
        os.lseek(handle, place, os.SEEK_SET)
        msvcrt.locking(handle, mode, 1)
    finally:
        os.lseek(handle, before, os.SEEK_SET)


def announce_order(handle: int) -> None:
    """Tell the kernel that what follows is read in order: it reads ahead further."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_SEQUENTIAL)


def read_into(handle: int, buffer: memoryview, place: int) -> int:
    """Read from a place of a file into a buffer; returns how many bytes there were.

    Where there is no `preadv` the file's own position is moved: a handle is then for one thread at a time.
    """
    if hasattr(os, "preadv"):
        return os.preadv(handle, [buffer], place)
    os.lseek(handle, place, os.SEEK_SET)
    data = os.read(handle, len(buffer))
    buffer[: len(data)] = data
    return len(data)


def read_at(handle: int, count: int, place: int) -> bytes:
    """At most `count` bytes from a place of a file."""
    buffer = bytearray(count)
    return bytes(buffer[: read_into(handle, memoryview(buffer), place)])


def total_memory() -> int | None:
    """Bytes of memory of the machine, if the system says."""
    if hasattr(os, "sysconf"):
        with contextlib.suppress(OSError, ValueError):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return None
    import ctypes

    class Status(ctypes.Structure):
        """Windows' MEMORYSTATUSEX, whose third field is the number of bytes."""

        _fields_ = (("length", ctypes.c_ulong), ("load", ctypes.c_ulong), ("numbers", ctypes.c_ulonglong * 7))

    status = Status(length=ctypes.sizeof(Status))
    windows: Any = getattr(ctypes, "windll", None)
    if windows is None or not windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.numbers[0])
