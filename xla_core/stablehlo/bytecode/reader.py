"""Reads the ops, blocks and regions of MLIR bytecode. VHLO's ops become StableHLO's.

The loop over a block decodes integers in place because most of the time is spent there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xla_core.checks import require
from xla_core.errors import SourceLocation, XlaError
from xla_core.stablehlo.bytecode import builtin, sdy_dialect, stablehlo_dialect, vhlo_dialect
from xla_core.stablehlo.bytecode.encoding import SHORT, ByteReader
from xla_core.stablehlo.bytecode.locations import BytecodeLocation
from xla_core.stablehlo.bytecode.op_kinds import CAST, SMALL, OpKind, References
from xla_core.stablehlo.bytecode.pool import Pool
from xla_core.stablehlo.bytecode.sections import FormatVersion, Sections
from xla_core.stablehlo.ir import Block, Module, Op, Region, Type, Value, new_op
from xla_core.stablehlo.ir.garbage_collection import reading
from xla_core.stablehlo.text.cursor import MAX_DEPTH

_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USE_LISTS, _PROPERTIES = (1 << i for i in range(7))
_SPECIAL = _SUCCESSORS | _REGIONS | _USE_LISTS | 1 << 7
_READ = (_ATTRIBUTES, _PROPERTIES, _RESULTS, _OPERANDS, _SPECIAL)
_PARTS = [[bool(mask & part) for part in _READ] for mask in range(256)]
"""For each value of an op's mask byte, which parts the op has."""

_IR_SECTION = 4
_ONE = 3  # the encoding of the integer 1

# An integer of two bytes is the sum of _LOW[first byte] and _HIGH[second byte].
_LOW = [byte >> 2 for byte in range(256)]
_HIGH = [byte << 6 for byte in range(256)]

_REPEATS = [None if number is None else (None,) * number for number in SHORT]
"""For each one-byte integer n a tuple of length n to loop over, which starts faster than a loop over a range."""

_MAX_NODES = 20_000_000

ATTRIBUTE_TABLES = {
    "builtin": builtin.ATTRIBUTES,
    "chlo": stablehlo_dialect.CHLO_ATTRIBUTES,
    "sdy": sdy_dialect.ATTRIBUTES,
    "stablehlo": stablehlo_dialect.ATTRIBUTES,
    "vhlo": vhlo_dialect.ATTRIBUTES,
}
TYPE_TABLES = {
    "builtin": builtin.TYPES,
    "quant": builtin.QUANT_TYPES,
    "stablehlo": stablehlo_dialect.TYPES,
    "vhlo": vhlo_dialect.TYPES,
}


def parse_bytecode(data: bytes | bytearray | memoryview, file: str = "<input>") -> Module:
    """Reads MLIR bytecode: a portable artifact of StableHLO 0.9.0 to 1.20.0, or bytecode of StableHLO itself.

    The op tree is the same as the one read from the program's text. Constants are views of the file's bytes.

    Args:
        data: the file's contents.
        file: the file's name in errors.

    Raises:
        InvalidArgumentError: for invalid bytecode, with the position of the wrong byte.
        UnimplementedError: for a newer format, or a dialect whose encoding is unknown.
        ResourceExhaustedError: if the program doesn't fit in memory.
    """
    require("data", data, (bytes, bytearray, memoryview), "MLIR bytecode")
    with reading(file):
        return _Reader(bytes(data), file).module()


