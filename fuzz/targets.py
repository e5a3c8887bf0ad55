"""Everything that reads bytes, as functions of bytes; and good bytes to begin with.

A target either returns or raises one of the package's own errors. Anything else is a finding. A certificate that is
found valid must be true: its bound is held against the optimum by enumeration.
"""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
from pyarrow import feather, parquet

import parsifal as pf
from parsifal.design import open_design
from parsifal.paper.results import ResultsFile
from parsifal.tabular import Recipe, SavedModel, load_proof, read_table, settle
from parsifal.tabular.encoding import encode
from parsifal.tabular.modelfile import saved_model
from parsifal.tabular.proof import save_proof

OPTIONS: dict[str, Any] = {"k": 3, "gamma": 2.0, "threads": 1}


@cache
def data() -> tuple[np.ndarray, np.ndarray]:
    """A problem that takes a small tree, with two equal columns."""
    rng = np.random.default_rng(8)
    X = 0.6 * rng.standard_normal((12, 1)) + rng.standard_normal((12, 9))
    X[:, 7] = X[:, 2]
    return X, X[:, :4].sum(axis=1) + 2.0 * rng.standard_normal(12)


@cache
def losses(gamma: float) -> dict[tuple[int, ...], float]:
    """c(S) of every support of at most four columns."""
    X, y = data()
    found = {}
    for size in range(5):
        for support in combinations(range(X.shape[1]), size):
            part = X[:, list(support)]
            w = np.linalg.solve(part.T @ part + np.eye(size) / gamma, part.T @ y) if size else np.zeros(0)
            found[support] = float(0.5 * np.sum((y - part @ w) ** 2) + w @ w / (2 * gamma))
    return found


def is_true(certificate: pf.Certificate) -> bool:
    """Whether the claim of a certificate for `data` holds."""
    inside, outside = set(certificate.forced_in.tolist()), set(certificate.forced_out.tolist())
    most = min(certificate.k, 9)
    if most > 4 or not 1e-6 < certificate.gamma < 1e6:
        return certificate.lower_bound <= 1e-9 + 0.5 * float(data()[1] @ data()[1]) + certificate.penalty * len(inside)
    values = [
        value + certificate.penalty * len(support)
        for support, value in losses(certificate.gamma).items()
        if len(support) <= most and inside <= set(support) and not outside & set(support)
    ]
    best = min(values, default=np.inf)
    return certificate.lower_bound <= best * (1 + 1e-9) + 1e-12 and certificate.objective >= best * (1 - 1e-9) - 1e-12


def _check(certificate: pf.Certificate) -> None:
    X, y = data()
    str(certificate)
    if pf.check(certificate, X, y) and not is_true(certificate):
        raise AssertionError(f"a false certificate is found valid: {certificate}")


def certificate(content: bytes, folder: Path) -> None:
    path = folder / "proof.npz"
    path.write_bytes(content)
    _check(pf.Certificate.load(path))


def proof(content: bytes, folder: Path) -> None:
    path = folder / "proof.npz"
    path.write_bytes(content)
    _check(load_proof(path)[0])


def model(content: bytes, folder: Path) -> None:
    path = folder / "model.json"
    path.write_bytes(content)
    saved = SavedModel.load(path)
    saved.predict(_table(folder))
    json.dumps(saved.to_dict())


def checkpoint(content: bytes, folder: Path) -> None:
    path = folder / "state.npz"
    path.write_bytes(content)
    X, y = data()
    pf.solve(X, y, checkpoint=path, time_limit=5.0, **OPTIONS)


def results(content: bytes, folder: Path) -> None:
    path = folder / "results.jsonl"
    path.write_bytes(content)
    with ResultsFile(path, "table1") as file:
        before = file.rows()
        file.append({"task": {"fuzz": 1}, "seconds": 0.0})
        assert len(file.rows()) in (len(before), len(before) + 1)


def _encoded(path: Path) -> None:
    """Encoded as a user says it, and by what is decided for one who says nothing."""
    table = read_table(path)
    asked = Recipe(target=table.names[-1])
    settled = settle(table, asked)
    for recipe in (replace(asked, categorical=("auto",), impute="median", drop_missing=True), settled.recipe):
        with suppress(pf.ParsifalError):
            encode(table, recipe)


def _file(suffix: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, folder: Path) -> None:
        path = folder / f"data{suffix}"
        path.write_bytes(content)
        _encoded(path)

    return read


def sheet(content: bytes, folder: Path) -> None:
    """The text of a sheet inside a sound archive, whose checks would hide it from changed bytes."""
    path = folder / "data.xlsx"
    with zipfile.ZipFile(io.BytesIO(_excel())) as good, zipfile.ZipFile(path, "w") as archive:
        for name in good.namelist():
            archive.writestr(name, content if name == _SHEET else good.read(name))
    _encoded(path)


def npy_design(content: bytes, folder: Path) -> None:
    path = folder / "matrix.npy"
    path.write_bytes(content)
    design = open_design(path)
    design.scan(np.ones(design.shape[0]), stats=True)


def parquet_design(content: bytes, folder: Path) -> None:
    path = folder / "matrix.parquet"
    path.write_bytes(content)
    design = open_design(path)
    design.scan(np.ones(design.shape[0]), stats=True)


# Good bytes


