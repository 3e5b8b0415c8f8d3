"""Elementwise ops: arithmetic, logic, comparison, selection, conversion, elementary functions.

Their evaluation is in `arithmetic`, `conversion` and `elementary`, as functions of arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import arithmetic, conversion, elementary
from xla_core.hlo.ops import elementwise_shapes as shapes
from xla_core.hlo.ops.elementwise_shapes import elementwise
from xla_core.hlo.ops.numerics import CLASS, stay_positive
from xla_core.hlo.ops.rules import OpGroup, attr, check
from xla_core.hlo.table.op_table import Attributes, ShapeRule, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("elementwise").entry

_SYMMETRIC = (Trait.COMMUTATIVE, Trait.ASSOCIATIVE)
_PRIMITIVE, _IDEMPOTENT, _TRANSCENDENTAL = Trait.PRIMITIVE, Trait.IDEMPOTENT, Trait.TRANSCENDENTAL
_PROJECTION, _KEEPS_BITS = Trait.PROJECTION, Trait.KEEPS_BITS
_EXACT, _PRECISE, _SIGNLESS = Trait.EXACT_IN_WIDER_INTEGERS, Trait.KEEPS_PRECISION, Trait.SIGNLESS
_POSITIVE, _ATOMIC = Trait.POSITIVE, Trait.ATOMIC
_RING = (*_SYMMETRIC, _PRIMITIVE, _EXACT, _SIGNLESS)
_LATTICE = (*_SYMMETRIC, _IDEMPOTENT, _EXACT, _PRECISE, _ATOMIC)

_ACCURACY = {"result_accuracy": attr("braced", None)}


def _op(
    opcode: Opcode, arity: int, rule: ShapeRule, function: Callable[..., Any], *traits: Trait, **fields: Any
) -> None:
    """Defines an elementwise op by a function of its operands' arrays, whose docstring is the op's by default."""
    computed = stay_positive(function) if Trait.POSITIVE in traits else function

    def evaluate(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
        return computed(*values)

    fields.setdefault("doc", inspect.getdoc(function))
    entry(opcode, arity, rule, evaluate, Trait.ELEMENTWISE, *traits, **fields)


def _zero(element_type: ElementType) -> complex | None:
    """The identity of add. For floats it is -0.0, which keeps the sign of every zero."""
    if element_type.is_complex:
        return complex(-0.0, -0.0)
    return (-0.0 if element_type.is_floating else 0) if element_type.has_zero else None


def _all_ones(element_type: ElementType) -> float | None:
    return -1 if element_type.is_signed else element_type.greatest


def _compare(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = instruction.attributes
    total = attributes.get("type") == "TOTALORDER" and CLASS[values[0].dtype] in "fe"
    return arithmetic.compare(attributes["direction"], total, values[0], values[1])


def _complex(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    real, imag = np.broadcast_arrays(values[0], values[1])
    result = np.empty(real.shape, instruction.shape.dtype)
    result.real, result.imag = real, imag
    return result


def _reduce_precision(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = instruction.attributes
    return conversion.reduce_precision(values[0], attributes["exponent_bits"], attributes["mantissa_bits"])


def _reduce_precision_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(attributes["exponent_bits"] >= 1, "exponent_bits must be at least 1")
    check(attributes["mantissa_bits"] >= 0, "mantissa_bits must be at least 0")
    return _FLOATS(operands, attributes, declared)


_NUMBERS, _ANY = elementwise(shapes.NUMBERS), elementwise(shapes.ANY)
_BITS, _INTEGERS = elementwise(shapes.BITS), elementwise(shapes.INTEGERS)
_FLOATS, _COMPLEX_OR_FLOATS = elementwise(shapes.FLOATS), elementwise(shapes.COMPLEX_OR_FLOATS)
_PARTS = elementwise(shapes.COMPLEX_OR_FLOATS, lambda t: t.component)

_op(
    Opcode.ADD,
    2,
    _ANY,
    arithmetic.add,
    *_RING,
    _ATOMIC,
    ufunc=np.add,
    identity=_zero,
    doc="a + b. Integers wrap; for pred it is `or`.",
)
_op(Opcode.SUBTRACT, 2, _NUMBERS, arithmetic.subtract, _EXACT, _SIGNLESS, doc="a - b; integers wrap.")
_op(Opcode.MULTIPLY, 2, _ANY, arithmetic.multiply, *_RING, _POSITIVE, ufunc=np.multiply, identity=lambda t: 1)
_op(Opcode.MULHI, 2, _INTEGERS, arithmetic.multiply_high, Trait.COMMUTATIVE)
_op(Opcode.DIVIDE, 2, _NUMBERS, arithmetic.divide, _PRIMITIVE, _EXACT, _POSITIVE, cost=4)
_op(Opcode.REMAINDER, 2, elementwise(shapes.REALS), arithmetic.remainder, _EXACT, cost=16)
_op(Opcode.MAXIMUM, 2, _ANY, arithmetic.maximum, *_LATTICE, ufunc=np.maximum, identity=lambda t: t.least)
_op(Opcode.MINIMUM, 2, _ANY, arithmetic.minimum, *_LATTICE, ufunc=np.minimum, identity=lambda t: t.greatest)
_op(Opcode.POWER, 2, _ANY, elementary.power, _TRANSCENDENTAL, _POSITIVE, cost=130)
_op(
    Opcode.ATAN2,
    2,
    _COMPLEX_OR_FLOATS,
    elementary.atan2,
    _TRANSCENDENTAL,
    _POSITIVE,
    cost=24,
    doc="The angle of the point (b, a).",
)
_op(
    Opcode.AND,
    2,
    _BITS,
    arithmetic.bitwise_and,
    *_LATTICE,
    _SIGNLESS,
    _PRIMITIVE,
    ufunc=np.bitwise_and,
    identity=_all_ones,
    doc="Bitwise and.",
)
_op(
    Opcode.OR,
    2,
    _BITS,
    arithmetic.bitwise_or,
    *_LATTICE,
    _SIGNLESS,
    ufunc=np.bitwise_or,
    identity=lambda t: 0,
    doc="Bitwise or.",
)
_op(
    Opcode.XOR,
    2,
    _BITS,
    arithmetic.bitwise_xor,
    *_SYMMETRIC,
    _ATOMIC,
    _EXACT,
    _SIGNLESS,
    ufunc=np.bitwise_xor,
    identity=lambda t: 0,
    doc="Bitwise exclusive or.",
)
_op(
    Opcode.SHIFT_LEFT,
    2,
    _INTEGERS,
    arithmetic.shift_left,
    _PRIMITIVE,
    _SIGNLESS,
    doc="a << b, which is 0 if b is at least the width.",
)
_op(Opcode.SHIFT_RIGHT_ARITHMETIC, 2, _INTEGERS, arithmetic.shift_right_arithmetic, _SIGNLESS)
_op(
    Opcode.SHIFT_RIGHT_LOGICAL,
    2,
    _INTEGERS,
    arithmetic.shift_right_logical,
    _PRIMITIVE,
    _SIGNLESS,
    doc="a >> b, filled with zeros; it is 0 if b is at least the width.",
)
entry(
    Opcode.COMPLEX,
    2,
    elementwise(shapes.FLOATS, lambda t: t.complex),
    _complex,
    Trait.ELEMENTWISE,
    _KEEPS_BITS,
    doc="The complex number with the given real and imaginary parts.",
)
entry(
    Opcode.COMPARE,
    2,
    shapes.compare,
    _compare,
    Trait.ELEMENTWISE,
    _PRIMITIVE,
    _EXACT,
    doc="Whether the direction (EQ, NE, GE, GT, LE, LT) holds, in the order of type (FLOAT, TOTALORDER, SIGNED, ...).",
    predicate_result=True,
    direction=attr("enum", values="EQ NE GE GT LE LT", doc="Which comparison: lhs LT rhs is lhs < rhs."),
    type=attr(
        "enum",
        None,
        values="FLOAT TOTALORDER SIGNED UNSIGNED",
        doc="The order: by default, that of the element type. TOTALORDER orders floats by their bits, from -NaN to "
        "NaN.",
    ),
)
_op(
    Opcode.SELECT,
    3,
    shapes.select,
    np.where,
    _KEEPS_BITS,
    _PRIMITIVE,
    _EXACT,
    _SIGNLESS,
    doc="The second operand where the first is true, else the third.",
    predicate_operand=0,
)
_op(Opcode.CLAMP, 3, shapes.clamp, arithmetic.clamp, _EXACT)
entry(
    Opcode.STOCHASTIC_CONVERT,
    2,
    shapes.stochastic_converted,
    lambda context, i, values: conversion.stochastic_convert(values[0], values[1], i.shape.dtype),
    Trait.ELEMENTWISE,
    doc="Rounds to an integer. The random bits decide the direction: away from zero with the probability of the "
    "fraction.",
)

_op(
    Opcode.ABS,
    1,
    elementwise(shapes.NUMBERS, lambda t: t.component),
    arithmetic.absolute,
    _PROJECTION,
    _EXACT,
    _PRECISE,
)
_op(Opcode.NEGATE, 1, _NUMBERS, arithmetic.negate, _EXACT, _PRECISE, _SIGNLESS, doc="-x; integers wrap.")
_op(Opcode.SIGN, 1, _NUMBERS, arithmetic.sign, _PROJECTION, _EXACT, _PRECISE)
_op(Opcode.NOT, 1, _BITS, arithmetic.bitwise_not, _EXACT, _SIGNLESS, doc="Bitwise not; for pred, logical not.")
_op(Opcode.POPCNT, 1, _BITS, arithmetic.population_count, _SIGNLESS)
_op(Opcode.COUNT_LEADING_ZEROS, 1, _BITS, arithmetic.count_leading_zeros, _SIGNLESS)
_op(
    Opcode.FLOOR,
    1,
    _FLOATS,
    arithmetic.floor,
    _PROJECTION,
    _PRECISE,
    doc="The largest whole number that is at most x.",
)
_op(
    Opcode.CEIL,
    1,
    _FLOATS,
    arithmetic.ceil,
    _PROJECTION,
    _PRECISE,
    doc="The smallest whole number that is at least x.",
)
_op(
    Opcode.ROUND_NEAREST_EVEN,
    1,
    _FLOATS,
    arithmetic.round_nearest_even,
    _PROJECTION,
    _PRECISE,
    doc="The nearest whole number, ties to even.",
)
_op(
    Opcode.ROUND_NEAREST_AFZ,
    1,
    _FLOATS,
    arithmetic.round_nearest_afz,
    _PROJECTION,
    _PRECISE,
    doc="The nearest whole number, ties away from zero.",
)
_op(
    Opcode.IS_FINITE,
    1,
    elementwise(shapes.FLOATS, lambda t: ElementType.PRED),
    np.isfinite,
    doc="Whether x is neither NaN nor infinite.",
    predicate_result=True,
)
_op(Opcode.REAL, 1, _PARTS, lambda x: x.real if CLASS[x.dtype] == "c" else x, _KEEPS_BITS, doc="The real part.")
_op(
    Opcode.IMAG,
    1,
    _PARTS,
    lambda x: x.imag if CLASS[x.dtype] == "c" else np.zeros(np.shape(x), np.float32).astype(x.dtype),
    _KEEPS_BITS,
    doc="The imaginary part.",
)
entry(
    Opcode.CONVERT,
    1,
    shapes.converted,
    lambda context, instruction, values: conversion.convert(values[0], instruction.shape.dtype),
    Trait.ELEMENTWISE,
    Trait.CONVERSION,
    _PRIMITIVE,
    _EXACT,
    doc="The value in another type. Floats round to nearest even; to integers, they truncate and saturate, and NaN "
    "becomes 0.",
)
entry(
    Opcode.BITCAST_CONVERT,
    1,
    shapes.bitcast_converted,
    lambda context, i, values: conversion.bitcast_convert(np.asarray(values[0]), i.shape.dtype),
    Trait.ELEMENTWISE,
    Trait.CONVERSION,
    _KEEPS_BITS,
    _PRIMITIVE,
    Trait.BITWISE,
    doc="The bits as another type; a change of width adds or removes a last dimension (and is not elementwise).",
)
entry(
    Opcode.REDUCE_PRECISION,
    1,
    _reduce_precision_shape,
    _reduce_precision,
    Trait.ELEMENTWISE,
    _PROJECTION,
    Trait.BITWISE,
    doc="Rounds to a format of fewer exponent and mantissa bits.",
    exponent_bits=attr("int"),
    mantissa_bits=attr("int"),
)

for _opcode, (_evaluate, _doc, _cost) in elementary.FUNCTIONS.items():
    _op(_opcode, 1, _COMPLEX_OR_FLOATS, _evaluate, _TRANSCENDENTAL, doc=_doc, cost=_cost, **_ACCURACY)
_op(Opcode.ERF, 1, _FLOATS, elementary.erf, _TRANSCENDENTAL, cost=21, doc="The error function.", **_ACCURACY)
_op(Opcode.ERFC, 1, _FLOATS, elementary.erfc, _TRANSCENDENTAL, _POSITIVE, cost=53, doc="1 - erf(x).", **_ACCURACY)
_op(
    Opcode.ERF_INV,
    1,
    _FLOATS,
    elementary.erf_inv,
    _TRANSCENDENTAL,
    cost=51,
    doc="The y with erf(y) = x: infinite at -1 and 1, NaN beyond.",
    **_ACCURACY,
)
