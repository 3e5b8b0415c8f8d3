"""Elementwise ops of complex numbers. Bounds and errors are of the parts."""

from __future__ import annotations

import math

from tests.random_programs.bounds import Value, epsilon, unit
from tests.random_programs.elementwise import ElementwiseSteps
from tests.random_programs.functions import COMPLEX, GUARDED_COMPLEX
from xla_core.hlo import ElementType


class ComplexSteps(ElementwiseSteps):
    def kinds(self):
        return [*super().kinds(), self.make_complex, self.part, self.complex_binary, self.complex_function,
                self.complex_guarded]  # fmt: skip

    def number(self, usual: bool = True) -> Value | None:
        return self.pick(lambda v: v.type.is_complex and (v.is_usual or not usual))

    def make_complex(self) -> None:
        x = self.pick(lambda v: v.type in (ElementType.F32, ElementType.F64))
        if x is not None:
            y = self.partner(x)
            self.keep_like(self.c.add("complex", x.instruction, y.instruction), x, y)

    def part(self) -> None:
        x = self.number(usual=False)
        if x is None:
            return
        opcode = self.rng.choice(["real", "imag", "negate"])
        self.keep(self.c.add(opcode, x.instruction), x.bound, x.error, x.grid, x.bits and opcode != "negate")

    def complex_binary(self) -> None:
        x = self.number()
        if x is None:
            return
        y = self.partner(x)
        opcode = self.rng.choice(["add", "subtract", "multiply"])
        made = self.c.add(opcode, x.instruction, y.instruction)
        known = x.grid is not None and y.grid is not None
        if opcode != "multiply":
            self.keep(made, x.bound + y.bound, x.error + y.error, max(x.grid, y.grid) if known else None)
            return
        bound, grid = 2 * x.bound * y.bound, x.grid + y.grid if known else None
        error = 2 * (x.bound * y.error + y.bound * x.error + x.error * y.error)
        if error or not x.fits(bound, grid):
            error += 2 * unit(x.type) * bound
        self.keep(made, bound, error, grid)

    def complex_function(self) -> None:
        x = self.number()
        if x is None:
            return
        opcode = self.rng.choice(list(COMPLEX))
        function = COMPLEX[opcode]
        x = self.scaled(x, function.limit)
        reach = x.bound + x.error
        bound = function.bound(reach)
        error = 1.5 * function.slope(reach) * x.error + self.ulps(opcode, x.type) * epsilon(x.type) * bound
        self.keep(self.c.add(opcode, x.instruction), bound, error, None, rounded=True)

    def complex_guarded(self) -> None:
        """Adds a function of (|re x| + 1, im x)."""
        x = self.number()
        if x is None:
            return
        real = Value(self.c.add("real", x.instruction), x.bound, x.error, x.grid)
        real = self.guard(real, 1)
        imag = self.c.add("imag", x.instruction)
        safe = Value(self.c.add("complex", real.instruction, imag), real.bound, real.error, real.grid)
        opcode = self.rng.choice([*GUARDED_COMPLEX, "divide", "power"])
        noise = self.ulps(opcode, x.type) * epsilon(x.type)
        if opcode == "divide":
            y = self.partner(x)
            bound = 2 * y.bound
            made = self.c.add("divide", y.instruction, safe.instruction)
            self.keep(made, bound, 1.5 * y.error + 2 * bound * safe.error + noise * bound, None, rounded=True)
        elif opcode == "power":
            exponent = self.rng.choice([0, 1, 2, 0.5, -1])
            size = 1.5 * safe.bound
            bound = size ** max(exponent, 0)
            slope = max(1, abs(exponent) * size ** (exponent - 1))
            made = self.c.add("power", safe.instruction, self.filled(exponent, x.shape))
            # The angle that is multiplied by the exponent, and the logarithm, have errors of their own.
            extra = epsilon(x.type) * (abs(exponent) * (math.log(size) + 1.6)) * 4 * bound
            self.keep(made, bound, 1.5 * slope * safe.error + noise * bound + extra, None, rounded=True)
        else:
            function = GUARDED_COMPLEX[opcode]
            bound = function.bound(safe.bound)
            error = 1.5 * function.slope(safe.bound) * safe.error + noise * bound
            self.keep(self.c.add(opcode, safe.instruction), bound, error, None, rounded=True)
