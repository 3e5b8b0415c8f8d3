"""Op names, locations and types by number. Lists cache the entries that a reference of one byte can reach."""

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
        kinds: the op names by the byte that encodes their number; None if not yet read, or if no byte encodes it.
        types: the types, in the same way.
        locations: the locations by number; None if not yet used.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.op_kinds = OpKinds(pool)
        self.kinds: list[OpKind | None] = [None] * 256
        self.types: list[Any] = [None] * 256
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
            self.types[index << 1 | 1] = type
        return type
