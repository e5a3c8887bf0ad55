"""What an exact check is given, a certificate that anyone may have made and X, as plain arrays of known content."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError
from parsifal.proof.certificate import Certificate
from parsifal.proof.exact_arithmetic import FloatArray, IntArray

# Entries of X that digits are made of: usually four or five for each.
MOST_ENTRIES = 5 * 10**6


class Wrong(Exception):
    """The first thing that is wrong."""


def require(condition: Any, reason: str) -> None:
    if not condition:
        raise Wrong(reason)


def plain(certificate: Certificate) -> Certificate:
    """The certificate with arrays of int64 and float64 of its own, and Python's numbers; every field is read once."""
    return Certificate(
        **{f.name: plain_value(f.name, str(f.type), getattr(certificate, f.name)) for f in fields(Certificate)}
    )


def plain_value(name: str, kind: str, value: Any) -> Any:
    """A field of a certificate, of the kind that its class says."""
    if kind in ("IntArray", "FloatArray"):
        return _whole_vector(name, value) if kind == "IntArray" else _float_vector(name, value)
    if kind == "float":
        endless = name == "gamma" and type(value) in (float, np.float64) and value == np.inf
        return np.inf if endless else _number(name, value)
    if kind == "int":
        return _index(name, value)
    if kind == "bool":
        require(isinstance(value, (bool, np.bool_)), f"{name} is not True or False")
        return bool(value)
    require(isinstance(value, tuple) and len(value) == 2, f"{name} is not two whole numbers")
    return (_index(name, value[0]), _index(name, value[1]))


def _whole_vector(name: str, value: Any) -> IntArray:
    array = _vector(name, value, "iu", "whole numbers")
    require(array.size == 0 or int(array.max()) <= np.iinfo(np.int64).max, f"{name} holds a number beyond int64")
    return array.astype(np.int64)


def _float_vector(name: str, value: Any) -> FloatArray:
    array = _vector(name, value, "f", "floats")
    require(array.dtype.itemsize <= 8, f"{name} holds numbers beyond double precision")
    require(np.isfinite(array).all(), f"{name} holds a number that is not finite")
    return array.astype(np.float64)


def _vector(name: str, value: Any, kinds: str, words: str) -> npt.NDArray[Any]:
    """A copy without the class of the original, which may compare and compute as it likes."""
    require(isinstance(value, np.ndarray), f"{name} is not an array")
    array = np.array(value, subok=False, copy=True)
    require(array.ndim == 1 and array.dtype.kind in kinds, f"{name} is not a vector of {words}")
    return array


def _number(name: str, value: Any) -> float:
    kind = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    require(kind, f"{name} is not a finite number")
    try:
        number = float(value)
    except OverflowError:
        raise Wrong(f"{name} is not a finite number") from None
    require(np.isfinite(number), f"{name} is not a finite number")
    require(number == value, f"{name} is a number beyond double precision")
    return number


def _index(name: str, value: Any) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    require(whole and abs(int(value)) < 1 << 60, f"{name} is not a whole number within range")
    return int(value)


def read_matrix(X: Any, shape: tuple[int, int]) -> FloatArray:
    """Every entry of X as a double, X being of the shape that the certificate is for."""
    if not hasattr(X, "shape"):
        try:
            X = np.array(X)
        except ValueError:
            raise Wrong("X does not make a matrix") from None
    found = tuple(int(size) for size in X.shape)
    require(len(found) == 2, f"X has shape {found}, a matrix is needed")
    require(found == shape, f"X has shape {found}, the certificate is for {shape}")
    if shape[0] * shape[1] > MOST_ENTRIES:
        raise InputError(
            f"X has {shape[0] * shape[1]} entries, more than the {MOST_ENTRIES} that an exact check takes; "
            "check without exact"
        )
    values = _entries(X)
    require(values.dtype.kind in "biuf", f"X has dtype {values.dtype}; real numbers are needed")
    values = values.astype(np.float64)
    require(values.shape == shape and np.isfinite(values).all(), "X holds a non-finite number")
    return values


