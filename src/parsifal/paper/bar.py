"""The progress of an experiment: runs done, and the time left."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

_WIDTH = 24


class Bar:
    """Shows a line on stderr; runs of one kind (part, method, n) are taken to need equal times, `workers` at a time.

    Parameters
    ----------
    title : str
        Shown first.
    total, done : int
        Runs in all, and those that were there at the start.
    active : bool
        Whether to show anything.
    """

    def __init__(self, title: str, total: int, done: int, *, active: bool) -> None:
        self.title = title
        self.total = total
        self.done = self._before = done
        self.workers = 1
        self.active = active
        self._left: Counter[Any] = Counter()
        self._seconds: defaultdict[Any, list[float]] = defaultdict(list)
        self._started = time.monotonic()
        self._shown = 0.0

    def expect(self, tasks: Sequence[dict[str, Any]]) -> None:
        """Say what is left."""
        self._left = Counter(_kind(task) for task in tasks)

    def tick(self, task: dict[str, Any], seconds: float) -> None:
        """One run more is done."""
        self.done += 1
        self._seconds[_kind(task)].append(seconds)
        self._left[_kind(task)] -= 1
        self._show()

    def others(self, done: int, left: Sequence[dict[str, Any]]) -> None:
        """Another process has done some."""
        self.expect(left)
        if done != self.done:
            self.done = done
            self._show()

    def seconds_left(self) -> float:
        """Estimate from the mean time of runs of the same kind, or else of all runs."""
        every = [s for runs in self._seconds.values() for s in runs]
        if not every:
            return 0.0
        typical = sum(every) / len(every)
        need = 0.0
        for kind, count in self._left.items():
            runs = self._seconds.get(kind)
            need += max(0, count) * (sum(runs) / len(runs) if runs else typical)
        return need / self.workers

    def _show(self) -> None:
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if not self.active or (now - self._shown < (0.1 if terminal else 10.0) and self.done < self.total):
            return
        self._shown = now
        filled = _WIDTH * self.done // max(1, self.total)
        line = f"{self.title} [{'#' * filled}{'.' * (_WIDTH - filled)}] {self.done}/{self.total} runs  "
        line += f"{_clock(now - self._started)}, about {_clock(self.seconds_left())} left"
        sys.stderr.write(f"\r{line:<90}" if terminal else line + "\n")
        sys.stderr.flush()

    def __enter__(self) -> Bar:
        if self.active and self._before:
            sys.stderr.write(f"{self.title}: {self._before} of {self.total} runs are in the results file already\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self.active and sys.stderr.isatty():
            sys.stderr.write("\n")


def _kind(task: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(task.get(name) for name in ("part", "method", "n"))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
