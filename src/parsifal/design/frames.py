"""Data frames of pandas and polars, tables of pyarrow: the columns where they lie, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.design.base import check_names, check_shape
from parsifal.design.dense import TableDesign, address, dense_design, is_readable
from parsifal.design.leaf import Leaf
from parsifal.errors import InputError


def pandas_design(frame: Any) -> Leaf:
    """Make a design of a pandas DataFrame; only columns of an extension dtype are copied.

    Parameters
    ----------
    frame : pandas.DataFrame
        All columns numeric or boolean.
    """
    check_shape(frame.shape)
    names = check_names(frame.columns)
    dtypes = list(frame.dtypes)
    if all(dtype == dtypes[0] for dtype in dtypes) and isinstance(dtypes[0], np.dtype) and is_readable(dtypes[0]):
        # A frame held as one block gives out views; asked for one row, a frame of many blocks copies little.
        first_row = frame.iloc[:1].to_numpy()
        if address(first_row) == address(frame.iloc[:, 0].to_numpy()):
            return dense_design(frame.to_numpy(), names)
    return TableDesign([_pandas_column(column, name) for (_, column), name in zip(frame.items(), names)], names)


def _pandas_column(column: Any, name: str) -> npt.NDArray[Any]:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        if is_readable(dtype):
            return np.asarray(column.to_numpy())
        raise _not_numeric(name, dtype)
    from pandas.api import types

    if str(dtype).startswith("Sparse"):
        raise InputError(f"column {name!r} is sparse; pass a SciPy matrix, e.g. X.sparse.to_coo().tocsc()")
    if not types.is_numeric_dtype(dtype) or types.is_complex_dtype(dtype):
        raise _not_numeric(name, dtype)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def polars_design(frame: Any) -> Leaf:
    """Make a design of a polars DataFrame; only boolean, decimal, split or incomplete columns are copied.

    Parameters
    ----------
    frame : polars.DataFrame
        All columns numeric or boolean.
    """
    check_shape(frame.shape)
    names = check_names(frame.columns)
    return TableDesign([_polars_column(column, name) for column, name in zip(frame.get_columns(), names)], names)


def _polars_column(column: Any, name: str) -> npt.NDArray[Any]:
    import polars as pl

    dtype = column.dtype
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise _not_numeric(name, dtype)
    array: npt.NDArray[Any] | None = None
    if column.null_count() == 0:
        array = column.to_numpy()
    if array is None or not is_readable(array.dtype):
        # Null becomes NaN, which a scan reports with its place.
        array = column.cast(pl.Float64).to_numpy()
    return np.asarray(array)


def arrow_design(table: Any) -> Leaf:
    """Make a design of a pyarrow Table or RecordBatch; only boolean, decimal, split or incomplete columns are copied.

    Parameters
    ----------
    table : pyarrow.Table or RecordBatch
        All columns numeric or boolean.
    """
    check_shape(table.shape)
    names = check_names(table.column_names)
    return TableDesign([_arrow_column(table.column(j), name) for j, name in enumerate(names)], names)


def _arrow_column(column: Any, name: str) -> npt.NDArray[Any]:
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        if not pa.types.is_decimal(kind):
            raise _not_numeric(name, kind)
        column = column.cast(pa.float64())
    # Null becomes NaN, which a scan reports with its place.
    array = np.asarray(column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False))
    return array if is_readable(array.dtype) else array.astype(np.float64)


def _not_numeric(name: str, dtype: object) -> InputError:
    if str(dtype).startswith("complex"):
        return InputError(
            f"column {name!r} has dtype {dtype}; pass real numbers, e.g. its real and imaginary parts as two columns"
        )
    return InputError(f"column {name!r} has dtype {dtype}; drop it or encode it as numbers")
