"""Changes of good bytes: of the bytes, of the arrays inside an archive, and of the values inside JSON."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from typing import Any

import numpy as np

from fuzz.targets import archive_of, arrays_of

_INTERESTING = [0, 1, -1, 2, 3, 7, 8, 9, 11, 12, 13, 127, -128, 255, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"), 2.0]
_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    0.5,
    -1e308,
    1e400,
    10**30,
    "",
    "a",
    "y",
    "\ud800",
    "\x00",
    "é" * 50,
]
_VALUES += [[], {}, [[]], [None], {"": None}, "../x", "nan", float("nan"), float("inf"), "1" * 5000]


def mutate_bytes(rng: random.Random, content: bytes) -> bytes:
    """Flip, overwrite, cut, repeat or move a few bytes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            number = struct.pack(rng.choice(["<i", "<q", ">i"]), rng.choice(_INTERESTING[:16]))
            data[at : at + len(number)] = number
        elif kind == 3:
            del data[at : at + rng.choice([1, 4, 100, len(data)])]
        elif kind == 4:
            data[at:at] = data[at : at + rng.choice([1, 4, 64])] * rng.choice([1, 2, 50])
        else:
            data[at:at] = rng.randbytes(rng.choice([1, 4, 64]))
    return bytes(data)


def mutate_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """Change entries, length, shape or type of an array."""
    kind = rng.randrange(8)
    if kind <= 3 and array.size and array.dtype.kind in "fiub":
        out = array.copy()
        flat = out.reshape(-1)
        for _ in range(rng.choice([1, 1, 3])):
            at = rng.randrange(flat.size)
            if array.dtype.kind == "f":
                flat[at] = rng.choice([*_FLOATS, flat[at] * (1 + rng.choice([1e-9, 1e-3, -0.1])), -flat[at]])
            elif array.dtype.kind == "b":
                flat[at] = not flat[at]
            else:
                near = int(flat[at]) + rng.choice([-1, 1])
                info = np.iinfo(array.dtype)
                flat[at] = min(max(rng.choice([*_INTERESTING, near, near]), info.min), info.max)
        return out
    if kind == 4:
        return array.reshape(-1)[: rng.randrange(array.size + 1)]
    if kind == 5:
        return np.concatenate([array.reshape(-1), array.reshape(-1)[: rng.randrange(array.size + 1)]])
    if kind == 6:
        return (
            array.astype(rng.choice(["f8", "i8", "i1", "u8", "f4", "U5"])) if array.dtype.kind in "iub" else array[None]
        )
    return np.asarray(array.reshape(-1)[0]) if array.size else np.zeros(3)


def mutate_archive(rng: random.Random, content: bytes) -> bytes:
    """Change, drop, rename or exchange arrays of a sound archive."""
    arrays = arrays_of(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        name = rng.choice(sorted(arrays))
        kind = rng.randrange(10)
        if kind == 0:
            del arrays[name]
        elif kind == 1:
            arrays[name] = arrays[rng.choice(sorted(arrays))]
        else:
            with np.errstate(all="ignore"):
                arrays[name] = mutate_array(rng, arrays[name])
        if not arrays:
            break
    return archive_of(arrays)


def mutate_json(rng: random.Random, content: bytes) -> bytes:
    """Replace, drop or double a value of sound JSON."""
    value = json.loads(content)
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []:
            places.append((node, key))
            walk(node[key])

    walk(value)
    for _ in range(rng.choice([1, 1, 2])):
        node, key = rng.choice(places)
        if isinstance(node, dict) and rng.random() < 0.15:
            node.pop(key, None)
        elif isinstance(node, list) and rng.random() < 0.3 and node:
            node.append(rng.choice(node))
        elif not isinstance(node, list) or key < len(node):
            node[key] = rng.choice(_VALUES)
    text = json.dumps(value)
    if rng.random() < 0.1:
        text = text.replace(":", ":" + "[" * rng.choice([10, 100_000]), 1)
    if rng.random() < 0.1:
        text = text.replace("{", '{"format": 1, "format": "parsifal-model",', 1)
    return text.encode()


def mutate(rng: random.Random, content: bytes, good: bytes) -> bytes:
    """A change that suits the content; now and then from the good bytes anew."""
    start = good if rng.random() < 0.2 else content
    try:
        if start[:2] == b"PK" and rng.random() < 0.8:
            return mutate_archive(rng, start)
        if start[:1] == b"{" and rng.random() < 0.7:
            first, newline, rest = start.partition(b"\n") if start.count(b'{"experiment"') > 1 else (start, b"", b"")
            return mutate_json(rng, first) + newline + rest
    except Exception:  # what was changed before may be no archive and no JSON any more
        pass
    return mutate_bytes(rng, start)


def bomb(size: int) -> bytes:
    """An archive of a few kilobytes that unpacks to `size` bytes."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as out,
    ):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "<f8", "fortran_order": False, "shape": (size // 8 // 10, 10)}
        )
        out.write(header.getvalue())
        block = bytes(1 << 20)
        for _ in range(size >> 20):
            out.write(block)
    return file.getvalue()
