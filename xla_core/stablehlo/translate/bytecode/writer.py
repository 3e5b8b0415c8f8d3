"""Writes a module as a portable artifact: MLIR bytecode with VHLO's ops at a release of StableHLO.

Source: MLIR docs/BytecodeFormat.md; openxla/stablehlo, stablehlo/dialect/Serialization.cpp, Version.cpp.
"""

from __future__ import annotations

from typing import Any

from xla_core.errors import InternalError, ResourceExhaustedError, SourceLocation, UnimplementedError, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.encoding import MAGIC
from xla_core.stablehlo.bytecode.properties import layouts
from xla_core.stablehlo.bytecode.sections import FormatVersion, SectionId
from xla_core.stablehlo.ir.garbage_collection import without_collector
from xla_core.stablehlo.text.cursor import TextLocation
from xla_core.stablehlo.translate.bytecode.foreign_ops import is_foreign, with_casts
from xla_core.stablehlo.translate.bytecode.output import SMALL, Part, section, varint
from xla_core.stablehlo.translate.bytecode.to_vhlo import to_vhlo
from xla_core.stablehlo.translate.bytecode.vhlo_encoding import Encoder
from xla_core.stablehlo.translate.call_sites import locate
from xla_core.stablehlo.translate.expansion import expand
from xla_core.stablehlo.verify.verifier import verify
from xla_core.stablehlo.vhlo.ops import by_operands
from xla_core.stablehlo.vhlo.versions import CURRENT, MIXED_DIALECTS, Version

_ATTRIBUTES, _RESULTS, _OPERANDS, _REGIONS, _PROPERTIES = 1, 2, 4, 16, 64
_FORMATS = ((Version(0, 10), 0), (Version(0, 12), 1), (Version(0, 14), 3), (Version(0, 15), 4))
"""Before each of these releases, the version of the bytecode format; from the last one on it is the newest."""


def write_portable_artifact(module: ir.Module, version: Version | str = CURRENT, *, locations: bool = True) -> bytes:
    """Writes a module as a portable artifact, which StableHLO of that release and of later ones can read.

    Args:
        module: a module from a reader or `from_hlo`. Ops of CHLO are decomposed.
        version: a release of StableHLO, 0.9.0 to 1.20.0.
        locations: whether to write the ops' locations.

    A location keeps its place (the first file location, the innermost frame of a call stack) and its outermost name.
    Other frames, inner names, ranges, and other parts of fused locations are lost.

    Raises InvalidArgumentError for an invalid module; VersionError, with the op's location, for an op that needs a
    later release; UnimplementedError for an op that portable artifacts cannot hold.
    """
    ir.require_module(module)
    release = Version.parse(version)
    try:
        with without_collector():
            verify(module)  # an invalid artifact may crash MLIR, which doesn't check it
            return b"".join(_Writer(release, locations).module(with_casts(expand(module, release))))
    except XlaError as error:
        locate(error, module)
        raise
    except RecursionError as error:
        raise ResourceExhaustedError("the program is nested too deeply to be written") from error


def _format(version: Version) -> int:
    for limit, number in _FORMATS:
        if version < limit:
            return number
    return FormatVersion.NEWEST


