"""A value of bounded sizes: an array of its bounds, and the sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.rewriter import Builder

__all__ = ["S32", "Padded", "Value", "mask", "merged", "size_of", "valid"]

S32 = Shape(ElementType.S32)


@dataclasses.dataclass(frozen=True, slots=True)
class Padded:
    """`value` has the bounds for its dimensions; `sizes` the actual size (s32[]) of each that is dynamic."""

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
        """The value itself, where no size is dynamic."""
        return self if self.sizes else self.value


Value = HloInstruction | Padded | tuple[Padded, ...]
"""What stands for an instruction: a tuple of padded values for one whose result is a tuple."""


def merged(operands: Iterable[Padded]) -> dict[int, HloInstruction]:
    """The sizes of values that have the same."""
    sizes: dict[int, HloInstruction] = {}
    for operand in operands:
        for dimension, size in operand.sizes.items():
            sizes.setdefault(dimension, size)
    return sizes


def size_of(b: Builder, value: Padded, dimension: int) -> HloInstruction:
    """The size of a dimension, s32[]."""
    size = value.sizes.get(dimension)
    return b.constant(value.dimensions[dimension], S32) if size is None else size


def valid(b: Builder, value: Padded, dimensions: Iterable[int]) -> HloInstruction | None:
    """Pred of the value's dimensions: where the element is within the sizes of these; None where all are."""
    inside: HloInstruction | None = None
    shape = S32.with_dimensions(value.dimensions)
    for dimension in dimensions:
        if dimension in value.sizes:
            index = b.add(Opcode.IOTA, shape=shape, iota_dimension=dimension)
            below = b.add(Opcode.COMPARE, index, b.broadcast(value.sizes[dimension], shape.dimensions), direction="LT")
            inside = below if inside is None else b.add(Opcode.AND, inside, below)
    return inside


def mask(b: Builder, value: Padded, dimensions: Iterable[int], fill: HloInstruction) -> HloInstruction:
    """The value with the scalar `fill` beyond its sizes along `dimensions`."""
    inside = valid(b, value, dimensions)
    if inside is None:
        return value.value
    return b.add(Opcode.SELECT, inside, value.value, b.broadcast(fill, value.dimensions))
