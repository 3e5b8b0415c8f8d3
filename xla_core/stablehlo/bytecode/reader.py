"""MLIR bytecode to the op tree: ops, blocks, regions. VHLO becomes StableHLO on the way.

Written for speed where it is read most: a block is one loop over bytes with its integers decoded in place, and what an
op's attributes are is decided once for all ops that share them.
"""

from __future__ import annotations

import gc
from typing import Any

from xla_core.checks import require
from xla_core.errors import InvalidArgumentError, ResourceExhaustedError, SourceLocation, XlaError
from xla_core.stablehlo.bytecode import builtin, sdy_dialect, stablehlo_dialect, vhlo_dialect
from xla_core.stablehlo.bytecode.encoding import ByteReader
from xla_core.stablehlo.bytecode.locations import BytecodeLocation
from xla_core.stablehlo.bytecode.op_kinds import CAST, KEY_SHIFT, OpKind, OpKinds
from xla_core.stablehlo.bytecode.pool import Pool, plain
from xla_core.stablehlo.bytecode.sections import FormatVersion, Sections
from xla_core.stablehlo.cursor import MAX_DEPTH
from xla_core.stablehlo.ir import Block, Module, Op, Region, Value

__all__ = ["parse_bytecode"]

_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USE_LISTS, _PROPERTIES = (1 << i for i in range(7))
_HAS_EITHER = _ATTRIBUTES | _PROPERTIES
_IS_SPECIAL = _SUCCESSORS | _REGIONS | _USE_LISTS | 1 << 7
_IR_SECTION = 4
_SMALL = 64
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
    """Read MLIR bytecode: a portable artifact of StableHLO 0.9.0 to 1.20.0, or StableHLO's own bytecode.

    The tree is the one that the program's text gives. Constants share the bytes that they are read from.

    Args:
        data: the file's contents.
        file: what to call it in errors.

    Raises:
        InvalidArgumentError: with the byte that is wrong.
        UnimplementedError: for a newer format, or a dialect whose encoding isn't known.
    """
    require("data", data, (bytes, bytearray, memoryview), "MLIR bytecode")
    was_enabled = gc.isenabled()
    gc.disable()  # as in the text reader: nothing that is made here is garbage in a cycle
    try:
        return _Reader(bytes(data), file).module()
    except RecursionError as error:
        raise InvalidArgumentError(f"{file}: the program is nested too deeply to be read") from error
    except MemoryError as error:
        raise ResourceExhaustedError(f"{file}: not enough memory to read the program") from error
    finally:
        if was_enabled:
            gc.enable()


