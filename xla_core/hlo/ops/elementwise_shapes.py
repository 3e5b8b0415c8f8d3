"""Shape rules of elementwise ops, and the element types that they accept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, ShapeRule
from xla_core.hlo.ops.rules import array, declared_array, dims, same_dimensions
from xla_core.hlo.shape import Shape

__all__ = [
    "any_array",
    "bitcast_converted",
    "clamp",
    "compare",
    "complex_or_float",
    "converted",
    "elementwise",
    "floating",
    "integral",
    "integral_or_pred",
    "numeric",
    "numeric_or_pred",
    "real",
    "real_or_pred",
    "select",
    "signed",
    "to_complex",
    "to_component",
    "to_pred",
]

Accepts = Callable[[ElementType], bool]


def floating(t: ElementType) -> bool:
    """A floating-point type"""
    return t.is_floating


def complex_or_float(t: ElementType) -> bool:
    """A floating-point or complex type"""
    return t.is_floating or t.is_complex


def integral(t: ElementType) -> bool:
    """An integer type"""
    return t.is_integral


def integral_or_pred(t: ElementType) -> bool:
    """An integer type or pred"""
    return t.is_integral or t is ElementType.PRED


def real(t: ElementType) -> bool:
    """An integer or floating-point type"""
    return t.is_integral or t.is_floating


def real_or_pred(t: ElementType) -> bool:
    """An integer or floating-point type or pred"""
    return real(t) or t is ElementType.PRED


def signed(t: ElementType) -> bool:
    """A signed integer, floating-point or complex type"""
    return t.is_signed or t.is_floating or t.is_complex


def numeric(t: ElementType) -> bool:
    """An integer, floating-point or complex type"""
    return t.is_integral or t.is_floating or t.is_complex


def numeric_or_pred(t: ElementType) -> bool:
    """Any array type"""
    return t.is_array


any_array = numeric_or_pred


def _described(accepts: Accepts) -> str:
    return (accepts.__doc__ or "another type").rstrip(".").lower()


def _accepted(shapes: Sequence[Shape], accepts: Accepts) -> Shape:
    result = same_dimensions(shapes)
    for shape in shapes:
        if not accepts(shape.element_type):
            raise InvalidArgumentError(f"operand has type {shape.element_type}; expected {_described(accepts)}")
        if shape.element_type is not result.element_type:
            raise InvalidArgumentError(
                "operands have types " + ", ".join(str(s.element_type) for s in shapes) + "; expected the same type"
            )
    return result


def elementwise(accepts: Accepts, result: Callable[[ElementType], ElementType] | None = None) -> ShapeRule:
    """Makes the rule of an op whose operands have one shape, of a type that `accepts` takes.

    The result has that shape, with the element type changed by `result` if given.
    """

    def rule(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
        shape = _accepted(operands, accepts)
        return shape if result is None else shape.with_element_type(result(shape.element_type))

    return rule


def to_pred(t: ElementType) -> ElementType:
    return ElementType.PRED


def to_component(t: ElementType) -> ElementType:
    return t.component


def to_complex(t: ElementType) -> ElementType:
    return t.complex


def converted(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The result has the operand's dimensions and the declared element type."""
    operand = array(operands[0])
    return dims(declared_array(declared).element_type, operand.dimensions, operand.dynamic_dimensions)


def compare(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The operands have one shape; the result is pred."""
    shape = _accepted(operands, any_array)
    direction = attributes["direction"]
    if direction not in ("EQ", "NE", "GE", "GT", "LE", "LT"):
        raise InvalidArgumentError(f"direction {direction} is none of EQ, NE, GE, GT, LE, LT")
    if shape.element_type.is_complex and direction not in ("EQ", "NE"):
        raise InvalidArgumentError(f"complex numbers have no order: direction {direction} needs a real type")
    return shape.with_element_type(ElementType.PRED)


def select(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The predicate is a pred scalar or has the dimensions of the two other operands, which have one shape.

    Tuples and tokens cannot be selected.
    """
    predicate, on_true, on_false = operands
    shape = _accepted((on_true, on_false), any_array)
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
    if not real_or_pred(operand.element_type):
        raise InvalidArgumentError(f"operand has type {operand.element_type}; expected {_described(real_or_pred)}")
    return dims(operand.element_type, operand.dimensions, operand.dynamic_flags)


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
        expected = (*operand.dimensions, before // after)
    elif before < after:
        fits = operand.rank > 0 and operand.dimensions[-1] * before == after
        expected = operand.dimensions[:-1] if fits else None
    if expected is None or result.dimensions != expected:
        raise InvalidArgumentError(
            f"bits of {operand.without_layout()} don't make {result.without_layout()}: {before} and {after} bits each"
        )
    return result
