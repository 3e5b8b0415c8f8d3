"""Raises control flow, calls, fusions, composites, custom calls and asynchronous pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.custom_calls import IS_NAMESPACED
from xla_core.stablehlo.text.op_reader import OpReader
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.values import Raised, leaves, type_of


@raises(Opcode.WHILE)
def _while(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    regions = [ctx.region(instruction.attribute(name)) for name in ("condition", "body")]
    return ctx.results("stablehlo.while", list(leaves(operands[0])), regions)


@raises(Opcode.CONDITIONAL)
def _conditional(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    branches = branch_computations(instruction.attributes)
    regions = [ctx.capturing_region(b, [o]) for b, o in zip(branches, operands[1:], strict=True)]
    is_pred = instruction.operand(0).shape.element_type is ElementType.PRED
    return ctx.results("stablehlo.if" if is_pred else "stablehlo.case", operands[:1], regions)


@raises(Opcode.FUSION)
def _inlined(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return ctx.inline(instruction.attribute("calls"), operands)


@raises(Opcode.CALL)
def _call(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    if ctx.program.inlines_calls:
        return ctx.inline(instruction.attribute("to_apply"), operands)
    function = ctx.program.called(instruction.attribute("to_apply"))
    name = ir.SymbolRef(function.attributes["sym_name"])
    values = list(leaves(tuple(operands)))
    frontend = dict(instruction.attributes.get("frontend_attributes") or ())
    composite = {key: frontend.pop(f"composite.{key}", "").strip('"') for key in ("attributes", "name", "version")}
    if not IS_NAMESPACED(composite["name"]):
        return ctx.results("func.call", values, callee=name)
    return ctx.results(
        "stablehlo.composite",
        values,
        name=composite["name"],
        composite_attributes=_parsed(composite["attributes"] or "{}") or None,
        decomposition=name,
        version=ir.TypedInt(int(composite["version"] or 0), "i32"),
        **({"mhlo.frontend_attributes": frontend} if frontend else {}),
    )


def _parsed(text: str) -> Any:
    return OpReader(text, "<attribute>").attribute()


# Custom calls


@raises(Opcode.CUSTOM_CALL)
def _custom_call(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    for name in ("to_apply", "literal", "window", "dim_labels"):
        if instruction.attributes.get(name) is not None:
            raise UnimplementedError(f"a custom call with {name} has no counterpart in StableHLO")
    version = ir.ENUMS["custom_call_api_version"].index(instruction.attribute("api_version") or "API_VERSION_ORIGINAL")
    config: Any = instruction.attributes.get("backend_config") or None
    if config is not None and version == 4:
        config = _parsed(config)
    called = [ctx.program.called(c).attributes["sym_name"] for c in instruction.attribute("called_computations") or ()]
    aliases = tuple(
        ir.OutputOperandAlias(a.output_index, a.operand_number, a.operand_index)
        for a in instruction.attribute("output_to_operand_aliasing")
    )
    shape = instruction.shape
    is_flat = shape.is_tuple and len(shape.tuple_shapes) != 1  # a tuple of one element was a tuple type
    parts = shape.tuple_shapes if is_flat else (shape,)
    results = ctx.op(
        "stablehlo.custom_call",
        [_packed(ctx, o) for o in operands],
        [type_of(part) for part in parts],
        call_target_name=instruction.attribute("custom_call_target"),
        has_side_effect=True if instruction.attribute("custom_call_has_side_effect") else None,
        backend_config=config,
        api_version=ir.TypedInt(version, "i32"),
        called_computations=tuple([ir.SymbolRef(name) for name in called]) or None,
        output_operand_aliases=aliases or None,
        **_layouts(instruction, parts),
    )
    values = [_unpacked(ctx, result, part) for result, part in zip(results, parts, strict=True)]
    return tuple(values) if is_flat else values[0]


def _packed(ctx: RaisingContext, value: Raised) -> ir.Value:
    """Packs a Python tuple of values into one value of tuple type."""
    if not isinstance(value, tuple):
        return value
    elements = [_packed(ctx, element) for element in value]
    return ctx.add("stablehlo.tuple", elements, ir.TupleType(tuple([e.type for e in elements])))


def _unpacked(ctx: RaisingContext, value: ir.Value, shape: Shape) -> Raised:
    """Unpacks a value of tuple type into a Python tuple of values."""
    if not shape.is_tuple:
        return value
    parts = []
    for i, element in enumerate(shape.tuple_shapes):
        part = ctx.add("stablehlo.get_tuple_element", [value], type_of(element), index=ir.TypedInt(i, "i32"))
        parts.append(_unpacked(ctx, part, element))
    return tuple(parts)


def _layouts(instruction: HloInstruction, results: Sequence[Shape]) -> dict[str, Any]:
    """Returns the layouts of operands and results as attributes, if the instruction fixes them."""
    operands = instruction.attribute("operand_layout_constraints")
    if operands is None or any(shape.is_tuple for shape in (*operands, *results)):
        return {}
    return {
        "operand_layouts": tuple([_layout(shape) for shape in operands]),
        "result_layouts": tuple([_layout(shape) for shape in results]),
    }


def _layout(shape: Shape) -> ir.DenseElements:
    return ir.dense(shape.minor_to_major() if shape.is_array else (), "index")
