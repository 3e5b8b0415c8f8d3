"""tuple and get_tuple_element."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import OneOp
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import TUPLE, TUPLE_ELEMENT

define = OpGroup("tuples").define


def _tuple_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [ir.TupleType(tuple(o.type for o in op.operands))]


def _element_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    type, index = op.operands[0].type, int(op.attributes["index"])
    assert isinstance(type, ir.TupleType)
    if index >= len(type.elements):
        op.fail(f"index {index} is out of bounds of operand with size {len(type.elements)}")
    return [type.elements[index]]


def _lower_element(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `get-tuple-element`."""
    return ctx.element(operand, int(op.attributes["index"]))


define(
    "stablehlo.tuple",
    (Values("val", TUPLE_ELEMENT, Arity.VARIADIC),),
    (Values("result", TUPLE),),
    rule=_tuple_rule,
    lower=OneOp(Opcode.TUPLE),
    traits=(Trait.ON_STORAGE,),
    assembly="%* attr-dict : :tuple:",
    doc="A tuple of the operands.",
)
define(
    "stablehlo.get_tuple_element",
    (Values("operand", TUPLE),),
    (Values("result", TUPLE_ELEMENT),),
    rule=_element_rule,
    lower=_lower_element,
    attributes={"index": Attribute(Kind.INT32, minimum=0)},
    traits=(Trait.ON_STORAGE,),
    assembly="% [ index:i32 ] attr-dict : :functional:",
    doc="Element `index` of a tuple.",
)
