"""Small computations that steps call."""

from __future__ import annotations

from xla_core.hlo import ElementType, HloComputation, Shape

__all__ = ["argmax"]


def argmax(element_type: ElementType) -> HloComputation:
    """(value, index) of the larger value; of equal ones, the lower index."""
    computation = HloComputation("argmax")
    shapes = [Shape(element_type), Shape(ElementType.S32)] * 2
    a, i, b, j = (computation.parameter(n, shape) for n, shape in enumerate(shapes))
    greater = computation.add("compare", a, b, direction="GT")
    equal = computation.add("compare", a, b, direction="EQ")
    lower = computation.add("compare", i, j, direction="LT")
    first = computation.add("or", greater, computation.add("and", equal, lower))
    computation.set_root(
        computation.add("tuple", computation.add("select", first, a, b), computation.add("select", first, i, j))
    )
    return computation
