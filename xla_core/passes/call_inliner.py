"""call_inliner: puts the bodies of called computations in the place of `call`. (XLA: xla/service/call_inliner.h.)"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.passes.inlining import inline_call
from xla_core.passes.pass_manager import HloPass

__all__ = ["CallInliner"]

_MAX_INSTRUCTIONS = 5_000_000


class CallInliner(HloPass):
    """Inlines every call, innermost first.

    Args:
        keep: calls that stay: composites that a target has a kernel for, say.
    """

    name = "call-inliner"

    def __init__(self, keep: Callable[[HloInstruction], bool] | None = None) -> None:
        self._keep = keep

    def run(self, module: HloModule) -> bool:
        changed = False
        size = module.instruction_count
        for computation in module.post_order():
            for instruction in computation.instructions:
                if instruction.opcode != "call" or (self._keep is not None and self._keep(instruction)):
                    continue
                callee = instruction.attributes["to_apply"]
                size += callee.instruction_count
                if size > _MAX_INSTRUCTIONS:
                    raise ResourceExhaustedError(
                        f"module {module.name} has more than {_MAX_INSTRUCTIONS} instructions once calls are inlined",
                        hint="calls that nest double the program at each level; use while for repetition",
                    )
                inline_call(instruction, callee, instruction.operands)
                changed = True
        if changed:
            module.remove_unreachable_computations()
        return changed