class _Reader:
    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        self.sections = Sections(data, file)
        self.version = self.sections.version
        self.references = References(Pool(self.sections, ATTRIBUTE_TABLES, TYPE_TABLES))
        ir = self.sections.ir
        self.base = ir.position
        self.code = list(data[ir.position : ir.end])  # twice as fast to read as bytes, for 8 times the memory
        self.values: list[Value | None] = []
        self.next_value = 0
        self.depth = 0
        self.nodes = 0

    def module(self) -> Module:
        reader = self.sections.ir
        ops: list[Op] = []
        try:
            self._block(reader, ops, None, is_function=False)
            if reader.position != reader.end:
                raise reader.error("data after the program")
            return Module.of(ops, file=self.file)
        except XlaError as error:
            if error.location is None or not error.location.file:
                error.location = SourceLocation(self.file)
            raise

    # Blocks and regions

    def _region(self, reader: ByteReader, is_isolated: bool, is_function: bool) -> Region:
        """Reads a region: the number of blocks, the number of values that it defines, and the blocks."""
        region = Region()
        count = reader.count()
        if not count:
            return region
        if self.depth >= MAX_DEPTH:
            raise reader.error(f"regions nested more than {MAX_DEPTH} levels deep")
        self.depth += 1
        outer = self.values, self.next_value
        if is_isolated:
            self.values = []
        self.next_value = len(self.values)
        size = reader.count()
        self.values.extend([None] * size)
        for _ in range(count):
            block = Block()
            region.blocks.append(block)
            self._block(reader, block.ops, block, is_function)
        if is_isolated:
            self.values = outer[0]
        else:
            del self.values[-size or len(self.values) :]
        self.next_value = outer[1]
        self.depth -= 1
        return region

    def _arguments(self, reader: ByteReader, block: Block) -> None:
        count = reader.count()
        may_lack_locations = self.version >= FormatVersion.ELIDED_ARGUMENT_LOCATIONS
        locations: list[Any] = []
        varint, type = reader.varint, self.references.type
        for i in range(count):
            index, has_location = varint(), True
            if may_lack_locations:
                index, has_location = index >> 1, bool(index & 1)
            block.arguments.append(Value(type(index, reader), block, i))
            locations.append(self._location(reader) if has_location else None)
        if any(locations):
            block.argument_locations = locations
        self._define(block.arguments, self._reserve(count, reader))
        if self.version >= FormatVersion.USE_LIST_ORDERS and reader.byte():
            _skip_use_lists(reader, count)

    def _location(self, reader: ByteReader) -> BytecodeLocation:
        index = reader.varint()
        try:
            return self.references.location(index)
        except IndexError:
            raise reader.error(f"there is no location {index}") from None

    def _reserve(self, count: int, reader: ByteReader) -> int:
        """Reserves `count` consecutive value numbers of those that the region announced; returns the first."""
        first = self.next_value
        if first + count > len(self.values):
            raise reader.error("more values than the region declares")
        self.next_value = first + count
        return first

    def _define(self, values: list[Value], first: int) -> None:
        self.values[first : first + len(values)] = values

    # Ops

    def _block(self, reader: ByteReader, ops: list[Op], block: Block | None, is_function: bool) -> None:
        """Reads a block's arguments and ops. `block` is None for the file's own block, whose values have no numbers."""
        count, has_arguments = reader.flagged()
        if has_arguments:
            if block is None:
                raise reader.error("the file's own block has arguments")
            self._arguments(reader, block)
        size = reader.end - reader.position
        if count > size:
            raise reader.error(f"{count} ops can't be in {size} bytes")
        self._ops(reader, count, ops, block, is_function)

    def _ops(self, reader: ByteReader, count: int, ops: list[Op], block: Block | None, is_function: bool) -> None:
        """Reads the ops of a block. The time of reading a file is spent here."""
        code, base, values = self.code, self.base, self.values
        p, end = reader.position - base, reader.end - base
        kinds, single_types, locations = self.references.kinds, self.references.single_types, self.references.locations
        parts, short, next_value = _PARTS, SHORT, self.next_value
        index: int | None
        for _ in range(count):
            start = p
            # An index outside of a table or past the program's end raises IndexError.
            try:
                kind = kinds[code[p]]
                p += 1
                if kind is None:
                    index, p = self._varint(reader, p)
                    kind = self.references.kind(index, reader)
                mask = code[p]
                has_attributes, has_properties, has_results, has_operands, is_special = parts[mask]
                index = short[code[p + 1]]
                p += 2
                if index is None:
                    index, p = self._varint(reader, p)
                location = locations[index] or self.references.location(index)
                known = kind.by_properties[code[p]] if has_properties else kind.bare
                attributes: Mapping[str, Any] | None = None if has_attributes else known
                if attributes is None:
                    attributes, p = self._attributes(reader, kind, mask, p)
                elif has_properties:
                    p += 1
                result_types: Sequence[Type] = ()
                if has_results:
                    result_types = single_types[code[p + 1]] if code[p] == _ONE else ()
                    p += 2
                    if not result_types:
                        result_types, p = self._result_types(reader, p - 2)
                operands: list[Value] = []
                if has_operands:
                    operands, p = self._operands(reader, p, start)
                if p > end:
                    raise reader.error("an op ends after its section", base + start)
            except IndexError:
                raise reader.error("the op here refers to an entry that doesn't exist", base + start) from None
            if is_special or kind.is_special:
                reader.position, self.next_value = base + p, next_value
                op_parts = (operands, result_types, attributes, location)
                self._special(reader, ops, kind, mask, block, is_function, op_parts)
                p, next_value = reader.position - base, self.next_value
                continue
            op = new_op(kind.name, operands, result_types, attributes, location)
            if block is not None:
                try:
                    for value in op.results:
                        values[next_value] = value
                        next_value += 1
                except IndexError:
                    raise reader.error("more values than the region declares", base + start) from None
            ops.append(op)
        self.next_value = next_value
        reader.position = base + p

    def _attributes(self, reader: ByteReader, kind: OpKind, mask: int, p: int) -> tuple[Mapping[str, Any], int]:
        """Reads an op's attributes. Returns them and the position after them."""
        reader.position = self.base + p
        attributes = reader.varint() + 1 if mask & _ATTRIBUTES else 0
        properties = reader.varint() + 1 if mask & _PROPERTIES else 0
        found, nodes = self.references.op_kinds.attributes(kind, attributes, properties, reader)
        if nodes > SMALL:
            self._spend(nodes, reader)
        return found, reader.position - self.base

    def _result_types(self, reader: ByteReader, p: int) -> tuple[list[Type], int]:
        """Reads the types of an op's results. Returns them and the position after them."""
        reader.position = self.base + p
        type = self.references.type
        types = [type(reader.varint(), reader) for _ in range(reader.count())]
        return types, reader.position - self.base

    def _operands(self, reader: ByteReader, p: int, start: int) -> tuple[list[Value], int]:
        """Reads the operands of the op that begins at `start`. Returns them and the position after them."""
        code, values, short, low, high = self.code, self.values, SHORT, _LOW, _HIGH
        repeat: Iterable[int | None] | None = _REPEATS[code[p]]
        p += 1
        if repeat is None:
            repeat, p = self._many(reader, p)
        operands: list[Value] = []
        for _ in repeat:
            b = code[p]
            p += 1
            index = short[b]
            if index is None:
                if b & 2:  # two bytes, decoded in place because there are many
                    index = low[b] + high[code[p]]
                    p += 1
                else:
                    index, p = self._varint(reader, p)
            value = values[index]
            if value is None:
                raise reader.error(f"the value {index} is used but not defined before", self.base + start)
            operands.append(value)
        return operands, p

    def _many(self, reader: ByteReader, p: int) -> tuple[range, int]:
        """Reads a count of operands that takes several bytes. Returns a range of it, and the position after it."""
        count, p = self._varint(reader, p)
        left = reader.end - self.base - p
        if count > left:
            raise reader.error(f"{count} operands can't be in {left} bytes", self.base + p)
        return range(count), p

    def _special(
        self,
        reader: ByteReader,
        ops: list[Op],
        kind: OpKind,
        mask: int,
        block: Block | None,
        is_function: bool,
        parts: tuple[list[Value], Sequence[Type], Mapping[str, Any], BytecodeLocation],
    ) -> None:
        """Adds an op that has regions or use-list orders, or that needs more than a new name."""
        operands, types, attributes, location = parts
        name = kind.name
        if mask & _SUCCESSORS:
            raise reader.error(f"{kind.written} has successors: StableHLO has no branches")
        if mask >> 7:
            raise reader.error("an op has parts that this version of the format lacks")
        if mask & _USE_LISTS and self.version >= FormatVersion.USE_LIST_ORDERS:
            _skip_use_lists(reader, len(types))
        # The results are numbered before the values of the regions, but the regions can't use them.
        first = 0 if block is None else self._reserve(len(types), reader)
        regions = self._regions(reader, name == "func.func") if mask & _REGIONS else []
        if kind.written == "vhlo.return_v1" and is_function:
            name = "func.return"
        if name == CAST and [operand.type for operand in operands] == list(types) and not regions:
            if block is not None:  # VHLO's types are read as StableHLO's, so the cast is an identity
                self._define(operands, first)
            return
        op = Op(name, operands, types, attributes, regions, location)
        if block is not None:
            self._define(op.results, first)
        ops.append(op)

    def _regions(self, reader: ByteReader, is_function: bool) -> list[Region]:
        count, is_isolated = reader.flagged()
        if count > reader.end - reader.position:
            raise reader.error(f"{count} regions can't be in {reader.end - reader.position} bytes")
        if not is_isolated or self.version < FormatVersion.ISOLATED_REGION_SECTIONS or not count:
            return [self._region(reader, is_isolated, is_function) for _ in range(count)]
        start = reader.position
        number, section = reader.section()
        if number != _IR_SECTION:
            raise reader.error(f"expected the section of a region, found section {number}", start)
        regions = [self._region(section, is_isolated, is_function) for _ in range(count)]
        if section.position != section.end:
            raise section.error("data after a region")
        return regions

    # Primitives

    def _spend(self, nodes: int, reader: ByteReader) -> None:
        """Adds to the total size of large attributes, and limits it.

        A small file can share a large attribute among many ops, but later passes process it once for each op.
        """
        self.nodes += nodes
        if self.nodes > _MAX_NODES:
            raise reader.error("the attributes of the ops expand to too much data")

    def _varint(self, reader: ByteReader, p: int) -> tuple[int, int]:
        """Reads an integer whose first byte is just before `p`. Returns it and the position after it."""
        first = self.code[p - 1]
        if first & 3 == 2:  # two bytes
            return _LOW[first] + _HIGH[self.code[p]], p + 1
        reader.position = self.base + p - 1
        return reader.varint(), reader.position - self.base


def _skip_use_lists(reader: ByteReader, count: int) -> None:
    """Skips use-list orders, because nothing depends on the order of a value's uses."""
    entries = reader.count() if count > 1 else 1
    for _ in range(entries):
        if count > 1:
            reader.varint()
        size, _ = reader.flagged()
        if size > reader.end - reader.position:
            raise reader.error("an order of uses ends after its section")
        for _ in range(size):
            reader.varint()
