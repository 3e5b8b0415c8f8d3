"""select_and_scatter_expander: expands select-and-scatter to a reduce-window and a scatter.

(XLA: xla/service/select_and_scatter_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.inlining import copy_into


class SelectAndScatterExpander(OpExpander):
    """Expands select-and-scatter, which is the gradient of pooling.

    A reduce-window over elements and their linear indices finds the selected index of each window, and a scatter adds
    the source there. Padding has index -1: it is never selected, and scatter drops windows of padding alone.
    """

    opcodes = frozenset({Opcode.SELECT_AND_SCATTER})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0 and instruction.operands[1].shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x, source, initial = instruction.operands
        count = x.shape.num_elements
        _, places = selected(instruction, b)
        amount = source.shape.num_elements
        scattered = b.add(
            Opcode.SCATTER,
            b.broadcast(initial, (count,)),
            b.reshape(places, (amount,)),
            b.reshape(source, (amount,)),
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=1,
            to_apply=instruction.attribute("scatter"),
        )
        return b.reshape(scattered, instruction.shape.dimensions)


def selected(instruction: HloInstruction, b: Builder) -> tuple[HloInstruction, HloInstruction]:
    """The linear indices of the operand's elements, and of the selected one of each window: -1 if it is of padding."""
    x, number = instruction.operand(0), Shape(ElementType.S32)
    numbers = b.add(Opcode.IOTA, shape=number.with_dimensions((x.shape.num_elements,)), iota_dimension=0)
    shaped = b.reshape(numbers, x.shape.dimensions)
    found = b.add(
        Opcode.REDUCE_WINDOW,
        x,
        shaped,
        b.constant(0, x.shape.with_dimensions(())),
        b.constant(-1, number),
        window=instruction.attribute("window"),
        to_apply=b.hlo_module.add_computation(_better(instruction)),
    )
    return shaped, b.add(Opcode.GET_TUPLE_ELEMENT, found, index=1)


def _better(instruction: HloInstruction) -> HloComputation:
    """A reducer of (value, index) pairs: it returns the pair that `select` prefers, and prefers elements to padding."""
    value = Shape(instruction.operands[0].shape.element_type)
    number = Shape(ElementType.S32)
    c = HloComputation("select_better")
    b = Builder(c)
    x, i, y, j = (HloExpression(b, c.parameter(n, s)) for n, s in enumerate((value, number, value, number)))
    preferred, _ = copy_into(c, instruction.attribute("select"), [x.i, y.i])
    takes_x = j.equals(-1) | (~i.equals(-1) & preferred)
    c.set_root(b.tuple([takes_x.where(x, y).i, takes_x.where(i, j).i]))
    return c
