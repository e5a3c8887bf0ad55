"""Dask arrays: blocks stay with the workers that hold them, and numbers travel.

A read is one map over the blocks; each returns the sums of its own columns over its own rows. With a
`dask.distributed.Client` the blocks are read where they are, and a worker that is lost has its blocks made again
elsewhere; without one, Dask's local scheduler does the work.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.arrays import FloatArray, IntArray, aligned
from parsifal.deadline import TimeUp, check_time, seconds_left
from parsifal.design.base import check_finite, check_shape, check_slice
from parsifal.design.dense import dense_design, is_readable, rounding, unreadable_dtype
from parsifal.design.read import Read, Scan
from parsifal.design.remote import Remote
from parsifal.design.source import Source, Tile, loaded_array
from parsifal.design.stream import DEFAULT_MEMORY
from parsifal.errors import DataError, InputError, NonFiniteError, ParsifalError

# Seconds without any worker after which a read is given up.
_PATIENCE = 60.0
_POLL = 1.0


class DaskDesign(Remote):
    """A two-dimensional Dask array as a design.

    Parameters
    ----------
    array : dask.array.Array
        Blocks may be cut along both axes; whole columns in a block are best. Persist it (``X.persist()``) to have the
        workers hold the blocks between reads.
    timeout : float
        Seconds without a single worker after which a read fails.
    """

    _matrix: _Blocks

    def __init__(
        self, array: Any, *, timeout: float = _PATIENCE, parent: DaskDesign | None = None, first_row: int = 0
    ) -> None:
        self._array, self._timeout = array, timeout
        self.memory_limit = DEFAULT_MEMORY
        n, p = (int(length) for length in array.shape)
        # A graph with nothing but the blocks: the workers hold them. Otherwise every read makes them anew.
        self._held: bool = len(dict(array.dask)) <= array.npartitions if parent is None else parent._held
        super().__init__(
            _Blocks(array, timeout),
            (n, p),
            feature_names=None,
            nbytes=n * p * array.dtype.itemsize,
            eps=rounding(array.dtype),
            parent=parent,
            first_row=first_row,
        )

    @property
    def cheap_rows(self) -> bool:
        return self._held or bool(self._array.numblocks[0] >= 16)

    def _fulfil(self, request: Read, out: Scan) -> bool:
        return self._matrix.scan(request, out)

    def _fetch(self, index: IntArray, out: FloatArray) -> float:
        touched = self._matrix.gather(index, out)
        return 0.0 if self._held else float(touched)

    def rows(self, start: int, stop: int) -> DaskDesign:
        check_slice(start, stop, self.shape[0])
        return DaskDesign(
            self._array[start:stop], timeout=self._timeout, parent=self, first_row=self._first_row + start
        )


class _Blocks:
    """Reads and gathers the blocks of a Dask array where they are."""

    def __init__(self, array: Any, timeout: float) -> None:
        self.array, self.timeout, self.holder = array, timeout, _holder(array)
        self.edges = tuple(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64) for sizes in array.chunks)

    def scan(self, request: Read, out: Scan) -> bool:
        """Add the results of every block to `out`; returns whether all are finite."""
        from dask import delayed

        check_finite(request.v, "v")
        blocks = self.array.to_delayed()
        task = delayed(scan_block, pure=False)
        rows, columns = self.edges
        # One copy of the row vectors for every band of rows, whatever the number of blocks in it.
        without_shift = replace(request, shift=None)
        bands = [
            delayed(without_shift.part(slice(top, bottom), slice(None)), traverse=False)
            for top, bottom in itertools.pairwise(rows)
        ]
        tasks, places = [], []
        for i, j in np.ndindex(*blocks.shape):
            left, right = int(columns[j]), int(columns[j + 1])
            if rows[i] == rows[i + 1] or left == right:
                continue
            shift = None if request.shift is None else request.shift[left:right]
            corner = (int(rows[i]), left)
            tasks.append(task(blocks[i, j], bands[i], shift, corner))
            places.append(slice(left, right))
        for place, part in zip(places, compute(tasks, self.holder, self.timeout)):
            out.add(place, part)
        return out.is_finite()

    def gather(self, idx: IntArray, out: FloatArray) -> float:
        """Copy columns, which are all that travels; returns the part of the blocks that they lie in."""
        from dask import delayed

        unique, inverse = np.unique(idx, return_inverse=True)
        blocks = self.array.to_delayed()
        task = delayed(take_columns, pure=False)
        rows, columns = self.edges
        tasks, places = [], []
        for j in range(blocks.shape[1]):
            first, last = np.searchsorted(unique, (columns[j], columns[j + 1]))
            if first == last:
                continue
            for i in range(blocks.shape[0]):
                if rows[i] < rows[i + 1]:
                    tasks.append(task(blocks[i, j], unique[first:last] - columns[j]))
                    places.append((slice(int(rows[i]), int(rows[i + 1])), slice(int(first), int(last))))
        fetched = np.empty((out.shape[0], len(unique)), order="F")
        for place, part in zip(places, compute(tasks, self.holder, self.timeout)):
            fetched[place] = part
        out[:] = fetched[:, inverse]
        return len(tasks) / max(1, int(self.array.npartitions))


def scan_block(block: Any, request: Read, shift: FloatArray | None, corner: tuple[int, int]) -> Scan:
    """The results of one block, on the worker that holds it; the shift of its columns comes apart."""
    array = _dense(block)
    # What came in a message may lie anywhere in it.
    a, b = request.sum_weight, request.square_weight
    request = replace(
        request,
        v=aligned(request.v),
        shift=None if shift is None else aligned(shift),
        sum_weight=None if a is None else aligned(a),
        square_weight=None if b is None else aligned(b),
    )
    try:
        return dense_design(array).read(request)
    except NonFiniteError as error:
        bad = np.argwhere(~np.isfinite(np.asarray(array, dtype=np.float64)))
        if len(bad):
            i, j = (int(at) for at in bad[0])
            value = "NaN" if np.isnan(array[i, j]) else str(array[i, j])
            raise NonFiniteError(
                f"X[{corner[0] + i}, {corner[1] + j}] is {value} (row {i}, column {j} of the Dask block that starts at "
                f"{corner}); drop or impute missing values"
            ) from None
        raise NonFiniteError(f"in the Dask block that starts at {corner}: {error}") from None


def take_columns(block: Any, idx: IntArray) -> npt.NDArray[Any]:
    """The columns of one block, in the block's own type."""
    array = _dense(block)
    # A C-ordered block is gathered in passes over its rows.
    out = np.empty((array.shape[0], len(idx)), order="F")
    loaded_array(array).matrix.gather(aligned(idx), out, 1)
    return out if array.dtype.itemsize >= 8 else out.astype(np.result_type(array.dtype, np.float16))


