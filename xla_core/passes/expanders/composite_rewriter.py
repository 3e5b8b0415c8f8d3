"""composite_rewriter: replaces a composite that the target runs with a custom call.

(XLA: xla/service/gpu/transforms/composite_rewriter.h.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class CompositeRewriter(OpExpander):
    """Replaces a call of a composite with a custom call: the target is its name, the backend_config its attributes.

    The decompositions are removed, since they need not be legal on the target. Other composites are inlined later, also
    those whose call the target refuses, for example because it runs the composite in other element types only.

    Args:
        names: the composites that the target runs (`Capabilities.composites`).
        supports: whether the target supports a custom call.
    """

    opcodes = frozenset({Opcode.CALL})

    def __init__(
        self, names: Collection[str] = (), supports: Callable[[HloInstruction], object] = lambda call: True
    ) -> None:
        super().__init__()
        self._names = names
        self._supports = supports

    def matches(self, instruction: HloInstruction) -> bool:
        if dict(instruction.attribute("frontend_attributes") or ()).get("composite.name") not in self._names:
            return False
        assert instruction.parent is not None
        b = Builder(instruction.parent)
        supported = bool(self._supports(self.expand(instruction, b)))
        b.undo()
        return supported

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        composite = dict(instruction.attribute("frontend_attributes"))
        return b.add(
            Opcode.CUSTOM_CALL,
            *instruction.operands,
            shape=instruction.shape,
            custom_call_target=composite["composite.name"],
            backend_config=composite.get("composite.attributes", "{}"),
            frontend_attributes=instruction.attribute("frontend_attributes"),
        )
