"""Decomposes scaled-dot into a dot of operands multiplied by their scales."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape


def decompose_scaled_dot(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Repeats the scales over their blocks and multiplies in f32, or in f64 where the operand is f64."""
    lhs, rhs, *scales = instruction.operands
    scaled = [_scaled(b, x, scale) for x, scale in zip((lhs, rhs), scales, strict=True)]
    attributes = {k: v for k, v in instruction.attributes.items() if k != "algorithm"}
    return b.convert(b.add(Opcode.DOT, *scaled, shape=_wide(instruction.shape), **attributes), instruction.shape)


def _wide(shape: Shape) -> Shape:
    kind = ElementType.F64 if shape.element_type is ElementType.F64 else ElementType.F32
    return shape.without_layout().with_element_type(kind)


def _scaled(b: Builder, x: HloInstruction, scale: HloInstruction) -> HloInstruction:
    wide = _wide(x.shape)
    x, scale = b.convert(x, wide), b.convert(scale, wide)
    if scale.shape.rank:  # repeats each block's scale for every element of the block
        blocks = [(n, d // n if n else 0) for n, d in zip(scale.shape.dimensions, x.shape.dimensions, strict=True)]
        split = [extent for pair in blocks for extent in pair]
        scale = b.broadcast(scale, split, [2 * d for d in range(x.shape.rank)])
        scale = b.reshape(scale, x.shape.dimensions)
    else:
        scale = b.broadcast(scale, x.shape.dimensions)
    return b.add(Opcode.MULTIPLY, x, scale)
