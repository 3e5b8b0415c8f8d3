"""The root of each group in collective_broadcast and collective_reduce; the last operand may name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.hlo.attributes import SliceDimension
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import tensor

__all__ = ["data_operands", "with_roots"]


def data_operands(op: ir.Op, name: str) -> list[ir.TensorType]:
    """Returns the types of the data operands; checks the last operand where it holds the roots."""
    types = [tensor(op, i) for i in range(len(op.operands))]
    if not op.attributes.get("has_dynamic_root"):
        if not types:
            op.fail(f"{name} requires at least one data operand")
        return types
    if len(types) < 2:
        op.fail(f"{name} with has_dynamic_root=true requires at least two operands (data + root)")
    *data, root = types
    if root.rank != 1 or root.element != "i32":
        op.fail(f"last operand of {name} with has_dynamic_root=true must be a rank-1 i32 tensor, but got '{root}'")
    if root.shape[0] not in (ir.DYNAMIC, len(data)):
        op.fail(
            f"last operand of {name} with has_dynamic_root=true must have the same number of elements as data operands "
            f"({len(data)}), but got {root.shape[0]}"
        )
    return data


def with_roots(
    ctx: LoweringContext, op: ir.Op, operands: Sequence[HloInstruction]
) -> tuple[list[tuple[HloInstruction, ...]], dict[str, Any]]:
    """Returns the operands of one HLO op for each data operand, and the attribute that marks a root among them."""
    if not op.attributes.get("has_dynamic_root"):
        return [(o,) for o in operands], {}
    *data, roots = operands
    if len(data) == 1:
        return [(data[0], roots)], {"has_dynamic_root": True}
    places = [ctx.add(Opcode.SLICE, roots, slice=(SliceDimension(i, i + 1),)) for i in range(len(data))]
    return list(zip(data, places, strict=True)), {"has_dynamic_root": True}
