"""Certificates in files, together with the recipe that says which matrix they are about."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from parsifal.errors import DataError
from parsifal.files.atomic import replacing
from parsifal.files.untrusted import TooLarge, load_arrays, parse_json
from parsifal.proof.certificate import Certificate
from parsifal.tabular.reading import Source
from parsifal.tabular.recipe import Recipe


def save_proof(path: str | Path, certificate: Certificate, recipe: Recipe, source: Source) -> None:
    """Write the certificate as `Certificate.save` does, and the recipe beside it in the same archive."""
    note = json.dumps({"recipe": asdict(recipe), "source": asdict(source)})
    with replacing(path) as file:
        certificate.write(file)
        with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("table.npy", "w") as member:
            np.lib.format.write_array(member, np.asarray(note), allow_pickle=False)


def load_proof(path: str | Path) -> tuple[Certificate, Recipe | None, Source | None]:
    """Read a certificate and, if it has them, its recipe and where its data came from."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file")
    if not path.is_file():
        raise DataError(f"{path} does not exist; --certificate of parsifal fit writes one")
    try:
        arrays = load_arrays(path, itemsize=8)
        certificate = Certificate.from_arrays(arrays)
        note: Any = parse_json(str(arrays["table"])) if "table" in arrays else None
    except TooLarge as error:
        raise DataError(f"{path} is not read: {error}") from error
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{path} is not a readable Parsifal certificate: {reason}; make it again with parsifal fit --certificate"
        ) from error
    if note is None:
        return certificate, None, None
    if not isinstance(note, dict):
        raise DataError(f"the recipe in {path} is damaged; make the file again with parsifal fit")
    return certificate, Recipe.from_dict(note.get("recipe"), str(path)), source_from(note.get("source"), str(path))


def source_from(values: Any, where: str) -> Source:
    """The source as it was written, with types checked."""
    try:
        return Source(
            path=str(values["path"]),
            sha256=str(values["sha256"]),
            rows=int(values["rows"]),
            columns=int(values["columns"]),
        )
    except (TypeError, KeyError, ValueError, OverflowError):
        raise DataError(f"the data's fingerprint in {where} is damaged; make the file again") from None
