"""Progress of a cross-validation: a line with the fits that are done and the time left."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from parsifal.estimators.fold import FoldResult, FoldTask, run_fold


class FoldProgress:
    """Counts fits, shows how many are done and how long the rest will take; stops the workers on Ctrl-C."""

    def __init__(self, total: int, *, active: bool, each: Callable[[int, int, float], object] | None = None) -> None:
        self.total = total
        self.active = active
        self._each = each
        self._done = 0
        self._started = time.monotonic()
        self._shown = 0.0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._running = 0

    def run(self, task: FoldTask, unfinished: Callable[[FoldResult], object]) -> FoldResult:
        """Run a fold that stops when this context is left, in whichever thread; `unfinished` gets what it has then."""
        with self._lock:
            self._running += 1
        try:
            return run_fold(task, self.tick, self.poll, unfinished)
        finally:
            with self._lock:
                self._running -= 1

    def poll(self, _: object = None) -> None:
        """Stop the fold of this thread if the context has been left."""
        if self._stop.is_set():
            raise KeyboardInterrupt

    def tick(self, fits: int = 1) -> None:
        """Count fits, and report them."""
        self.poll()
        with self._lock:
            self._done += fits
            if self.active:
                self._show()
            if self._each is not None:
                self._each(self._done, self.total, time.monotonic() - self._started)

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._shown < (0.1 if sys.stderr.isatty() else 5.0) and self._done < self.total:
            return
        self._shown = now
        seconds = now - self._started
        left = seconds / self._done * (self.total - self._done)
        filled = 30 * self._done // self.total
        line = f"cross-validation [{'#' * filled}{'.' * (30 - filled)}] {self._done}/{self.total} fits  "
        line += f"{seconds:.1f} s, about {left:.0f} s left"
        sys.stderr.write(f"\r{line:<90}" if sys.stderr.isatty() else line + "\n")
        sys.stderr.flush()

    def __enter__(self) -> FoldProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        # A thread that is still in compiled code when the interpreter ends would take the process down with it.
        deadline = time.monotonic() + 5.0
        while self._running and time.monotonic() < deadline:
            time.sleep(0.01)
        if self.active and self._done and sys.stderr.isatty():
            sys.stderr.write("\n")
        if self.active and sys.stderr.isatty():
            sys.stderr.write("\n")
