"""What the checker takes from a certificate: plain numbers of known type, in range and in order, or a reason why not.

Everything that comes later relies on these preconditions and on nothing else about where the certificate came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from parsifal.proof.certificate import DUAL_VALUE, EXHAUSTED, INDEPENDENCE, Certificate, IntArray

_LARGEST_FLOAT = float(np.finfo(np.float64).max)
_LARGEST_INT = int(np.iinfo(np.int64).max)
_MOST_COLUMNS = 1 << 60
_MOST_COEF = 1 << 60  # of the coefficients of a side constraint, all together
_MOST_ROWS = 1 << 40  # sums of so many terms have the relative errors that docs/numerics.md counts with


class Refused(Exception):
    """The first thing that is wrong."""


def require(condition: Any, reason: str) -> None:
    """Raise `Refused` unless the condition is true; NaN compares as false, so what is no number proves nothing."""
    if not bool(condition):
        raise Refused(reason)


def plain(certificate: Certificate) -> Certificate:
    """A copy of the certificate that holds plain Python numbers and plain int64 and float64 vectors, checked.

    Proves: every array is a vector of finite numbers with the values that were given, every index names a column,
    a record or a frame that exists, offsets are in order, parents come before their children, the columns of a record
    and of a frame rise strictly, an exhausted record has nothing but its place and its frame, and the numbers of the
    claim are in their ranges: all finite but for gamma, which may be inf.
    """
    c = Certificate(**{field.name: _plain(field.name, str(field.type), certificate) for field in fields(Certificate)})
    for holds, reason in (*_CLAIM, *_ASKED):
        require(holds(c), reason)
    require(
        c.complete,
        "the certificate holds the claim only: its proof was larger than its limit, or the time was up before it",
    )
    for holds, reason in _LAYOUT:
        require(holds(c), reason)
    for name, low, high in _ranges(c):
        require(_within(getattr(c, name), low, high), f"{name} names a column that X does not have")
    require(np.all(c.fixed_column != 0), "fixed_column names a column that X does not have")
    require(_within(c.frame, -1, c.frame_offset.size - 1), "a record names no such frame")
    require(c.parent[0] == -1, "the first record is not the root")
    require(np.all((c.parent[1:] >= 0) & (c.parent[1:] < np.arange(1, c.records))), "a record comes before its parent")
    require(_rises(c.coef_index, c.coef_offset), "the coefficients of a record are not in order")
    require(_rises(c.frame_column, c.frame_offset), "the columns of a frame are not in order")
    require(_rises(np.sort(c.twin_later), None), "a column is the later twin of two others")
    require(_bare(c, np.flatnonzero(c.kind == EXHAUSTED)), "an exhausted record has coefficients, fixings or children")
    return c


def _plain(name: str, kind: str, certificate: Certificate) -> Any:
    value = getattr(certificate, name)
    if kind == "IntArray":
        array = _vector(name, value, "iu", "whole numbers")
        fits = array.dtype == np.int64 or array.size == 0 or int(array.max()) <= _LARGEST_INT
        require(fits, f"{name} holds a number beyond int64")
        return array.astype(np.int64, copy=False)
    if kind == "FloatArray":
        array = _vector(name, value, "f", "floats")
        require(array.dtype.itemsize <= 8, f"{name} holds numbers beyond double precision")
        require(np.isfinite(array).all(), f"{name} holds a number that is not finite")
        return array.astype(np.float64, copy=False)
    if kind == "bool":
        require(isinstance(value, (bool, np.bool_)), f"{name} is not True or False")
        return bool(value)
    if kind == "float":
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if name == "gamma" and type(value) in (float, np.float64) and value == np.inf:
            return np.inf
        value = value.item() if isinstance(value, (np.integer, np.float64, np.float32, np.float16)) else value
        require(
            number and type(value) in (int, float) and abs(value) <= _LARGEST_FLOAT, f"{name} is not a finite number"
        )
        require(float(value) == value, f"{name} is beyond double precision")
        return float(value)
    if kind == "int":
        require(_is_whole(value) and abs(int(value)) <= _MOST_COLUMNS, f"{name} is not a whole number within range")
        return int(value)
    require(
        isinstance(value, tuple) and len(value) == 2 and all(map(_is_whole, value)), "shape is not two whole numbers"
    )
    return (int(value[0]), int(value[1]))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _within(array: IntArray, low: int, high: int) -> bool:
    """Whether all entries are at least `low` and below `high`."""
    return array.size == 0 or bool(array.min() >= low and array.max() < high)


def _vector(name: str, value: Any, kinds: str, what: str) -> Any:
    # A subclass of ndarray may compare and compute as it likes; its plain base does not.
    require(isinstance(value, np.ndarray), f"{name} is not an array")
    array = np.array(value, copy=True, subok=False)
    require(array.ndim == 1 and array.dtype.kind in kinds, f"{name} is not a vector of {what}")
    return array


def _rises(values: IntArray, offset: IntArray | None) -> bool:
    """Whether the values rise strictly within every stretch between two offsets."""
    if values.size < 2:
        return True
    within = np.ones(max(values.size - 1, 0), dtype=bool)
    if offset is not None:
        within[offset[(offset > 0) & (offset < values.size)] - 1] = False
    return bool(np.all((values[1:] > values[:-1])[within]))


def _bare(c: Certificate, records: IntArray) -> bool:
    """Whether these records have neither coefficients nor fixings nor children."""
    empty = all(np.array_equal(offset[records], offset[records + 1]) for offset in (c.coef_offset, c.fixed_offset))
    has_child = np.zeros(c.records, dtype=bool)
    has_child[c.parent[1:]] = True
    return empty and not has_child[records].any()


def _in_order(offset: IntArray, values: IntArray) -> bool:
    # Compared, not subtracted: a difference may wrap.
    return bool(offset[0] == 0 and offset[-1] == values.size and np.all(offset[1:] >= offset[:-1]))


def _ranges(c: Certificate) -> Iterable[tuple[str, int, int]]:
    """Lowest and one more than the highest value of every array of indices."""
    p = c.shape[1]
    columns = ("support", "forced_in", "forced_out", "coef_index", "frame_column", "twin_later", "twin_earlier")
    for name in (*columns, "row_column"):
        yield name, 0, p
    yield "fixed_column", -p, p + 1
    yield "column", -1, p


_CLAIM: tuple[tuple[Callable[[Certificate], Any], str], ...] = (
    (lambda c: c.gamma > 0 and c.penalty >= 0 and c.k >= 0, "gamma, penalty or k has the wrong sign"),
    (lambda c: c.objective >= 0, "the objective is negative"),
    (
        lambda c: 0 <= c.independence <= (INDEPENDENCE if c.gamma == np.inf else 0.0),
        "independence is for gamma = inf, and at most 1e-6",
    ),
    (lambda c: 1 <= c.shape[0] <= _MOST_ROWS and 0 <= c.shape[1] <= _MOST_COLUMNS, "the shape is not that of a matrix"),
)


def _sums_fit(c: Certificate) -> bool:
    """Whether the coefficients of no row, in any sum, leave the whole numbers of 64 bits."""
    if c.row_coef.size == c.row_upper.size == 0:
        return True
    if not np.all((np.abs(c.row_coef) < _MOST_COEF) & (c.row_coef > -_MOST_COEF)):
        return False
    sizes = (
        np.add.reduceat(np.append(np.abs(c.row_coef).astype(np.float64), 0.0), c.row_offset[:-1])
        if c.row_upper.size
        else 0.0
    )
    return bool(np.all(sizes < _MOST_COEF) and np.all((c.row_upper < 2 * _MOST_COEF) & (c.row_upper > -2 * _MOST_COEF)))


_LAYOUT: tuple[tuple[Callable[[Certificate], Any], str], ...] = (
    (lambda c: c.records > 0, "the proof has no records"),
    (lambda c: c.column.size == c.records, "column has not one entry a record"),
    (lambda c: c.side.size == c.records, "side has not one entry a record"),
    (lambda c: c.frame.size == c.records, "frame has not one entry a record"),
    (lambda c: c.kind.size == c.records, "kind has not one entry a record"),
    (lambda c: np.all((c.kind == DUAL_VALUE) | (c.kind == EXHAUSTED)), "a record is of a kind that is not known"),
    (
        lambda c: c.coef_offset.size == c.fixed_offset.size == c.records + 1 and c.frame_offset.size >= 1,
        "an offset array has the wrong length",
    ),
    (
        lambda c: (
            _in_order(c.coef_offset, c.coef_index)
            and _in_order(c.fixed_offset, c.fixed_column)
            and _in_order(c.frame_offset, c.frame_column)
        ),
        "an offset array is not in order",
    ),
    (lambda c: c.coef_value.size == c.coef_index.size, "coef_value and coef_index differ in length"),
    (lambda c: c.frame_diagonal.size == c.frame_column.size, "frame_diagonal and frame_column differ in length"),
    (lambda c: c.twin_later.size == c.twin_earlier.size, "the twin arrays differ in length"),
)

# What is asked of single columns; the claim means nothing without it, so that it comes before all else.
_ASKED: tuple[tuple[Callable[[Certificate], Any], str], ...] = (
    (lambda c: c.price.size in (0, c.shape[1]), "price has not one entry a column"),
    (lambda c: np.all(c.price >= 0), "a price is negative"),
    (lambda c: c.price.size == 0 or c.penalty == 0, "there is a penalty beside the prices of single columns"),
    (lambda c: c.sign.size in (0, c.shape[1]), "sign has not one entry a column"),
    (lambda c: _within(c.sign, -1, 2), "a sign is none of -1, 0 and 1"),
    (
        lambda c: (
            c.row_offset.size == c.row_upper.size + 1
            and c.row_coef.size == c.row_column.size
            and _in_order(c.row_offset, c.row_column)
        ),
        "the rows of the side constraints are not in order",
    ),
    (
        lambda c: _within(c.row_column, 0, c.shape[1]),
        "row_column names a column that X does not have",
    ),
    (lambda c: _sums_fit(c), "a side constraint has coefficients beyond 2^60"),
)
