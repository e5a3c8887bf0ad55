"""What a recipe leaves open, decided from the table as most people would, and said.

What is decided becomes part of the recipe, so that a model or a proof names it and nothing is decided twice: `encode`
follows the recipe to the letter, whoever wrote it. The rules are on docs/command-line.md.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from parsifal.tabular.column import Column, as_text, is_text, is_time, without_value
from parsifal.tabular.encoding import MOST_LEVELS, Roles, code_of, roles_of, streams
from parsifal.tabular.names import printable
from parsifal.tabular.reading import Table
from parsifal.tabular.recipe import Recipe
from parsifal.tabular.textfile import Dialect
from parsifal.tabular.written import number_form

# What was done, and the words for it before the list of columns.
FILE, RENAMED, NUMBERS, DAYS, INDICATORS, LEFT_OUT, ROWS = (
    "the file",
    "renamed",
    "read as numbers",
    "as days since 1970-01-01",
    "as indicators",
    "left out",
    "rows left out",
)
_ORDER = (FILE, RENAMED, LEFT_OUT, INDICATORS, NUMBERS, DAYS, ROWS)
_COUNTERS = {"column1", "unnamed: 0", "x", "rownames", "row.names", "rowname", "row", "index", "id", "obs"}
_ROW_NAMES = {"unnamed: 0", "rownames", "row.names", "rowname"}  # of a saved index, and of nothing else
_OTHER_DATES = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}.*|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}")
_LOST = 1 / 3  # share of the rows beyond which columns with gaps go before the rows do
_MOSTLY = 1 / 2  # share of gaps at which a column is mostly gaps
_SHOWN = 8


@dataclass(frozen=True)
class Remark:
    """One thing that was done to a table: by which rule, to which column (None: the whole table), and why."""

    rule: str
    column: str | None
    why: str

    def complaint(self) -> str:
        """The same as a fault of the table."""
        return printable(self.why if self.column is None else f"column {self.column!r}: {self.why}")


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A recipe that leaves nothing open, and what had to be decided for it."""

    recipe: Recipe
    remarks: tuple[Remark, ...]
    options: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """What was done, a line for every rule."""
        return remark_lines(self.remarks)


def remark_lines(remarks: Iterable[Remark]) -> list[str]:
    """What was done, a line for every rule; with the first columns of each."""
    groups: dict[str, list[str]] = {rule: [] for rule in _ORDER}
    for remark in remarks:
        words = remark.why if remark.column is None else remark.column
        if remark.column is not None and remark.rule != INDICATORS:
            words += f" ({remark.why})"
        groups.setdefault(remark.rule, []).append(words)
    lines = []
    for rule, group in groups.items():
        more = f", ... ({len(group)} in all)" if len(group) > _SHOWN else ""
        if group:
            lines.append(printable(f"{rule}: {', '.join(group[:_SHOWN])}{more}"))
    return lines


def settle(table: Table, asked: Recipe) -> Settled:
    """Decide what a recipe leaves open.

    Parameters
    ----------
    table : Table
        As it was read.
    asked : Recipe
        What the user said; it is never overruled.
    """
    roles = roles_of(table, asked)
    recipe = replace(asked, target=roles.target)
    if streams(table, asked):
        return Settled(recipe=recipe, remarks=(), options=())
    recipe, remarks = _settle_file(table, asked, recipe)
    columns = _Columns(table, recipe, roles)
    columns.look_at_each()
    columns.look_at_gaps()
    recipe = columns.recipe()
    return Settled(recipe=recipe, remarks=(*remarks, *columns.remarks()), options=_options(asked, recipe))


def _settle_file(table: Table, asked: Recipe, recipe: Recipe) -> tuple[Recipe, list[Remark]]:
    """How a text file is written, and names that were there twice."""
    remarks = [Remark(RENAMED, name, f"there was a {old!r} before it") for name, old in table.renamed.items()]
    found = table.dialect
    if found is None:
        return recipe, remarks
    usual = Dialect().usual(table.suffix)
    if asked.delimiter is None and found.delimiter != usual.delimiter:
        name = "a tab" if found.delimiter == "\t" else str(found.delimiter)
        remarks.append(Remark(FILE, None, f"fields are separated by {name}"))
    if asked.decimal is None and found.decimal != usual.decimal:
        remarks.append(Remark(FILE, None, f"the decimal point is a {found.decimal}"))
    if asked.encoding is None and found.encoding != usual.encoding:
        remarks.append(Remark(FILE, None, f"it is not UTF-8 and was read as {found.encoding}"))
    # What is usual stays unsaid, so that a copy of the data in another kind of file can be checked too.
    return replace(
        recipe,
        delimiter=asked.delimiter if found.delimiter == usual.delimiter else found.delimiter,
        decimal=found.decimal,
        encoding=found.encoding,
    ), remarks


