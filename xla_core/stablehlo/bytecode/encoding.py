"""Reads the primitives of MLIR bytecode: bytes, varints, lists and blobs. Errors name the byte.

Source: MLIR docs/BytecodeFormat.md, "Primitives" and "Sections".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from xla_core.errors import InvalidArgumentError, SourceLocation

MAGIC = b"ML\xefR"

SHORT = [byte >> 1 if byte & 1 else None for byte in range(256)]
"""The value of an unsigned integer by its first byte; None if the integer has more bytes."""

_T = TypeVar("_T")

_ALIGNMENT_BYTE = 0xCB
_HAS_ALIGNMENT = 0x80
_UINT64 = struct.Struct("<Q").unpack_from
_DOUBLE = struct.Struct("<d").unpack
_PACK = struct.Struct("<Q").pack
_SHORT: Any = re.compile(rb"[%s]*" % re.escape(bytes(range(1, 256, 2)))).match  # varints of one byte
_MANY = 16
_HALVES = bytes(byte >> 1 for byte in range(256))


class ByteReader:
    """Reads `data` from `position` up to `end`; positions are offsets from the start of the file."""

    __slots__ = ("data", "end", "file", "position")

    def __init__(self, data: bytes, file: str, position: int = 0, end: int | None = None) -> None:
        self.data = data
        self.file = file
        self.position = position
        self.end = len(data) if end is None else end

    def error(self, message: str, offset: int | None = None) -> InvalidArgumentError:
        """Returns the error to raise for the byte at `offset`, by default the current position."""
        place = self.position if offset is None else offset
        return InvalidArgumentError(
            f"MLIR bytecode, byte {place}: {message}",
            location=SourceLocation(self.file),
            hint="the file is damaged, or isn't MLIR bytecode",
        )

    def byte(self) -> int:
        position = self.position
        if position >= self.end:
            raise self.error("the data end here")
        self.position = position + 1
        return self.data[position]

    def varint(self) -> int:
        """Reads an unsigned integer of 1 to 9 bytes, little endian.

        The lowest bits of the first byte are a zero for each further byte and then a one; the value's bits follow.
        """
        position = self.position
        if position >= self.end:
            raise self.error("the data end here")
        first = self.data[position]
        short = SHORT[first]
        if short is not None:
            self.position = position + 1
            return short
        if first & 2 and position + 1 < self.end:
            self.position = position + 2
            return first >> 2 | self.data[position + 1] << 6
        size = (first & -first).bit_length() if first else 9
        if position + size > self.end:
            raise self.error("the data end within an integer")
        self.position = position + size
        if size == 9:
            value: int = _UINT64(self.data, position + 1)[0]
            return value
        return int.from_bytes(self.data[position : position + size], "little") >> size

    def varints(self, count: int) -> list[int]:
        """Reads `count` unsigned integers. Many integers are read in runs of one-byte integers, which is faster."""
        if count < _MANY:
            varint = self.varint
            return [varint() for _ in range(count)]
        found: list[int] = []
        while (missing := count - len(found)) > 0:
            start = self.position
            self.position = end = _SHORT(self.data, start, min(self.end, start + missing)).end()
            found += self.data[start:end].translate(_HALVES)
            if end - start < missing:
                found.append(self.varint())
        return found

    def signed(self) -> int:
        """Reads a signed integer in zigzag encoding: the lowest bit is the sign."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """Reads a varint with a flag in its lowest bit. Returns the rest and the flag."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self) -> int:
        """Reads a number of entries. Each entry takes at least a byte, so more entries than bytes left are an error."""
        start = self.position
        count = self.varint()
        if count > self.end - self.position:
            raise self.error(f"{count} entries can't be in {self.end - self.position} bytes", start)
        return count

    def list_of(self, read: Callable[[], _T]) -> list[_T]:
        """Reads a count, then calls `read` for each entry."""
        return [read() for _ in range(self.count())]

    def integers(self) -> tuple[int, ...]:
        """Reads a count, then that many signed integers."""
        return tuple([self.signed() for _ in range(self.count())])

    def span(self, size: int, what: str = "data") -> int:
        """Moves over `size` bytes and returns the position of the first. `what` names them in errors."""
        start = self.position
        if size > self.end - start:
            raise self.error(f"{what} of {size} bytes, but only {self.end - start} are left")
        self.position = start + size
        return start

    def blob(self) -> tuple[int, int]:
        """Reads a size and moves over that many bytes. Returns their (offset, size)."""
        size = self.varint()
        return self.span(size), size

    def align(self, alignment: int) -> None:
        """Moves over padding to the next multiple of `alignment` bytes from the start of the file."""
        if alignment <= 0 or alignment & (alignment - 1):
            raise self.error(f"the alignment {alignment} is not a power of two")
        padding = -self.position % alignment
        start = self.span(padding, "padding")
        if self.data[start : start + padding].count(_ALIGNMENT_BYTE) != padding:
            raise self.error("padding bytes must be 0xCB", start)

    def text_until_null(self) -> str:
        """Reads a string that ends with a zero byte."""
        end = self.data.find(b"\0", self.position, self.end)
        if end < 0:
            raise self.error("unterminated string")
        raw = self.data[self.position : end]
        self.position = end + 1
        return raw.decode("utf-8", "surrogateescape")

    def section(self) -> tuple[int, ByteReader]:
        """Reads a section's header. Returns the section's number and a reader of its contents."""
        number = self.byte()
        size = self.varint()
        if number & _HAS_ALIGNMENT:
            self.align(self.varint())
        start = self.span(size, "a section")
        return number & ~_HAS_ALIGNMENT, ByteReader(self.data, self.file, start, start + size)

    def bits(self, width: int) -> int:
        """Reads an integer or float of `width` bits as an unsigned integer of its bits."""
        if width <= 8:
            return self.byte() & ((1 << width) - 1)
        if width <= 64:
            return self.signed() & ((1 << width) - 1)
        value = 0
        for i in range(self.count()):
            value |= (self.signed() & ((1 << 64) - 1)) << (64 * i)
        return value & ((1 << width) - 1)

    def double(self) -> float:
        value: float = _DOUBLE(_PACK(self.bits(64)))[0]
        return value


def wrap_bits(value: int, width: int) -> int:
    """Converts `width` unsigned bits to the signed integer in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value
