"""Index: which element of an array is meant, as a mixed-radix number over loop variables.

The row-major linear index of an element is written in digits, most significant first. A loop variable is one digit. A
reshape leaves the digits as they are; broadcasts, transposes and slices regroup them. Where a digit would have to be
divided, the kernel is emitted again with that loop split in two (`LoopSplit`), so that loops contain no division.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.affine import AffineExpr
from xla_core.codegen.llvm.loops.schedule import LoopSplit


@dataclasses.dataclass(frozen=True, slots=True)
class Digit:
    """A value in [0, extent), known inside the outermost `level` loops.

    Attributes:
        loop: (space, position), if the digit is the variable of a loop that may be split.
        base: (digit, offset, unit), if the digit is another one plus offset x unit.
        affine: its value, if that is affine in the variable of a loop that runs in segments.
    """

    value: Value
    extent: int
    level: int
    loop: tuple[Hashable, int] | None = None
    base: tuple[Digit, Value, int] | None = None
    affine: AffineExpr | None = None


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
        """Returns the element at the same row-major position of an array with as many elements."""
        return self if self.dimensions == tuple(dimensions) else Index(dimensions, self.digits)

    def regroup(self, builder: IrBuilder, extents: Sequence[int]) -> list[tuple[Digit, ...]]:
        """Groups the digits so that the product of the extents in each group is the number in `extents`."""
        if 0 in extents:  # the array has no elements
            return [(Digit(builder.int_(0), extent, 0),) for extent in extents]
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

    def runs(self, builder: IrBuilder, joins: Callable[[int, int], bool]) -> list[tuple[list[int], tuple[Digit, ...]]]:
        """Runs of neighbouring dimensions, each with its digits.

        `joins(first, dimension)` says whether a dimension belongs to the run that begins with `first`.
        """
        runs: list[list[int]] = []
        for dimension in range(len(self.dimensions)):
            if runs and joins(runs[-1][0], dimension):
                runs[-1].append(dimension)
            else:
                runs.append([dimension])
        groups = self.regroup(builder, [math.prod(self.dimensions[d] for d in run) for run in runs])
        return list(zip(runs, groups, strict=True))

    def per_dimension(self, builder: IrBuilder) -> list[tuple[Digit, ...]]:
        """Returns the digits of each dimension."""
        return self.regroup(builder, self.dimensions)

    def component(self, builder: IrBuilder, dimension: int) -> Digit:
        """Returns one dimension's index as a single digit."""
        outer = math.prod(self.dimensions[:dimension])
        inner = math.prod(self.dimensions[dimension + 1 :])
        extent = self.dimensions[dimension]
        return merge_digits(builder, self.regroup(builder, (outer, extent, inner))[1])

    def linear(self, builder: IrBuilder) -> Value:
        """Returns the row-major linear index, i64. Each part is computed in the outermost loop that knows its digit."""
        strides, stride = [], 1
        for digit in reversed(self.digits):
            strides.append(stride)
            stride *= digit.extent
        return weighted_sum(builder, list(zip(self.digits, reversed(strides), strict=True)))


def weighted_sum(builder: IrBuilder, terms: Sequence[tuple[Digit, int]]) -> Value:
    """Returns the sum of digit x stride. Each partial sum is computed in the outermost loop that knows its digits."""
    total = builder.int_(0)
    for digit, stride in sorted(terms, key=lambda term: term[0].level):
        with builder.at_level(digit.level):
            total = builder.add(total, builder.mul(digit.value, builder.int_(stride), "nuw nsw"), "nuw nsw")
    return total


def merge_digits(builder: IrBuilder, digits: Sequence[Digit]) -> Digit:
    """Returns one digit with the value of several."""
    if len(digits) == 1:
        return digits[0]
    if not digits:
        return Digit(builder.int_(0), 1, 0)
    index = Index((), digits)
    return Digit(index.linear(builder), math.prod(d.extent for d in digits), index.level)


