"""The attributes and types of a file. Each is decoded by its dialect's decoders when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.encoding import ByteReader
from xla_core.stablehlo.bytecode.sections import Entry, Sections
from xla_core.stablehlo.text.cursor import MAX_DEPTH, MAX_OP_NODES
from xla_core.stablehlo.text.op_reader import OpReader

Decoder = Callable[["DialectReader"], Any]
"""Reads the fields of an attribute or type after its code."""

Table = Mapping[int, Decoder]
"""A dialect's decoders by code."""

_UNREAD: Any = object()
_NONE: Table = {}
_WHAT = ("an attribute", "a type")


class Pool:
    """The attributes and types of a file, by number.

    A quantized type is kept as a `QuantizedType`, the form of a tensor's element type. `plain` converts it to the form
    that it has outside of a tensor.
    """

    def __init__(self, sections: Sections, attributes: Mapping[str, Table], types: Mapping[str, Table]) -> None:
        self.sections = sections
        self.data = sections.data
        self.file = sections.file
        self._tables = attributes, types
        self._entries = sections.attributes, sections.types
        self.attributes: list[Any] = [_UNREAD] * len(sections.attributes)
        self.types: list[Any] = [_UNREAD] * len(sections.types)
        self._sizes = [0] * len(self.attributes), [0] * len(self.types)
        self._depth = 0
        self._nodes = 0

    def attribute(self, index: int, reader: ByteReader) -> Any:
        """Returns attribute `index`, decoding it if needed. `reader` has just read the index and locates errors."""
        if index >= len(self.attributes):
            raise reader.error(f"there is no attribute {index}")
        value = self.attributes[index]
        if value is _UNREAD:
            value = self.attributes[index] = self._read(index, 0, reader)
        else:
            self._nodes += self._sizes[0][index]
        return value

    def type(self, index: int, reader: ByteReader) -> Any:
        """Returns type `index`, decoding it if needed. `reader` has just read the index and locates errors."""
        if index >= len(self.types):
            raise reader.error(f"there is no type {index}")
        value = self.types[index]
        if value is _UNREAD:
            value = self.types[index] = self._read(index, 1, reader)
        else:
            self._nodes += self._sizes[1][index]
        return value

    def recover(self) -> None:
        """Resets nesting depth and node count after an error that the caller ignores."""
        self._depth = self._nodes = 0

    def attribute_size(self, index: int) -> int:
        """Returns how many nodes the text of a decoded attribute would have."""
        return self._sizes[0][index]

    def _read(self, index: int, is_type: int, outer: ByteReader) -> Any:
        """Decodes an entry and counts its nodes, which can grow exponentially because entries share other entries.

        An entry inside another one uses the outer entry's reader, whose position is restored afterwards.
        """
        entries = self._entries[is_type]
        size, end = entries.sizes[index], entries.ends[index]
        start = end - (size >> 1)
        if outer.__class__ is DialectReader:
            reader: DialectReader = outer
            around = reader.position, reader.end, reader.index
            reader.position, reader.end, reader.index = start, end, index
        else:
            reader = DialectReader(self, start, end, index)
            around = start, end, index
        if self._depth >= MAX_DEPTH:
            raise reader.error(f"attributes or types nested more than {MAX_DEPTH} levels deep")
        self._depth += 1
        nodes_before, self._nodes = self._nodes, 1
        if size & 1:
            decoder = self._tables[is_type].get(entries.dialects[index], _NONE).get(reader.varint())
            if decoder is None:
                raise self._unknown(entries[index], is_type)
            value = decoder(reader)
        else:
            value = self._parse(reader, is_type)
        if reader.position != end:
            raise reader.error(f"data after {_WHAT[is_type]} of the dialect {entries.dialects[index]}")
        nodes = self._nodes
        if nodes > MAX_OP_NODES:
            raise reader.error("this attribute or type expands to too much data")
        self._sizes[is_type][index] = nodes
        self._nodes = nodes_before + nodes
        self._depth -= 1
        reader.position, reader.end, reader.index = around
        return value

    def _unknown(self, entry: Entry, is_type: int) -> XlaError:
        """Returns the error for an encoding that is in no table."""
        if entry.dialect in self._tables[is_type]:
            reader = ByteReader(self.data, self.file, entry.start, entry.end)
            return reader.error(
                f"the dialect {entry.dialect} has no {_WHAT[is_type].split()[1]} {reader.varint()}", entry.start
            )
        return UnimplementedError(
            f"MLIR bytecode, byte {entry.start}: how the dialect {entry.dialect} encodes {_WHAT[is_type]} is not known",
            location=SourceLocation(self.file),
            hint="write the program as a portable artifact of StableHLO",
        )

    def _parse(self, reader: DialectReader, is_type: int) -> Any:
        """Parses an entry that is written as text."""
        start = reader.position
        source = reader.text_until_null()
        text = OpReader(source, self.file)
        try:
            value = text.type() if is_type else text.attribute()
            text.skip()
            if text.position != len(source):
                raise text.error("data after the end")
        except XlaError as error:
            raise InvalidArgumentError(
                f"MLIR bytecode, byte {start}: {error.message}",
                location=SourceLocation(self.file),
                snippet=error.snippet,
            ) from None
        self._nodes += text.nodes
        if isinstance(value, ir.OpaqueType):
            return text.quantized_types.get(value.text, value)
        return value


