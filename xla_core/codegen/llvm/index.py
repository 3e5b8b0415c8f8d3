"""Index: which element of an array, as a mixed-radix number over loop variables.

The row-major linear index of an element is written in digits, most significant first; a loop variable is one digit.
Reshapes leave it as it is; broadcasts, transposes and slices regroup the digits. No division is left in a loop: a digit
that must be cut makes the kernel be emitted again with that loop cut in two (`LoopSplit`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Sequence

from xla_core.codegen.llvm.builder import IrBuilder, Value

__all__ = ["Digit", "Index", "LoopSplit"]


class LoopSplit(Exception):
    """A loop over `space` must be cut at `position` into an outer one and an inner one of `factor` iterations."""

    def __init__(self, space: Hashable, position: int, factor: int) -> None:
        super().__init__(space, position, factor)
        self.space, self.position, self.factor = space, position, factor


@dataclasses.dataclass(frozen=True, slots=True)
class Digit:
    """A value in [0, extent). `level` is the loop depth where it is known.

    `loop` is (space, position) where it is a loop variable that may be cut. `base` is (digit, offset) where it is
    another digit plus a constant.
    """

    value: Value
    extent: int
    level: int
    loop: tuple[Hashable, int] | None = None
    base: tuple[Digit, int] | None = None


class Index:
    """An element of an array of `dimensions`. Immutable."""

    __slots__ = ("digits", "dimensions", "key", "level")

    def __init__(self, dimensions: Sequence[int], digits: Sequence[Digit]) -> None:
        self.dimensions = tuple(dimensions)
        self.digits = tuple(d for d in digits if d.extent != 1)
        self.level = max((d.level for d in self.digits), default=0)
        self.key = tuple((d.value.name, d.extent) for d in self.digits)

    @staticmethod
    def scalar() -> Index:
        return _SCALAR

    def reshaped(self, dimensions: Sequence[int]) -> Index:
        """The element at the same row-major position of an array with as many elements."""
        return self if self.dimensions == tuple(dimensions) else Index(dimensions, self.digits)

    def regroup(self, builder: IrBuilder, extents: Sequence[int]) -> list[tuple[Digit, ...]]:
        """The digits in groups whose extents multiply to `extents` (whose product is the number of elements)."""
        pending = list(self.digits)
        groups: list[tuple[Digit, ...]] = []
        for extent in reversed(extents):
            group: list[Digit] = []
            need = extent
            while need > 1:
                digit = pending.pop()
                if need % digit.extent == 0:
                    group.append(digit)
                    need //= digit.extent
                elif digit.extent % need == 0:
                    high, low = split_digit(builder, digit, need)
                    pending.append(high)
                    group.append(low)
                    need = 1
                else:
                    while digit.extent % need:
                        digit = merge_digits(builder, (pending.pop(), digit))
                    pending.append(digit)
            groups.append(tuple(reversed(group)))
        return groups[::-1]

    def per_dimension(self, builder: IrBuilder) -> list[tuple[Digit, ...]]:
        """The digits of each dimension."""
        return self.regroup(builder, self.dimensions)

    def component(self, builder: IrBuilder, dimension: int) -> Digit:
        """One dimension's index as a single digit."""
        outer = math.prod(self.dimensions[:dimension])
        inner = math.prod(self.dimensions[dimension + 1 :])
        extent = self.dimensions[dimension]
        return merge_digits(builder, self.regroup(builder, (outer, extent, inner))[1])

    def linear(self, builder: IrBuilder) -> Value:
        """The row-major linear index, i64; each part is computed outside the loops that it doesn't depend on."""
        strides, stride = [], 1
        for digit in reversed(self.digits):
            strides.append(stride)
            stride *= digit.extent
        return weighted_sum(builder, list(zip(self.digits, reversed(strides), strict=True)))


def weighted_sum(builder: IrBuilder, terms: Sequence[tuple[Digit, int]]) -> Value:
    """The sum of digit x stride, outer loops' terms first, each at the level where it is known."""
    total = builder.int_(0)
    for digit, stride in sorted(terms, key=lambda term: term[0].level):
        with builder.at_level(digit.level):
            total = builder.add(total, builder.mul(digit.value, builder.int_(stride), "nuw nsw"), "nuw nsw")
    return total


def merge_digits(builder: IrBuilder, digits: Sequence[Digit]) -> Digit:
    """Several digits as one."""
    if len(digits) == 1:
        return digits[0]
    if not digits:
        return Digit(builder.int_(0), 1, 0)
    index = Index((), digits)
    return Digit(index.linear(builder), math.prod(d.extent for d in digits), index.level)


def split_digit(builder: IrBuilder, digit: Digit, factor: int) -> tuple[Digit, Digit]:
    """(digit / factor, digit % factor). Raises LoopSplit for a loop variable."""
    if digit.loop is not None:
        raise LoopSplit(*digit.loop, factor)
    if digit.base is not None:
        base, offset = digit.base
        if base.extent % factor == 0 and offset % factor == 0:
            high, low = split_digit(builder, base, factor)
            return offset_digit(builder, high, offset // factor, digit.extent // factor), low
    with builder.at_level(digit.level):
        value = digit.value
        narrow = digit.extent < 1 << 31  # 32-bit division is several times faster, and has vector forms
        if narrow:
            value = builder.cast("trunc", value, "i32")
        by = builder.int_(factor, value.type)
        quotient = builder.cast("zext", builder.udiv(value, by), "i64")
        rest = builder.cast("zext", builder.urem(value, by), "i64")
    return Digit(quotient, digit.extent // factor, digit.level), Digit(rest, factor, digit.level)


def offset_digit(builder: IrBuilder, digit: Digit, offset: int, extent: int) -> Digit:
    """Digit + offset, of another extent. The offset may be negative where the sum is not."""
    with builder.at_level(digit.level):
        value = builder.add(digit.value, builder.int_(offset), "nsw")
    return Digit(value, extent, digit.level, base=(digit, offset))


_SCALAR = Index((), ())
