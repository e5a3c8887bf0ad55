"""One column: numbers, text or dates, and what all readers and rules ask of it.

Numbers are in float, integer or boolean arrays with NaN for a gap; text is in object arrays with None for a gap; dates
and spans of time are in NumPy's arrays of these, with NaT for a gap.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

# What a text file, a sheet or a line of JSON says where there is no value.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?")
_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")


def is_text(column: Column) -> bool:
    return column.dtype.kind == "O"


def is_time(column: Column) -> bool:
    """Whether the column has dates, or spans of time."""
    return column.dtype.kind in "mM"


def gaps(column: Column) -> npt.NDArray[np.bool_]:
    """Where a column has no value."""
    if is_text(column):
        return np.array([value is None for value in column], dtype=bool)
    if is_time(column):
        return np.isnat(column)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(column.shape, dtype=bool)


def without_value(column: Column) -> npt.NDArray[np.bool_]:
    """Where a column has nothing to compute with: a gap, or a number that is infinite."""
    return ~np.isfinite(column) if column.dtype.kind == "f" else gaps(column)


def as_text(column: Column) -> Column:
    """The values as text, None for a gap; 1 and 1.0 are the same level."""
    if is_text(column):
        return column.copy()
    if column.dtype.kind == "b":
        return np.array(["true" if value else "false" for value in column], dtype=object)
    if column.dtype.kind == "M":
        texts = np.datetime_as_string(column).tolist()
        return np.array([None if text == "NaT" else text.replace("T", " ") for text in texts], dtype=object)
    if column.dtype.kind == "m":
        column = as_days(column)
    values = [None if value != value else f"{value:.15g}" for value in column.tolist()]
    return np.array(values, dtype=object)


def as_days(column: Column) -> npt.NDArray[np.float64]:
    """Dates as days since 1970-01-01, spans of time as days; NaN for a gap."""
    unit, count = np.datetime_data(column.dtype)
    if unit not in _DAY:
        column, unit, count = column.astype(f"{column.dtype.kind}8[D]"), "D", 1
    days: npt.NDArray[np.float64] = column.astype(np.int64).astype(np.float64) * (count / _DAY[unit])
    days[np.isnat(column)] = np.nan
    return days


def column_of(values: Sequence[Any]) -> Column:
    """A column from objects of Python, as a sheet, lines of JSON or a data frame have them; None for a gap."""
    kinds = {type(value) for value in values if value is not None}
    gap = len(values) > 0 and any(value is None for value in values)
    if not kinds or kinds <= {int, float, bool}:
        return _numbers(values, kinds, gap)
    if kinds <= {datetime.datetime, datetime.date}:
        return np.array([None if value is None else _moment(value) for value in values], dtype="M8[us]")
    if kinds <= {datetime.timedelta}:
        return np.array(values, dtype="m8[us]")
    texts = np.full(len(values), None, dtype=object)
    shared: dict[str, str] = {}
    for row, value in enumerate(values):
        text = None if value is None else _text(value)
        texts[row] = None if text is None or text.strip() in MISSING else shared.setdefault(text, text)
    if shared and len(kinds) == 1 and all(_ISO.fullmatch(text) for text in shared):
        try:
            return np.array(texts.tolist(), dtype="M8[us]")
        except ValueError:
            pass
    if shared and kinds & {int, float} and all(_is_number(text) for text in shared):
        return np.array([math.nan if text is None else float(text) for text in texts])
    return texts


def _numbers(values: Sequence[Any], kinds: set[type], gap: bool) -> Column:
    if kinds == {bool} and not gap:
        return np.array(values, dtype=bool)
    if kinds == {int} and not gap and all(abs(value) < 1 << 63 for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([math.nan if value is None else _float(value) for value in values], dtype=np.float64)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.copysign(math.inf, value)


def _moment(value: datetime.date) -> datetime.datetime:
    if not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    return value if value.tzinfo is None else value.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
