"""What an Arrow file unpacks to, read off its metadata before anything is unpacked.

A file is a stream of messages, or (after the word ARROW1) messages that a footer points to. A message with data names
its buffers; a compressed buffer begins with its length when unpacked, which is what the library allocates for it and
insists on. Metadata are flatbuffers, of which the few fields that matter are looked up by hand (format/Message.fbs).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from parsifal.files.untrusted import Unreadable

_MAGIC = b"ARROW1"
_FIRST = b"FEA1"  # the first version of Feather, which does not compress
_EARLY = b"ARROW:experimental_compression"  # how version 0.17 said that a message is compressed
_DICTIONARY, _BATCH = 2, 3  # kinds of messages


def unpacked_size(path: Path) -> int:
    """Bytes that the buffers of an Arrow file or stream take when unpacked; at least eight for every entry."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            if data[:4] == _FIRST:
                return len(data)
            places = _by_footer(data) if data[:6] == _MAGIC else _one_after_the_other(data)
            return sum(_message_size(data, at) for at in places)
        except (struct.error, IndexError, OverflowError) as error:
            raise Unreadable(f"its metadata are damaged ({error})") from error


def _by_footer(data: mmap.mmap) -> Iterator[int]:
    (length,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = _Table.root(data, len(data) - 10 - length)
    for field in (2, 3):
        start, count = footer.vector(field)
        for number in range(count):
            yield int(struct.unpack_from("<q", data, start + 24 * number)[0])


def _one_after_the_other(data: mmap.mmap) -> Iterator[int]:
    at = 0
    while at + 8 <= len(data):
        start, length = _frame(data, at)
        if length == 0:
            return
        yield at
        body = _Table.root(data, start).long(3)
        if length < 0 or body < 0:
            raise Unreadable("a message of a negative length")
        at = start + length + body


def _frame(data: mmap.mmap, at: int) -> tuple[int, int]:
    """Where a message's metadata start, and how long they are; the first word is -1 since version 0.15."""
    first, second = struct.unpack_from("<ii", data, at)
    return (at + 8, second) if first == -1 else (at + 4, first)


def _message_size(data: mmap.mmap, at: int) -> int:
    start, length = _frame(data, at)
    message = _Table.root(data, start)
    kind = message.byte(1)
    if kind not in (_DICTIONARY, _BATCH):
        return 0
    batch = message.table(2)
    if kind == _DICTIONARY:
        batch = batch.table(1)
    nodes, columns = batch.vector(1)
    buffers, count = batch.vector(2)
    if columns * 16 > len(data) or count * 16 > len(data):
        raise Unreadable("it names more buffers than it has room for")
    entries = sum(struct.unpack_from("<q", data, nodes + 16 * number)[0] for number in range(columns))
    stored = (struct.unpack_from("<qq", data, buffers + 16 * number) for number in range(count))
    compressed = batch.place(3) is not None or _EARLY in data[start : start + max(length, 0)]
    body = start + length
    size = sum(_buffer_size(data, body + offset, size, compressed) for offset, size in stored)
    return int(max(size, 8 * entries))


def _buffer_size(data: mmap.mmap, at: int, size: int, compressed: bool) -> int:
    if not compressed or size < 8:
        return max(size, 0)
    (unpacked,) = struct.unpack_from("<q", data, at)
    # -1 stands before a buffer that is stored as it is.
    return size - 8 if unpacked == -1 else max(int(unpacked), 0)


class _Table:
    """A table of a flatbuffer: fields by number, each at an offset that a list before the table gives."""

    def __init__(self, data: mmap.mmap, at: int) -> None:
        if at < 0:
            raise Unreadable("its metadata point outside the file")
        self.data, self.at = data, at
        self.fields: int = at - struct.unpack_from("<i", data, at)[0]
        self.size: int = struct.unpack_from("<H", data, self.fields)[0]
        if self.fields < 0:
            raise Unreadable("its metadata point outside the file")

    @classmethod
    def root(cls, data: mmap.mmap, at: int) -> _Table:
        return cls(data, at + struct.unpack_from("<I", data, at)[0])

    def place(self, field: int) -> int | None:
        """Where a field is, None if it is not there and has its default."""
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < self.size else 0
        return self.at + int(offset) if offset else None

    def byte(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else self.data[at]

    def long(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else int(struct.unpack_from("<q", self.data, at)[0])

    def table(self, field: int) -> _Table:
        at = self.place(field)
        if at is None:
            raise Unreadable("a part of its metadata is missing")
        return _Table.root(self.data, at)

    def vector(self, field: int) -> tuple[int, int]:
        """Where the entries of a list start, and how many there are."""
        at = self.place(field)
        if at is None:
            return 0, 0
        at += int(struct.unpack_from("<I", self.data, at)[0])
        return at + 4, int(struct.unpack_from("<I", self.data, at)[0])
