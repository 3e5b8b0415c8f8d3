"""convert, bitcast_convert and reduce_precision."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import OneOp, check_accuracy, tensor
from xla_core.stablehlo.table.assembly_format import FUNCTIONAL_ASSEMBLY, UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait
from xla_core.stablehlo.table.type_constraints import (
    ELEMENTWISE_FLOAT,
    TENSOR_OR_PER_AXIS,
    UNQUANTIZED,
    Elements,
    elements_of,
)
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, compatible_shapes, element_bits, if_declared

define = OpGroup("conversion").define


def _convert_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    if isinstance(result, ir.TensorType) and not compatible_shapes(operand.shape, result.shape):
        op.fail("all non-scalar operands/results must have the same shape and base type")
    check_accuracy(op)
    element = result.element if isinstance(result, ir.TensorType) else operand.element
    return if_declared(op, [ir.TensorType(operand.shape, element, operand.bounds)])


def _lower_convert(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `convert`."""
    return ctx.convert(operand, ctx.result_shape(op))


define(
    "stablehlo.convert",
    "operand",
    rule=_convert_rule,
    lower=_lower_convert,
    counterpart=OneOp(Opcode.CONVERT),
    assembly=UNARY_ASSEMBLY,
    doc=(
        "The value in another element type. Floats round to the nearest value, ties to even; to integers, they "
        "truncate. From complex to real, the imaginary part is dropped. The i1 of a value says whether it differs "
        "from zero."
    ),
    types=UNQUANTIZED,
    type_traits=("same-shape",),
)


def _bitcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, ir.TensorType)
    if (elements_of(operand.element) is Elements.COMPLEX) != (elements_of(result.element) is Elements.COMPLEX):
        op.fail(f"cannot convert between real and complex types, but got: '{operand}' and '{result}'")
    here, there = element_bits(operand.element), element_bits(result.element)
    small, large = (operand, result) if here < there else (result, operand)
    if here == there:
        _check_bitcast_sizes(op, operand, result, operand.shape, result.shape)
        return if_declared(op, [ir.TensorType(operand.shape, result.element, operand.bounds)])
    few, many = min(here, there), max(here, there)
    if small.rank != large.rank + 1:
        op.fail(
            f"rank of smaller element type ({small.rank}) should be 1 more than rank of larger element type "
            f"({large.rank}), but {small.rank} != {large.rank} + 1."
        )
    if small.shape[-1] != ir.DYNAMIC and small.shape[-1] * few != many:
        op.fail(
            f"requires compatible bit widths. Got: '{operand}' and '{result}', but {few} * {small.shape[-1]} != {many}."
        )
    _check_bitcast_sizes(op, operand, result, small.shape[:-1], large.shape)
    shape = operand.shape[:-1] if here < there else (*operand.shape, here // there)
    return if_declared(op, [ir.TensorType(shape, result.element)])


def _check_bitcast_sizes(
    op: ir.Op, operand: ir.TensorType, result: ir.TensorType, some: Sequence[int], others: Sequence[int]
) -> None:
    if not all(map(compatible_dimensions, some, others)):
        op.fail(
            "operand and result shapes must match except for the innermost dimension of the shape with the smaller "
            f"element type. Got: '{operand}' and '{result}'."
        )


def _lower_bitcast(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `bitcast-convert`."""
    shape = ctx.result_shape(op)
    return operand if operand.shape == shape else ctx.add(Opcode.BITCAST_CONVERT, operand, shape=shape)


define(
    "stablehlo.bitcast_convert",
    "operand",
    rule=_bitcast_rule,
    lower=_lower_bitcast,
    counterpart=OneOp(Opcode.BITCAST_CONVERT),
    traits=(Trait.ON_STORAGE,),
    assembly=FUNCTIONAL_ASSEMBLY,
    doc="The bits as another element type. Where the widths differ, the last dimension is added or removed.",
    types=TENSOR_OR_PER_AXIS,
)


def _reduce_precision_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    if int(op.attributes["exponent_bits"]) < 1:
        op.fail("exponent_bits must be at least 1.")
    return [tensor(op, 0)]


define(
    "stablehlo.reduce_precision",
    "operand",
    rule=_reduce_precision_rule,
    lower=OneOp(Opcode.REDUCE_PRECISION, "exponent_bits", "mantissa_bits"),
    types=ELEMENTWISE_FLOAT,
    attributes={"exponent_bits": Attribute(Kind.INT32, minimum=1), "mantissa_bits": Attribute(Kind.INT32, minimum=0)},
    assembly="% , format = <exponent_mantissa> attr-dict : :same:",
    doc="Rounds to a float of `exponent_bits` and `mantissa_bits`, and back.",
    type_traits=("elementwise", "compatible-types"),
)
