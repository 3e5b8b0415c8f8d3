"""async_to_sync: replaces asynchronous ops with synchronous ops (XLA: ConvertAsyncCollectivesToSync)."""

from __future__ import annotations

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.pass_manager import HloPass


class AsyncToSync(HloPass):
    """Replaces each pair of start and done op with the synchronous op, at the position of the start op.

    Devices without asynchronous execution use this pass.
    """

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.computations:
            for instruction in computation.post_order():
                if instruction.opcode.endswith("-start"):
                    changed |= _rewrite(computation, instruction)
        return changed


def _rewrite(computation: HloComputation, start: HloInstruction) -> bool:
    made = _synchronous(computation, start)
    if made is None:
        return False
    parts = [start]
    for part in parts:
        for user in list(part.users):
            if user.opcode.endswith("-update"):
                parts.append(user)
            elif user.opcode.endswith("-done"):
                computation.replace_with(user, made)
    for part in reversed(parts):
        if not part.user_count and not part.is_root:
            computation.remove(part)
    return True


def _synchronous(computation: HloComputation, start: HloInstruction) -> HloInstruction | None:
    """Adds the synchronous op, with the shape of the done op; None for an op without a done op that has a result."""
    if start.opcode == Opcode.ASYNC_START:
        callee: HloComputation = start.attribute("calls")
        return computation.add(
            Opcode.CALL, *start.operands, shape=callee.root.shape, to_apply=callee, metadata=start.metadata
        )
    if start.opcode == Opcode.COPY_START:
        return computation.add(Opcode.COPY, start.operand(0), metadata=start.metadata)
    opcode = Opcode(start.opcode.removesuffix("-start"))
    done = OPS.get(Opcode(f"{opcode}-done"))
    if done is None or done.result_at is None:
        return None
    shape = start.shape
    for index in done.result_at:
        shape = shape.tuple_shapes[index]
    return computation.add(
        opcode, *start.operands, shape=shape.without_layout(), metadata=start.metadata, **start.attributes
    )
