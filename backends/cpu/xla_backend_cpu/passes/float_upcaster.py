"""Products of 8- and 16-bit floats are made in f32, which the host's registers multiply; the result is rounded once.

The conversions are instructions like any other: they fuse into what makes the operands and what reads the result.
"""

from __future__ import annotations

from xla_core.hlo import ElementType, HloInstruction
from xla_core.passes import Builder, OpExpander

__all__ = ["FloatUpcaster"]


class FloatUpcaster(OpExpander):
    """See the module's docstring."""

    name = "cpu-float-upcaster"
    opcodes = frozenset({"dot", "convolution"})

    def matches(self, instruction: HloInstruction) -> bool:
        """A product of floats of which one is narrower than 32 bits."""
        types = {instruction.shape.element_type, *(o.shape.element_type for o in instruction.operands)}
        return all(t.is_floating for t in types) and min(t.bit_width for t in types) < 32

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """The product in the widest type of its operands and result, f32 at least."""
        types = {ElementType.F32, instruction.shape.element_type, *(o.shape.element_type for o in instruction.operands)}
        wide = instruction.shape.with_element_type(max(types, key=lambda t: t.bit_width)).without_layout()
        product = b.clone(instruction, [b.convert(o, wide) for o in instruction.operands], shape=wide)
        return b.convert(product, instruction.shape)
