"""Files that take little on the disk and much in memory: read within bounds, or refused with the remedy."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pytest
import zarr
from pyarrow import feather, ipc, parquet

import parsifal as pf
from parsifal.files.untrusted import Unreadable, load_arrays
from parsifal.tabular import read_table

LONG, ROWS = "x" * 10_000, 60_000

# The peak of a process that reads one file, less what it had before; the high-water mark of a child's resident
# memory starts at its parent's in getrusage, not here. One process imports what is needed and forks for every file:
# a fork's mark starts at what it has.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import numpy, pyarrow.csv, pyarrow.feather, pyarrow.parquet, h5py, zarr
import parsifal as pf
from parsifal.tabular import SavedModel, load_proof, read_table

def table(path):
    return read_table(path).rows

def levels(path):
    from parsifal.tabular import encode
    from parsifal.tabular.recipe import Recipe
    table = read_table(path)
    return encode(table, Recipe(target="y", categorical=("auto",))).rows

def design(path):
    design = pf.open_design(path)
    return float(design.scan(numpy.zeros(design.shape[0])).xv[0])

def checkpoint(path):
    from parsifal.solver.checkpoint import _load
    return len(_load(Path(path)))

def mark():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

readers = {"table": table, "levels": levels, "design": design, "certificate": pf.Certificate.load, "proof": load_proof,
           "model": SavedModel.load, "checkpoint": checkpoint}

def measured(kind, path):
    before = mark()
    try:
        readers[kind](path)
        said = "read"
    except pf.ParsifalError as error:
        said = f"{type(error).__name__}: {error}"
    return said, 1024 * (mark() - before)

for line in sys.stdin:
    kind, path, environment = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(300)
        os.environ.update(environment)
        print(json.dumps(measured(kind, path)), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(json.dumps(["died", 0]), flush=True)
"""


def _text_file(path: Path) -> None:
    # Written from its dictionary, and without Arrow's schema: the file that a column of so many texts becomes.
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, np.int32)), [LONG])
    parquet.write_table(
        pa.table({"s": texts, "y": np.arange(float(ROWS))}), path, compression="zstd", store_schema=False
    )


def _delta_file(path: Path) -> None:
    table = pa.table({"s": [LONG] * (ROWS // 2)})
    parquet.write_table(table, path, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY", compression="zstd")


def _times(path: Path) -> None:
    table = pa.table({"t": pa.array(np.arange(8_000_000), pa.timestamp("s"))})
    parquet.write_table(table, path, use_dictionary=False, column_encoding="DELTA_BINARY_PACKED", compression="zstd")


def _times_of_day(path: Path) -> None:
    # By differences, so that the file is small: with a dictionary of all seconds it has 18 MB, which is in proportion.
    table = pa.table({"t": pa.array(np.arange(8_000_000, dtype=np.int32) % 86_400).cast(pa.time32("s"))})
    parquet.write_table(table, path, use_dictionary=False, column_encoding="DELTA_BINARY_PACKED", compression="zstd")


BOOK = {
    "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/sharedStrings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?><Relationships '
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Target="xl/workbook.xml" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
    "xl/workbook.xml": '<?xml version="1.0"?><workbook '
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<?xml version="1.0"?><Relationships '
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Target="worksheets/sheet1.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>',
}
SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)


def _book(path: Path, rows: str, shared: str = "") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in BOOK.items():
            archive.writestr(name, content)
        archive.writestr("xl/worksheets/sheet1.xml", SHEET.format(rows))
        archive.writestr(
            "xl/sharedStrings.xml",
            f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{shared}</sst>',
        )


def _sheet(row: str, count: int) -> Callable[[Path], None]:
    return lambda path: _book(path, row * count)


def _shared_text(path: Path) -> None:
    _book(path, "<row><c><v>1</v></c></row>" * 3, "<si><t>a</t></si>" * 2_000_000)


def _lists(path: Path) -> None:
    values = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(30_000_000)), 15_000)
    parquet.write_table(pa.table({"l": values, "a": np.arange(2000.0)}), path, compression="zstd")


def _decimals(path: Path) -> None:
    parquet.write_table(pa.table({"d": pa.array([1] * 4_000_000).cast(pa.decimal128(25, 2))}), path)


def _feather(columns: pa.Table) -> Callable[[Path], None]:
    return lambda path: feather.write_feather(columns, path, compression="zstd")


def _stream(path: Path) -> None:
    schema = pa.schema([("a", pa.float64())])
    options = ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, schema, options=options) as writer:
        writer.write_table(pa.table({"a": np.zeros(60_000_000)}))


