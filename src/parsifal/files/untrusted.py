"""Reading files that anyone may have made: arrays in archives and JSON, without pickle, within bounds, or an error.

Memory stays in proportion to the file. A header's promise is compared with the bytes that are there before anything is
allocated for it, and what is compressed may not unpack to far more than arrays of numbers do, unless the environment
variable PARSIFAL_READ_LIMIT (bytes) allows it.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from parsifal.errors import DataError, InputError

# What a file may unpack to: so many bytes in any case, beyond that so many times its size.
_FREE, _RATIO = 1 << 26, 100
_OVERRIDE = "PARSIFAL_READ_LIMIT"
_MOST_ARRAYS = 10_000
_HEADER = 10_000  # characters of an array's header
_PIECE = 1 << 20


class Unreadable(ValueError):
    """A file is not what it should be; the message says how, the caller which file."""


class TooLarge(Unreadable):
    """A file would take memory out of proportion to its size: `needed` bytes, or more."""

    def __init__(self, size: int, needed: int) -> None:
        super().__init__(f"it has {size} bytes and would unpack to {needed}; {how_to_allow(needed)}")
        self.needed = needed


def load_arrays(
    path: str | os.PathLike[str], *, limit: int | None = None, itemsize: int = 1
) -> dict[str, npt.NDArray[Any]]:
    """Read all arrays of an ``.npz`` archive.

    Parameters
    ----------
    path : path
        What `numpy.savez` or `numpy.savez_compressed` wrote.
    limit : int, optional
        Bytes that the arrays may take, instead of what is in proportion to the file.
    itemsize : int
        Bytes that an entry takes at least, once the caller has converted it to the type that it needs.

    Returns
    -------
    dict
        Arrays of numbers, booleans or text by name.

    Raises
    ------
    Unreadable
        If the file is anything else, or is damaged.
    TooLarge
        If the arrays would take more than the limit.
    OSError
        If it cannot be opened.
    """
    size = os.stat(path).st_size
    most = unpacked_limit(size) if limit is None else limit
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if len(members) > _MOST_ARRAYS:
                    raise Unreadable(f"it holds {len(members)} arrays")
                total = sum(member.file_size for member in members)
                arrays: dict[str, npt.NDArray[Any]] = {}
                if total <= most:
                    arrays = dict(_read_members(archive, members))
                    total = sum(array.size * max(array.itemsize, itemsize) for array in arrays.values())
                if total > most:
                    raise TooLarge(size, total)
                return arrays
        except Unreadable:
            raise
        except OSError:
            raise
        except Exception as error:  # zipfile, zlib and NumPy's header parser raise many kinds for damaged bytes
            if not _looks_like_zip(path):
                raise Unreadable("not an archive") from error
            raise Unreadable(f"the archive is damaged ({_first_line(error)})") from error


def _looks_like_zip(path: str | os.PathLike[str]) -> bool:
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile:  # of a kind that the library does not read
        return True


def unpacked_limit(size: int) -> int:
    """Bytes that a file of this size may unpack to: 64 MB, a hundred times its size, or what the user allows."""
    return max(_FREE, _RATIO * size, _allowed())


def how_to_allow(needed: int) -> str:
    """What to do about a file that unpacks to more, if it is to be read."""
    return f"if it can be trusted, set {_OVERRIDE}={needed} (bytes) in the environment"


def check_unpacked(path: str | os.PathLike[str], needed: int) -> None:
    """Raise if a file would take memory out of proportion to its size."""
    size = os.stat(path).st_size
    if needed > unpacked_limit(size):
        raise DataError(f"{path} has {size} bytes and would take {needed} of memory; {how_to_allow(needed)}")


def _allowed() -> int:
    word = os.environ.get(_OVERRIDE, "").strip()
    if not word:
        return 0
    try:
        allowed = float(word)
    except ValueError:
        allowed = math.nan
    if not 0 <= allowed <= 1e18:
        raise InputError(f"{_OVERRIDE} is {word!r}; it must be a number of bytes, e.g. 8e9")
    return int(allowed)


def _read_members(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    seen: set[str] = set()
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name == member.filename or name in seen:
            raise Unreadable(f"{member.filename!r} is no array, or is there twice")
        seen.add(name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable(f"{member.filename!r} is compressed in a way that NumPy does not write")
        with archive.open(member) as stream:
            # Not more than the directory says, whatever the compressed bytes go on to.
            data = _at_most(stream, member.file_size)
        yield name, read_array(data, name)


def _at_most(stream: IO[bytes], size: int) -> bytearray:
    data = bytearray()
    while len(data) < size:
        part = stream.read(min(size - len(data), _PIECE))
        if not part:
            break
        data += part
    if len(data) < size or stream.read(1):
        raise Unreadable("a member is not as long as the directory says")
    return data


def read_array(data: bytearray, name: str) -> npt.NDArray[Any]:
    """An array from the bytes of an ``.npy`` file; its header must promise exactly what follows it."""
    file = io.BytesIO(data[: _HEADER + 20])
    shape, fortran, dtype = read_npy_header(file)
    if dtype.kind not in "fiubU" or dtype.subdtype is not None:
        raise Unreadable(f"{name} holds {dtype}, not numbers or text")
    needed = math.prod(shape) * dtype.itemsize
    if needed != len(data) - file.tell():
        raise Unreadable(f"{name} promises shape {shape} of {dtype}, and has {len(data) - file.tell()} bytes")
    if dtype.itemsize == 0 or needed == 0:
        return np.zeros(shape if math.prod(shape) == 0 else (), dtype)
    array = np.frombuffer(data, dtype, offset=file.tell())
    array = array.reshape(shape, order="F" if fortran else "C")
    # What is aligned and in the machine's byte order stays where it is.
    return np.require(array, dtype.newbyteorder("="), ["A", "W"])


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and type of an ``.npy`` file; never of Python objects."""
    form = np.lib.format
    try:
        version = form.read_magic(file)
        # Version 3 is for names of fields, which arrays of numbers do not have.
        if version not in ((1, 0), (2, 0)):
            raise Unreadable(f"version {version} of NumPy's format")
        reader = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        shape, fortran, dtype = reader(file, max_header_size=_HEADER)
    except Unreadable:
        raise
    except Exception as error:  # the header is a Python literal, whose parser has errors of many kinds
        raise Unreadable(_first_line(error)) from error
    if dtype.hasobject:
        raise Unreadable("it holds Python objects, which are never read; save numbers, e.g. X.astype(float)")
    if any(size < 0 for size in shape):
        raise Unreadable(f"an array of {dtype} and shape {shape}")
    return shape, bool(fortran), dtype


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """Parse JSON; nesting without end, a key twice and (with `finite`) NaN or an infinity are errors.

    Raises
    ------
    Unreadable
        If the text is no JSON, or not such.
    """
    try:
        if not finite:
            return json.loads(text, object_pairs_hook=_unique)
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_number)
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(_first_line(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unreadable("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is no number of JSON")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Unreadable(f"{text[:30]} is too large a number")
    return value


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")[:200]
