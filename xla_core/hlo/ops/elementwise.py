"""Elementwise ops: arithmetic, logic, comparison, selection, conversion, elementary functions."""

from __future__ import annotations

from xla_core.hlo.op_table import Evaluate, OpDef, ShapeRule, Trait
from xla_core.hlo.ops import elementwise_shapes as shapes
from xla_core.hlo.ops.elementwise_shapes import elementwise
from xla_core.hlo.ops.rules import attr, entry

__all__: list[str] = []

_E, _T = Trait.ELEMENTWISE, Trait.TRANSCENDENTAL
_SYMMETRIC = (Trait.COMMUTATIVE, Trait.ASSOCIATIVE)


def _unary(opcode: str, rule: ShapeRule, evaluate: Evaluate | None, *traits: Trait, doc: str) -> OpDef:
    return entry(opcode, 1, rule, evaluate, _E, *traits, doc=doc)


def _function(opcode: str, evaluate: Evaluate | None, *traits: Trait, doc: str) -> OpDef:
    """An elementary function of floating and complex numbers."""
    rule = elementwise(shapes.complex_or_float)
    return entry(opcode, 1, rule, evaluate, _E, _T, *traits, doc=doc, result_accuracy=attr("raw", None))


def _binary(opcode: str, rule: ShapeRule, evaluate: Evaluate | None, *traits: Trait, doc: str) -> OpDef:
    return entry(opcode, 2, rule, evaluate, _E, *traits, doc=doc)


_P, _I = Trait.PRIMITIVE, Trait.IDEMPOTENT

_binary("add", elementwise(shapes.numeric_or_pred), None, *_SYMMETRIC, _P, doc="a + b; integers wrap; or, of pred.")
_binary("subtract", elementwise(shapes.numeric), None, doc="a - b; integers wrap.")
_binary(
    "multiply", elementwise(shapes.numeric_or_pred), None, *_SYMMETRIC, _P, doc="a * b; integers wrap; and, of pred."
)
_binary(
    "mulhi", elementwise(shapes.integral), None, Trait.COMMUTATIVE, doc="The high half of the double-width product."
)
_binary("divide", elementwise(shapes.numeric), None, _P, doc="a / b; integers truncate; x / 0 is -1 (all bits set).")
_binary(
    "remainder",
    elementwise(shapes.real),
    None,
    doc="a - trunc(a / b) * b, with the sign of a; x rem 0 is x for integers.",
)
_binary("maximum", elementwise(shapes.numeric_or_pred), None, *_SYMMETRIC, _I, _P, doc="The larger; NaN if either is.")
_binary("minimum", elementwise(shapes.numeric_or_pred), None, *_SYMMETRIC, _I, doc="The smaller; NaN if either is.")
_binary("power", elementwise(shapes.numeric_or_pred), None, _T, doc="a to the power b.")
_binary("atan2", elementwise(shapes.complex_or_float), None, _T, doc="The angle of (b, a).")
_binary("and", elementwise(shapes.integral_or_pred), None, *_SYMMETRIC, _I, _P, doc="Bitwise and.")
_binary("or", elementwise(shapes.integral_or_pred), None, *_SYMMETRIC, _I, doc="Bitwise or.")
_binary("xor", elementwise(shapes.integral_or_pred), None, *_SYMMETRIC, doc="Bitwise exclusive or.")
_binary("shift-left", elementwise(shapes.integral), None, _P, doc="a << b; 0 when b is the width or more.")
_binary("shift-right-arithmetic", elementwise(shapes.integral), None, doc="a >> b, filled by the sign.")
_binary("shift-right-logical", elementwise(shapes.integral), None, _P, doc="a >> b, filled by zeros.")
_binary("complex", elementwise(shapes.floating, shapes.to_complex), None, doc="The complex number of two parts.")
entry(
    "compare",
    2,
    shapes.compare,
    None,
    _E,
    _P,
    doc="Whether the direction (EQ, NE, GE, GT, LE, LT) holds; FLOAT, TOTALORDER, SIGNED or UNSIGNED.",
    direction=attr("enum"),
    type=attr("enum", None),
)
entry("select", 3, shapes.select, None, _E, _P, doc="The second operand where the first is true, else the third.")
entry("clamp", 3, shapes.clamp, None, _E, doc="min(max(low, x), high) of (low, x, high).")
entry(
    "stochastic-convert",
    2,
    shapes.converted,
    None,
    _E,
    doc="Converts, rounding up with the probability that the random bits give.",
)

