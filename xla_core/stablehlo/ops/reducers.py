"""Checks of reduction regions, and the conversion of operands to the types that the region computes in."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.table.type_constraints import Elements, elements_of
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, compatible_shapes, promotable


def check_reducer(
    op: ir.Op,
    region: ir.Region,
    initial: Sequence[ir.TensorType],
    inputs: Sequence[ir.TensorType],
    allowed: Sequence[int] = (),
) -> list[ir.TensorType]:
    """Checks a region that combines n accumulators with n elements into n results.

    `initial` has the types of the initial values and `inputs` those of the input tensors. Both may be promoted to a
    wider element type of the same kind. An element may be a tensor whose sizes are a subsequence of `allowed`.
    Returns the result types.
    """
    block, count = region.block, len(inputs)
    if len(block.arguments) != 2 * count:
        op.fail(f"Reduction-region must take {2 * count} parameters, but takes {len(block.arguments)} parameter(s)")
    returned = block.ops[-1].operands
    if not returned:
        op.fail("The reduction-region expected to return some value(s)")
    if len(returned) != count:
        op.fail(f"Reduction-region here must produce {count} tensors, but produces {len(returned)} instead")
    results: list[ir.TensorType] = []
    for value in returned:
        if not isinstance(value.type, ir.TensorType):
            op.fail(f"Reduction-region here must produce tensor-typed result(s), but produces '{value.type}' instead")
        results.append(value.type)
    for i, result in enumerate(results):
        for index in (i, count + i):
            type = block.arguments[index].type
            if not same_kind(type, result, ignore_precision=index != i):
                op.fail(
                    f"The type of reduction-region's parameter at index {index} is different than the corresponding "
                    f"result type: '{type}' vs '{result}'"
                )
        _check_promotion(op, block, i, count, result, initial[i], inputs[i], allowed)
    return results


def same_kind(a: ir.Type, b: ir.Type, *, ignore_precision: bool = True) -> bool:
    """Tells whether two tensor types have compatible shapes and the same element type.

    With `ignore_precision`, any two floating-point element types count as the same.
    """
    if not isinstance(a, ir.TensorType) or not isinstance(b, ir.TensorType) or not compatible_shapes(a.shape, b.shape):
        return False
    if a.element == b.element:
        return True
    return ignore_precision and elements_of(a.element) is elements_of(b.element) is Elements.FLOAT


def _check_promotion(
    op: ir.Op,
    block: ir.Block,
    i: int,
    count: int,
    result: ir.TensorType,
    initial: ir.TensorType,
    input: ir.TensorType,
    allowed: Sequence[int],
) -> None:
    if not compatible_shapes(initial.shape, result.shape):
        op.fail(
            f"The shape of reduction-region's result type at index {i} differs from the op's corresponding init-value "
            f"type: '{result}' vs '{initial}'"
        )
    if not promotable(initial.element, result.element):
        op.fail(
            f"The element-type of reduction-region's result type at index {i} is expected to be promotable from the "
            f"op's corresponding init-value element-type: '{result}' vs '{initial}'"
        )
    argument = block.arguments[count + i].type
    assert isinstance(argument, ir.TensorType)
    if not promotable(input.element, argument.element):
        op.fail(
            f"The element-type of reduction-region's argument at index {count + i} is expected to be promotable from "
            f"'{element_text(input)}', but got '{element_text(argument)}'"
        )
    if argument.rank > len(allowed):
        op.fail(
            f"The rank of reduction-region's argument at index {count + i} is expected to be <= {len(allowed)}, got "
            f"{argument.rank}"
        )
    rest = iter(allowed)
    if not all(any(compatible_dimensions(size, a) for a in rest) for size in argument.shape):
        op.fail(
            f"The shape of reduction-region's argument at index {count + i} is not compatible with that of reduce-op's "
            f"input-parameter at index {i}"
        )


def element_text(type: ir.TensorType) -> str:
    """Returns the element type as MLIR prints it."""
    return ir.type_text(type.element)


def promote(
    ctx: LoweringContext, operands: Sequence[HloInstruction], arguments: Sequence[ir.Value]
) -> list[HloInstruction]:
    """Converts each operand to the element type of its region argument."""
    return [ctx.convert(o, shape_of(a.type)) for o, a in zip(operands, arguments, strict=True)]
