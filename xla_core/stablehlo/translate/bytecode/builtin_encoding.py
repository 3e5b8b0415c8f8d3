"""Encodes attributes and locations of the dialect builtin: the inverse of `bytecode/builtin.py`.

Source: llvm-project, mlir/include/mlir/IR/BuiltinDialectBytecode.td.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from xla_core.errors import SourceLocation, UnimplementedError
from xla_core.hlo.values.scalar_types import DTYPES, integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.codes import BuiltinAttribute
from xla_core.stablehlo.ir.attribute_text import attribute_text
from xla_core.stablehlo.translate.bytecode.output import Entries, Strings, signed, varint
from xla_core.stablehlo.vhlo.versions import MIXED_DIALECTS, Version, VersionError


class BuiltinEncoder:
    """The strings, attributes and types of one file for a release of StableHLO, by number."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.strings = Strings()
        self.attributes = Entries()
        self.types = Entries()
        self.dialects: dict[str, int] = {}
        self._locations: dict[SourceLocation, int] = {}
        self.vhlo = self.dialect("vhlo")  # number 0
        self.builtin = self.dialect("builtin")

    def dialect(self, name: str) -> int:
        return self.dialects.setdefault(name, len(self.dialects))

    def require(self, what: str, needed: Version) -> None:
        """Raises VersionError if the release is older than `needed`."""
        if self.version < needed:
            raise VersionError(what, needed, self.version)

    def builtin_string(self, value: str) -> int:
        return self._builtin(BuiltinAttribute.STRING, varint(self.strings.number(value)))

    def builtin_dictionary(self, numbers: dict[str, int]) -> int:
        """Encodes a dictionary whose attributes have numbers already."""
        pairs = [number for name in sorted(numbers) for number in (self.builtin_string(name), numbers[name])]
        return self._builtin(BuiltinAttribute.DICTIONARY, varint(len(numbers)), *map(varint, pairs))

    def builtin_attribute(self, value: Any) -> int:
        """Encodes an attribute of the dialect builtin, such as a module has."""
        if isinstance(value, (int, float)):
            element, bits = number_bits(value)
            code = BuiltinAttribute.INTEGER if isinstance(value, int) else BuiltinAttribute.FLOAT
            return self._builtin(code, varint(self.builtin_type(element)), bits)
        if isinstance(value, dict):
            return self.builtin_dictionary({name: self.builtin_attribute(item) for name, item in value.items()})
        if type(value) is str:
            return self.builtin_string(value)
        if type(value) is tuple:
            return self._builtin(BuiltinAttribute.ARRAY, self._list([self.builtin_attribute(item) for item in value]))
        if isinstance(value, ir.Unit):
            return self._builtin(BuiltinAttribute.UNIT)
        text = attribute_text(value)
        match = re.match(r"#([a-z_]+)[.<]", text)
        encoding = text.encode("utf-8", "surrogateescape") + b"\0"
        dialect = self.builtin if match is None else self.dialect(match[1])
        if isinstance(value, ir.OpaqueAttribute) and match is not None:
            self.require(f"the attribute {text[:80]} of another dialect", MIXED_DIALECTS)
        return self.attributes.number(dialect, encoding, is_custom=False)

    def _builtin(self, code: int, *parts: bytes) -> int:
        return self.attributes.number(self.builtin, varint(code) + b"".join(parts))

    def builtin_type(self, text: str) -> int:
        return self.types.number(self.builtin, text.encode() + b"\0", is_custom=False)

    # Locations

    def location(self, location: SourceLocation | None) -> int:
        """Encodes `loc("name"("file":line:column))`."""
        if location is None or not (location.file or location.line or location.name):
            return self._builtin(BuiltinAttribute.UNKNOWN_LOC)
        found = self._locations.get(location)
        if found is None:
            place = self._builtin(BuiltinAttribute.UNKNOWN_LOC)
            if location.file or location.line:
                file = varint(self.builtin_string(location.file))
                place = self._builtin(
                    BuiltinAttribute.FILE_LINE_COL_LOC, file, varint(location.line), varint(location.column)
                )
            if location.name:
                place = self._builtin(
                    BuiltinAttribute.NAME_LOC, varint(self.builtin_string(location.name)), varint(place)
                )
            found = self._locations[location] = place
        return found

    def _list(self, numbers: Iterable[int]) -> bytes:
        found = [varint(number) for number in numbers]
        return varint(len(found)) + b"".join(found)


def number_bits(value: float) -> tuple[str, bytes]:
    """Returns the type of a number, by name, and its bits."""
    if isinstance(value, int):
        element = "i1" if isinstance(value, bool) else value.type if isinstance(value, ir.TypedInt) else "i64"
        return element, integer_bits(int(value), element)
    element = value.type if isinstance(value, ir.TypedFloat) else "f64"
    return element, float_bits(value, element)


def integer_bits(value: int, element: str) -> bytes:
    _, width = integer_format(element) or ("i", 64)
    bits = value & ((1 << width) - 1)
    if width <= 8:
        return bytes([bits])
    if width > 64:
        raise UnimplementedError(f"an integer of the type {element} has no form in portable artifacts")
    return signed(bits)


def float_bits(value: float, element: str) -> bytes:
    if element == "f64":
        return signed(int.from_bytes(struct.pack("<d", value), "little"))
    data = np.array(float(value)).astype(DTYPES[element])
    bits = int.from_bytes(data.tobytes(), "little")
    return bytes([bits]) if data.dtype.itemsize == 1 else signed(bits)
