"""What the stress program and the fuzzing have found, each as the smallest problem that showed it."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import parsifal as pf
from parsifal.cli.app import app
from parsifal.design.parquet import ParquetSource
from parsifal.design.stream import StreamedDesign
from parsifal.files.untrusted import Unreadable, load_arrays
from parsifal.solver import funnel
from stress.saved import load_problem
from stress.worker import solve_saved

# Problems that once disagreed, as data (`stress.saved`), with what did.
SAVED = Path(__file__).parents[1] / "data" / "stress"
FOUND = {
    "checkpoint-good-fit": "a checkpoint refused its own X: a good fit's alpha rounds relative to y, not to itself",
    "checkpoint-wide": "the same, with more columns than rows",
    "beyond-double": "gamma |x|^2 = 1e20, and no time to look at the proof: a bound that rounding of w takes away",
    "claim-penalty": "cutting planes: a claim without room for the rounding of X'alpha",
    "claim-large": "cutting planes: the claim again, of 4e11",
    "claim-near-zero": "cutting planes: the claim again, of a fit of 5e-14",
    "claim-one-row": "cutting planes: a lower bound one rounding above the objective",
    "claim-huge-gamma": "gamma |x|^2 = 1e26: a claim that was checked in the design's arithmetic, not in NumPy's",
    "scip-infinite-penalty": "cutting planes: a penalty that SCIP takes for infinite",
    "sparse-centred": "the checker let a sparse, centred column round like a read of it",
    "sparse-centred-forced": "the same, in a frame that has the column",
    "zero-column-diagonal": "the checker's test of a diagonal failed on a zero column",
    "zero-column-forced": "the checker lost all to the ridge of a forced column of zeros beside one of norm 1e20",
    "prices-huge": "the checker's units followed y, so that a price of 1e300 was more than it counts",
    "alpha-good-fit": "the checker let alpha round like a sum over all rows and columns, beside a nearly perfect fit",
    "terms-cancel": "the referee forgot that terms of 1e12 cancel in y - X w, and round",
    "last-digit": "a fit whose residual is 1e-17 of y: the checker's twice the digits were not enough",
    "ridges-apart": "gamma |x|^2 of 1e-18 and 3e6 in one support: rounding of the one counted for the other",
    "zero-response": "y = 0 and a price of 1e-300: the checker's units followed y, so that the objective was nothing",
    "view-of-weighted-view": "a centred view of a weighted view: the square of a norm was a rounding below zero",
}


def test_every_saved_problem_is_replayed() -> None:
    assert {path.stem for path in SAVED.glob("*.npz")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_found_once(name: str) -> None:
    record = solve_saved(SAVED / f"{name}.npz")
    assert record["faults"] == []
    assert {"search", "search, 2 threads"} <= set(record["ran"])


def test_a_long_proof_claims_what_roundings_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that is too long to be looked at again, of data where the last digits of w are worth something."""
    monkeypatch.setattr(funnel, "_MOST_RECHECKED", 0)
    problem, _ = load_problem(SAVED / "beyond-double.npz", tmp_path)
    X, y = problem.X, problem.y
    for gamma, sees in ((problem.gamma, False), (1e-12 * problem.gamma, True)):
        solution = pf.solve(X, y, problem.k, gamma, threads=1, node_limit=60)
        assert solution.certificate.records > 20
        assert pf.check(solution.certificate, X, y)
        assert (solution.lower_bound > 0) == sees


def test_a_checkpoint_of_a_good_fit_is_of_its_own_X(tmp_path: Path) -> None:
    """alpha = y - Xw of a fit that is nearly perfect is rounding, and differs between two ways to sum."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20, 60)) * 10.0 ** rng.uniform(-4, 4, 60)
    y = X[:, :14].sum(axis=1)
    y += 1e-5 * np.linalg.norm(y) * rng.standard_normal(20)  # a perfect fit needs no tree, and leaves none
    options = {"k": 14, "gamma": 1e8, "threads": 1}
    for order in ("C", "F"):
        path = tmp_path / "state.npz"
        pf.solve(np.asarray(X, order=order), y, checkpoint=path, node_limit=1, **options)
        other = np.asarray(X, order="F" if order == "C" else "C")
        again = pf.solve(other, y, checkpoint=path, node_limit=20, **options)
        assert again.stats["nodes"] > 1
        assert again.lower_bound <= again.objective


def test_a_claim_leaves_room_for_other_arithmetic() -> None:
    """A certificate of the cutting planes is checked on the same numbers in another layout."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 40)) * 10.0 ** rng.uniform(-6, 6, 40)
        y = X @ rng.standard_normal(40) + rng.standard_normal(200)
        found = pf.solve(X, y, k=4, gamma=100.0, method="cutting-plane", backend="highs", node_limit=1, threads=1)
        assert found.certificate is not None
        assert found.lower_bound <= found.objective
        for same in (X, np.asfortranarray(X), pf.as_design(X), pf.as_design(np.asfortranarray(X))):
            assert pf.check(found.certificate, same, y)