class _Reader:
    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file
        self.sections = Sections(data, file)
        self.pool = Pool(self.sections, ATTRIBUTE_TABLES, TYPE_TABLES)
        self.version = self.sections.version
        self.op_kinds = OpKinds(self.pool)
        self.locations: list[BytecodeLocation | None] = [None] * len(self.sections.attributes)
        self.types: list[Any] = [None] * len(self.sections.types)
        self.values: list[Value | None] = []
        self.next_value = 0
        self.depth = 0
        self.nodes = 0

    def module(self) -> Module:
        reader = self.sections.ir
        ops: list[Op] = []
        try:
            self._block(reader, ops, None, is_function=False)
        except XlaError as error:
            if error.location is None or not error.location.file:
                error.location = SourceLocation(self.file)
            raise
        if reader.position != reader.end:
            raise reader.error("data after the program")
        module = Module(file=self.file)
        if len(ops) == 1 and ops[0].name == "builtin.module":
            module.attributes = ops[0].attributes
            module.name = str(module.attributes.pop("sym_name", ""))
            ops = [op for region in ops[0].regions for block in region.blocks for op in block.ops]
        symbols: set[str] = set()
        for op in ops:
            name = op.attributes.get("sym_name")
            if isinstance(name, str):
                if name in symbols:
                    raise reader.error(f"the symbol @{name} is defined twice")
                symbols.add(name)
            if op.name == "func.func" and isinstance(name, str):
                module.functions[name] = op
            else:
                module.others.append(op)
        return module

    # Blocks and regions

    def _region(self, reader: ByteReader, is_isolated: bool, is_function: bool) -> Region:
        """A region: its blocks, and how many values it defines."""
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
        locations: list[Any] = []
        if self.version >= FormatVersion.ELIDED_ARGUMENT_LOCATIONS:
            varint = reader.varint
            for i in range(count):
                index = varint()
                block.arguments.append(Value(self._type(index >> 1, reader), block, i))
                locations.append(self._location(varint(), reader) if index & 1 else None)
        else:
            numbers = iter(reader.varints(2 * count))
            for i, (index, location) in enumerate(zip(numbers, numbers, strict=True)):
                block.arguments.append(Value(self._type(index, reader), block, i))
                locations.append(self._location(location, reader))
        if any(location is not None for location in locations):
            block.argument_locations = locations
        self._define(block.arguments, self._reserve(count, reader))
        if self.version >= FormatVersion.USE_LIST_ORDERS and reader.byte():
            _skip_use_lists(reader, count)

    def _reserve(self, count: int, reader: ByteReader) -> int:
        """The number of the first of `count` values, which the region has announced."""
        first = self.next_value
        if first + count > len(self.values):
            raise reader.error("more values than the region has announced")
        self.next_value = first + count
        return first

    def _define(self, values: list[Value], first: int) -> None:
        self.values[first : first + len(values)] = values

    # Ops

    def _block(self, reader: ByteReader, ops: list[Op], block: Block | None, is_function: bool) -> None:
        """A block's arguments and ops; without `block`, the ops of the file, whose values have no numbers."""
        count, has_arguments = reader.flagged()
        if has_arguments:
            if block is None:
                raise reader.error("the file's own block has arguments")
            self._arguments(reader, block)
        data, end, p = self.data, reader.end, reader.position
        if count > end - p:
            raise reader.error(f"{count} ops can't be in {end - p} bytes")
        kinds, locations, types, values = self.op_kinds.kinds, self.locations, self.types, self.values
        has_either, is_special = _HAS_EITHER, _IS_SPECIAL
        append = ops.append
        for _ in range(count):
            start = p
            # An index out of a table, or the end of the file, is an IndexError; the end of the section is seen below.
            try:
                b = data[p]
                p += 1
                if b & 1:
                    index = b >> 1
                else:
                    index, p = self._varint(reader, p)
                kind = kinds[index] or self.op_kinds.kind(index, reader)
                mask = data[p]
                b = data[p + 1]
                p += 2
                if b & 1:
                    index = b >> 1
                elif b & 2:
                    index = b >> 2 | data[p] << 6
                    p += 1
                else:
                    index, p = self._varint(reader, p)
                location = locations[index] or self._location(index, reader)
                key = 0
                if mask & has_either:
                    if mask & _ATTRIBUTES:
                        index, p = self._varint(reader, p + 1)
                        key = (index + 1) << KEY_SHIFT
                    if mask & _PROPERTIES:
                        b = data[p]
                        p += 1
                        if b & 1:
                            key |= (b >> 1) + 1
                        else:
                            index, p = self._varint(reader, p)
                            key |= index + 1
                known = kind.known.get(key)
                if known is None:
                    reader.position = p
                    known = self.op_kinds.attributes(kind, key, reader)
                attributes, nodes = known
                attributes = attributes.copy()
                if nodes > _SMALL:
                    self._spend(nodes, reader)
                result_types: list[Any] = []
                if mask & _RESULTS:
                    b = data[p]
                    p += 1
                    if b & 1:
                        n = b >> 1
                    else:
                        n, p = self._varint(reader, p)
                    if n > end - p:
                        raise reader.error(f"{n} results can't be in {end - p} bytes", p)
                    for _ in range(n):
                        b = data[p]
                        p += 1
                        if b & 1:
                            index = b >> 1
                        else:
                            index, p = self._varint(reader, p)
                        result_types.append(types[index] or self._type(index, reader))
                operands: list[Value] = []
                if mask & _OPERANDS:
                    b = data[p]
                    p += 1
                    if b & 1:
                        n = b >> 1
                    else:
                        n, p = self._varint(reader, p)
                    if n > end - p:
                        raise reader.error(f"{n} operands can't be in {end - p} bytes", p)
                    for _ in range(n):
                        b = data[p]
                        p += 1
                        if b & 1:
                            index = b >> 1
                        elif b & 2:
                            index = b >> 2 | data[p] << 6
                            p += 1
                        else:
                            index, p = self._varint(reader, p)
                        value = values[index]
                        if value is None:
                            raise reader.error(f"the value {index} is used but not defined before", start)
                        operands.append(value)
            except IndexError:
                raise self._bad_index(reader, start, p) from None
            if p > end:
                raise reader.error("an op ends after its section", start)
            name = kind.name
            if mask & is_special or kind.is_special:
                reader.position = p
                self._special(
                    reader, ops, kind, mask, block, is_function, (operands, result_types, attributes, location)
                )
                p = reader.position
                continue
            op = Op(name, operands, result_types, attributes, None, location)
            if result_types and block is not None:
                first = self.next_value
                self.next_value = last = first + len(result_types)
                if last > len(values):
                    raise reader.error("more values than the region has announced", start)
                values[first:last] = op.results
            append(op)
        reader.position = p

    def _special(
        self,
        reader: ByteReader,
        ops: list[Op],
        kind: OpKind,
        mask: int,
        block: Block | None,
        is_function: bool,
        parts: tuple[list[Value], list[Any], dict[str, Any], BytecodeLocation],
    ) -> None:
        """An op with regions or orders of uses, or one that isn't merely renamed."""
        operands, types, attributes, location = parts
        name = kind.name
        if mask & _SUCCESSORS:
            raise reader.error(f"{kind.written} has successors: StableHLO has no branches")
        if mask >> 7:
            raise reader.error("an op with parts that this version of the format has not")
        if mask & _USE_LISTS and self.version >= FormatVersion.USE_LIST_ORDERS:
            _skip_use_lists(reader, len(types))
        # The results have their numbers before the values of the regions, but the regions can't refer to them.
        first = 0 if block is None else self._reserve(len(types), reader)
        regions = self._regions(reader, name == "func.func") if mask & _REGIONS else []
        if kind.written == "vhlo.return_v1" and is_function:
            name = "func.return"
        if name == CAST and [operand.type for operand in operands] == types and not regions:
            if block is not None:  # between VHLO and another dialect, whose types are the same here
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

    # What ops refer to

    def _spend(self, nodes: int, reader: ByteReader) -> None:
        """Large attributes that many ops share are copied for each."""
        self.nodes += nodes
        if self.nodes > _MAX_NODES:
            raise reader.error("the attributes of the ops stand for too much")

    def _varint(self, reader: ByteReader, position: int) -> tuple[int, int]:
        """An integer whose first byte, before `position`, says that there are more; and the position after it."""
        reader.position = position - 1
        return reader.varint(), reader.position

    def _bad_index(self, reader: ByteReader, start: int, position: int) -> InvalidArgumentError:
        """The error for a number that is none of a table, or for the end of the file."""
        if position >= len(self.data):
            return reader.error("the data end within an op", start)
        return reader.error("the op that begins here refers to what isn't there", start)

    def _location(self, index: int, reader: ByteReader) -> BytecodeLocation:
        if index >= len(self.locations):
            raise reader.error(f"there is no location {index}")
        location = self.locations[index] = BytecodeLocation(self.pool, index)
        return location

    def _type(self, index: int, reader: ByteReader) -> Any:
        type = self.types[index] if index < len(self.types) else None
        if type is None:
            type = plain(self.pool.type(index, reader))
            self.types[index] = type
        return type


def _skip_use_lists(reader: ByteReader, count: int) -> None:
    """In which order values are used: nothing here depends on it."""
    entries = reader.count() if count > 1 else 1
    for _ in range(entries):
        if count > 1:
            reader.varint()
        size, _ = reader.flagged()
        if size > reader.end - reader.position:
            raise reader.error("an order of uses ends after its section")
        for _ in range(size):
            reader.varint()
