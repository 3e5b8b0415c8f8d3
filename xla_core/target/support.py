"""Whether a device runs an instruction, and the features that it lacks for it."""

from __future__ import annotations

import dataclasses
import enum

from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType


class LackKind(enum.Enum):
    """The kind of feature that a device lacks."""

    OP = "op"  # an op, or one of its element types
    MEMORY = "memory"  # a type that memory holds
    INDICES = "indices"  # a type of indices that the device's ops take
    CUSTOM_CALL = "custom call"  # a target
    LIMIT = "limit"  # an op that the device has, beyond a constraint


@dataclasses.dataclass(frozen=True, slots=True)
class Lack:
    """One feature that a device would need in order to run an instruction.

    Attributes:
        kind: an op, memory of a type, a type of indices, a custom call, or an op beyond a constraint.
        opcode: the op; None where the kind is memory or indices.
        element_type: the type that the op lacks, or that the memory or the indices lack; None for another kind.
        detail: the target of a custom call; the reason that a constraint gave, for a limit; "" for another kind.
    """

    opcode: Opcode | None = None
    element_type: ElementType | None = None
    kind: LackKind = LackKind.OP
    detail: str = ""

    def __str__(self) -> str:
        match self.kind:
            case LackKind.CUSTOM_CALL:
                return f"custom call {self.detail!r}"
            case LackKind.LIMIT:
                return f"{self.opcode} where {self.detail}"
        name = self.kind.value if self.opcode is None else self.opcode
        return name if self.element_type is None else f"{name} of {self.element_type}"


@dataclasses.dataclass(frozen=True, slots=True)
class Ok:
    """The answer that the device runs an instruction."""

    def __bool__(self) -> bool:
        return True


@dataclasses.dataclass(frozen=True, slots=True)
class Unsupported:
    """The answer that the device doesn't run an instruction, and the reason why.

    `lacks` are some of the features that it lacks for the instruction; with these added, it may lack others.
    """

    reason: str
    lacks: tuple[Lack, ...] = dataclasses.field(default=(), compare=False)

    def __bool__(self) -> bool:
        return False


Support = Ok | Unsupported
