"""sort_simplifier: removes operands of sorts that neither the comparator nor users need.

(XLA: xla/service/sort_simplifier.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.rewriter import remove_dead


class SortSimplifier(InstructionPass):
    """Removes unused operands from sorts of several operands."""

    opcodes = frozenset({Opcode.SORT})

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        return instruction.shape.is_tuple and _narrow(computation, instruction)


def _narrow(computation: HloComputation, sort: HloInstruction) -> bool:
    if sort.is_root or any(u.opcode != Opcode.GET_TUPLE_ELEMENT for u in sort.users):
        return False
    comparator: HloComputation = sort.attribute("to_apply")
    used = {u.tuple_index for u in sort.users if u.user_count or u.is_root}
    used |= {p.parameter_number // 2 for p in comparator.parameters if p.user_count or p.is_root}
    count = len(sort.operands)
    if len(used) == count or not used:
        return False
    keep = sorted(used)
    operands = list(sort.operands)
    assert computation.module is not None
    narrow = computation.module.add_computation(_without(comparator, keep))
    shapes = [sort.shape.tuple_shapes[n] for n in keep]
    shape = shapes[0] if len(keep) == 1 else Shape.tuple(shapes)
    new = computation.add_instruction(sort.clone([operands[n] for n in keep], shape=shape, to_apply=narrow))
    for user in sort.users:
        if user.tuple_index not in used:
            computation.remove(user)
            continue
        place = keep.index(user.tuple_index)
        part = new if len(keep) == 1 else computation.add(Opcode.GET_TUPLE_ELEMENT, new, index=place)
        computation.replace_with(user, part)
    computation.remove(sort)
    for operand in operands:
        remove_dead(operand)
    return True


def _without(comparator: HloComputation, keep: list[int]) -> HloComputation:
    """Copies a comparator with only the parameters of the operands `keep`."""
    copy = HloComputation(comparator.name)
    copies: dict[HloInstruction, HloInstruction] = {}
    for place, n in enumerate(keep):
        for side in range(2):
            old = comparator.parameters[2 * n + side]
            copies[old] = copy.parameter(2 * place + side, old.shape, old.name)
    for old in comparator.post_order():
        if old.opcode != Opcode.PARAMETER:
            copies[old] = copy.add_instruction(old.clone([copies[o] for o in old.operands]))
    copy.set_root(copies[comparator.root])
    return copy
