"""Calls, returns, while, if, case, tokens and barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import OneOp
from xla_core.stablehlo.table.assembly_format import RESULTS_ASSEMBLY, RETURN_ASSEMBLY
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import ANY, BRANCH_RESULT, I32, LOOP_STATE, PRED, TENSOR_OR_TOKEN, TOKEN
from xla_core.stablehlo.verify.compatibility import compatible, least_specific, types_text

define = OpGroup("control_flow").define

_ANY_OPERANDS = (Values("operands", ANY, Arity.VARIADIC),)
_ANY_RESULTS = (Values("results", ANY, Arity.VARIADIC),)


# -- functions -------------------------------------------------------------------------------------------------------


def _call_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    function = module.function(str(op.attributes["callee"]), op)
    type = function.attributes.get("function_type")
    if not isinstance(type, ir.FunctionType):
        return None
    if len(type.inputs) != len(op.operands):
        op.fail(f"incorrect number of operands for callee: expected {len(type.inputs)}, but got {len(op.operands)}")
    for i, (wanted, operand) in enumerate(zip(type.inputs, op.operands, strict=True)):
        if wanted != operand.type:
            op.fail(
                f"operand type mismatch: expected operand type '{wanted}', but provided '{operand.type}' for "
                f"operand number {i}"
            )
    if len(type.results) != len(op.results):
        op.fail(f"incorrect number of results for callee: expected {len(type.results)}, but got {len(op.results)}")
    for i, (given, result) in enumerate(zip(type.results, op.results, strict=True)):
        if given != result.type:
            op.fail(f"result type mismatch at index {i}: expected '{given}', but got '{result.type}'")
    return None


def _lower_call(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `call` of the function's computation."""
    callee = ctx.module.function(str(op.attributes["callee"]), op)
    return ctx.results(ctx.add(Opcode.CALL, *operands, to_apply=callee), op)


for _name in ("func.call", "call"):
    define(
        _name,
        _ANY_OPERANDS,
        _ANY_RESULTS,
        symbols=_call_rule,
        lower=_lower_call,
        attributes={"callee": Attribute(Kind.SYMBOL)},
        traits=(Trait.ON_STORAGE,),
        assembly="callee:symbol ( %* ) attr-dict : :functional:" if _name == "func.call" else None,
        releases="0.9" if _name == "func.call" else "",
        doc="Calls the function `callee` on the operands and returns its results.",
    )
for _name in ("func.return", "return", "stablehlo.return"):
    _operands = (Values("results", LOOP_STATE, Arity.VARIADIC),) if _name == "stablehlo.return" else _ANY_OPERANDS
    define(
        _name,
        _operands,
        "",
        lower=None,
        traits=(Trait.TERMINATOR,),
        assembly=None if _name == "return" else RETURN_ASSEMBLY,
        doc="Ends a function or a region.",
    )


# -- while, if, case -------------------------------------------------------------------------------------------------


def _while_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    condition, body = (r.block for r in op.regions)
    state = [o.type for o in op.operands]
    for what, types in (
        ("condition block arguments", [a.type for a in condition.arguments]),
        ("body block arguments", [a.type for a in body.arguments]),
        ("body block return types", [v.type for v in body.ops[-1].operands]),
    ):
        if len(types) != len(state) or not all(map(compatible, state, types)):
            op.fail(f"expect operands to be compatible with {what} but got {types_text(state)} vs {types_text(types)}")
    _check_condition(op, condition)
    return state


def _check_condition(op: ir.Op, block: ir.Block) -> None:
    returned = block.ops[-1].operands
    if len(returned) != 1:
        op.fail(f"expect condition body returns a single value but got {len(returned)}")
    type = returned[0].type
    if not isinstance(type, ir.TensorType) or type.element != "i1" or type.rank:
        op.fail(f"expect condition block return a zero-ranked tensor of i1 but got '{type}'")


