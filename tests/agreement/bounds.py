"""What is known of a value without running anything: how large it can be, how exact it is.

An error of 0 means that every order of evaluation gives the same bits: the value is a multiple of 2^-grid, no larger than
`bound`, and its type holds all of those. Whatever is discontinuous (a comparison, a rounding, a sort) takes only such
values, so that two right programs never differ by more than twice the error.
"""

from __future__ import annotations

import dataclasses
import math

from xla_core.hlo import ElementType, HloInstruction, Shape

__all__ = ["Value", "epsilon", "mantissa", "value_range"]

_MANTISSA = {ElementType.F64: 53, ElementType.F32: 24, ElementType.F16: 11, ElementType.BF16: 8}


def mantissa(element_type: ElementType) -> int:
    return _MANTISSA.get(element_type, 0)


def epsilon(element_type: ElementType) -> float:
    return 2.0 ** (1 - mantissa(element_type))


def value_range(element_type: ElementType) -> float:
    if element_type is ElementType.PRED:
        return 1
    if element_type.is_floating:
        return 2.0**14
    return 2.0 ** (element_type.bit_width - (1 if element_type.is_signed else 0))


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    """An instruction, and bounds of its elements. A bound of infinity may have any value, NaN too."""

    instruction: HloInstruction
    bound: float
    error: float = 0.0
    grid: int = 0

    @property
    def shape(self) -> Shape:
        return self.instruction.shape

    @property
    def type(self) -> ElementType:
        return self.shape.element_type

    @property
    def is_exact(self) -> bool:
        return self.error == 0

    @property
    def is_usual(self) -> bool:
        """Neither NaN nor infinite."""
        return math.isfinite(self.bound)

    def settled(self) -> Value | None:
        """This value with the rounding of one more op, or None where it grew too large or too inexact to be of use."""
        if not self.type.is_floating:
            return dataclasses.replace(self, bound=min(self.bound, value_range(self.type)), error=0.0, grid=0)
        if not self.is_usual:
            return self if self.is_exact else None
        fits = self.bound * 2.0**self.grid <= 2.0 ** mantissa(self.type)
        error = self.error if fits and self.is_exact else self.error + epsilon(self.type) * max(self.bound, 1e-30)
        if self.bound > value_range(self.type) or error > 0.1 * max(self.bound, 1.0):
            return None
        return dataclasses.replace(self, error=error)
