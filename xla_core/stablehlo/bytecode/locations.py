"""Decodes a location when it is first used, because most are never used.

A location keeps the same parts as in the text reader: the place in the user's program (the first file location, the
innermost frame of a call stack) and the name stack (the outermost name).
"""

from __future__ import annotations

from xla_core.errors import SourceLocation, XlaError
from xla_core.stablehlo.bytecode.codes import BuiltinAttribute
from xla_core.stablehlo.bytecode.pool import DialectReader, Pool

_NOWHERE = SourceLocation()


class BytecodeLocation:
    """A location, by its number among the attributes.

    A location that can't be decoded becomes an unknown one, because locations are used in messages only.
    """

    __slots__ = ("index", "pool")

    def __init__(self, pool: Pool, index: int) -> None:
        self.pool = pool
        self.index = index

    def resolve(self) -> SourceLocation:
        name = ""
        place: tuple[str, int, int] | None = None
        seen: set[int] = set()
        stack = [self.index]
        while stack and not (name and place):
            index = stack.pop()
            if index in seen:
                continue
            seen.add(index)
            try:
                found_name, found_place, children = _read(self.pool, index)
            except XlaError:
                self.pool.recover()
                continue
            name = name or found_name
            place = place or found_place
            stack.extend(reversed(children))
        if place is None:
            return SourceLocation(name=name) if name else _NOWHERE
        return SourceLocation(*place, name)


def _read(pool: Pool, index: int) -> tuple[str, tuple[str, int, int] | None, list[int]]:
    """Decodes one location. Returns its name, its (file, line, column), and the numbers of the locations within it."""
    if index >= len(pool.sections.attributes):
        return "", None, []
    entry = pool.sections.attributes[index]
    if entry.dialect != "builtin" or not entry.is_custom:
        return "", None, []
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
    return "", None, []


def location_reader(reader: DialectReader) -> BytecodeLocation:
    """Reads a location that is used as the value of an attribute."""
    reader.position = reader.end
    return BytecodeLocation(reader.pool, reader.index)
