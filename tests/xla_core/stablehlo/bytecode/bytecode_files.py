"""Makes bytecode files by hand, with content that no writer writes."""

from __future__ import annotations

from collections.abc import Sequence


def varint(value: int) -> bytes:
    """The shortest encoding of an unsigned integer."""
    for size in range(1, 9):
        if value < 1 << (7 * size):
            return ((value << size) | (1 << (size - 1))).to_bytes(size, "little")
    return b"\0" + value.to_bytes(8, "little")


def signed(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def listed(items: Sequence[bytes]) -> bytes:
    return varint(len(items)) + b"".join(items)


def section(number: int, data: bytes) -> bytes:
    return bytes([number]) + varint(len(data)) + data


class BytecodeFile:
    """Tables that fill as their entries are asked for, and the ops that refer to them."""

    def __init__(self, version: int = 6) -> None:
        self.version = version
        self.strings: list[str] = []
        self.dialects: list[str] = []
        self.ops: list[tuple[str, str, bool]] = []
        self.attributes: list[tuple[str, bytes, bool]] = []
        self.types: list[tuple[str, bytes, bool]] = []
        self.properties: list[bytes] = []
        self.resources: list[tuple[str, bytes]] = []
        self.unknown = self.attribute("builtin", varint(15))

    def string(self, text: str) -> bytes:
        if text not in self.strings:
            self.strings.append(text)
        return varint(self.strings.index(text))

    def dialect(self, name: str) -> bytes:
        if name not in self.dialects:
            self.dialects.append(name)
            self.string(name)
        return varint(self.dialects.index(name))

    def attribute(self, dialect: str, data: bytes, is_custom: bool = True) -> int:
        self.dialect(dialect)
        self.attributes.append((dialect, data, is_custom))
        return len(self.attributes) - 1

    def type(self, dialect: str, data: bytes, is_custom: bool = True) -> int:
        self.dialect(dialect)
        self.types.append((dialect, data, is_custom))
        return len(self.types) - 1

    def text(self, text: str) -> int:
        """A string attribute."""
        return self.attribute("builtin", varint(2) + self.string(text))

    def dictionary(self, **values: int) -> int:
        entries = [varint(self.text(name)) + varint(value) for name, value in values.items()]
        return self.attribute("builtin", varint(1) + listed(entries))

    def tensor(self, *shape: int) -> int:
        """`tensor<...xf32>` in VHLO."""
        scalar = self.type("vhlo", varint(4))
        return self.type("vhlo", varint(20) + listed([signed(d) for d in shape]) + varint(scalar))

    def op(
        self,
        name: str,
        *,
        attributes: int | None = None,
        properties: bytes | None = None,
        results: Sequence[int] = (),
        operands: Sequence[int] = (),
        regions: Sequence[bytes] = (),
        is_isolated: bool = False,
        location: int | None = None,
        mask: int = 0,
        is_registered: bool = True,
    ) -> bytes:
        dialect, _, rest = name.partition(".")
        self.dialect(dialect)
        self.string(rest)
        key = (dialect, rest, is_registered)
        if key not in self.ops:
            self.ops.append(key)
        parts = [varint(self.unknown if location is None else location)]
        if attributes is not None:
            mask |= 1
            parts.append(varint(attributes))
        if properties is not None:
            mask |= 64
            parts.append(varint(len(self.properties)))
            self.properties.append(properties)
        if results:
            mask |= 2
            parts.append(listed([varint(type) for type in results]))
        if operands:
            mask |= 4
            parts.append(listed([varint(value) for value in operands]))
        if regions:
            mask |= 16
            parts.append(varint(len(regions) << 1 | is_isolated))
            body = b"".join(regions)
            parts.append(section(4, body) if is_isolated and self.version >= 2 else body)
        return varint(self.ops.index(key)) + bytes([mask]) + b"".join(parts)

    def region(self, ops: Sequence[bytes], arguments: Sequence[int] = (), values: int | None = None) -> bytes:
        """A region of one block; `values` is the number that it says it defines."""
        count = len(arguments) if values is None else values
        return varint(1) + varint(count) + self.block(ops, arguments)

    def block(self, ops: Sequence[bytes], arguments: Sequence[int] = ()) -> bytes:
        head = varint(len(ops) << 1 | bool(arguments))
        if arguments:
            if self.version >= 4:
                head += listed([varint(type << 1) for type in arguments])
            else:
                head += listed([varint(type) + varint(self.unknown) for type in arguments])
            head += b"\0" if self.version >= 3 else b""
        return head + b"".join(ops)

    def build(self, ops: Sequence[bytes]) -> bytes:
        """The file whose top-level ops are `ops`."""
        for _, name, _ in self.ops:
            self.string(name)
        groups = [
            self.dialect(dialect)
            + varint(1)
            + (
                varint(self.strings.index(name) << 1 | is_registered)
                if self.version >= 5
                else varint(self.strings.index(name))
            )
            for dialect, name, is_registered in self.ops
        ]
        shift = 1 if self.version >= 1 else 0
        dialects = listed([varint(self.strings.index(name) << shift) for name in self.dialects])
        dialects += (varint(len(self.ops)) if self.version >= 4 else b"") + b"".join(groups)
        entries = [*self.attributes, *self.types]
        offsets = varint(len(self.attributes)) + varint(len(self.types))
        for dialect, data, is_custom in entries:
            offsets += self.dialect(dialect) + varint(1) + varint(len(data) << 1 | is_custom)
        encoded = [text.encode() + b"\0" for text in self.strings]
        sections = [
            section(0, listed([varint(len(item)) for item in reversed(encoded)]) + b"".join(encoded)),
            section(1, dialects),
            section(2, b"".join(data for _, data, _ in entries)),
            section(3, offsets),
            section(4, self.block(ops)),
        ]
        if self.version >= 5:
            sections.append(section(8, listed([varint(len(item)) + item for item in self.properties])))
        return b"ML\xefR" + varint(self.version) + b"test\0" + b"".join(sections)


def module_file(file: BytecodeFile, ops: Sequence[bytes]) -> bytes:
    """A file with one module."""
    properties = varint(0) + varint(0) if file.version >= 5 else None
    region = file.region(ops, values=0)
    return file.build([file.op("builtin.module", properties=properties, regions=[region], is_isolated=True)])
