"""Forgeries of the arrays themselves: types, shapes and entries that no honest certificate has.

A certificate from a file has plain arrays. One that is handed over in memory may hold anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from forge.numbers import SPECIAL
from forge.structure import Rng

# A certificate of any kind.
Disguise = Callable[[Rng, Any], Any]

_TYPES = ("uint64", "uint64", "uint8", "int8", "int8", "int32", "bool", "object", "complex128", "float32", "float16")
_TYPES += ("float64", "longdouble", ">i8", ">f8", "U8", "S4", "datetime64[s]")
_WHOLE = (-(2**63), 2**63 - 1, -1, 0, 1, 2, -2, 127, -128, 255, 2**31, 2**32, 2**53 + 1)


class Yes(np.ndarray):
    """An array that says yes to every comparison."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(item) if isinstance(item, Yes) else item for item in inputs]
        options.pop("out", None)
        out = getattr(ufunc, method)(*plain, **options)
        if ufunc.nout == 1 and isinstance(out, np.ndarray) and out.dtype == bool:
            out = np.ones_like(out)
        return out


class Sly(float):
    """A number that says yes to every comparison."""

    def __le__(self, other: Any) -> bool:
        return True

    __lt__ = __ge__ = __gt__ = __le__


def retype(rng: Rng, c: Any) -> Any:
    """An array of another type; negative numbers may wrap."""
    name = _name(rng, c)
    try:
        with np.errstate(all="ignore"):
            return replace(c, **{name: getattr(c, name).astype(_TYPES[int(rng.integers(len(_TYPES)))])})
    except (ValueError, TypeError, OverflowError):
        return c


def unsigned_offsets(rng: Rng, c: Any) -> Any:
    """Offsets that go backwards, in a type whose differences are never negative."""
    name = str(rng.choice([name for name in arrays_of(c) if name.endswith("_offset")]))
    offsets = np.array(getattr(c, name)).astype(str(rng.choice(["uint64", "uint8"])))
    if offsets.size > 2:
        offsets[int(rng.integers(1, offsets.size - 1))] = rng.integers(0, min(int(offsets[-1]), 2**62) + 2)
    return replace(c, **{name: offsets})


def reshape(rng: Rng, c: Any) -> Any:
    """Not a vector, or not an array at all."""
    name = _name(rng, c)
    array = getattr(c, name)
    other: list[Any] = [array[None, :], array[:, None], array.tolist(), tuple(array.tolist()), None, 0, "array"]
    other += [array[0] if array.size else 0.0, np.matrix(array), np.asarray(array.tolist() or 0.0).squeeze(), {}]
    return replace(c, **{name: other[int(rng.integers(len(other)))]})


def subclass(rng: Rng, c: Any) -> Any:
    """An array with a will of its own, or one that cannot be written to, or is not contiguous."""
    name = _name(rng, c)
    array = getattr(c, name)
    kind = int(rng.integers(4))
    other: Any
    if kind == 0:
        other = array.view(Yes)
    elif kind == 1:
        other = np.ma.MaskedArray(array, mask=rng.random(array.size) < 0.5)
    elif kind == 2:
        other = array.copy()
        other.setflags(write=False)
    else:
        other = np.repeat(array, 2)[::2]
    return replace(c, **{name: other})


def masked_lie(rng: Rng, c: Any) -> Any:
    """An entry that is out of range, or special, behind a mask or among comparisons that say yes."""
    name = _name(rng, c)
    array = getattr(c, name).copy()
    if array.size == 0:
        return c
    at = int(rng.integers(array.size))
    array[at] = _entry(rng, array.dtype)
    lie = array.view(Yes) if rng.random() < 0.5 else np.ma.MaskedArray(array, mask=np.arange(array.size) == at)
    return replace(c, **{name: lie})


def change_entry(rng: Rng, c: Any) -> Any:
    """One entry of one array."""
    name = _name(rng, c)
    array = np.array(getattr(c, name))
    if array.size == 0:
        return c
    at = int(rng.integers(array.size))
    if array.dtype.kind == "i" and rng.random() < 0.6:
        with np.errstate(over="ignore"):
            array[at] += int(rng.choice([-1, 1]))
    else:
        array[at] = _entry(rng, array.dtype)
    return replace(c, **{name: array})


def change_length(rng: Rng, c: Any) -> Any:
    """One array loses an end, or gets one."""
    name = _name(rng, c)
    array = np.array(getattr(c, name))
    cuts = [array[:-1], array[1:], array[:0], np.append(array, array[-1:]), np.append(array, array), array[::-1].copy()]
    return replace(c, **{name: cuts[int(rng.integers(len(cuts)))]})


def swap(rng: Rng, c: Any) -> Any:
    """Two arrays change places."""
    a, b = _name(rng, c), _name(rng, c)
    return replace(c, **{a: getattr(c, b), b: getattr(c, a)})


def change_scalar(rng: Rng, c: Any) -> Any:
    """A single value of another kind, or none."""
    scalars = [f.name for f in fields(c) if str(f.type) in ("int", "float", "bool")]
    name = scalars[int(rng.integers(len(scalars)))]
    value = getattr(c, name)
    kinds: list[Any] = [
        np.float32,
        np.float64,
        np.asarray,
        Decimal,
        str,
        complex,
        bool,
        np.longdouble,
        Sly,
        lambda v: [v],
    ]
    kinds += [Fraction, np.int8, np.uint64, lambda v: 10**400, lambda v: None, lambda v: -v, lambda v: float(v) + 0.5]
    kinds += [lambda v: SPECIAL[int(rng.integers(len(SPECIAL)))]]
    try:
        with np.errstate(all="ignore"):
            return replace(c, **{name: kinds[int(rng.integers(len(kinds)))](value)})
    except (ValueError, TypeError, ArithmeticError):
        return c


def change_shape(rng: Rng, c: Any) -> Any:
    """Other numbers of rows and columns."""
    shape = getattr(c, "shape", None)
    if [type(size) for size in (shape if isinstance(shape, tuple) else ())] != [int, int]:
        return c
    n, p = c.shape
    shapes: list[Any] = [
        (p, n),
        (n, p + 1),
        (n, p - 1),
        (n + 1, p),
        (n, p + 1000),
        (0, p),
        (n, 0),
        (n, p, 1),
        (n,),
        [n, p],
    ]
    shapes += [
        (-n, p),
        (float(n), float(p)),
        None,
        tuple(np.array([n, p]).astype(np.int8)),
        (n, math.nan),
        tuple(np.array([n, p]).astype(np.uint64)),
    ]
    return replace(c, shape=shapes[int(rng.integers(len(shapes)))])


DISGUISES: tuple[Disguise, ...] = (
    *(retype, retype, unsigned_offsets, reshape, subclass, masked_lie),
    *(change_entry, change_entry, change_length, swap, change_scalar, change_scalar, change_shape),
)


def arrays_of(c: Any) -> list[str]:
    """The names of a certificate's arrays."""
    return [f.name for f in fields(c) if str(f.type) in ("IntArray", "FloatArray")]


def _name(rng: Rng, c: Any) -> str:
    names = arrays_of(c)
    return names[int(rng.integers(len(names)))]


def _entry(rng: Rng, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return SPECIAL[int(rng.integers(len(SPECIAL)))]
    if dtype.kind not in "iu":
        return 0
    limits = np.iinfo(dtype)
    return min(max(_WHOLE[int(rng.integers(len(_WHOLE)))], int(limits.min)), int(limits.max))
