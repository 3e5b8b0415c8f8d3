"""composite and custom_call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import FULL_TO_SHARD, PARTITIONED_CALLBACK, RESHARDING
from xla_core.hlo.table.attributes import OutputToOperandAlias
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.spmd.shards import shard_shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import attribute_text
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.quantized_ops import is_quantized
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.buffer_calls import check_buffer_call
from xla_core.stablehlo.ops.common import FALSE
from xla_core.stablehlo.ops.replica_groups import listed_groups
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of, tiled_sharding
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import COMPOSITE_VALUE, CUSTOM_CALL_VALUE
from xla_core.stablehlo.verify.attribute_constraints import are_ints
from xla_core.stablehlo.verify.verifier import verify_op

define = OpGroup("custom_calls").define

_NAMESPACED = "^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$"
IS_NAMESPACED = re.compile(_NAMESPACED).match
"""Matches the names that a composite may have."""


def _composite_symbols(op: ir.Op, module: ir.Module) -> None:
    if not IS_NAMESPACED(str(op.attributes["name"])):
        op.fail(
            "name must be a valid namespaced op name, i.e. it must match the following regular expression: "
            f'{_NAMESPACED} e.g. "my_namespace.my_op"'
        )
    function = module.function(str(op.attributes["decomposition"]), op)
    type = function.attributes.get("function_type")
    if not isinstance(type, ir.FunctionType):
        return
    for what, mine, theirs in (
        ("operand", [o.type for o in op.operands], type.inputs),
        ("result", [r.type for r in op.results], type.results),
    ):
        if len(mine) != len(theirs):
            op.fail(f"has {len(mine)} {what}(s), but decomposition has {len(theirs)}")
        for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if a != b:
                op.fail(f"{what} at index {i} has type '{a}', but decomposition has type '{b}'")


def _lower_composite(
    ctx: LoweringContext, op: ir.Op, *operands: HloInstruction
) -> Sequence[HloInstruction] | HloInstruction | None:
    """HLO `call` of the decomposition; frontend attributes name the composite for targets that know it.

    XLA's own mark `is_composite` is set too, except where the call returns a tuple, which XLA's importer refuses.
    A composite that stands for an op of CHLO is lowered as that op.
    """
    whole = _chlo_op(ctx, op)
    if whole is not None:
        lower = op_table.OPS[whole.name].lower
        assert lower is not None
        return lower(ctx, whole, *operands)
    computation = ctx.module.function(str(op.attributes["decomposition"]), op)
    attributes = op.attributes.get("composite_attributes") or {}
    frontend = {
        "composite.attributes": attribute_text(attributes),
        "composite.name": str(op.attributes["name"]),
        "composite.version": str(int(op.attributes.get("version", 0))),
    }
    call = ctx.add(Opcode.CALL, *operands, to_apply=computation)
    if not computation.root.shape.is_tuple:
        call.attributes["is_composite"] = True
    call.attributes["frontend_attributes"] = tuple(sorted({**dict(ctx.frontend_attributes), **frontend}.items()))
    return ctx.results(call, op)


def _chlo_op(ctx: LoweringContext, op: ir.Op) -> ir.Op | None:
    """Returns the op of CHLO that a composite stands for, or None.

    StableHLO's portable artifacts have no ops of CHLO. Frontends write such an op as a composite of its name, whose
    decomposition may cost much more: that of `chlo.top_k` is a sort.
    """
    definition = op_table.OPS.get(str(op.attributes["name"]))
    if definition is None or not definition.name.startswith("chlo.") or definition.lower is None or definition.regions:
        return None
    types = [r.type for r in op.results]
    if any(is_quantized(type) for type in (*types, *(o.type for o in op.operands))):
        return None
    attributes = op.attributes.get("composite_attributes") or {}
    whole = ir.Op(definition.name, list(op.operands), types, attributes, (), op.given_location)
    try:
        verify_op(whole, definition, ctx.module.source)
    except InvalidArgumentError:  # its attributes are those of another release of CHLO, so the decomposition is used
        return None
    return whole


define(
    "stablehlo.composite",
    (Values("inputs", COMPOSITE_VALUE, Arity.VARIADIC),),
    (Values("results", COMPOSITE_VALUE, Arity.VARIADIC),),
    symbols=_composite_symbols,
    lower=_lower_composite,
    regions=None,
    attributes={
        "name": Attribute(Kind.STRING),
        "composite_attributes": Attribute(Kind.DICTIONARY, None),
        "decomposition": Attribute(Kind.SYMBOL),
        "version": Attribute(Kind.INT32, 0),
    },
    assembly="name:string %* <parenthesized_regions> attr-dict : :functional:",
    traits=(Trait.VERSION_BY_OPERANDS,),
    releases="0.19 1.14",
    doc=(
        "An op that a library defined, by name and attributes, with its `decomposition` into other ops as a "
        "function. A target that knows the name runs the op as a whole; any other target runs the decomposition."
    ),
)

_LAYOUTS = "Array of layout (1D tensor of index type) attributes"
_API_VERSIONS = dict(enumerate(ir.ENUMS["custom_call_api_version"]))
_ORIGINAL, _TYPED = 1, 4


def _custom_call_rule(op: ir.Op, module: ir.Module) -> None:
    version = int(op.attributes.get("api_version", _ORIGINAL))
    _check_layouts(op)
    _check_aliases(op)
    config = op.attributes.get("backend_config")
    if config is not None:
        typed = version == _TYPED
        if typed and not isinstance(config, dict):
            op.fail(f"backend_config for api_version {_API_VERSIONS[version]} must be a dictionary attribute.")
        if not typed and not isinstance(config, str):
            op.fail(f"backend_config for api_version {_API_VERSIONS[version]} must be a string attribute.")
    check_buffer_call(op)


def _check_layouts(op: ir.Op) -> None:
    operands, results = op.attributes.get("operand_layouts"), op.attributes.get("result_layouts")
    if (operands is None) != (results is None):
        op.fail("Layout attributes should be specified for either both operands and results or none.")
    if operands is None or results is None:
        return
    for name, layouts in (("operand_layouts", operands), ("result_layouts", results)):
        if not all(are_ints(layout, "index") for layout in layouts):
            op.fail(f"attribute '{name}' failed to satisfy constraint: {_LAYOUTS}")
    types = [r.type for r in op.results]
    if len(types) == 1 and isinstance(types[0], ir.TupleType):
        types = list(types[0].elements)
    for what, given, layouts in (("operand", [o.type for o in op.operands], operands), ("result", types, results)):
        if len(given) != len(layouts):
            op.fail(f"Number of {what}s must match the number of {what} layouts, {len(given)} != {len(layouts)}")
        for i, (type, layout) in enumerate(zip(given, layouts, strict=True)):
            order = _order(layout)
            if isinstance(type, ir.TupleType):
                op.fail("Tuple types are not fully supported with layout constraints yet")
            if not isinstance(type, ir.TensorType):
                if order:
                    op.fail(
                        f"Only tensor types can have non-empty layout: {what} #{i} of type '{type}' has layout "
                        f"{attribute_text(layout)}"
                    )
                continue
            if sorted(order) != list(range(type.rank)):
                op.fail(
                    f"incorrect layout {attribute_text(layout)} for type '{type}', layout must be a "
                    f"permutation of [0, {type.rank})"
                )


def _check_aliases(op: ir.Op) -> None:
    for alias in op.attributes.get("output_operand_aliases") or ():
        if not isinstance(alias, ir.OutputOperandAlias):
            op.fail("output_operand_aliases must be an array of output_operand_alias attributes")
        if not 0 <= alias.operand_index < len(op.operands):
            op.fail(
                "expects operandIndex in the output_operand_alias attribute to be in range "
                f"[0, {len(op.operands)}); got: {alias.operand_index}."
            )
        operand = _part(op, op.operands[alias.operand_index].type, alias.operand_tuple_indices, "operand")
        types = [r.type for r in op.results]
        whole: ir.Type = types[0] if len(types) == 1 else ir.TupleType(tuple(types))
        output = _part(op, whole, alias.output_tuple_indices, "output")
        if operand != output:
            op.fail(
                f"shapes mismatch in the output_operand_alias attribute: operand part has type '{operand}' and output "
                f"part has type '{output}'"
            )


def _part(op: ir.Op, type: ir.Type, indices: Sequence[int], what: str) -> ir.Type:
    for index in indices:
        if not isinstance(type, ir.TupleType) or not 0 <= index < len(type.elements):
            op.fail(f"{what}_tuple_indices in the output_operand_alias attribute out of bounds")
        type = type.elements[index]
    return type


def _lower_custom_call(
    ctx: LoweringContext, op: ir.Op, *operands: HloInstruction
) -> Sequence[HloInstruction] | HloInstruction:
    """HLO `custom-call`; a call that only annotates its operand with a sharding becomes the operand."""
    shapes = [shape_of(r.type) for r in op.results]
    target = str(op.attributes["call_target_name"])
    if target in ("Sharding", *RESHARDING) and [o.shape for o in operands] == shapes:
        return operands[0]
    if target in RESHARDING:
        return _lower_resharding(ctx, op, target, *operands)
    if target == "ragged_all_to_all":
        return _lower_ragged_all_to_all(ctx, op, *operands)
    if target == PARTITIONED_CALLBACK:
        operands = tuple(ctx.own_shard(v, op, o) for v, o in zip(op.operands, operands, strict=True))
    version, config = _version_and_configuration(op)
    extra: dict[str, Any] = {}
    if version != _ORIGINAL:
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
    aliases = op.attributes.get("output_operand_aliases") or ()
    if aliases:
        extra["output_to_operand_aliasing"] = tuple(
            OutputToOperandAlias(a.output_tuple_indices, a.operand_index, a.operand_tuple_indices) for a in aliases
        )
    if op.attributes.get("operand_layouts") is not None:
        orders = [tuple(_order(x)) for x in op.attributes["operand_layouts"]]
        extra["operand_layout_constraints"] = tuple(
            o.shape.with_layout(Layout(order)) if o.shape.is_array else o.shape
            for o, order in zip(operands, orders, strict=True)
        )
        results = [tuple(_order(x)) for x in op.attributes["result_layouts"]]
        in_tuple = len(shapes) == 1 and shapes[0].is_tuple
        parts = zip(shapes[0].tuple_shapes if in_tuple else shapes, results, strict=True)
        shapes = [s.with_layout(Layout(r)) if s.is_array else s for s, r in parts]
        shapes = [Shape.tuple(shapes)] if in_tuple else shapes
    shape = shapes[0] if len(shapes) == 1 else Shape.tuple(shapes)
    made = ctx.add(Opcode.CUSTOM_CALL, *operands, shape=shape, custom_call_target=target, **extra)
    return made if len(shapes) == 1 else ctx.elements(made)


def _lower_resharding(ctx: LoweringContext, op: ir.Op, target: str, operand: HloInstruction) -> HloInstruction:
    """Slices the device's shard of a whole tensor, or gathers the shards, as in GSPMD's form of `shard_map`.

    The annotation `Sharding` of a whole tensor is that of the call's operand, or the call's own for a result.
    """
    whole, part = (op.operands[0], op.results[0]) if target == FULL_TO_SHARD else (op.results[0], op.operands[0])
    source = op
    if target == FULL_TO_SHARD and isinstance(whole.owner, ir.Op):
        source = whole.owner
    text = sharding_of(source.attributes, op.location).get("sharding")
    sharding = None if text is None else tiled_sharding(text, op)
    if sharding is None or len(sharding.dimensions) != shape_of(whole.type).rank:
        op.fail(f"changes the shape from '{op.operands[0].type}' to '{op.results[0].type}' without a sharding")
    with op.located():
        shape = shard_shape(shape_of(whole.type), sharding)
    if shape != shape_of(part.type):
        op.fail(f"a shard of '{whole.type}' by the sharding {text} is {shape}, not '{part.type}'")
    shards = ctx.module.shards
    return (shards.to_shard if target == FULL_TO_SHARD else shards.to_whole)(ctx, operand, sharding)


def _version_and_configuration(op: ir.Op) -> tuple[int, Any]:
    """Returns the API version and the configuration, which is a dictionary for a typed call and else a string.

    A call with an empty `backend_config` and a dictionary in `mhlo.backend_config` is a typed call too: JAX writes
    typed calls like this, and XLA reads them.
    """
    version, config = int(op.attributes.get("api_version", _ORIGINAL)), op.attributes.get("backend_config")
    dictionary = op.attributes.get("mhlo.backend_config")
    if version == _ORIGINAL and not config and isinstance(dictionary, dict):
        return _TYPED, dictionary
    return version, config


def _lower_ragged_all_to_all(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `ragged-all-to-all`. StableHLO has no such op, so frontends write this custom call."""
    _, config = _version_and_configuration(op)
    groups = config.get("replica_groups") if isinstance(config, dict) else None
    if groups is None:
        op.fail("ragged_all_to_all needs replica_groups in its backend_config")
    channel = int(config.get("channel_id", 0)) if isinstance(config, dict) else 0
    attributes: dict[str, Any] = {"channel_id": channel} if channel > 0 else {}
    return ctx.add(Opcode.RAGGED_ALL_TO_ALL, *operands, replica_groups=listed_groups(groups), **attributes)


