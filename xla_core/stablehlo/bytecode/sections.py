"""Finds the sections of a bytecode file: strings, dialects, op names, attributes, types, properties, resources.

It finds the positions of entries; `pool` decodes them.

Source: MLIR docs/BytecodeFormat.md.
"""

from __future__ import annotations

import enum
import itertools
from typing import NamedTuple

from xla_core.errors import SourceLocation, UnimplementedError
from xla_core.stablehlo.bytecode.encoding import MAGIC, ByteReader


class FormatVersion(enum.IntEnum):
    """The version of the bytecode format that introduced a feature."""

    DIALECT_VERSIONS = 1
    ISOLATED_REGION_SECTIONS = 2
    USE_LIST_ORDERS = 3
    ELIDED_ARGUMENT_LOCATIONS = 4
    PROPERTIES = 5
    NEWEST = 6


class SectionId(enum.IntEnum):
    STRING = 0
    DIALECT = 1
    ATTRIBUTES = 2
    ATTRIBUTE_OFFSETS = 3
    IR = 4
    RESOURCES = 5
    RESOURCE_OFFSETS = 6
    DIALECT_VERSION = 7
    PROPERTIES = 8


_REQUIRED = (SectionId.STRING, SectionId.DIALECT, SectionId.ATTRIBUTES, SectionId.ATTRIBUTE_OFFSETS, SectionId.IR)
_BLOB = 0


class Entry(NamedTuple):
    """An attribute or type in the file: its dialect, its bytes, and whether they are the dialect's encoding or text."""

    dialect: str
    start: int
    end: int
    is_custom: bool


class Places:
    """The positions of all attributes, or of all types, by number.

    Attributes:
        dialects: the dialect of each entry.
        sizes: the size of each entry in bytes, shifted left by one; the lowest bit is set if it is not text.
        ends: the position after each entry.
    """

    def __init__(self) -> None:
        self.dialects: list[str] = []
        self.sizes: list[int] = []
        self.ends: list[int] = []

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> Entry:
        end, size = self.ends[index], self.sizes[index]
        return Entry(self.dialects[index], end - (size >> 1), end, bool(size & 1))

    def add(self, dialect: str, sizes: list[int], start: int) -> int:
        """Adds consecutive entries of one dialect from position `start`; returns the position after the last."""
        ends = list(itertools.accumulate([size >> 1 for size in sizes], initial=start))
        self.dialects += [dialect] * len(sizes)
        self.sizes += sizes
        self.ends += ends[1:]
        return ends[-1]


class OpName(NamedTuple):
    """An op's name with its dialect, and whether its writer knew the op (None if the format is too old to tell)."""

    name: str
    was_registered: bool | None


