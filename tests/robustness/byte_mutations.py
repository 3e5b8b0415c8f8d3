"""Seeded mutations of MLIR bytecode: bits and bytes anywhere, and numbers, lengths and pieces of its sections."""

from __future__ import annotations

import random
from collections.abc import Callable

EXTREMES = [0, 1, 2, 127, 128, 255, 1 << 14, 1 << 21, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 48, 1 << 60, (1 << 63) - 1, (1 << 64) - 1]  # fmt: skip
NEVER_ENDING = [b"\0" * 40, b"\xff" * 40, b"\x80" * 40, b"\0\xff" * 20]

Mutator = Callable[[bytearray, random.Random], None]


def varint(value: int) -> bytes:
    """MLIR's PrefixVarInt: the number of trailing zeros of the first byte is the number of bytes that follow."""
    for size in range(1, 9):
        if value < 1 << (7 * size):
            return ((value << size) | (1 << (size - 1))).to_bytes(size, "little")
    return b"\0" + value.to_bytes(8, "little")


def _read_varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """(value, end); raises IndexError past the end."""
    first = data[at]
    size = 9 if first == 0 else (first & -first).bit_length()
    if at + size > len(data):
        raise IndexError(at)
    raw = int.from_bytes(data[at : at + size], "little")
    return (raw >> 8 if size == 9 else raw >> size), at + size


def sections(data: bytes | bytearray) -> list[tuple[int, int, int]]:
    """(start of the length, start, end) of each section's content, as far as the file can be followed."""
    found = []
    try:
        at = data.index(0, 4) + 1  # the magic number, a version and the producer's name
        while at < len(data):
            is_aligned = data[at] & 0x80
            length_at = at + 1
            length, at = _read_varint(data, length_at)
            if is_aligned:
                alignment, at = _read_varint(data, at)
                at += -at % max(alignment, 1)
            found.append((length_at, at, min(at + length, len(data))))
            at += length
    except (IndexError, ValueError):
        pass  # a mutant: what was found before is enough
    return found


def _place(data: bytearray, rng: random.Random) -> int:
    """Chooses a byte. All sections are equally likely, because the small ones contain the tables."""
    spans = [(start, end) for _, start, end in sections(data) if end > start]
    start, end = rng.choice([*spans, (0, len(data))])
    return rng.randrange(start, end)


def flip_bit(data: bytearray, rng: random.Random) -> None:
    data[_place(data, rng)] ^= 1 << rng.randrange(8)


def another_byte(data: bytearray, rng: random.Random) -> None:
    data[_place(data, rng)] = rng.randrange(256)


def next_byte(data: bytearray, rng: random.Random) -> None:
    """Changes a small number by one or two, so that it names another string, type, attribute or value."""
    at = _place(data, rng)
    data[at] = (data[at] + rng.choice((-4, -2, 2, 4))) % 256


def copy_byte(data: bytearray, rng: random.Random) -> None:
    data[_place(data, rng)] = data[_place(data, rng)]


def extreme_varint(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    try:
        end = _read_varint(data, at)[1]
    except IndexError:
        end = len(data)
    data[at:end] = varint(rng.choice(EXTREMES))


def endless_varint(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    data[at:at] = rng.choice(NEVER_ENDING)


def cut(data: bytearray, rng: random.Random) -> None:
    del data[_place(data, rng) :]


def drop_piece(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    del data[at : at + rng.choice((1, 1, 2, 4, 8, 64, 512))]


def double_piece(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    data[at:at] = data[at : at + rng.choice((1, 1, 2, 4, 8, 64, 512))]


def move_piece(data: bytearray, rng: random.Random) -> None:
    source, target, size = _place(data, rng), _place(data, rng), rng.choice((1, 2, 4, 8, 64))
    data[target : target + size] = data[source : source + size]


def section_length(data: bytearray, rng: random.Random) -> None:
    found = sections(data)
    if not found:
        return
    at, start, end = rng.choice(found)
    length = rng.choice((0, end - start - 1, end - start + 1, rng.choice(EXTREMES)))
    data[at : _read_varint(data, at)[1]] = varint(max(length, 0))


def swap_sections(data: bytearray, rng: random.Random) -> None:
    found = sections(data)
    if len(found) < 2:
        return
    (_, a, a_end), (_, b, b_end) = sorted(rng.sample(found, 2))
    data[:] = data[:a] + data[b:b_end] + data[a_end:b] + data[a:a_end] + data[b_end:]


def drop_section(data: bytearray, rng: random.Random) -> None:
    found = sections(data)
    if found:
        length_at, _, end = rng.choice(found)
        del data[length_at - 1 : end]


MUTATORS: list[Mutator] = [
    flip_bit, flip_bit, another_byte, next_byte, next_byte, copy_byte, copy_byte, extreme_varint, endless_varint, cut,
    drop_piece, double_piece, move_piece, section_length, swap_sections, drop_section,
]  # fmt: skip


def mutate_bytes(source: bytes, rng: random.Random) -> bytes:
    """One to four mutations."""
    data = bytearray(source)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        if data:
            rng.choice(MUTATORS)(data, rng)
    return bytes(data)
