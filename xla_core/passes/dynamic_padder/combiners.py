"""Extends reducers and comparators with a flag that tells valid elements from padding."""

from __future__ import annotations

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.inlining import copy_into

_PRED = Shape(ElementType.PRED)


def with_validity(b: Builder, body: HloComputation, count: int) -> HloComputation:
    """A reducer of `count` values and a flag that is true for valid elements.

    It combines two valid elements, and returns the valid element if the other is not.
    """
    made = HloComputation(f"{body.name}.valid")
    builder = Builder(made)
    shapes = [p.shape for p in body.parameters[:count]]
    left = [made.parameter(k, s) for k, s in enumerate((*shapes, _PRED))]
    right = [made.parameter(count + 1 + k, s) for k, s in enumerate((*shapes, _PRED))]
    combined = copy_into(made, body, [*left[:count], *right[:count]])[0]
    parts = [combined] if count == 1 and not combined.shape.is_tuple else []
    parts = parts or builder.elements(combined)
    results = []
    mine, theirs = HloExpression(builder, left[count]), HloExpression(builder, right[count])
    both = mine & theirs
    for x, y, combination in zip(left[:count], right[:count], parts, strict=True):
        one = mine.where(HloExpression(builder, x), y)
        results.append(both.where(HloExpression(builder, combination), one).i)
    made.set_root(builder.tuple([*results, (mine | theirs).i]))
    return b.hlo_module.add_computation(made)


def sorted_by_validity(b: Builder, body: HloComputation, count: int) -> HloComputation:
    """A comparator of `count` values and a flag that is true for valid elements, which it orders first."""
    made = HloComputation(f"{body.name}.valid")
    builder = Builder(made)
    arguments = [made.parameter(k, p.shape) for k, p in enumerate(body.parameters)]
    left, right = (HloExpression(builder, made.parameter(2 * count + k, _PRED)) for k in range(2))
    less, _ = copy_into(made, body, arguments)
    made.set_root(((left & right & less) | (left & ~right)).i)
    return b.hlo_module.add_computation(made)
