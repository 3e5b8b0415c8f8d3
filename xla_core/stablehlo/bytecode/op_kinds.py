"""The op names, locations and types of a file by number, and the attributes of ops, which ops share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from xla_core.errors import SourceLocation, UnimplementedError
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.encoding import ByteReader
from xla_core.stablehlo.bytecode.locations import BytecodeLocation
from xla_core.stablehlo.bytecode.pool import DialectReader, Pool, plain
from xla_core.stablehlo.bytecode.properties import Layout, layouts
from xla_core.stablehlo.bytecode.sections import FormatVersion, OpName
from xla_core.stablehlo.table.op_table import OPS, Trait
from xla_core.stablehlo.vhlo.conversion import convert_attributes
from xla_core.stablehlo.vhlo.ops import ConversionError, VhloOp, find_vhlo_op

CAST = "builtin.unrealized_conversion_cast"
"""The cast between a value of a VHLO op and a value of another dialect's op."""

SMALL = 64
"""Attributes of up to this many nodes are free. The nodes of larger ones are added up over all ops, and limited."""

_UNKNOWN: list[Mapping[str, Any] | None] = [None] * 256
_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


class OpKind:
    """An op name of the file: the StableHLO name, and the decoded attributes of the ops with this name.

    `by_properties` has the attributes of ops that have properties only, by the byte that encodes the properties'
    number. `bare` has the attributes of ops without attributes and properties. An entry is None until it is decoded,
    and stays None if it has more than `SMALL` nodes, which the reader has to count at each use.
    """

    __slots__ = ("bare", "by_properties", "is_special", "known", "layouts", "name", "vhlo", "written")

    def __init__(self, entry: OpName) -> None:
        self.written = entry.name
        self.vhlo: VhloOp | None = find_vhlo_op(entry.name) if entry.name.startswith("vhlo.") else None
        self.name = entry.name if self.vhlo is None else self.vhlo.name
        self.layouts = () if entry.was_registered is False else layouts(entry.name)
        self.is_special = entry.name in ("vhlo.return_v1", CAST)
        self.known: dict[tuple[int, int], tuple[Mapping[str, Any], int]] = {}
        self.by_properties = _UNKNOWN  # until the first one is decoded
        self.bare: Mapping[str, Any] | None = None


