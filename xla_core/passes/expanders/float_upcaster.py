"""float_upcaster: computes dots and convolutions of 8- and 16-bit floats in f32."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.expanders.expander import OpExpander


class FloatUpcaster(OpExpander):
    """Upcasts dots and convolutions, for devices whose multiplication units support no floats narrower than f32.

    The product is computed in the widest type of its operands and result, at least f32, and rounded once. The
    conversions are separate instructions, so that they fuse with the operands' producers and the result's users.
    """

    opcodes = frozenset({Opcode.DOT, Opcode.CONVOLUTION})

    def matches(self, instruction: HloInstruction) -> bool:
        types = {instruction.shape.element_type, *(o.shape.element_type for o in instruction.operands)}
        return all(t.is_floating for t in types) and min(t.bit_width for t in types) < 32

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        types = {ElementType.F32, instruction.shape.element_type, *(o.shape.element_type for o in instruction.operands)}
        wide = instruction.shape.with_element_type(max(types, key=lambda t: t.bit_width)).without_layout()
        product = b.clone(instruction, [b.convert(o, wide) for o in instruction.operands], shape=wide)
        return b.convert(product, instruction.shape)