class _Writer:
    def __init__(self, version: Version, locations: bool) -> None:
        self.version = version
        self.format = _format(version)
        self.with_locations = locations
        self.encoder = Encoder(version)
        self.properties: dict[bytes, int] = {}
        self.op_names: dict[str, int] = {}
        self.values: dict[ir.Value, int] = {}
        self.next_value = self.limit = 0  # the next value's number; the values of this region and those around it
        self.unknown = varint(self.encoder.location(None))
        self._heads: dict[Any, tuple[bytes, int, bytes]] = {}
        self._by_operands = by_operands()
        self._types: dict[int, bytes] = {}
        self._locations: dict[Any, bytes] = {}

    def module(self, module: ir.Module) -> list[Part]:
        out = bytearray(varint(1 << 1))  # one op, no arguments
        self._module_op(out, module)
        encoder, strings = self.encoder, self.encoder.strings
        dialects = self._dialects()
        counts = varint(len(encoder.attributes)) + varint(len(encoder.types))
        offsets = [counts, *encoder.attributes.offsets(), *encoder.types.offsets()]
        parts: list[Part] = [MAGIC, varint(self.format), f"StableHLO_v{self.version}".encode() + b"\0"]
        parts += strings.section()
        parts += section(SectionId.DIALECT, [dialects])
        parts += section(SectionId.ATTRIBUTES, [*encoder.attributes.contents(), *encoder.types.contents()])
        parts += section(SectionId.ATTRIBUTE_OFFSETS, offsets)
        parts += section(SectionId.IR, [bytes(out)])
        if self.format >= FormatVersion.PROPERTIES:
            entries = [varint(len(data)) + data for data in self.properties]
            parts += section(SectionId.PROPERTIES, [varint(len(entries)), *entries])
        return parts

    def _dialects(self) -> bytes:
        """Encodes the names of the dialects and of their ops."""
        strings = self.encoder.strings
        groups: list[tuple[str, list[str]]] = []
        for name in self.op_names:  # in the order of their numbers
            dialect, _, op = name.partition(".")
            if not groups or groups[-1][0] != dialect:
                groups.append((dialect, []))
            groups[-1][1].append(op)
        ops = bytearray()
        for dialect, names in groups:
            ops += varint(self.encoder.dialect(dialect)) + varint(len(names))
            for op in names:
                number = strings.number(op)
                ops += varint(number << 1 | 1 if self.format >= FormatVersion.PROPERTIES else number)
        dialects = self.encoder.dialects
        out = bytearray(varint(len(dialects)))
        for name in dialects:
            number = strings.number(name)
            out += varint(number << 1 if self.format >= FormatVersion.DIALECT_VERSIONS else number)
        if self.format >= FormatVersion.ELIDED_ARGUMENT_LOCATIONS:
            out += varint(len(self.op_names))
        return bytes(out + ops)

    # Ops

    def _module_op(self, out: bytearray, module: ir.Module) -> None:
        encoder = self.encoder
        numbers = {name: encoder.builtin_attribute(value) for name, value in module.attributes.items()}
        own = {}
        if module.name:
            own["sym_name"] = encoder.builtin_string(module.name)
        mask, attributes = self._attributes("builtin.module", own, numbers)
        out += self._name("builtin.module") + bytes([mask | _REGIONS]) + self.unknown + attributes
        out += varint(1 << 1 | 1)  # one region, isolated
        region = ir.Region([ir.Block()])
        region.block.ops = [*module.others, *module.functions.values()]
        inner = bytearray()
        self._region(inner, region)
        if self.format >= FormatVersion.ISOLATED_REGION_SECTIONS:
            out += bytes([SectionId.IR]) + varint(len(inner))
        out += inner

    def _name(self, name: str) -> bytes:
        return varint(self.op_names.setdefault(name, len(self.op_names)))

    def _attributes(self, name: str, own: dict[str, int], rest: dict[str, int]) -> tuple[int, bytes]:
        """Encodes an op's own attributes and the others. Returns the bits of the op's mask, and the encoding."""
        encoder = self.encoder
        if self.format < FormatVersion.PROPERTIES:
            numbers = {**own, **rest}
            return (_ATTRIBUTES, varint(encoder.builtin_dictionary(numbers))) if numbers else (0, b"")
        mask, out = 0, b""
        if rest:
            mask, out = _ATTRIBUTES, varint(encoder.builtin_dictionary(rest))
        layout = layouts(name)[0]
        if layout:
            parts = []
            for key, is_optional in layout:
                number = own.get(key)
                if number is None and not is_optional:
                    raise UnimplementedError(f"{name} needs the attribute {key}")
                parts.append(varint(0 if number is None else number << 1 | 1) if is_optional else varint(number or 0))
            data = b"".join(parts)
            out += varint(self.properties.setdefault(data, len(self.properties)))
            mask |= _PROPERTIES
        return mask, out

    def _op(self, out: bytearray, op: ir.Op) -> None:
        # Readers share equal attributes, so the encodings of ops of one name are cached by the attributes' identity.
        attributes = op.attributes
        if op.name in self._by_operands:
            name, mask, encoded = self._head(op)
        else:
            key = (op.name, *attributes, *map(id, attributes.values())) if attributes else op.name
            head = self._heads.get(key)
            if head is None:
                head = self._head(op)
                self._heads[key] = head
            name, mask, encoded = head
        results, operands, regions = op.results, op.operands, op.regions
        if results:
            mask |= _RESULTS
        if operands:
            mask |= _OPERANDS
        if regions:
            mask |= _REGIONS
        out += name
        out.append(mask)
        location = op.given_location
        out += self._locations.get(location) or self._location(location)
        out += encoded
        small, values = SMALL, self.values
        if results:
            out += varint(len(results))
            types, number = self._types, self.next_value
            for result in results:
                out += types.get(id(result.type)) or self._type(result)
                values[result] = number
                number += 1
            self.next_value = number
        if operands:
            out += varint(len(operands))
            for operand in operands:
                place = values.get(operand)
                if place is None:
                    raise InternalError(
                        f"{operand!r} is used where it is not defined", op=op.name, location=op.location
                    )
                out += small[place] if place < 16384 else varint(place)
        if regions:
            out += varint(len(regions) << 1)
            for region in regions:
                self._region(out, region)

    def _head(self, op: ir.Op) -> tuple[bytes, int, bytes]:
        """Encodes an op's name and attributes. Returns the name, the op's mask, and the attributes."""
        try:
            if is_foreign(op.name):
                return self._foreign_head(op)
            vhlo, own, rest = to_vhlo(op, self.version)
            attribute = self.encoder.attribute
            numbers = {name: attribute(own[name]) for name in own}
            others = {name: attribute(value) for name, value in rest.items()}
            return self._name(vhlo.written), *self._attributes(vhlo.written, numbers, others)
        except XlaError as error:
            error.op = error.op or op.name
            error.location = error.location or op.location
            raise

    def _foreign_head(self, op: ir.Op) -> tuple[bytes, int, bytes]:
        """Encodes the name and attributes of another dialect's op."""
        self.encoder.require(f"{op.name}, an op of another dialect,", MIXED_DIALECTS)
        numbers = {name: self.encoder.builtin_attribute(value) for name, value in op.attributes.items()}
        own = {name for name, _ in layouts(op.name)[0]}
        rest = {name: number for name, number in numbers.items() if name not in own}
        return self._name(op.name), *self._attributes(op.name, numbers, rest)

    def _location(self, location: Any) -> bytes:
        place = location
        if isinstance(location, TextLocation) or not self.with_locations:
            place = None  # a place in the text isn't a place in the user's program
        elif location is not None and not isinstance(location, SourceLocation):
            place = location.resolve()
        found = self._locations[location] = varint(self.encoder.location(place))
        return found

    def _type(self, value: ir.Value) -> bytes:
        try:
            found = self._types[id(value.type)] = varint(self.encoder.type(value.type))
        except XlaError as error:
            owner = value.owner
            if isinstance(owner, ir.Op):
                error.op, error.location = error.op or owner.name, error.location or owner.location
            raise
        return found

    # Regions

    def _region(self, out: bytearray, region: ir.Region) -> None:
        """Encodes a region. Its values are numbered after all values of the regions around it."""
        out += varint(len(region.blocks))
        if not region.blocks:
            return
        count = sum(len(b.arguments) + sum([len(op.results) for op in b.ops]) for b in region.blocks)
        out += varint(count)
        outer = self.next_value, self.limit
        self.next_value = self.limit
        self.limit += count
        for block in region.blocks:
            self._block(out, block)
        self.next_value, self.limit = outer

    def _block(self, out: bytearray, block: ir.Block) -> None:
        out += varint(len(block.ops) << 1 | bool(block.arguments))
        if block.arguments:
            self._arguments(out, block)
        for op in block.ops:
            self._op(out, op)

    def _arguments(self, out: bytearray, block: ir.Block) -> None:
        out += varint(len(block.arguments))
        is_elided = self.format >= FormatVersion.ELIDED_ARGUMENT_LOCATIONS
        places = block.argument_locations if self.with_locations else []
        for i, argument in enumerate(block.arguments):
            type, place = self.encoder.type(argument.type), places[i] if i < len(places) else None
            if not is_elided:
                out += varint(type) + varint(self.encoder.location(place))
            elif place is None:
                out += varint(type << 1)
            else:
                out += varint(type << 1 | 1) + varint(self.encoder.location(place))
            self.values[argument] = self.next_value
            self.next_value += 1
        if self.format >= FormatVersion.USE_LIST_ORDERS:
            out.append(0)
