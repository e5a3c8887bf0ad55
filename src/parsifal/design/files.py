"""`open_design`: a matrix in files, as a design."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from parsifal.design.base import Design
from parsifal.design.npy import folder_source, npy_source
from parsifal.design.source import Source
from parsifal.design.stream import StreamedDesign, check_memory
from parsifal.errors import DataError, InputError

_HDF5 = (".h5", ".hdf5", ".hdf")
_PARQUET = (".parquet", ".pq")


def open_design(
    path: str | PathLike[str],
    *,
    memory_limit: float | None = None,
    dataset: str | None = None,
    dask: bool = False,
) -> Design:
    """Open a matrix that lies in files, to be read in blocks and never as a whole.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file, in C or Fortran order; a folder of ``.npy`` files, each with all rows of a block of columns, in
        the natural order of their names; a Parquet file, or a folder of them with rows one after the other; a Zarr
        store (``.zarr``); an HDF5 file (``.h5``, ``.hdf5``). Fortran order and blocks of columns are best: there a few
        columns can be fetched without a read of everything.
    memory_limit : float, optional
        Bytes that buffers and fetched columns may take, 1 GiB by default. A chunk of Zarr or HDF5 may take a quarter.
    dataset : str, optional
        Name of the array inside a Zarr group or an HDF5 file with several.

    dask : bool
        Whether Dask's workers, which must see the same path, load the blocks and hold them between reads; a block that
        is lost with its worker is loaded again. Without a `dask.distributed.Client`, threads of this process read.

    Returns
    -------
    Design
        For `solve` and everything else that takes X. It can be pickled, and is opened anew where it is
        unpickled.

    Raises
    ------
    DataError
        If a file is missing, truncated, or has the wrong shape; and later, by a read, if it has changed.
    """
    budget = check_memory(memory_limit)
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"path must be a path, not {path!r}")
    if not isinstance(dask, bool):
        raise InputError(f"dask must be True or False, not {dask!r}")
    source = _source(Path(path), dataset)
    if dask:
        from parsifal.design.dask import held_by_workers

        return held_by_workers(source)
    # Several threads unpack a piece each.
    if 4 * source.piece > budget:
        raise InputError(
            f"{path} is stored in chunks of {source.piece} bytes, more than a quarter of memory_limit ({budget}); "
            f"store it in smaller chunks, or allow open_design(path, memory_limit={4 * source.piece})"
        )
    return StreamedDesign(source, budget)


def _source(path: Path, dataset: str | None) -> Source:
    suffix = path.suffix.lower()
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if suffix == ".zarr" or suffix in _HDF5:
        from parsifal.design.chunked import ChunkedSource

        return ChunkedSource(path, "zarr" if suffix == ".zarr" else "hdf5", dataset)
    if dataset is not None:
        raise InputError(f"dataset={dataset!r} makes sense for Zarr and HDF5 only; {path} is neither")
    if path.is_dir():
        blocks = [file for file in path.iterdir() if file.suffix == ".npy"]
        tables = [file for file in path.iterdir() if file.suffix.lower() in _PARQUET]
        if blocks and tables:
            raise InputError(f"{path} holds .npy and Parquet files; keep one kind in a folder")
        if blocks:
            return folder_source(path, blocks)
        if tables:
            from parsifal.design.parquet import ParquetSource

            return ParquetSource(tables)
        raise InputError(f"{path} holds no .npy and no Parquet files")
    if suffix in _PARQUET:
        from parsifal.design.parquet import ParquetSource

        return ParquetSource([path])
    if suffix == ".npy":
        return npy_source(path)
    raise InputError(f"{path} is no .npy, .parquet, .zarr or .h5 file, and no folder of blocks")
