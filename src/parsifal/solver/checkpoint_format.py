"""Whether the arrays of a checkpoint fit together, so that a damaged file is an error and nothing worse.

What they say about the problem is not proven here: the reads of X do that for the products, and the certificate for the
bound. Here every length, every type and every index is looked at before anything is indexed with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray
from parsifal.files.untrusted import Unreadable
from parsifal.problem.problem import Problem

Arrays = dict[str, npt.NDArray[Any]]

# Lists of the tree: what they are one per, and the type of their entries.
_LISTS = {
    "frame_columns": ("frame_id", "i"),
    "frame_diagonal": ("frame_id", "f"),
    "frame_w": ("frame_id", "f"),
    "node_fix": ("node_bound", "i"),
    "node_index": ("node_bound", "i"),
    "node_v": ("node_bound", "f"),
    "candidate": ("node_bound", "i"),
    "candidate_fraction": ("node_bound", "f"),
    "candidate_v": ("node_bound", "f"),
    "node_branch": ("node_bound", "i"),
    "record_index": ("record_bound", "i"),
    "record_w": ("record_bound", "f"),
    "record_fixed": ("record_bound", "i"),
}
_NUMBERS = {
    "frame_tightened": ("frame_id", "i"),
    "node_frame": ("node_bound", "i"),
    "node_depth": ("node_bound", "i"),
    "node_record": ("node_bound", "i"),
    "record_parent": ("record_bound", "i"),
    "record_column": ("record_bound", "i"),
    "record_side": ("record_bound", "i"),
    "record_frame": ("record_bound", "i"),
    "record_kind": ("record_bound", "i"),
}

# Numbers of the tree that are there once; the first two may be infinite.
_VALUES = ("objective", "pruned")
_COUNTS = ("nodes_seen", "solves", "frames_made", "depth")
_FLAGS = ("improved", "records_dropped")
ROUNDING = ("unit", "error", "base", "drift", "reach")
"""Fields of `Rounding` that are numbers."""


def check_layout(saved: Arrays, problem: Problem) -> None:
    """Raise `Unreadable`, naming the array, if the arrays do not fit together or the problem."""
    look = _Look(saved)
    p = problem.p
    support = look.ascending("support", p)
    forced = np.flatnonzero(problem.fix == 1)
    if support.size > problem.k or np.any(problem.fix[support] < 0) or not np.isin(forced, support).all():
        raise Unreadable("support is not one that the problem allows")
    if "point_index" not in saved:
        return
    point = look.indices("point_index", p)
    look.floats("point_coef", point.size)
    look.floats("sketch", p)
    if np.unique(point).size < point.size:
        raise Unreadable("point_index names a column twice")
    if "reduced_index" not in saved:
        working = look.indices("working_set", p)
        if np.unique(working).size < working.size:
            raise Unreadable("working_set names a column twice")
        return
    m = look.ascending("reduced_index", p).size
    look.floats("v", m)
    for name in ("lower_bound", "root_bound", "largest_square", "solves"):
        look.scalar(name)
    if "gram" in saved:
        _check_quadratic(look, m)
    look.fixes("fix", p)
    look.fixes("reduced_fix", m)
    diagonal = look.floats("diagonal", None)
    if diagonal.size not in (0, m) or np.any(_ridge_left(problem.gamma, diagonal) < 0.5):
        raise Unreadable("diagonal has the wrong length or takes away the ridge")
    _check_steps(look, p)
    if any(name.startswith("tree_") for name in saved):
        _check_tree(look, m)


def _check_quadratic(look: _Look, m: int) -> None:
    """The survivors in inner products; where they are held as columns, these are not there."""
    look.matrix("gram", m)
    for name in ("v0", "beta0"):
        look.floats(name, m)
    look.scalar("ls0")
    for name in ROUNDING:
        if look.scalar(f"rounding_{name}") < 0:
            raise Unreadable(f"rounding_{name} is negative")


def _check_steps(look: _Look, p: int) -> None:
    framed = look.get("step_framed")
    if framed.dtype.kind != "b" or framed.ndim != 1 or framed.size == 0:
        raise Unreadable("step_framed is no vector of booleans")
    lengths = {}
    for name, kind in (("index", "i"), ("coef", "f"), ("out", "i"), ("into", "i")):
        lengths[name] = look.ragged(f"step_{name}", framed.size, kind, p)
    frames = int(np.count_nonzero(framed))
    # Where no step has a frame, the columns are an empty list of no type.
    for name, kind in (("columns", "i"), ("diagonal", "f")):
        lengths[name] = look.ragged(f"step_{name}", frames, kind if frames else "if", p)
    look.same(lengths["index"], lengths["coef"], "step_coef")
    look.same(lengths["columns"], lengths["diagonal"], "step_diagonal")


def _check_tree(look: _Look, m: int) -> None:
    """Ranges of what only Python uses; the compiled side looks at the rest (`bindings/state.cpp`)."""
    for name, kind in (("frame_id", "i"), ("node_bound", "f"), ("record_bound", "f")):
        look.vector(f"tree_{name}", None, kind)
    for name, (per, kind) in _NUMBERS.items():
        look.vector(f"tree_{name}", look.get(f"tree_{per}").size, kind)
    lengths = {}
    for name, (per, kind) in _LISTS.items():
        inside = m if name in ("frame_columns", "record_index") else None
        lengths[name] = look.ragged(f"tree_{name}", look.get(f"tree_{per}").size, kind, inside)
    look.same(lengths["record_index"], lengths["record_w"], "tree_record_w")
    frames = look.get("tree_proof_frame_columns.offsets").size - 1
    columns = look.ragged("tree_proof_frame_columns", frames, "i", m)
    look.same(columns, look.ragged("tree_proof_frame_diagonal", frames, "f", None), "tree_proof_frame_diagonal")
    records = look.get("tree_record_bound").size
    parent, column = look.get("tree_record_parent"), look.get("tree_record_column")
    fixed = np.abs(look.get("tree_record_fixed.values"))
    if np.any(parent < -1) or np.any(parent >= np.arange(records)):
        raise Unreadable("tree_record_parent is out of range")
    ranges = (("tree_record_frame", -1, frames), ("tree_node_record", -1, records), ("tree_record_kind", 0, 2))
    for name, low, high in ranges:
        if np.any(look.get(name) < low) or np.any(look.get(name) >= high):
            raise Unreadable(f"{name} is out of range")
    if np.any(look.get("tree_frame_id") < 0) or np.any(look.get("tree_frame_id") >= max(frames, 1 << 30)):
        raise Unreadable("tree_frame_id is out of range")
    if np.any(column < -1) or np.any(column >= m) or np.any((fixed < 1) | (fixed > m)):
        raise Unreadable("a record of the tree names a column that is not there")
    for name, values in (("node_fix", "tree_node_fix.values"), ("record_side", "tree_record_side")):
        array = look.get(values)
        if np.any((array < -1) | (array > 1)):
            raise Unreadable(f"tree_{name} holds something else than -1, 0 and 1")
    _check_tree_values(look, m)


def _check_tree_values(look: _Look, m: int) -> None:
    """What the tree has once."""
    for name in _VALUES:
        look.scalar(f"tree_{name}", finite=False)
    for name in _COUNTS:
        if abs(look.scalar(f"tree_{name}")) > 1e15:
            raise Unreadable(f"tree_{name} is no count")
    for name in _FLAGS:
        look.flag(f"tree_{name}")
    columns = look.floats("tree_pseudo_in", None).size
    for name in ("out", "count"):
        look.floats(f"tree_pseudo_{name}", columns)
    for name in ("sum_in", "sum_out", "total"):
        look.scalar(f"tree_pseudo_{name}")
    look.indices("tree_support", m)


class _Look:
    """Named arrays, each with the checks that it passes."""

    def __init__(self, saved: Arrays) -> None:
        self.saved = saved

    def get(self, name: str) -> npt.NDArray[Any]:
        if name not in self.saved:
            raise Unreadable(f"{name} is missing")
        return self.saved[name]

    def vector(self, name: str, size: int | None, kind: str, *, finite: bool = True) -> npt.NDArray[Any]:
        array = self.get(name)
        if array.ndim != 1 or (size is not None and array.size != size):
            raise Unreadable(f"{name} has shape {array.shape}")
        # int8 and int64, float64: what was written, and what the compiled side takes.
        if array.dtype.kind not in kind or (array.size and array.dtype not in (np.int8, np.int64, np.float64)):
            raise Unreadable(f"{name} holds {array.dtype}")
        if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Unreadable(f"{name} holds what is no number")
        return array

    def floats(self, name: str, size: int | None) -> npt.NDArray[Any]:
        return self.vector(name, size, "f")

    def scalar(self, name: str, *, finite: bool = True) -> float:
        array = self.get(name)
        if array.shape != () or array.dtype != np.float64 or np.isnan(array) or (finite and np.isinf(array)):
            raise Unreadable(f"{name} is no number")
        return float(array)

    def flag(self, name: str) -> None:
        array = self.get(name)
        if array.shape != () or array.dtype != np.bool_:
            raise Unreadable(f"{name} is neither true nor false")

    def matrix(self, name: str, size: int) -> None:
        array = self.get(name)
        if array.shape != (size, size) or array.dtype != np.float64 or not np.isfinite(array).all():
            raise Unreadable(f"{name} is no matrix of {size} by {size} numbers")

    def fixes(self, name: str, size: int) -> None:
        array = self.vector(name, size, "i")
        if array.dtype != np.int8 or np.any((array < -1) | (array > 1)):
            raise Unreadable(f"{name} holds something else than -1, 0 and 1")

    def indices(self, name: str, below: int) -> npt.NDArray[Any]:
        array = self.vector(name, None, "i")
        if np.any((array < 0) | (array >= below)):
            raise Unreadable(f"{name} names a column that is not there")
        return array

    def ascending(self, name: str, below: int) -> npt.NDArray[Any]:
        array = self.indices(name, below)
        if np.any(np.diff(array) <= 0):
            raise Unreadable(f"{name} is not in order")
        return array

    def ragged(self, name: str, count: int, kind: str, below: int | None) -> npt.NDArray[Any]:
        """The lengths of the lists; entries are indices below `below`, where it is given and they are integers."""
        offsets = self.vector(f"{name}.offsets", count + 1, "i")
        values = self.vector(f"{name}.values", None, kind)
        if not offsets.size or offsets[0] != 0 or offsets[-1] != values.size or np.any(np.diff(offsets) < 0):
            raise Unreadable(f"{name} has offsets that are not in order")
        if below is not None and values.dtype.kind == "i" and np.any((values < 0) | (values >= below)):
            raise Unreadable(f"{name} names a column that is not there")
        return np.diff(offsets)

    def same(self, a: npt.NDArray[Any], b: npt.NDArray[Any], name: str) -> None:
        if not np.array_equal(a, b):
            raise Unreadable(f"{name} has lists of the wrong lengths")


def _ridge_left(gamma: float, diagonal: FloatArray) -> FloatArray:
    """What a diagonal leaves of the ridge, relative; without one it has to be positive itself."""
    return np.where(diagonal > 0, 1.0, 0.0) if np.isinf(gamma) else 1 + gamma * diagonal