def _entries(X: Any) -> npt.NDArray[Any]:
    """The entries of an array, a frame, a sparse matrix or a design."""
    require(not np.ma.isMaskedArray(X), "X is a masked array; fill it first")
    if hasattr(X, "to_numpy"):
        values = X.to_numpy()
        kinds = {getattr(dtype, "kind", "O") for dtype in getattr(X, "dtypes", ())}
        # Numbers and truth values side by side.
        mixed = values.dtype == object and kinds <= set("biuf")
        return np.array(X.to_numpy(dtype=np.float64) if mixed else values, subok=False)
    if hasattr(X, "toarray"):
        real = getattr(getattr(X, "dtype", None), "kind", "O") in "biuf"
        # Entries that are stored twice are added up, as doubles.
        return np.array((X.astype(np.float64) if real else X).toarray(), subok=False)
    if not hasattr(X, "dtype") and callable(getattr(X, "columns", None)):
        return np.array(X.columns(np.arange(int(X.shape[1]))), subok=False)
    return np.array(X, subok=False)


def check_layout(c: Certificate) -> None:
    """Lengths, ranges, offsets in order, parents before children: what makes it safe to follow the indices."""
    records, p = c.records, c.shape[1]
    require(records > 0, "the proof has no records")
    for name in ("column", "side", "frame", "kind"):
        require(getattr(c, name).size == records, f"{name} has not one entry a record")
    frames = c.frame_offset.size - 1
    for offset, values, count in (
        (c.coef_offset, c.coef_index, records),
        (c.fixed_offset, c.fixed_column, records),
        (c.frame_offset, c.frame_column, frames),
    ):
        require(offset.size >= 1 and offset.size == count + 1, "an offset array has the wrong length")
        ordered = offset[0] == 0 and offset[-1] == values.size and np.all(offset[1:] >= offset[:-1])
        require(ordered, "an offset array is not in order")
    require(c.coef_value.size == c.coef_index.size, "coef_value and coef_index differ in length")
    require(c.frame_diagonal.size == c.frame_column.size, "frame_diagonal and frame_column differ in length")
    require(c.twin_later.size == c.twin_earlier.size, "the twin arrays differ in length")
    for name in ("support", "forced_in", "forced_out", "coef_index", "frame_column", "twin_later", "twin_earlier"):
        require(_within(getattr(c, name), 0, p - 1), f"{name} names a column that X does not have")
    fixed = _within(c.fixed_column, -p, p) and np.all(c.fixed_column != 0)
    require(fixed, "fixed_column names a column that X does not have")
    require(_within(c.column, -1, p - 1), "column names a column that X does not have")
    require(_within(c.frame, -1, frames - 1), "a record names no such frame")
    require(c.parent[0] == -1, "the first record is not the root")
    require(np.all((c.parent[1:] >= 0) & (c.parent[1:] < np.arange(1, records))), "a record comes before its parent")
    require(np.unique(c.twin_later).size == c.twin_later.size, "a column is the later twin of two others")
    require(c.frame[0] == -1, "the first record is in a frame")
    require(_within(c.kind, 0, 1), "a record is of a kind that is not known")
    exhausted = np.flatnonzero(c.kind == 1)
    content = c.coef_offset + c.fixed_offset
    bare = np.array_equal(content[exhausted], content[exhausted + 1]) and not np.isin(exhausted, c.parent).any()
    require(bare, "an exhausted record has coefficients, fixings or children")
    require(_ascending(c.coef_index, c.coef_offset), "the coefficients of a record are not in order")
    require(_ascending(c.frame_column, c.frame_offset), "the columns of a frame are not in order")


def check_rules(c: Certificate) -> None:
    """Prices, signs and side constraints: of the right lengths, in their ranges, and sums of coefficients that fit."""
    p = c.shape[1]
    for name in ("price", "sign"):
        require(getattr(c, name).size in (0, p), f"{name} has not one entry a column")
    require(np.all(c.price >= 0), "a price is negative")
    require(c.price.size == 0 or c.penalty == 0, "there is a penalty beside the prices of single columns")
    require(_within(c.sign, -1, 1), "a sign is none of -1, 0 and 1")
    rows, entries = c.row_upper.size, c.row_column.size
    ordered = c.row_offset.size == rows + 1 and c.row_coef.size == entries
    ordered = ordered and c.row_offset[0] == 0 and c.row_offset[-1] == entries
    ordered = ordered and bool(np.all(c.row_offset[1:] >= c.row_offset[:-1]))
    require(ordered, "the rows of the side constraints are not in order")
    require(_within(c.row_column, 0, p - 1), "row_column names a column that X does not have")


def _within(values: IntArray, low: int, high: int) -> bool:
    return bool(np.all((values >= low) & (values <= high)))


def _ascending(values: IntArray, offset: IntArray) -> bool:
    """Whether values increase in every stretch between two offsets."""
    falls = np.flatnonzero(values[1:] <= values[:-1]) + 1
    return bool(np.isin(falls, offset).all())
