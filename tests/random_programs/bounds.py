"""Bounds of values that are known without running a program: their magnitude and their error.

An error of 0 means that all right executions give the same numbers. This holds for an op that rounds once, such as an
IEEE addition of exact operands. It also holds for a sum in any order if no partial sum rounds. The grid shows that: the
elements are multiples of 2^-grid of at most `bound`, and the type holds all such numbers. Any other result has an error,
which is derived from the operands' errors, the slope of the function, and the units in the last place that the function
may be off. Two right executions differ by at most twice this error. Discontinuous ops (comparisons, roundings, sorts) take
only values without error.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import ml_dtypes
import numpy as np

from xla_core.hlo import ElementType, HloInstruction, Shape


@functools.cache
def _format(element_type: ElementType) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(element_type.component.dtype)


@functools.cache
def mantissa(element_type: ElementType) -> int:
    """The number of bits of the significand, including the implicit one."""
    return int(_format(element_type).nmant) + 1


def epsilon(element_type: ElementType) -> float:
    return 2.0 ** (1 - mantissa(element_type))


def unit(element_type: ElementType) -> float:
    """The relative error of one rounding, which may go through a wider format."""
    return 0.5 * epsilon(element_type) * (1 + 2.0**-6)


@functools.cache
def largest(element_type: ElementType) -> float:
    return float(_format(element_type).max)


@functools.cache
def has_infinity(element_type: ElementType) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.isinf(np.asarray(np.inf).astype(element_type.component.dtype)))


@functools.cache
def smallest(element_type: ElementType) -> float:
    """The smallest positive number. For float64 and float32 it is larger, because no program needs such small numbers."""
    return max(float(_format(element_type).smallest_subnormal), 1e-37)


@functools.cache
def value_range(element_type: ElementType) -> float:
    """The largest magnitude of values that are used as operands."""
    if element_type is ElementType.PRED:
        return 1
    if not element_type.is_integral:
        return min(largest(element_type) / (4 if mantissa(element_type) > 5 else 1), 2.0**60)
    return 2.0 ** (element_type.bit_width - (1 if element_type.is_signed else 0))


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Value:
    """An instruction and the bounds of its elements, or of their parts if they are complex.

    With an infinite bound, elements may have any value, including NaN. With a grid of None, they may be any numbers of the
    type. `bits` tells whether the exact bits are known, including those of zeros and NaNs.
    """

    instruction: HloInstruction
    bound: float
    error: float = 0.0
    grid: int | None = 0
    bits: bool = False

    @property
    def shape(self) -> Shape:
        return self.instruction.shape

    @property
    def type(self) -> ElementType:
        return self.shape.element_type

    @property
    def rounds(self) -> bool:
        """Whether arithmetic of the type rounds."""
        return self.type.is_floating or self.type.is_complex

    @property
    def is_exact(self) -> bool:
        return self.error == 0

    @property
    def is_usual(self) -> bool:
        """Whether no element is NaN or infinite."""
        return math.isfinite(self.bound)

    def fits(self, bound: float, grid: int | None, element_type: ElementType | None = None) -> bool:
        """Whether a type (this value's) holds every multiple of 2^-grid up to a bound."""
        kind = element_type or self.type
        if not (kind.is_floating or kind.is_complex):
            return True
        if grid is None or not math.isfinite(bound):
            return False
        return bound * 2.0**grid <= 2.0 ** mantissa(kind) and 2.0**-grid >= smallest(kind) and bound <= largest(kind)

    def settled(self, strict: bool, rounded: bool = False) -> Value | None:
        """Adds the rounding of one op to this value. Returns None if it becomes too large or too inexact to be useful.

        If not `strict`, one rounding may give different numbers too. `rounded` says that the error includes the rounding.
        """
        if not self.rounds:
            return dataclasses.replace(self, bound=min(self.bound, value_range(self.type)), error=0.0, grid=0)
        if not self.is_usual or math.isnan(self.bound):
            return dataclasses.replace(self, bound=math.inf, grid=None) if self.is_exact else None
        if self.type is ElementType.F8E8M0FNU:
            return self if self.is_exact else None
        grid = self.grid if self.fits(self.bound, self.grid) else None
        if self.is_exact and self.bound > value_range(self.type):
            return dataclasses.replace(self, bound=math.inf, grid=None) if strict else None
        error = self.error
        if error or (grid is None and not strict):
            error += 0 if rounded else unit(self.type) * self.bound
            error += smallest(self.type)
            eps = epsilon(self.type)
            limit = max(2.0**-7, min(4 * eps, 2.0**-4), 1.01 * eps) * self.bound + 2 * smallest(self.type)
            if error > min(limit, 0.51 * self.bound) or self.bound + 2 * error > value_range(self.type):
                return None
        return dataclasses.replace(self, error=error, grid=grid)
