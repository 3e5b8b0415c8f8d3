"""compare, select and clamp."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import OneOp, check_same_operands, enum, tensor
from xla_core.stablehlo.table.op_table import OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import PRED
from xla_core.stablehlo.verify.compatibility import (
    compatible_elements,
    compatible_shapes,
    inferred_or_known,
    most_specific,
    shape_text,
)

define = OpGroup("selection").define


def _compare_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    check_same_operands(op)
    lhs, rhs = tensor(op, 0), tensor(op, 1)
    return inferred_or_known(op, ir.TensorType(lhs.shape, "i1", lhs.bounds), [lhs, rhs])


def lower_compare(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `compare`. Only `TOTALORDER` is kept: HLO derives other comparison types from the operands."""
    direction = str(op.attributes["comparison_direction"])
    if op.attributes.get("compare_type") == "TOTALORDER":
        return ctx.add(Opcode.COMPARE, lhs, rhs, direction=direction, type="TOTALORDER")
    return ctx.add(Opcode.COMPARE, lhs, rhs, direction=direction)


define(
    "stablehlo.compare",
    "lhs rhs",
    rule=_compare_rule,
    lower=lower_compare,
    attributes={
        "comparison_direction": enum("comparison_direction"),
        "compare_type": enum("comparison_type", None),
    },
    assembly="comparison_direction:comparison_direction , % , % (? , compare_type:comparison_type ?)"
    " attr-dict : :functional:",
    doc=(
        "Whether `comparison_direction` (EQ, NE, GE, GT, LE, LT) holds, element by element. Floats are compared as "
        "in IEEE 754 (NaN is not equal to anything), or in its total order (TOTALORDER); complex numbers are compared "
        "for equality only."
    ),
    result_types=PRED,
    type_traits=("elementwise", "compatible-operands"),
)


def _select_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    pred, on_true, on_false = (tensor(op, i) for i in range(3))
    result = op.results[0].type
    if on_true == on_false == result and pred.shape == on_true.shape:
        return None
    same_kind = compatible_elements(on_true.element, on_false.element)
    if not same_kind or not compatible_shapes(on_true.shape, on_false.shape):
        op.fail("requires compatible types for non-predicate operands")
    if pred.rank and not compatible_shapes(pred.shape, on_true.shape):
        op.fail("requires the same shape for all operands")
    return most_specific(op, [on_true, on_false])


def _lower_select(
    ctx: LoweringContext, op: ir.Op, pred: HloInstruction, on_true: HloInstruction, on_false: HloInstruction
) -> HloInstruction:
    """HLO `select`; a scalar predicate is broadcast."""
    return ctx.add(Opcode.SELECT, ctx.broadcast(pred, on_true.shape.dimensions), on_true, on_false)


define(
    "stablehlo.select",
    (Values("pred", PRED), Values("on_true"), Values("on_false")),
    rule=_select_rule,
    lower=_lower_select,
    counterpart=OneOp(Opcode.SELECT),
    traits=(Trait.ON_STORAGE,),
    assembly="%* attr-dict : :select:",
    doc="`on_true` where the predicate is true, else `on_false`; the predicate is a scalar or has their shape.",
)


def _clamp_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    low, operand, high = (tensor(op, i) for i in range(3))
    for name, bound in (("min", low), ("max", high)):
        if bound.rank and not compatible_shapes(bound.shape, operand.shape):
            op.fail(
                f"{name} shape [{shape_text(bound.shape)}] is not scalar and is not compatible to operand shape "
                f"[{shape_text(operand.shape)}]"
            )
        if not compatible_elements(bound.element, operand.element):
            op.fail("requires the same element type for all operands and results")
    return [ir.TensorType(operand.shape, operand.element)]


def _lower_clamp(
    ctx: LoweringContext, op: ir.Op, low: HloInstruction, operand: HloInstruction, high: HloInstruction
) -> HloInstruction:
    """HLO `clamp`, whose bounds are scalars or of the operand's shape as well."""
    if low.shape.rank != high.shape.rank:
        low, high = (ctx.broadcast(bound, operand.shape.dimensions) for bound in (low, high))
    return ctx.add(Opcode.CLAMP, low, operand, high)


define(
    "stablehlo.clamp",
    "min operand max",
    rule=_clamp_rule,
    lower=_lower_clamp,
    counterpart=OneOp(Opcode.CLAMP),
    assembly="% , % , % attr-dict : :same:",
    doc="min(max(x, min), max), element by element; the bounds are scalars or have the operand's shape.",
    type_traits=("compatible-element-types",),
)
