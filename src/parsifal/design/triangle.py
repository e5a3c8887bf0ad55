"""Tall data as a triangle: [X, y] = Q R, so that R stands in for the rows whatever is fitted.

    |y - X w|^2 = |R (-w, 1)|^2      for every w,

with R of p + 1 rows at most. It is made block by block by orthogonal steps, which keep the digits that a Gram matrix
loses, and triangles of parts of the rows make one of their union.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from parsifal.arrays import FloatArray, IntArray
from parsifal.design import Design

_BLOCK_ENTRIES = 1 << 19


def stacked(parts: Iterable[FloatArray], width: int) -> FloatArray:
    """The triangle of matrices of this width, one below the other."""
    upper = np.zeros((0, width))
    for part in parts:
        if part.shape[0]:
            upper = np.asarray(np.linalg.qr(np.vstack([upper, part]), mode="r"))
    return upper


def row_blocks(
    design: Design, index: IntArray, beside: Sequence[FloatArray], entries: int = _BLOCK_ENTRIES
) -> Iterator[tuple[slice, FloatArray]]:
    """Blocks of rows of the columns `index`, with the vectors `beside` as further columns."""
    n, width = design.shape[0], index.size + len(beside)
    step = max(2 * width, entries // max(1, width))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = np.empty((rows.stop - start, width))
        block[:, : index.size] = design.rows(start, rows.stop).columns(index)
        for place, vector in enumerate(beside, index.size):
            block[:, place] = vector[rows]
        yield rows, block


def triangle(design: Design, index: IntArray, y: FloatArray) -> FloatArray:
    """The triangle of the columns `index` and y."""
    return stacked((block for _, block in row_blocks(design, index, [y])), index.size + 1)