def _gzip(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        for _ in range(15):
            file.write(b"1,2\n" * 1_000_000)


def _many_columns(path: Path) -> None:
    names = ",".join(f"c{j}" for j in range(100_000))
    path.write_text(f'"a,\nb",{names}\n' + ",".join("1" * 100_001) + "\n")


def _arrays(**arrays: np.ndarray) -> Callable[[Path], None]:
    return lambda path: np.savez_compressed(path, **arrays)


def _certificate(path: Path, entries: int = 60_000_000) -> None:
    rng = np.random.default_rng(0)
    certificate = pf.solve(rng.standard_normal((20, 5)), rng.standard_normal(20), k=2, gamma=1.0).certificate
    assert certificate is not None
    arrays = {name: np.asarray(value) for name, value in vars(certificate).items()}
    arrays |= {"twin_later": np.zeros(entries, np.int8), "format": np.asarray(1)}
    np.savez_compressed(path, **arrays)


def _hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "X", data=np.zeros((1000, 40_000)), chunks=(1000, 40_000), compression="gzip", compression_opts=1
        )


def _hdf5_small_chunks(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "X", data=np.zeros((1000, 40_000)), chunks=(1000, 100), compression="gzip", compression_opts=1
        )


def _zarr(path: Path) -> None:
    # A chunk is stored whole, however little of it belongs to the array.
    quick = zarr.codecs.ZstdCodec(level=-5)
    array = zarr.create_array(store=str(path), shape=(10, 10), chunks=(4000, 10_000), dtype="f8", compressors=quick)
    array[:] = 1.0


def _json(path: Path) -> None:
    path.write_text('{"format": "parsifal-model", "version": 1, "features": [' + "[]," * 500_000 + "[]]}")


ZEROS = np.zeros(500_000)
CASES: dict[str, tuple[str, str, Callable[[Path], None], str]] = {
    "text that repeats": ("table", "x.parquet", _text_file, "read"),
    "text that repeats, as levels": ("levels", "x.parquet", _text_file, "read"),
    "text that repeats, by differences": ("table", "x.parquet", _delta_file, "PARSIFAL_READ_LIMIT="),
    "times": ("table", "x.parquet", _times, "read"),
    "times of day": ("table", "x.parquet", _times_of_day, "PARSIFAL_READ_LIMIT="),
    "a sheet that repeats": (
        "table",
        "x.xlsx",
        _sheet("<row>" + "<c><v>1</v></c>" * 4 + "</row>", 2_000_000),
        "PARSIFAL",
    ),
    "a sheet with far cells": (
        "table",
        "x.xlsx",
        _sheet('<row><c r="XFD1"><v>1</v></c></row>', 3000),
        "PARSIFAL_READ_LIMIT=",
    ),
    "text of a sheet": ("table", "x.xlsx", _shared_text, "PARSIFAL_READ_LIMIT="),
    "keys of JSON": (
        "table",
        "x.jsonl",
        lambda path: path.write_text("".join(f'{{"k{j}": 1}}\n' for j in range(4000))),
        "PARSIFAL_READ_LIMIT=",
    ),
    "empty values of JSON": (
        "table",
        "x.jsonl",
        lambda path: path.write_text('{"a":[],"b":{},"c":1}\n' * 100_000),
        "read",
    ),
    "lists": ("table", "x.parquet", _lists, "read"),
    "decimals of a design": ("design", "x.parquet", _decimals, "read"),
    "zeros in Parquet": (
        "table",
        "x.parquet",
        lambda path: parquet.write_table(pa.table({f"c{j}": ZEROS for j in range(100)}), path),
        "PARSIFAL_READ_LIMIT=",
    ),
    "zeros in Feather": (
        "table",
        "x.feather",
        _feather(pa.table({f"c{j}": ZEROS for j in range(190)})),
        "PARSIFAL_READ_LIMIT=",
    ),
    "nothing at all in Feather": ("table", "x.feather", _feather(pa.table({"a": pa.nulls(90_000_000)})), "READ_LIMIT="),
    "a dictionary in Feather": (
        "table",
        "x.feather",
        _feather(pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, np.int32)), [LONG])})),
        "read",
    ),
    "zeros in a stream": ("table", "x.arrow", _stream, "PARSIFAL_READ_LIMIT="),
    "many columns of text": ("table", "x.csv", _many_columns, "PARSIFAL_READ_LIMIT="),
    "compressed text": ("table", "x.csv.gz", _gzip, "unpack it first"),
    "an archive of a table": ("table", "x.npz", _arrays(X=np.zeros((1000, 60_000), np.float32)), "READ_LIMIT="),
    "small integers in a certificate": ("certificate", "x.npz", _certificate, "limit=480"),
    "small integers in a proof": ("proof", "x.npz", _certificate, "PARSIFAL_READ_LIMIT="),
    "small integers in a checkpoint": (
        "checkpoint",
        "x.npz",
        _arrays(format=np.asarray(2), a=np.zeros(60_000_000, np.int8)),
        "READ_LIMIT=",
    ),
    "a model": ("model", "x.json", _json, "is damaged"),
    "chunks of HDF5": ("design", "x.h5", _hdf5, "memory_limit=1280000000"),
    "small chunks of HDF5": ("design", "x.h5", _hdf5_small_chunks, "read"),
    "a chunk of Zarr": ("design", "x.zarr", _zarr, "memory_limit=1280000000"),
}