# Numbers whose squares are no numbers


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_matrix], ids=["dense", "sparse"])
def test_columns_whose_squares_underflow_are_not_zeros_without_a_ridge(kind: Any) -> None:
    """The forger's: no column was seen, and an empty support was called optimal at a price that any would have paid."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((16, 5))
    y = X[:, 2] + 0.1 * rng.standard_normal(16)
    X[:, 4] = 0.0
    assert pf.solve(kind(X), y, k=1, gamma=np.inf, penalty=0.1, threads=1).support.tolist() == [2]
    for call in (pf.solve, pf.path):
        with pytest.raises(pf.InputError, match="column 0 has entries of about 1e-300, too small to square"):
            call(kind(X * 1e-300), y, 1 if call is pf.solve else [1], gamma=np.inf, penalty=0.1)


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    return X, X[:, 0] - 2 * X[:, 3] + 0.1 * rng.standard_normal(30)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-150])
def test_columns_too_small_to_square(size: float) -> None:
    X, y = _data()
    with pytest.raises(pf.InputError, match="the entries of X are too small to square; multiply X by a power of ten"):
        pf.solve(size * X, y, 2)
    with pytest.raises(pf.InputError, match=r"column 0 has entries of about .*, too small to square; multiply it by"):
        pf.SparseRegressor(2).fit(size * X, y)
    with pytest.raises(pf.InputError, match="the entries of X are too small to square"):
        pf.SparseRegressor(2, standardize=False).fit(size * X, y)
    with pytest.raises(pf.InputError, match=r"no entry of y is beyond .*, too small to square; rescale y"):
        pf.solve(X, size * y, 2)


def test_scales_that_do_not_go_together() -> None:
    X, y = _data()
    with pytest.raises(pf.NonFiniteError, match=r"X'y may be .e\+241, too large to square; rescale X or y"):
        pf.solve(1e120 * X, 1e120 * y, 2)
    with pytest.raises(pf.InputError, match=r"y is .e\+200 times as large as the columns of X; rescale X or y"):
        pf.solve(1e-100 * X, 1e100 * y, 2)
    with pytest.raises(pf.InputError, match=r"y is .e-200 times as large as the columns of X; rescale X or y"):
        pf.solve(1e100 * X, 1e-100 * y, 2)


def test_small_and_large_numbers_that_do_go_together() -> None:
    X, y = _data()
    plain = pf.solve(X, y, 2, threads=1)
    for a, b in ((1e-130, 1.0), (1e140, 1.0), (1e-60, 1e60), (1e70, 1e70), (1.0, 1e-130)):
        found = pf.solve(a * X, b * y, 2, threads=1)
        assert np.array_equal(found.support, plain.support)
        assert found.objective / b**2 == pytest.approx(plain.objective, rel=1e-9)
        assert pf.check(found.certificate, a * X, b * y)
    assert pf.solve(np.zeros((5, 3)), np.arange(5.0), 2).support.size == 0
    # A ridge that is given says how much such columns can matter: nothing.
    assert pf.solve(1e-200 * X, y, 2, gamma=1.0).support.size == 0
    constant = np.column_stack([X, np.zeros(30), np.full(30, 1e-200), np.ones(30)])
    with pytest.raises(pf.InputError, match="column 7 has entries of about 1e-200"):
        pf.SparseRegressor(2).fit(constant, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sketch_seed", np.array(-5)),
        ("sketch_seed", np.array(0.5)),
        ("sketch", np.array(["x"] * 60)),
        ("tree_proof_frame_columns.offsets", np.empty(0, dtype=np.int64)),
    ],
)
def test_a_damaged_checkpoint_is_told(tmp_path: Path, name: str, value: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    y = X[:, :10].sum(axis=1) + 3 * rng.standard_normal(40)
    path = tmp_path / "state.npz"
    pf.solve(X, y, 10, 1e3, checkpoint=path, node_limit=3)
    with np.load(path) as saved:
        arrays = {key: saved[key] for key in saved.files}
    assert name in arrays
    np.savez(path, **{**arrays, name: value})
    with pytest.raises(pf.DataError, match="delete it to start anew"):
        pf.solve(X, y, 10, 1e3, checkpoint=path)


def test_an_archive_on_several_disks_is_told(tmp_path: Path) -> None:
    """Python's library does not read them; before 3.14 it raised where it was only asked whether this is an archive."""
    path = tmp_path / "X.npz"
    np.savez(path, X=np.eye(3))
    content = path.read_bytes()
    path.write_bytes(content[:-22] + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 2) + content[-22:])
    with pytest.raises(Unreadable, match=r"damaged|not an archive"):
        load_arrays(path)


