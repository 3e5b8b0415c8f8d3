"""dynamic_index_splitter: splits the index vector of a dynamic slice into scalars (XLA: dynamic_index_splitter.h)."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class DynamicIndexSplitter(OpExpander):
    """Rewrites dynamic-slice and dynamic-update-slice whose start indices are one vector."""

    opcodes = frozenset({Opcode.DYNAMIC_SLICE, Opcode.DYNAMIC_UPDATE_SLICE})

    def matches(self, instruction: HloInstruction) -> bool:
        first = 1 if instruction.opcode == Opcode.DYNAMIC_SLICE else 2
        return len(instruction.operands) == first + 1 and instruction.operands[first].shape.rank == 1

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        *others, vector = instruction.operands
        scalars = [
            b.reshape(b.add(Opcode.SLICE, vector, slice=(SliceDimension(d, d + 1),)), ())
            for d in range(vector.shape.dimensions[0])
        ]
        return b.clone(instruction, [*others, *scalars])
