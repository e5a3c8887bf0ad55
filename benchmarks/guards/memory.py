"""The most memory that a call needs beyond what the process already holds."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path


def peak_increase(call: Callable[[], object]) -> int:
    """Run `call`; return by how many bytes the resident set grew at its peak (Linux).

    The kernel's own high-water mark where it can be reset, a sampling thread where it cannot.
    """
    before = _resident()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _sampled(call) - before
    call()
    return max(0, high_water() - before)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def high_water() -> int:
    """Most bytes that this process has had resident (Linux)."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise OSError("/proc/self/status has no VmHWM")


def _sampled(call: Callable[[], object]) -> int:
    peak, done = [_resident()], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], _resident())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        call()
    finally:
        done.set()
        thread.join()
    return peak[0]