@pytest.mark.parametrize("dtype", [">f8", ">i2", "longdouble"])
def test_a_table_of_another_machine_is_read(tmp_path: Path, dtype: str) -> None:
    rng = np.random.default_rng(0)
    X = np.round(10 * rng.standard_normal((30, 6))).astype(dtype)
    X[:, 5] = X[:, 1] + X[:, 3]
    np.save(tmp_path / "X.npy", X)
    model = tmp_path / "model.json"
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "X.npy"), "--target", "x5", "--k", "2", "--out", str(model)])
    assert done.exit_code == 0, done.output
    words = model.read_text(encoding="utf-8")
    assert '"x1"' in words
    assert '"x3"' in words


def test_a_file_of_less_than_no_rows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0]}), path)
    group = SimpleNamespace(num_rows=-13)
    metadata = SimpleNamespace(num_row_groups=1, row_group=lambda number: group)
    opened = SimpleNamespace(schema_arrow=pq.ParquetFile(path).schema_arrow, metadata=metadata)
    monkeypatch.setattr("parsifal.design.parquet._open", lambda name: opened)
    with pytest.raises(pf.DataError, match="damaged: its row group 0 says that it has -13 rows"):
        pf.open_design(path)


def test_a_file_that_contradicts_itself_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the columns' own counts nothing is asked: where those are damaged, pyarrow ends the process."""
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": np.arange(12.0)}), path)
    group = SimpleNamespace(num_rows=157974265792)
    metadata = SimpleNamespace(num_row_groups=1, num_rows=12, row_group=lambda number: group)
    opened = SimpleNamespace(schema_arrow=pq.ParquetFile(path).schema_arrow, metadata=metadata)
    monkeypatch.setattr("parsifal.design.parquet._open", lambda name: opened)
    with pytest.raises(pf.DataError, match="it says that it has 12 rows, its row groups 157974265792"):
        pf.open_design(path)


def test_a_file_that_promises_too_much_is_told(tmp_path: Path) -> None:
    """A value that repeats takes next to nothing, and vectors with an entry a row are made for it."""
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": np.ones(8_500_000, dtype=np.int8)}), path)
    with pytest.raises(pf.DataError, match=r"promises 8500000 rows in [0-9]+ bytes"):
        pf.open_design(path)


def _no_memory() -> pa.Table:
    raise pa.lib.ArrowMemoryError("malloc of size 2147483648 failed")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (_no_memory, "cannot be read: malloc of size 2147483648 failed"),
        (lambda: pa.table({"a": np.arange(10.0)}), "damaged: column 'a' of row group 0 has 10 entries, not 12"),
    ],
)
def test_a_damaged_page_is_told(tmp_path: Path, read: Callable[[], pa.Table], told: str) -> None:
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": np.arange(12.0)}), path)
    source = ParquetSource([path])
    source._file = (str(path), SimpleNamespace(read_row_group=lambda group, columns: read()))
    with pytest.raises(pf.DataError, match=told):
        StreamedDesign(source, 1 << 24).scan(np.ones(12), stats=True)


def test_a_row_beyond_all_sheets_is_told(tmp_path: Path) -> None:
    """openpyxl makes an empty row for every number that is left out."""
    path = tmp_path / "X.xlsx"
    book = openpyxl.Workbook()
    for row in (("a", "y"), (1.0, 2.0), (3.0, 4.0)):
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(b'<row r="3"', b'<row r="%d"' % 10**50))
    with pytest.raises(pf.DataError, match="1048576 rows at most"):
        pf.tabular.read_table(path)


def test_a_target_without_a_value_is_told(tmp_path: Path) -> None:
    path = tmp_path / "X.jsonl"
    path.write_text('{"a": 0, "y": "nan"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["fit", str(path), "--target", "y", "--k", "1"])
    assert done.exit_code == 2
    assert "'y' has no value" in done.output
