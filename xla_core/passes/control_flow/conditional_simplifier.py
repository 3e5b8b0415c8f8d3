"""conditional_simplifier: removes conditionals with known or cheap branches, and unused results of others.

(XLA: xla/service/conditional_simplifier.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import is_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.inlining import copy_into, inline_call
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.patterns import uniform_value

_SELECT_LIMIT = 12  # scalar operations, in all branches, of a conditional that becomes a select


class ConditionalSimplifier(InstructionPass):
    """Simplifies conditionals.

    - A conditional with a constant predicate, or with one branch, is replaced with its branch.
    - A conditional whose branches are a few scalar operations becomes a select.
    - Unused elements are removed from the tuples that the branches return.
    """

    opcodes = frozenset({Opcode.CONDITIONAL})

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        return (
            _take_known_branch(instruction)
            or _to_select(computation, instruction)
            or _drop_unused_results(computation, instruction)
        )


def _to_select(computation: HloComputation, instruction: HloInstruction) -> bool:
    branches = instruction.called_computations
    predicate = instruction.operands[0]
    if len(branches) != 2 or predicate.shape.element_type is not ElementType.PRED:
        return False
    if instruction.control_predecessors or instruction.control_successors:
        return False
    cost = 0
    for branch in branches:
        for node in branch.instructions:
            if not all(s.is_array and s.num_elements == 1 for s in node.shape.leaves()) or is_effect(node):
                return False
            is_cheap = Trait.CHEAP in node.op.traits
            if not is_cheap and not node.is_elementwise:
                return False
            cost += not is_cheap
    if cost > _SELECT_LIMIT:
        return False
    results = [copy_into(computation, b, [o])[0] for b, o in zip(branches, instruction.operands[1:], strict=True)]
    computation.replace_with(instruction, _select(computation, predicate, *results))
    return True


def _select(computation: HloComputation, p: HloInstruction, x: HloInstruction, y: HloInstruction) -> HloInstruction:
    if not x.shape.is_tuple:
        return x if x is y else computation.add(Opcode.SELECT, p, x, y)
    b = Builder(computation)
    return b.tuple([_select(computation, p, *both) for both in zip(b.elements(x), b.elements(y), strict=True)])


def _take_known_branch(instruction: HloInstruction) -> bool:
    branches = instruction.called_computations
    value = uniform_value(instruction.operands[0])
    if len(branches) == 1:
        number = 0
    elif value is None:
        return False
    elif instruction.operands[0].shape.element_type is ElementType.PRED:
        number = 0 if bool(value) else 1
    else:
        number = int(value) if 0 <= int(value) < len(branches) else len(branches) - 1
    inline_call(instruction, branches[number], [instruction.operands[number + 1]])
    return True


def _drop_unused_results(computation: HloComputation, instruction: HloInstruction) -> bool:
    module = computation.module
    assert module is not None
    if not instruction.shape.is_tuple or instruction.is_root:
        return False
    if any(u.opcode != Opcode.GET_TUPLE_ELEMENT for u in instruction.users):
        return False
    used = sorted({u.tuple_index for u in instruction.users if u.user_count or u.is_root})
    size = len(instruction.shape.tuple_shapes)
    branches = instruction.called_computations
    if len(used) == size or any(b.root.opcode != Opcode.TUPLE for b in branches):
        return False
    narrow = {}
    for branch in dict.fromkeys(branches):
        copy = branch.clone()
        root = copy.root
        copy.set_root(copy.add(Opcode.TUPLE, *[root.operands[i] for i in used]))
        copy.remove(root)
        narrow[branch] = module.add_computation(copy)
    shape = Shape.tuple([instruction.shape.tuple_shapes[i] for i in used])
    new = instruction.clone(shape=shape)
    for old_branch, branch in narrow.items():
        new.replace_called_computation(old_branch, branch)
    computation.add_instruction(new)
    new.control_predecessors = instruction.control_predecessors
    for successor in instruction.control_successors:
        successor.control_predecessors = [new if p is instruction else p for p in successor.control_predecessors]
    for user in instruction.users:
        if user.tuple_index in used and (user.user_count or user.is_root):
            moved = computation.add(Opcode.GET_TUPLE_ELEMENT, new, index=used.index(user.tuple_index))
            computation.replace_with(user, moved)
        else:
            computation.remove(user)
    computation.remove(instruction)
    return True
