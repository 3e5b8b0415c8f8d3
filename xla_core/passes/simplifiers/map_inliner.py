"""map_inliner: replaces map with the ops of its computation, on arrays (XLA: xla/service/map_inliner.h)."""

from __future__ import annotations

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass

__all__ = ["MapInliner"]


class MapInliner(HloPass):
    """Inlines each map whose computation has only elementwise ops, parameters and constants."""

    name = "map-inliner"

    def run(self, module: HloModule) -> bool:
        module.check_growth(lambda i: i.called_computations if i.opcode == Opcode.MAP else ())
        changed = False
        for computation in module.post_order():
            for instruction in computation.instructions:
                if instruction.opcode == Opcode.MAP and _is_simple(instruction.attributes["to_apply"]):
                    _inline(computation, instruction)
                    changed = True
        if changed:
            module.remove_unreachable_computations()
        return changed


def _is_simple(body: HloComputation) -> bool:
    return all(
        i.opcode in (Opcode.PARAMETER, Opcode.CONSTANT)
        or (i.is_elementwise and i.opcode != Opcode.MAP and not i.called_computations)
        for i in body.instructions
    )


def _inline(computation: HloComputation, instruction: HloInstruction) -> None:
    body: HloComputation = instruction.attributes["to_apply"]
    dimensions = instruction.shape.dimensions
    copies: dict[HloInstruction, HloInstruction] = dict(zip(body.parameters, instruction.operands, strict=True))
    for old in body.post_order():
        if old in copies:
            continue
        if old.opcode == Opcode.CONSTANT:
            scalar = computation.add_instruction(old.clone())
            shape = old.shape.with_dimensions(dimensions)
            copies[old] = (
                computation.add(Opcode.BROADCAST, scalar, shape=shape, dimensions=()) if dimensions else scalar
            )
        else:
            shape = old.shape.with_dimensions(dimensions)
            copies[old] = computation.add_instruction(old.clone([copies[o] for o in old.operands], shape=shape))
    root = copies[body.root]
    computation.replace_with(instruction, root)
