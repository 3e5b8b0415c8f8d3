"""Elementwise ops: arithmetic, logic, comparison, selection, conversion, elementary functions.

Their evaluation is in `arithmetic`, `conversion` and `elementary`, as functions of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.hlo.op_table import Attributes, Evaluate, OpDef, ShapeRule, Trait
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.ops import arithmetic, conversion, elementary
from xla_core.hlo.ops import elementwise_shapes as shapes
from xla_core.hlo.ops.elementwise_shapes import elementwise
from xla_core.hlo.ops.numerics import CLASS
from xla_core.hlo.ops.rules import OpGroup, attr, check

if TYPE_CHECKING:
    from xla_core.hlo.element_type import ElementType
    from xla_core.hlo.environment import Value
    from xla_core.hlo.evaluation_context import EvaluationContext
    from xla_core.hlo.instruction import HloInstruction
    from xla_core.hlo.shape import Shape

__all__: list[str] = []

entry = OpGroup("elementwise").entry

_SYMMETRIC = (Trait.COMMUTATIVE, Trait.ASSOCIATIVE)
_PRIMITIVE, _IDEMPOTENT, _TRANSCENDENTAL = Trait.PRIMITIVE, Trait.IDEMPOTENT, Trait.TRANSCENDENTAL
_PROJECTION = Trait.PROJECTION
_EXACT = Trait.EXACT_IN_WIDER_INTEGERS


_FLOATS, _COMPLEX_OR_FLOATS = elementwise(shapes.floating), elementwise(shapes.complex_or_float)


def _of_arrays(function: Callable[..., Any]) -> Evaluate:
    def evaluate(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
        return function(*values)

    return evaluate


def _unary(opcode: Opcode, rule: ShapeRule, function: Callable[..., Any], *traits: Trait, doc: str) -> OpDef:
    return entry(opcode, 1, rule, _of_arrays(function), Trait.ELEMENTWISE, *traits, doc=doc)


def _binary(
    opcode: Opcode,
    rule: ShapeRule,
    function: Callable[..., Any],
    *traits: Trait,
    doc: str,
    identity: Callable[[ElementType], complex | None] = lambda element_type: None,
) -> OpDef:
    return entry(opcode, 2, rule, _of_arrays(function), Trait.ELEMENTWISE, *traits, doc=doc, identity=identity)


def _zero(element_type: ElementType) -> complex | None:
    """The identity of add. For floats it is -0.0, which keeps the sign of every zero."""
    if element_type.is_complex:
        return complex(-0.0, -0.0)
    return (-0.0 if element_type.is_floating else 0) if element_type.has_zero else None


def _function(
    opcode: Opcode,
    function: Callable[..., Any],
    *traits: Trait,
    rule: ShapeRule = _COMPLEX_OR_FLOATS,
    doc: str,
) -> OpDef:
    """Defines an elementary function of floating-point numbers and, by default, complex ones."""
    return entry(
        opcode,
        1,
        rule,
        _of_arrays(function),
        Trait.ELEMENTWISE,
        _TRANSCENDENTAL,
        *traits,
        doc=doc,
        result_accuracy=attr("braced", None),
    )


def _compare(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = instruction.attributes
    total = attributes.get("type") == "TOTALORDER" and CLASS[values[0].dtype] in "fe"
    return arithmetic.compare(attributes["direction"], total, values[0], values[1])


def _complex(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    real, imag = np.broadcast_arrays(values[0], values[1])
    result = np.empty(real.shape, instruction.shape.dtype)
    result.real, result.imag = real, imag
    return result


def _real(x: Any) -> Any:
    return x.real if CLASS[x.dtype] == "c" else x


def _imag(x: Any) -> Any:
    return x.imag if CLASS[x.dtype] == "c" else np.zeros(np.shape(x), np.float32).astype(x.dtype)


def _convert(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return conversion.convert(values[0], instruction.shape.dtype)


def _bitcast_convert(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return conversion.bitcast_convert(np.asarray(values[0]), instruction.shape.dtype)


def _reduce_precision(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    attributes = instruction.attributes
    return conversion.reduce_precision(values[0], attributes["exponent_bits"], attributes["mantissa_bits"])


def _reduce_precision_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check(attributes["exponent_bits"] >= 1, "exponent_bits must be at least 1")
    check(attributes["mantissa_bits"] >= 0, "mantissa_bits must be at least 0")
    return _FLOATS(operands, attributes, declared)


def _stochastic_convert(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return conversion.stochastic_convert(values[0], values[1], instruction.shape.dtype)


_NUMBERS = elementwise(shapes.numeric)
_NUMBERS_OR_PRED = elementwise(shapes.numeric_or_pred)
_BITS = elementwise(shapes.integral_or_pred)
_INTEGERS = elementwise(shapes.integral)

_binary(
    Opcode.ADD,
    _NUMBERS_OR_PRED,
    arithmetic.add,
    *_SYMMETRIC,
    _PRIMITIVE,
    _EXACT,
    identity=_zero,
    doc="a + b; integers wrap; `or` of pred.",
)
_binary(Opcode.SUBTRACT, _NUMBERS, arithmetic.subtract, _EXACT, doc="a - b; integers wrap.")
_binary(
    Opcode.MULTIPLY,
    _NUMBERS_OR_PRED,
    arithmetic.multiply,
    *_SYMMETRIC,
    _PRIMITIVE,
    _EXACT,
    identity=lambda t: 1,
    doc="a * b; integers wrap; `and` of pred.",
)
_binary(
    Opcode.MULHI,
    _INTEGERS,
    arithmetic.multiply_high,
    Trait.COMMUTATIVE,
    doc="The high half of the double-width product.",
)
_binary(
    Opcode.DIVIDE,
    _NUMBERS,
    arithmetic.divide,
    _PRIMITIVE,
    _EXACT,
    doc="a / b; integers truncate, and x / 0 has all bits set.",
)
_binary(
    Opcode.REMAINDER,
    elementwise(shapes.real),
    arithmetic.remainder,
    _EXACT,
    doc="a - trunc(a / b) * b, with the sign of a; x rem 0 is x for integers, NaN for floats.",
)
_binary(
    Opcode.MAXIMUM,
    _NUMBERS_OR_PRED,
    arithmetic.maximum,
    *_SYMMETRIC,
    _IDEMPOTENT,
    _EXACT,
    identity=lambda t: t.least,
    doc="The larger; NaN if either is; lexicographic of complex.",
)
_binary(
    Opcode.MINIMUM,
    _NUMBERS_OR_PRED,
    arithmetic.minimum,
    *_SYMMETRIC,
    _IDEMPOTENT,
    _EXACT,
    identity=lambda t: t.greatest,
    doc="The smaller; NaN if either is; lexicographic of complex.",
)
_binary(
    Opcode.POWER,
    _NUMBERS_OR_PRED,
    elementary.power,
    _TRANSCENDENTAL,
    doc="a to the power b; integers wrap, and negative exponents truncate.",
)
_binary(
    Opcode.ATAN2,
    elementwise(shapes.complex_or_float),
    elementary.atan2,
    _TRANSCENDENTAL,
    doc="The angle of the point (b, a).",
)
_binary(
    Opcode.AND,
    _BITS,
    arithmetic.bitwise_and,
    *_SYMMETRIC,
    _IDEMPOTENT,
    _PRIMITIVE,
    _EXACT,
    identity=lambda t: -1 if t.is_signed else t.greatest,
    doc="Bitwise and.",
)
_binary(
    Opcode.OR, _BITS, arithmetic.bitwise_or, *_SYMMETRIC, _IDEMPOTENT, _EXACT, identity=lambda t: 0, doc="Bitwise or."
)
_binary(
    Opcode.XOR, _BITS, arithmetic.bitwise_xor, *_SYMMETRIC, _EXACT, identity=lambda t: 0, doc="Bitwise exclusive or."
)
_binary(Opcode.SHIFT_LEFT, _INTEGERS, arithmetic.shift_left, _PRIMITIVE, doc="a << b; 0 where b is the width or more.")
_binary(
    Opcode.SHIFT_RIGHT_ARITHMETIC,
    _INTEGERS,
    arithmetic.shift_right_arithmetic,
    doc="a >> b, filled by the sign bit.",
)
_binary(
    Opcode.SHIFT_RIGHT_LOGICAL,
    _INTEGERS,
    arithmetic.shift_right_logical,
    _PRIMITIVE,
    doc="a >> b, filled by zeros; 0 where b is the width or more.",
)
entry(
    Opcode.COMPLEX,
    2,
    elementwise(shapes.floating, shapes.to_complex),
    _complex,
    Trait.ELEMENTWISE,
    doc="The complex number of two parts.",
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
    direction=attr("enum"),
    type=attr("enum", None),
)
entry(
    Opcode.SELECT,
    3,
    shapes.select,
    _of_arrays(arithmetic.select),
    Trait.ELEMENTWISE,
    _PRIMITIVE,
    _EXACT,
    doc="The second operand where the first is true, else the third.",
    predicate_operand=0,
)
entry(
    Opcode.CLAMP,
    3,
    shapes.clamp,
    _of_arrays(arithmetic.clamp),
    Trait.ELEMENTWISE,
    _EXACT,
    doc="(low, x, high) -> min(max(low, x), high); the bounds may be scalars.",
)
entry(
    Opcode.STOCHASTIC_CONVERT,
    2,
    shapes.converted,
    _stochastic_convert,
    Trait.ELEMENTWISE,
    doc="Converts to an integer, away from zero with the probability of the fraction, by the random bits.",
)

_unary(
    Opcode.ABS,
    elementwise(shapes.numeric, shapes.to_component),
    arithmetic.absolute,
    _PROJECTION,
    _EXACT,
    doc="The absolute value; the modulus of complex.",
)
_unary(Opcode.NEGATE, _NUMBERS, arithmetic.negate, _EXACT, doc="-x; integers wrap.")
_unary(
    Opcode.SIGN,
    _NUMBERS,
    arithmetic.sign,
    _PROJECTION,
    _EXACT,
    doc="-1, 0 or 1; of floats, zero keeps its sign and NaN stays; x / |x| of complex.",
)
_unary(Opcode.NOT, _BITS, arithmetic.bitwise_not, _EXACT, doc="Bitwise not; logical of pred.")
_unary(Opcode.POPCNT, _BITS, arithmetic.population_count, doc="How many bits are set.")
_unary(
    Opcode.COUNT_LEADING_ZEROS,
    _BITS,
    arithmetic.count_leading_zeros,
    doc="How many bits are zero above the highest set one.",
)
_unary(Opcode.FLOOR, _FLOATS, arithmetic.floor, _PROJECTION, doc="The largest whole number that is not larger.")
_unary(Opcode.CEIL, _FLOATS, arithmetic.ceil, _PROJECTION, doc="The smallest whole number that is not smaller.")
_unary(
    Opcode.ROUND_NEAREST_EVEN,
    _FLOATS,
    arithmetic.round_nearest_even,
    _PROJECTION,
    doc="The nearest whole number, ties to even.",
)
_unary(
    Opcode.ROUND_NEAREST_AFZ,
    _FLOATS,
    arithmetic.round_nearest_afz,
    _PROJECTION,
    doc="The nearest whole number, ties away from zero.",
)
entry(
    Opcode.IS_FINITE,
    1,
    elementwise(shapes.floating, shapes.to_pred),
    _of_arrays(arithmetic.is_finite),
    Trait.ELEMENTWISE,
    doc="Neither NaN nor infinite.",
    predicate_result=True,
)
_unary(Opcode.REAL, elementwise(shapes.complex_or_float, shapes.to_component), _real, doc="The real part.")
_unary(Opcode.IMAG, elementwise(shapes.complex_or_float, shapes.to_component), _imag, doc="The imaginary part.")
entry(
    Opcode.CONVERT,
    1,
    shapes.converted,
    _convert,
    Trait.ELEMENTWISE,
    _PRIMITIVE,
    _EXACT,
    doc="The value in another type: floats round to nearest even, to integers they truncate and saturate (NaN is 0).",
)
entry(
    Opcode.BITCAST_CONVERT,
    1,
    shapes.bitcast_converted,
    _bitcast_convert,
    Trait.ELEMENTWISE,
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

_function(Opcode.EXPONENTIAL, elementary.exponential, doc="e to the power x.")
_function(Opcode.EXPONENTIAL_MINUS_ONE, elementary.exponential_minus_one, doc="exp(x) - 1, exact near 0.")
_function(Opcode.LOG, elementary.log, doc="The natural logarithm.")
_function(Opcode.LOG_PLUS_ONE, elementary.log_plus_one, doc="log(1 + x), exact near 0.")
_function(Opcode.LOGISTIC, elementary.logistic, doc="1 / (1 + exp(-x)).")
_function(Opcode.SQRT, elementary.sqrt, doc="The square root.")
_function(Opcode.RSQRT, elementary.rsqrt, doc="The reciprocal square root.")
_function(Opcode.CBRT, elementary.cbrt, doc="The cube root.")
_function(Opcode.SINE, elementary.sine, doc="The sine.")
_function(Opcode.COSINE, elementary.cosine, doc="The cosine.")
_function(Opcode.TAN, elementary.tan, doc="The tangent.")
_function(Opcode.TANH, elementary.tanh, doc="The hyperbolic tangent.")
_function(Opcode.ERF, elementary.erf, rule=_FLOATS, doc="The error function.")
_function(Opcode.ACOS, elementary.acos, doc="The inverse cosine.")
_function(Opcode.ACOSH, elementary.acosh, doc="The inverse hyperbolic cosine.")
_function(Opcode.ASIN, elementary.asin, doc="The inverse sine.")
_function(Opcode.ASINH, elementary.asinh, doc="The inverse hyperbolic sine.")
_function(Opcode.ATAN, elementary.atan, doc="The inverse tangent.")
_function(Opcode.ATANH, elementary.atanh, doc="The inverse hyperbolic tangent.")
_function(Opcode.COSH, elementary.cosh, doc="The hyperbolic cosine.")
_function(Opcode.SINH, elementary.sinh, doc="The hyperbolic sine.")
