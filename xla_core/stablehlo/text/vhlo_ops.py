"""Reads VHLO's functions, and turns the ops of VHLO text into StableHLO's.

Source: openxla/stablehlo, stablehlo/dialect/VhloOps.cpp.
"""

from __future__ import annotations

from xla_core.errors import InvalidArgumentError
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.region_reader import Argument, OpState, RegionReader
from xla_core.stablehlo.vhlo.conversion import convert_attributes
from xla_core.stablehlo.vhlo.ops import ConversionError, find_vhlo_op


def read_function(reader: RegionReader, state: OpState) -> None:
    """Reads `@name(%a: type, ...) -> (types) {region} {attributes}`."""
    reader.skip()
    name = reader.symbol_name()
    arguments: list[Argument] = []
    reader.list_of("(", ")", lambda: arguments.append(reader.argument()))
    results = reader.type_or_list() if reader.accept("->") else ()
    state.attributes["sym_name"] = name
    state.attributes["function_type"] = ir.FunctionType(tuple(argument[2] for argument in arguments), tuple(results))
    region = reader.region(arguments, is_isolated=True)
    if not region.block.ops and len(region.blocks) == 1:  # only declared
        region.blocks.clear()
    state.regions.append(region)
    if reader.at("{"):
        start = reader.position
        reader.add_attributes(state, reader.dictionary(), start)


def convert_ops(ops: list[ir.Op]) -> list[ir.Op]:
    """Converts VHLO ops and the ops in their regions to StableHLO in place. Casts between the two are removed."""
    replaced: dict[ir.Value, ir.Value] = {}
    stack: list[tuple[list[ir.Op], bool]] = [(ops, False)]
    while stack:
        block, is_function = stack.pop()
        kept: list[ir.Op] = []
        for op in block:
            if replaced:
                op.operands = [replaced.get(operand, operand) for operand in op.operands]
            if op.name.startswith("vhlo."):
                _convert(op, is_function)
            if _is_cast(op):
                replaced.update(zip(op.results, op.operands, strict=True))
                continue
            kept.append(op)
        block[:] = kept
        # Outer blocks come first, because inner blocks use their values.
        for op in kept:
            stack.extend((inner.ops, op.name == "func.func") for region in op.regions for inner in region.blocks)
    return ops


def _is_cast(op: ir.Op) -> bool:
    return (
        op.name == "builtin.unrealized_conversion_cast"
        and len(op.operands) == len(op.results)
        and all(a.type == b.type for a, b in zip(op.operands, op.results, strict=True))
    )


def _convert(op: ir.Op, is_function: bool) -> None:
    try:
        vhlo = find_vhlo_op(op.name)
        op.attributes = attributes = convert_attributes(vhlo, op.attributes)
    except ConversionError as error:
        raise InvalidArgumentError(f"'{op.name}' op {error}", op=op.name, location=op.location) from None
    op.name = "func.return" if vhlo.name == "stablehlo.return" and is_function else vhlo.name
    if op.name == "func.func" and ir.drop_empty_signatures(attributes) is not None:
        raise InvalidArgumentError("arg_attrs and res_attrs must be arrays", op=op.name, location=op.location)
