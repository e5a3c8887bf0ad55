"""Certificates come back from files as they went, and damaged files are reported."""

from __future__ import annotations

import gc
import re
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parsifal as pf
from oracles.enumeration import Case, random_case
from parsifal.proof.certificate import Certificate
from proof.helpers import same


def test_round_trip(case: Case, proof: Certificate, tmp_path: Path) -> None:
    for path in (tmp_path / "proof.npz", tmp_path / "no ending", str(tmp_path / "text.npz")):
        proof.save(path)
        with np.load(path, allow_pickle=False) as archive:
            assert set(archive.files) == {f.name for f in fields(Certificate)} | {"format"}
            assert all(archive[name].dtype.kind in "iufb" for name in archive.files)
        back = Certificate.load(path)
        assert same(back, proof)
        assert {f.name: type(getattr(back, f.name)) for f in fields(back)} == {
            f.name: type(getattr(proof, f.name)) for f in fields(proof)
        }
        assert str(back) == str(proof)
        assert pf.check(back, case.X, case.y)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["no ending", "proof.npz", "text.npz"]


def test_round_trip_of_odd_certificates(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    for at in range(20):
        case = random_case(rng, most=7)
        certificate = pf.solve(case.X, case.y, **case.options, certificate_limit=0 if at % 5 == 4 else 64e6).certificate
        certificate.save(tmp_path / "proof.npz")
        assert same(Certificate.load(tmp_path / "proof.npz"), certificate)


def test_damaged_files(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "proof.npz"
    proof.save(path)
    data = path.read_bytes()

    def load(content: bytes) -> Certificate | str:
        path.write_bytes(content)
        try:
            return Certificate.load(path)
        except ValueError as error:
            return str(error)

    for keep in (0, 1, 10, 100, len(data) // 2, len(data) - 1):
        got = load(data[:keep])
        assert isinstance(got, str), keep
        assert re.search(r"proof\.npz is not a (readable )?Parsifal certificate: .", got)
    rng = np.random.default_rng(10)
    for at in rng.integers(len(data), size=100):
        got = load(data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :])
        if isinstance(got, str):
            assert "Parsifal certificate" in got
        else:
            assert same(got, proof), "a byte that is not part of the arrays"


def test_a_damaged_file_is_closed(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "proof.npz"
    proof.save(path)
    path.write_bytes(path.read_bytes()[:-30])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            Certificate.load(path)
        except ValueError:
            gc.collect()
        gc.collect()
    assert not seen


def test_foreign_files(proof: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "file"
    arrays = {f.name: np.asarray(getattr(proof, f.name)) for f in fields(proof)}

    def refused(match: str, **values: Any) -> None:
        with open(path, "wb") as file:
            np.savez(file, **values)
        with pytest.raises(ValueError, match=match):
            Certificate.load(path)

    refused("no certificate of format 3", a=np.ones(3))
    refused("no certificate of format 3", **arrays)
    refused("no certificate of format 3", format=np.array(4), **arrays)
    for name in arrays:
        refused(f"{name} is missing", format=np.array(3), **{n: v for n, v in arrays.items() if n != name})
    refused("coef must be a vector of floats", **{**arrays, "format": np.array(3), "coef": np.array(["a"])})
    refused("coef must be a vector of floats", **{**arrays, "format": np.array(3), "coef": np.ones((2, 2))})
    refused("parent must be a vector of whole numbers", **{**arrays, "format": np.array(3), "parent": np.ones(3)})
    refused("gamma must be a single value", **{**arrays, "format": np.array(3), "gamma": np.ones(2)})
    refused("shape must hold two whole numbers", **{**arrays, "format": np.array(3), "shape": np.arange(3)})
    refused("Parsifal certificate", **{**arrays, "format": np.array(3), "coef": np.array([None])})
    path.write_text("not an archive")
    with pytest.raises(ValueError, match="Parsifal certificate"):
        Certificate.load(path)
    with open(path, "wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(ValueError, match="Parsifal certificate"):
        Certificate.load(path)


@pytest.mark.parametrize(("name", "value"), [("k", 2.5), ("complete", "no"), ("gamma", "1"), ("complete", 0.3)])
def test_single_values_of_another_kind(proof: Certificate, tmp_path: Path, name: str, value: Any) -> None:
    arrays = {f.name: np.asarray(getattr(proof, f.name)) for f in fields(proof)}
    with open(tmp_path / "file", "wb") as file:
        np.savez(file, **{**arrays, "format": np.array(3), name: np.array(value)})
    with pytest.raises(ValueError, match=name):
        Certificate.load(tmp_path / "file")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Certificate.load(tmp_path / "nothing.npz")


def test_files_of_format_1(case: Case, proof: Certificate, tmp_path: Path) -> None:
    former = [f.name for f in fields(proof) if f.name not in ("kind", "independence")]
    arrays = {name: np.asarray(getattr(proof, name)) for name in former}
    with open(tmp_path / "file", "wb") as file:
        np.savez(file, format=np.array(1), **arrays)
    back = Certificate.load(tmp_path / "file")
    assert same(back, proof)
    assert pf.check(back, case.X, case.y)


def test_files_of_format_2(case: Case, proof: Certificate, tmp_path: Path) -> None:
    later = ("price", "sign", "row_offset", "row_column", "row_coef", "row_upper")
    arrays = {f.name: np.asarray(getattr(proof, f.name)) for f in fields(proof) if f.name not in later}
    with open(tmp_path / "file", "wb") as file:
        np.savez(file, format=np.array(2), **arrays)
    back = Certificate.load(tmp_path / "file")
    assert same(back, proof)
    assert pf.check(back, case.X, case.y)
