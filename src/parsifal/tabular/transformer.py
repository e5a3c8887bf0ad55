"""The command line's encoding of tables, as a scikit-learn transformer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from parsifal._public import public
from parsifal.errors import DataError, InputError
from parsifal.tabular.column import without_value
from parsifal.tabular.encoding import ColumnCode, code_of, encode
from parsifal.tabular.frames import frame_table
from parsifal.tabular.modelfile import column_code
from parsifal.tabular.reading import Table
from parsifal.tabular.recipe import Recipe
from parsifal.tabular.settling import Settled, settle

_TARGET = ""  # no column of a table has this name


@public
class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a data frame with text, dates and gaps into numbers, by the rules of the command line.

    Text becomes indicators, dates days since 1970-01-01, and numbers that are written as text ("1,234", "12 %", "$5")
    numbers. Columns that cannot help are left out: constants, names of the rows, numbers of the rows. The one
    difference: a transformer must not lose rows, so gaps are filled; to leave such rows out as the command line does,
    use ``frame.dropna()`` before.

    Parameters
    ----------
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns to turn into indicators, whatever they hold; text is turned into indicators in any case.
    dates : sequence of str
        Columns of dates; others that have dates are found.
    numbers : sequence of str
        Columns of text that are numbers; others are found.
    impute : {"median", None}
        Fills gaps with the median in `fit`'s data, in text with the most frequent level; None refuses them.
    unknown : {"refuse", "ignore"}
        What `transform` does about a level that `fit` has not seen: an error, or no indicator is set.
    strict : bool
        Whether `fit` refuses a frame that needs a decision which no parameter makes.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    columns_ : list of dict
        How every column that is used becomes features: its levels, its fill, and so on, as in a model file.
    remarks_ : list of str
        What was decided, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> import parsifal as pf
    >>> frame = pd.DataFrame({"id": range(1, 5), "colour": ["red", "blue", "red", "blue"], "price": ["$5", "$1,200", "$3", None]})
    >>> encoder = pf.TableEncoder().fit(frame)
    >>> list(encoder.get_feature_names_out())
    ['colour=red', 'price']
    >>> encoder.remarks_
    ['left out: id (it counts the rows)', 'as indicators: colour', 'read as numbers: price (with $ and thousands separated by ,)']
    >>> encoder.transform(frame)["price"].tolist()
    [5.0, 1200.0, 3.0, 5.0]
    """  # noqa: E501

    def __init__(
        self,
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        dates: Sequence[str] = (),
        numbers: Sequence[str] = (),
        impute: str | None = "median",
        unknown: str = "refuse",
        strict: bool = False,
    ) -> None:
        self.drop = drop
        self.categorical = categorical
        self.dates = dates
        self.numbers = numbers
        self.impute = impute
        self.unknown = unknown
        self.strict = strict

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide how each column becomes features.

        Parameters
        ----------
        X : DataFrame of pandas or polars, pyarrow.Table or ndarray of shape (n, p)
            Rows to learn levels and medians from.
        y : object
            Ignored; there for pipelines.
        """
        if self.unknown not in ("refuse", "ignore"):
            raise InputError(f"unknown must be 'refuse' or 'ignore', not {self.unknown!r}")
        table = frame_table(X)
        if table.rows < 2:
            raise InputError("X has one row; at least two are needed")
        recipe = self._recipe(table)
        whole = replace(table, names=(*table.names, _TARGET), columns=(*table.columns, np.arange(float(table.rows))))
        # No row may go: gaps are refused below, or filled.
        settled = settle(whole, replace(recipe, impute="median"))
        if self.strict and settled.remarks:
            raise InputError(self._refusal(settled))
        if self.impute is None:
            self._refuse_gaps(table, settled.recipe)
        encoded = encode(whole, replace(settled.recipe, impute=self.impute))
        self.n_features_in_ = len(table.names)
        if not isinstance(X, np.ndarray):
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.columns_ = [asdict(code) for code in encoded.codes]
        self.remarks_ = settled.lines
        self._names_in = table.names
        return self

    def transform(self, X: Any) -> Any:
        """The features of new rows.

        Parameters
        ----------
        X : as in `fit`
            With the same columns, in any order.

        Returns
        -------
        DataFrame or ndarray of shape (n, features)
            A data frame of the same library where X is one of pandas or polars, otherwise an array.
        """
        check_is_fitted(self)
        table = frame_table(X)
        codes = self._codes()
        for name in table.names:
            if name not in self._names_in:
                raise InputError(f"column {name!r} of X was not there in fit; leave it out")
        columns: list[npt.NDArray[Any]] = []
        for code in codes:
            if code.name not in table:
                raise InputError(f"X has no column {code.name!r}, which fit has seen; add it")
            columns += self._features(code, table)
        names = self.get_feature_names_out()
        library = type(X).__module__.partition(".")[0]
        if library in ("pandas", "polars"):
            return _frame(library, X, names, columns)
        out = np.empty((table.rows, len(columns)), order="F")
        for place, column in enumerate(columns):
            out[:, place] = column
        return out

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features: of a column, or ``column=level``.

        Parameters
        ----------
        input_features : object
            Ignored; there because scikit-learn gives it.
        """
        check_is_fitted(self)
        return np.array([feature for code in self._codes() for feature in code.features], dtype=object)

    def _codes(self) -> list[ColumnCode]:
        return [column_code(row) for row in self.columns_]

    def _features(self, code: ColumnCode, table: Table) -> list[npt.NDArray[Any]]:
        skip = np.zeros(table.rows, dtype=bool) if self.unknown == "ignore" and code.levels is not None else None
        try:
            return [column.astype(np.float64) for column in code.apply(table[code.name], None, skip)]
        except DataError as error:
            raise InputError(_in_python(str(error))) from None

    def _recipe(self, table: Table) -> Recipe:
        given: dict[str, tuple[str, ...]] = {}
        for option in ("drop", "categorical", "dates", "numbers"):
            value = getattr(self, option)
            if isinstance(value, str) or not all(isinstance(name, str) for name in value):
                raise InputError(f"{option} must be a list of names of columns, not {value!r}")
            for name in value:
                if name not in table:
                    raise InputError(f"{option} names {name!r}, which is not a column of X")
            given[option] = tuple(value)
        return Recipe(target=_TARGET, impute=self.impute, **given)  # type: ignore[arg-type]

    def _refuse_gaps(self, table: Table, recipe: Recipe) -> None:
        for name in table.names:
            if name in recipe.drop:
                continue
            column = table[name]
            empty = without_value(code_of(table, recipe, name).values(column, categorical=name in recipe.categorical))
            if empty.any():
                row = int(np.flatnonzero(empty)[0])
                raise InputError(
                    f"column {name!r} has no value in row {row + 1}; use impute='median', or X.dropna() before"
                )

    def _refusal(self, settled: Settled) -> str:
        faults = "; ".join(remark.complaint() for remark in settled.remarks)
        recipe = settled.recipe
        options = {name: list(getattr(recipe, name)) for name in ("drop", "categorical", "dates", "numbers")}
        words = ", ".join(f"{name}={value!r}" for name, value in options.items() if value)
        return f"strict refuses X: {faults}. This would do: TableEncoder({words}, strict=True)"


def _in_python(words: str) -> str:
    """An error of the command line, in words of Python."""
    gaps = "use --impute median, --drop-missing or --drop .*|fill it, leave the row out, or fit with --impute median"
    words = re.sub(gaps, "fit with impute='median', or fill it", words)
    return words.replace("correct it or leave the row out", "correct it, or fit with unknown='ignore'")


def _frame(library: str, X: Any, names: npt.NDArray[np.object_], columns: list[npt.NDArray[Any]]) -> Any:
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(zip(names, columns)), index=X.index)
    import polars as pl

    return pl.DataFrame(dict(zip(names, columns)))