_unary(
    "abs",
    elementwise(shapes.numeric, shapes.to_component),
    None,
    _I,
    doc="The absolute value; of complex, the modulus.",
)
_unary("negate", elementwise(shapes.numeric), None, doc="-x; integers wrap.")
_unary(
    "sign",
    elementwise(shapes.numeric),
    None,
    _I,
    doc="-1, 0 or 1; of floats, zero keeps its sign and NaN stays; x / |x| of complex.",
)
_unary("not", elementwise(shapes.integral_or_pred), None, _P, doc="Bitwise (logical, of pred) not.")
_unary("popcnt", elementwise(shapes.integral_or_pred), None, doc="How many bits are set.")
_unary(
    "count-leading-zeros",
    elementwise(shapes.integral_or_pred),
    None,
    doc="How many bits are zero above the highest set one.",
)
_unary("floor", elementwise(shapes.floating), None, _I, _P, doc="The largest whole number that is not larger.")
_unary("ceil", elementwise(shapes.floating), None, _I, doc="The smallest whole number that is not smaller.")
_unary("round-nearest-even", elementwise(shapes.floating), None, _I, doc="The nearest whole number, ties to even.")
_unary(
    "round-nearest-afz", elementwise(shapes.floating), None, _I, doc="The nearest whole number, ties away from zero."
)
_unary("is-finite", elementwise(shapes.floating, shapes.to_pred), None, doc="Neither NaN nor infinite.")
_unary("real", elementwise(shapes.complex_or_float, shapes.to_component), None, doc="The real part.")
_unary("imag", elementwise(shapes.complex_or_float, shapes.to_component), None, doc="The imaginary part.")
_unary(
    "convert",
    shapes.converted,
    None,
    _P,
    doc="The value in another type: rounded to nearest even, truncated and saturated to integers, NaN to 0.",
)
_unary(
    "bitcast-convert",
    shapes.bitcast_converted,
    None,
    _P,
    doc="The bits as another type; a change of width adds or removes a last dimension.",
)
entry(
    "reduce-precision",
    1,
    elementwise(shapes.floating),
    None,
    _E,
    _I,
    doc="Rounds to a format of fewer exponent and mantissa bits.",
    exponent_bits=attr("int"),
    mantissa_bits=attr("int"),
)

_function("exponential", None, _P, doc="e to the power x.")
_function("exponential-minus-one", None, doc="e to the power x, minus 1, exact near 0.")
_function("log", None, _P, doc="The natural logarithm.")
_function("log-plus-one", None, doc="The natural logarithm of 1 + x, exact near 0.")
_function("logistic", None, doc="1 / (1 + exp(-x)).")
_function("sqrt", None, _P, doc="The square root.")
_function("rsqrt", None, doc="The reciprocal square root.")
_function("cbrt", None, doc="The cube root.")
_function("sine", None, _P, doc="The sine.")
_function("cosine", None, _P, doc="The cosine.")
_function("tan", None, doc="The tangent.")
_function("tanh", None, doc="The hyperbolic tangent.")
_function("erf", None, doc="The error function.")
_function("acos", None, doc="The inverse cosine.")
_function("acosh", None, doc="The inverse hyperbolic cosine.")
_function("asin", None, doc="The inverse sine.")
_function("asinh", None, doc="The inverse hyperbolic sine.")
_function("atan", None, doc="The inverse tangent.")
_function("atanh", None, doc="The inverse hyperbolic tangent.")
_function("cosh", None, doc="The hyperbolic cosine.")
_function("sinh", None, doc="The hyperbolic sine.")
