"""Elementwise ops of real numbers and booleans."""

from __future__ import annotations

import math

from tests.random_programs.bounds import Value, epsilon, largest, smallest, unit, value_range
from tests.random_programs.functions import GUARDED, REAL, ulps
from tests.random_programs.steps import POWERS, Steps
from xla_core.hlo import ElementType, HloComputation, Shape

_ROUND = ("floor", "ceil", "round-nearest-afz", "round-nearest-even", "sign")
_WHOLE_UNARY = ("negate", "abs", "not", "sign", "popcnt", "count-leading-zeros")
_WHOLE_BINARY = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                 "shift-left", "shift-right-logical", "shift-right-arithmetic", "power", "mulhi")  # fmt: skip
_DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


class ElementwiseSteps(Steps):
    all_types: tuple[ElementType, ...]

    def kinds(self):
        return [*super().kinds(), self.unary, self.unary, self.function, self.function, self.binary, self.binary,
                self.guarded, self.guarded, self.whole, self.whole, self.whole,
                self.compare, self.logic, self.select, self.clamp, self.convert, self.convert,
                self.reduce_precision, self.stochastic_convert, self.map]  # fmt: skip

    def ulps(self, opcode: str, element_type: ElementType) -> float:
        return ulps(opcode, element_type, self.strict)

    def floating(self, usual: bool = True) -> Value | None:
        return self.pick(lambda v: v.type.is_floating and v.type is not POWERS and (v.is_usual or not usual))

    def scaled(self, x: Value, limit: float) -> Value:
        """Multiplies x by a power of two, so that it is no larger than the limit."""
        if x.bound <= limit:
            return x
        down = math.ceil(math.log2(x.bound / limit))
        factor = self.filled(2.0**-down, x.shape)
        grid = None if x.grid is None else x.grid + down
        made = self.c.add("multiply", x.instruction, factor)
        grid = grid if x.fits(x.bound * 2.0**-down, grid) else None
        error = x.error * 2.0**-down
        exact_scale = mantissa_room(x.type) > down
        return Value(made, x.bound * 2.0**-down, error if exact_scale else error + epsilon(x.type), grid)

    def unary(self) -> None:
        x = self.floating(usual=False)
        if x is None:
            return
        if self.rng.random() < 0.5 or not x.is_exact:
            self.keep(self.c.add(self.rng.choice(["negate", "abs"]), x.instruction), x.bound, x.error, x.grid)
        elif self.rng.random() < 0.3:
            self.keep(self.c.add("is-finite", x.instruction), 1)
        else:
            opcode = self.rng.choice(_ROUND)
            self.keep(self.c.add(opcode, x.instruction), 1 if opcode == "sign" and x.is_usual else x.bound + 1)

    def function(self) -> None:
        x = self.floating()
        if x is None:
            return
        opcode = self.rng.choice(list(REAL))
        function = REAL[opcode]
        if opcode == "cbrt":
            return  # steep at 0: see `guarded`
        if mantissa_room(x.type) < 3 and function.limit < 1:
            return
        x = self.scaled(x, min(function.limit, value_range(x.type)))
        reach = x.bound + x.error
        bound = function.bound(reach)
        self.keep(self.c.add(opcode, x.instruction), bound, function.slope(reach) * x.error + self.ulps(opcode, x.type) * epsilon(x.type) * bound, None, rounded=True)  # fmt: skip

    def binary(self) -> None:
        x = self.floating(usual=False)
        if x is None:
            return
        y = self.partner(x) if x.is_usual or self.rng.random() < 0.5 else x
        a, b = x.bound, y.bound
        opcode = self.rng.choice(
            ["add", "subtract", "multiply", "multiply", "maximum", "minimum", "divide", "remainder"]
        )
        operands = (x, y) if self.rng.random() < 0.7 else (y, x)
        if opcode in ("divide", "remainder"):
            # The sign of a zero divisor is known where its bits are.
            if not (self.strict and x.is_exact and y.is_exact and operands[1].bits):
                return
            made = self.c.add(opcode, operands[0].instruction, operands[1].instruction)
            self.keep(made, math.inf)
            return
        made = self.c.add(opcode, operands[0].instruction, operands[1].instruction)
        grid = None if x.grid is None or y.grid is None else max(x.grid, y.grid)
        if opcode == "multiply":
            grid = None if x.grid is None or y.grid is None else x.grid + y.grid
            cross = a * y.error + b * x.error + x.error * y.error if x.error or y.error else 0.0
            self.keep(made, a * b if x.is_usual and y.is_usual else math.inf, cross, grid)
        elif opcode in ("maximum", "minimum"):
            self.keep(made, max(a, b), max(x.error, y.error), grid)
        else:
            self.keep(made, a + b, x.error + y.error, grid)

    def guard(self, x: Value, least: float) -> Value:
        """|x| + least."""
        made = self.c.add("add", self.c.add("abs", x.instruction), self.filled(least, x.shape))
        bound = x.bound + least
        fits = x.is_exact and x.fits(bound, x.grid)
        error = x.error if x.is_exact and (fits or self.strict) else x.error + unit(x.type) * bound
        return Value(made, bound, error, x.grid if fits else None)

    def guarded(self) -> None:
        """Adds functions with large slopes near 0, on |x| + 1."""
        x = self.floating()
        if x is None or x.bound + 2 > value_range(x.type):
            return
        opcode = self.rng.choice([*GUARDED, "divide", "power", "atan2"])
        safe = self.guard(x, 2 if opcode == "acosh" else 1)
        noise, c = self.ulps(opcode, x.type) * epsilon(x.type), self.c
        if opcode == "divide":
            y = self.partner(x)
            error = y.error + y.bound * safe.error if y.error or safe.error else 0.0
            self.keep(c.add("divide", y.instruction, safe.instruction), y.bound, error, None)
        elif opcode == "atan2":
            y = self.partner(x)
            made = c.add("atan2", y.instruction, safe.instruction)
            self.keep(
                made, min(y.bound, 1.6), y.error + y.bound * safe.error + noise * min(y.bound, 1.6), None, rounded=True
            )
        elif opcode == "power":
            exponent = self.rng.choice([-1, 0, 0.5, 1, 2, 3])
            bound = safe.bound ** max(exponent, 0)
            slope = max(1, abs(exponent) * safe.bound ** (exponent - 1))
            made = c.add("power", safe.instruction, self.filled(exponent, x.shape))
            self.keep(made, bound, slope * safe.error + noise * bound, None, rounded=True)
        else:
            function = GUARDED[opcode]
            bound = function.bound(safe.bound)
            rounds_once = opcode == "sqrt" and safe.is_exact
            error = 0.0 if rounds_once else function.slope(safe.bound) * safe.error + noise * bound
            self.keep(c.add(opcode, safe.instruction), bound, error, None, rounded=not rounds_once)

    # -- whole numbers, booleans ---------------------------------------------------------------------------------------

    def whole(self) -> None:
        x = self.pick(lambda v: v.type.is_integral)
        if x is None:
            return
        if self.rng.random() < 0.3:
            # StableHLO has neither of unsigned numbers.
            names = [n for n in _WHOLE_UNARY if x.type.is_signed or self.strict or n not in ("sign", "abs")]
            if not self.strict and x.type.is_signed and x.type.bit_width < 32:
                names.remove("count-leading-zeros")  # XLA folds it as if of 64 bits
            opcode = self.rng.choice(names)
            width = x.type.bit_width
            bound = {"sign": 1, "abs": x.bound, "popcnt": width, "count-leading-zeros": width}.get(opcode, math.inf)
            self.keep(self.c.add(opcode, x.instruction), bound)
            return
        y = self.partner(x)
        # XLA looks at six bits of an integer exponent, whatever its type.
        opcode = self.rng.choice([o for o in _WHOLE_BINARY if self.strict or o != "power"])
        right = y.instruction
        if opcode in ("divide", "remainder") and not self.strict:  # XLA ends where it folds a division by zero
            right = self.c.add("or", right, self.filled(1, y.shape))
        made = self.c.add(opcode, x.instruction, right)
        bounds = {"add": x.bound + y.bound, "multiply": x.bound * y.bound, "remainder": x.bound,
                  "maximum": max(x.bound, y.bound), "minimum": max(x.bound, y.bound)}  # fmt: skip
        if x.type.is_signed:
            bounds["subtract"] = x.bound + y.bound
        small = bounds.get(opcode, math.inf)
        self.keep(made, small if small < value_range(x.type) else math.inf)

    def compare(self) -> None:
        x = self.pick(lambda v: v.is_exact)
        if x is None:
            return
        y = self.partner(x, lambda v: v.is_exact)
        attributes = {"direction": self.rng.choice(_DIRECTIONS[:2] if x.type.is_complex else _DIRECTIONS)}
        if x.type.is_floating and x.bits and y.bits and self.rng.random() < 0.3:
            attributes["type"] = "TOTALORDER"
        self.keep(self.c.add("compare", x.instruction, y.instruction, **attributes), 1)

    def logic(self) -> None:
        p = self.pick(lambda v: v.type is ElementType.PRED)
        if p is None:
            return
        if self.rng.random() < 0.3:
            self.keep(self.c.add("not", p.instruction), 1)
        else:
            opcode = self.rng.choice(["and", "or", "xor", "maximum", "minimum", "add", "multiply"])
            self.keep(self.c.add(opcode, p.instruction, self.partner(p).instruction), 1)

    def select(self) -> None:
        x = self.any()
        y = self.partner(x)
        sizes = x.shape.dimensions
        p = self.pick(lambda v: v.type is ElementType.PRED and v.shape.dimensions in (sizes, ()))
        if p is None:
            p = self.constant(x.shape.without_layout().with_element_type(ElementType.PRED))
        self.keep_like(self.c.add("select", p.instruction, x.instruction, y.instruction), x, y)

    def clamp(self) -> None:
        x = self.pick(lambda v: not v.type.is_complex and v.type is not ElementType.PRED)
        if x is None or (not x.is_usual and not x.is_exact):
            return
        if x.type is POWERS or x.type.bit_width <= 2:
            low, high = (1, 1) if x.type.is_unsigned else (0, 1) if x.type is not POWERS else (1, 2)
        else:
            low, high = self.rng.choice([(0, 2), (0, 1), (1, 3), (3, 1)])
        if (x.type.is_signed or (x.type.is_floating and x.type is not POWERS)) and x.type.bit_width > 2 and self.rng.random() < 0.5:  # fmt: skip
            low = -high
        shape = x.shape.without_layout() if self.rng.random() < 0.3 else Shape(x.type)
        made = self.c.add("clamp", self.filled(low, shape), x.instruction, self.filled(high, shape))
        if x.is_usual:
            self.keep(made, max(abs(low), abs(high)), x.error, x.grid)
        else:
            self.keep(made, math.inf)

    # -- one type to another -------------------------------------------------------------------------------------------

    def convert(self) -> None:
        x = self.any()
        wanted = self.rng.choice(self.all_types)
        if x.type.is_complex and not wanted.is_complex and not self.strict:
            return  # XLA ends where it folds this
        made = self.same("convert", x.instruction, x.shape.without_layout().with_element_type(wanted))
        if x.is_exact and (self.strict or self._fits_in(x, wanted)):
            if wanted is ElementType.PRED:
                self.keep(made, 1)
            elif not (wanted.is_floating or wanted.is_complex):
                kept = x.bound < value_range(wanted) and (x.type.is_unsigned or not wanted.is_unsigned)
                self.keep(made, x.bound if kept else math.inf)
            elif wanted is POWERS:
                self.keep(made, math.inf)
            else:
                grid = x.grid if x.bound <= largest(wanted) else None
                self.keep(made, x.bound if x.bound <= largest(wanted) else math.inf, 0.0, grid)
        elif (wanted.is_floating or wanted.is_complex) and wanted is not POWERS and x.rounds and x.bound < value_range(wanted):  # fmt: skip
            self.keep(made, x.bound, x.error, x.grid)

    def _fits_in(self, x: Value, wanted: ElementType) -> bool:
        if wanted.is_floating or wanted.is_complex:
            return wanted is not POWERS and x.fits(x.bound, x.grid, wanted)
        return not x.rounds or (x.bound < value_range(wanted) and not wanted.is_unsigned)

    def reduce_precision(self) -> None:
        formats = {
            ElementType.F32: (8, 23),
            ElementType.F64: (11, 52),
            ElementType.F16: (5, 10),
            ElementType.BF16: (8, 7),
        }
        x = self.pick(lambda v: v.type in formats and v.is_exact)
        if x is None:
            return
        exponent, bits = formats[x.type]
        exponent, bits = self.rng.randint(4, exponent), self.rng.randint(1, bits)
        made = self.c.add("reduce-precision", x.instruction, exponent_bits=exponent, mantissa_bits=bits)
        tame = 1.1 * x.bound < 2.0 ** (2 ** (exponent - 1) - 1)
        self.keep(made, 2 * x.bound if tame else math.inf, 0.0, x.grid)

    def stochastic_convert(self) -> None:
        width = {ElementType.F32: ElementType.U32, ElementType.F64: ElementType.U64, ElementType.F16: ElementType.U16,
                 ElementType.BF16: ElementType.U16}  # fmt: skip
        x = self.pick(lambda v: v.type in width and v.is_exact)
        if x is None or self.rng.random() < 0.5:
            return
        shape = x.shape.without_layout()
        random = self.partner(self.constant(shape.with_element_type(width[x.type])))
        wanted = self.rng.choice([t for t in self.all_types if t.is_integral])
        made = self.c.add(
            "stochastic-convert", x.instruction, random.instruction, shape=shape.with_element_type(wanted)
        )
        self.keep(made, math.inf)

    def map(self) -> None:
        """Adds a map of a computation of scalars over arrays."""
        x = self.pick(lambda v: v.is_exact and v.type is not POWERS)
        if x is None:
            return
        y = self.partner(x, lambda v: v.is_exact)
        computation = HloComputation("each")
        a, b = (computation.parameter(n, Shape(x.type)) for n in range(2))
        if x.type.is_complex:
            root = computation.add("add", a, b)
        else:
            chosen = computation.add("compare", a, b, direction=self.rng.choice(_DIRECTIONS))
            root = computation.add("select", chosen, b, computation.add(self.rng.choice(["maximum", "minimum"]), a, b))
        computation.set_root(root)
        every = tuple(range(x.shape.rank))
        made = self.c.add("map", x.instruction, y.instruction, dimensions=every, to_apply=self.module.add_computation(computation))  # fmt: skip
        if x.type.is_complex:
            self.keep(made, x.bound + y.bound, 0.0, None if x.grid is None or y.grid is None else max(x.grid, y.grid))
        else:
            grid = None if x.grid is None or y.grid is None else max(x.grid, y.grid)
            self.keep(made, max(x.bound, y.bound), 0.0, grid)


def mantissa_room(element_type: ElementType) -> int:
    """Returns by which power of two small numbers of a type may be divided."""
    return int(-math.log2(smallest(element_type))) - 3
