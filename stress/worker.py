"""The process that solves: one line of JSON for the start and the end of every problem, to a pipe of its own."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oracles.ways import relaxations_alone
from stress.methods import Outcome, Runner
from stress.problems import LARGEST_P, StressProblem, make_problem
from stress.saved import load_problem, save_problem


def solve_one(seed: int, number: int, saved: Path | None = None, most: int = LARGEST_P) -> dict[str, Any]:
    """Make and solve one problem; a disagreement is saved, with its data."""
    record, problem = _solve(number, lambda folder: (make_problem(seed, number, folder, most), []))
    if record["faults"] and saved is not None:
        save(saved, record, problem)
    return record


def solve_saved(path: Path) -> dict[str, Any]:
    """Solve a problem that was saved, by the methods that it went through at least."""
    return _solve(-1, lambda folder: load_problem(path, folder))[0]


def solve_and_save(seed: int, number: int, path: Path, most: int = LARGEST_P) -> dict[str, Any]:
    """Make and solve one problem, and save it whatever comes of it."""
    record, problem = _solve(number, lambda folder: (make_problem(seed, number, folder, most), []))
    if problem is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_problem(path, problem, record["extras"])
    return record


def _solve(
    number: int, get: Callable[[Path], tuple[StressProblem, list[str]]]
) -> tuple[dict[str, Any], StressProblem | None]:
    """Get a problem and solve it: what came of it, and the problem if it could be made."""
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="parsifal-stress-"))
    problem: StressProblem | None = None
    try:
        problem, also = get(folder)
        # Every other problem by trees: small ones are closed set by set.
        with relaxations_alone() if problem.number % 2 else contextlib.nullcontext():
            outcome = Runner(problem, folder).run(also)
    except Exception:
        # Not one of the solver's own errors: the program that tests has failed, or a design could not be made.
        outcome = Outcome(faults=["the stress program: " + traceback.format_exc(limit=-3)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    record: dict[str, Any] = {
        "number": number if problem is None else problem.number,
        "seconds": round(time.monotonic() - started, 4),
        "faults": outcome.faults,
        "refused": outcome.refused,
        "ran": outcome.ran,
        "extras": outcome.extras,
        "proven": [a.method for a in outcome.answers if a.status in ("optimal", "listed")],
        "certificates": outcome.certificates,
        "excess": outcome.excess,
    }
    if problem is not None:
        record["problem"] = problem.describe()
    return record, problem


def save(folder: Path, record: dict[str, Any], problem: StressProblem | None) -> None:
    """Keep a disagreement: its description and, if it got so far, the problem itself."""
    folder.mkdir(parents=True, exist_ok=True)
    name = folder / f"problem-{record['number']}"
    name.with_suffix(".json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if problem is not None:
        save_problem(name.with_suffix(".npz"), problem, record["extras"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--start", type=int, required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--stop", type=int, required=True)
    parser.add_argument("--pipe", type=int, required=True)
    parser.add_argument("--most", type=int, required=True)
    parser.add_argument("--saved", type=Path, required=True)
    args = parser.parse_args()
    with os.fdopen(args.pipe, "w", encoding="utf-8", buffering=1) as pipe:
        for number in range(args.start, args.stop, args.step):
            print(json.dumps({"begin": number}), file=pipe)
            print(json.dumps(solve_one(args.seed, number, args.saved, args.most)), file=pipe)


if __name__ == "__main__":
    main()
