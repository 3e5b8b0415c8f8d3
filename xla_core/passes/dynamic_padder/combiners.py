"""Extends reducers and comparators with a flag that tells valid elements from padding."""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.inlining import copy_into

_PRED = Shape(ElementType.PRED)


def with_validity(b: Builder, body: HloComputation, count: int) -> HloComputation:
    """A reducer of `count` values and a flag that is true for valid elements.

    It combines two valid elements. If only one is valid, it returns that one.
    """
    made = HloComputation(f"{body.name}.valid")
    shapes = [p.shape for p in body.parameters[:count]]
    left = [made.parameter(k, s) for k, s in enumerate((*shapes, _PRED))]
    right = [made.parameter(count + 1 + k, s) for k, s in enumerate((*shapes, _PRED))]
    combined = copy_into(made, body, [*left[:count], *right[:count]])[0]
    parts = [combined] if count == 1 and not combined.shape.is_tuple else []
    parts = parts or [made.add(Opcode.GET_TUPLE_ELEMENT, combined, index=k) for k in range(count)]
    results = []
    for mine, theirs, both in zip(left[:count], right[:count], parts, strict=True):
        one = made.add(Opcode.SELECT, left[count], mine, theirs)
        results.append(made.add(Opcode.SELECT, made.add(Opcode.AND, left[count], right[count]), both, one))
    made.set_root(made.add(Opcode.TUPLE, *results, made.add(Opcode.OR, left[count], right[count])))
    return b.hlo_module.add_computation(made)


def sorted_by_validity(b: Builder, body: HloComputation, count: int) -> HloComputation:
    """A comparator of `count` values and a flag that is true for valid elements, which it orders first."""
    made = HloComputation(f"{body.name}.valid")
    arguments = [made.parameter(k, p.shape) for k, p in enumerate(body.parameters)]
    left, right = (made.parameter(2 * count + k, _PRED) for k in range(2))
    less = copy_into(made, body, arguments)[0]
    both = made.add(Opcode.AND, made.add(Opcode.AND, left, right), less)
    made.set_root(made.add(Opcode.OR, both, made.add(Opcode.AND, left, made.add(Opcode.NOT, right))))
    return b.hlo_module.add_computation(made)
