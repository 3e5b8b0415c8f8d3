"""The answer whether a device runs an instruction, with what it lacks."""

from __future__ import annotations

import dataclasses

from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

INDICES = "indices"


@dataclasses.dataclass(frozen=True, slots=True)
class Lack:
    """One thing that a device would need in order to run an instruction.

    Attributes:
        opcode: the op that is lacking; None for an element type that the device's memory doesn't hold, or that its
            ops don't take as indices.
        element_type: the type that the op lacks; None where the op lacks something else.
        detail: the target of a custom call, the word "indices", or the reason that a constraint gave.
    """

    opcode: Opcode | None = None
    element_type: ElementType | None = None
    detail: str = ""

    def __str__(self) -> str:
        if self.opcode is None:
            return f"{self.detail or 'memory'} of {self.element_type}"
        if self.opcode == Opcode.CUSTOM_CALL and self.detail:
            return f"custom call {self.detail!r}"
        if self.element_type is not None:
            return f"{self.opcode} of {self.element_type}"
        return f"{self.opcode} where {self.detail}" if self.detail else str(self.opcode)


@dataclasses.dataclass(frozen=True, slots=True)
class Ok:
    """The answer that the device runs an instruction."""

    def __bool__(self) -> bool:
        return True


@dataclasses.dataclass(frozen=True, slots=True)
class Unsupported:
    """The answer that the device doesn't run an instruction, and the reason why.

    `lacks` are some of the things that it lacks for it; with those, it may lack others.
    """

    reason: str
    lacks: tuple[Lack, ...] = dataclasses.field(default=(), compare=False)

    def __bool__(self) -> bool:
        return False


Support = Ok | Unsupported
