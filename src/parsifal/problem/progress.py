"""Progress of a long solve: a line that shows the gap closing, or a call to the user's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TextIO

from parsifal._public import public
from parsifal.errors import InputError
from parsifal.problem.solution import relative_gap


@public
@dataclass(frozen=True, kw_only=True)
class Progress:
    """A snapshot of a running solve."""

    objective: float
    lower_bound: float
    nodes: int
    open_nodes: int
    seconds: float
    reads: float
    label: str = ""

    @property
    def gap(self) -> float:
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        label = f"{self.label}  " if self.label else ""
        return (
            f"{label}{self.seconds:7.1f} s  best {self.objective:.6g}  bound {self.lower_bound:.6g}  "
            f"gap {self.gap:8.2e}  "
            f"nodes {self.nodes}  open {self.open_nodes}  reads {self.reads:.3g}"
        )


@public
class History(list[Progress]):
    """Keeps every snapshot: ``pf.solve(..., progress=history)``, then ``pf.plots.bounds(history)``."""

    def __call__(self, progress: Progress) -> None:
        self.append(progress)


ProgressOption = bool | Callable[[Progress], object]


class Reporter:
    """Hands snapshots to the user's function, or rewrites one line on a terminal (elsewhere: a line now and then)."""

    def __init__(self, option: ProgressOption, stream: TextIO | None = None) -> None:
        if not (isinstance(option, bool) or callable(option)):
            raise InputError(f"progress must be True, False or a function, not {option!r}")
        # An empty list that can be called is false, but wants to be called.
        self.active = callable(option) or bool(option)
        self._call = option if callable(option) else None
        self._stream = stream
        self._shown = -1e9
        self._width = 0

    def show(self, progress: Progress, *, last: bool = False) -> None:
        """Take a snapshot; the last one is shown in any case."""
        if not self.active:
            return
        if self._call is not None:
            self._call(progress)
            return
        stream = self._stream or sys.stderr
        now = time.monotonic()
        if now - self._shown < (0.1 if stream.isatty() else 5.0) and not last:
            return
        self._shown = now
        self._write(stream, progress)

    def _write(self, stream: TextIO, progress: Progress) -> None:
        line = str(progress)
        if stream.isatty():
            stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            stream.write(line + "\n")
        stream.flush()

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.active and self._call is None and self._width:
            (self._stream or sys.stderr).write("\n")
