"""A file that work is noted in as it gets done: one JSON line per entry, appended and synced, never changed.

Every line carries a checksum of itself. What a killed process leaves behind is at worst a last line that is torn, which
is cut off when the journal is opened again. The first line says what the work is about; a journal of other work is
refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import DataError
from parsifal.files import system
from parsifal.files.atomic import Lock, file_path, sync_folder, unwritable

_VERSION = 1


class Journal:
    """The entries of one piece of work; the file belongs to this process until it is closed.

    Parameters
    ----------
    path : path
        Made when it is not there. Its folder must exist.
    kind : str
        What the entries are; part of the first line.

    Attributes
    ----------
    head : dict or None
        What `begin` wrote; None in a new journal.
    entries : list of dict
        What `append` wrote, in order.
    """

    def __init__(self, path: str | os.PathLike[str], kind: str) -> None:
        self.path = file_path(path, "checkpoint")
        self.kind = kind
        self.head: dict[str, Any] | None = None
        self.entries: list[dict[str, Any]] = []
        self._thread = threading.Lock()
        self._lock = Lock(self.path)
        try:
            try:
                self._file = os.open(
                    self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | system.BINARY | system.PRIVATE, 0o666
                )
            except OSError as error:
                raise unwritable(self.path, error) from error
            try:
                self._read()
            except BaseException:
                os.close(self._file)
                raise
        except BaseException:
            self._lock.release()
            raise

    def _read(self) -> None:
        data = self.path.read_bytes()
        whole = 0
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            entry = _entry_of(line)
            if entry is None:
                if number > 1 and data[whole + len(line) :].strip(b"\0"):
                    raise self._damaged(f"line {number} is damaged")
                break
            if number == 1:
                self._check_head(entry)
                self.head = entry["about"]
            else:
                self.entries.append(entry)
            whole += len(line)
        if self.head is None and not _may_be_begun(data):
            raise self._damaged("it is something else")
        if whole < len(data):
            os.ftruncate(self._file, whole)

    def _check_head(self, entry: dict[str, Any]) -> None:
        if entry.get("journal") != self.kind or not isinstance(entry.get("about"), dict):
            raise self._damaged("it is something else")
        if entry.get("version") != _VERSION:
            raise self._damaged(f"version {entry.get('version')} and not {_VERSION}")

    def _damaged(self, what: str) -> DataError:
        return DataError(f"{self.path} is no journal of a {self.kind}: {what}; delete it to start anew")

    def begin(self, about: Mapping[str, Any]) -> None:
        """Say what the work is about; for a new journal."""
        self.head = dict(about)
        self._write({"journal": self.kind, "version": _VERSION, "about": self.head})
        sync_folder(self.path.parent)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Note an entry, for good; threads may do so at the same time."""
        self._write(entry)

    def _write(self, entry: Mapping[str, Any]) -> None:
        line = _line_of(entry)
        with self._thread:
            size = os.fstat(self._file).st_size
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._file, line[written:])
                os.fsync(self._file)
            except OSError as error:
                # What is there of the line would stand before the next one.
                os.ftruncate(self._file, size)
                raise unwritable(self.path, error) from error

    def close(self) -> None:
        os.close(self._file)
        self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """An array as JSON has it, to the bit; infinities and NaN included."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    data = base64.b64encode(plain.tobytes()).decode("ascii")
    return {"dtype": plain.dtype.str, "shape": list(array.shape), "data": data}


def unpacked(value: Any, dtype: str) -> npt.NDArray[Any]:
    """The other way; a ValueError if it is not an array of this type."""
    if not isinstance(value, dict) or value.get("dtype") != dtype:
        raise ValueError(f"no array of type {dtype}")
    try:
        flat = np.frombuffer(base64.b64decode(value["data"], validate=True), dtype)
        return flat.reshape(value["shape"]).astype(np.dtype(dtype).newbyteorder("="))
    except (KeyError, TypeError, binascii.Error) as error:
        raise ValueError(f"a damaged array ({error})") from None


def _line_of(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, allow_nan=False, separators=(",", ":"))
    return f'{{"check":"{_checksum(text.encode())}","entry":{text}}}\n'.encode()


def _entry_of(line: bytes) -> dict[str, Any] | None:
    """The entry of a line that is whole."""
    head, middle, rest = line.partition(b'","entry":')
    if not middle or not rest.endswith(b"}\n") or head != b'{"check":"' + _checksum(rest[:-2]).encode():
        return None
    entry = json.loads(rest[:-2])
    return entry if isinstance(entry, dict) else None


def _may_be_begun(data: bytes) -> bool:
    """Whether this may be all that a killed process got down of a first line."""
    start, text = b'{"check":"', data.strip(b"\0")
    return b"\n" not in text and text[: len(start)] == start[: len(text)]


def _checksum(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8).hexdigest()
