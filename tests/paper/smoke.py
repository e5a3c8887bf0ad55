"""Every experiment at the size of a smoke test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parsifal.paper import Options

SIZES: dict[str, dict[str, Any]] = {
    "table1": {"cells": ((2, 60, 40), (3, 80, 50))},
    "figure1": {"ns": (20, 30), "p": 40, "k": 2, "repeats": 2},
    "figure-p": {"ns": (20, 30), "values": (30, 40), "k": 2, "repeats": 1},
    "figure-k": {"ns": (20, 30), "values": (1, 2), "p": 30, "repeats": 1},
    "figure-snr": {"ns": (20, 30), "values": (5, 20), "p": 30, "k": 2, "repeats": 1},
    "nonlinear": {"ns": (40,), "values": (0,), "repeats": 1},
}


def options(name: str, out: Path, **changed: Any) -> Options:
    """Small, quiet, and in `out`."""
    return Options(**{"out": out, "progress": False, "time_limit": 60.0, **SIZES[name], **changed})


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What must be the same whenever a task is run again."""
    return [
        {
            "task": row["task"],
            "result": {name: value for name, value in row["result"].items() if "seconds" not in name},
        }
        for row in rows
    ]
