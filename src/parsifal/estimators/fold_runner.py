"""All folds of a cross-validation through joblib; what is finished when Ctrl-C comes is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from parsifal.arrays import IntArray
from parsifal.estimators.fold import FoldResult, FoldTask, no_result, run_fold
from parsifal.estimators.fold_journal import FoldJournal
from parsifal.estimators.fold_progress import FoldProgress


@dataclass(frozen=True, kw_only=True)
class Folds:
    """What is known of all folds.

    Attributes
    ----------
    results : list of FoldResult
        One per fold; NaN where a fit was not made.
    finished : int
        Number of folds with all their fits.
    usable : list of int
        The folds that a choice can be made from: the finished ones; if there is none, the one that has come furthest.
    interrupted : bool
        Whether Ctrl-C came before all that was planned was done.
    """

    results: list[FoldResult]
    finished: int
    usable: list[int]
    interrupted: bool


def merged(first: Folds, second: Folds, order: IntArray) -> Folds:
    """The folds of two runs with different gammas as those of one, whose gammas are in this order."""

    def both(a: FoldResult, b: FoldResult) -> FoldResult:
        return FoldResult(
            predictions=np.concatenate([a.predictions, b.predictions])[order],
            mse=np.concatenate([a.mse, b.mse])[order],
            gaps=np.concatenate([a.gaps, b.gaps])[order],
            supports=[[*a.supports, *b.supports][place] for place in order],
        )

    return replace(first, results=[both(a, b) for a, b in zip(first.results, second.results)])


class FoldRunner:
    """Runs the folds that a journal does not have yet.

    Parameters
    ----------
    tasks : sequence of FoldTask
        One per fold.
    n_jobs : int or None
        Folds at a time, for joblib.
    progress : bool or callable
        As in `SparseRegressorCV`. Shown after every fit where workers share our memory, else after a fold.
    journal : FoldJournal, optional
        Has finished folds, and gets the others.
    """

    def __init__(
        self, tasks: Sequence[FoldTask], *, n_jobs: int | None, progress: Any, journal: FoldJournal | None = None
    ) -> None:
        self._tasks = tasks
        self._n_jobs = n_jobs
        self._journal = journal
        self._done = {} if journal is None else dict(journal.results)
        self._unfinished: dict[int, FoldResult] = {}
        self._left = [number for number in range(len(tasks)) if number not in self._done]
        self._fits_per_fold = math.prod(tasks[0].plan.shape)
        self._progress = FoldProgress(
            len(self._left) * self._fits_per_fold, active=progress is True, each=getattr(progress, "fits", None)
        )

    def run(self) -> Folds:
        """Run them; after Ctrl-C return what there is, and raise only where there is nothing."""
        backend = get_active_backend(prefer="threads")[0]
        try:
            with self._progress:
                if getattr(backend, "supports_sharedmem", False):
                    self._run_in_threads()
                else:
                    self._run_elsewhere(backend)
        except KeyboardInterrupt:
            if not self._done and not self._unfinished:
                raise
        return Folds(
            results=self._results(),
            finished=len(self._done),
            usable=self._usable(),
            interrupted=len(self._done) < len(self._tasks),
        )

    def _run_in_threads(self) -> None:
        Parallel(n_jobs=self._n_jobs, prefer="threads")(delayed(self._run_fold)(number) for number in self._left)

    def _run_fold(self, number: int) -> None:
        def save(result: FoldResult) -> None:
            self._unfinished[number] = result

        self._keep(number, self._progress.run(self._tasks[number], save))

    def _run_elsewhere(self, backend: Any) -> None:
        kind = "generator" if getattr(backend, "supports_return_generator", False) else "list"
        pool = Parallel(n_jobs=self._n_jobs, return_as=kind)
        for number, result in zip(self._left, pool(delayed(run_fold)(self._tasks[number]) for number in self._left)):
            self._keep(number, result)
            self._progress.tick(self._fits_per_fold)

    def _keep(self, number: int, result: FoldResult) -> None:
        if self._journal is not None:
            self._journal.put(number, result)
        self._done[number] = result

    def _results(self) -> list[FoldResult]:
        return [
            self._done.get(number) or self._unfinished.get(number) or no_result(task)
            for number, task in enumerate(self._tasks)
        ]

    def _usable(self) -> list[int]:
        if self._done:
            return sorted(self._done)
        return [max(self._unfinished, key=lambda number: int(np.isfinite(self._unfinished[number].gaps).sum()))]
