"""Numbers that are written for people: "1,234.50", "12 %", "$5", and marks that stand for a gap."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsifal.errors import DataError
from parsifal.tabular.column import Column

_CURRENCIES = "$€£¥"
_MARKS = frozenset(
    (".", "-", "--", "*", "n/a", "na", "<na>", "nan", "null", "none", "nil", "missing", "unknown")
    + ("#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!")
)
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u202f\u2009", " ") | {"\u2212": "-", "\u2019": "'"})
_PARTS = re.compile(
    rf"(?P<sign>[-+]?)(?P<before>[{_CURRENCIES}]?) ?(?P<inner>[-+]?)(?P<body>[\d.,' ]*[\d.](?:[eE][-+]?\d+)?)"
    rf" ?(?P<after>[%{_CURRENCIES}]?)"
)
_AMBIGUOUS = ",."
_LONGEST = 60  # characters of a number


@dataclass(frozen=True, kw_only=True)
class NumberForm:
    """How the numbers of a column of text are written: decimal point, what is between thousands, and their unit.

    12 % is read as 12: a unit is left out, not computed with.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def __str__(self) -> str:
        words = [f"with {self.unit}"] if self.unit else []
        if self.thousands:
            words.append("thousands separated by " + ("a space" if self.thousands == " " else self.thousands))
        return " and ".join(words) or "with marks for gaps"

    def parse(self, column: Column, name: str) -> Column:
        """The numbers, NaN for a gap and for a mark that stands for one."""
        known: dict[Any, float] = {None: math.nan}
        out = np.empty(len(column))
        for row, text in enumerate(column):
            value = known.get(text)
            if value is None:
                value = known[text] = self._one(text, name, row)
            out[row] = value
        return out

    def _one(self, text: str, name: str, row: int) -> float:
        if text.strip().lower() in _MARKS:
            return math.nan
        parts = _split(text)
        if parts is not None and parts[1] in ("", self.unit):
            sign, _, body = parts
            body = body.replace(self.thousands, "") if self.thousands else body
            try:
                value = float(sign + body.replace(self.decimal, "."))
            except ValueError:
                value = math.nan
            if math.isfinite(value):
                return value
        raise DataError(f"column {name!r} is {text!r} in row {row + 1}, which is no number; correct it or leave it out")


def number_form(column: Column, *, decimal: str = ".", delimiter: str | None = None) -> NumberForm | None:
    """The form in which all entries of a column of text are numbers; None if there is none, or more than one.

    Parameters
    ----------
    column : ndarray of object
        Text, None for a gap.
    decimal : str
        The decimal point.
    delimiter : str, optional
        Between the fields of the file. Where it is a semicolon, "1,234" may be 1.234, and needs more to go by.
    """
    counts = Counter(text for text in column if text is not None)
    texts = [text for text in counts if text.strip().lower() not in _MARKS]
    marks = counts.total() - sum(counts[text] for text in texts)
    if not texts or 2 * marks > counts.total():
        return None
    found = [_split(text) for text in texts]
    parts = [part for part in found if part is not None]
    units = {unit for _, unit, _ in parts}
    if len(parts) < len(found) or len(units) > 1:
        return None
    bodies = [body for _, _, body in parts]
    others = {sign for body in bodies for sign in body if sign in ",.' " and sign != decimal}
    if len(others) > 1:
        return None
    thousands = others.pop() if others else ""
    point = re.escape(decimal)
    plain = re.compile(rf"(\d+({point}\d*)?|{point}\d+)([eE][-+]?\d+)?")
    grouped = re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+({point}\d*)?") if thousands else None
    sure = delimiter != ";" or not thousands or thousands not in _AMBIGUOUS
    for body in bodies:
        if grouped is not None and grouped.fullmatch(body):
            sure = sure or body.count(thousands) > 1 or decimal in body
        elif not plain.fullmatch(body) or (thousands and len(body.partition(decimal)[0]) > 3):
            return None
    return NumberForm(decimal=decimal, thousands=thousands, unit=units.pop()) if sure else None


def _split(text: str) -> tuple[str, str, str] | None:
    """Sign, unit and digits of a number, None if it is none."""
    found = _PARTS.fullmatch(text.translate(_SPACES).strip()) if len(text) <= _LONGEST else None
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    return found["sign"] + found["inner"], found["before"] + found["after"], found["body"].strip()
