"""constant and iota."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import element_type, shape_of
from xla_core.stablehlo.ops.common import INDEX, OneOp
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait
from xla_core.stablehlo.table.type_constraints import STATIC_NUMBER, STATIC_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import fail_inferred, types_text

define = OpGroup("constants").define


def _constant_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElements):
        op.fail("attribute 'value' failed to satisfy constraint: constant vector/tensor attribute")
    result = op.results[0].type
    if not isinstance(result, ir.TensorType) or not result.is_static:
        op.fail(f"result #0 must be statically shaped tensor, but got '{result}'")
    if isinstance(result.element, ir.QuantizedType) and element_type(result.element) is element_type(
        value.type.element
    ):
        return [ir.TensorType(value.type.shape, result.element)]
    if value.type.shape != result.shape or value.type.element != result.element:
        fail_inferred(op, types_text([value.type]))
    return [result]


def lower_constant(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
    """HLO `constant`; a splat keeps one element in memory."""
    value: ir.DenseElements = op.attributes["value"]
    return ctx.add(Opcode.CONSTANT, shape=(shape := shape_of(value.type)), literal=Literal(value.array, shape))


define(
    "stablehlo.constant",
    "",
    "output",
    rule=_constant_rule,
    lower=lower_constant,
    traits=(Trait.ON_STORAGE,),
    attributes={"value": Attribute(Kind.CONSTANT)},
    assembly="<constant>",
    doc="The value of the attribute `value`.",
    result_types=STATIC_OR_PER_AXIS,
)


def _iota_rule(op: ir.Op, module: ir.Module) -> None:
    result = op.results[0].type
    assert isinstance(result, ir.TensorType)
    if result.rank == 0:
        op.fail("does not support scalars.")
    if op.attributes["iota_dimension"] >= result.rank:
        op.fail("iota dimension cannot go beyond the output rank.")


define(
    "stablehlo.iota",
    "",
    "output",
    rule=_iota_rule,
    lower=OneOp(Opcode.IOTA, "iota_dimension", declared=True),
    attributes={"iota_dimension": INDEX},
    assembly="dim = iota_dimension:int attr-dict : :results:",
    doc="0, 1, 2, ... along `iota_dimension`, the same at every position of the other dimensions.",
    result_types=STATIC_NUMBER,
)
