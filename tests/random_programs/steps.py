"""The base class of steps: it picks values, adds results, and makes small computations."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from tests.random_programs.bounds import Value, unit
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Shape, lookup

Accept = Callable[[Value], bool]
POWERS = ElementType.F8E8M0FNU  # powers of two: no zero, no sign, no sums


class Steps:
    """A computation that grows by random steps."""

    max_elements: int
    strict: bool
    without: frozenset[str]
    rng: random.Random
    module: HloModule
    c: HloComputation
    values: list[Value]
    depth: int

    def steps(self, count: int) -> None:
        kinds = [kind for kind in self.kinds() if kind.__name__ not in self.without]
        for _ in range(count):
            self.rng.choice(kinds)()

    def kinds(self) -> list[Callable[[], object]]:
        return []

    # -- values --------------------------------------------------------------------------------------------------------

    def keep(
        self,
        instruction: HloInstruction,
        bound: float,
        error: float = 0.0,
        grid: int | None = 0,
        bits: bool = False,
        rounded: bool = False,
    ) -> Value | None:
        """Adds a result if it is small and exact enough for further steps."""
        value = Value(instruction, bound, error, grid, bits).settled(self.strict, rounded)
        if value is None or instruction.shape.num_elements > self.max_elements:
            return None  # what is left of it is dead code
        self.values.append(value)
        return value

    def keep_like(self, instruction: HloInstruction, *values: Value) -> Value | None:
        """Adds a result whose elements are elements of some values."""
        grids = [v.grid for v in values]
        grid = None if None in grids else max(g for g in grids if g is not None)
        bound, error = max(v.bound for v in values), max(v.error for v in values)
        return self.keep(instruction, bound, error, grid, all(v.bits for v in values))

    def pick(self, accept: Accept = lambda v: True) -> Value | None:
        """Picks a value, with a preference for new ones, because passes interact in chains."""
        found = [v for v in self.values if accept(v)]
        if not found:
            return None
        return found[-1 - min(self.rng.randint(0, len(found) - 1), self.rng.randint(0, len(found) - 1))]

    def any(self) -> Value:
        return self.pick() or self.values[-1]

    def partner(self, x: Value, accept: Accept = lambda v: True) -> Value:
        """Returns a value of x's shape: an existing one, or a new constant."""
        shape = x.shape.without_layout()
        found = None
        if self.rng.random() < 0.7:
            found = self.pick(lambda v: v.type is shape.element_type and v.shape.dimensions == shape.dimensions
                              and v.is_usual and accept(v))  # fmt: skip
        return found or self.constant(shape)

    def numbers(self, element_type: ElementType) -> list[complex]:
        """Returns a few small numbers that a type holds exactly."""
        if element_type is ElementType.PRED:
            return [0, 1]
        if element_type is POWERS:
            return [1, 2, 0.5, 4]
        if element_type.is_complex:
            return [0, 1, -1, 1j, 2 - 1j, 0.5 + 3j]
        if element_type.is_floating:
            wanted = [0, 1, -1, 2, 0.5, 3, -0.25]
            return [v for v in wanted if float(np.asarray(v).astype(element_type.dtype)) == v]
        limit = 2 ** (element_type.bit_width - (1 if element_type.is_signed else 0))
        return [v for v in (0, 1, -1, 2, 3, 7) if (-limit if element_type.is_signed else 0) <= v < limit]

    def constant(self, shape: Shape, choices: Sequence[complex] | None = None) -> Value:
        """Makes a constant with one value or many."""
        element_type, shape = shape.element_type, shape.without_layout()
        choices = choices or self.numbers(element_type)
        if self.rng.random() < 0.5 or shape.num_elements > 64:
            numbers = [self.rng.choice(choices)]
            scalar = self.scalar(numbers[0], element_type)
            made = scalar if not shape.rank else self.c.add("broadcast", scalar, shape=shape, dimensions=())
        else:
            numbers = [self.rng.choice(choices) for _ in range(shape.num_elements)]
            wide = np.complex128 if element_type.is_complex else np.float64
            array = np.asarray(numbers, wide).astype(shape.dtype).reshape(shape.dimensions)
            made = self.c.constant(array, shape)
        bound = max((max(abs(complex(v).real), abs(complex(v).imag)) for v in numbers), default=0)
        return Value(made, bound, 0.0, 2 if element_type.is_floating or element_type.is_complex else 0, True)

    def scalar(self, value: complex, element_type: ElementType) -> HloInstruction:
        return self.c.constant(np.asarray(value).astype(element_type.dtype), Shape(element_type))

    def filled(self, value: complex, shape: Shape) -> HloInstruction:
        """Makes an array of equal elements."""
        scalar, shape = self.scalar(value, shape.element_type), shape.without_layout()
        return self.c.add("broadcast", scalar, shape=shape, dimensions=()) if shape.rank else scalar

    def same(self, opcode: str, instruction: HloInstruction, shape: Shape) -> HloInstruction:
        return self.c.add(opcode, instruction, shape=shape.without_layout())

    # -- what many elements add up to ----------------------------------------------------------------------------------

    def summed(
        self, x: Value, count: int, start: float, element_type: ElementType | None = None
    ) -> tuple[float, float, int | None]:
        """Computes bound, error and grid of a sum of up to `count` elements of x, in any order, and an initial value of grid 2."""
        kind = element_type or x.type
        total = count * x.bound + start
        grid = None if x.grid is None else max(x.grid, 2)
        if not x.rounds or (x.is_exact and x.fits(total, grid, kind)):
            return total, 0.0, grid
        rounding = count * unit(kind) * total + count * 2.0**-140
        return total, count * x.error + rounding, None

    # -- computations of scalars ---------------------------------------------------------------------------------------

    def monoid(self, x: Value, ordered: bool = False) -> str:
        """Chooses an op that combines values of x's type in any order."""
        rng = self.rng
        if x.type is ElementType.PRED:
            return rng.choice(["and", "or", "xor", "maximum", "minimum", "add", "multiply"])
        if x.type.is_complex and (x.is_usual or not self.strict):  # XLA compares no imaginary parts
            return "add"
        if x.type is POWERS or not x.is_usual:
            return rng.choice(["maximum", "minimum"])
        if x.type.is_floating:
            return rng.choice(["add", "add", "maximum", "minimum"])
        return rng.choice(["add", "multiply", "maximum", "minimum", "and", "or", "xor"])

    def start(self, opcode: str, x: Value) -> Value:
        """Makes the initial value of a reduction. If it isn't the identity, only the evaluator defines the result."""
        if self.strict:
            return self.constant(x.shape.with_dimensions(()))
        value = self.neutral(opcode, x.type)
        bound = 0 if opcode == "add" else 1 if opcode == "multiply" else float("inf")
        return Value(self.scalar(value, x.type), bound, 0.0, 0 if bound <= 1 else None)

    def neutral(self, opcode: str, element_type: ElementType) -> complex:
        if element_type.is_complex and opcode in ("maximum", "minimum"):  # they compare the real parts first
            end = float("-inf" if opcode == "maximum" else "inf")
            return complex(end, end)
        value = lookup(opcode).identity(element_type)
        assert value is not None
        return 0.0 if opcode == "add" else value

    def combine(
        self, c: HloComputation, opcode: str, a: HloInstruction, b: HloInstruction, plain: bool
    ) -> HloInstruction:
        """opcode(a, b), written in one of several ways."""
        kind, form = a.shape.element_type, self.rng.random()
        if form < 0.2:
            a, b = b, a
        if form < 0.6 or not plain:
            return c.add(opcode, a, b)
        if opcode == "maximum" and not kind.is_complex:
            return c.add("select", c.add("compare", a, b, direction=self.rng.choice(["GT", "GE"])), a, b)
        if opcode == "minimum" and not kind.is_complex:
            return c.add("select", c.add("compare", a, b, direction=self.rng.choice(["LT", "LE"])), a, b)
        if opcode == "add" and (kind.is_signed or kind.is_floating):
            return c.add("subtract", a, c.add("negate", b))
        if opcode == "or":
            return c.add("not", c.add("and", c.add("not", a), c.add("not", b)))
        if opcode == "and":
            return c.add("not", c.add("or", c.add("not", a), c.add("not", b)))
        if opcode == "xor":
            return c.add("and", c.add("or", a, b), c.add("not", c.add("and", a, b)))
        return c.add(opcode, a, b)

    def body(self, opcode: str, element_type: ElementType, plain: bool = True) -> HloComputation:
        """opcode(a, b) of two scalars, as reductions take."""
        computation = HloComputation(f"{opcode}_{element_type}")
        a, b = (computation.parameter(n, Shape(element_type)) for n in range(2))
        computation.set_root(self.combine(computation, opcode, a, b, plain and element_type is not POWERS))
        return self.module.add_computation(computation)

    def bodies(self, opcodes: Sequence[str], values: Sequence[Value]) -> HloComputation:
        """A body of several accumulators, each with its own op."""
        if len(opcodes) == 1:
            return self.body(opcodes[0], values[0].type, values[0].is_usual)
        computation = HloComputation("combine")
        shapes = [Shape(v.type) for v in values]
        left = [computation.parameter(i, s) for i, s in enumerate(shapes)]
        right = [computation.parameter(len(shapes) + i, s) for i, s in enumerate(shapes)]
        parts = [
            self.combine(computation, o, a, b, v.is_usual and v.type is not POWERS)
            for o, a, b, v in zip(opcodes, left, right, values, strict=True)
        ]
        computation.set_root(computation.add("tuple", *parts))
        return self.module.add_computation(computation)

    def combined(self, made: HloInstruction, x: Value, start: Value, opcode: str, count: int) -> Value | None:
        """Keeps a value that combines up to `count` elements of x and an initial value."""
        if not x.rounds:
            small = {"add": count * x.bound + start.bound, "maximum": max(x.bound, start.bound),
                     "minimum": max(x.bound, start.bound)}  # fmt: skip
            return self.keep(made, small.get(opcode, float("inf")))
        if opcode == "add":
            return self.keep(made, *self.summed(x, count, start.bound))
        return self.keep_like(made, Value(x.instruction, x.bound, x.error, x.grid), Value(made, start.bound, 0.0, 2))