class _Columns:
    """The columns that may become features, while it is decided about them."""

    def __init__(self, table: Table, recipe: Recipe, roles: Roles) -> None:
        self.table, self.asked, self.roles = table, recipe, roles
        self.explicit = {*recipe.categorical, *recipe.dates, *recipe.numbers}
        self.decided = self.explicit | roles.categorical
        # Columns by the rule that they fell under, each with its reason.
        self.chosen: dict[str, dict[str, str]] = {LEFT_OUT: {}, INDICATORS: {}, NUMBERS: {}, DAYS: {}}
        self.numbers: dict[str, Column] = {}
        self.rows: str | None = None

    def recipe(self) -> Recipe:
        explicit = tuple(name for name in self.asked.categorical if name != "auto")
        automatic = [name for name in self.roles.used if name in self.roles.categorical and name not in explicit]
        gone = self.chosen[LEFT_OUT]
        return replace(
            self.asked,
            drop=(*self.asked.drop, *gone),
            categorical=tuple(n for n in (*explicit, *automatic, *self.chosen[INDICATORS]) if n not in gone),
            dates=tuple(n for n in (*self.asked.dates, *self.chosen[DAYS]) if n not in gone),
            numbers=tuple(n for n in (*self.asked.numbers, *self.chosen[NUMBERS]) if n not in gone),
            drop_missing=self.asked.drop_missing or self.rows is not None,
        )

    def remarks(self) -> list[Remark]:
        found = [Remark(rule, name, why) for rule, names in self.chosen.items() for name, why in names.items()]
        return found if self.rows is None else [*found, Remark(ROWS, None, self.rows)]

    @property
    def left(self) -> list[str]:
        return [name for name in self.roles.used if name not in self.chosen[LEFT_OUT]]

    def _leave_out(self, name: str, why: str) -> None:
        # What was to be done with it is not done.
        for names in self.chosen.values():
            names.pop(name, None)
        self.chosen[LEFT_OUT][name] = why

    # ---- Each column by itself

    def look_at_each(self) -> None:
        for name in self.roles.reserved:
            if name not in self.decided and name not in self.table.unread:
                self._read_as_numbers(name)
        for name in self.roles.used:
            if name in self.table.unread:
                self._leave_out(name, f"its type, {self.table.unread[name]}, is neither numbers, text nor dates")
            elif name not in self.explicit:
                self._look_at(name)

    def _look_at(self, name: str) -> None:
        if name not in self.decided:
            self._read_as_numbers(name)
        column = self._column(name)
        useless = "it counts the rows" if self._counts_rows(name) else _useless(column)
        if useless is not None:
            self._leave_out(name, useless)
        elif is_text(column) and name not in self.decided:
            self.chosen[INDICATORS][name] = "text"

    def _read_as_numbers(self, name: str) -> None:
        """Take a column of dates as days, and one of text as numbers where it has a form for that."""
        column = self.table[name]
        if is_time(column):
            self.chosen[DAYS][name] = "dates" if column.dtype.kind == "M" else "spans of time"
        elif is_text(column):
            dialect = self.table.dialect or Dialect()
            decimal = dialect.decimal or self.asked.decimal or "."
            form = number_form(column, decimal=decimal, delimiter=dialect.delimiter)
            if form is not None:
                self.chosen[NUMBERS][name] = str(form)
                self.numbers[name] = form.parse(column, name)

    def _column(self, name: str) -> Column:
        """The column as it will be read."""
        if name in self.asked.numbers and name not in self.numbers:
            self.numbers[name] = code_of(self.table, self.asked, name).values(self.table[name])
        return self.numbers.get(name, self.table[name])

    def _counts_rows(self, name: str) -> bool:
        """Whether this is the first column, without a name of its own, and 0, 1, 2, ... or 1, 2, 3, ...; or has the
        name of an index, and a number of its own in every row, such as some rows of a table keep."""
        column = self.table[name]
        if column.dtype.kind not in "iuf":
            return False
        if name.casefold() in _ROW_NAMES and np.array_equal(column, np.rint(column)):
            return bool(np.unique(column).size == column.size)
        if name != self.table.names[0] or name.casefold() not in _COUNTERS:
            return False
        return column[0] in (0, 1) and bool(np.array_equal(column, np.arange(column.size) + int(column[0])))

    # ---- Gaps

    def look_at_gaps(self) -> None:
        if self.asked.impute is None and not self.asked.drop_missing:
            self._leave_out_columns_with_gaps()
        keep = self._complete(self.left if self.asked.impute is None else [])
        if keep.all():
            return
        if not self.asked.drop_missing:
            self.rows = self._lost_rows(keep)
        for name in self.left:
            # Rows that are gone may have had all that a column was good for.
            useless = None if name in self.explicit else _useless(self._column(name)[keep])
            if useless is not None and keep.any():
                self._leave_out(name, useless + " that is left" if useless.startswith("it is") else useless)

    def _complete(self, names: list[str]) -> npt.NDArray[np.bool_]:
        keep = np.ones(self.table.rows, dtype=bool)
        for name in (*self.roles.reserved, *names):
            keep &= ~without_value(self._column(name))
        return keep

    def _leave_out_columns_with_gaps(self) -> None:
        target = self._complete([])
        rows = int(target.sum())
        empty = {name: gap for name in self.left if (gap := without_value(self._column(name)) & target).any()}
        in_row = np.zeros(self.table.rows, dtype=np.int64)
        for gap in empty.values():
            in_row += gap
        for name, gap in sorted(empty.items(), key=lambda one: -int(one[1].sum())):
            kept, count = rows - np.count_nonzero(in_row), int(gap.sum())
            # Columns that are mostly gaps go first; others only where hardly a row would be left.
            if kept >= (1 - _LOST) * rows or (count <= _MOSTLY * rows and kept >= _LOST * rows):
                return
            in_row -= gap
            self._leave_out(name, f"{count} of {rows} rows have no value; --impute median keeps it")

    def _lost_rows(self, keep: npt.NDArray[np.bool_]) -> str:
        names = (*self.roles.reserved, *(self.left if self.asked.impute is None else []))
        counts = {name: int(without_value(self._column(name)).sum()) for name in names}
        most = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
        more = ", ..." if len(most) > _SHOWN else ""
        where = ", ".join(f"{name} ({counts[name]})" for name in most[:_SHOWN]) + more
        lost = int((~keep).sum())
        there = self._complete([])
        hint = "; --impute median keeps them" if lost - int((~there).sum()) > _LOST * int(there.sum()) else ""
        return f"{lost} of {keep.size} have gaps, in {where}{hint}"


