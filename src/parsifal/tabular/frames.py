"""Data frames as tables: pandas, polars, pyarrow, and arrays of numbers or objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsifal.errors import InputError
from parsifal.tabular.arrow import arrow_table_columns
from parsifal.tabular.column import Column, column_of
from parsifal.tabular.names import unique_names
from parsifal.tabular.reading import Source, Table


def frame_table(X: Any) -> Table:
    """The table that a data frame or an array is; columns of an array are named ``x0``, ``x1``, ..."""
    library, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if library == "polars" and kind == "LazyFrame":
        raise InputError("X is a LazyFrame, which has no rows yet; pass X.collect()")
    if library == "pandas" and kind == "DataFrame":
        names, columns = list(X.columns), [_pandas_column(X.iloc[:, place]) for place in range(X.shape[1])]
    elif library == "polars" and kind == "DataFrame":
        names, columns = list(X.columns), [_polars_column(column) for column in X.get_columns()]
    elif library == "pyarrow" and kind in ("Table", "RecordBatch"):
        names, columns = list(X.schema.names), arrow_table_columns(X)
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        names, columns = [f"x{j}" for j in range(X.shape[1])], [_array_column(X[:, j]) for j in range(X.shape[1])]
    else:
        shape = f" of shape {X.shape}" if isinstance(X, np.ndarray) else ""
        raise InputError(
            f"X is a {kind}{shape}; pass a pandas or polars DataFrame, a pyarrow Table, or an array of two dimensions"
        )
    if not columns or len(columns[0]) == 0:
        raise InputError("X has no columns, or no rows; pass at least one of each")
    new, renamed = unique_names([str(name) for name in names])
    source = Source(path="X", sha256="", rows=len(columns[0]), columns=len(columns))
    return Table(names=tuple(new), columns=tuple(columns), source=source, renamed=renamed)


def _pandas_column(column: Any) -> Column:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiubmM":
        return np.ascontiguousarray(column.to_numpy())
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.ascontiguousarray(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    gap = column.isna().to_numpy(dtype=bool)
    return column_of([None if empty else _plain(value) for value, empty in zip(column.tolist(), gap)])


def _polars_column(column: Any) -> Column:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype == pl.Boolean:
        if column.null_count() or dtype.is_decimal():
            column = column.cast(pl.Float64)
        return np.ascontiguousarray(column.to_numpy())
    return column_of([_plain(value) for value in column.to_list()])


def _array_column(column: Column) -> Column:
    if column.dtype.kind in "fiubmM":
        return column
    return column_of([None if _is_nan(value) else _plain(value) for value in column.tolist()])


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _plain(value: Any) -> Any:
    """Numbers of NumPy as those of Python."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "fiub" else value
