"""Names, locations and types by number. Lists hold those that one byte can refer to."""

from __future__ import annotations

from typing import Any

from xla_core.stablehlo.bytecode.encoding import ByteReader
from xla_core.stablehlo.bytecode.locations import BytecodeLocation
from xla_core.stablehlo.bytecode.op_kinds import OpKind, OpKinds
from xla_core.stablehlo.bytecode.pool import Pool, plain

__all__ = ["References"]


class References:
    """The op names, locations and types of a file.

    Attributes:
        kinds: by the byte that is an op name's number; None where it isn't known yet, or the number is longer.
        types: the same of types.
        locations: by number; None where nobody has asked for it.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.op_kinds = OpKinds(pool)
        self.kinds: list[OpKind | None] = [None] * 256
        self.types: list[Any] = [None] * 256
        self.locations: list[BytecodeLocation | None] = [None] * len(pool.sections.attributes)

    def kind(self, index: int, reader: ByteReader) -> OpKind:
        """The op name of that number. Raises IndexError where there is none."""
        kind = self.op_kinds.kind(index, reader)
        if index < 128:
            self.kinds[index << 1 | 1] = kind
        return kind

    def location(self, index: int) -> BytecodeLocation:
        """The location of that number. Raises IndexError where there is none."""
        location = self.locations[index]
        if location is None:
            location = self.locations[index] = BytecodeLocation(self._pool, index)
        return location

    def type(self, index: int, reader: ByteReader) -> Any:
        """The type of that number."""
        type = plain(self._pool.type(index, reader))
        if index < 128:
            self.types[index << 1 | 1] = type
        return type
