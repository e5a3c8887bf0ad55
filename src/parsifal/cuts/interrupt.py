"""Ctrl-C while a solver runs: noted, not raised, because an exception inside a solver's callback would be lost."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Any


class Interruptible:
    """Within its block Ctrl-C sets `pressed`; callbacks look at it and end the solver. Outside the main thread, where
    Python gives no signals, nothing changes."""

    def __init__(self) -> None:
        self.pressed = False
        self._old: Any = None

    def __enter__(self) -> Interruptible:
        if threading.current_thread() is threading.main_thread():
            self._old = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, *_: Any) -> None:
        self.pressed = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._old is not None:
            signal.signal(signal.SIGINT, self._old)
