"""The results file: one JSON line per finished run, appended, never changed.

A row is written by a single write at the end of the file and synced, so a process that is killed loses at most the runs
that it was at, and leaves at worst one torn line, which readers skip and the next writer ends. Runs are claimed by
locks on bytes of a file beside it: two processes on the same results share the work, and the system gives up the
claims of a process that dies.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parsifal.errors import DataError
from parsifal.files import system
from parsifal.files.atomic import unwritable
from parsifal.files.untrusted import parse_json

Task = dict[str, Any]
Row = dict[str, Any]

# Byte 0 of the lock file is for writing; the rest for the runs, by a hash.
_WRITING = 0
_PLACES = 1 << 40


def key_of(task: Task) -> str:
    """The task as text; equal tasks have equal keys."""
    return json.dumps(task, sort_keys=True)


class ResultsFile:
    """The rows of one experiment.

    At most one per path and process: locks of POSIX files belong to the process.

    Parameters
    ----------
    path : path
        Made, with its directory, when it is not there.
    experiment : str
        Rows of another one are an error.
    """

    def __init__(self, path: Path, experiment: str) -> None:
        self.path = path
        self.experiment = experiment
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | system.BINARY, 0o644)
            self._locks = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | system.BINARY, 0o644)
        except OSError as error:
            raise DataError(f"cannot write results to {path}: {error.strerror}; choose another --out") from None

    def rows(self) -> dict[str, Row]:
        """All finished runs by key; where two rows have the same key, the first."""
        found: dict[str, Row] = {}
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), start=1):
            # A power failure may leave zeros where the length was on the disk before the bytes were.
            if not line.strip(b"\0 \t\r"):
                continue
            try:
                row = parse_json(line, finite=False)
            except ValueError:
                # Every row begins in the same way, so what a killed process left behind does too.
                if _begins(line, self.experiment):
                    continue
                raise DataError(f"{self.path}, line {number}: not a result; move the file away") from None
            if not isinstance(row, dict) or row.get("experiment") != self.experiment or "task" not in row:
                raise DataError(f"{self.path}, line {number}: not a result of {self.experiment}; move the file away")
            found.setdefault(key_of(row["task"]), row)
        return found

    def append(self, row: Row) -> None:
        """Add a row, for good."""
        line = json.dumps({"experiment": self.experiment, **row}).encode() + b"\n"
        system.lock_byte(self._locks, _WRITING, wait=True)
        try:
            size = os.fstat(self._file).st_size
            if size and system.read_at(self._file, 1, size - 1) != b"\n":
                line = b"\n" + line
            try:
                written = os.write(self._file, line)
                os.fsync(self._file)
            except OSError as error:
                raise unwritable(self.path, error) from error
            if written != len(line):
                raise DataError(f"{self.path}: the disk took {written} of {len(line)} bytes; make room and run again")
        finally:
            system.unlock_byte(self._locks, _WRITING)

    def claim(self, task: Task) -> bool:
        """Take a run for this process; False if another process has it."""
        return system.lock_byte(self._locks, _place(task), wait=False)

    def release(self, task: Task) -> None:
        """Give a run back."""
        system.unlock_byte(self._locks, _place(task))

    def close(self) -> None:
        os.close(self._file)
        os.close(self._locks)

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def select(rows: dict[str, Row], tasks: Iterable[Task]) -> list[Row]:
    """The rows of these tasks, in their order; tasks that have not been run are left out."""
    return [rows[key] for key in map(key_of, tasks) if key in rows]


def _begins(line: bytes, experiment: str) -> bool:
    start = json.dumps({"experiment": experiment}).encode()[:-1]
    return start.startswith(line[: len(start)])


def _place(task: Task) -> int:
    return 1 + int.from_bytes(hashlib.sha256(key_of(task).encode()).digest()[:8], "big") % _PLACES
