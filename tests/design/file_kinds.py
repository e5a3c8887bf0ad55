"""The kinds of matrix that are files."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr

from parsifal.design import Design, as_design, open_design

from .kind import Kind, N, P, values

_FOLDER = tempfile.TemporaryDirectory()  # removed when the tests end
_NUMBERS = itertools.count()


def fresh(suffix: str = "") -> Path:
    """A path that no other kind has."""
    return Path(_FOLDER.name) / f"x{next(_NUMBERS)}{suffix}"


def small_blocks(design: Design, block: int | None) -> Design:
    """The same design, cut into more tiles than a small matrix would be."""
    if block is not None:
        design._matrix.block = block
    return design


def npy(dtype: str, order: str, block: int | None = None, shape: tuple[int, int] = (N, P)) -> Callable[[], Kind]:
    def make() -> Kind:
        X, path = values(dtype, shape), fresh(".npy")
        np.save(path, np.asarray(X, order=order))
        return Kind(small_blocks(open_design(path), block), X.astype(np.float64))

    return make


def memmap(order: str) -> Callable[[], Kind]:
    def make() -> Kind:
        path = fresh(".dat")
        array = np.memmap(path, np.float32, "w+", offset=64, shape=(N, P), order=order)
        array[:] = values("float32")
        array.flush()
        return Kind(as_design(array), values("float32").astype(np.float64))

    return make


def npy_folder(dask: bool = False) -> Kind:
    """Eleven blocks of different types, orders and widths, one of them a vector; `b10` comes after `b9`."""
    folder = fresh()
    folder.mkdir()
    X = []
    for number, columns in enumerate(np.array_split(np.arange(P), 11)):
        block = values(("float64", "float32", "int8")[number % 3])[:, columns]
        block = block[:, 0] if number == 5 else block
        np.save(folder / f"b{number}.npy", np.asarray(block, order="CF"[number % 2]))
        X.append(block.reshape(N, -1).astype(np.float64))
    dense = np.concatenate(X, axis=1)
    return Kind(open_design(folder, dask=dask), dense)


def parquet(pieces: int) -> Callable[[], Kind]:
    def make() -> Kind:
        X, folder = values(), fresh()
        folder.mkdir()
        X[:, 3] = np.round(X[:, 3])
        for number, rows in enumerate(np.array_split(np.arange(N), pieces)):
            columns = {f"x{j}": pa.array(X[rows, j], pa.int16() if j == 3 else pa.float64()) for j in range(P)}
            pq.write_table(pa.table(columns), folder / f"part{number}.parquet", row_group_size=13)
        design = open_design(folder if pieces > 1 else folder / "part0.parquet")
        return Kind(small_blocks(design, 600), X)

    return make


def zarr_array() -> Kind:
    path = fresh(".zarr")
    array = zarr.open_array(str(path), mode="w", shape=(N, P), chunks=(17, 6), dtype="float32")
    array[:] = values("float32")
    return Kind(small_blocks(open_design(path), 1000), values("float32").astype(np.float64))


def hdf5(chunks: tuple[int, int] | None) -> Callable[[], Kind]:
    def make() -> Kind:
        path = fresh(".h5")
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=values(), chunks=chunks)
            file.create_dataset("y", data=np.zeros(N))
        return Kind(small_blocks(open_design(path), 3000), values())

    return make
