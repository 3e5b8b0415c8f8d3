"""Custom assembly: writers of the pretty forms that `text/custom_assembly.py` reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import attribute_text, dictionary_text, symbol_text
from xla_core.stablehlo.table.op_table import commutative_ops
from xla_core.stablehlo.text.custom_assembly import type_of_value
from xla_core.stablehlo.text.directives import ATTRIBUTES, NotPretty, body_of, dims_text
from xla_core.stablehlo.text.type_directives import functional_text, types_text
from xla_core.stablehlo.translate.text.region_writer import RegionWriter

_Writer = Callable[[RegionWriter, ir.Op, dict[str, Any], str], str]
"""(writer, op, its attributes, indentation) -> text. The writer removes the attributes that it writes."""


def _rest(writer: RegionWriter, attributes: dict[str, Any], keyword: str = "") -> str:
    """Writes the attributes that are left as ` {...}` or ` attributes {...}`, or nothing."""
    if not attributes:
        return ""
    text = dictionary_text(attributes)
    attributes.clear()
    return f" {keyword}{text}"


def _constant(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    value = attributes.pop("value", None)
    if op.operands or [type_of_value(value)] != [result.type for result in op.results]:
        raise NotPretty
    return f"{_rest(writer, attributes)} {attribute_text(value)}".strip()


def _barrier(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    if [o.type for o in op.operands] != [r.type for r in op.results]:
        raise NotPretty
    if not op.operands:
        return "()"
    return f"{writer.values(op.operands)} : {types_text([o.type for o in op.operands])}"


def _regions(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    return writer.regions(op, indent)


def _single_block(op: ir.Op, index: int) -> ir.Block:
    if index >= len(op.regions) or len(op.regions[index].blocks) != 1:
        raise NotPretty
    return op.regions[index].block


def _while(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    types = [o.type for o in op.operands]
    blocks = [_single_block(op, i) for i in range(2)]
    if [r.type for r in op.results] != types or any([a.type for a in b.arguments] != types for b in blocks):
        raise NotPretty
    names = writer.new_arguments(blocks[0], "iterArg")
    writer.names.update(zip(blocks[1].arguments, names, strict=True))
    pairs = ", ".join(f"%{name} = {writer.value(o)}" for name, o in zip(names, op.operands, strict=True))
    text = f"({pairs})" + (f" : {types_text(types)}" if types else "")
    text += _rest(writer, attributes, "attributes ")
    condition, body = (writer.block(block, indent) for block in blocks)
    return f"{text}\n{indent}cond {condition} do {body}"


def _reduce(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    count = len(op.results)
    block = _single_block(op, 0)
    if len(op.operands) != 2 * count or not count:
        raise NotPretty
    dims = dims_text(attributes.pop("dimensions", None))
    pairs = zip(op.operands[:count], op.operands[count:], strict=True)
    text = ", ".join(f"({writer.value(x)} init: {writer.value(initial)})" for x, initial in pairs)
    applied = _applied(block, op)
    across = f"across dimensions = {dims}"
    types = functional_text(op.operands, op.results)
    if applied is not None:
        return f"{text} applies {applied} {across}{_rest(writer, attributes)} : {types}"
    if len(block.arguments) != 2 * count:
        raise NotPretty
    names = writer.new_arguments(block, "arg")
    shown = [f"%{name}: {a.type}" for name, a in zip(names, block.arguments, strict=True)]
    reducer = " ".join(f"({x}, {y})" for x, y in zip(shown[:count], shown[count:], strict=True))
    text = f"{text} {across}{_rest(writer, attributes)} : {types}\n{indent} reducer{reducer} "
    return text + writer.block(block, indent)


def _applied(block: ir.Block, op: ir.Op) -> str | None:
    """Returns the name of the op if the reducer is only that op on two scalars of the input's type."""
    if len(block.ops) != 2 or len(block.arguments) != 2:
        return None
    inner, end = block.ops
    input_type = op.operands[0].type
    scalar: ir.Type = ir.TensorType((), input_type.element) if isinstance(input_type, ir.TensorType) else input_type
    is_plain = (
        inner.name in commutative_ops()
        and not inner.attributes
        and inner.operands == block.arguments
        and end.name == "stablehlo.return"
        and not end.attributes
        and end.operands == inner.results
        and [v.type for v in (*block.arguments, *inner.results)] == [scalar] * 3
    )
    return inner.name if is_plain else None


