"""reshape_mover: moves reshapes and transposes behind elementwise ops (XLA: xla/service/reshape_mover.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.patterns import POINTWISE, is_one_use
from xla_core.passes.rewriter import RewritePass, Rule


def _move(i: HloInstruction, b: Builder) -> HloInstruction | None:
    moved = [o for o in dict.fromkeys(i.operands) if o.opcode in (Opcode.RESHAPE, Opcode.TRANSPOSE)]
    if not moved or not i.is_elementwise or not _worthwhile(i, moved):
        return None
    first = moved[0]
    source = first.operands[0].shape.dimensions
    for operand in i.operands:
        if operand in moved:
            if operand.opcode != first.opcode or operand.operands[0].shape.dimensions != source:
                return None
            if operand.attributes.get("dimensions") != first.attributes.get("dimensions"):
                return None
        elif not _is_scalar_broadcast(operand) and operand.shape.rank:
            return None
    if any(not is_one_use(o) for o in moved):
        return None
    operands = [_moved(o, moved, i, source, b) for o in i.operands]
    result = b.clone(i, operands, shape=i.shape.with_dimensions(source))
    if first.opcode == Opcode.RESHAPE:
        return b.reshape(result, i.shape.dimensions)
    return b.transpose(result, first.attribute("dimensions"))


def _moved(
    operand: HloInstruction, moved: list[HloInstruction], i: HloInstruction, source: Sequence[int], b: Builder
) -> HloInstruction:
    if operand in moved:
        return operand.operands[0]
    if operand.shape.rank:
        return b.broadcast(operand.operands[0], source)
    # A scalar operand of an array op (a limit of clamp) stays a scalar; one of a scalar op is broadcast.
    return operand if i.shape.rank else b.broadcast(operand, source)


def _worthwhile(i: HloInstruction, moved: list[HloInstruction]) -> bool:
    """Whether the rewrite removes a reshape or transpose, or moves one next to another that it can merge with."""
    return len(moved) > 1 or (i.user_count > 0 and all(u.opcode == moved[0].opcode for u in i.users))


def _is_scalar_broadcast(operand: HloInstruction) -> bool:
    return operand.opcode == Opcode.BROADCAST and operand.operands[0].shape.rank == 0


class ReshapeMover(RewritePass):
    """Rewrites op(reshape(x), reshape(y)) to reshape(op(x, y)), and the same for transposes.

    The reshapes or transposes must be equal and have no other users. Operands that broadcast a scalar are allowed too.
    """

    rules: Mapping[Opcode, Sequence[Rule]] = {opcode: [_move] for opcode in POINTWISE}
