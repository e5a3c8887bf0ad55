"""A diagonal d for which X'X - diag(d) is positive semidefinite, beyond doubt.

Floating point only guesses: with any matrix L whatever and the exact remainder R = X'X - diag(d) - L L',

    X'X - diag(d - c) = L L' + (R + diag(c)),      c_j = max(0, sum_{i != j} |R_ij| - R_jj),

is positive semidefinite, since R + diag(c) is diagonally dominant. L is taken from the eigenvalues as computed; c is
zero where the smallest one is above rounding, and otherwise what rounding has left over, or what a diagonal that is too
large has to give up. Singular matrices are no special case.
"""

from __future__ import annotations

import numpy as np

from parsifal.proof.exact_arithmetic import Digits, FloatArray, Whole, scaled, split

# The part of |x_j|^2 that a diagonal may have to give up for rounding; one that is further off is refused.
_ROUNDING = 10**9


class NotSemidefinite(Exception):
    """X'X - diag(d) has a negative eigenvalue."""


def guard_bits(bits: int) -> int:
    """The diagonals of whole matrices of such digits are held in units of 2^-guard."""
    return 2 * (bits * _digits(bits) - 2)


def _digits(bits: int) -> int:
    """Digits of L: more than a double has."""
    return -(-64 // bits)


def whole_diagonal(columns: Digits, diagonal: FloatArray) -> Whole:
    """The diagonal that belongs to the whole matrix, rounded down, in units of 2^-guard."""
    out = np.empty(diagonal.size, dtype=object)
    guard = guard_bits(columns.bits)
    out[:] = [scaled(d, guard - 2 * unit) for d, unit in zip(diagonal.tolist(), columns.unit)]
    return out


def lowering(columns: Digits, diagonal: Whole) -> Whole:
    """What has to be taken off the diagonal (of `whole_diagonal`) to leave a positive semidefinite matrix.

    Raises `NotSemidefinite` if that is more than rounding can explain. Rows of `columns` are the columns of X.
    """
    out = np.full(diagonal.size, 0, dtype=object)
    if not np.any(diagonal > 0):
        return out
    guard = guard_bits(columns.bits)
    some = np.flatnonzero(columns.parts.any(axis=(0, 2)))
    if np.any(np.delete(diagonal, some) > 0):
        raise NotSemidefinite
    matrix = columns.take(some).gram() << guard
    square, at = matrix.diagonal().copy(), np.arange(some.size)
    if np.any((diagonal[some] - square) * _ROUNDING > square):
        raise NotSemidefinite
    matrix[at, at] -= diagonal[some]
    # Rows and columns are brought to about unit norm by powers of two.
    size = np.array([(value.bit_length() - guard) // 2 for value in square.tolist()], dtype=object)
    scale = size[:, None] + size
    witness = split(_witness(matrix, square, scale + guard), columns.bits, top=2, most=_digits(columns.bits))
    rest = matrix - (witness.gram() << scale)
    own = rest.diagonal().copy()
    rest[at, at] = 0
    lost = np.maximum(np.abs(rest).sum(axis=1) - own, 0)
    if np.any(lost * _ROUNDING > square):
        raise NotSemidefinite
    out[some] = lost
    return out


def _witness(matrix: Whole, square: Whole, scale: Whole) -> FloatArray:
    """L as computed, for the matrix divided by 2^scale; any L is a right one."""
    clipped, at = matrix.copy(), np.arange(square.size)
    clipped[at, at] = np.minimum(clipped[at, at], 2 * square)
    try:
        value, vector = np.linalg.eigh((clipped / (1 << scale)).astype(np.float64))
    except np.linalg.LinAlgError:
        return np.zeros(matrix.shape)
    # Half of the smallest eigenvalue is left to R, whose diagonal then outweighs its rounding errors.
    left = max(0.0, 0.5 * float(value.min()))
    return np.asarray(np.clip(vector * np.sqrt(np.maximum(value - left, 0.0)), -3.5, 3.5))