Measure = Callable[..., tuple[str, int]]


@pytest.fixture(scope="module")
def measured() -> Iterator[Measure]:
    """What a process says that reads a file, and the memory it took."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to, answers = process.stdin, process.stdout

        def measure(kind: str, path: Path, **environment: str) -> tuple[str, int]:
            to.write(json.dumps([kind, str(path), environment]) + "\n")
            to.flush()
            said, peak = json.loads(answers.readline())
            return said, peak

        yield measure
        to.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
@pytest.mark.parametrize("case", CASES)
def test_memory_is_in_proportion_to_the_file(case: str, tmp_path: Path, measured: Measure) -> None:
    kind, name, write, words = CASES[case]
    path = tmp_path / name
    write(path)
    size = path.stat().st_size
    said, peak = measured(kind, path)
    assert words in said
    # 64 MB or a hundred times the file, twice where it is converted, and what allocators keep.
    assert peak <= 200e6 + 100 * size, f"{peak / 1e6:.0f} MB for {size} bytes: {said}"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
def test_the_measurement_sees_what_a_user_allows(tmp_path: Path, measured: Measure) -> None:
    feather.write_feather(pa.table({f"c{j}": ZEROS for j in range(65)}), tmp_path / "x.feather", compression="zstd")
    said, peak = measured("table", tmp_path / "x.feather", PARSIFAL_READ_LIMIT="4e8")
    assert said == "read"
    assert peak > 230e6


def test_what_is_allowed_must_be_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_text("a,y\n1,2\n2,3\n")
    for word in ("much", "-1", "nan", "inf"):
        monkeypatch.setenv("PARSIFAL_READ_LIMIT", word)
        with pytest.raises(pf.InputError, match=r"PARSIFAL_READ_LIMIT is .*; it must be a number of bytes, e\.g\. 8e9"):
            read_table(tmp_path / "x.csv")
    monkeypatch.setenv("PARSIFAL_READ_LIMIT", " ")
    assert read_table(tmp_path / "x.csv").rows == 2


def test_a_large_certificate_can_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _certificate(tmp_path / "x.npz", entries=9_000_000)
    with pytest.raises(pf.InputError, match=r"not a readable Parsifal certificate: it would take 72\d{6} bytes"):
        pf.Certificate.load(tmp_path / "x.npz")
    assert pf.Certificate.load(tmp_path / "x.npz", limit=8e7).twin_later.size == 9_000_000
    monkeypatch.setenv("PARSIFAL_READ_LIMIT", "8e7")
    assert pf.Certificate.load(tmp_path / "x.npz").twin_later.dtype == np.int64


def test_every_proof_within_the_default_limit_is_read(tmp_path: Path) -> None:
    """However well it compresses: 64 MB is what `certificate_limit` allows by default."""
    rng = np.random.default_rng(0)
    certificate = pf.solve(rng.standard_normal((20, 5)), rng.standard_normal(20), k=2, gamma=1.0).certificate
    assert certificate is not None
    arrays = {name: np.asarray(value) for name, value in vars(certificate).items()}
    room = int(64e6 - certificate.nbytes) // 8
    arrays |= {"twin_later": np.zeros(room, np.int64), "format": np.asarray(1)}
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    assert (tmp_path / "x.npz").stat().st_size < 200_000
    assert pf.Certificate.load(tmp_path / "x.npz").nbytes == pytest.approx(64e6, abs=1e3)


def test_only_what_numpy_writes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", b"\x93NUMPY")
    with pytest.raises(Unreadable, match=r"'X\.npy' is compressed in a way that NumPy does not write"):
        load_arrays(tmp_path / "x.npz")