def _dense(block: Any) -> npt.NDArray[Any]:
    if hasattr(type(block), "toarray"):
        block = block.toarray()
    array = np.asarray(block)
    if array.ndim != 2:
        raise DataError(f"a Dask block has shape {array.shape}; blocks must be matrices")
    if not is_readable(array.dtype):
        # The array has promised another type than its blocks have.
        raise DataError(f"in a Dask block, {unreadable_dtype(array.dtype)}")
    return array


def compute(tasks: list[Any], holder: Any, timeout: float) -> list[Any]:
    """Results of tasks, from the workers that hold the blocks, else from the active client's, else from the local
    scheduler; what goes wrong gets a name."""
    import dask
    from dask.callbacks import Callback

    try:
        client = _client() if holder is None else holder
        if client is None:
            # The local scheduler looks at the clock before every task.
            with Callback(pretask=lambda *_: check_time()):
                return list(dask.compute(*tasks))
        _check_running(client)
        futures = client.compute(tasks)
        try:
            _wait(client, futures, timeout)
            return list(client.gather(futures))
        finally:
            if client.status == "running":
                client.cancel([future for future in futures if not future.done()])
    except (ParsifalError, TimeUp):
        raise
    except (KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        # A ValueError of NumPy in a block, a KilledWorker, a CommClosedError: many kinds of one trouble.
        raise DataError(
            f"a read of the Dask array failed: {type(error).__name__}: {error}. If a worker was lost, start workers "
            "with enough memory (or more of them) and solve again; with checkpoint= the solve goes on where it was"
        ) from error


def _client() -> Any:
    """The client that Dask would use by default, None for the local scheduler."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _holder(array: Any) -> Any:
    """The client whose workers hold blocks of the array; None if it is not held by any."""
    if "distributed" not in sys.modules:
        return None
    from distributed.client import futures_of

    futures = futures_of(array)
    return futures[0].client if futures else None


def _check_running(client: Any) -> None:
    if client.status != "running":
        raise DataError(f"the Dask client is {client.status}; create a new Client, and the array anew on it")


def _wait(client: Any, futures: list[Any], timeout: float) -> None:
    """Wait for futures, not longer than `timeout` without any worker."""
    from distributed import wait

    alive = time.monotonic()
    while True:
        try:
            wait(futures, timeout=min(_POLL, seconds_left() + 0.01), return_when="ALL_COMPLETED")
            return
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            pass
        check_time()
        _check_running(client)
        if client.scheduler_info(n_workers=-1)["workers"]:
            alive = time.monotonic()
        elif time.monotonic() - alive > timeout:
            raise DataError(f"no Dask worker for {timeout:g} s; start workers and solve again")


def dask_design(array: Any) -> DaskDesign:
    """Make a design of a Dask array, or say what is wrong with it."""
    if not hasattr(type(array), "to_delayed") or not hasattr(type(array), "chunks"):
        raise InputError(f"X is a Dask {type(array).__name__}; pass a Dask array, e.g. X.to_dask_array(lengths=True)")
    if array.ndim != 2:
        raise InputError(f"X has shape {array.shape}; it must have two dimensions")
    if any(not np.isfinite(length) for length in array.shape):
        raise InputError("X is a Dask array of unknown size; call X.compute_chunk_sizes() first")
    check_shape(array.shape)
    if not is_readable(array.dtype):
        raise InputError(unreadable_dtype(array.dtype))
    return DaskDesign(array)


def held_by_workers(source: Source, block: int = 1 << 27) -> DaskDesign:
    """Have Dask's workers, which must see the same files, load and hold the blocks of a source."""
    import dask.array as da
    from dask import delayed

    n, p = source.shape
    groups: dict[tuple[int, int], list[Tile]] = {}
    for tile in source.tiles(0, n, block):
        groups.setdefault((tile.col0, tile.col1), []).append(tile)
    if sum(right - left for left, right in groups) != p:
        raise InputError("these files are not cut into blocks that Dask can hold; make a Dask array of them yourself")
    task = delayed(load_block, pure=False)
    dtype = source.dtype
    columns = [
        da.concatenate(
            [
                da.from_delayed(task(source, tile), (tile.row1 - tile.row0, tile.col1 - tile.col0), dtype)
                for tile in tiles
            ],
            axis=0,
        )
        for _, tiles in sorted(groups.items())
    ]
    array = da.concatenate(columns, axis=1)
    return DaskDesign(array if _client() is None else array.persist())


def load_block(source: Source, tile: Tile) -> npt.NDArray[Any]:
    """One block, on a worker."""
    data = source.load(tile, np.empty(tile.nbytes, np.uint8))
    array = data.memory if isinstance(data.memory, np.ndarray) else np.stack(data.memory, axis=1)
    return np.asarray(array, source.dtype)
