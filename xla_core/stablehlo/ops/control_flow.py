"""Control flow and structure: func, while, if, case, composite, custom_call, tokens, barriers, async."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Layout, Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.attribute_text import attribute_text
from xla_core.stablehlo.attributes import DenseElements, OutputOperandAlias
from xla_core.stablehlo.compatibility import compatible, fail, types_text
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Arity, Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.type_constraints import ANY, TOKEN, Elements, TypeConstraint
from xla_core.stablehlo.type_conversion import shape_of

__all__: list[str] = []

_ANY_OPERANDS = (Values("operands", ANY, Arity.VARIADIC),)
_ANY_RESULTS = (Values("results", ANY, Arity.VARIADIC),)


# -- functions -------------------------------------------------------------------------------------------------------


def _call_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    name = str(op.attributes["callee"])
    function = module.functions.get(name)
    if function is None:
        fail(op, f"'{name}' does not reference a valid function")
    type = function.attributes.get("function_type")
    if not isinstance(type, ir.FunctionType):
        return None
    if len(type.inputs) != len(op.operands):
        fail(op, f"incorrect number of operands for callee: expected {len(type.inputs)}, but got {len(op.operands)}")
    for i, (wanted, operand) in enumerate(zip(type.inputs, op.operands, strict=True)):
        if wanted != operand.type:
            fail(op, f"operand type mismatch: expected operand type '{wanted}', but provided '{operand.type}' for operand number {i}")
    if len(type.results) != len(op.results):
        fail(op, f"incorrect number of results for callee: expected {len(type.results)}, but got {len(op.results)}")
    for i, (given, result) in enumerate(zip(type.results, op.results, strict=True)):
        if given != result.type:
            fail(op, f"result type mismatch at index {i}: expected '{given}', but got '{result.type}'")
    return None


def _lower_call(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `call` of the function's computation."""
    callee = ctx.module.function(str(op.attributes["callee"]), op)
    return ctx.results(ctx.add("call", *operands, to_apply=callee), op)


for _name in ("func.call", "call"):
    define(_name, _ANY_OPERANDS, _ANY_RESULTS, rule=_call_rule, lower=_lower_call, attributes={"callee": Attribute(Kind.SYMBOL)}, traits=(Trait.ON_STORAGE,))
for _name in ("func.return", "return", "stablehlo.return"):
    define(_name, _ANY_OPERANDS, "", lower=None, traits=(Trait.TERMINATOR,), doc="Ends a function or a region.")


# -- while, if, case -------------------------------------------------------------------------------------------------


def _while_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    condition, body = (r.block for r in op.regions)
    state = [o.type for o in op.operands]
    for block, what, types in (
        (condition, "condition block arguments", [a.type for a in condition.arguments]),
        (body, "body block arguments", [a.type for a in body.arguments]),
        (body, "body block return types", [v.type for v in body.ops[-1].operands]),
    ):
        if len(types) != len(state) or not all(map(compatible, state, types)):
            fail(op, f"expect operands to be compatible with {what} but got {types_text(state)} vs {types_text(types)}")
        if block is condition:
            _check_condition(op, block)
    return state


def _check_condition(op: ir.Op, block: ir.Block) -> None:
    returned = block.ops[-1].operands
    if len(returned) != 1:
        fail(op, f"expect condition body returns a single value but got {len(returned)}")
    type = returned[0].type
    if not isinstance(type, TensorType) or type.element != "i1" or type.rank:
        fail(op, f"expect condition block return a zero-ranked tensor of i1 but got '{type}'")


