"""Decomposes ragged-dot and scaled-dot into dot."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.contraction import group_axes
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


def decompose_ragged_dot(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Adds a group dimension to lhs, in which each group keeps its own rows and the other rows are zero.

    The group dimension is a contracting one, unless the ragged dimension is contracted: then each group has a result of
    its own, and the group dimension is a batch dimension.
    """
    lhs, rhs, sizes = instruction.operands
    (ragged,) = instruction.attribute("lhs_ragged_dims")
    lhs_batch, rhs_batch = (instruction.attribute(f"{side}_batch_dims") for side in ("lhs", "rhs"))
    contracting = instruction.attribute("lhs_contracting_dims"), instruction.attribute("rhs_contracting_dims")
    group_dims = instruction.attribute("rhs_group_dims")
    groups = sizes.shape.dimensions[-1]
    # The group dimension comes first, so every dimension of lhs moves by one.
    wide = b.broadcast(lhs, [groups, *lhs.shape.dimensions], list(range(1, lhs.shape.rank + 1)))
    kept = b.add(Opcode.SELECT, _members(instruction, b), wide, b.constant(0, wide.shape))
    if not group_dims:
        rhs = b.broadcast(rhs, [groups, *rhs.shape.dimensions], list(range(1, rhs.shape.rank + 1)))
        group, rhs_batch, rhs_contracting = 0, [d + 1 for d in rhs_batch], [d + 1 for d in contracting[1]]
    else:
        group, rhs_contracting = group_dims[0], list(contracting[1])
    summed = ragged not in contracting[0]  # otherwise each group has its own result
    of_lhs, of_rhs = (0,), (group,)
    none: tuple[int, ...] = ()
    return b.add(
        Opcode.DOT,
        kept,
        rhs,
        shape=instruction.shape.without_layout(),
        lhs_batch_dims=(*(none if summed else of_lhs), *(d + 1 for d in lhs_batch)),
        rhs_batch_dims=(*(none if summed else of_rhs), *rhs_batch),
        lhs_contracting_dims=(*(of_lhs if summed else none), *(d + 1 for d in contracting[0])),
        rhs_contracting_dims=(*(of_rhs if summed else none), *rhs_contracting),
        operand_precision=instruction.attribute("operand_precision"),
    )


def _members(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Returns a pred of shape [groups, *lhs] that says which elements of lhs belong to which group."""
    lhs, _, sizes = instruction.operands
    (ragged,) = instruction.attribute("lhs_ragged_dims")
    axes = group_axes(instruction.attributes, lhs.shape.rank)[: sizes.shape.rank - 1]
    groups, last = sizes.shape.dimensions[-1], sizes.shape.rank - 1
    counts = b.convert(sizes, Shape(ElementType.S64))
    # A group ends at the sum of all sizes up to its own: a product with a triangular matrix of ones.
    square = Shape.array(ElementType.S64, (groups, groups))
    before, after = (b.add(Opcode.IOTA, shape=square, iota_dimension=d) for d in range(2))
    triangle = b.convert(b.add(Opcode.COMPARE, before, after, direction="LE"), square)
    ends = b.add(Opcode.DOT, counts, triangle, lhs_contracting_dims=(last,), rhs_contracting_dims=(0,))
    whole = Shape.array(ElementType.S64, (groups, *lhs.shape.dimensions))
    places = [*(d + 1 for d in axes), 0]
    end = b.broadcast(ends, whole.dimensions, places)
    start = b.broadcast(b.add(Opcode.SUBTRACT, ends, counts), whole.dimensions, places)
    position = b.add(Opcode.IOTA, shape=whole, iota_dimension=ragged + 1)
    begun = b.add(Opcode.COMPARE, position, start, direction="GE")
    return b.add(Opcode.AND, begun, b.add(Opcode.COMPARE, position, end, direction="LT"))


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
