"""Results as JSON lines: a row is written whole or not at all, and a run that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Key = tuple[str, int, str]  # case, seed, form


class Store:
    """The rows of a run, in memory and in its file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self.rows: list[dict[str, Any]] = []
        text = file.read_bytes() if file.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):  # the line that was being written when the run was killed
            with file.open("r+b") as handle:
                handle.truncate(len(whole))
        for line in whole.decode("utf-8").splitlines():
            self.rows.append(json.loads(line))

    def add(self, kind: str, **values: Any) -> dict[str, Any]:
        """Append a row; it is on the disk when this returns."""
        row = json.loads(json.dumps({"row": kind, **values}))
        line = (json.dumps(row) + "\n").encode("utf-8")
        with self._file.open("ab", buffering=0) as handle:
            handle.write(line)
            os.fsync(handle.fileno())
        self.rows.append(row)
        return row

    def of(self, kind: str, **values: Any) -> Iterator[dict[str, Any]]:
        """The rows of a kind that have these values."""
        for row in self.rows:
            if row["row"] == kind and all(row.get(name) == value for name, value in values.items()):
                yield row

    def first(self, kind: str, **values: Any) -> dict[str, Any] | None:
        """The first such row, or None."""
        return next(self.of(kind, **values), None)

    def start(self, solver: str) -> dict[str, Any] | None:
        """How a solver's last start went; a peer may have been installed since the first."""
        return next(iter(reversed(list(self.of("start", solver=solver)))), None)

    def problems(self) -> dict[Key, dict[str, Any]]:
        """The problems, by key, in the order of the run."""
        return {(row["case"], row["seed"], row["form"]): row for row in self.of("problem")}

    def answers(self) -> dict[Key, dict[str, dict[str, Any]]]:
        """The answers, by problem and solver; where a solver was asked twice, the last counts."""
        found: dict[Key, dict[str, dict[str, Any]]] = {}
        for row in self.of("answer"):
            found.setdefault((row["case"], row["seed"], row["form"]), {})[row["solver"]] = row
        return found
