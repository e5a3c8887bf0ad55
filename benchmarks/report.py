"""Aligned tables on the terminal, and the same rows as JSON lines."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Column:
    """A column of a table: which value of a row, how wide, in which format."""

    key: str
    title: str
    width: int
    form: str = ""

    def cell(self, row: Mapping[str, Any]) -> str:
        value = row.get(self.key)
        text = "-" if value is None else format(value, self.form)
        return text.ljust(self.width) if self.form == "s" else text.rjust(self.width)


class Table:
    """Prints a row as soon as it is known, and appends it to the JSON lines file if there is one."""

    def __init__(self, name: str, title: str, columns: Sequence[Column], json_file: Path | None = None) -> None:
        self.name = name
        self._columns = columns
        self._json = json_file
        print(f"\n{title}")
        header = " ".join(c.title.ljust(c.width) if c.form == "s" else c.title.rjust(c.width) for c in columns).rstrip()
        print(header)
        print("-" * len(header), flush=True)

    def row(self, **values: Any) -> None:
        """Print the row's columns; everything goes to the file."""
        print(" ".join(column.cell(values) for column in self._columns).rstrip(), flush=True)
        if self._json is not None:
            with self._json.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"benchmark": self.name, **values}, default=_plain) + "\n")


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that every benchmark takes."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--quick", action="store_true", help="sizes of a smoke test, seconds")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="append the rows to FILE as JSON lines")
    return arguments


def environment() -> str:
    """The machine and the versions, which belong to every figure."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "parsifal"))
    return f"{_processor()}, {cores} cores, Python {platform.python_version()}, {packages}"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
