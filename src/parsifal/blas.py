"""The threads of NumPy's BLAS, held back while we compute."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Blas:
    """The threads of NumPy's BLAS, which are the whole process's: set when the first scope opens, put back by the last.

    They go on spinning for milliseconds after a call, and a solve makes thousands of small ones: on a machine with
    other work a product of two vectors then takes longer than a read of X.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self._lock:
            self._open += 1
            if self._open == 1:
                owed = dict(self._before)
                found = [(library, owed.get(library, 0)) for library in _libraries("scipy.linalg" in sys.modules)]
                counts = [(library, count or library.get_num_threads()) for library, count in found]
                self._before = [(library, count) for library, count in counts if count != 1]
                self._quiet()

    def leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._restore()
                # threadpoolctl lets one Python thread set a library's threads: where it was another's turn, they are
                # given back the next time.
                self._before = [(library, count) for library, count in self._before if library.get_num_threads() == 1]

    def _quiet(self) -> None:
        for library, _ in self._before:
            library.set_num_threads(1)

    def _restore(self) -> None:
        for library, count in self._before:
            library.set_num_threads(count)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Its threads back for one large product, unless other scopes are open."""
        with self._lock:
            alone = self._open == 1
            if alone:
                self._restore()
        try:
            yield
        finally:
            with self._lock:
                if alone and self._open:
                    self._quiet()


@cache
def _libraries(_with_scipy: bool) -> list[Any]:
    """The BLAS libraries that are loaded; looked for once more when SciPy has brought its own."""
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


_blas = _Blas()
blas_lifted = _blas.lifted


@contextmanager
def quiet_blas() -> Iterator[None]:
    """A scope in which NumPy's BLAS starts no threads."""
    _blas.enter()
    try:
        yield
    finally:
        _blas.leave()