class Sections:
    """The sections of a file.

    Attributes:
        version: the version of the bytecode format.
        producer: the program that wrote the file ("StableHLO_v1.17.0").
        strings, op_names, attributes, types: the tables that the other sections refer to by number.
        properties: the (start, end) of each entry of the properties section.
        resources: the (start, end) of each dialect resource's data; None for a resource without data.
        ir: a reader of the program.
    """

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file
        reader = ByteReader(data, file)
        if not data.startswith(MAGIC):
            raise reader.error("this is not MLIR bytecode")
        reader.position = len(MAGIC)
        self.version = reader.varint()
        if self.version > FormatVersion.NEWEST:
            raise UnimplementedError(
                f"MLIR bytecode of version {self.version}: versions 0 to {int(FormatVersion.NEWEST)} can be read",
                location=SourceLocation(file),
                hint="write the program as a portable artifact of StableHLO 1.20 or older; or is the file damaged?",
            )
        self.producer = reader.text_until_null()
        found = self._find(reader)
        self.ir = found[SectionId.IR]
        self.strings = _strings(found[SectionId.STRING])
        self.properties = _properties(found[SectionId.PROPERTIES]) if SectionId.PROPERTIES in found else []
        self.dialects: list[str] = []
        self.op_names: list[OpName] = []
        self._read_dialects(found[SectionId.DIALECT])
        self.resources: list[tuple[int, int] | None] = []
        if SectionId.RESOURCE_OFFSETS in found:
            self._read_resources(found[SectionId.RESOURCE_OFFSETS], found.get(SectionId.RESOURCES))
        self.attributes = Places()
        self.types = Places()
        self._read_entries(found[SectionId.ATTRIBUTE_OFFSETS], found[SectionId.ATTRIBUTES])

    def _find(self, reader: ByteReader) -> dict[int, ByteReader]:
        found: dict[int, ByteReader] = {}
        while reader.position < reader.end:
            start = reader.position
            number, section = reader.section()
            if number > max(SectionId):
                raise reader.error(f"there is no section {number}", start)
            if number in found:
                raise reader.error(f"a second {SectionId(number).name} section", start)
            found[number] = section
        for required in _REQUIRED:
            if required not in found:
                raise reader.error(f"the {required.name} section is missing")
        return found

    def string(self, reader: ByteReader) -> str:
        start = reader.position
        return self.string_at(reader.varint(), reader, start)

    def string_at(self, index: int, reader: ByteReader, start: int) -> str:
        if index >= len(self.strings):
            raise reader.error(f"there is no string {index}", start)
        return self.strings[index]

    def _dialect(self, reader: ByteReader) -> str:
        start = reader.position
        index = reader.varint()
        if index >= len(self.dialects):
            raise reader.error(f"there is no dialect {index}", start)
        return self.dialects[index]

    def _read_dialects(self, reader: ByteReader) -> None:
        for _ in range(reader.count()):
            start = reader.position
            has_version = False
            if self.version < FormatVersion.DIALECT_VERSIONS:
                index = reader.varint()
            else:
                index, has_version = reader.flagged()
            name = self.string_at(index, reader, start)
            self.dialects.append(name)
            if has_version:
                number, _ = reader.section()  # not needed: each op has its own version
                if number != SectionId.DIALECT_VERSION:
                    raise reader.error(f"expected the version of the dialect {name}, found section {number}", start)
        if self.version >= FormatVersion.ELIDED_ARGUMENT_LOCATIONS:
            reader.count()  # the number of op names, which the groups repeat
        while reader.position < reader.end:
            dialect = self._dialect(reader)
            for _ in range(reader.count()):
                start = reader.position
                was_registered: bool | None = None
                if self.version < FormatVersion.PROPERTIES:
                    index = reader.varint()
                else:
                    index, was_registered = reader.flagged()
                op = self.string_at(index, reader, start)
                self.op_names.append(OpName(f"{dialect}.{op}" if op else dialect, was_registered))

    def _read_entries(self, offsets: ByteReader, section: ByteReader) -> None:
        counts = offsets.count(), offsets.count()
        position = section.position
        for count, entries in zip(counts, (self.attributes, self.types), strict=True):
            while len(entries) < count:
                dialect = self._dialect(offsets)
                position = entries.add(dialect, offsets.varints(offsets.count()), position)
                if position > section.end:
                    raise offsets.error("an attribute or type ends after its section")
            if len(entries) > count:
                raise offsets.error("more attributes or types than announced")
        if offsets.position != offsets.end:
            raise offsets.error("data after the last offset")

    def _read_resources(self, offsets: ByteReader, section: ByteReader | None) -> None:
        if section is None:
            raise offsets.error("the RESOURCES section is missing")
        for _ in range(offsets.count()):
            self.string(offsets)  # an external provider's resources are not part of the program
            self._resource_group(offsets, section)
        while offsets.position < offsets.end:
            self._dialect(offsets)
            self.resources += self._resource_group(offsets, section)

    def _resource_group(self, offsets: ByteReader, section: ByteReader) -> list[tuple[int, int] | None]:
        group: list[tuple[int, int] | None] = []
        for _ in range(offsets.count()):
            self.string(offsets)
            size = offsets.varint()
            kind = offsets.byte()
            start = section.span(size, "a resource")
            if kind != _BLOB or not size:  # an empty resource is only declared
                group.append(None)
                continue
            reader = ByteReader(self.data, self.file, start, start + size)
            alignment = reader.varint()
            blob_size = reader.varint()
            reader.align(alignment)
            blob = reader.span(blob_size, "a resource")
            group.append((blob, blob + blob_size))
        return group


def _strings(reader: ByteReader) -> list[str]:
    """Reads the string section: the sizes in reverse order, then the strings, each with a zero byte at its end."""
    sizes = reader.varints(reader.count())
    position = reader.position
    strings: list[str] = []
    for size in reversed(sizes):
        if size == 0 or size > reader.end - position:
            raise reader.error(f"a string of {size} bytes is not in the section")
        strings.append(reader.data[position : position + size - 1].decode("utf-8", "surrogateescape"))
        position += size
    if position != reader.end:
        raise reader.error("data after the last string", position)
    return strings


def _properties(reader: ByteReader) -> list[tuple[int, int]]:
    """Reads the properties section. Returns the (start, end) of each entry."""
    found: list[tuple[int, int]] = []
    for _ in range(reader.count()):
        start, size = reader.blob()
        found.append((start, start + size))
    if reader.position != reader.end:
        raise reader.error("data after the last properties")
    return found
