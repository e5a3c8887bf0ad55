"""The process that solves: one line of JSON for the start and the end of every problem, to a pipe of its own."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from stress.methods import Outcome, Runner
from stress.problems import LARGEST_P, StressProblem, make_problem


def solve_one(seed: int, number: int, saved: Path | None = None, most: int = LARGEST_P) -> dict[str, Any]:
    """Make and solve one problem; a disagreement is saved, with its data."""
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="parsifal-stress-"))
    problem: StressProblem | None = None
    try:
        problem = make_problem(seed, number, folder, most)
        outcome = Runner(problem, folder).run()
    except Exception:
        # Not one of the solver's own errors: the program that tests has failed, or a design could not be made.
        outcome = Outcome(faults=["the stress program: " + traceback.format_exc(limit=-3)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    record: dict[str, Any] = {
        "number": number,
        "seconds": round(time.monotonic() - started, 4),
        "faults": outcome.faults,
        "refused": outcome.refused,
        "ran": outcome.ran,
        "proven": [a.method for a in outcome.answers if a.status in ("optimal", "listed")],
        "certificates": outcome.certificates,
        "excess": outcome.excess,
    }
    if problem is not None:
        record["problem"] = problem.describe()
    if outcome.faults and saved is not None:
        save(saved, record, problem)
    return record


def save(folder: Path, record: dict[str, Any], problem: StressProblem | None) -> None:
    """Keep a disagreement: its description and, if it got so far, the plain data."""
    folder.mkdir(parents=True, exist_ok=True)
    name = folder / f"problem-{record['number']}"
    name.with_suffix(".json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if problem is not None:
        np.savez_compressed(name.with_suffix(".npz"), X=problem.dense, y=problem.y)


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
