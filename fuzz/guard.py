"""What reading may not do: unpickle, run something, write elsewhere, take memory without bound, or take for ever."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

_FORBIDDEN = {
    "pickle.find_class",
    "marshal.loads",
    "os.system",
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "socket.connect",
}
_FORBIDDEN |= {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.truncate"}
# Those of the above that are allowed inside the folder; their first arguments are paths.
_WITHIN = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}


class Violation(BaseException):
    """Not an Exception: no handler on the way may swallow it."""


class _Watch:
    """One audit hook for the process (hooks cannot be taken away), active while a folder is set."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.installed = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        folder = self.folder
        if folder is None or (event != "open" and event not in _FORBIDDEN):
            return
        if event == "open":
            path, mode, flags = arguments
            writes = any(c in mode for c in "wax+") if mode else bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if not writes or not isinstance(path, (str, bytes, os.PathLike)) or _inside(path, folder):
                return
        elif (
            event in _WITHIN and all(_inside(a, folder) for a in arguments if isinstance(a, (str, bytes, os.PathLike)))
        ) or (event == "marshal.loads" and _importing()):
            return
        self.folder = None
        raise Violation(f"{event} {arguments!r}")


def _inside(path: Any, folder: Path) -> bool:
    where = os.path.realpath(os.fsdecode(path))
    return where == os.devnull or where == str(folder) or where.startswith(f"{folder}{os.sep}")


def _importing() -> bool:
    """Whether a module is being loaded: compiled Python is marshalled."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_watch = _Watch()


@contextlib.contextmanager
def guarded(folder: Path, seconds: float = 20.0) -> Iterator[None]:
    """Within: only files in `folder` are written, nothing is unpickled or started, and it ends in time."""
    if not _watch.installed:
        sys.addaudithook(_watch)
        _watch.installed = True

    def late(number: int, frame: FrameType | None) -> None:
        raise Violation(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _watch.folder = Path(os.path.realpath(folder))
    try:
        yield
    finally:
        _watch.folder = None
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def limit_memory(more: int) -> None:
    """From here on the process may take `more` bytes of addresses on top of what it has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
