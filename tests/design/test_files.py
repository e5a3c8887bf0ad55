"""Designs on disk: solved like arrays, bounded in memory, and clear about what is wrong with a file."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parsifal as pf
from parsifal.design import View
from parsifal.design.stream import StreamedDesign


def _blocks(folder: Path, X: np.ndarray, count: int = 9) -> Path:
    folder.mkdir()
    for number, columns in enumerate(np.array_split(np.arange(X.shape[1]), count)):
        np.save(folder / f"block{number}.npy", X[:, columns])
    return folder


def _store(kind: str, folder: Path, X: np.ndarray) -> Path:
    if kind in "CF":
        np.save(folder / "x.npy", np.asarray(X, order=kind))
        return folder / "x.npy"
    if kind == "folder":
        return _blocks(folder / "blocks", X)
    if kind == "parquet":
        table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
        pq.write_table(table, folder / "x.parquet", row_group_size=60)
        return folder / "x.parquet"
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(20, 25))
    return folder / "x.h5"


@pytest.mark.parametrize("kind", ["C", "F", "folder", "parquet", "hdf5"])
def test_solve_from_disk_is_the_solve_in_memory(kind: str, tmp_path: Path) -> None:
    X, y, truth = pf.datasets.make_sparse_regression(200, 300, 5, rho=0.3, sqrt_snr=5.0, random_state=1)
    design = pf.open_design(_store(kind, tmp_path, X), memory_limit=1 << 20)
    design._matrix.block = 5000
    expected = pf.solve(X, y, k=5, gamma=0.1)
    sol = pf.solve(design, y, k=5, gamma=0.1)
    assert sol.status == "optimal"
    assert np.array_equal(sol.support, expected.support)
    assert np.array_equal(sol.support, truth)
    assert sol.objective == pytest.approx(expected.objective, rel=1e-12)
    assert pf.check(sol.certificate, design, y)
    assert pf.check(sol.certificate, X, y)
    again = pickle.loads(pickle.dumps(design.rows(10, 90)))
    assert np.array_equal(again.columns([7, 2]), X[10:90, [7, 2]])


def test_memmap_is_read_from_its_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert isinstance(pf.as_design(mapped), StreamedDesign)
    # A part of a map, a transposed one, one with changes of its own: read where they are mapped.
    copied = np.load(tmp_path / "x.npy", mmap_mode="c")
    copied[0, 0] = 99.0
    for array in (mapped[1:], mapped[:, ::-1], copied):
        design = pf.as_design(array)
        assert not isinstance(design, StreamedDesign)
        np.testing.assert_array_equal(design.columns([0])[:, 0], array[:, 0])


def test_blocks_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((5, 24))
    folder = _blocks(tmp_path / "b", X, 12)
    np.testing.assert_array_equal(pf.open_design(folder).columns(np.arange(24)), X)


def test_results_do_not_depend_on_threads(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((300, 500))
    v = np.random.default_rng(1).standard_normal(300)
    for order in "CF":
        design = pf.open_design(_store(order, tmp_path, X))
        design._matrix.block = 7000
        one = design.scan(v, stats=True, threads=1)
        for threads in (2, 5):
            many = design.scan(v, stats=True, threads=threads)
            assert np.array_equal(one.xv, many.xv)
            assert np.array_equal(one.squares, many.squares)


def test_a_fetched_column_is_fetched_once(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((100, 50))
    design = pf.open_design(_store("C", tmp_path, X))
    design.columns([3, 30])
    # Rows are stored together: columns take a read of everything, which is counted.
    assert design.reads == pytest.approx(1.0)
    np.testing.assert_array_equal(design.rows(5, 20).columns([30]), X[5:20, [30]])
    np.testing.assert_array_equal(design.columns([30, 3, 3]), X[:, [30, 3, 3]])
    assert design.reads == pytest.approx(1.0)
    fortran = pf.open_design(_store("F", tmp_path, X))
    fortran.columns([3, 30])
    assert fortran.reads == pytest.approx(2 / 50)


# ---- Faults


@pytest.mark.parametrize("kind", ["C", "F", "folder", "parquet", "hdf5"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_entry_is_named_with_its_file(kind: str, value: float, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((120, 90))
    X[77, 55] = value
    path = _store(kind, tmp_path, X)
    design = pf.open_design(path)
    design._matrix.block = 3000
    name = r"X\[77, 55\].* in .*" + {"folder": r"block5\.npy \(block 5\), row 77, column 5"}.get(kind, r"x\.")
    with pytest.raises(pf.NonFiniteError, match=f"{name}.*is {'NaN' if np.isnan(value) else value}"):
        pf.solve(design, np.ones(120), k=2, gamma=1.0)
    if kind == "parquet":
        with pytest.raises(pf.NonFiniteError, match=r"column 'x55'.*row group 1, row 17 of it"):
            design.scan(np.ones(120))
    # Rows that leave the entry out are fine, and a view reads through.
    design.rows(0, 77).scan(np.ones(77))
    with pytest.raises(pf.NonFiniteError, match="77, 55"):
        View(design, rows=np.arange(60, 100)).scan(np.ones(40))


def test_nan_in_block_731(tmp_path: Path) -> None:
    for number in range(735):
        block = np.ones((4, 1), np.float32)
        if number == 731:
            block[2, 0] = np.nan
        np.save(tmp_path / f"{number}.npy", block)
    with pytest.raises(pf.NonFiniteError, match=r"X\[2, 731\] in .*731\.npy \(block 731\), row 2, column 0 is NaN"):
        pf.open_design(tmp_path).scan(np.ones(4))


def test_null_in_parquet_is_named(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": [1, None, 3]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(pf.NonFiniteError, match=r"X\[1, 1\] \(column 'b'\).* is NaN; drop or impute"):
        pf.open_design(tmp_path / "x.parquet").scan(np.ones(3))


def test_truncated_file(tmp_path: Path) -> None:
    path = _store("F", tmp_path, np.ones((50, 40)))
    os.truncate(path, path.stat().st_size - 8)
    with pytest.raises(pf.DataError, match=r"x\.npy is truncated: it has \d+ bytes, its header promises \d+"):
        pf.open_design(path)


@pytest.mark.parametrize("kind", ["C", "F", "folder", "parquet", "hdf5"])
def test_changing_file(kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((60, 30))
    path = _store(kind, tmp_path, X)
    design = pf.open_design(path)
    design.scan(np.ones(60))
    changed = path / "block4.npy" if kind == "folder" else path
    os.utime(changed, ns=(1, 1))
    with pytest.raises(pf.DataError, match=f"{changed.name} has changed since it was opened"):
        design.scan(np.ones(60))
    if kind != "hdf5":  # which keeps its file open
        changed.unlink()
        with pytest.raises(pf.DataError, match="cannot be read: No such file"):
            design.scan(np.ones(60))


def test_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = _store("F", tmp_path, np.ones((50, 40)))
    design = pf.open_design(path)
    design._matrix.block = 4000

    class Shrink:
        def __init__(self, load: object) -> None:
            self.load, self.count = load, 0

        def __call__(self, tile: object, buffer: object) -> object:
            self.count += 1
            if self.count == 2:
                os.truncate(path, 2000)
            return self.load(tile, buffer)  # type: ignore[operator]

    design._source.load = Shrink(design._source.load)  # type: ignore[method-assign]
    with pytest.raises(pf.DataError, match=r"has changed since it was opened|it was truncated"):
        design.scan(np.ones(50))


def test_wrong_block_shape(tmp_path: Path) -> None:
    folder = _blocks(tmp_path / "b", np.ones((6, 9)), 3)
    np.save(folder / "block1.npy", np.ones((5, 3)))
    with pytest.raises(pf.DataError, match=r"block 1 of .*block1\.npy, has 5 rows, but block 0, block0\.npy, has 6"):
        pf.open_design(folder)


def test_unusable_paths(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"no array")
    (tmp_path / "x.csv").write_text("1,2")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    np.save(tmp_path / "complex.npy", np.ones((2, 2), complex))
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "text.parquet")
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["A"], file["B"] = np.ones((2, 2)), np.ones((2, 2))
    for name, error, message in (
        ("none.npy", pf.DataError, "does not exist"),
        ("x.npy", pf.DataError, "is no .npy file"),
        ("x.csv", pf.InputError, r"is no .npy, .parquet, .zarr or .h5 file"),
        ("empty", pf.InputError, "holds no .npy and no Parquet files"),
        ("bad.parquet", pf.DataError, "cannot be read"),
        ("cube.npy", pf.DataError, r"shape \(2, 2, 2\)"),
        ("complex.npy", pf.InputError, "pass real numbers"),
        ("text.parquet", pf.InputError, "column 'a' has type string"),
        ("two.h5", pf.InputError, r"has the matrices A, B; name one"),
    ):
        with pytest.raises(error, match=message):
            pf.open_design(tmp_path / name)
    assert pf.open_design(tmp_path / "two.h5", dataset="B").shape == (2, 2)
    with pytest.raises(pf.InputError, match="has no array 'C'; it has A, B"):
        pf.open_design(tmp_path / "two.h5", dataset="C")
    for limit in (1000, "1GB", float("nan")):
        with pytest.raises(pf.InputError, match="memory_limit"):
            pf.open_design(tmp_path / "cube.npy", memory_limit=limit)


_BOUNDED = """
import sys, numpy as np, parsifal as pf
from pathlib import Path
design = pf.open_design(sys.argv[1], memory_limit=16e6)
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
design.scan(np.ones(design.shape[0]) * 0, threads=2)
Path("/proc/self/clear_refs").write_text("5")
before = peak()
design.scan(np.ones(design.shape[0]), threads=2)
design.columns(np.arange(10))
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_memory_stays_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (20_000, 1500), fortran_order=True).flush()  # 120 MB, sparse
    done = subprocess.run(
        [sys.executable, "-c", _BOUNDED, path], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) < 40_000  # kB; the file has 117,000