class DialectReader(ByteReader):
    """The reader that decoders get: it reads primitives and references to other entries.

    `index` is the number of the entry that is being decoded.
    """

    __slots__ = ("index", "pool")

    def __init__(self, pool: Pool, start: int, end: int, index: int = 0) -> None:
        self.data = pool.data
        self.file = pool.file
        self.position = start
        self.end = end
        self.pool = pool
        self.index = index

    def attribute(self) -> Any:
        return self.pool.attribute(self.varint(), self)

    def optional_attribute(self) -> Any:
        """Reads a reference to an attribute that may be absent."""
        index, is_there = self.flagged()
        return self.pool.attribute(index, self) if is_there else None

    def attributes(self) -> tuple[Any, ...]:
        attribute = self.pool.attribute
        return tuple([attribute(index, self) for index in self.varints(self.count())])

    def raw_type(self) -> Any:
        """Reads a reference to a type, and returns a quantized type as `QuantizedType`."""
        return self.pool.type(self.varint(), self)

    def type(self) -> Any:
        return plain(self.raw_type())

    def types(self) -> tuple[Any, ...]:
        type = self.pool.type
        found = [type(index, self) for index in self.varints(self.count())]
        return tuple([plain(item) if item.__class__ is ir.QuantizedType else item for item in found])

    def tensor_type(self) -> ir.TensorType:
        start = self.position
        type = self.raw_type()
        if not isinstance(type, ir.TensorType):
            raise self.error(f"expected a tensor type, found {type}", start)
        return type

    def scalar(self) -> str:
        """Reads a reference to a scalar type, and returns its name."""
        start = self.position
        type = self.raw_type()
        if not isinstance(type, ir.ScalarType):
            raise self.error(f"expected a scalar type, found {type}", start)
        return str(type)

    def string(self) -> str:
        """Reads a reference to the string section."""
        return self.pool.sections.string(self)

    def text(self) -> str:
        """Reads a reference to a string attribute."""
        start = self.position
        value = self.attribute()
        if type(value) is not str:
            raise self.error("expected a string", start)
        return value

    def boolean(self) -> bool:
        return self.byte() != 0


def plain(type: Any) -> Any:
    """Converts a type to its form outside of a tensor: a quantized type becomes an opaque type with its text."""
    if isinstance(type, ir.QuantizedType):
        return ir.OpaqueType(ir.type_text(type))
    return type


def enum_reader(kind: str, first: int = 0) -> Decoder:
    """Makes the decoder of an enum whose first case has the number `first`."""
    cases = [ir.EnumAttribute(case, kind) for case in ir.ENUMS[kind]]

    def read(reader: DialectReader) -> ir.EnumAttribute:
        start = reader.position
        number = reader.varint() - first
        if not 0 <= number < len(cases):
            raise reader.error(f"{kind} has no case {number + first}", start)
        return cases[number]

    return read
