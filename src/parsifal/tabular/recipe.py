"""The recipe: which columns of a table are what, so that anyone can make the same matrix of the same file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from parsifal.errors import DataError, InputError


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a table becomes a matrix and a response. Rules only: levels and medians follow from the data.

    Attributes
    ----------
    target : str
        The column to explain. For ``.npy`` a column number or another ``.npy`` file, for ``.npz`` an array's name.
    weights : str or None
        Column of observation weights.
    drop : tuple of str
        Columns left out.
    categorical : tuple of str
        Columns turned into indicators; ``("auto",)`` means every column of text.
    dates : tuple of str
        Columns of dates, turned into days since 1970-01-01.
    numbers : tuple of str
        Columns of text that are read as numbers, such as "1,234", "12 %" or "$5".
    impute : str or None
        ``"median"`` fills gaps with the median, in categorical columns with the most frequent level.
    drop_missing : bool
        Leave out rows with gaps; with `impute`, only rows that lack the target or the weight. An infinite number is a
        gap.
    adjust : tuple of str
        Columns or features to adjust for.
    intercept, standardize : bool
        As in `SparseRegressor`.
    delimiter, decimal, encoding : str or None
        Of a text file; None is found out.
    sheet : str or None
        Of an Excel file; None is the first with anything in it.
    """

    target: str
    weights: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    impute: str | None = None
    drop_missing: bool = False
    adjust: tuple[str, ...] = ()
    intercept: bool = True
    standardize: bool = True
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.impute not in (None, "median"):
            raise InputError(f"impute must be 'median', not {self.impute!r}; leave it out to refuse missing values")

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_dict(cls, values: Any, where: str) -> Recipe:
        """Build from what `asdict` gave, with every value's type checked."""
        if not isinstance(values, dict):
            raise DataError(f"the recipe in {where} is damaged; make the file again with parsifal fit")
        # Files of an earlier version have none of these.
        values = {"dates": [], "numbers": [], "adjust": [], "sheet": None, **values}
        kinds = {field.name: str(field.type) for field in fields(cls)}
        known: dict[str, Any] = {}
        for name, kind in kinds.items():
            value = values.get(name)
            if kind.startswith("tuple"):
                good = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
                value = tuple(value) if good and value is not None else value
            elif kind == "bool":
                good = isinstance(value, bool)
            else:
                good = isinstance(value, str) or (value is None and "None" in kind)
            if not good:
                raise DataError(f"{name} of the recipe in {where} is {value!r}; make the file again with parsifal fit")
            known[name] = value
        return cls(**known)
