"""Certificates: what a stranger needs to verify an answer (`parsifal.check` does it).

This module uses NumPy and nothing of the solver. The proof is a tree of records. A record stands for all supports that
agree with the decisions on the way to it, and carries a sparse w. With alpha = y - X w, beta = X'alpha,
a_j = gamma/2 beta_j^2 - penalty and the columns so far `in` or free,

    D = 1/2 |alpha|^2 + w'beta - sum_{in} a_j - (sum of the k - |in| largest positive a_j among the free columns)

bounds the objective of every one of those supports from below, for any w, whoever made it. A record may belong to
a *frame*, a set of columns (the others must be out) with a diagonal d for which X'X - diag(d) is positive semidefinite
(an entry may be slightly negative: docs/numerics.md); then beta_j = (x_j'alpha + d_j w_j) / sqrt(1 + gamma d_j) in a_j,
and the first terms are 1/2 |alpha|^2 + w'X'alpha + 1/2 sum d_j w_j^2.

A record may fix columns: j out (in) for the subtree, where the bound with j in (out) reaches the claim. Its children
are one record without a decision, or two that put the same column in and out. A record without children must reach the
claim itself, or have more than k columns in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from parsifal.archive import load_arrays
from parsifal.errors import InputError
from parsifal.storage import replacing

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FORMAT = 1
_WEIGHT_SEED = 20170917


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A claim, ``objective`` and ``lower_bound`` for a problem, and its proof.

    Attributes
    ----------
    shape, k, penalty, gamma, forced_in, forced_out : the problem.
    support, coef, objective : the solution; `coef` on the support.
    lower_bound : float
        The claim: no support has a smaller objective.
    complete : bool
        False if the proof was larger than its limit: only the claim is here, and it cannot be checked.
    fingerprint : float
        A weighted sum of X'alpha at the first record: ties the certificate to its data.
    parent, column, side, frame : int arrays, one entry a record
        The tree; ``column = -1`` where the record decides nothing, ``frame = -1`` where no frame applies.
    coef_offset, coef_index, coef_value : the sparse w of each record.
    fixed_offset, fixed_column : what each record fixes: ``1 + j`` for j in, ``-1 - j`` for j out.
    frame_offset, frame_column, frame_diagonal : the frames.
    twin_later, twin_earlier : int arrays
        Pairs of equal (or opposite) columns; the later one is in only if the earlier one is.
    """

    shape: tuple[int, int]
    k: int
    penalty: float
    gamma: float
    forced_in: IntArray
    forced_out: IntArray
    support: IntArray
    coef: FloatArray
    objective: float
    lower_bound: float
    complete: bool
    fingerprint: float
    parent: IntArray
    column: IntArray
    side: IntArray
    frame: IntArray
    coef_offset: IntArray
    coef_index: IntArray
    coef_value: FloatArray
    fixed_offset: IntArray
    fixed_column: IntArray
    frame_offset: IntArray
    frame_column: IntArray
    frame_diagonal: FloatArray
    twin_later: IntArray
    twin_earlier: IntArray

    @property
    def records(self) -> int:
        """Number of records of the proof."""
        return int(self.parent.size)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def __str__(self) -> str:
        claim = (
            f"no support of at most {self.k} of {self.shape[1]} columns has an objective below "
            f"{self.lower_bound:.10g}; this one has {self.objective:.10g}"
        )
        if not self.complete:
            return claim + " (the proof was larger than its limit and was dropped)"
        return f"{claim} (proof: {self.records} records, {self.nbytes / 1e3:.1f} kB)"

    def save(self, path: str | Path) -> None:
        """Write everything to one ``.npz`` file, without pickle, whole or not at all."""
        with replacing(path) as file:
            self.write(file)

    def write(self, file: IO[bytes]) -> None:
        """Write the archive to an open file."""
        arrays = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
        np.savez_compressed(file, allow_pickle=False, format=np.asarray(FORMAT), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read what `save` wrote; an `InputError` says what is wrong with any other file."""
        try:
            path = Path(path)
        except TypeError:
            raise InputError(f"a path is needed to read a certificate from, not {path!r}") from None
        try:
            return cls.from_arrays(load_arrays(path))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}; check the name") from error
        except ValueError as error:
            raise InputError(f"{path} is not a readable Parsifal certificate: {error}") from error

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Certificate:
        """Build a certificate from named arrays, checking that each is there and of the right kind."""
        if not isinstance(arrays, Mapping) or not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise InputError("a certificate is made from a mapping of names to arrays")
        if "format" not in arrays or arrays["format"].shape != () or int(arrays["format"]) != FORMAT:
            raise InputError(f"no certificate of format {FORMAT}")
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name not in arrays:
                raise InputError(f"{field.name} is missing")
            array = arrays[field.name]
            if field.name == "shape":
                if array.shape != (2,) or array.dtype.kind not in "iu":
                    raise InputError("shape must hold two whole numbers")
                values["shape"] = (int(array[0]), int(array[1]))
            elif field.type == "IntArray":
                if array.ndim != 1 or array.dtype.kind not in "iu":
                    raise InputError(f"{field.name} must be a vector of whole numbers")
                values[field.name] = array.astype(np.int64)
            elif field.type == "FloatArray":
                if array.ndim != 1 or array.dtype.kind != "f":
                    raise InputError(f"{field.name} must be a vector of floats")
                values[field.name] = array.astype(np.float64)
            else:
                if array.shape != ():
                    raise InputError(f"{field.name} must be a single value")
                kinds, kind = {"int": ("iu", int), "float": ("f", float), "bool": ("b", bool)}[str(field.type)]
                if array.dtype.kind not in kinds:
                    raise InputError(f"{field.name} must be of type {field.type}, not {array.dtype}")
                values[field.name] = kind(array)
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """True or false in a condition; ``reason`` names the first thing that is wrong."""

    valid: bool
    reason: str
    records: int = 0

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        return ("valid: " if self.valid else "INVALID: ") + self.reason


def response_of(y: Any, certificate: Any) -> FloatArray:
    """y as numbers; raises if it holds none, or if there is no certificate to check it against."""
    if not isinstance(certificate, Certificate):
        raise InputError(
            f"certificate must be a Certificate, not {certificate!r}; Certificate.load reads one from a file"
        )
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"y must be a vector of {certificate.shape[0]} numbers") from None


def fingerprint(beta: FloatArray) -> float:
    """A fixed pseudo-random weighting of X'alpha, which all but the smallest changes of X, y or w change."""
    weights = np.random.Generator(np.random.PCG64(_WEIGHT_SEED)).uniform(0.5, 1.5, beta.size)
    return float(weights @ beta)
