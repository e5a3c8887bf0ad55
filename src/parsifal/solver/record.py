"""Write the certificate of a solve: the root's steps, then the search tree, as one tree of records."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray
from parsifal.problem.problem import Problem
from parsifal.problem.solution import Incumbent
from parsifal.proof.certificate import DUAL_VALUE, EXHAUSTED, INDEPENDENCE, Certificate, fingerprint
from parsifal.solver.root import ProofStep, Root
from parsifal.solver.tree import SearchResult

Parts = dict[str, list[npt.NDArray[Any]]]

_RAGGED = {
    "coef": ("coef_index", "coef_value"),
    "fixed": ("fixed_column",),
    "frame": ("frame_column", "frame_diagonal"),
}
_AT_ONCE = 1 << 16  # positions; what they need besides stays in the cache
_FLAT = ("parent", "column", "side", "frame", "kind")


def make_certificate(root: Root, found: SearchResult | None, lower_bound: float, size_limit: float) -> Certificate:
    """Gather the proof that `lower_bound` holds; only the claim if the proof is larger than `size_limit` bytes."""
    problem, best = root.problem, root.incumbent
    parts = _no_parts()
    complete = size_limit > 0 and bool(root.steps) and (found is None or found.tree is not None)
    tree = found.tree if complete and found is not None else None
    index = np.empty(0, dtype=np.int64) if root.reduced is None else root.reduced.index
    if complete:
        for number, step in enumerate(root.steps):
            _add_step(parts, step, number)
    if tree is not None:
        _add_tree(parts, tree, index, len(root.steps))
    arrays: dict[str, Any] = _gather(parts)
    if tree is not None:
        _name_columns(arrays, tree, index)
    if sum(array.nbytes for array in arrays.values()) > size_limit:
        complete = False
        arrays = _gather(_no_parts())
    twins = np.empty((2, 0), dtype=np.int64) if found is None or not complete else found.twins
    return _certificate(problem, best, lower_bound, complete, root.first_beta, twins, arrays)


def certificate_of_sets(problem: Problem, best: Incumbent, lower_bound: float, beta: FloatArray) -> Certificate:
    """The proof of one record, that all supports were gone through; `beta` is X'y."""
    none = np.empty((2, 0), dtype=np.int64)
    arrays = {name: array.copy() for name, array in _one_record().items()}
    return _certificate(problem, best, lower_bound, True, beta, none, arrays)


