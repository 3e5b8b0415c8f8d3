"""Custom assembly: readers of pretty forms that no format describes, most of them of ops with regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_core.errors import SourceLocation
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import commutative_ops
from xla_core.stablehlo.text.cursor import TextLocation
from xla_core.stablehlo.text.directives import kept
from xla_core.stablehlo.text.region_reader import Argument, OpState, RegionReader


def type_of_value(value: Any) -> ir.Type | None:
    """Returns the type that an attribute such as a constant has."""
    if isinstance(value, ir.DenseElements):
        return value.type
    if isinstance(value, bool):
        return ir.ScalarType("i1")
    if isinstance(value, (ir.TypedInt, ir.TypedFloat)):
        return ir.ScalarType(value.type)
    if isinstance(value, int):
        return ir.ScalarType("i64")
    return ir.ScalarType("f64") if isinstance(value, float) else None


def _value_type(reader: RegionReader, state: OpState, start: int) -> ir.Type:
    type = type_of_value(state.attributes.get("value"))
    if type is None:
        hint = "a constant is written dense<0> : tensor<i32>"
        raise reader.form_error("invalid kind of attribute specified", start, hint)
    return type


def value_types(reader: RegionReader, state: OpState) -> None:
    """Gives every operand the type of the attribute `value`; the op has no results."""
    state.operand_types = (_value_type(reader, state, reader.position),) * len(state.operands)


def generic_regions(reader: RegionReader, state: OpState) -> None:
    """Reads `({...}, {...})` of the generic form, or nothing."""
    if reader.at("["):
        raise reader.error("successors in non-terminator: StableHLO has no branches")
    _parenthesized_regions(reader, state)


def _parenthesized_regions(reader: RegionReader, state: OpState) -> None:
    if reader.at("("):
        reader.list_of("(", ")", lambda: state.regions.append(reader.region()), "to end region list")


def _signature(reader: RegionReader, state: OpState, what: str) -> None:
    """`: (types) -> types`."""
    reader.expect(":", what)
    signature = reader.function_type()
    state.operand_types, state.result_types = signature.inputs, signature.results


def _attributes(reader: RegionReader, state: OpState) -> None:
    """`{...}`, or nothing."""
    if reader.at("{"):
        start = reader.position
        reader.add_attributes(state, reader.dictionary(), start)


def _keyword_attributes(reader: RegionReader, state: OpState) -> None:
    """`attributes {...}`, or nothing."""
    if reader.accept_word("attributes"):
        start = reader.skip()
        reader.add_attributes(state, reader.dictionary(), start)


def _constant(reader: RegionReader, state: OpState) -> None:
    """`{attributes} dense<...> : type`, or `() {value = ...} : () -> type`."""
    start = reader.skip()
    if reader.accept("("):
        reader.expect(")")
        if reader.accept("<"):
            start = reader.skip()
            reader.add_attributes(state, reader.dictionary(), start)
            reader.expect(">")
        _attributes(reader, state)
        _signature(reader, state, "and the constant's type")
        _value_type(reader, state, start)
        return
    _attributes(reader, state)
    start = reader.skip()
    reader.add_attributes(state, {"value": reader.attribute()}, start)
    type = _value_type(reader, state, start)
    if isinstance(type, ir.ScalarType) and not state.name.startswith("arith."):
        hint = f"a constant is written dense<0> : tensor<{type}>"
        raise reader.form_error("invalid kind of attribute specified", start, hint)
    state.result_types = (type,)


def _barrier(reader: RegionReader, state: OpState) -> None:
    """`%a, %b : types`, or `()`."""
    if not reader.at("%"):
        reader.expect("(", "and ')', or operands")
        reader.expect(")")
    else:
        reader.operands(state)
        reader.expect(":", "and the operands' types")
        state.operand_types = state.result_types = tuple(reader.type_list())


def _while(reader: RegionReader, state: OpState) -> None:
    """`(%iter = %init, ...) : types attributes {...} cond {...} do {...}`."""
    names: list[tuple[str, int]] = []

    def pair() -> None:
        names.append(reader.name("SSA operand such as %iterArg, a loop variable"))
        reader.expect("=", "and the variable's first value")
        reader.operand(state)

    reader.list_of("(", ")", pair)
    start = reader.skip()
    types: list[ir.Type] = []
    if names:
        reader.expect(":", "and the variables' types")
        types = reader.type_list()
    if len(types) != len(names):
        raise reader.form_error(
            f"number of operands and types do not match: got {len(names)} operands and {len(types)} types", start
        )
    reader.check_operands(state, tuple(types))
    _keyword_attributes(reader, state)
    arguments: list[Argument] = [(*name, type, None) for name, type in zip(names, types, strict=True)]
    for word in ("cond", "do"):
        reader.expect_word(word)
        state.regions.append(reader.region(arguments))
    state.operand_types = state.result_types = tuple(types)


def _reduce(reader: RegionReader, state: OpState) -> None:
    """`(%x init: %c), ... applies op across dimensions = [...] : type`, or with `reducer(...) {...}` at the end."""
    initial = type(state)(state.name, state.start)

    def pair() -> None:
        reader.expect("(")
        reader.operand(state)
        reader.expect_word("init")
        reader.expect(":")
        reader.operand(initial)
        reader.expect(")")

    pair()
    while reader.accept(","):
        pair()
    count = len(state.operands)
    state.operands += initial.operands
    state.offsets += initial.offsets
    inner = None
    inner_start = reader.skip()
    if reader.accept_word("applies"):
        inner_start = reader.skip()
        inner = reader.string() if reader.at_string() else reader.word("the op to apply")
        if inner not in commutative_ops():
            expected = "a commutative binary-op from the stablehlo dialect, with zero region, producing single result"
            hint = f"such ops are {', '.join(sorted(commutative_ops()))}"
            raise reader.form_error(f"expected the inner-op to be {expected}; found {inner}", state.start, hint=hint)
    reader.expect_word("across")
    reader.expect_word("dimensions")
    reader.expect("=")
    state.attributes["dimensions"] = reader.dimensions()
    _attributes(reader, state)
    _signature(reader, state, "and the reduction's type")
    if inner is not None:
        if not state.operand_types:
            raise reader.error("the reduction has no operands", inner_start)
        state.location = reader.accept_location() or TextLocation(reader.text, state.start)
        state.regions.append(reducer(inner, state.operand_types[0], state.location))
        return
    reader.expect_word("reducer")
    first: list[Argument] = []
    second: list[Argument] = []
    while reader.accept("("):
        first.append(reader.argument())
        reader.expect(",", "and the accumulator")
        second.append(reader.argument())
        reader.expect(")")
    if len(first) != count:
        takes = f"Reduction-region must take {2 * count} parameters, but takes {2 * len(first)} parameter(s)"
        hint = f"the reducer has {len(first)} pairs of arguments, the reduction {count} inputs"
        raise reader.error(takes, state.start, hint)
    state.regions.append(reader.region(first + second))


def reducer(inner: str, operand: ir.Type, location: SourceLocation | ir.LazyLocation) -> ir.Region:
    """Makes the region of `applies op`: two scalar arguments, the op, and the return of its result."""
    element = ir.TensorType((), operand.element) if isinstance(operand, ir.TensorType) else operand
    block = ir.Block((element, element))
    op = ir.Op(inner, list(block.arguments), (element,), location=location)
    block.ops += [op, ir.Op("stablehlo.return", list(op.results), (), location=location)]
    return ir.Region([block])


def _scan(reader: RegionReader, state: OpState) -> None:
    """`(%inputs) inits (%carries) dimension=0 attributes {...} {region} : type`."""
    reader.list_of("(", ")", lambda: reader.operand(state))
    inputs = len(state.operands)
    reader.expect_word("inits")
    reader.list_of("(", ")", lambda: reader.operand(state))
    carries = len(state.operands) - inputs
    reader.expect_word("dimension")
    reader.expect("=")
    state.attributes["dimension"] = reader.integer()
    _keyword_attributes(reader, state)
    state.regions.append(reader.region())
    reader.expect(":", "and the scan's type")
    start = reader.skip()
    signature = reader.function_type()
    outputs = len(signature.results) - carries
    if outputs < 0:
        raise reader.error(f"{carries} carries, but {len(signature.results)} results", start)
    segments = {
        "operandSegmentSizes": ir.DenseArray((inputs, carries), "i32"),
        "resultSegmentSizes": ir.DenseArray((outputs, carries), "i32"),
    }
    reader.add_attributes(state, segments, start)
    state.operand_types, state.result_types = signature.inputs, signature.results


def _function(reader: RegionReader, state: OpState) -> None:
    """`public @name(%a: type {...} loc(...), ...) -> (type {...}) attributes {...} {region}`."""
    for visibility in ("public", "private", "nested"):
        if reader.accept_word(visibility):
            state.attributes["sym_visibility"] = visibility
            break
    start = reader.skip()
    state.attributes["sym_name"] = name = reader.symbol_name()
    if name in reader.symbols:
        raise reader.error(f"redefinition of symbol named '{name}'", start)
    arguments: list[Argument] = []
    types: list[ir.Type] = []
    argument_attributes: list[dict[str, Any]] = []

    def typed(types: list[ir.Type], attributes: list[dict[str, Any]]) -> None:
        types.append(reader.type())
        attributes.append(reader.dictionary() if reader.at("{") else {})

    def argument() -> None:
        is_named = reader.at("%")
        if bool(arguments) != is_named and types:
            expected = "type instead of SSA identifier" if is_named else "SSA identifier"
            raise reader.form_error(f"expected {expected}: every argument has a name, or none")
        if is_named:
            name, offset = reader.name("an argument such as %arg0")
            reader.expect(":", "and the argument's type")
        typed(types, argument_attributes)
        location = reader.accept_location()
        if is_named:
            arguments.append((name, offset, types[-1], location))

    reader.list_of("(", ")", argument)
    results: list[ir.Type] = []
    result_attributes: list[dict[str, Any]] = []

    if reader.accept("->"):
        if reader.at("("):
            reader.list_of("(", ")", lambda: typed(results, result_attributes))
        else:
            result_attributes.append({})
            results.append(reader.type())
    state.attributes["function_type"] = ir.FunctionType(tuple(types), tuple(results))
    if any(argument_attributes):
        state.attributes["arg_attrs"] = tuple(argument_attributes)
    if any(result_attributes):
        state.attributes["res_attrs"] = tuple(result_attributes)
    _keyword_attributes(reader, state)
    if not reader.at("{"):
        state.regions.append(ir.Region())
        return
    if types and not arguments:
        message = f"'func.func' op entry block must have {len(types)} arguments to match function signature"
        raise reader.error(message, state.start, "a function with a body needs names for its arguments")
    state.regions.append(reader.region(arguments, is_isolated=True))


def _module(reader: RegionReader, state: OpState) -> None:
    """`@name attributes {...} {region}`."""
    if reader.at("@"):
        state.attributes["sym_name"] = reader.symbol_name()
    _keyword_attributes(reader, state)
    outer, reader.symbols = reader.symbols, set()
    state.regions.append(reader.region([], is_isolated=True))
    reader.symbols = outer


def _mesh(reader: RegionReader, state: OpState) -> None:
    """`@name = <["x"=2]> {attributes}`."""
    state.attributes["sym_name"] = reader.symbol_name()
    reader.expect("=")
    state.attributes["mesh"] = kept(reader, "<", "#sdy.mesh")
    _attributes(reader, state)


def _manual_computation(reader: RegionReader, state: OpState) -> None:
    """`(%x) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg: type) {region} : type`."""
    reader.list_of("(", ")", lambda: reader.operand(state))
    for name in ("in_shardings", "out_shardings"):
        reader.expect_word(name)
        reader.expect("=")
        state.attributes[name] = kept(reader, "[", "#sdy.sharding_per_value<", ">")
    reader.expect_word("manual_axes")
    reader.expect("=")
    state.attributes["manual_axes"] = kept(reader, "{", "#sdy<manual_axes", ">")
    arguments: list[Argument] = []
    reader.list_of("(", ")", lambda: arguments.append(reader.argument()))
    state.regions.append(reader.region(arguments))
    _attributes(reader, state)
    _signature(reader, state, "and the computation's type")


def _vhlo_function(reader: RegionReader, state: OpState) -> None:
    from xla_core.stablehlo.text import vhlo_ops  # few texts are VHLO

    vhlo_ops.read_function(reader, state)


CUSTOM: dict[str, Callable[[RegionReader, OpState], None]] = {
    "<barrier>": _barrier,
    "<constant>": _constant,
    "<function>": _function,
    "<manual_computation>": _manual_computation,
    "<mesh>": _mesh,
    "<module>": _module,
    "<parenthesized_regions>": _parenthesized_regions,
    "<reduce>": _reduce,
    "<scan>": _scan,
    "<vhlo_function>": _vhlo_function,
    "<while>": _while,
}
"""Readers by the word that stands for them in an assembly format."""
