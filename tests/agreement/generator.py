"""Random HLO programs, with a bound of how far two right executions of one may be apart.

`RandomProgram(rng, size)` takes any `random.Random`: hypothesis' own, whose draws it can shrink, or a seeded one.
"""

from __future__ import annotations

import math
import random

import numpy as np

from tests.agreement.arithmetic import ArithmeticSteps
from tests.agreement.bounds import Value
from tests.agreement.movement import MovementSteps
from tests.agreement.structure import StructureSteps
from xla_core.hlo import ElementType, HloComputation, HloModule, Shape

__all__ = ["RandomProgram"]

FLOATS = (ElementType.F32, ElementType.F32, ElementType.F32, ElementType.F64, ElementType.F16, ElementType.BF16)
WHOLE = (ElementType.S32, ElementType.S32, ElementType.S8, ElementType.S64, ElementType.U8, ElementType.U32, ElementType.U16, ElementType.PRED)  # fmt: skip
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 33, 0)
SPECIAL = (0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, -3.0, 2.0)


class RandomProgram(ArithmeticSteps, MovementSteps, StructureSteps):
    """`module`, its `arguments()`, and the `results`, whose errors bound the difference."""

    MAX_ELEMENTS = 1200

    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.module = HloModule("random")
        self.c = HloComputation("main")
        self.depth = 0
        self.values: list[Value] = []
        self.inputs: list[tuple[Shape, str]] = []
        for _ in range(rng.randint(1, 4)):
            self.new_parameter()
        self.steps(size)
        self.results = self.outputs()
        self.c.set_root(self.c.add("tuple", *(v.instruction for v in self.results)))
        self.module.add_computation(self.c, entry=True)

    def new_parameter(self) -> None:
        rng = self.rng
        element_type = rng.choice(FLOATS if rng.random() < 0.6 else WHOLE)
        shape = Shape.array(element_type, self.dimensions())
        special = element_type.is_floating and rng.random() < 0.1
        self.inputs.append((shape, "special" if special else "usual"))
        parameter = self.c.parameter(len(self.inputs) - 1, shape)
        if special:
            self.values.append(Value(parameter, math.inf))
        elif element_type.is_floating:
            self.values.append(Value(parameter, 4, grid=2))
        else:
            self.values.append(Value(parameter, 1 if element_type is ElementType.PRED else 9))

    def dimensions(self) -> list[int]:
        sizes: list[int] = []
        for _ in range(self.rng.randint(0, 4)):
            size = self.rng.choice(EXTENTS)
            if math.prod(sizes) * size <= self.MAX_ELEMENTS // 2:
                sizes.append(size)
        return sizes

    def outputs(self) -> list[Value]:
        unused = [v for v in self.values if not v.instruction.user_count][-6:]
        return unused or self.values[-1:]

    def arguments(self, seed: int) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        arrays = []
        for shape, kind in self.inputs:
            size, element_type = shape.dimensions, shape.element_type
            if kind == "special":
                array = generator.choice(SPECIAL, size)
            elif element_type is ElementType.PRED:
                array = generator.integers(0, 2, size)
            elif element_type.is_floating:
                array = generator.integers(-16, 17, size) / 4
            else:
                array = generator.integers(-9 if element_type.is_signed else 0, 10, size)
            arrays.append(np.asarray(array).astype(shape.dtype))
        return arrays