def _certificate(
    problem: Problem,
    best: Incumbent,
    lower_bound: float,
    complete: bool,
    first_beta: FloatArray,
    twins: IntArray,
    arrays: dict[str, Any],
) -> Certificate:
    fix, forced = problem.fix, (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if fix.any():
        forced = np.flatnonzero(fix == 1), np.flatnonzero(fix == -1)
        first_beta = np.where(fix >= 0, first_beta, 0.0) if first_beta.size else first_beta
    return Certificate(
        shape=(problem.n, problem.p),
        k=problem.k,
        **problem.stated,
        gamma=problem.gamma,
        forced_in=forced[0],
        forced_out=forced[1],
        support=best.support,
        coef=best.coef,
        objective=best.objective,
        lower_bound=lower_bound,
        complete=complete,
        fingerprint=fingerprint(first_beta) if first_beta.size else 0.0,
        independence=INDEPENDENCE if math.isinf(problem.gamma) else 0.0,
        twin_later=twins[0],
        twin_earlier=twins[1],
        **arrays,
    )


@cache
def _one_record() -> dict[str, npt.NDArray[Any]]:
    """The arrays of a proof whose only record is exhausted."""
    parts = _no_parts()
    for name, value in zip(_FLAT, (-1, -1, 0, -1, EXHAUSTED)):
        parts[name].append(np.array([value]))
    for name in ("coef_count", "fixed_count"):
        parts[name].append(np.array([0]))
    return _gather(parts)


def _no_parts() -> Parts:
    parts: Parts = {name: [] for name in _FLAT}
    for kind, values in _RAGGED.items():
        for name in (f"{kind}_count", *values):
            parts[name] = []
    return parts


def _add_step(parts: Parts, step: ProofStep, number: int) -> None:
    """One round of the root: a record below the previous one, in a frame of its own if it was tightened."""
    frame = -1
    if step.columns is not None and step.diagonal is not None:
        frame = len(parts["frame_count"])
        parts["frame_count"].append(np.array([step.columns.size]))
        parts["frame_column"].append(step.columns)
        parts["frame_diagonal"].append(step.diagonal)
    for name, value in zip(_FLAT, (number - 1, -1, 0, frame, DUAL_VALUE)):
        parts[name].append(np.array([value]))
    fixed = np.concatenate([1 + step.into, -1 - step.out])
    parts["coef_count"].append(np.array([step.index.size]))
    parts["coef_index"].append(step.index)
    parts["coef_value"].append(step.coef)
    parts["fixed_count"].append(np.array([fixed.size]))
    parts["fixed_column"].append(fixed)


def _add_tree(parts: Parts, tree: dict[str, Any], index: IntArray, below: int) -> None:
    """The search tree, whose columns are positions in `index`, hung below the root's last record; those of coefficients
    and of what is fixed are named when all are gathered (`_name_columns`)."""
    frames = len(parts["frame_count"])
    parts["parent"].append(np.where(tree["parent"] < 0, below - 1, tree["parent"] + below))
    decided = tree["column"] >= 0
    column = np.full(decided.size, -1, dtype=np.int64)
    column[decided] = index[tree["column"][decided]]
    parts["column"].append(column)
    parts["side"].append(tree["side"])
    parts["frame"].append(tree["frame"] + frames)
    parts["kind"].append(tree.get("kind", np.full(tree["parent"].size, DUAL_VALUE)))
    offset, position = tree["index"]
    parts["coef_count"].append(np.diff(offset))
    parts["coef_index"].append(position)
    parts["coef_value"].append(tree["coef"][1])
    offset, fixed = tree["fixed"]
    parts["fixed_count"].append(np.diff(offset))
    parts["fixed_column"].append(fixed)
    for columns, diagonal in tree["frames_list"]:
        parts["frame_count"].append(np.array([len(columns)]))
        parts["frame_column"].append(index[np.asarray(columns, dtype=np.int64)])
        parts["frame_diagonal"].append(np.asarray(diagonal))


def _name_columns(arrays: dict[str, npt.NDArray[Any]], tree: dict[str, Any], index: IntArray) -> None:
    """Put the columns' names in the places of the tree's positions, which are last. In place, and not in the tree, of
    which another certificate may be made: a wide search fixes millions, and its time is up."""
    # Position i is i + 1 where it is fixed to 1, and -1 - i where it is fixed to 0.
    fixed = np.concatenate([-1 - index[::-1], [0], 1 + index])
    for name, source, names, origin in (
        ("coef_index", "index", index, 0),
        ("fixed_column", "fixed", fixed, index.size),
    ):
        array = arrays[name]
        for start in range(array.size - tree[source][1].size, array.size, _AT_ONCE):
            part = array[start : start + _AT_ONCE]
            part[:] = names[part + origin]


def _gather(parts: Parts) -> dict[str, npt.NDArray[Any]]:
    def join(name: str, dtype: Any) -> npt.NDArray[Any]:
        found = parts[name]
        return np.concatenate(found, dtype=dtype, casting="unsafe") if found else np.empty(0, dtype)

    arrays = {name: join(name, np.int64) for name in _FLAT}
    for kind, values in _RAGGED.items():
        counts = join(f"{kind}_count", np.int64)
        arrays[f"{kind}_offset"] = np.zeros(counts.size + 1, dtype=np.int64)
        np.cumsum(counts, out=arrays[f"{kind}_offset"][1:])
        for name in values:
            arrays[name] = join(name, np.float64 if name in ("coef_value", "frame_diagonal") else np.int64)
    return arrays
