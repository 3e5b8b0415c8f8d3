"""topk_decomposer: expands topk to a sort with indices and a slice (XLA: xla/service/topk_rewriter.h)."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder, comparator
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander


class TopkDecomposer(OpExpander):
    """Sorts whole rows with a stable sort, so that the first of equal elements are taken."""

    opcodes = frozenset({Opcode.TOPK})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x = instruction.operands[0]
        last = x.shape.rank - 1
        element_type = x.shape.element_type
        order = "TOTALORDER" if element_type.is_floating else None
        direction = "GT" if instruction.attribute("largest") else "LT"
        first = comparator(direction, element_type, ElementType.S32, type=order, module=b.hlo_module)
        places = b.add(Opcode.IOTA, shape=Shape(ElementType.S32, x.shape.dimensions), iota_dimension=last)
        rows = b.add(Opcode.SORT, x, places, dimensions=(last,), is_stable=True, to_apply=first)
        return b.tuple([b.slice_in_dim(b.element(rows, n), last, 0, instruction.attribute("k")) for n in range(2)])