def _useless(column: Column) -> str | None:
    """Why a column cannot help, None if it may."""
    present = column[~without_value(column)]
    if not present.size:
        return "it has no values"
    if column.size == 1:
        # Of one row nothing can be said; that there is but one is for the encoding to say.
        return None
    if is_text(column):
        return _useless_text(present)
    return f"it is {as_text(present[:1])[0]} in every row" if np.all(present == present[0]) else None


def _useless_text(present: Column) -> str | None:
    texts = set(present.tolist())
    if len(texts) == 1:
        return f"it is {texts.pop()!r} in every row"
    if 2 * len(texts) <= present.size and len(texts) <= MOST_LEVELS:
        return None
    if sum(_OTHER_DATES.fullmatch(text.strip()) is not None for text in texts) > 0.9 * len(texts):
        return "dates that are not written like 2020-01-31"
    return f"text with {len(texts)} different values in {present.size} rows"


def _options(asked: Recipe, settled: Recipe) -> tuple[str, ...]:
    """What to add to the command line for nothing to be left open."""
    words: list[str] = []
    for option in ("drop", "categorical", "numbers", "dates"):
        before = getattr(asked, option)
        new = [name for name in getattr(settled, option) if name not in before and "auto" not in before]
        if new:
            words += [f"--{option}", _comma_separated(new)]
    for option in ("delimiter", "decimal", "encoding"):
        value = getattr(settled, option)
        unusual = value not in (None, getattr(Dialect().usual(""), option))
        if getattr(asked, option) is None and unusual:
            words += [f"--{option}", "tab" if value == "\t" else value]
    if settled.drop_missing and not asked.drop_missing:
        words.append("--drop-missing")
    return tuple(words)


def _comma_separated(names: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
