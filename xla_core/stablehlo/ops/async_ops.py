"""async_start and async_done."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.table.op_table import Arity, OpGroup, Trait, Values, lookup
from xla_core.stablehlo.table.type_constraints import FUTURE, TENSOR

define = OpGroup("async_ops").define


def _async_start_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    block = op.regions[0].block
    if len(block.ops) != 2:
        op.fail("region must contain exactly one operation and a return")
    if Trait.ASYNCHRONOUS not in lookup(block.ops[0]).traits:
        op.fail("region must contain a collective or slice operation")
    if len(op.operands) != len(block.arguments):
        op.fail(
            f"number of operands ({len(op.operands)}) must match number of region arguments ({len(block.arguments)})"
        )
    for i, (operand, argument) in enumerate(zip(op.operands, block.arguments, strict=True)):
        if operand.type != argument.type:
            op.fail(f"operand type '{operand.type}' at index {i} must match region argument type '{argument.type}'")
    returned = block.ops[-1].operands
    if len(returned) != 1:
        op.fail(f"region must return exactly one value, but got {len(returned)}")
    return [ir.future([returned[0].type])]


def _lower_async_start(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `async-start` of the region's op."""
    return ctx.add(Opcode.ASYNC_START, *operands, calls=ctx.region(op.regions[0], "async_region"))


define(
    "stablehlo.async_start",
    (Values("operands", TENSOR, Arity.VARIADIC),),
    (Values("result", FUTURE),),
    rule=_async_start_rule,
    lower=_lower_async_start,
    regions=1,
    traits=(Trait.ISOLATED_REGIONS, Trait.INFERRED_FROM_REGIONS),
    releases="1.15",
    doc="Starts the op in its region, which may run at the same time as other ops. The result is a future.",
)


def _async_done_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    type = op.operands[0].type
    assert isinstance(type, ir.OpaqueType)
    if len(type.elements) != 1:
        op.fail(f"future must have exactly one type parameter, but got {len(type.elements)}")
    return list(type.elements)


def _lower_async_done(ctx: LoweringContext, op: ir.Op, started: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `async-done`."""
    return ctx.results(ctx.add(Opcode.ASYNC_DONE, started, calls=started.attributes["calls"]), op)


define(
    "stablehlo.async_done",
    (Values("operand", FUTURE),),
    (Values("result"),),
    rule=_async_done_rule,
    lower=_lower_async_done,
    releases="1.15",
    doc="Waits for a future and returns its results.",
)
