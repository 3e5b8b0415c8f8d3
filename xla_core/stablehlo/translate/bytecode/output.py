"""Writes the primitives of MLIR bytecode: integers, sections, tables of strings, attributes and types.

A table is keyed by the encoding of its entries, so equal entries are written once.

Source: MLIR docs/BytecodeFormat.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_core.stablehlo.bytecode.sections import SectionId

Part = bytes | memoryview


def varint(value: int) -> bytes:
    """Encodes an unsigned integer: a zero bit for each further byte, a one, and the value's bits."""
    if value < 128:
        return _FIRST[value]
    size = (value.bit_length() + 6) // 7
    if size > 8:
        return b"\0" + value.to_bytes(8, "little")
    return (value << size | 1 << (size - 1)).to_bytes(size, "little")


_FIRST = [bytes([value << 1 | 1]) for value in range(128)]
SMALL = [varint(value) for value in range(1 << 14)]
"""The encodings of small integers, which are the most frequent."""


def signed(value: int) -> bytes:
    """Encodes a signed integer of 64 bits: the lowest bit is the sign."""
    value = ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def section(number: SectionId, parts: Iterable[Part]) -> list[Part]:
    content = list(parts)
    return [bytes([number]), varint(sum(map(len, content))), *content]


class Strings:
    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def section(self) -> list[Part]:
        data = [text.encode("utf-8", "surrogateescape") + b"\0" for text in self._numbers]
        return section(SectionId.STRING, [varint(len(data)), *(varint(len(item)) for item in reversed(data)), *data])


class Entries:
    """The attributes or the types by number: dialect, encoding, and whether the encoding is the dialect's own."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, bool, bytes], int] = {}
        self._entries: list[tuple[int, bool, Sequence[Part]]] = []

    def number(self, dialect: int, encoding: bytes, *, is_custom: bool = True) -> int:
        """Returns the number of an entry. Entries with equal encodings share one."""
        key = dialect, is_custom, encoding
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = self.add(dialect, [encoding], is_custom=is_custom)
        return found

    def add(self, dialect: int, parts: Sequence[Part], *, is_custom: bool = True) -> int:
        """Adds an entry without comparing it to others, which would be too slow for a large one."""
        self._entries.append((dialect, is_custom, parts))
        return len(self._entries) - 1

    def __len__(self) -> int:
        return len(self._entries)

    def contents(self) -> Iterable[Part]:
        for _, _, parts in self._entries:
            yield from parts

    def offsets(self) -> list[Part]:
        """Encodes the sizes, in groups of one dialect."""
        out: list[Part] = []
        i = 0
        while i < len(self._entries):
            dialect = self._entries[i][0]
            group = []
            while i < len(self._entries) and self._entries[i][0] == dialect:
                _, is_custom, parts = self._entries[i]
                group.append(varint(sum(map(len, parts)) << 1 | is_custom))
                i += 1
            out += [varint(dialect), varint(len(group)), *group]
        return out
