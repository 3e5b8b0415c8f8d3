"""Rules for dot and convolution."""

from __future__ import annotations

import math

from xla_core.hlo.builder import Builder
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule


@rule(Opcode.DOT, Opcode.CONVOLUTION)
def contract_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A product whose operands have no elements -> 0"""
    if i.shape.num_elements and all(o.shape.num_elements for o in i.operands):
        return None
    return b.constant(0, i.shape) if i.shape.num_elements else None


@rule(Opcode.DOT)
def dot_without_sums(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Dot that sums over nothing, or over dimensions of size 1 -> multiply"""
    if i.attributes.get("algorithm") is not None:
        return None
    (lhs, rhs), a = i.operands, i.attributes
    contracted = a.get("lhs_contracting_dims", ())
    if any(lhs.shape.dimensions[d] != 1 for d in contracted):
        return None
    element_type = i.shape.element_type
    if lhs.shape.element_type is not element_type or rhs.shape.element_type is not element_type:
        return None
    batch = a.get("lhs_batch_dims", ())
    left, left_free = _ordered(lhs, batch, contracted, b)
    right, right_free = _ordered(rhs, a.get("rhs_batch_dims", ()), a.get("rhs_contracting_dims", ()), b)
    n, m = len(batch), left_free
    batches = list(range(n))
    wide_left = b.broadcast(left, i.shape.dimensions, batches + list(range(n, n + m)))
    wide_right = b.broadcast(right, i.shape.dimensions, batches + list(range(n + m, n + m + right_free)))
    product = b.add(Opcode.MULTIPLY, wide_left, wide_right)
    if not (element_type.is_floating or element_type.is_complex):
        return product
    # The sum of a dot starts at 0, so a product of -0 gives 0.
    return b.add(Opcode.ADD, product, b.constant(0, i.shape))


def _ordered(
    x: HloInstruction, batch: tuple[int, ...], contracted: tuple[int, ...], b: Builder
) -> tuple[HloInstruction, int]:
    """The operand with batch dimensions first and without contracting dimensions, and its number of free dimensions."""
    free = [d for d in range(x.shape.rank) if d not in batch and d not in contracted]
    moved = b.transpose(x, [*batch, *free, *contracted])
    kept = [x.shape.dimensions[d] for d in (*batch, *free)]
    return b.reshape(moved, kept), len(free)


@rule(Opcode.CONVOLUTION)
def convolve_points(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Convolution by windows of single elements -> dot"""
    a = i.attributes
    (x, kernel), numbers = i.operands, a["dim_labels"]
    if a.get("feature_group_count", 1) != 1 or a.get("batch_group_count", 1) != 1:
        return None
    if any(
        (w.size, w.stride, w.padding_low, w.padding_high, w.base_dilation) != (1, 1, 0, 0, 1)
        for w in a.get("window", ())
    ):
        return None
    # The spatial dimensions of the kernel have size 1, so it is a matrix [i, o] or [o, i].
    sizes = [kernel.shape.dimensions[d] for d in (numbers.kernel_input_feature, numbers.kernel_output_feature)]
    in_first = numbers.kernel_input_feature < numbers.kernel_output_feature
    flat = b.reshape(kernel, sizes if in_first else sizes[::-1])
    attributes = {"operand_precision": a["operand_precision"]} if a.get("operand_precision") else {}
    product = b.add(
        Opcode.DOT,
        x,
        flat,
        shape=i.shape.with_dimensions(
            [n for d, n in enumerate(x.shape.dimensions) if d != numbers.input_feature] + [sizes[1]]
        ),
        lhs_contracting_dims=(numbers.input_feature,),
        rhs_contracting_dims=(0 if in_first else 1,),
        **attributes,
    )
    # The dimensions of the product are those of the input without the feature, then the output feature.
    left = [d for d in range(x.shape.rank) if d != numbers.input_feature]
    place = {numbers.output_batch: left.index(numbers.input_batch), numbers.output_feature: len(left)}
    for output, source in zip(numbers.output_spatial, numbers.input_spatial, strict=True):
        place[output] = left.index(source)
    return b.transpose(product, [place[d] for d in range(i.shape.rank)])


@rule(Opcode.DOT)
def dot_flat(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Dot of arrays that both have dimensions of size 1 in the batch -> dot without them"""
    a = i.attributes
    batch_lhs, batch_rhs = a.get("lhs_batch_dims", ()), a.get("rhs_batch_dims", ())
    lhs, rhs = i.operands
    drop = [n for n, d in enumerate(batch_lhs) if lhs.shape.dimensions[d] == 1]
    if not drop:
        return None
    gone_lhs, gone_rhs = {batch_lhs[n] for n in drop}, {batch_rhs[n] for n in drop}

    def without(x: HloInstruction, gone: set[int]) -> tuple[HloInstruction, dict[int, int]]:
        kept = [d for d in range(x.shape.rank) if d not in gone]
        return b.reshape(x, [x.shape.dimensions[d] for d in kept]), {d: n for n, d in enumerate(kept)}

    new_lhs, map_lhs = without(lhs, gone_lhs)
    new_rhs, map_rhs = without(rhs, gone_rhs)
    attributes = {
        **a,
        "lhs_batch_dims": tuple(map_lhs[d] for d in batch_lhs if d not in gone_lhs),
        "rhs_batch_dims": tuple(map_rhs[d] for d in batch_rhs if d not in gone_rhs),
        "lhs_contracting_dims": tuple(map_lhs[d] for d in a.get("lhs_contracting_dims", ())),
        "rhs_contracting_dims": tuple(map_rhs[d] for d in a.get("rhs_contracting_dims", ())),
    }
    kept = [n for d, n in enumerate(i.shape.dimensions) if d >= len(batch_lhs) or d not in drop]
    product = b.add(Opcode.DOT, new_lhs, new_rhs, shape=i.shape.with_dimensions(kept), **attributes)
    assert math.prod(kept) == i.shape.num_elements
    return b.reshape(product, i.shape.dimensions)
