"""Arrays as tables: ``.npy`` mapped where it lies, ``.npz`` read within bounds; columns are named x0, x1, ..."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from parsifal.design.dense import is_readable
from parsifal.errors import DataError
from parsifal.files.untrusted import load_arrays, read_npy_header
from parsifal.tabular.column import Column

ARRAYS = (".npy", ".npz")
_COPIED = 1 << 30


def array_columns(path: Path, suffix: str, target: str | None) -> tuple[list[str], list[Column]]:
    """Columns by name; the response may be in a file or an array of its own."""
    return _from_npy(path, target) if suffix == ".npy" else _from_npz(path, target)


def _from_npy(path: Path, target: str | None) -> tuple[list[str], list[Column]]:
    names, columns = _matrix_columns(_npy_file(path), path)
    if target is not None and target.endswith(".npy"):
        if not Path(target).exists():
            raise DataError(f"{target} does not exist; --target takes a column number or a .npy file with the response")
        names, columns = _with_response(names, columns, _npy_file(Path(target)), target)
    return names, columns


def _npy_file(path: Path) -> Column:
    """Mapped, where it lies; what the header promises must be there."""
    with open(path, "rb") as file:
        shape, fortran, dtype = read_npy_header(file)
        offset, size = file.tell(), path.stat().st_size
    needed = math.prod(shape) * dtype.itemsize
    if offset + needed > size:
        raise DataError(f"{path} is truncated: it has {size} bytes, its header promises {offset + needed}")
    if needed == 0:
        return np.zeros(shape if 0 in shape else (), dtype)
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def _from_npz(path: Path, target: str | None) -> tuple[list[str], list[Column]]:
    arrays = load_arrays(path)
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) != 1 and "X" not in matrices:
        raise DataError(f"{path} has {len(matrices)} matrices; keep one, or name the one with the features X")
    names, columns = _matrix_columns(arrays["X" if "X" in matrices else matrices[0]], path)
    for name, array in arrays.items():
        if array.ndim == 1 and array.shape[0] == len(columns[0]) and (name == target or array.dtype.kind in "fiub"):
            names, columns = _with_response(names, columns, array, name)
    return names, columns


def _matrix_columns(matrix: Column, path: Path) -> tuple[list[str], list[Column]]:
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(f"{path} holds an array of shape {matrix.shape}; a matrix, rows by columns, is needed")
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"{path} holds {matrix.dtype}; numbers are needed")
    # The other byte order, and types that only some machines have, are converted.
    dtype = matrix.dtype.newbyteorder("=")
    if dtype != matrix.dtype or not is_readable(dtype):
        matrix = matrix.astype(dtype if is_readable(dtype) else np.float64)
    # Column by column is how everything downstream reads; what is too large to copy is read where it lies.
    block = np.asfortranarray(matrix) if matrix.nbytes <= _COPIED else matrix
    return [f"x{j}" for j in range(block.shape[1])], [block[:, j] for j in range(block.shape[1])]


def _with_response(
    names: list[str], columns: list[Column], response: Column, name: str
) -> tuple[list[str], list[Column]]:
    if response.ndim == 2 and 1 in response.shape:
        response = response.ravel()
    if response.shape != columns[0].shape or response.dtype.kind not in "fiub":
        raise DataError(
            f"{name} has shape {response.shape} and type {response.dtype}; {len(columns[0])} numbers are needed"
        )
    return [*names, name], [*columns, response]
