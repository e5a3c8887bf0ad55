"""What solvers print: kept from the terminal, and read for the history of the gap."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator

_NUMBER = r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf))"
_PYBNB = re.compile(rf"^\*? +\d+ +\d+ +\| +{_NUMBER} +{_NUMBER} .*?\| +{_NUMBER} ", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(rf"d: *{_NUMBER}.*?u: *{_NUMBER}.*?t: *{_NUMBER}", re.IGNORECASE)


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """Catch what is printed."""
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        yield log


def bound_lines(log: str) -> list[list[float]]:
    """Seconds, upper bound and lower bound of the lines ``... d: lower ... u: upper ... t: seconds``."""
    rows = []
    for match in _LINE.finditer(log):
        lower, upper, seconds = (float(text) for text in match.groups())
        rows.append([seconds, upper, lower])
    return rows


def pybnb_lines(log: str) -> list[list[float]]:
    """Seconds, upper bound and lower bound of pybnb's table: nodes | incumbent, bound, gaps | seconds, rates."""
    rows = []
    for match in _PYBNB.finditer(log):
        upper, lower, seconds = (float(text) for text in match.groups())
        if abs(upper) < float("inf") and abs(lower) < float("inf"):
            rows.append([seconds, upper, lower])
    return rows
