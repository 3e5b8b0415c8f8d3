"""async-to-sync: start and done ops become the op itself, at the start's place.

(XLA: ConvertAsyncCollectivesToSync.) A device that is one native call gains nothing from
starting early.
"""

from __future__ import annotations

from xla_core.hlo import OPS, HloComputation, HloInstruction, HloModule
from xla_core.passes import HloPass

__all__ = ["AsyncToSync"]


class AsyncToSync(HloPass):
    """See the module's docstring."""

    name = "async-to-sync"

    def run(self, module: HloModule) -> bool:
        """Rewrites every pair of start and done."""
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
    """The op without its start, of the shape that its done has."""
    opcode = start.opcode.removesuffix("-start")
    if opcode == "async":
        callee: HloComputation = start.attribute("calls")
        return computation.add(
            "call", *start.operands, shape=callee.root.shape, to_apply=callee, metadata=start.metadata
        )
    if opcode == "copy":
        return computation.add("copy", start.operand(0), metadata=start.metadata)
    done = OPS.get(f"{opcode}-done")
    if done is None or done.result_at is None:
        return None
    shape = start.shape
    for index in done.result_at:
        shape = shape.tuple_shapes[index]
    return computation.add(
        opcode, *start.operands, shape=shape.without_layout(), metadata=start.metadata, **start.attributes
    )
