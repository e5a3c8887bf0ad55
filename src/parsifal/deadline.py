"""What the work at hand may use: time until a deadline, and threads.

A solve opens a scope, and whatever runs below it, in this thread, asks the scope: reads of X, products of columns, the
compiled verbs. Work that cannot be ended half done raises `TimeUp`, which the solve turns into status "time_limit".
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from parsifal._core import TimeUp

__all__ = [
    "TimeUp",
    "check_time",
    "limited",
    "seconds_left",
    "thread_limit",
    "unhurried",
    "usable_cores",
]


@dataclass(frozen=True)
class _Limits:
    deadline: float = math.inf  # of time.monotonic
    threads: int = 0  # 0: every core that this process may use


_NONE = _Limits()
_limits: ContextVar[_Limits] = ContextVar("parsifal_limits", default=_NONE)


@contextmanager
def limited(*, deadline: float = math.inf, threads: int = 0) -> Iterator[None]:
    """A scope with a deadline and a number of threads; an inner scope can only be tighter."""
    outer = _limits.get()
    if outer.threads and threads:
        threads = min(threads, outer.threads)
    token = _limits.set(_Limits(min(deadline, outer.deadline), threads or outer.threads))
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def unhurried() -> Iterator[None]:
    """A scope without a deadline, for what takes a moment and is worth more than being on time to the millisecond."""
    token = _limits.set(_Limits(threads=_limits.get().threads))
    try:
        yield
    finally:
        _limits.reset(token)


def seconds_left() -> float:
    """Seconds until the deadline, infinite if there is none; never negative."""
    deadline = _limits.get().deadline
    return math.inf if deadline == math.inf else max(0.0, deadline - time.monotonic())


def check_time() -> None:
    """Raise `TimeUp` if the deadline has passed."""
    if time.monotonic() >= _limits.get().deadline:
        raise TimeUp


def thread_limit() -> int:
    """Threads that a call may start; 0 means every core that this process may use."""
    return _limits.get().threads or usable_cores()


def usable_cores() -> int:
    """Cores that this process should use by itself.

    The cores of its affinity mask, at most what its control group's quota pays for, and at most what the environment
    says: ``PARSIFAL_NUM_THREADS``, or ``OMP_NUM_THREADS``, which joblib, Dask and batch systems set for their workers.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("PARSIFAL_NUM_THREADS", "OMP_NUM_THREADS"):
        # OMP_NUM_THREADS may be a list, one number a level of nesting.
        word = os.environ.get(name, "").split(",")[0].strip()
        if word.isdigit() and int(word) > 0:
            return min(cores, int(word))
    return max(1, min(cores, _quota()))


@cache
def _quota(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Whole cores that the control group's quota pays for (rounded up), without one a large number."""
    try:
        words = (root / "cpu.max").read_text(encoding="ascii").split()
        quota, period = float(words[0]), float(words[1])
    except (OSError, ValueError, IndexError):
        try:
            quota = float((root / "cpu/cpu.cfs_quota_us").read_text(encoding="ascii"))
            period = float((root / "cpu/cpu.cfs_period_us").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 1 << 16
    return math.ceil(quota / period) if quota > 0 and period > 0 else 1 << 16
