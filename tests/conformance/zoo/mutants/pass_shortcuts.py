"""Faults of a compiler's passes: what is folded into its operand without its limits, its padding, or its dimensions' numbers."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Rewriter, broken

MUTANTS: list[Mutant] = []
_rewrites = broken("executables", "compositions or programs", MUTANTS)


@_rewrites("compiler.run-backend", "Conversions of integers to floats and back are left out.")
class SkipsFloatsBetween(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "convert" or i.operand(0).opcode != "convert" or not i.operand(0).shape.element_type.is_floating:
            return None
        first = i.operand(0).operand(0)
        return (
            first if first.shape.element_type == i.shape.element_type and first.shape.element_type.is_integral else None
        )


@_rewrites(
    "compiler.run-backend",
    "A slice of a padded array that has no padding in it is the slice of the array at the same place.",
)
class SlicesBehindPadding(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "slice" or i.operand(0).opcode != "pad":
            return None
        inner = i.operand(0)
        sizes = inner.operand(0).shape.dimensions
        for part, p, size in zip(i.attribute("slice"), inner.attribute("padding"), sizes, strict=True):
            if p.interior or p.low < 0 or part.start < p.low or part.limit > min(size, p.low + size):
                return None
        return c.add("slice", inner.operand(0), slice=i.attribute("slice"))


@_rewrites(
    "compiler.run-backend", "The maximum or minimum along copies of a scalar is the scalar, without the initial value."
)
class ExtremesOfCopies(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "reduce" or len(i.operands) != 2 or i.operand(0).opcode != "broadcast":
            return None
        if i.attribute("to_apply").root.opcode not in ("maximum", "minimum"):
            return None
        one, sizes = i.operand(0).operand(0), i.operand(0).shape.dimensions
        if one.shape.rank or not all(sizes[d] for d in i.attribute("dimensions")):
            return None
        return c.add("broadcast", one, shape=i.shape, dimensions=())


@_rewrites("compiler.run-backend", "The logarithm of an exponential is its operand.")
class LogsOfExponentials(Rewriter):
    def rewrite(self, c, i):
        return i.operand(0).operand(0) if i.opcode == "log" and i.operand(0).opcode == "exponential" else None


@_rewrites(
    "compiler.run-backend", "A product takes the operand of a transposition, and keeps the numbers of the dimensions."
)
class ProductsOfTransposed(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "dot" or i.operand(0).opcode != "transpose":
            return
        first = i.operand(0).operand(0)
        if first.shape.dimensions != i.operand(0).shape.dimensions or first.shape.rank < 2:
            return
        i.replace_operand(0, first)
        return


@_rewrites("compiler.run-backend", "A dynamic slice with constant starts counts negative ones from the end.")
class ConstantsFromTheEnd(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "dynamic-slice" or any(o.opcode != "constant" for o in i.operands[1:]):
            return None
        source = i.operand(0).shape.dimensions
        parts = []
        for start, size, part in zip(i.operands[1:], source, i.shape.dimensions, strict=True):
            value = int(np.asarray(start.literal.array))
            begin = min(max(value + size if value < 0 else value, 0), size - part)
            parts.append((begin, begin + part))
        starts = [c.constant(np.asarray(b, o.shape.dtype)) for (b, _), o in zip(parts, i.operands[1:], strict=True)]
        return c.add("dynamic-slice", i.operand(0), *starts, dynamic_slice_sizes=i.shape.dimensions)


@_rewrites("compiler.run-backend", "Zeros before windows of the largest element become the windows' own padding.")
class ZerosBesideWindows(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "reduce-window" or len(i.operands) != 2 or i.operand(0).opcode != "pad":
            return None
        if i.attribute("to_apply").root.opcode != "maximum":
            return None
        padded = i.operand(0)
        edge = padded.operand(1)
        padding = padded.attribute("padding")
        if edge.opcode != "constant" or np.asarray(edge.literal.array) != 0 or any(p.interior for p in padding):
            return None
        window = tuple(
            dataclasses.replace(w, padding_low=w.padding_low + p.low, padding_high=w.padding_high + p.high)
            for w, p in zip(i.attribute("window"), padding, strict=True)
        )
        if any(w.base_dilation > 1 for w in window):
            return None
        return c.add("reduce-window", padded.operand(0), i.operand(1), window=window, to_apply=i.attribute("to_apply"))
