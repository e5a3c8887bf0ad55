"""A forgery that was taken for true, with all left out that it does not need: what is left shows the hole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from forge.choices import apart
from forge.claims import fingerprint_of
from forge.draft import Draft, each
from forge.problems import ForgeProblem
from parsifal.proof.certificate import Certificate

_MOST = 150


def is_plain(certificate: Any) -> bool:
    """Whether every field is of the type that an honest certificate has, and of the right size for its neighbours."""
    c = certificate
    kinds = {"IntArray": np.int64, "FloatArray": np.float64}
    for entry in fields(c):
        value = getattr(c, entry.name)
        if str(entry.type) in kinds:
            if type(value) is not np.ndarray or value.ndim != 1 or value.dtype != kinds[str(entry.type)]:
                return False
        elif type(value) not in (int, float, bool, tuple):
            return False
    try:
        again = apart(c).build()
    except (IndexError, ValueError):
        return False
    return all(np.array_equal(getattr(c, f.name), getattr(again, f.name)) for f in fields(c))


def simplify(c: Any, problem: ForgeProblem, deceives: Callable[[Any], bool]) -> Any:
    """The smallest that still deceives, as far as leaving out one thing after another leads."""
    if not is_plain(c):
        plain = _made_plain(c)
        if plain is None or not deceives(plain):
            return c
        c = plain
    draft, left = apart(c), _MOST
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(draft, problem):
            left -= 1
            if deceives(smaller.build()):
                draft, progress = smaller, True
                break
            if left <= 0:
                break
    return draft.build()


def _made_plain(c: Any) -> Any:
    """The same without its disguise, if there is such a thing."""
    kinds: dict[str, Any] = {"int": int, "float": float, "bool": bool, "IntArray": np.int64, "FloatArray": np.float64}
    try:
        with np.errstate(all="ignore"):
            values: dict[str, Any] = {
                f.name: kinds[str(f.type)](getattr(c, f.name))
                if str(f.type) in ("int", "float", "bool")
                else np.array(getattr(c, f.name)).astype(kinds[str(f.type)]).ravel()
                for f in fields(c)
                if f.name != "shape"
            }
            if isinstance(c, Certificate):
                values["shape"] = (int(c.shape[0]), int(c.shape[1]))
            plain = replace(c, **values)
    except (TypeError, ValueError, OverflowError, IndexError, ArithmeticError):
        return None
    return plain if is_plain(plain) else None


def signs(c: Any, problem: ForgeProblem) -> list[str]:
    """What stands out in a forgery and in its data."""
    out = []
    if is_plain(c):
        draft = apart(c)
        used = [draft.frames[r.frame] for r in draft.records if 0 <= r.frame < len(draft.frames)]
        out += ["frame without columns"] if any(not items for items, _ in used) else []
        out += ["diagonal"] if any(np.any(np.concatenate([[0.0], *map(np.atleast_1d, d)])) for _, d in used) else []
        out += ["twins"] if draft.twins else []
        out += ["fixings"] if any(record.fixed for record in draft.records) else []
    else:
        out.append("odd arrays")
    out += ["no question"] if problem.referee.question(c) is None else []
    out += [f"extreme {name}" for name, numbers in (("X", problem.dense), ("y", problem.y)) if _is_extreme(numbers)]
    out += ["extreme gamma"] if not 1e-60 < _number(c.gamma) < 1e60 else []
    kind = getattr(problem.X, "dtype", np.float64)
    out += [f"{kind} {type(problem.X).__name__}"] if kind != np.float64 else []
    return out or ["ordinary"]


def _is_extreme(numbers: np.ndarray) -> bool:
    sizes = np.abs(numbers[numbers != 0])
    return bool(sizes.size) and not (sizes.min() > 1e-60 and sizes.max() < 1e60)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return 1.0


def _smaller(draft: Draft, problem: ForgeProblem) -> Iterator[Draft]:
    if draft.twins:
        other = draft.copy()
        other.twins = []
        yield other
    for r in reversed(range(len(draft.records))):
        record = draft.records[r]
        if r > 0 and r in draft.leaves():
            other = draft.copy()
            other.records.pop(r)
            for later in other.records:
                later.parent -= later.parent > r
            yield other
        for change in ({"index": [], "value": []}, {"fixed": []}, {"frame": -1}):
            if any(getattr(record, name) != value for name, value in change.items()):
                other = draft.copy()
                for name, value in change.items():
                    setattr(other.records[r], name, value)
                other.claim["fingerprint"] = fingerprint_of(other, problem)
                yield other
    used = {record.frame for record in draft.records}
    if draft.frames and len(draft.frames) - 1 not in used:
        other = draft.copy()
        other.frames.pop()
        yield other
    for at, (_, diagonal) in enumerate(draft.frames):
        nothing = [each(entry, lambda _: 0.0) for entry in diagonal]
        if diagonal != nothing:
            other = draft.copy()
            other.frames[at] = (other.frames[at][0], nothing)
            yield other