def _scan(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    sizes, results = (attributes.pop(f"{which}SegmentSizes", None) for which in ("operand", "result"))
    carries = sizes[1] if isinstance(sizes, ir.DenseArray) and len(sizes) == 2 else -1
    if carries < 0 or not isinstance(results, ir.DenseArray) or tuple(results) != (len(op.results) - carries, carries):
        raise NotPretty
    inputs = len(op.operands) - carries
    text = f"({writer.values(op.operands[:inputs])}) inits ({writer.values(op.operands[inputs:])})"
    text += f" dimension={ATTRIBUTES['int'].write(attributes.pop('dimension', None))}"
    text += _rest(writer, attributes, "attributes ")
    return f"{text} {writer.region(op.regions[0], indent)} : {functional_text(op.operands, op.results)}"


def _function(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    type = attributes.pop("function_type", None)
    name = attributes.pop("sym_name", None)
    if not isinstance(type, ir.FunctionType) or not isinstance(name, str) or len(op.regions) != 1:
        raise NotPretty
    visibility = attributes.pop("sym_visibility", None)
    text = "" if visibility is None else f"{visibility} "
    inputs = _with_attributes(type.inputs, attributes.pop("arg_attrs", None))
    results = _with_attributes(type.results, attributes.pop("res_attrs", None))
    blocks = op.regions[0].blocks
    names: Sequence[str] = ()
    writer.begin_function()
    if blocks:
        if len(blocks) != 1 or tuple([a.type for a in blocks[0].arguments]) != type.inputs:
            raise NotPretty
        names = writer.new_arguments(blocks[0], "arg")
        places = writer.argument_locations(blocks[0])
        inputs = [f"%{n}: {t}{place}" for n, t, place in zip(names, inputs, places, strict=True)]
    text += f"{symbol_text(name)}({', '.join(inputs)})"
    if results:
        is_single = results == [str(type.results[0])] and not isinstance(type.results[0], ir.FunctionType)
        text += f" -> {results[0]}" if is_single else f" -> ({', '.join(results)})"
    text += _rest(writer, attributes, "attributes ")
    return f"{text} {writer.block(blocks[0], indent)}" if blocks else text


def _with_attributes(types: Sequence[ir.Type], attributes: Sequence[dict[str, Any]] | None) -> list[str]:
    """Writes each type with the attributes of its argument or result."""
    if attributes and len(attributes) != len(types):
        raise NotPretty
    return [
        f"{type} {dictionary_text(given)}" if given else str(type)
        for type, given in zip(types, attributes or ({},) * len(types), strict=True)
    ]


def _module(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    name = attributes.pop("sym_name", None)
    text = f"{symbol_text(name)} " if isinstance(name, str) else ""
    rest = _rest(writer, attributes, "attributes ").strip()
    return f"{text}{rest + ' ' if rest else ''}{writer.block(_single_block(op, 0), indent)}"


def _mesh(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    name, mesh = attributes.pop("sym_name", None), attributes.pop("mesh", None)
    if not isinstance(name, str):
        raise NotPretty
    return f"{symbol_text(name)} = {body_of(mesh, '#sdy.mesh', '')}{_rest(writer, attributes)}"


def _manual_computation(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    shardings = [
        f"{name}={body_of(attributes.pop(name, None), '#sdy.sharding_per_value<', '>')}"
        for name in ("in_shardings", "out_shardings")
    ]
    axes = body_of(attributes.pop("manual_axes", None), "#sdy<manual_axes", ">")
    block = _single_block(op, 0)
    names = writer.new_arguments(block, "arg")
    arguments = ", ".join(f"%{name}: {a.type}" for name, a in zip(names, block.arguments, strict=True))
    text = f"({writer.values(op.operands)}) {' '.join(shardings)} manual_axes={axes} ({arguments}) "
    text += writer.block(block, indent)
    return f"{text}{_rest(writer, attributes)} : {functional_text(op.operands, op.results)}"


def _none(writer: RegionWriter, op: ir.Op, attributes: dict[str, Any], indent: str) -> str:
    raise NotPretty


CUSTOM: dict[str, _Writer] = {
    "<barrier>": _barrier,
    "<constant>": _constant,
    "<function>": _function,
    "<manual_computation>": _manual_computation,
    "<mesh>": _mesh,
    "<module>": _module,
    "<parenthesized_regions>": _regions,
    "<reduce>": _reduce,
    "<scan>": _scan,
    "<vhlo_function>": _none,
    "<while>": _while,
}
"""Words of formats that are written by functions of their own."""
