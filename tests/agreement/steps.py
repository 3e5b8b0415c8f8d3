"""What the kinds of steps share: picking values, adding results, small computations."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.agreement.bounds import Value
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Shape

__all__ = ["Steps"]


class Steps:
    """A computation that grows by random steps."""

    MAX_ELEMENTS: int
    rng: random.Random
    module: HloModule
    c: HloComputation
    values: list[Value]
    depth: int

    def steps(self, count: int) -> None:
        kinds = self.kinds()
        for _ in range(count):
            self.rng.choice(kinds)()

    def kinds(self) -> list[Callable[[], None]]:
        return []

    # -- values --------------------------------------------------------------------------------------------------------

    def keep(self, instruction: HloInstruction, bound: float, error: float = 0.0, grid: int = 0) -> Value | None:
        """Adds a result, where it is small, tame and exact enough to go on with."""
        value = Value(instruction, bound, error, grid).settled()
        if value is None or instruction.shape.num_elements > self.MAX_ELEMENTS:
            return None  # what is left of it is dead code
        self.values.append(value)
        return value

    def pick(self, accept: Callable[[Value], bool] = lambda v: True) -> Value | None:
        """The newest more often: chains are where passes meet."""
        found = [v for v in self.values if accept(v)]
        if not found:
            return None
        return found[-1 - min(self.rng.randint(0, len(found) - 1), self.rng.randint(0, len(found) - 1))]

    def partner(self, x: Value, accept: Callable[[Value], bool] = lambda v: True) -> Value:
        """A value of x's shape: one that there is, or a new constant."""
        found = (
            self.pick(lambda v: v.shape == x.shape and v.is_usual and accept(v)) if self.rng.random() < 0.7 else None
        )
        return found or self.constant(x.shape)

    def constant(self, shape: Shape) -> Value:
        """Of one value, or of many."""
        element_type, shape = shape.element_type, shape.without_layout()
        if element_type is ElementType.PRED:
            choices = [0, 1]
        elif element_type.is_floating:
            choices = [0, 1, -1, 2, 0.5, 3, -0.25]
        elif element_type.is_signed:
            choices = [0, 1, -1, 2, 3, 7]
        else:
            choices = [0, 1, 2, 3, 7]
        if self.rng.random() < 0.5 or shape.num_elements > 64:
            number = self.rng.choice(choices)
            scalar = self.c.constant(np.asarray(number).astype(shape.dtype), Shape(element_type))
            made = scalar if not shape.rank else self.c.add("broadcast", scalar, shape=shape, dimensions=())
        else:
            numbers = [self.rng.choice(choices) for _ in range(shape.num_elements)]
            array = np.asarray(numbers, np.float64).astype(shape.dtype).reshape(shape.dimensions)
            made = self.c.constant(array, shape)
        return Value(made, 7, grid=2 if element_type.is_floating else 0)

    def scalar(self, value: float, element_type: ElementType) -> HloInstruction:
        return self.c.constant(np.asarray(value).astype(element_type.dtype), Shape(element_type))

    def same(self, opcode: str, instruction: HloInstruction, shape: Shape) -> HloInstruction:
        return self.c.add(opcode, instruction, shape=shape.without_layout())

    def body(self, opcode: str, element_type: ElementType) -> HloComputation:
        """opcode(a, b) of two scalars, as reductions take."""
        computation = HloComputation(f"{opcode}_{element_type}")
        a, b = (computation.parameter(n, Shape(element_type)) for n in range(2))
        operands = (a, b) if self.rng.random() < 0.8 else (b, a)
        computation.set_root(computation.add(opcode, *operands))
        return self.module.add_computation(computation)
