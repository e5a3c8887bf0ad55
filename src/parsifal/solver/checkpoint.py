"""A solve that can be stopped and resumed: its state in one file, replaced as a whole or not at all.

While X is being read, the state is the working set, the last dual point and the incumbent. They are only a hint: a
solve that is resumed prices the point with a read of X, and everything else follows from the data. Once the search has
begun, the state is the reduced problem, the root's part of the proof and the whole tree, and two reads of X check that
the data are those it was made from: one compares every column with what was saved of it (`design/identity.py`), one the
products of the columns that are left.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import IntArray
from parsifal.bound.dual import DualPoint, threshold
from parsifal.bound.quadratic import Quadratic
from parsifal.bound.rounding import Rounding, sum_unit
from parsifal.bound.tightening import Tightened, tighten
from parsifal.bound.working_set import WorkingSet, rounding_norms
from parsifal.design.identity import Sketch
from parsifal.errors import DataError, InputError, warn_user
from parsifal.files.atomic import Lock, file_path, replacing
from parsifal.files.untrusted import Unreadable, load_arrays
from parsifal.problem.problem import Problem
from parsifal.solver.checkpoint_format import ROUNDING, check_layout
from parsifal.solver.reduce import Reduced, hold
from parsifal.solver.reuse import Handover
from parsifal.solver.root import ProofStep, Remainder, Root

Arrays = dict[str, npt.NDArray[Any]]

FORMAT = 4
SAVE_EVERY = 60.0  # seconds of search between two writes


class Checkpoint:
    """The file of one solve, which no other process writes until it is closed.

    Parameters
    ----------
    path : str or path
        Where the state is, or will be. Its folder must exist and be writable.
    every : float
        Seconds between writes of the search's state.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = SAVE_EVERY) -> None:
        self.path = file_path(path, "checkpoint")
        self.every = every
        self.tree: dict[str, Any] | None = None
        self.sketch = Sketch()
        self._saved: Arrays | None = None
        self._point: DualPoint | None = None
        self._broken = False
        # Also tells whether the folder can be written: before hours of work, not after.
        self._lock = Lock(self.path)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    # ---- Taking up

    def starts(self, problem: Problem, rel_gap: float) -> list[IntArray]:
        """Read the file, if there is one, and give the support it knows; raises if it is of another problem."""
        if not self.path.exists():
            return []
        self._saved = _load(self.path)
        _compare(self.path, self._saved, _identity(problem, rel_gap))
        try:
            check_layout(self._saved, problem)
        except Unreadable as error:
            raise self.damaged(error) from error
        self.sketch = _saved_sketch(self.path, self._saved)
        return [self._saved["support"]]

    def resume(self, root: Root, handover: Handover) -> bool:
        """Put what was saved into `root` and `handover`; whether the root stage is behind us."""
        saved = self._saved
        if saved is None or "point_index" not in saved:
            return False
        point = self._price(root.problem, saved)
        if "reduced_index" in saved:
            if "gram" in saved:
                self._verify(root.problem, saved)
            _restore_root(root, saved, point)
            self.tree = {key[5:]: value for key, value in _join(saved).items() if key.startswith("tree_")} or None
            return True
        work = WorkingSet(root.problem)
        work.add(saved["working_set"])
        handover.work, handover.points = work, [point]
        self._point = point
        # The columns above the threshold that the working set lacks: what the next round would have added.
        p, fix = root.problem, root.fix[work.index]
        rules = p.rules_on(work.index)
        tau = threshold(point.beta[work.index], fix, gamma=p.gamma, penalty=p.penalty, k=p.k, rules=rules)
        magnitude = np.abs(point.beta) if p.rules is None else p.rules.sizes(point.beta, p.gamma)
        size = np.where(root.fix >= 0, magnitude, 0.0)
        size[work.index] = 0.0
        most = max(100, work.index.size // 2)
        above = np.flatnonzero(size > tau)
        above = above[np.argsort(-size[above], kind="stable")[:most]]
        if above.size:
            work.add(above.astype(np.int64))
        return False

    def _price(self, problem: Problem, saved: Arrays) -> DualPoint:
        """Read X at the saved point, which also tells whether X is the one that was saved."""
        index, coef = saved["point_index"], saved["point_coef"]
        alpha = problem.y - problem.design.matvec(index, coef)
        scan = self.sketch.read(problem.design, alpha)
        # A column that the user forces out is nobody's business.
        column = self.sketch.differs(scan, problem.n, ignored=problem.fix < 0)
        if column is not None:
            raise self._other(f"column {column} differs")
        error = sum_unit(problem.n) * float(np.linalg.norm(alpha)) * rounding_norms(problem.design, scan)
        return DualPoint(index=index, coef=coef, alpha=alpha, beta=scan.xv, error=error)

    def _verify(self, problem: Problem, saved: Arrays) -> None:
        """Compare the saved products with X, along a direction that nobody can know beforehand: one more read."""
        index, v0, gram = saved["reduced_index"], saved["v0"], saved["gram"]
        norms = np.sqrt(np.diag(gram))
        alpha = problem.y - problem.design.matvec(index, v0)
        step = np.random.default_rng().standard_normal(index.size) / np.where(norms > 0, norms, 1.0)
        moved = problem.design.matvec(index, step)
        size = float(np.linalg.norm(alpha))
        weight = float(np.linalg.norm(moved)) / size if size > 0 else 0.0
        v = moved + weight * alpha
        found = problem.design.scan(v).xv[index]
        # What rounding left in alpha, relative to the terms of y - Xv.
        blur = 1e-13 * weight * (float(np.linalg.norm(problem.y)) + float(np.abs(v0) @ norms))
        slack = norms * (1e-9 * (float(np.linalg.norm(v)) + float(np.linalg.norm(moved))) + blur)
        if np.any(np.abs(found - gram @ step - weight * saved["beta0"]) > slack):
            raise self._other("products of its columns differ")
        if abs(0.5 * size**2 - float(saved["ls0"])) > 1e-9 * float(problem.y @ problem.y):
            raise self._other("the fit of its point differs")

    def damaged(self, error: Exception) -> DataError:
        """What to raise where the state turns out not to be one."""
        return DataError(f"{self.path} is a damaged checkpoint ({error}); delete it to start anew")

    def _other(self, what: str) -> InputError:
        return InputError(f"checkpoint {self.path} was made from another X: {what}; delete the file to start anew")

    # ---- Saving

    def save_root(self, root: Root, handover: Handover) -> None:
        """Save after a round that has read X."""
        if not handover.points or handover.points[-1] is self._point or handover.work is None:
            return
        self._point = point = handover.points[-1]
        arrays = _identity(root.problem, root.rel_gap)
        arrays |= {
            "support": root.incumbent.support,
            "working_set": handover.work.index,
            "point_index": point.index,
            "point_coef": point.coef,
        }
        self._write(arrays | self._sketched(root.problem))

    def save_search(self, root: Root, tree: Mapping[str, Any]) -> None:
        """Save the reduced problem, the root's proof and the tree."""
        reduced = root.reduced
        if reduced is None or root.v is None or not root.steps:
            return
        first = root.steps[0]
        support = root.incumbent.support
        if tree["improved"] and tree["objective"] < root.incumbent.objective:
            support = np.sort(reduced.index[tree["support"]])
        arrays = _identity(root.problem, root.rel_gap)
        arrays |= {
            "support": support,
            "point_index": first.index,
            "point_coef": first.coef,
            "fix": root.fix,
            "lower_bound": np.asarray(root.lower_bound),
            "root_bound": np.asarray(root.root_bound),
            "largest_square": np.asarray(root.largest_square),
            "solves": np.asarray(float(root.solves)),
            "reduced_index": reduced.index,
            "reduced_fix": reduced.fix,
            "diagonal": np.zeros(0) if root.tightened is None else root.tightened.diagonal,
            "v": root.v,
        }
        if isinstance(reduced.survivors, Quadratic):
            arrays |= _pack_quadratic(reduced.survivors)
        arrays |= _pack_steps(root.steps)
        arrays |= _split({f"tree_{name}": value for name, value in tree.items()})
        self._write(arrays | self._sketched(root.problem))

    def _sketched(self, problem: Problem) -> Arrays:
        if self.sketch.products is None:
            # The root had all columns in memory and has not read X as a whole.
            self.sketch.read(problem.design, problem.y)
        assert self.sketch.products is not None
        return {"sketch_seed": np.asarray(self.sketch.seed), "sketch": self.sketch.products}

    def _write(self, arrays: Arrays) -> None:
        """Replace the file as a whole; a disk that is full costs the checkpoint, not the solve."""
        try:
            with replacing(self.path) as file:
                np.savez(file, allow_pickle=False, format=np.asarray(FORMAT), **arrays)
        except DataError as error:
            if not self._broken:
                self._broken = True
                why = error.__cause__
                warn_user(
                    f"checkpoint {self.path} could not be written ({getattr(why, 'strerror', None) or why}); the solve "
                    "goes on, and the last checkpoint that was written stays",
                    RuntimeWarning,
                )


def _identity(problem: Problem, rel_gap: float) -> Arrays:
    """What tells one problem from another, but for X, which takes a read."""
    digest = hashlib.blake2b(np.ascontiguousarray(problem.y).tobytes(), digest_size=16).digest()
    return {
        "shape": np.array(problem.design.shape, dtype=np.int64),
        "k": np.asarray(problem.k),
        "gamma": np.asarray(problem.gamma),
        "penalty": np.asarray(problem.penalty),
        "rel_gap": np.asarray(rel_gap),
        "forced_in": np.flatnonzero(problem.fix == 1),
        "forced_out": np.flatnonzero(problem.fix == -1),
        "y": np.frombuffer(digest, np.uint8),
        "rules": _rules_digest(problem),
    }


def _rules_digest(problem: Problem) -> npt.NDArray[np.uint8]:
    """Prices, signs and side constraints in few bytes; none where columns are all alike."""
    if problem.rules is None:
        return np.zeros(0, dtype=np.uint8)
    rules, digest = problem.rules, hashlib.blake2b(digest_size=16)
    rows = rules.rows
    for array in (rules.price, rules.sign, rows.offset, rows.column, rows.coef, rows.upper):
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def _compare(path: Path, saved: Arrays, asked: Arrays) -> None:
    for name, value in asked.items():
        # Files from before there were any say nothing about them.
        there = saved.get(name, np.zeros(0, dtype=np.uint8) if name == "rules" else None)
        # gamma="auto" comes from sums, whose rounding depends on how X was cut into blocks.
        same = there is not None and (
            bool(np.isclose(there, value, rtol=1e-12, atol=0.0))
            if name == "gamma" and there.shape == () and there.dtype.kind == "f"
            else np.array_equal(there, value)
        )
        if not same:
            special = {"y": "another y", "rules": "other signs, prices or constraints"}
            what = special.get(name, f"{name} = {there}, not {value}")
            raise InputError(f"checkpoint {path} is of another problem: {what}; delete the file to start anew")


def _load(path: Path) -> Arrays:
    try:
        saved = load_arrays(path, itemsize=8)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no checkpoint, or a damaged one ({error}); delete it to start anew") from error
    if "format" not in saved or not np.array_equal(saved["format"], FORMAT):
        found = saved.get("format", np.zeros(0))
        other = f" but of format {found}, of another version of Parsifal" if found.shape == () else ""
        raise DataError(f"{path} is no checkpoint of format {FORMAT}{other}; delete it to start anew")
    return saved


def _saved_sketch(path: Path, saved: Arrays) -> Sketch:
    seed, products = saved.get("sketch_seed"), saved.get("sketch")
    damaged = DataError(f"{path} is a damaged checkpoint (no sketch of X that could be used); delete it to start anew")
    if seed is None or seed.shape != () or seed.dtype.kind != "i":
        raise damaged
    if products is None or products.shape != (int(saved["shape"][1]),) or products.dtype.kind != "f":
        raise damaged
    try:
        return Sketch(int(seed), products)
    except ValueError:
        raise damaged from None


def _restore_root(root: Root, saved: Arrays, point: DualPoint) -> None:
    p = root.problem
    tightened: Tightened | None = None
    if "gram" in saved:
        q = _saved_quadratic(p, saved)
        reduced = Reduced(problem=p, index=saved["reduced_index"], fix=saved["reduced_fix"], survivors=q)
        tightened = tighten(q, saved["diagonal"]) if saved["diagonal"].size else None
    else:
        # Columns are not saved: they are those of X, as its reads have shown.
        reduced = hold(
            p, saved["reduced_index"], saved["reduced_fix"], root.memory_limit, alpha=point.vector, beta=point.beta
        )
    root.restore(
        remainder=Remainder(reduced=reduced, tightened=tightened, v=saved["v"]),
        fix=saved["fix"],
        steps=_unpack_steps(saved),
        first_beta=point.beta,
        lower_bound=float(saved["lower_bound"]),
        root_bound=float(saved["root_bound"]),
        largest_square=float(saved["largest_square"]),
        solves=int(saved["solves"]),
    )


def _pack_quadratic(q: Quadratic) -> Arrays:
    return {
        "gram": q.gram,
        "v0": q.v0,
        "beta0": q.beta0,
        "ls0": np.asarray(q.ls0),
        **{f"rounding_{name}": np.asarray(float(getattr(q.rounding, name))) for name in ROUNDING},
    }


def _saved_quadratic(p: Problem, saved: Arrays) -> Quadratic:
    norm = np.sqrt(np.diag(saved["gram"]))
    # Never less than what such a problem has when it is gathered afresh.
    unit, reach = sum_unit(p.n), float(np.sqrt(2 * max(float(saved["ls0"]), 0.0)))
    size = float(np.linalg.norm(p.y)) + float(np.abs(saved["v0"]) @ norm)
    drift = sum_unit(int(np.count_nonzero(saved["v0"]))) * size
    least = {"unit": unit, "error": unit * reach, "base": unit * reach**2, "drift": drift, "reach": reach}
    return Quadratic(
        gram=np.asfortranarray(saved["gram"]),
        v0=saved["v0"],
        beta0=saved["beta0"],
        ls0=float(saved["ls0"]),
        gamma=p.gamma,
        penalty=p.penalty,
        k=p.k,
        rules=p.rules_on(saved["reduced_index"]),
        rounding=Rounding(norm=norm, **{name: max(float(saved[f"rounding_{name}"]), least[name]) for name in ROUNDING}),
    )


def _pack_steps(steps: list[ProofStep]) -> Arrays:
    lists: dict[str, Any] = {
        name: _ragged([getattr(step, name) for step in steps]) for name in ("index", "coef", "out", "into")
    }
    framed = [step for step in steps if step.columns is not None]
    lists["columns"] = _ragged([step.columns for step in framed])
    lists["diagonal"] = _ragged([step.diagonal for step in framed])
    lists["framed"] = np.array([step.columns is not None for step in steps])
    return _split({f"step_{name}": value for name, value in lists.items()})


def _unpack_steps(saved: Arrays) -> list[ProofStep]:
    lists = {key[5:]: value for key, value in _join(saved).items() if key.startswith("step_")}
    parts = {name: _unragged(value) for name, value in lists.items() if isinstance(value, tuple)}
    frames = iter(zip(parts["columns"], parts["diagonal"]))
    steps = []
    for number, framed in enumerate(lists["framed"]):
        columns, diagonal = next(frames) if framed else (None, None)
        index, coef, out, into = (parts[name][number] for name in ("index", "coef", "out", "into"))
        steps.append(ProofStep(index=index, coef=coef, out=out, into=into, columns=columns, diagonal=diagonal))
    return steps


def _ragged(parts: list[Any]) -> tuple[IntArray, npt.NDArray[Any]]:
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return offsets, np.concatenate(parts) if parts else np.zeros(0)


def _unragged(pair: tuple[IntArray, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    offsets, values = pair
    return [values[start:stop] for start, stop in itertools.pairwise(offsets)]


def _split(named: Mapping[str, Any]) -> Arrays:
    """Pairs (offsets, values) as two arrays each."""
    out: Arrays = {}
    for name, value in named.items():
        if isinstance(value, tuple):
            out[f"{name}.offsets"], out[f"{name}.values"] = value
        else:
            out[name] = np.asarray(value)
    return out


def _join(arrays: Arrays) -> dict[str, Any]:
    """The other way."""
    out: dict[str, Any] = {}
    for name, value in arrays.items():
        stem, dot, end = name.rpartition(".")
        if not dot:
            out[name] = value
        elif end == "offsets":
            out[stem] = (value, arrays[f"{stem}.values"])
    return out
