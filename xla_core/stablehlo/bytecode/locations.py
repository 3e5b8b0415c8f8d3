"""Decodes a location when it is first used, because most are never used."""

from __future__ import annotations

from xla_core.errors import SourceLocation, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.codes import BuiltinAttribute
from xla_core.stablehlo.bytecode.pool import DialectReader, Pool

_UNKNOWN: ir.LocationParts = ("", None, ())


class BytecodeLocation:
    """A location, by its number among the attributes.

    A location that can't be decoded becomes an unknown one, because locations are used in messages only.
    """

    __slots__ = ("index", "pool")

    def __init__(self, pool: Pool, index: int) -> None:
        self.pool = pool
        self.index = index

    def resolve(self) -> SourceLocation:
        return ir.find_location(self.index, self._parts)

    def _parts(self, index: int) -> ir.LocationParts:
        try:
            return _read(self.pool, index)
        except XlaError:
            self.pool.recover()
            return _UNKNOWN


def _read(pool: Pool, index: int) -> ir.LocationParts:
    if index >= len(pool.sections.attributes):
        return _UNKNOWN
    entry = pool.sections.attributes[index]
    if entry.dialect != "builtin" or not entry.is_custom:
        return _UNKNOWN
    reader = DialectReader(pool, entry.start, entry.end)
    code = reader.varint()
    if code == BuiltinAttribute.FILE_LINE_COL_LOC:
        return "", (reader.text(), reader.varint(), reader.varint()), []
    if code == BuiltinAttribute.FILE_LINE_COL_RANGE:
        file = reader.text()
        line, column, *_ = *reader.list_of(reader.varint), 0, 0
        return "", (file, line, column), []
    if code == BuiltinAttribute.NAME_LOC:
        return reader.text(), None, [reader.varint()]
    if code == BuiltinAttribute.CALL_SITE_LOC:
        return "", None, [reader.varint(), reader.varint()]
    if code in (BuiltinAttribute.FUSED_LOC, BuiltinAttribute.FUSED_LOC_WITH_METADATA):
        return "", None, reader.list_of(reader.varint)
    return _UNKNOWN


def location_reader(reader: DialectReader) -> BytecodeLocation:
    """Reads a location that is used as the value of an attribute."""
    reader.position = reader.end
    return BytecodeLocation(reader.pool, reader.index)
