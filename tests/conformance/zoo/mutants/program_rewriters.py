"""Faults of compilers' passes: rewritings that hold for real numbers, for square arrays, or most of the time."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Rewriter, broken
from xla_core.hlo import HloComputation, HloInstruction

MUTANTS: list[Mutant] = []
_rewrites = broken("executables", "test_ops_compositions", MUTANTS)


def _value(i: HloInstruction) -> np.ndarray | None:
    """What a constant, or a broadcast one, consists of; one element of it where all are equal."""
    while i.opcode == "broadcast":
        i = i.operand(0)
    return np.asarray(i.literal.array) if i.opcode == "constant" else None


def _is_float(i: HloInstruction) -> bool:
    return i.shape.is_array and i.shape.element_type.is_floating


def _same(value, i: HloInstruction, c: HloComputation) -> HloInstruction:
    return c.constant(np.asarray(value).astype(i.shape.dtype), i.shape)


def _power(i: HloInstruction) -> int | None:
    """The exponent if all elements are one power of two above 1."""
    value = _value(i)
    if value is None or value.dtype.kind != "i" or not value.size or len(set(value.reshape(-1).tolist())) != 1:
        return None
    number = int(value.reshape(-1)[0])
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else None


@_rewrites("compiler.run-backend", "Signed division by a power of two is a shift.", select="[divide-s")
class DividesByShifts(Rewriter):
    def rewrite(self, c, i):
        power = _power(i.operand(1)) if i.opcode == "divide" else None
        return None if power is None else c.add("shift-right-arithmetic", i.operand(0), _same(power, i, c))


@_rewrites("compiler.run-backend", "The signed remainder by a power of two is a mask.", select="[remainder-s")
class MasksRemainders(Rewriter):
    def rewrite(self, c, i):
        power = _power(i.operand(1)) if i.opcode == "remainder" else None
        return None if power is None else c.add("and", i.operand(0), _same((1 << power) - 1, i, c))


@_rewrites("compiler.run-backend", "A float minus itself is 0.", select="[subtract-")
class SubtractsItself(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "subtract" or i.operand(0) is not i.operand(1) or not _is_float(i):
            return None
        return _same(0, i, c)


@_rewrites("compiler.run-backend", "A float times 0 is 0.")
class ProductsWithZero(Rewriter):
    def rewrite(self, c, i):
        value = _value(i.operand(1)) if i.opcode == "multiply" and _is_float(i) else None
        return i.operand(1) if value is not None and value.size and (value == 0).all() else None


_OPPOSITE = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}


@_rewrites("compiler.run-backend", "`not` of a comparison of floats is the opposite comparison.")
class TurnsComparisons(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "not" or i.operand(0).opcode != "compare" or not _is_float(i.operand(0).operand(0)):
            return None
        old = i.operand(0)
        other = _OPPOSITE.get(str(old.attribute("direction")))
        return None if other is None else c.add("compare", *old.operands, direction=other)


@_rewrites("compiler.run-backend", "Conversions to a shorter float and back are left out.")
class SkipsRoundTrips(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "convert" or i.operand(0).opcode != "convert" or not _is_float(i.operand(0)):
            return None
        first = i.operand(0).operand(0)
        return first if first.shape.element_type == i.shape.element_type and _is_float(first) else None


@_rewrites("compiler.run-backend", "Two transpositions are joined in the wrong order.")
class JoinsTranspositions(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "transpose" or i.operand(0).opcode != "transpose":
            return None
        outer, inner = i.attribute("dimensions"), i.operand(0).attribute("dimensions")
        new = c.add("transpose", i.operand(0).operand(0), dimensions=tuple(outer[d] for d in inner))
        return new if new.shape.dimensions == i.shape.dimensions else None


@_rewrites("compiler.run-backend", "At level 1, a slice of a slice doesn't multiply its start by the inner stride.")
class JoinsSlices(Rewriter):
    levels = (1,)

    def rewrite(self, c, i):
        if i.opcode != "slice" or i.operand(0).opcode != "slice":
            return None
        parts = []
        for inner, outer, size in zip(
            i.operand(0).attribute("slice"), i.attribute("slice"), i.shape.dimensions, strict=True
        ):
            if not size:
                return None
            start, stride = inner.start + outer.start, inner.stride * outer.stride
            parts.append(type(inner)(start=start, limit=start + (size - 1) * stride + 1, stride=stride))
        return c.add("slice", i.operand(0).operand(0), slice=tuple(parts))


@_rewrites(
    "compiler.run-backend", "A transposition of an array with a dimension of size 1 is a reshape.", select="[transpose-"
)
class ReshapesForTransposes(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "transpose" or 1 not in i.shape.dimensions or i.shape.rank < 3:
            return None
        return c.add("reshape", i.operand(0), shape=i.shape)


@_rewrites("compiler.run-backend", "The power 0.5 is the square root.", select="[power-")
class RootsForPowers(Rewriter):
    def rewrite(self, c, i):
        value = _value(i.operand(1)) if i.opcode == "power" and _is_float(i) else None
        return c.add("sqrt", i.operand(0)) if value is not None and value.size and (value == 0.5).all() else None


@_rewrites(
    "compiler.run-backend", "Division by a constant multiplies by its reciprocal, also if that has no exact value."
)
class ReciprocalConstants(Rewriter):
    def rewrite(self, c, i):
        value = _value(i.operand(1)) if i.opcode == "divide" and _is_float(i) else None
        if value is None or not value.size:
            return None
        with np.errstate(all="ignore"):
            return c.add("multiply", i.operand(0), c.add("divide", _same(1, i, c), i.operand(1)))


@_rewrites("compiler.run-backend", "A dynamic slice of a dynamic slice adds up the starts, without their limits.")
class AddsUpStarts(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "dynamic-slice" or i.operand(0).opcode != "dynamic-slice":
            return None
        inner = i.operand(0)
        if i.operand(1).shape.element_type != inner.operand(1).shape.element_type:
            return None
        starts = [c.add("add", a, b) for a, b in zip(i.operands[1:], inner.operands[1:], strict=True)]
        return c.add("dynamic-slice", inner.operand(0), *starts, dynamic_slice_sizes=i.shape.dimensions)


@_rewrites("compiler.run-backend", "Of two updates of one size in turn, the first is left out.")
class LastUpdateOnly(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "dynamic-update-slice" or i.operand(0).opcode != "dynamic-update-slice":
            return None
        inner = i.operand(0)
        if inner.operand(1).shape.dimensions != i.operand(1).shape.dimensions:
            return None
        return c.add("dynamic-update-slice", inner.operand(0), *i.operands[1:])


@_rewrites("compiler.run-backend", "At level 0, two paddings in turn become one with the outer one's value.")
class JoinsPaddings(Rewriter):
    levels = (0,)

    def rewrite(self, c, i):
        if i.opcode != "pad" or i.operand(0).opcode != "pad":
            return None
        both = list(zip(i.operand(0).attribute("padding"), i.attribute("padding"), strict=True))
        if any(p.interior or p.low < 0 or p.high < 0 for pair in both for p in pair):
            return None
        joined = tuple(type(a)(low=a.low + b.low, high=a.high + b.high, interior=0) for a, b in both)
        return c.add("pad", i.operand(0).operand(0), i.operand(1), padding=joined)


@_rewrites("compiler.run-backend", "Two reductions in turn become one, which leaves out the inner one's initial value.")
class JoinsReductions(Rewriter):
    def rewrite(self, c, i):
        inner = i.operand(0) if i.operands else None
        if i.opcode != "reduce" or inner.opcode != "reduce" or len(i.operands) != 2 or len(inner.operands) != 2:
            return None
        if i.attribute("to_apply").root.opcode != inner.attribute("to_apply").root.opcode:
            return None
        kept = [d for d in range(inner.operand(0).shape.rank) if d not in inner.attribute("dimensions")]
        dimensions = sorted([*inner.attribute("dimensions"), *(kept[d] for d in i.attribute("dimensions"))])
        return c.add(
            "reduce", inner.operand(0), i.operand(1), dimensions=tuple(dimensions), to_apply=i.attribute("to_apply")
        )


@_rewrites("compiler.run-backend", "A broadcast of a broadcast takes the outer one's first dimensions.")
class JoinsBroadcasts(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "broadcast" or i.operand(0).opcode != "broadcast":
            return None
        inner = i.operand(0).operand(0)
        dimensions = i.attribute("dimensions")[: inner.shape.rank]
        if [i.shape.dimensions[d] for d in dimensions] != list(inner.shape.dimensions):
            return None
        return c.add("broadcast", inner, shape=i.shape, dimensions=tuple(dimensions))


@_rewrites("compiler.run-backend", "A float is equal to itself.")
class EqualToItself(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "compare" or i.operand(0) is not i.operand(1) or not _is_float(i.operand(0)):
            return None
        return _same(True, i, c) if i.attribute("direction") in ("EQ", "LE", "GE") else None


@_rewrites(
    "compiler.run-backend",
    "A conditional with a constant index beyond its branches takes the first branch.",
    select="[conditional-",
)
class FirstBranch(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "conditional" or i.operand(0).opcode != "constant":
            return
        index = np.asarray(i.operand(0).literal.array)
        if index.dtype == bool or 0 <= int(index) < len(i.operands) - 1:
            return
        i.replace_operand(0, c.constant(np.int32(0)))
        return


@_rewrites("compiler.run-backend", "Two draws of random numbers with the same bounds are one.", select="[rng-")
class OneDraw(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "rng":
            return None
        for other in c.post_order():
            if other is i:
                return None
            if other.opcode == "rng" and str(other.shape) == str(i.shape) and other.operands == i.operands:
                return other
        return None


@_rewrites("compiler.run-backend", "An outfeed whose token isn't used is left out.", select="feeds or programs")
class DropsOutfeeds(Rewriter):
    levels = (0, 1, 2)

    def rewrite(self, c, i):
        if i.opcode == "outfeed" and not i.user_count and not i.is_root:
            c.remove(i)


@_rewrites("compiler.run-backend", "A product with the logistic function of any array is taken for silu.")
class SilusOfTwoArrays(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "multiply" or i.operand(1).opcode != "logistic" or i.operand(1).operand(0) is i.operand(0):
            return None
        return c.add("multiply", i.operand(0), c.add("logistic", i.operand(0)))


@_rewrites("compiler.run-backend", "A running sum from the end is taken for one from the start.")
class RunningSumsFromTheStart(Rewriter):
    def rewrite(self, c, i):
        last = i.attribute("window")[-1] if i.opcode == "reduce-window" and len(i.operands) == 2 else None
        if last is None or not 1 < last.size == i.operand(0).shape.dimensions[-1] or last.padding_low:
            return None
        turned = dataclasses.replace(last, padding_low=last.padding_high, padding_high=0)
        window = (*i.attribute("window")[:-1], turned)
        return c.add("reduce-window", *i.operands, window=window, to_apply=i.attribute("to_apply"))
