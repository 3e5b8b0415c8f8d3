"""uniform_quantize and uniform_dequantize."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.quantized_ops import dequantize, expressed, is_quantized, quantize
from xla_core.stablehlo.ops.common import tensor, tensor_of
from xla_core.stablehlo.table.assembly_format import UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import FLOAT, FLOAT_OR_QUANTIZED, QUANTIZED

define = OpGroup("quantization").define


def _quantize_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    operand, result = tensor(op, 0), tensor_of(op.results[0])
    element = operand.element.expressed if isinstance(operand.element, ir.QuantizedType) else operand.element
    assert isinstance(result.element, ir.QuantizedType)
    if result.element.expressed != element:
        op.fail(f"Expressed type of result expected to be '{element}', but got '{result.element.expressed}'")
    return [ir.TensorType(operand.shape, result.element, operand.bounds)]


def _lower_quantize(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """round(x / scale) + zero point, clamped to the storage range; a quantized operand is dequantized first."""
    type = tensor(op, 0)
    value = dequantize(ctx, operand, type) if is_quantized(type) else operand
    return quantize(ctx, value, tensor_of(op.results[0]))


def _dequantize_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [expressed(tensor(op, 0))]


def _lower_dequantize(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """(storage - zero point) * scale."""
    return dequantize(ctx, operand, tensor(op, 0))


define(
    "stablehlo.uniform_quantize",
    (Values("operand", FLOAT_OR_QUANTIZED),),
    (Values("result", QUANTIZED),),
    rule=_quantize_rule,
    lower=_lower_quantize,
    traits=(Trait.ON_STORAGE,),
    assembly=UNARY_ASSEMBLY,
    doc=(
        "round(x / scale) + zero point, clamped to the storage's range: a quantized tensor from floats, or from "
        "another quantized tensor."
    ),
    type_traits=("elementwise",),
)
define(
    "stablehlo.uniform_dequantize",
    (Values("operand", QUANTIZED),),
    rule=_dequantize_rule,
    lower=_lower_dequantize,
    traits=(Trait.ON_STORAGE,),
    assembly=UNARY_ASSEMBLY,
    doc="(storage - zero point) * scale: floats from a quantized tensor.",
    result_types=FLOAT,
    type_traits=("elementwise",),
)
