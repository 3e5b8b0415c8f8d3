"""topk_decomposer: expands topk to a sort with indices and a slice (XLA: xla/service/topk_rewriter.h)."""

from __future__ import annotations

from typing import Any

from xla_core.hlo.attributes import SliceDimension
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.expanders.expander import OpExpander, module_of
from xla_core.passes.rewriter import Builder

__all__ = ["TopkDecomposer"]


class TopkDecomposer(OpExpander):
    """Sorts whole rows with a stable sort, so that the first of equal elements are taken."""

    name = "topk-decomposer"
    opcodes = frozenset({Opcode.TOPK})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        x = instruction.operands[0]
        last = x.shape.rank - 1
        element_type = x.shape.element_type
        comparator = HloComputation("topk_comparator")
        pairs = [comparator.parameter(n, Shape(t)) for n, t in enumerate([element_type] * 2 + [ElementType.S32] * 2)]
        order: dict[str, Any] = {"type": "TOTALORDER"} if element_type.is_floating else {}
        direction = "GT" if instruction.attribute("largest") else "LT"
        comparator.set_root(comparator.add(Opcode.COMPARE, pairs[0], pairs[1], direction=direction, **order))
        module_of(instruction).add_computation(comparator)
        places = b.add(Opcode.IOTA, shape=Shape(ElementType.S32, x.shape.dimensions), iota_dimension=last)
        rows = b.add(Opcode.SORT, x, places, dimensions=(last,), is_stable=True, to_apply=comparator)
        kept = [SliceDimension(0, n) for n in x.shape.dimensions]
        kept[last] = SliceDimension(0, instruction.attributes["k"])
        parts = [
            b.add(Opcode.SLICE, b.add(Opcode.GET_TUPLE_ELEMENT, rows, index=n), slice=tuple(kept)) for n in range(2)
        ]
        return b.add(Opcode.TUPLE, *parts)
