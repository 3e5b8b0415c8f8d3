"""Protobuf's wire format, in which a message is a list of (field number, value). (protobuf.dev: Encoding.)"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from xla_core.errors import InvalidArgumentError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Message:
    """A message, decoded one level deep; submessages are decoded when they are accessed.

    An accessor's `path` is a field number, or the field numbers that lead to a field of a submessage. An absent field
    reads as protobuf's default: 0 or empty.

    Raises:
        InvalidArgumentError: for bytes that are not a message, and by an accessor for a field of another wire type.
    """

    __slots__ = ("_fields",)

    def __init__(self, data: bytes | memoryview = b"") -> None:
        self._fields: dict[int, list[int | memoryview]] = {}
        for number, value in _decode(memoryview(data)):
            self._fields.setdefault(number, []).append(value)

    def has(self, *path: int) -> bool:
        message, number = self._at(path)
        return number in message._fields

    def integer(self, *path: int) -> int:
        """Returns an int64, int32, enum or bool."""
        message, number = self._at(path)
        value = message._fields.get(number, [0])[-1]
        if not isinstance(value, int):
            raise _wrong_type(number, "an integer")
        return _signed(value)

    def integers(self, *path: int) -> tuple[int, ...]:
        """Returns a repeated integer, packed or not."""
        return tuple(self.array(*path).tolist())

    def array(self, *path: int) -> np.ndarray:
        """Returns a repeated integer as an array: int64 (n,)."""
        message, number = self._at(path)
        parts = [
            np.array([_signed(value)], np.int64) if isinstance(value, int) else _varints(value)
            for value in message._fields.get(number, ())
        ]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])

    def real(self, *path: int) -> float:
        """Returns a float as a Python float of the same value."""
        data = self.fixed(*path, width=4)
        value: float = struct.unpack("<f", data[-4:])[0] if data else 0.0
        return value

    def fixed(self, *path: int, width: int) -> bytes:
        """Returns the bytes of a float or double, repeated or not: `width` (4 or 8) bytes each, little endian."""
        message, number = self._at(path)
        values = message._fields.get(number, ())
        data = b"".join(v.to_bytes(width, "little") if isinstance(v, int) else bytes(v) for v in values)
        if len(data) % width:
            raise _wrong_type(number, f"a list of {width}-byte numbers")
        return data

    def data(self, *path: int) -> memoryview:
        """Returns a string or bytes without a copy."""
        message, number = self._at(path)
        value = message._fields.get(number, [memoryview(b"")])[-1]
        if isinstance(value, int):
            raise _wrong_type(number, "a string")
        return value

    def text(self, *path: int) -> str:
        """Returns a string; bytes that are not UTF-8 become surrogates, as in `os.fsdecode`."""
        return text_of(self.data(*path))

    def message(self, *path: int) -> Message:
        """Returns a submessage, which is empty if absent."""
        return Message(self.data(*path))

    def messages(self, *path: int) -> Iterator[Message]:
        for value in self.strings(*path):
            yield Message(value)

    def strings(self, *path: int) -> Iterator[memoryview]:
        """Yields a repeated string, bytes or undecoded submessage."""
        message, number = self._at(path)
        for value in message._fields.get(number, ()):
            if isinstance(value, int):
                raise _wrong_type(number, "a message")
            yield value

    def _at(self, path: tuple[int, ...]) -> tuple[Message, int]:
        message = self
        for number in path[:-1]:
            message = message.message(number)
        return message, path[-1]


def text_of(data: memoryview) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


def _decode(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise InvalidArgumentError(f"malformed protobuf message: field number 0 before byte {position}")
        if wire_type == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire_type == _BYTES:
            size, position = _varint(data, position)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise InvalidArgumentError(f"malformed protobuf message: wire type {wire_type} before byte {position}")
        if size > len(data) - position:
            raise InvalidArgumentError(
                f"truncated protobuf message: field {number} has {size} bytes at byte {position}, where "
                f"{len(data) - position} are left"
            )
        yield number, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position == len(data):
            raise InvalidArgumentError(f"truncated protobuf message: an integer ends at byte {position}")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise InvalidArgumentError(f"malformed protobuf message: an integer of more than 10 bytes at byte {position}")


def _varints(data: memoryview) -> np.ndarray:
    """Decodes a packed list to int64 (n,). It uses numpy, because constants have millions of integers."""
    array = np.frombuffer(data, np.uint8)
    if array.size == 0:
        return np.empty(0, np.int64)
    ends = np.flatnonzero(array < 0x80)
    if ends.size == 0 or ends[-1] != array.size - 1:
        raise InvalidArgumentError("truncated protobuf message: a packed list ends within an integer")
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    longest = int(lengths.max())
    if longest > 10:
        raise InvalidArgumentError("malformed protobuf message: an integer of more than 10 bytes in a packed list")
    values = np.zeros(ends.size, np.uint64)
    for i in range(longest):
        has = lengths > i
        values[has] |= (array[starts[has] + i] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * i)
    return values.astype(np.int64)


def _signed(value: int) -> int:
    """Converts from the two's complement of 64 bits, in which the wire format has negative integers."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _wrong_type(number: int, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"malformed protobuf message: field {number} is not {expected}")


def write_field(number: int, value: int | str | bytes) -> bytes:
    """Writes a field: an integer that isn't negative, a string, or the bytes of a submessage or of packed integers."""
    if isinstance(value, int):
        return write_varint(number << 3 | _VARINT) + write_varint(value)
    data = value.encode() if isinstance(value, str) else value
    return write_varint(number << 3 | _BYTES) + write_varint(len(data)) + data


def write_varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)