def _csv() -> bytes:
    X, y = data()
    rows = ["a,b,kind,y"]
    rows += [
        f"{x[0]:.3f},{'' if i == 3 else repr(float(x[1]))},{'uvw'[i % 3]},{v}" for i, (x, v) in enumerate(zip(X, y))
    ]
    return "\n".join(rows).encode()


def _written() -> bytes:
    """A table as people write them: semicolons, decimal commas, dates, units, marks for gaps, names of the rows."""
    rows = ["id;when;share;price;n;y"]
    rows += [f"{i};2020-01-{i + 1:02d};{i} %;$1,{i:03d}.50;{'-' if i == 3 else i * i};{i * 7 % 5},5" for i in range(12)]
    return "\n".join(rows).encode()


def _json_lines() -> bytes:
    return "\n".join(json.dumps({"a": i, "g": "uv"[i % 2], "l": [i], "y": i * 7 % 5}) for i in range(12)).encode()


_SHEET = "xl/worksheets/sheet1.xml"


@cache
def _excel() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["when", "kind", "a", "y"])
    for i in range(12):
        book.active.append([datetime.date(2020, 1, i + 1), "uvw"[i % 3], None if i == 3 else i * i, i * 7 % 5])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _sheet_text() -> bytes:
    with zipfile.ZipFile(io.BytesIO(_excel())) as archive:
        return archive.read(_SHEET)


def _table(folder: Path) -> Any:
    path = folder / "table.csv"
    path.write_bytes(_csv())
    return read_table(path)


def _arrow() -> Any:
    X, y = data()
    return pa.table({"a": X[:, 0], "b": X[:, 1], "kind": [f"k{i % 3}" for i in range(12)], "y": y})


def _saved(write: Callable[[Path], Any], folder: Path) -> bytes:
    path = folder / "good"
    write(path)
    return path.read_bytes()


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def good_certificate() -> pf.Certificate:
    X, y = data()
    found = pf.solve(X, y, **OPTIONS).certificate
    assert found is not None
    return found


def good_proof(folder: Path) -> bytes:
    table = _table(folder)
    return _saved(lambda path: save_proof(path, good_certificate(), Recipe(target="y"), table.source), folder)


def good_model(folder: Path) -> bytes:
    table = _table(folder)
    recipe = Recipe(target="y", categorical=("auto",), impute="median")
    encoded = encode(table, recipe)
    solution = pf.solve(encoded.design, encoded.y, k=2, gamma=1.0, threads=1)
    made = saved_model(
        solution=solution,
        coef=solution.coef,
        intercept=0.5,
        encoded=encoded,
        recipe=recipe,
        source=table.source,
        command="parsifal fit",
        version=pf.__version__,
    )
    return _saved(made.save, folder)


def good_checkpoint(folder: Path) -> bytes:
    """The state of a solve that was cut short in its tree."""
    X, y = data()
    path = folder / "good.npz"
    path.unlink(missing_ok=True)
    pf.solve(X, y, checkpoint=path, node_limit=1, **OPTIONS)
    return path.read_bytes()


def good_results(folder: Path) -> bytes:
    path = folder / "good.jsonl"
    path.unlink(missing_ok=True)
    with ResultsFile(path, "table1") as file:
        for seed in range(3):
            file.append({"task": {"n": 100, "seed": seed}, "seconds": 0.5, "gap": None})
    return path.read_bytes()


@dataclass(frozen=True)
class Target:
    """What reads the bytes, and good bytes for it."""

    read: Callable[[bytes, Path], None]
    good: Callable[[Path], bytes]


TARGETS: dict[str, Target] = {
    "certificate": Target(certificate, lambda folder: _saved(good_certificate().save, folder)),
    "proof": Target(proof, good_proof),
    "model": Target(model, good_model),
    "checkpoint": Target(checkpoint, good_checkpoint),
    "results": Target(results, good_results),
    "csv": Target(_file(".csv"), lambda folder: _csv()),
    "written csv": Target(_file(".csv"), lambda folder: _written()),
    "jsonl": Target(_file(".jsonl"), lambda folder: _json_lines()),
    "xlsx": Target(_file(".xlsx"), lambda folder: _excel()),
    "sheet": Target(sheet, lambda folder: _sheet_text()),
    "npy": Target(_file(".npy"), lambda folder: _npy(data()[0])),
    "npz": Target(_file(".npz"), lambda folder: _npz(X=data()[0], y=data()[1])),
    "parquet": Target(
        _file(".parquet"), lambda folder: _saved(lambda path: parquet.write_table(_arrow(), path), folder)
    ),
    "arrow": Target(
        _file(".feather"), lambda folder: _saved(lambda path: feather.write_feather(_arrow(), path), folder)
    ),
    "npy design": Target(npy_design, lambda folder: _npy(data()[0])),
    "parquet design": Target(
        parquet_design,
        lambda folder: _saved(lambda path: parquet.write_table(_arrow().drop_columns(["kind"]), path), folder),
    ),
}


# Arrays inside a sound archive: what the archive's own checks would hide from plain bytes.


def arrays_of(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def archive_of(arrays: dict[str, np.ndarray]) -> bytes:
    return _npz(**arrays)


CERTIFICATE_FIELDS = tuple(field.name for field in fields(pf.Certificate))