class OpKinds:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.sections = pool.sections
        self.version = pool.sections.version
        self.file = pool.sections.file
        self._kinds: dict[OpName, OpKind] = {}

    def kind(self, index: int, reader: ByteReader) -> OpKind:
        """Returns the op name with this number.

        Raises IndexError if there is none, UnimplementedError for an unknown op of VHLO.
        """
        entry = self.sections.op_names[index]
        kind = self._kinds.get(entry)
        if kind is not None:
            return kind
        try:
            kind = self._kinds[entry] = OpKind(entry)
        except ConversionError as error:
            raise UnimplementedError(
                f"MLIR bytecode, byte {reader.position}: {error}", location=SourceLocation(self.file), op=entry.name
            ) from None
        return kind

    def attributes(
        self, kind: OpKind, attributes: int, properties: int, reader: ByteReader
    ) -> tuple[Mapping[str, Any], int]:
        """Returns an op's attributes, converted to StableHLO, and the number of nodes that their text would have.

        The mapping is read-only, because ops share it. `attributes` and `properties` are the numbers of the entries
        plus one; 0 stands for none.
        """
        found = kind.known.get((attributes, properties))
        if found is None:
            own, nodes = self._attributes(kind, attributes, properties, reader)
            values = MappingProxyType(own)
            found = kind.known[attributes, properties] = values, nodes
            if nodes <= SMALL and not attributes:
                if not properties:
                    kind.bare = values
                elif properties <= 128:
                    if kind.by_properties is _UNKNOWN:
                        kind.by_properties = _UNKNOWN.copy()
                    kind.by_properties[2 * properties - 1] = values
        return found

    def _attributes(
        self, kind: OpKind, attributes: int, properties: int, reader: ByteReader
    ) -> tuple[dict[str, Any], int]:
        start = reader.position
        values: dict[str, Any] = {}
        nodes = 0
        if properties:
            values, nodes = self._properties(kind, properties - 1, reader)
        if attributes:
            discardable = self.pool.attribute(attributes - 1, reader)
            nodes += self.pool.attribute_size(attributes - 1)
            if not isinstance(discardable, dict):
                raise reader.error("an op's attributes must be a dictionary", start)
            for name in discardable:
                if name in values:
                    raise reader.error(f"the attribute '{name}' is given twice", start)
            values = {**values, **discardable}
        if kind.vhlo is not None:
            try:
                values = convert_attributes(kind.vhlo, values)
            except ConversionError as error:
                raise reader.error(f"{kind.written}: {error}", start) from None
        if kind.name == "func.func" and (wrong := ir.drop_empty_signatures(values)) is not None:
            raise reader.error(f"{wrong}: expected an array of dictionaries", start)
        return values, nodes

    def _properties(self, kind: OpKind, index: int, reader: ByteReader) -> tuple[dict[str, Any], int]:
        if index >= len(self.sections.properties):
            raise reader.error(f"there are no properties {index}")
        start, end = self.sections.properties[index]
        properties = DialectReader(self.pool, start, end)
        if not kind.layouts:  # the writer did not know the op either and wrote a dictionary
            values = properties.attribute()
            if not isinstance(values, dict) or properties.position != end:
                raise UnimplementedError(
                    f"MLIR bytecode, byte {start}: the encoding of the attributes of {kind.written} is not known",
                    location=SourceLocation(self.file),
                    op=kind.written,
                    hint="write the program as a portable artifact of StableHLO",
                )
            return dict(values), len(values)
        has_segments = kind.written in OPS and Trait.SEGMENTED in OPS[kind.written].traits
        for candidate in kind.layouts:
            properties.position = start
            found = self._by_layout(properties, candidate, has_segments)
            if found is not None:
                return found
        names = ", ".join(name for name, _ in kind.layouts[0])
        raise properties.error(f"the properties of {kind.written} are malformed; expected {names or 'none'}", start)

    def _by_layout(
        self, properties: DialectReader, candidate: Layout, has_segments: bool
    ) -> tuple[dict[str, Any], int] | None:
        """Reads the properties by a layout. Returns the attributes and their nodes; None if the layout doesn't fit."""
        places: dict[str, int] = {}
        values: dict[str, Any] = {}
        if has_segments and self.version < FormatVersion.NEWEST:
            for name in _SEGMENTS:
                values[name] = properties.attribute()
        for name, is_optional in candidate:
            if properties.position >= properties.end:
                return None
            place = properties.varint()
            if not is_optional:
                places[name] = place
            elif place & 1:
                places[name] = place >> 1
            elif place:
                return None
        if has_segments and self.version >= FormatVersion.NEWEST:
            for name in _SEGMENTS:
                if properties.position >= properties.end:
                    return None
                values[name] = ir.DenseArray(_sparse_array(properties, 2), "i32")
        if properties.position != properties.end:
            return None
        for name, place in places.items():
            values[name] = self.pool.attribute(place, properties)
        return values, sum(map(self.pool.attribute_size, places.values()))


def _sparse_array(reader: ByteReader, size: int) -> list[int]:
    """Reads an array of `size` integers, written in full or as the nonzero elements with their indices."""
    values = [0] * size
    count, is_sparse = reader.flagged()
    if count > size:
        raise reader.error(f"{count} entries of {size}")
    width = reader.varint() if is_sparse and count else 0
    for i in range(count):
        value = reader.varint()
        place = value & ((1 << min(width, 8)) - 1) if is_sparse else i
        if place >= size:
            raise reader.error(f"entry {place} of {size}")
        values[place] = value >> min(width, 8)
    return values


class References:
    """The op names, locations and types of a file.

    Attributes:
        kinds: the op names by the byte that encodes their number; None if not yet read, or if no byte encodes it.
        single_types: tuples of one type each by the same byte, empty if not yet read.
        locations: the locations by number; None if not yet used.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.op_kinds = OpKinds(pool)
        self.kinds: list[OpKind | None] = [None] * 256
        self.single_types: list[tuple[Any, ...]] = [()] * 256
        self.locations: list[BytecodeLocation | None] = [None] * len(pool.sections.attributes)

    def kind(self, index: int, reader: ByteReader) -> OpKind:
        """Returns the op name with this number. Raises IndexError if there is none."""
        kind = self.op_kinds.kind(index, reader)
        if index < 128:
            self.kinds[index << 1 | 1] = kind
        return kind

    def location(self, index: int) -> BytecodeLocation:
        """Returns the location with this number. Raises IndexError if there is none."""
        location = self.locations[index]
        if location is None:
            location = self.locations[index] = BytecodeLocation(self._pool, index)
        return location

    def type(self, index: int, reader: ByteReader) -> Any:
        """Returns the type with this number in its form outside of tensors (see `plain`)."""
        type = plain(self._pool.type(index, reader))
        if index < 128:
            self.single_types[index << 1 | 1] = (type,)
        return type
