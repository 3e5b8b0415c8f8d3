"""Raises the ops that the op table lowers to one HLO op. The table says which opcode, and which attributes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.decompositions.elementwise import ELEMENTWISE
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import OPS, Attribute, Columns, Kind
from xla_core.stablehlo.translate.raising.context import RULES, RaisingContext
from xla_core.stablehlo.translate.raising.data import constant, i64s, numbers
from xla_core.stablehlo.translate.raising.decomposed import meaning_of
from xla_core.stablehlo.translate.raising.values import Raised, single


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
    attributes: Mapping[str, str | tuple[str] | Columns],
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
        if isinstance(ours, Columns):
            fields = zip(ours.names, dataclasses.fields(ours.structure), strict=True)
            rows = instruction.attribute(theirs)
            given |= {name: i64s([getattr(row, field.name) for row in rows]) for name, field in fields}
            continue
        key = ours if isinstance(ours, str) else ours[0]
        attribute = OPS[name].attributes[key]
        if attribute.kind is Kind.STRUCT:  # its fields are HLO's attributes of the same names
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


_COUNTERPARTS = {op.counterpart.opcode: op for _, op in sorted(OPS.items()) if op.counterpart is not None}
"""The StableHLO or CHLO op of an opcode. If there are several, StableHLO's overrides CHLO's, because it sorts last."""

for _opcode, _op in _COUNTERPARTS.items():
    assert _op.counterpart is not None
    RULES.setdefault(_opcode, functools.partial(_raise_op, _op.name, _op.counterpart.attributes))
