"""A problem as one file, an .npz: what it is made of, not how it was drawn.

It stays the same problem when the generator changes. What disagreed once is kept like this, below tests/data/stress.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stress.problems import StressProblem, make_design

_FORCED = ("force_in", "force_out")


def save_problem(path: Path, problem: StressProblem, extras: list[str]) -> None:
    """Write a problem, and the names of the extra methods that it went through."""
    arrays = {name: part for name, part in problem.parts.items() if isinstance(part, np.ndarray)}
    about = {
        **{name: getattr(problem, name) for name in ("seed", "number", "kind", "k", "penalty", "gamma", "traits")},
        **{name: list(getattr(problem, name)) for name in _FORCED},
        "extras": extras,
        "parts": {name: part for name, part in problem.parts.items() if name not in arrays},
    }
    named = {f"part_{name}": part for name, part in arrays.items()}
    np.savez_compressed(path, about=np.array(json.dumps(about)), y=problem.y, **named)


def load_problem(path: Path, folder: Path) -> tuple[StressProblem, list[str]]:
    """Read a problem and the names of its extra methods; kinds that are files put them into `folder`."""
    with np.load(path) as file:
        about = json.loads(str(file["about"]))
        parts = about.pop("parts") | {name[5:]: file[name] for name in file.files if name.startswith("part_")}
        y = file["y"]
    extras = about.pop("extras")
    about |= {name: tuple(about[name]) for name in _FORCED}
    given, dense, exact = make_design(about["kind"], parts, folder)
    return StressProblem(parts=parts, X=given, dense=dense, exact=exact, y=y, **about), extras