def _lower_while(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `while` over a tuple: the operands, then what the regions take from outside."""
    captured = ctx.captures(op.regions)
    state = ctx.tuple([*operands, *(ctx.value(v) for v in captured)])
    condition = ctx.capturing_region(op.regions[0], "while_condition", captured, always_tuple=False)
    body = ctx.capturing_region(op.regions[1], "while_body", captured, return_captured=True)
    loop = ctx.add("while", state, condition=condition, body=body)
    return [ctx.element(loop, i) for i in range(len(operands))]


define("stablehlo.while", _ANY_OPERANDS, _ANY_RESULTS, rule=_while_rule, lower=_lower_while, regions=2)


def _branch_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    selector = op.operands[0].type
    assert isinstance(selector, TensorType)
    if not op.regions:
        fail(op, "expect at least one branch")
    returned = []
    for i, region in enumerate(op.regions):
        if region.block.arguments:
            fail(op, f"branch {i} must have 0 arguments, but found {len(region.block.arguments)}")
        returned.append([v.type for v in region.block.ops[-1].operands])
        if len(returned[i]) != len(returned[0]) or not all(map(compatible, returned[0], returned[i])):
            fail(op, f"branch 0 and branch {i} have mismatched return types: {types_text(returned[0])} vs {types_text(returned[i])}")
    if selector.rank:
        fail(op, f"operand should be rank 0 tensor but got rank {selector.rank}")
    return returned[0]


def _lower_branches(ctx: LoweringContext, op: ir.Op, selector: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `conditional`; each branch takes what it needs from outside as a tuple."""
    operands, branches = [], []
    for i, region in enumerate(op.regions):
        captured = ctx.captures([region])
        operands.append(ctx.tuple([ctx.value(v) for v in captured]))
        branches.append(ctx.capturing_region(region, f"branch_{i}", captured, always_tuple=len(op.results) != 1))
    if op.name == "stablehlo.if":
        attributes = {"true_computation": branches[0], "false_computation": branches[1]}
        made = ctx.add("conditional", selector, *operands, **attributes)
    else:
        made = ctx.add("conditional", selector, *operands, branch_computations=tuple(branches))
    return ctx.results(made, op)


define(
    "stablehlo.if",
    (Values("pred", TypeConstraint(Elements.PRED)),),
    _ANY_RESULTS,
    rule=_branch_rule,
    lower=_lower_branches,
    regions=2,
)
define(
    "stablehlo.case",
    (Values("index", TypeConstraint(Elements.SIGNED)),),
    _ANY_RESULTS,
    rule=_branch_rule,
    lower=_lower_branches,
    regions=None,
)


# -- tokens and barriers ---------------------------------------------------------------------------------------------


def _lower_after_all(ctx: LoweringContext, op: ir.Op, *tokens: HloInstruction) -> HloInstruction:
    """HLO `after-all`."""
    return ctx.add("after-all", *tokens)


define(
    "stablehlo.after_all",
    (Values("inputs", TOKEN, Arity.VARIADIC),),
    (Values("result", TOKEN),),
    lower=_lower_after_all,
)
define("stablehlo.create_token", (), (Values("output", TOKEN),), lower=_lower_after_all)


def _barrier_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [o.type for o in op.operands]


def _lower_barrier(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `opt-barrier` of the operands together."""
    if not operands:
        return []
    if len(operands) == 1:
        return [ctx.add("opt-barrier", operands[0])]
    barrier = ctx.add("opt-barrier", ctx.tuple(operands))
    return ctx.elements(barrier)


define("stablehlo.optimization_barrier", _ANY_OPERANDS, _ANY_RESULTS, rule=_barrier_rule, lower=_lower_barrier, traits=(Trait.ON_STORAGE,))


# -- composite and custom_call ---------------------------------------------------------------------------------------

_NAMESPACED = re.compile(r"[a-zA-Z][\w]*(\.[\w.$-]+)\Z", re.ASCII)


def _composite_rule(op: ir.Op, module: ir.Module) -> None:
    if not _NAMESPACED.match(str(op.attributes["name"])):
        fail(op, "name must be a valid namespaced op name")
    name = str(op.attributes["decomposition"])
    function = module.functions.get(name)
    if function is None:
        fail(op, f"'{name}' does not reference a valid function")
    type = function.attributes.get("function_type")
    if not isinstance(type, ir.FunctionType):
        return
    for what, mine, theirs in (
        ("operand", [o.type for o in op.operands], type.inputs),
        ("result", [r.type for r in op.results], type.results),
    ):
        if len(mine) != len(theirs):
            fail(op, f"has {len(mine)} {what}(s), but decomposition has {len(theirs)}")
        for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if not compatible(a, b):
                fail(op, f"{what} at index {i} has type '{a}', but decomposition has type '{b}'")


def _lower_composite(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `call` of the decomposition, marked as a composite that a target may know by its name."""
    computation = ctx.module.function(str(op.attributes["decomposition"]), op)
    attributes = op.attributes.get("composite_attributes") or {}
    frontend = {
        "composite.attributes": attribute_text(attributes),
        "composite.name": str(op.attributes["name"]),
        "composite.version": str(int(op.attributes.get("version", 0))),
    }
    call = ctx.add("call", *operands, to_apply=computation, is_composite=True)
    call.attributes["frontend_attributes"] = tuple(sorted({**dict(ctx.frontend_attributes), **frontend}.items()))
    return ctx.results(call, op)


define(
    "stablehlo.composite",
    _ANY_OPERANDS,
    _ANY_RESULTS,
    rule=_composite_rule,
    lower=_lower_composite,
    regions=None,
    attributes={
        "name": Attribute(Kind.STRING),
        "composite_attributes": Attribute(Kind.DICTIONARY, None),
        "decomposition": Attribute(Kind.SYMBOL),
        "version": Attribute(Kind.INT32, 0),
    },
)

_API_VERSIONS = {
    0: "API_VERSION_UNSPECIFIED",
    1: "API_VERSION_ORIGINAL",
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}


def _custom_call_rule(op: ir.Op, module: ir.Module) -> None:
    version = int(op.attributes.get("api_version", 1))
    config = op.attributes.get("backend_config")
    if config is not None:
        typed = version == 4
        if typed and not isinstance(config, dict):
            fail(op, f"backend_config for api_version {_API_VERSIONS[version]} must be a dictionary attribute")
        if not typed and not isinstance(config, str):
            fail(op, f"backend_config for api_version {_API_VERSIONS.get(version, version)} must be a string attribute")
    _check_layouts(op)
    _check_aliases(op)


def _check_layouts(op: ir.Op) -> None:
    operands, results = op.attributes.get("operand_layouts"), op.attributes.get("result_layouts")
    if (operands is None) != (results is None):
        fail(op, "Layout attributes should be specified for either both operands and results or none")
    if operands is None or results is None:
        return
    types = [r.type for r in op.results]
    if len(types) == 1 and isinstance(types[0], ir.TupleType):
        types = list(types[0].elements)
    for what, given, layouts in (("operand", [o.type for o in op.operands], operands), ("result", types, results)):
        if len(given) != len(layouts):
            fail(op, f"Number of {what}s must match the number of {what} layouts, {len(given)} != {len(layouts)}")
        for i, (type, layout) in enumerate(zip(given, layouts, strict=True)):
            order = layout.array.tolist() if isinstance(layout, DenseElements) else list(layout)
            if isinstance(type, ir.TupleType):
                fail(op, "Tuple types are not fully supported with layout constraints yet")
            if not isinstance(type, TensorType):
                if order:
                    fail(op, f"Only tensor types can have non-empty layout: {what} #{i} of type '{type}' has layout dense<{order}> : tensor<{len(order)}xindex>")
                continue
            if sorted(order) != list(range(type.rank)):
                fail(
                    op,
                    f"incorrect layout dense<{order}> : tensor<{len(order)}xindex> for type '{type}', layout must be a "
                    f"permutation of [0, {type.rank})",
                )


def _check_aliases(op: ir.Op) -> None:
    for alias in op.attributes.get("output_operand_aliases") or ():
        if not isinstance(alias, OutputOperandAlias):
            continue
        if not 0 <= alias.operand_index < len(op.operands):
            fail(
                op,
                "expects operandIndex in the output_operand_alias attribute to be in range "
                f"[0, {len(op.operands)}); got: {alias.operand_index}",
            )
        operand = _part(op, op.operands[alias.operand_index].type, alias.operand_tuple_indices, "operand")
        types = [r.type for r in op.results]
        whole: ir.Type = types[0] if len(types) == 1 else ir.TupleType(tuple(types))
        output = _part(op, whole, alias.output_tuple_indices, "output")
        if operand != output:
            fail(
                op,
                f"shapes mismatch in the output_operand_alias attribute: operand part has type '{operand}' and output "
                f"part has type '{output}'",
            )


def _part(op: ir.Op, type: ir.Type, indices: Sequence[int], what: str) -> ir.Type:
    for index in indices:
        if not isinstance(type, ir.TupleType) or not 0 <= index < len(type.elements):
            fail(op, f"{what}_tuple_indices in the output_operand_alias attribute out of bounds")
        type = type.elements[index]
    return type


def _lower_custom_call(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction] | HloInstruction:
    """HLO `custom-call`."""
    shapes = [shape_of(r.type) for r in op.results]
    config = op.attributes.get("backend_config")
    extra: dict[str, object] = {}
    version = int(op.attributes.get("api_version", 1))
    if version != 1:
        extra["api_version"] = _API_VERSIONS.get(version, str(version))
    if isinstance(config, dict):
        extra["backend_config"] = attribute_text(config)
    elif config:
        extra["backend_config"] = str(config)
    if op.attributes.get("has_side_effect"):
        extra["custom_call_has_side_effect"] = True
    called = op.attributes.get("called_computations") or ()
    if called:
        extra["called_computations"] = tuple(ctx.module.function(str(c), op) for c in called)
    aliases = [_alias_text(a) for a in op.attributes.get("output_operand_aliases") or ()]
    if aliases:
        extra["output_to_operand_aliasing"] = "{" + ", ".join(aliases) + "}"
    if op.attributes.get("operand_layouts") is not None:
        orders = [tuple(_order(x)) for x in op.attributes["operand_layouts"]]
        extra["operand_layout_constraints"] = tuple(
            o.shape.with_layout(Layout(order)) if o.shape.is_array else o.shape
            for o, order in zip(operands, orders, strict=True)
        )
        results = [tuple(_order(x)) for x in op.attributes["result_layouts"]]
        shapes = [s.with_layout(Layout(r)) if s.is_array else s for s, r in zip(shapes, results, strict=True)]
    shape = shapes[0] if len(shapes) == 1 else Shape.tuple(shapes)
    target = str(op.attributes["call_target_name"])
    made = ctx.add("custom-call", *operands, shape=shape, custom_call_target=target, **extra)
    return made if len(shapes) == 1 else ctx.elements(made)


def _order(layout: DenseElements | Sequence[int]) -> Sequence[int]:
    return layout.array.reshape(-1).tolist() if isinstance(layout, DenseElements) else layout


def _alias_text(alias: OutputOperandAlias) -> str:
    output, operand = (", ".join(map(str, x)) for x in (alias.output_tuple_indices, alias.operand_tuple_indices))
    return f"{{{output}}}: ({alias.operand_index}, {{{operand}}})"


define(
    "stablehlo.custom_call",
    _ANY_OPERANDS,
    _ANY_RESULTS,
    rule=_custom_call_rule,
    lower=_lower_custom_call,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE),
    attributes={
        "call_target_name": Attribute(Kind.STRING),
        "has_side_effect": Attribute(Kind.BOOL, False),
        "backend_config": Attribute(Kind.ANY, None),
        "api_version": Attribute(Kind.INT32, 1),
        "called_computations": Attribute(Kind.ARRAY, ()),
        "operand_layouts": Attribute(Kind.ARRAY, None),
        "result_layouts": Attribute(Kind.ARRAY, None),
        "output_operand_aliases": Attribute(Kind.ARRAY, ()),
    },
)
