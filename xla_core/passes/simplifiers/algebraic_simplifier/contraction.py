"""Rules for dot and convolution."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dot_operands import dot_operands
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule


@rule(Opcode.DOT, Opcode.CONVOLUTION)
def contract_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A product whose operands have no elements -> 0"""
    empty = i.shape.num_elements and not all(o.shape.num_elements for o in i.operands)
    return b.constant(0, i.shape) if empty else None


@rule(Opcode.DOT)
def dot_without_sums(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Dot that sums over nothing, or over dimensions of size 1 -> multiply"""
    operands, element_type = dot_operands(i), i.shape.element_type
    if i.attribute("algorithm") is not None or any(n != 1 for n in operands[0].sizes(operands[0].contracted)):
        return None
    if any(o.value.shape.element_type is not element_type for o in operands):
        return None
    wide, start = [], len(operands[0].batch)
    for o in operands:
        moved = b.transpose(o.value, [*o.batch, *o.free, *o.contracted])
        places = [*range(len(o.batch)), *range(start, start + len(o.free))]
        wide.append(b.broadcast(b.reshape(moved, o.sizes((*o.batch, *o.free))), i.shape.dimensions, places))
        start += len(o.free)
    product = b.add(Opcode.MULTIPLY, *wide)
    if not (element_type.is_floating or element_type.is_complex):
        return product
    # The sum of a dot starts at 0, so a product of -0 gives 0.
    return b.add(Opcode.ADD, product, b.constant(0, i.shape))


@rule(Opcode.CONVOLUTION)
def convolve_points(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Convolution by windows of single elements -> dot"""
    a = i.attributes
    (x, kernel), numbers = i.operands, a["dim_labels"]
    if a.get("feature_group_count", 1) != 1 or a.get("batch_group_count", 1) != 1:
        return None
    if not all(w.is_trivial for w in a.get("window", ())):
        return None
    # The spatial dimensions of the kernel have size 1, so it is a matrix [i, o] or [o, i].
    sizes = [kernel.shape.dimensions[d] for d in (numbers.kernel_input_feature, numbers.kernel_output_feature)]
    in_first = numbers.kernel_input_feature < numbers.kernel_output_feature
    flat = b.reshape(kernel, sizes if in_first else sizes[::-1])
    # The dimensions of the product are those of the input without the feature, then the output feature.
    left = [d for d in range(x.shape.rank) if d != numbers.input_feature]
    product = b.add(
        Opcode.DOT,
        x,
        flat,
        shape=i.shape.with_dimensions([*(x.shape.dimensions[d] for d in left), sizes[1]]),
        lhs_contracting_dims=(numbers.input_feature,),
        rhs_contracting_dims=(0 if in_first else 1,),
        operand_precision=i.attribute("operand_precision"),
    )
    place = {numbers.output_batch: left.index(numbers.input_batch), numbers.output_feature: len(left)}
    for output, source in zip(numbers.output_spatial, numbers.input_spatial, strict=True):
        place[output] = left.index(source)
    return b.transpose(product, [place[d] for d in range(i.shape.rank)])


@rule(Opcode.DOT)
def dot_flat(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Dot of arrays that both have dimensions of size 1 in the batch -> dot without them"""
    lhs, rhs = dot_operands(i)
    drop = [n for n, size in enumerate(lhs.sizes(lhs.batch)) if size == 1]
    if not drop:
        return None
    attributes, values = dict(i.attributes), []
    for side, o in (("lhs", lhs), ("rhs", rhs)):
        kept = [d for d in range(o.value.shape.rank) if d not in {o.batch[n] for n in drop}]
        values.append(b.reshape(o.value, o.sizes((*kept,))))
        attributes[f"{side}_batch_dims"] = tuple(kept.index(d) for d in o.batch if d in kept)
        attributes[f"{side}_contracting_dims"] = tuple(kept.index(d) for d in o.contracted)
    sizes = [n for d, n in enumerate(i.shape.dimensions) if d not in drop]
    product = b.add(Opcode.DOT, *values, shape=i.shape.with_dimensions(sizes), **attributes)
    return b.reshape(product, i.shape.dimensions)
