"""Products of columns with columns, within the time and the threads that a solve has."""

from __future__ import annotations

import numpy as np

import parsifal._core as _core
from parsifal.arrays import FloatArray, IntArray
from parsifal.blas import blas_lifted
from parsifal.deadline import check_time, seconds_left, thread_limit, usable_cores
from parsifal.design import Design

_BLOCK_BYTES = 1 << 24
_SMALL_PRODUCT = 1 << 31
_FEW_ROWS = 512  # where ours is the faster one, too
_BETWEEN_LOOKS = 1 << 30  # multiplications between two looks at the clock: a tenth of a second


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """a'b; all but large ones without a BLAS, whose threads would go on spinning, and are not ours to count."""
    work = a.shape[0] * a.shape[1] * b.shape[1]
    threads = thread_limit()
    if a.shape[0] <= _FEW_ROWS or work < _SMALL_PRODUCT or threads < usable_cores():
        return np.asarray(_core.gram(a, b, threads, seconds_left()))
    with blas_lifted():
        return _by_blas(a, b, work)


def _by_blas(a: FloatArray, b: FloatArray, work: int) -> FloatArray:
    # In Fortran order, which the compiled verbs read in place.
    if work <= _BETWEEN_LOOKS:
        return np.asarray((b.T @ a).T)
    out = np.empty((a.shape[1], b.shape[1]), order="F")
    width = max(64, _BETWEEN_LOOKS // (a.shape[0] * a.shape[1]))
    for start in range(0, b.shape[1], width):
        check_time()
        stop = min(b.shape[1], start + width)
        first = start if a is b else 0
        out[first:, start:stop] = (b[:, start:stop].T @ a[:, first:]).T
        if a is b:
            out[start:stop, stop:] = out[stop:, start:stop].T
    return out


def stream_gram(
    design: Design, old: IntArray, new: IntArray, v: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``X_old'X_new``, ``X_new'X_new`` and ``X_new'v`` from blocks of rows."""
    n = design.shape[0]
    cross, corner, inner = np.zeros((old.size, new.size)), np.zeros((new.size, new.size)), np.zeros(new.size)
    step = max(256, _BLOCK_BYTES // (8 * (old.size + new.size)))
    for start in range(0, n, step):
        stop = min(n, start + step)
        part = design.rows(start, stop)
        block = part.columns(new)
        corner += product(block, block)
        inner += block.T @ v[start:stop]
        if old.size:
            cross += product(part.columns(old), block)
    return cross, corner, inner
