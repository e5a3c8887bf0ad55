"""Changed bytes through everything that reads bytes: an error of our own, or an answer that is true. See fuzz/."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import parsifal as pf
from fuzz.guard import Violation, guarded
from fuzz.mutate import bomb, mutate, mutate_archive
from fuzz.targets import TARGETS, archive_of, arrays_of, data, good_certificate, is_true
from parsifal.cli.app import app
from parsifal.files.untrusted import Unreadable, load_arrays, parse_json

ROOT = Path(__file__).parents[2]
quick = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_bytes_are_refused_or_read(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    good = target.good(tmp_path)
    target.read(good, tmp_path)

    @settings(quick, max_examples=15 if name == "checkpoint" else 60)
    @given(seeds)
    def holds(seed: int) -> None:
        content = mutate(random.Random(seed), good, good)
        try:
            with guarded(tmp_path):
                target.read(content, tmp_path)
        except pf.ParsifalError as error:
            if not str(error).strip():
                raise AssertionError("an error that says nothing") from error

    holds()


@settings(quick, max_examples=150)
@given(seeds)
def test_a_changed_certificate_is_rejected_or_true(seed: int) -> None:
    rng = random.Random(seed)
    content = mutate_archive(rng, _good_certificate())
    try:
        certificate = pf.Certificate.from_arrays(arrays_of(content))
    except ValueError:
        return
    if pf.check(certificate, *data()):
        assert is_true(certificate), str(certificate)


@settings(quick, max_examples=80)
@given(st.floats(1e-15, 1e3), st.sampled_from(["lower_bound", "objective", "gamma", "penalty"]), st.booleans())
def test_a_better_claim_is_rejected(step: float, field: str, up: bool) -> None:
    """The numbers of the claim, moved a little or far."""
    arrays = arrays_of(_good_certificate())
    arrays[field] = np.asarray(float(arrays[field]) + (step if up else -step))
    certificate = pf.Certificate.from_arrays(arrays)
    if pf.check(certificate, *data()):
        assert is_true(certificate), str(certificate)


def test_the_referee_of_certificates_knows_false_from_true() -> None:
    from dataclasses import replace

    good = good_certificate()
    assert pf.check(good, *data())
    assert is_true(good)
    assert not is_true(replace(good, lower_bound=good.objective * 1.001))
    assert not is_true(replace(good, objective=good.objective * 0.999))


def _good_certificate() -> bytes:
    arrays = {name: np.asarray(value) for name, value in vars(good_certificate()).items()}
    return archive_of({"format": np.asarray(1), **arrays})


# What a file may promise


def _header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _zip(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def _with(**changes: Any) -> bytes:
    arrays = arrays_of(_good_certificate())
    return archive_of({**arrays, **{name: np.asarray(value) for name, value in changes.items()}})


def _model(text: str) -> bytes:
    return f'{{"format": "parsifal-model", "version": 1, {text}}}'.encode()


BOMB = bomb(100 << 20)
PROMISES: dict[str, tuple[str, bytes]] = {
    "a trillion rows": ("npy", _header("(1000000000000, 10)") + bytes(800)),
    "a trillion rows, streamed": ("npy design", _header("(1000000000000, 10)") + bytes(800)),
    "an overflowing shape": ("npy", _header("(4611686018427387904, 4)") + bytes(800)),
    "an overflowing shape, streamed": ("npy design", _header("(4611686018427387904, 4)") + bytes(800)),
    "a negative shape": ("npy", _header("(-1, 4)") + bytes(800)),
    "Python objects": ("npy", _header("(2, 2)", "'|O'") + pickle.dumps(np.zeros(4))),
    "Python objects in an archive": ("npz", _zip(X=_header("(2, 2)", "'|O'") + pickle.dumps(np.zeros(4)))),
    "a pickle": ("npy", pickle.dumps({"X": 1})),
    "a pickle for a certificate": ("certificate", pickle.dumps({"X": 1})),
    "a pickle for a checkpoint": ("checkpoint", pickle.dumps({"X": 1})),
    "a header without end": ("npy", _header("(" * 5000)),
    "a long header": ("npy", b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + b" " * 1000),
    "a trillion entries in an archive": ("npz", _zip(X=_header("(1000000000000, 10)") + bytes(800))),
    "a trillion entries in a certificate": ("certificate", _zip(coef=_header("(1000000000000,)") + bytes(800))),
    "an archive that unpacks to 100 MB": ("npz", BOMB),
    "a certificate that unpacks to 100 MB": ("certificate", BOMB),
    "a checkpoint that unpacks to 100 MB": ("checkpoint", BOMB),
    "k = 10^9": ("certificate", _with(k=10**9)),
    "k = 2^63 - 1": ("certificate", _with(k=2**63 - 1)),
    "a shape of 10^12 columns": ("certificate", _with(shape=np.array([12, 10**12]))),
    "a parent that is its own": ("certificate", _with(parent=np.arange(arrays_of(_good_certificate())["parent"].size))),
    "nested JSON": ("model", b"[" * 1_000_000),
    "nested JSON in a model": ("model", _model('"features": ' + "[" * 1_000_000)),
    "nested JSON in results": ("results", b'{"experiment": "table1", "task": ' + b"[" * 1_000_000),
    "a number of a million digits": ("model", _model('"intercept": ' + "9" * 1_000_000)),
    "a number beyond floats": ("model", _model('"intercept": 1e999, "features": []')),
    "an integer beyond floats": ("model", _model('"features": [], "intercept": ' + "9" * 400)),
    "NaN": ("model", _model('"features": [], "intercept": NaN')),
    "a key twice": ("model", _model('"intercept": 1, "intercept": 2')),
    "lone surrogates": ("model", _model('"features": [{"name": "\\ud800"}]')),
    "not UTF-8": ("model", b"\xff\xfe{}"),
    "one long line": ("csv", b"a,y\n" + b"1" * 3_000_000),
    "a million columns": ("csv", b",".join(b"c%d" % i for i in range(200_000)) + b"\n1"),
    "an open quote": ("csv", b'a,y\n"' + b"1,2\n" * 1000),
    "zero bytes": ("csv", b"a,y\n" + bytes(1000)),
}


def test_a_promise_is_refused_without_keeping_it(tmp_path: Path) -> None:
    """All in one process whose memory is limited, with what each gave and took."""
    tasks = []
    for number, (name, (target, content)) in enumerate(PROMISES.items()):
        (tmp_path / f"{number}").write_bytes(content)
        tasks.append([name, target, str(tmp_path / f"{number}")])
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.promises"],
        cwd=ROOT,
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == list(PROMISES)
    for name, kind, message, peak in rows:
        # A certificate is read and then found invalid, and of results a line without end is a torn one.
        late = name in LATE and kind == "read"
        assert late or (kind in ("DataError", "InputError") and message), f"{name}: {kind}: {message}"
        size = len(PROMISES[name][1])
        assert peak <= 80e6 + 100 * size, f"{name}: {peak / 1e6:.0f} MB for {size} bytes"


LATE = ("k = 10^9", "k = 2^63 - 1", "a shape of 10^12 columns", "a parent that is its own", "nested JSON in results")


def test_a_compressed_table_may_not_unpack_without_bound(tmp_path: Path) -> None:
    from parsifal.tabular import read_table

    path = tmp_path / "big.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,y\n")
        for _ in range(66):
            file.write(b"1,2\n" * (1 << 18))
    with pytest.raises(pf.DataError, match="unpacks to more than text of its size would; unpack it first"):
        read_table(path)
    with gzip.open(path, "wb") as file:
        file.write(b"a,y\n" + b"1,2\n" * 1000)
    assert read_table(path).rows == 1000


def test_members_of_an_archive_are_arrays_once(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.txt", "1")
    with pytest.raises(Unreadable, match=r"'X\.txt' is no array"):
        load_arrays(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", _header("(1,)") + bytes(8))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("X.npy", _header("(1,)") + bytes(8))
    with pytest.raises(Unreadable, match="there twice"):
        load_arrays(path)
    path.write_bytes(_zip(X=_header("(2,)") + bytes(8)))
    with pytest.raises(Unreadable, match=r"X promises shape \(2,\) of float64, and has 8 bytes"):
        load_arrays(path)


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "a": rng.standard_normal((3, 4)),
        "f": np.asfortranarray(rng.standard_normal((3, 4))),
        "big": rng.standard_normal(5).astype(">f8"),
        "text": np.asarray("a note, é"),
        "none": np.zeros((0, 3)),
        "scalar": np.asarray(True),
        "small": rng.integers(0, 9, 7).astype(np.int8),
        "empty": np.asarray(""),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", **arrays)
        found = load_arrays(tmp_path / "x.npz")
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert np.array_equal(found[name], array)
            assert found[name].dtype == array.dtype.newbyteorder("=")
            assert found[name].shape == array.shape


def test_json_is_taken_strictly() -> None:
    assert parse_json('{"a": [1, 2.5, null, "x"]}') == {"a": [1, 2.5, None, "x"]}
    assert parse_json("[NaN, Infinity]", finite=False)[1] == float("inf")
    for text, message in (
        ("NaN", "NaN is no number"),
        ("1e999", "too large"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "Expecting"),
    ):
        with pytest.raises(Unreadable, match=message):
            parse_json(text)


# The guard, and the source


def test_the_guard_sees_what_it_should(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    with guarded(inside):
        (inside / "x").write_text("fine")
    with pytest.raises(Violation, match="open"), guarded(inside):
        outside.write_text("not fine")
    with pytest.raises(Violation, match=r"pickle\.find_class"), guarded(inside):
        pickle.loads(pickle.dumps(Path("x")))
    with pytest.raises(Violation, match="no end after"), guarded(inside, seconds=0.1):
        time.sleep(5)


def test_nothing_unpickles_or_evaluates() -> None:
    forbidden = re.compile(r"\bimport pickle|pickle\.load|allow_pickle=True|\bmarshal\b|\bshelve\b|[^.\w](eval|exec)\(")
    for path in (ROOT / "src").rglob("*.py"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path
    loads = [path.name for path in (ROOT / "src").rglob("*.py") if "np.load(" in path.read_text(encoding="utf-8")]
    assert loads == []


# The command line


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_bytes(TARGETS["csv"].good(tmp_path))
    options = {"-t": "y", "--k": 2, "--categorical": "auto", "--impute": "median", "--out": "m.json"}
    options |= {"--certificate": "p.npz"}
    done = CliRunner().invoke(app, ["fit", "data.csv", "--quiet", *(str(x) for pair in options.items() for x in pair)])
    assert done.exit_code == 0, done.output
    return tmp_path


@pytest.mark.parametrize("which", ["m.json", "p.npz", "data.csv"])
def test_changed_files_at_the_command_line(workshop: Path, which: str) -> None:
    good = (workshop / which).read_bytes()
    others = {path for path in workshop.rglob("*") if path.name != which}
    arguments = ["predict", "m.json", "data.csv"] if which != "p.npz" else ["check", "p.npz", "data.csv"]

    @settings(quick, max_examples=25)
    @given(seeds)
    def holds(seed: int) -> None:
        (workshop / which).write_bytes(mutate(random.Random(seed), good, good))
        with guarded(workshop):
            done = CliRunner().invoke(app, arguments)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert done.exit_code in (0, 1, 2, 4), done.output
        assert "Traceback" not in done.output
        assert {path for path in workshop.rglob("*") if path.name != which} == others

    holds()


def test_surrogates_at_the_command_line(workshop: Path) -> None:
    model = json.loads((workshop / "m.json").read_text())
    for field in ("target", "encoding"):
        changed = json.loads(json.dumps(model))
        changed["recipe"][field] = "\ud800"
        (workshop / "m.json").write_text(json.dumps(changed))
        for json_output in ([], ["--json"]):
            done = CliRunner().invoke(app, ["predict", "m.json", "data.csv", *json_output])
            assert done.exit_code in (0, 1, 2)
            assert done.exception is None or isinstance(done.exception, SystemExit)
