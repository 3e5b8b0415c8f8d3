"""Padded: an array of the bounds of a dynamic value, and its sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

S32 = Shape(ElementType.S32)


@dataclasses.dataclass(frozen=True, slots=True)
class Padded:
    """A padded array. `value` has the bounds as dimensions; `sizes` maps dynamic dimensions to their sizes (s32[])."""

    value: HloInstruction
    sizes: Mapping[int, HloInstruction] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(value: HloInstruction) -> Padded:
        return Padded(value)

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.value.shape.dimensions

    @property
    def plain(self) -> Padded | HloInstruction:
        """The array itself if no dimension is dynamic, else this object."""
        return self if self.sizes else self.value


Value = HloInstruction | Padded | tuple[Padded, ...]
"""The padded form of an instruction; a tuple of padded values if its result is a tuple."""


def merged(operands: Iterable[Padded]) -> dict[int, HloInstruction]:
    """The sizes of the dynamic dimensions of values that have equal shapes."""
    sizes: dict[int, HloInstruction] = {}
    for operand in operands:
        for dimension, size in operand.sizes.items():
            sizes.setdefault(dimension, size)
    return sizes


def size_of(b: Builder, value: Padded, dimension: int) -> HloInstruction:
    """The size of a dimension, as s32[]."""
    size = value.sizes.get(dimension)
    return b.constant(value.dimensions[dimension], S32) if size is None else size


def valid(b: Builder, value: Padded, dimensions: Iterable[int]) -> HloInstruction | None:
    """A pred array that is true where an element is within the sizes of `dimensions`; None if all elements are."""
    inside: HloExpression | None = None
    shape = S32.with_dimensions(value.dimensions)
    for dimension in dimensions:
        if dimension in value.sizes:
            index = HloExpression(b, b.add(Opcode.IOTA, shape=shape, iota_dimension=dimension))
            below = index < value.sizes[dimension]
            inside = below if inside is None else inside & below
    return None if inside is None else inside.i


def mask(b: Builder, value: Padded, dimensions: Iterable[int], fill: HloInstruction) -> HloInstruction:
    """The array, with elements beyond the sizes of `dimensions` replaced by the scalar `fill`."""
    inside = valid(b, value, dimensions)
    if inside is None:
        return value.value
    return b.add(Opcode.SELECT, inside, value.value, b.broadcast(fill, value.dimensions))
