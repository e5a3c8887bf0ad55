"""The rows of all folds as triangles, from one pass over X: what a fold's fits cost then depends on the columns alone.

Rows that are in the same folds, for training or for testing, make one triangle of [1, X - c, y - d] (rows times the
root of their weight, c and d near the means so that nothing cancels). The training rows of a fold are the union of some
of them, and so are its test rows (`design.triangle`). With an intercept, the first row of a fold's triangle holds the
means, and the others the centred columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsifal.arrays import FloatArray, IntArray, aligned
from parsifal.blas import quiet_blas
from parsifal.design import Design, as_design
from parsifal.design.triangle import row_blocks, stacked
from parsifal.problem.standardise import Training

_MOST_COLUMNS = 500
_ROWS_A_COLUMN = 3  # of a fold's training rows, so that a triangle is much smaller than they are
_MOST_PARTS = 64
_BLOCK_ENTRIES = 1 << 21


@dataclass(frozen=True, kw_only=True)
class FoldTriangle:
    """What stands in for the rows of one fold.

    Attributes
    ----------
    train, test : arrays of shape (at most p + 2, p + 2)
        Triangles of [1, X - shift, y - y_shift].
    shift, y_shift : array of shape (p,) and float
    mass, test_mass : float
        Sums of the weights of the training and of the test rows.
    eps : float or array
        Relative rounding error of the entries of X.
    """

    train: FloatArray
    test: FloatArray
    shift: FloatArray
    y_shift: float
    mass: float
    test_mass: float
    eps: float | FloatArray

    def training(self, *, fit_intercept: bool, standardize: bool) -> Training:
        """The training rows as `prepare` would give them, but for a rotation of the rows, which changes no fit."""
        offset = self.train[0, 1:] / self.train[0, 0]
        mean = self.shift + offset[:-1]
        centred = self.train[1:, 1:]
        deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred)[:-1] / self.mass)
        varies = deviation > self.eps * np.abs(mean)
        scale = np.ones(mean.size)
        if standardize:
            scale[varies] = 1.0 / deviation[varies]
        # Without an intercept nothing was shifted, and the first row belongs to the columns.
        rows = centred if fit_intercept else self.train[:, 1:]
        columns = np.asfortranarray(rows[:, :-1] * scale)
        if fit_intercept:
            columns[:, ~varies] = 0.0
        return Training(
            design=as_design(columns),
            y=aligned(rows[:, -1]),
            center=mean if fit_intercept else np.zeros(mean.size),
            scale=scale,
            y_mean=self.y_shift + float(offset[-1]) if fit_intercept else 0.0,
            mass=self.mass,
            fit_intercept=fit_intercept,
            standardize=standardize,
        )

    def least_eigenvalue(self, *, fit_intercept: bool, standardize: bool) -> float:
        """The smallest eigenvalue of X'X, for the columns as the solver sees them."""
        columns = self.training(fit_intercept=fit_intercept, standardize=standardize).design.columns(
            np.arange(self.shift.size)
        )
        singular = np.linalg.svd(columns, compute_uv=False)
        return float(singular[-1] ** 2) if singular.size == self.shift.size else 0.0

    def test_error(self, coef: FloatArray, intercept: float) -> float:
        """The mean squared error on the test rows of a model of the columns as given."""
        level = intercept - self.y_shift + float(self.shift @ coef)
        rest = self.test @ np.concatenate([[-level], -coef, [1.0]])
        return float(rest @ rest) / self.test_mass


@quiet_blas()
def fold_triangles(
    design: Design,
    training: Training,
    y: FloatArray,
    weight: FloatArray | None,
    splits: Sequence[tuple[IntArray, IntArray]],
) -> list[FoldTriangle] | None:
    """One triangle a fold; None where rows are not many more than columns, where folds cut them into too many parts, or
    where columns are adjusted for.

    `training` is that of all rows, for its means.
    """
    n, p = design.shape
    least = min(train.size for train, _ in splits)
    if training.adjusted.size or p > _MOST_COLUMNS or least < _ROWS_A_COLUMN * (p + 2):
        return None
    parts = _parts(n, splits)
    masses = [_mass(weight, train) * _mass(weight, test) for train, test in splits]
    if parts is None or min(masses) == 0.0:
        return None
    label, count = parts
    shift, y_shift = training.center, training.y_mean
    uppers = _triangles(design, y - y_shift, shift, weight, label, count)
    out = []
    for train, test in splits:
        here = [stacked((uppers[part] for part in np.unique(label[rows])), p + 2) for rows in (train, test)]
        out.append(
            FoldTriangle(
                train=here[0],
                test=here[1],
                shift=shift,
                y_shift=y_shift,
                mass=_mass(weight, train),
                test_mass=_mass(weight, test),
                eps=design.eps,
            )
        )
    return out


def _mass(weight: FloatArray | None, rows: IntArray) -> float:
    return float(rows.size) if weight is None else float(weight[rows].sum())


def _parts(n: int, splits: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, int] | None:
    """A label for every row, the same for rows that no fold tells apart, and how many there are; None: too many."""
    label = np.zeros(n, dtype=np.int64)
    count = 1
    for train, test in splits:
        if max(np.bincount(train).max(), np.bincount(test).max()) > 1:
            return None  # a row that counts twice
        role = np.zeros(n, dtype=np.int64)
        role[train] = 1
        role[test] += 2
        known, label = np.unique(4 * label + role, return_inverse=True)
        count = known.size
        if count > _MOST_PARTS:
            return None
    return label.reshape(n), count


def _triangles(
    design: Design, y: FloatArray, shift: FloatArray, weight: FloatArray | None, label: IntArray, count: int
) -> list[FloatArray]:
    """One pass over X: the triangle of the rows of each label."""
    n, p = design.shape
    width = p + 2
    uppers = [np.zeros((0, width)) for _ in range(count)]
    root = None if weight is None else np.sqrt(weight)
    entries = max(_BLOCK_ENTRIES, 4 * width * width * count)
    for rows, block in row_blocks(design, np.arange(p), [y, np.ones(n)], entries):
        block[:, :p] -= shift
        # The ones come first, so that the first row of a triangle holds the means.
        block = block[:, np.r_[p + 1, :p, p]]
        if root is not None:
            block *= root[rows, None]
        for part in np.unique(label[rows]):
            uppers[part] = stacked([uppers[part], block[label[rows] == part]], width)
    return uppers
