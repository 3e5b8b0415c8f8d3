"""Ops on element types that other steps leave out: f8e8m0fnu, pred, and floats of less than 16 bits."""

from __future__ import annotations

import math

from tests.random_programs.bounds import mantissa
from tests.random_programs.steps import POWERS, Steps
from xla_core.hlo import ConvolutionDimensionNumbers, ElementType, Shape, WindowDimension

_UNARY = ("negate", "abs", "sign", "floor", "ceil", "round-nearest-even", "round-nearest-afz")
_BINARY = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum")


class RareSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.powers, self.booleans, self.narrow_precision]

    def powers(self) -> None:
        """Arithmetic of powers of two: what is no power of two is rounded to one, what is no positive number to NaN."""
        x = self.pick(lambda v: v.type is POWERS)
        if x is None:
            return
        if self.rng.random() < 0.3:
            made = self.c.add(self.rng.choice(_UNARY), x.instruction)
        elif self.rng.random() < 0.1:
            made = self.c.add("is-finite", x.instruction)
        else:
            made = self.c.add(self.rng.choice(_BINARY), x.instruction, self.partner(x).instruction)
        self.keep(made, math.inf, grid=None)

    def booleans(self) -> None:
        """Products of booleans, whose sums are "or"; the middle one of three; and, in HLO alone, their bits and powers."""
        p = self.pick(lambda v: v.type is ElementType.PRED)
        if p is None:
            return
        if self.strict and self.rng.random() < 0.3:
            opcode = self.rng.choice(["popcnt", "count-leading-zeros", "power"])
            exponent = [self.partner(p).instruction] if opcode == "power" else []
            self.keep(self.c.add(opcode, p.instruction, *exponent), 1)
            return
        sizes = p.shape.dimensions
        if p.shape.rank != 2 or 0 in sizes or self.rng.random() < 0.4:
            ends = [self.scalar(end, p.type) for end in self.rng.choice([(0, 1), (1, 1), (1, 0)])]
            self.keep(self.c.add("clamp", ends[0], p.instruction, ends[1]), 1)
            return
        other = self.constant(Shape.array(ElementType.PRED, [self.rng.randint(1, 4), sizes[1]]))
        if self.rng.random() < 0.5:
            made = self.c.add(
                "dot", p.instruction, other.instruction, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,)
            )
            self.keep(made, 1)
            return
        numbers = ConvolutionDimensionNumbers(0, 1, (), 1, 0, (), 0, 1, ())
        window: tuple[WindowDimension, ...] = ()
        self.keep(self.c.add("convolution", p.instruction, other.instruction, window=window, dim_labels=numbers), 1)

    def narrow_precision(self) -> None:
        """Adds a conversion from a float of less than 16 bits to a narrower or wider type."""
        x = self.pick(lambda v: v.type.is_floating and v.type.bit_width < 16 and v.type is not POWERS and v.is_exact)
        if x is not None:
            least = 0 if x.bits else 1  # without a mantissa, a NaN becomes an infinity of its sign, which may be any
            exponent, bits = self.rng.randint(1, 8), self.rng.randint(least, mantissa(x.type))
            made = self.c.add("reduce-precision", x.instruction, exponent_bits=exponent, mantissa_bits=bits)
            self.keep(made, math.inf, grid=None)
