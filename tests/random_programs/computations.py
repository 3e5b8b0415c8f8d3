"""Small computations that steps call."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape


def argmax(element_type: ElementType) -> HloComputation:
    """Returns (value, index) of the larger value, or of the lower index if the values are equal."""
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


def selects(element_type: ElementType, direction: str) -> HloComputation:
    """Makes a comparison that selects one of two scalars."""
    computation = HloComputation("selects")
    a, b = (computation.parameter(n, Shape(element_type)) for n in range(2))
    computation.set_root(computation.add("compare", a, b, direction=direction))
    return computation


def order(rng: random.Random, types: Sequence[ElementType], keys: Sequence[int], total: bool) -> HloComputation:
    """A comparator by the elements of the operands `keys`: the first decides, of equal ones the next, and so on; each
    as it is, or by a function of it.
    """
    computation = HloComputation("order")
    parameters = [computation.parameter(i, Shape(t)) for i, t in enumerate(t for each in types for t in (each, each))]
    kind = {"type": "TOTALORDER"} if total else {}

    def keyed(x: HloInstruction, form: int) -> HloInstruction:
        if form == 1:
            return computation.add("negate", x)
        if form == 2:
            seven = computation.constant(np.asarray(1).astype(x.shape.dtype), Shape(x.shape.element_type))
            return computation.add("and", x, seven)
        if form == 3:
            return computation.add("convert", x, shape=Shape(ElementType.S32))
        return x

    result: HloInstruction | None = None
    for key in reversed(keys):
        a, b = parameters[2 * key], parameters[2 * key + 1]
        direction, form = rng.choice(["LT", "GT"]), 0
        if not total and len(keys) == 1 and rng.random() < 0.3:
            kinds = types[key]
            form = 2 if kinds.is_integral else 3 if kinds.is_floating else 0
            form = rng.choice([form, 1]) if kinds.is_floating and kinds is not ElementType.F8E8M0FNU else form
        a, b = keyed(a, form), keyed(b, form)
        less = computation.add(
            "compare", a, b, direction=direction, **(kind if types[key].is_floating and form == 0 else {})
        )
        if result is not None:
            same = computation.add(
                "compare", a, b, direction="EQ", **(kind if types[key].is_floating and form == 0 else {})
            )
            result = computation.add("or", less, computation.add("and", same, result))
        else:
            result = less
    assert result is not None
    computation.set_root(result)
    return computation
