"""Raises the ops that the op table lowers to one HLO op. The table says which opcode, and which attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.decompositions.elementwise import ELEMENTWISE
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import OneOp
from xla_core.stablehlo.table.op_table import OPS, Attribute, Kind
from xla_core.stablehlo.translate.raising.context import RULES, RaisingContext
from xla_core.stablehlo.translate.raising.data import constant, i64s, numbers
from xla_core.stablehlo.translate.raising.decomposed import meaning_of
from xla_core.stablehlo.translate.raising.values import Raised, single

_Names = dict[str, str | tuple[str]]


def _same(*names: str) -> _Names:
    return {name: name for name in names}


_COUNTERPARTS: dict[Opcode, tuple[str, _Names]] = {
    Opcode.BITCAST_CONVERT: ("stablehlo.bitcast_convert", {}),
    Opcode.BROADCAST: ("stablehlo.broadcast_in_dim", {"dimensions": "broadcast_dimensions"}),
    Opcode.CLAMP: ("stablehlo.clamp", {}),
    Opcode.CONVERT: ("stablehlo.convert", {}),
    Opcode.GATHER: ("stablehlo.gather", _same("dimension_numbers", "slice_sizes", "indices_are_sorted")),
    Opcode.GET_DIMENSION_SIZE: ("stablehlo.get_dimension_size", {"dimensions": ("dimension",)}),
    Opcode.REDUCE: ("stablehlo.reduce", _same("dimensions")),
    Opcode.SCATTER: (
        "stablehlo.scatter",
        _same("scatter_dimension_numbers", "indices_are_sorted", "unique_indices"),
    ),
    Opcode.SELECT: ("stablehlo.select", {}),
    Opcode.SET_DIMENSION_SIZE: ("stablehlo.set_dimension_size", {"dimensions": ("dimension",)}),
    Opcode.SORT: ("stablehlo.sort", {"dimensions": ("dimension",), "is_stable": "is_stable"}),
    # If two ops lower to the same opcode, StableHLO's op overrides CHLO's, because it sorts last.
    **{
        definition.lower.opcode: (name, definition.lower.attributes)
        for name, definition in sorted(OPS.items())
        if isinstance(definition.lower, OneOp)
    },
}
"""The StableHLO op of an opcode, and its attributes by HLO's names. The first have a lowering of their own.

The fields of a structure are HLO's attributes of the same names.
"""


def _sign_of_unsigned(ctx: RaisingContext, x: ir.Value) -> ir.Value:
    """Computes the sign of an unsigned number, which is 0 or 1."""
    assert ctx.instruction is not None
    one = constant(ctx, np.ones((), ctx.instruction.shape.dtype), x.type)
    return ctx.add("stablehlo.minimum", [x, one], x.type)


def _not(ctx: RaisingContext, x: ir.Value) -> ir.Value:
    return ctx.add("stablehlo.not", [x], x.type)


_OF_UNSIGNED: dict[Opcode, Callable[..., ir.Value]] = {Opcode.ABS: lambda ctx, x: x, Opcode.SIGN: _sign_of_unsigned}
_OF_PRED: dict[Opcode, Callable[..., ir.Value]] = {
    Opcode.COUNT_LEADING_ZEROS: _not,
    Opcode.POPCNT: lambda ctx, x: x,
    Opcode.POWER: lambda ctx, x, y: ctx.add("stablehlo.or", [x, _not(ctx, y)], x.type),
}
"""Replacements for ops of types that StableHLO's ops don't accept."""


def _raise_op(
    name: str,
    attributes: _Names,
    ctx: RaisingContext,
    instruction: HloInstruction,
    operands: Sequence[Raised],
) -> Raised:
    if name.startswith("chlo.") and not ctx.program.has_chlo:
        return ctx.inline(meaning_of(instruction, ELEMENTWISE[instruction.opcode]), operands)
    values = [single(o) for o in operands]
    kind = instruction.operand(0).shape.element_type if operands else None
    table = _OF_PRED if kind is ElementType.PRED else _OF_UNSIGNED if kind is not None and kind.is_unsigned else {}
    special = table.get(instruction.opcode)
    if special is not None:
        return special(ctx, *values)
    given: dict[str, Any] = {}
    for theirs, ours in attributes.items():
        key = ours if isinstance(ours, str) else ours[0]
        attribute = OPS[name].attributes[key]
        if attribute.kind is Kind.STRUCT:
            given[key] = numbers(attribute.classes[0], instruction)
            continue
        value = instruction.attribute(theirs)
        given[key] = _attribute(attribute, value if isinstance(ours, str) else value[0])
    regions = [ctx.region(instruction.attribute("to_apply"))] if OPS[name].regions else []
    return ctx.results(name, values, regions, **given)


def _attribute(attribute: Attribute, value: Any) -> Any:
    """Converts the value of an HLO attribute to one of StableHLO's."""
    match attribute.kind:
        case Kind.ENUM:
            return ir.EnumAttribute(value, next(kind for kind, cases in ir.ENUMS.items() if cases == attribute.cases))
        case Kind.FLOAT:
            return ir.TypedFloat(float(np.float32(value)), "f32")
        case Kind.INT32:
            return ir.TypedInt(value, "i32")
        case Kind.INTS:
            return i64s(value)
        case _:
            return bool(value) if attribute.kind is Kind.BOOL else int(value)


for _opcode, (_name, _attributes) in _COUNTERPARTS.items():
    RULES.setdefault(_opcode, functools.partial(_raise_op, _name, _attributes))
