"""Certificates in files: one archive of plain arrays, written whole or not at all, read as if anyone had made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from parsifal.errors import InputError
from parsifal.files.atomic import replacing
from parsifal.files.untrusted import TooLarge, load_arrays

Arrays = Mapping[str, npt.NDArray[Any]]
Kind = TypeVar("Kind", bound="Filed")


class Filed:
    """A dataclass of arrays and single values that can be written to a file and read from it."""

    format: ClassVar[int]

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def save(self, path: str | Path) -> None:
        """Write everything to one ``.npz`` file, without pickle, whole or not at all."""
        with replacing(path) as file:
            self.write(file)

    def write(self, file: IO[bytes]) -> None:
        """Write the archive to an open file."""
        arrays = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]
        np.savez_compressed(file, allow_pickle=False, **self._heading(), **arrays)

    @classmethod
    def load(cls: type[Kind], path: str | Path, *, limit: float | None = None) -> Kind:
        """Read what `save` wrote; an `InputError` says what is wrong with any other file.

        Parameters
        ----------
        path : str or path
            The file.
        limit : float, optional
            Bytes that the arrays may take in memory; 64 MB or a hundred times the file's size by default. Reading takes
            twice as much for a moment.
        """
        try:
            path = Path(path)
        except TypeError:
            raise InputError(f"a path is needed to read a certificate from, not {path!r}") from None
        number = isinstance(limit, (int, float, np.integer, np.floating)) and not isinstance(limit, bool)
        if limit is not None and not (number and 0 < limit < 1e18):
            raise InputError(f"limit must be a number of bytes > 0, not {limit!r}")
        try:
            return cls.from_arrays(load_arrays(path, limit=None if limit is None else int(limit), itemsize=8))
        except FileNotFoundError:
            raise
        except TooLarge as error:
            raise InputError(
                f"{path} is not a readable Parsifal certificate: it would take {error.needed} bytes of memory or more; "
                f"if it can be trusted, {cls.__name__}.load(path, limit={error.needed}) reads it"
            ) from error
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}; check the name") from error
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parsifal certificate: {error}") from error

    @classmethod
    def from_arrays(cls: type[Kind], arrays: Arrays) -> Kind:
        """Build a certificate from named arrays, checking that each is there and of the right kind."""
        if not isinstance(arrays, Mapping) or not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise InputError("a certificate is made from a mapping of names to arrays")
        known = cls._known(arrays)
        return cls(**{field.name: _value(field.name, str(field.type), known) for field in fields(cls)})  # type: ignore[arg-type]

    def _heading(self) -> dict[str, npt.NDArray[Any]]:
        """What the file says of itself besides the fields."""
        return {"format": np.asarray(self.format)}

    @classmethod
    def _known(cls, arrays: Arrays) -> Arrays:
        """The arrays of a file of this kind, those of an earlier format completed; raises for any other file."""
        raise NotImplementedError


def _value(name: str, kind: str, arrays: Arrays) -> Any:
    """One field as its annotation says."""
    if name not in arrays:
        raise InputError(f"{name} is missing")
    array = arrays[name]
    if kind == "tuple[int, int]":
        if array.shape != (2,) or array.dtype.kind not in "iu":
            raise InputError(f"{name} must hold two whole numbers")
        return (int(array[0]), int(array[1]))
    if kind in ("IntArray", "FloatArray"):
        whole = kind == "IntArray"
        if array.ndim != 1 or array.dtype.kind not in ("iu" if whole else "f"):
            raise InputError(f"{name} must be a vector of {'whole numbers' if whole else 'floats'}")
        return array.astype(np.int64 if whole else np.float64)
    if array.shape != ():
        raise InputError(f"{name} must be a single value")
    kinds, convert = {"int": ("iu", int), "float": ("f", float), "bool": ("b", bool)}[kind]
    if array.dtype.kind not in kinds:
        raise InputError(f"{name} must be of type {kind}, not {array.dtype}")
    return convert(array)