def _order(layout: ir.DenseElements | Sequence[int]) -> Sequence[int]:
    return layout.array.reshape(-1).tolist() if isinstance(layout, ir.DenseElements) else layout


define(
    "stablehlo.custom_call",
    (Values("inputs", CUSTOM_CALL_VALUE, Arity.VARIADIC),),
    (Values("results", CUSTOM_CALL_VALUE, Arity.VARIADIC),),
    rule=_custom_call_rule,
    lower=_lower_custom_call,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE, Trait.VERSION_BY_OPERANDS),
    attributes={
        "call_target_name": Attribute(Kind.STRING),
        "has_side_effect": FALSE,
        "backend_config": Attribute(Kind.STRING_OR_DICTIONARY, None),
        "api_version": Attribute(
            Kind.CASE_NUMBER, 1, cases=ir.ENUMS["custom_call_api_version"], says="Custom call API version"
        ),
        "called_computations": Attribute(Kind.SYMBOLS, ()),
        "operand_layouts": Attribute(Kind.ARRAY, None),
        "result_layouts": Attribute(Kind.ARRAY, None),
        "output_operand_aliases": Attribute(Kind.ARRAY, ()),
        "result_tilings": Attribute(Kind.ARRAY, (), since=2),
    },
    assembly="call_target_name:symbol_name ( %* ) attr-dict : :functional:",
    releases="0.9 1.18",
    doc="Calls a function that is registered under `call_target_name`, in the backend or in the process.",
)