def _lower_while(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `while` over a tuple of the operands and then the values that the regions capture."""
    captured = ctx.captures(op.regions)
    state = ctx.tuple([*operands, *(ctx.value(v) for v in captured)])
    condition = ctx.capturing_region(op.regions[0], "while_condition", captured, always_tuple=False)
    body = ctx.capturing_region(op.regions[1], "while_body", captured, return_captured=True)
    loop = ctx.add(Opcode.WHILE, state, condition=condition, body=body)
    return [ctx.element(loop, i) for i in range(len(operands))]


define(
    "stablehlo.while",
    (Values("operand", LOOP_STATE, Arity.VARIADIC),),
    (Values("results", LOOP_STATE, Arity.VARIADIC),),
    rule=_while_rule,
    lower=_lower_while,
    regions=2,
    assembly="<while>",
    doc=(
        "Runs `body` on the state as long as `cond` of the state is true. The results are the state when `cond` "
        "became false, or the operands if it never was true."
    ),
)


def _branch_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    selector = op.operands[0].type
    assert isinstance(selector, ir.TensorType)
    if selector.rank:
        op.fail(f"operand should be rank 0 tensor but got rank {selector.rank}")
    if not op.regions:
        op.fail("expect at least one branch")
    returned = []
    for i, region in enumerate(op.regions):
        if region.block.arguments:
            op.fail(f"branch {i} must have 0 arguments, but found {len(region.block.arguments)}")
        returned.append([v.type for v in region.block.ops[-1].operands])
        if len(returned[i]) != len(returned[0]) or not all(map(compatible, returned[0], returned[i])):
            op.fail(
                f"branch 0 and branch {i} have mismatched return types: {types_text(returned[0])} vs "
                f"{types_text(returned[i])}"
            )
    return [least_specific(types) for types in zip(*returned, strict=True)]


def _lower_branches(ctx: LoweringContext, op: ir.Op, selector: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `conditional`; each branch takes the values that it captures as a tuple."""
    operands, branches = [], []
    for i, region in enumerate(op.regions):
        captured = ctx.captures([region])
        operands.append(ctx.tuple([ctx.value(v) for v in captured]))
        branches.append(ctx.capturing_region(region, f"branch_{i}", captured, always_tuple=len(op.results) != 1))
    if op.name == "stablehlo.if":
        on_true, on_false = branches
        made = ctx.add(Opcode.CONDITIONAL, selector, *operands, true_computation=on_true, false_computation=on_false)
    else:
        made = ctx.add(Opcode.CONDITIONAL, selector, *operands, branch_computations=tuple(branches))
    return ctx.results(made, op)


define(
    "stablehlo.if",
    (Values("pred", PRED),),
    (Values("results", BRANCH_RESULT, Arity.VARIADIC),),
    rule=_branch_rule,
    lower=_lower_branches,
    regions=2,
    traits=(Trait.INFERRED_FROM_REGIONS,),
    doc=(
        "The results of `true_branch` where the predicate is true, else those of `false_branch`; only that branch runs."
    ),
)
define(
    "stablehlo.case",
    (Values("index", I32),),
    (Values("results", BRANCH_RESULT, Arity.VARIADIC),),
    rule=_branch_rule,
    lower=_lower_branches,
    regions=None,
    traits=(Trait.INFERRED_FROM_REGIONS,),
    doc=("The results of branch `index`; an index that is out of range takes the last branch. Only that branch runs."),
)


# -- tokens and barriers ---------------------------------------------------------------------------------------------


define(
    "stablehlo.after_all",
    (Values("inputs", TOKEN, Arity.VARIADIC),),
    (Values("result", TOKEN),),
    lower=OneOp(Opcode.AFTER_ALL),
    assembly="%* attr-dict : :same:",
    doc="A token that is ready when all operand tokens are. It joins chains of effects.",
)
define(
    "stablehlo.create_token",
    (),
    (Values("output", TOKEN),),
    lower=OneOp(Opcode.AFTER_ALL),
    assembly=RESULTS_ASSEMBLY,
    doc="A new token, which depends on nothing. `after_all` without operands replaced it.",
)


def _barrier_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [o.type for o in op.operands]


def _lower_barrier(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `opt-barrier` of the operands together."""
    if not operands:
        return []
    if len(operands) == 1:
        return [ctx.add(Opcode.OPT_BARRIER, operands[0])]
    barrier = ctx.add(Opcode.OPT_BARRIER, ctx.tuple(operands))
    return ctx.elements(barrier)


define(
    "stablehlo.optimization_barrier",
    (Values("operand", TENSOR_OR_TOKEN, Arity.VARIADIC),),
    (Values("result", TENSOR_OR_TOKEN, Arity.VARIADIC),),
    rule=_barrier_rule,
    lower=_lower_barrier,
    traits=(Trait.ON_STORAGE,),
    assembly="attr-dict <barrier>",
    doc=(
        "The operands, unchanged. Ops that the operands depend on are not moved behind the barrier, and ops that "
        "depend on the results are not moved before it."
    ),
    type_traits=("pairwise-type",),
)
