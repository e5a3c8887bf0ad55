"""Arrays stored in chunks: Zarr and HDF5. Needs zarr or h5py."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import IntArray
from parsifal.design.dense import is_readable, rounding, unreadable_dtype
from parsifal.design.source import Loaded, Signature, Source, Tile, has_changed, loaded_array, runs, unreadable
from parsifal.errors import InputError


class ChunkedSource(Source):
    """A two-dimensional array of a Zarr store or an HDF5 file, read in rectangles of whole chunks.

    Parameters
    ----------
    path : Path
        The store or the file.
    kind : {"zarr", "hdf5"}
        Which library reads it.
    dataset : str or None
        Name of the array inside; None: the only one there is.
    """

    def __init__(self, path: Path, kind: str, dataset: str | None) -> None:
        self.path, self.kind = str(path), kind
        self._array: Any = None
        self.dataset, array = _find(self.path, kind, dataset)
        shape, dtype = array.shape, np.dtype(array.dtype)
        if len(shape) != 2 or 0 in shape:
            raise InputError(f"{self.label} has shape {shape}; a matrix with rows and columns is needed")
        if not is_readable(dtype):
            raise InputError(f"{self.label}: {unreadable_dtype(dtype)}")
        self._array = array
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = dtype
        self.chunks = tuple(
            int(c) for c in (array.chunks or (max(1, (1 << 20) // (shape[1] * dtype.itemsize)), shape[1]))
        )
        self.piece = 0 if array.chunks is None else math.prod(self.chunks) * dtype.itemsize
        self.nbytes = shape[0] * shape[1] * dtype.itemsize
        self.eps = rounding(dtype)
        self.cheap_rows = self.chunks[0] * 16 <= shape[0]
        self.signature = self._stat()

    @property
    def label(self) -> str:
        return f"{self.path}[{self.dataset!r}]" if self.dataset else self.path

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_array": None}

    def _stat(self) -> Signature:
        # Of a Zarr folder the metadata's file stands for all.
        path = Path(self.path)
        if path.is_dir():
            names = ("zarr.json", ".zarray", ".zgroup")
            path = next((path / name for name in names if (path / name).exists()), path)
        try:
            return Signature.of(os.stat(path))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def tiles(self, row0: int, row1: int, block: int, wanted: IntArray | None = None) -> list[Tile]:
        (tall, wide), item, (n, p) = self.chunks, self.dtype.itemsize, self.shape
        chunk = tall * wide * item
        # Down the columns first; then as many chunks side by side as fit.
        down = max(1, min(math.ceil((row1 - row0) / tall) + 1, block // chunk))
        across = max(1, block // (chunk * down))
        touched = None if wanted is None else np.unique(wanted // wide)
        tiles = []
        for first, last in runs(math.ceil(p / wide), touched, across):
            left, right = first * wide, min(p, last * wide)
            for top in range(row0 // tall * tall, row1, down * tall):
                stored = (min(n, top + down * tall) - top) * (right - left) * item
                tiles.append(Tile(0, max(row0, top), min(row1, top + down * tall), left, right, stored))
        return tiles

    def load(self, tile: Tile, buffer: npt.NDArray[np.uint8]) -> Loaded:
        if self._array is None:
            self._array = _find(self.path, self.kind, self.dataset)[1]
        try:
            array = np.asarray(self._array[tile.row0 : tile.row1, tile.col0 : tile.col1])
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise unreadable(self.label, error) from error
        return loaded_array(array)

    def place(self, i: int, j: int) -> str:
        return f"{self.label}, chunk ({i // self.chunks[0]}, {j // self.chunks[1]})"

    def verify(self) -> None:
        if self._stat() != self.signature:
            raise has_changed(self.path)


def _find(path: str, kind: str, dataset: str | None) -> tuple[str | None, Any]:
    """Open the store and pick the array."""
    try:
        if kind == "zarr":
            import zarr

            store = zarr.open(path, mode="r")
        else:
            import h5py

            store = h5py.File(path, "r")
    except ImportError:
        library = "zarr" if kind == "zarr" else "h5py"
        raise InputError(f"{path} needs {library}: pip install {library}") from None
    except Exception as error:  # these libraries raise many kinds for a damaged file
        raise unreadable(path, error) from error
    # A group may have members for attributes, whatever they are called.
    if hasattr(type(store), "shape"):
        return None, store
    matrices = [name for name in store if hasattr(type(store[name]), "shape") and len(store[name].shape) == 2]
    names = matrices if dataset is None else [dataset]
    if dataset is not None and dataset not in store:
        raise InputError(f"{path} has no array {dataset!r}; it has {', '.join(sorted(store)) or 'none'}")
    if len(names) != 1:
        found = ", ".join(sorted(names)) or "none"
        raise InputError(f"{path} has the matrices {found}; name one, e.g. open_design(path, dataset='X')")
    return names[0], store[names[0]]
