"""The dimensions of a dot's operands, and the dot with its operands swapped."""

from __future__ import annotations

import dataclasses
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction


@dataclasses.dataclass(frozen=True, slots=True)
class DotOperand:
    """An operand of a dot and the roles of its dimensions. The free ones are neither batch nor contracted."""

    value: HloInstruction
    batch: tuple[int, ...]
    contracted: tuple[int, ...]

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(d for d in range(self.value.shape.rank) if d not in self.batch and d not in self.contracted)

    def sizes(self, dimensions: tuple[int, ...]) -> list[int]:
        return [self.value.shape.dimensions[d] for d in dimensions]


def dot_operands(dot: HloInstruction) -> list[DotOperand]:
    """Returns the left and the right operand."""
    return [
        DotOperand(value, dot.attribute(f"{side}_batch_dims"), dot.attribute(f"{side}_contracting_dims"))
        for side, value in zip(("lhs", "rhs"), dot.operands, strict=True)
    ]


def swapped_attributes(dot: HloInstruction) -> dict[str, Any]:
    """The attributes of the dot of the operands in the other order."""
    attributes = dict(dot.attributes)
    for name in ("batch_dims", "contracting_dims"):
        attributes[f"lhs_{name}"], attributes[f"rhs_{name}"] = (dot.attribute(f"{s}_{name}") for s in ("rhs", "lhs"))
    if dot.attribute("operand_precision"):
        attributes["operand_precision"] = tuple(reversed(dot.attribute("operand_precision")))
    return attributes