def split_digit(builder: IrBuilder, digit: Digit, factor: int) -> tuple[Digit, Digit]:
    """(digit / factor, digit % factor).

    Raises:
        LoopSplit: the digit is the variable of a loop that can be split.
    """
    if digit.extent == factor:
        return Digit(builder.int_(0), 1, 0), digit
    if digit.loop is not None and builder.cuts_loops:
        raise LoopSplit(*digit.loop, factor)
    if digit.base is not None:
        base, offset, unit = digit.base
        known = offset.integer
        aligned = unit % factor == 0 or (known is not None and known * unit % factor == 0)
        if base.extent % factor == 0 and aligned:
            high, low = split_digit(builder, base, factor)
            if unit % factor == 0:
                moved = offset_digit(builder, high, offset, digit.extent // factor, unit // factor, digit.level)
            else:
                steps = builder.int_((known or 0) * unit // factor)
                moved = offset_digit(builder, high, steps, digit.extent // factor)
            return moved, low
    with builder.at_level(digit.level):
        value = digit.value
        narrow = digit.extent < 1 << 31  # 32-bit division is several times faster, and has vector forms
        if narrow:
            value = builder.cast("trunc", value, "i32")
        by = builder.int_(factor, value.type)
        quotient = builder.cast("zext", builder.udiv(value, by), "i64")
        rest = builder.cast("zext", builder.urem(value, by), "i64")
    return Digit(quotient, digit.extent // factor, digit.level), Digit(rest, factor, digit.level)


def offset_digit(builder: IrBuilder, digit: Digit, offset: Value, extent: int, unit: int = 1, level: int = 0) -> Digit:
    """Adds offset x unit, which may be negative, to a digit. The offset is defined at `level`."""
    level = max(digit.level, level)
    with builder.at_level(level):
        value = builder.add(digit.value, builder.mul(offset, builder.int_(unit), "nsw"), "nsw")
    affine = digit.affine.moved(offset.integer * unit) if digit.affine and offset.integer is not None else None
    return Digit(value, extent, level, base=(digit, offset, unit), affine=affine)


def scaled_digit(builder: IrBuilder, digit: Digit, scale: int, offset: int, extent: int) -> Digit:
    """Returns the digit times `scale`, which is not 0, plus `offset`. The result is in [0, extent)."""
    with builder.at_level(digit.level):
        if scale == -1:
            value = builder.sub(builder.int_(offset), digit.value, "nuw nsw")
        else:
            scaled = builder.mul(digit.value, builder.int_(scale), "nuw nsw")
            value = builder.add(scaled, builder.int_(offset), "nuw nsw")
    affine = digit.affine.scaled(scale).moved(offset) if digit.affine else None
    return Digit(value, extent, digit.level, affine=affine)


def is_within(builder: IrBuilder, digit: Digit, extent: int) -> Value:
    """Returns whether the value of a digit is in [0, extent); after `offset_digit` it may not be."""
    known = digit.affine.is_within(extent) if digit.affine else None
    return builder.icmp("ult", digit.value, builder.int_(extent)) if known is None else builder.bool_(known)


def compose(
    builder: IrBuilder, dimensions: Sequence[int], sources: Sequence[Index], where: Sequence[tuple[int, int]]
) -> Index:
    """Returns an index over `dimensions`; dimension d is dimension where[d][1] of the index sources[where[d][0]].

    Dimensions that are neighbours both in a source and in the result are kept together.
    """
    runs: list[tuple[int, int, int]] = []  # (source, its first dimension, its last one)
    for source, dimension in where:
        if runs and runs[-1][0] == source and runs[-1][2] == dimension - 1:
            runs[-1] = (source, runs[-1][1], dimension)
        else:
            runs.append((source, dimension, dimension))
    found: dict[tuple[int, int], tuple[Digit, ...]] = {}
    for number, index in enumerate(sources):
        own = sorted((first, last) for source, first, last in runs if source == number)
        dims, segments, at = index.dimensions, [], 0
        for first, last in own:
            segments += [(at, first - 1)] if first > at else []
            segments.append((first, last))
            at = last + 1
        segments += [(at, len(dims) - 1)] if at < len(dims) else []
        groups = index.regroup(builder, [math.prod(dims[first : last + 1]) for first, last in segments])
        found.update({(number, first): group for (first, _), group in zip(segments, groups, strict=True)})
    return Index(dimensions, [digit for source, first, _ in runs for digit in found[source, first]])


_SCALAR = Index((), ())
