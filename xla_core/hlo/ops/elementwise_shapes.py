"""Shape rules of elementwise ops, and the element types that they accept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ops.rules import array, check, declared_array, dims, same_dimensions
from xla_core.hlo.table.op_table import Attributes, ShapeRule
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


class Accepted(NamedTuple):
    """A set of element types, and its name in errors."""

    name: str
    contains: Callable[[ElementType], bool]


FLOATS = Accepted("a floating-point type", lambda t: t.is_floating)
COMPLEX_OR_FLOATS = Accepted("a floating-point or complex type", lambda t: t.is_floating or t.is_complex)
INTEGERS = Accepted("an integer type", lambda t: t.is_integral)
BITS = Accepted("an integer type or pred", lambda t: t.is_integral or t is ElementType.PRED)
REALS = Accepted("an integer or floating-point type", lambda t: t.is_integral or t.is_floating)
NUMBERS = Accepted(
    "an integer, floating-point or complex type", lambda t: t.is_integral or t.is_floating or t.is_complex
)
ANY = Accepted("any array type", lambda t: t.is_array)


def _accepted(shapes: Sequence[Shape], accepts: Accepted) -> Shape:
    result = same_dimensions(shapes)
    for shape in shapes:
        if not accepts.contains(shape.element_type):
            raise InvalidArgumentError(f"operand has type {shape.element_type}; expected {accepts.name}")
        if shape.element_type is not result.element_type:
            raise InvalidArgumentError(
                "operands have types " + ", ".join(str(s.element_type) for s in shapes) + "; expected the same type"
            )
    return result


def elementwise(accepts: Accepted, result: Callable[[ElementType], ElementType] | None = None) -> ShapeRule:
    """Makes the rule of an op whose operands have one shape, of a type in `accepts`.

    The result has that shape, with the element type changed by `result` if given.
    """

    def rule(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
        shape = _accepted(operands, accepts)
        return shape if result is None else shape.with_element_type(result(shape.element_type))

    return rule


def converted(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The result has the operand's dimensions and the declared element type."""
    operand = array(operands[0])
    return dims(declared_array(declared).element_type, operand.dimensions, operand.dynamic_dimensions)


def stochastic_converted(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Checks that the operand has floats, and the random numbers are unsigned and as wide; the result has integers."""
    value, random = (array(operand).element_type for operand in operands)
    result = declared_array(declared).element_type
    check(value.is_floating, lambda: f"the operand has type {value}; expected floats")
    check(
        random.is_unsigned and random.bit_width == value.bit_width,
        lambda: f"the random numbers have type {random}; expected unsigned integers of {value.bit_width} bits",
    )
    check(result.is_integral, lambda: f"the result has type {result}; expected integers")
    return same_dimensions(operands).with_element_type(result)


def compare(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The operands have one shape; the result is pred."""
    shape = _accepted(operands, ANY)
    direction = attributes["direction"]
    if shape.element_type.is_complex and direction not in ("EQ", "NE"):
        raise InvalidArgumentError(f"complex numbers have no order: direction {direction} needs a real type")
    return shape.with_element_type(ElementType.PRED)


def select(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The predicate is a pred scalar or has the dimensions of the two other operands, which have one shape.

    Tuples and tokens cannot be selected.
    """
    predicate, on_true, on_false = operands
    shape = _accepted((on_true, on_false), ANY)
    if array(predicate).element_type is not ElementType.PRED:
        raise InvalidArgumentError(f"the first operand is {predicate.element_type}; expected pred")
    if predicate.dimensions and predicate.dimensions != shape.dimensions:
        raise InvalidArgumentError(
            f"the predicate is {predicate.without_layout()}; expected a scalar or the dimensions of {shape}"
        )
    return same_dimensions((shape, predicate)) if predicate.dimensions else shape


def clamp(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The operands are min, operand, max; the bounds are scalars or have the operand's dimensions."""
    low, operand, high = (array(s) for s in operands)
    for bound in (low, high):
        if bound.element_type is not operand.element_type:
            raise InvalidArgumentError(f"a bound is {bound.element_type}, the operand {operand.element_type}")
        if bound.dimensions and bound.dimensions != operand.dimensions:
            raise InvalidArgumentError(f"a bound is {bound.without_layout()}; expected a scalar or {operand}")
    if operand.element_type.is_complex:
        raise InvalidArgumentError(f"operand has type {operand.element_type}; expected {REALS.name} or pred")
    return operand.without_layout()


def bitcast_converted(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Equal bit widths keep the dimensions.

    A narrower result type adds a last dimension of the ratio of widths; a wider type removes it.
    """
    operand, result = array(operands[0]), declared_array(declared)
    if operand.element_type.is_complex != result.element_type.is_complex:
        raise InvalidArgumentError(f"bits of {operand.element_type} cannot become {result.element_type}")
    before, after = operand.element_type.bit_width, result.element_type.bit_width
    expected: tuple[int, ...] | None = operand.dimensions
    if before > after:
        expected = (*operand.dimensions, before // after) if before % after == 0 else None
    elif before < after:
        fits = operand.rank > 0 and operand.dimensions[-1] * before == after
        expected = operand.dimensions[:-1] if fits else None
    if expected is None or result.dimensions != expected:
        raise InvalidArgumentError(
            f"bits of {operand.without_layout()} don't make {result.without_layout()}: {before} and {after} bits each"
        )
    return result
