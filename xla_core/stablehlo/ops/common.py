"""Helpers of the op files: accessors of attributes, rules of families of ops, lowerings to one HLO op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Attribute, Columns, Kind, OneOpLowering, hlo_name
from xla_core.stablehlo.verify.compatibility import compatible_elements, compatible_shapes, most_specific

INTS = Attribute(Kind.INTS)
OPTIONAL_INTS = Attribute(Kind.INTS, None)
FALSE = Attribute(Kind.BOOL, False)
INDEX = Attribute(Kind.INT, minimum=0)
SIZE = Attribute(Kind.INT, minimum=1)
PRECISION = Attribute(Kind.PRECISIONS, (), cases=ir.ENUMS["precision"])
CHANNEL = Attribute(Kind.STRUCT, None, classes=(ir.ChannelHandle,), says="two 64-bit integers 'handle' and 'type'")


def enum(kind: str, default: Any = REQUIRED, says: str = "") -> Attribute:
    return Attribute(Kind.ENUM, default, cases=ir.ENUMS[kind], says=says)


def ints(op: ir.Op, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
    """Reads an attribute that is a list of integers (or booleans), written as an array or as a dense tensor."""
    value = op.attributes.get(name)
    if value is None:
        return tuple(default)
    if isinstance(value, ir.DenseElements):
        return tuple(value.array.reshape(-1).tolist())
    return tuple(value)


def matrix(op: ir.Op, name: str, rows: int) -> list[tuple[int, int]]:
    """Reads an attribute of shape (rows, 2), such as padding; an absent or empty attribute gives zeros."""
    value = op.attributes.get(name)
    array = value.array if isinstance(value, ir.DenseElements) else np.asarray(() if value is None else value)
    return [(int(low), int(high)) for low, high in array.reshape(-1, 2).tolist()] or [(0, 0)] * rows


def tensor(op: ir.Op, index: int) -> ir.TensorType:
    """Returns the type of operand `index`, which must be a ranked tensor (see `tensor_of`)."""
    return tensor_of(op.operands[index])


def tensor_of(value: ir.Value) -> ir.TensorType:
    """Returns the type of a value that the op table declares as a tensor.

    Raises UnimplementedError for an unranked tensor, which the ops of CHLO accept.
    """
    type = value.type
    if not isinstance(type, ir.TensorType):
        raise UnimplementedError(f"the type '{type}' has no rank", hint="give all tensors a rank")
    return type


class OneOp(OneOpLowering):
    """Lowers an op to one HLO op of the same operands. Raising to StableHLO reads the same description.

    Args:
        opcode: the HLO op.
        same: the attributes that have the same name in both.
        declared: whether the HLO op takes the shape of the declared result; HLO infers the shape otherwise.
        renamed: StableHLO's name of other attributes, by HLO's: see `OneOpLowering.attributes`.
    """

    def __init__(
        self, opcode: Opcode, *same: str, declared: bool = False, **renamed: str | tuple[str] | Columns
    ) -> None:
        self.opcode = opcode
        self.declared = declared
        self.attributes = {**{name: name for name in same}, **renamed}
        self.__doc__ = f"HLO `{opcode}`."

    def __call__(
        self, ctx: LoweringContext, op: ir.Op, *operands: HloInstruction
    ) -> HloInstruction | Sequence[HloInstruction]:
        shape = ctx.result_shape(op) if self.declared else None
        made = ctx.add(self.opcode, *operands, shape=shape, **self.hlo_attributes(op))
        return made if len(op.results) == 1 else ctx.elements(made)

    def hlo_attributes(self, op: ir.Op) -> dict[str, Any]:
        """Converts the op's attributes to HLO's."""
        definition = OPS[op.name]
        given: dict[str, Any] = {}
        for name, source in self.attributes.items():
            if isinstance(source, Columns):
                rows = zip(*(ints(op, column) for column in source.names), strict=True)
                given[name] = tuple(source.structure(*row) for row in rows)
                continue
            key = source if isinstance(source, str) else source[0]
            kind, value = definition.attributes[key].kind, definition.attribute(op, key)
            if kind is Kind.STRUCT:
                given |= fields_of(value)
                continue
            value = ints(op, key) if kind is Kind.INTS else _PLAIN[kind](value)
            given[name] = value if isinstance(source, str) else (value,)
        return given


def fields_of(structure: Any) -> dict[str, Any]:
    """Returns the fields of a structure, such as dimension numbers, as attributes of HLO."""
    return {hlo_name(name): getattr(structure, name) for name in structure.__dataclass_fields__}


_PLAIN: dict[Kind, Callable[[Any], Any]] = {
    Kind.BOOL: bool,
    Kind.ENUM: str,
    Kind.FLOAT: float,
    Kind.INT: int,
    Kind.INT32: int,
}
"""The kinds of HLO's attributes, by those of StableHLO's."""


def same_type(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    """Infers the most specific of the operands' types, which are compatible by the trait `compatible-types`."""
    result = op.results[0].type
    if all(o.type is result or o.type == result for o in op.operands):
        if op.attributes:
            check_accuracy(op)
        return None
    check_accuracy(op)
    ranked = [o.type for o in op.operands if isinstance(o.type, ir.TensorType)]
    return most_specific(op, ranked) if ranked else [op.operands[0].type]


def check_same_operands(op: ir.Op) -> None:
    """Checks that all operands have compatible shapes and element types."""
    first = tensor(op, 0)
    for operand in map(tensor_of, op.operands):
        if not compatible_shapes(operand.shape, first.shape):
            op.fail("requires the same shape for all operands")
        if not compatible_elements(operand.element, first.element):
            op.fail("requires the same element type for all operands")


def check_accuracy(op: ir.Op) -> None:
    accuracy = op.attributes.get("result_accuracy")
    if isinstance(accuracy, ir.ResultAccuracy) and (problem := accuracy.problem) is not None:
        op.fail(problem)


def check_dimension_list(op: ir.Op, name: str, values: Sequence[int], limit: int, of: str) -> None:
    """Checks that every value is in [0, limit). The error message names the limit `of`."""
    for value in values:
        if not 0 <= value < limit:
            op.fail(f"Expects each element of {name} to be in range [0, {of}) i.e. [0, {limit}). got: {value}.")
