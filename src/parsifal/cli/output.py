"""What the user sees: results on standard output, the live line and messages on standard error, and exit codes."""

from __future__ import annotations

import functools
import json as json_module
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from parsifal.errors import DataError, InputError, MissingBackendError, ParsifalError
from parsifal.problem.progress import History, Progress
from parsifal.tabular.modelfile import without_nan

OK, ERROR, USAGE, NOT_PROVEN, INVALID, INTERRUPTED = 0, 1, 2, 3, 4, 130

_MOST_SNAPSHOTS = 4000
_PLAIN_FIRST, _PLAIN_EVERY = 1.0, 5.0


class Refused(DataError):
    """A table with several faults, and a command line that would do."""

    def __init__(self, first: str, faults: Sequence[str], command: str) -> None:
        super().__init__("\n".join([first, *(f"  {fault}" for fault in faults), f"This would do: {command}"]))


P = ParamSpec("P")
R = TypeVar("R")


class Output:
    """Where to print and how much."""

    def __init__(self, *, json: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, words: str, style: str = "") -> None:
        """A sentence for people: nothing with --json or --quiet."""
        if not (self.json or self.quiet):
            self.out.print(Text(words, style=style))

    def note(self, words: str) -> None:
        """A message beside the results."""
        if not self.quiet:
            self.err.print(Text(words, style="dim"))

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
        if self.json or self.quiet:
            return
        table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        longest = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for i, name in enumerate(head):
            words = i in left
            # Names may wrap on a narrow terminal; a number that is cut would be another number.
            table.add_column(
                Text(name),
                justify="left" if words else "right",
                header_style="dim",
                overflow="fold",
                no_wrap=not words,
                min_width=None if words else longest[i],
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        needed = sum(longest) + 2 * len(head)
        self.out.print(table, width=None if self.out.is_terminal else max(needed, len(title)), crop=False)

    def busy(self, words: str) -> AbstractContextManager[object]:
        """Show, on a terminal, that something takes its time."""
        if self.quiet or not self.err.is_terminal:
            return nullcontext()
        return self.err.status(words)

    def result(self, values: dict[str, Any]) -> None:
        """The one object of --json."""
        if self.json:
            sys.stdout.write(json_module.dumps(without_nan(values), indent=2, allow_nan=False) + "\n")


class Live:
    """A line with incumbent, bound, gap, nodes and time that is rewritten on a terminal; elsewhere a line now and then.

    It is the solver's progress function, and keeps the snapshots for the report.
    """

    def __init__(self, output: Output) -> None:
        self.history = History()
        self.fits_done = 0
        self._output = output
        self._next: float | None = None
        self._live: RichLive | None = None
        if output.err.is_terminal and not output.quiet:
            self._live = RichLive(console=output.err, transient=True, refresh_per_second=10)

    def __enter__(self) -> Live:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        self.history.append(progress)
        if len(self.history) > _MOST_SNAPSHOTS:
            # The first, the last and every second of the rest.
            self.history[1:-1] = self.history[1:-1:2]
        self._show(str(progress))

    def fits(self, done: int, total: int, seconds: float) -> None:
        """Fits of a cross-validation that are done."""
        self.fits_done = done
        left = seconds / done * (total - done)
        self._show(f"cross-validation: {done} of {total} fits, {seconds:.1f} s, about {left:.0f} s left")

    def _show(self, words: str) -> None:
        if self._output.quiet:
            return
        if self._live is not None:
            self._live.update(Text(words, no_wrap=True, overflow="ellipsis"))
            return
        now = time.monotonic()
        if self._next is None:
            # A second after the solver's first word, so that a short solve leaves no line behind.
            self._next = now + _PLAIN_FIRST
        elif now >= self._next:
            self._next = now + _PLAIN_EVERY
            self._output.err.print(Text(words))


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors into one sentence and an exit code; with --debug they come with their traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        # A batch system that ends the job is treated like Ctrl-C: the best so far is printed and written.
        main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGTERM, signal.default_int_handler) if main else None
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            # Whoever reads has closed the pipe (`| head`): typer ends quietly.
            raise
        except KeyboardInterrupt as stop:
            _fail(str(stop) or "interrupted before there was anything to show; run it again", kwargs, INTERRUPTED)
        except Exception as error:
            if kwargs.get("debug"):
                raise
            # What the user gave, or something that went wrong all the same.
            given = isinstance(error, (InputError, DataError, MissingBackendError, OSError, ValueError))
            _fail(_sentence(error), kwargs, USAGE if given else ERROR)
        finally:
            if main:
                signal.signal(signal.SIGTERM, before)

    return run


def _sentence(error: Exception) -> str:
    if isinstance(error, Refused):
        return str(error)
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ParsifalError):
        return words
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}; check the name and its permissions"
    if isinstance(error, MemoryError):
        return "there is not enough memory; use fewer columns, or a .npy file that is read in blocks"
    if isinstance(error, ValueError):
        return words
    return f"{type(error).__name__}: {words}; run again with --debug and report it"


def _fail(words: str, options: dict[str, Any], code: int) -> NoReturn:
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text("error: ", style="bold red") + Text(words))
    if options.get("json"):
        sys.stdout.write(json_module.dumps({"error": words, "code": code}) + "\n")
    raise typer.Exit(code)
