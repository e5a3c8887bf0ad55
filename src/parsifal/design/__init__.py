"""Reading columns, whatever kind of matrix they are in, without ever copying the matrix."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from parsifal.arguments import refuse_lazy
from parsifal.arrays import FloatArray, IntArray
from parsifal.design.base import Design
from parsifal.design.dense import dense_design
from parsifal.design.files import open_design
from parsifal.design.npy import memmap_source
from parsifal.design.read import Scan
from parsifal.design.stream import DEFAULT_MEMORY, StreamedDesign
from parsifal.design.view import View, standardized
from parsifal.errors import InputError

__all__ = ["Design", "FloatArray", "IntArray", "Scan", "View", "as_design", "open_design", "standardized"]


def as_design(X: Any) -> Design:
    """Make a design of what the user handed in; a design is returned as it is.

    Parameters
    ----------
    X : ndarray, pandas or polars DataFrame, pyarrow Table, SciPy sparse matrix, Dask array, or Design
        Rows are observations, columns are features. Every entry must be finite, which the first read checks. A
        `numpy.memmap` is read in blocks from its file, as `open_design` would; a Dask array stays where its blocks are.

    Returns
    -------
    Design
        Reads `X` in place. A change of `X` from then on is a change of the design.

    Raises
    ------
    InputError
        If `X` is no matrix of numbers.
    """
    if isinstance(X, Design):
        return X
    if isinstance(X, np.memmap):
        source = memmap_source(X)
        if source is not None:
            return StreamedDesign(source, DEFAULT_MEMORY)
    if isinstance(X, np.ndarray):
        return dense_design(X)
    # These libraries are imported by whoever made X, so asking the type costs no import of ours. It is the type that is
    # asked what X can do, too: a frame has its columns for attributes, whatever they are called.
    libraries = {ancestor.__module__.partition(".")[0] for ancestor in type(X).__mro__}
    kind = type(X).__name__
    if "pandas" in libraries and hasattr(type(X), "iloc"):
        if kind == "Series":
            raise InputError("X is a pandas Series; pass a DataFrame, e.g. X.to_frame()")
        from parsifal.design.frames import pandas_design

        return pandas_design(X)
    if "polars" in libraries:
        refuse_lazy(X, "X")
        if kind == "Series":
            raise InputError("X is a polars Series; pass a DataFrame, e.g. X.to_frame()")
        from parsifal.design.frames import polars_design

        return polars_design(X)
    if "pyarrow" in libraries and hasattr(type(X), "column_names"):
        from parsifal.design.frames import arrow_design

        return arrow_design(X)
    if "dask" in libraries:
        from parsifal.design.dask import dask_design

        return dask_design(X)
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        from parsifal.design.sparse import sparse_design

        return sparse_design(X)
    if isinstance(X, (list, tuple)) or hasattr(type(X), "__array__"):
        try:
            return dense_design(np.asarray(X))
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"X is a {kind} that does not make a matrix: {error}") from None
    raise InputError(f"X is a {kind}; pass an array, a pandas or polars DataFrame, or a SciPy sparse matrix")
