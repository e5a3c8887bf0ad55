"""The journal of a cross-validation: every fold that is done, so that one that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsifal.design import Design
from parsifal.design.identity import Sketch
from parsifal.errors import DataError, InputError
from parsifal.estimators.fold import FoldResult, FoldTask
from parsifal.files.journal import Journal, packed, unpacked
from parsifal.problem.column_rules import ColumnRules

_KIND = "cross-validation"

# What differs, where the values themselves would tell nobody anything.
_WORDS = {
    "y": "another y",
    "weight": "other sample weights",
    "folds": "another split of the rows into folds (a splitter that shuffles needs a random_state)",
    "forced": "other features forced in or out",
}


class FoldJournal:
    """The folds that are done, and a place for the others.

    Parameters
    ----------
    path : path
        The journal; made when it is not there.
    design : Design
        X, which is read once, to know it again.
    tasks : sequence of FoldTask
        One per fold.
    predictions : bool
        Whether a result is of use only with its predictions.

    Attributes
    ----------
    results : dict
        Finished folds by number.
    """

    def __init__(
        self, path: str | os.PathLike[str], design: Design, tasks: Sequence[FoldTask], *, predictions: bool
    ) -> None:
        self._predictions = predictions
        self._journal = Journal(path, _KIND)
        try:
            self._begin(design, tasks)
            self.results = {int(entry["fold"]): self._result(entry, tasks) for entry in self._journal.entries}
        except BaseException:
            self._journal.close()
            raise

    def put(self, number: int, result: FoldResult) -> None:
        """Note a fold, for good."""
        self._journal.append(
            {
                "fold": number,
                "mse": packed(result.mse),
                "gaps": packed(result.gaps),
                "supports": [[support.tolist() for support in row] for row in result.supports],
                "predictions": packed(result.predictions) if self._predictions else None,
            }
        )

    def __enter__(self) -> FoldJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def _begin(self, design: Design, tasks: Sequence[FoldTask]) -> None:
        asked, head = _about(design, tasks, self._predictions), self._journal.head
        n = design.shape[0]
        if head is None:
            sketch = Sketch()
            sketch.read(design, tasks[0].plan.y)
            assert sketch.products is not None
            self._journal.begin({**asked, "sketch_seed": sketch.seed, "sketch": packed(sketch.products)})
            return
        for name, value in asked.items():
            if not _same(head.get(name), value):
                what = _WORDS.get(name, f"{name} = {head.get(name)}, not {value}")
                raise self._other(what)
        try:
            saved = Sketch(int(head["sketch_seed"]), unpacked(head["sketch"], "<f8").reshape(design.shape[1]))
        except (KeyError, TypeError, ValueError):
            raise self._damaged() from None
        column = saved.differs(saved.read(design, tasks[0].plan.y), n)
        if column is not None:
            raise self._other(f"another X (column {column} differs)")

    def _result(self, entry: dict[str, Any], tasks: Sequence[FoldTask]) -> FoldResult:
        try:
            task = tasks[int(entry["fold"])]
            shape = task.plan.shape
            supports = [[np.array(support, dtype=np.int64) for support in row] for row in entry["supports"]]
            if len(supports) != shape[0] or any(len(row) != shape[1] for row in supports):
                raise ValueError
            test = (*shape, task.test.size)
            return FoldResult(
                predictions=unpacked(entry["predictions"], "<f8").reshape(test) if self._predictions else np.empty(0),
                mse=unpacked(entry["mse"], "<f8").reshape(shape),
                gaps=unpacked(entry["gaps"], "<f8").reshape(shape),
                supports=supports,
            )
        except (KeyError, IndexError, TypeError, ValueError):
            raise self._damaged() from None

    def _other(self, what: str) -> InputError:
        return InputError(
            f"checkpoint {self._journal.path} is of another cross-validation: {what}; delete the file to start anew"
        )

    def _damaged(self) -> DataError:
        return DataError(f"{self._journal.path} is a damaged journal of a {_KIND}; delete it to start anew")


def _about(design: Design, tasks: Sequence[FoldTask], predictions: bool) -> dict[str, Any]:
    """What the folds' results depend on, but for X, which takes a read."""
    plan = tasks[0].plan
    options = plan.options
    return {
        "shape": list(design.shape),
        "y": _digest(plan.y),
        "weight": None if plan.weight is None else _digest(plan.weight),
        "folds": _digest(*(rows for task in tasks for rows in (task.train, task.test))),
        "forced": _digest(plan.fix),
        "adjust": [int(j) for j in plan.adjust],
        "ks": [int(k) for k in plan.sizes],
        "gammas": [float(gamma) for gamma in plan.gammas],
        "penalty": float(plan.penalty),
        "rules": None if plan.rules is None else _rules_digest(plan.rules),
        "fit_intercept": bool(plan.fit_intercept),
        "standardize": bool(plan.standardize),
        "rel_gap": float(options.rel_gap),
        "fold_node_limit": options.node_limit if math.isfinite(options.node_limit) else None,
        "fold_time_limit": options.time_limit if math.isfinite(options.time_limit) else None,
        "scoring": predictions,
    }


def _rules_digest(rules: ColumnRules) -> str:
    rows = rules.rows
    return _digest(rules.price, rules.sign, rows.offset, rows.column, rows.coef, rows.upper)


def _same(there: Any, asked: Any) -> bool:
    # "auto" comes from sums, whose rounding depends on how X was cut into blocks.
    if isinstance(asked, list) and any(isinstance(value, float) for value in asked):
        return (
            isinstance(there, list)
            and len(there) == len(asked)
            and all(isinstance(a, float) and math.isclose(a, b, rel_tol=1e-12) for a, b in zip(there, asked))
        )
    return bool(there == asked)


def _digest(*arrays: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        plain = np.ascontiguousarray(array)
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.tobytes())
    return digest.hexdigest()
