"""Random HLO programs, with bounds on the difference of two right executions.

`RandomProgram(rng, size)` takes any `random.Random`: hypothesis' own, whose draws it can shrink, or a seeded one.
"""

from __future__ import annotations

import math
import random

import numpy as np

from tests.random_programs.bits import BitSteps
from tests.random_programs.bounds import Value, mantissa, value_range
from tests.random_programs.complex_steps import ComplexSteps
from tests.random_programs.indexing import IndexingSteps
from tests.random_programs.movement import MovementSteps
from tests.random_programs.products import ProductSteps
from tests.random_programs.rare import RareSteps
from tests.random_programs.reductions import ReductionSteps
from tests.random_programs.steps import POWERS
from tests.random_programs.structure import StructureSteps
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, InputOutputAlias, Layout, Shape

_T = ElementType
_NARROW = (_T.F8E5M2, _T.F8E4M3FN, _T.F8E4M3, _T.F8E3M4, _T.F8E4M3B11FNUZ, _T.F8E4M3FNUZ, _T.F8E5M2FNUZ, _T.F6E2M3FN,
           _T.F6E3M2FN, _T.F4E2M1FN, POWERS)  # fmt: skip
FLOATS = (_T.F32,) * 12 + (_T.F64,) * 5 + (_T.F16,) * 4 + (_T.BF16,) * 4 + _NARROW
WHOLE = (_T.S32,) * 4 + (_T.PRED,) * 3 + (_T.S8, _T.S16, _T.S64, _T.U8, _T.U16, _T.U32, _T.U64) * 2 + (_T.S4, _T.U4, _T.S2, _T.U2)  # fmt: skip
COMPLEX = (_T.C64, _T.C64, _T.C128)
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 33, 0)
LARGE = (1, 3, 16, 33, 64, 100, 128, 257, 512, 1000)
SPECIAL = (0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, -3.0, 2.0, 65504.0, 3e38, 1e-40)


class RandomProgram(
    ComplexSteps, ReductionSteps, ProductSteps, MovementSteps, IndexingSteps, BitSteps, RareSteps, StructureSteps
):
    """`module`, its `arguments()`, and the `results`, whose errors bound the difference.

    Args:
        size: how many steps; each adds an op, or the few that it takes to make its operands tame.
        strict: an op that rounds once gives the same numbers everywhere. False also allows what optimizers do to floating
            point (fused multiply-add, reassociation).
        types: that occur; all by default.
        without: names of kinds of steps (methods) that are left out.
    """

    all_types = tuple(t for t in ElementType if t.is_array)

    def __init__(
        self,
        rng: random.Random,
        size: int,
        strict: bool = True,
        types: tuple[ElementType, ...] = (),
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.rng, self.strict, self.without = rng, strict, without
        self.all_types = types or self.all_types
        large = rng.random() < 0.03
        self.max_elements, self.extents = (60_000, LARGE) if large else (1200, EXTENTS)
        self.module = HloModule("random")
        self.c = HloComputation("main")
        self.outer = []
        self.depth = 0
        self.values: list[Value] = []
        self.inputs: list[tuple[Shape, str]] = []
        self.parameter_count = 0
        for _ in range(rng.randint(1, 4)):
            self.new_parameter()
        self.steps(size // 4 + 2 if large else size)
        self.results = self.outputs()
        self.c.set_root(self.root())
        self.module.add_computation(self.c, entry=True)
        ending = rng.random()
        if ending < 0.2:
            self.alias()
        elif ending < 0.3:
            self.fix_layouts()

    # -- parameters ----------------------------------------------------------------------------------------------------

    def new_parameter(self) -> None:
        """Adds a parameter: an array, or a tuple of two arrays."""
        inputs = [self.new_input() for _ in range(1 if self.rng.random() < 0.9 else 2)]
        shapes = [shape for shape, _ in inputs]
        if len(shapes) == 1:
            parts = [self.c.parameter(self.parameter_count, shapes[0])]
        else:
            whole = self.c.parameter(self.parameter_count, Shape.tuple(shapes))
            parts = [self.c.add("get-tuple-element", whole, index=i) for i in range(2)]
        self.parameter_count += 1
        for part, (shape, kind) in zip(parts, inputs, strict=True):
            self.inputs.append((shape, kind))
            bound, grid = _known(shape.element_type, kind)
            self.values.append(Value(part, bound, 0.0, grid, bits=True))

    def new_input(self) -> tuple[Shape, str]:
        rng, draw = self.rng, self.rng.random()
        kinds = FLOATS if draw < 0.55 else WHOLE if draw < 0.9 else COMPLEX
        element_type = rng.choice([t for t in kinds if t in self.all_types])
        shape = Shape.array(element_type, self.dimensions())
        if element_type is ElementType.PRED or element_type is POWERS:
            return shape, "few"
        if element_type.is_integral:
            return shape, rng.choice(["few", "few", "few", "any", "ends"])
        if element_type.is_floating and rng.random() < 0.12:
            return shape, "special"
        wide = mantissa(element_type) > 6 and rng.random() < 0.25
        return shape, "real" if wide else "few"

    def dimensions(self) -> list[int]:
        sizes: list[int] = []
        for _ in range(self.rng.randint(0, 4)):
            size = self.rng.choice(self.extents)
            if math.prod(sizes) * size <= self.max_elements // 2:
                sizes.append(size)
        return sizes

    def arguments(self, seed: int) -> list[np.ndarray]:
        """Makes an array for every array among the parameters."""
        generator = np.random.default_rng(seed)
        special = SPECIAL if self.strict else SPECIAL[:-1]  # XLA flushes denormals
        return [_argument(generator, shape, kind, special) for shape, kind in self.inputs]

    # -- results -------------------------------------------------------------------------------------------------------

    def outputs(self) -> list[Value]:
        unused = [v for v in self.values if not v.instruction.user_count][-8:]
        return unused or self.values[-1:]

    def root(self) -> HloInstruction:
        """Returns the root: a single result, or a tuple of results, which may contain a tuple."""
        parts = [v.instruction for v in self.results]
        if len(parts) == 1 and self.rng.random() < 0.5:
            return parts[0]
        if len(parts) > 2 and self.rng.random() < 0.2:
            return self.c.add("tuple", parts[0], self.c.add("tuple", *parts[1:-1]), parts[-1])
        return self.c.add("tuple", *parts)

    def alias(self) -> None:
        """Donates parameters to results of their shapes."""
        root = self.c.root
        if root.opcode != "tuple" or any(o.shape.is_tuple for o in root.operands):
            return
        taken: set[int] = set()
        for index, result in enumerate(self.results):
            for number, parameter in enumerate(self.c.parameters):
                if number not in taken and parameter.shape.is_array and parameter.shape.compatible(result.shape):
                    taken.add(number)
                    alias = InputOutputAlias((index,), number, (), must_alias=self.rng.random() < 0.3)
                    self.module.input_output_aliases.append(alias)
                    break

    def fix_layouts(self) -> None:
        """Chooses layouts of some arguments and results."""
        self.module.entry_layouts_fixed = True
        for parameter in self.c.parameters:
            parameter.shape = self.permuted(parameter.shape)
        if self.c.root.opcode == "tuple":
            self.c.root.shape = self.permuted(self.c.root.shape)

    def permuted(self, shape: Shape) -> Shape:
        if shape.is_tuple:
            return Shape.tuple([self.permuted(s) for s in shape.tuple_shapes])
        order = list(range(shape.rank))
        self.rng.shuffle(order)
        return shape.with_layout(Layout(tuple(order)))


def _known(element_type: ElementType, kind: str) -> tuple[float, int | None]:
    """Returns the bound and the grid of an argument's elements."""
    if element_type is ElementType.PRED:
        return 1, 0
    if element_type is POWERS:
        return 4, None
    if element_type.is_integral:
        return (min(9, value_range(element_type)) if kind == "few" else value_range(element_type)), 0
    if kind == "special":
        return math.inf, None
    if kind == "real":
        return 4, None
    steps, grid = _grid(element_type)
    return steps / 2**grid, grid


def _grid(element_type: ElementType) -> tuple[int, int]:
    """Returns the number of multiples of 2^-grid above zero that a type holds, up to 16."""
    bits = mantissa(element_type)
    return min(16, 2**bits), 2 if bits >= 4 else 1


def _argument(generator: np.random.Generator, shape: Shape, kind: str, special: tuple[float, ...]) -> np.ndarray:
    size, element_type = shape.dimensions, shape.element_type
    if element_type is ElementType.PRED:
        array = generator.integers(0, 2, size)
    elif element_type is POWERS:
        array = 2.0 ** generator.integers(-2, 3, size)
    elif element_type.is_integral:
        top = int(value_range(element_type)) - 1
        low = -top - 1 if element_type.is_signed else 0
        if kind == "few":
            array = generator.integers(max(low, -9), min(top, 9) + 1, size)
        elif kind == "any":
            wide = np.uint64 if low == 0 else np.int64
            array = generator.integers(low, top, size, wide, endpoint=True)
        else:
            ends = np.asarray([low, top, top, 0, 1] + ([-1] if low else []), np.uint64 if low == 0 else np.int64)
            array = generator.choice(ends, size)
    elif kind == "special":
        array = generator.choice(special, size)
    elif kind == "real":
        array = generator.uniform(-4, 4, size)
        if element_type.is_complex:
            array = array + 1j * generator.uniform(-4, 4, size)
    else:
        steps, grid = _grid(element_type)
        array = generator.integers(-steps, steps + 1, size) / 2**grid
        if element_type.is_complex:
            array = array + 1j * generator.integers(-steps, steps + 1, size) / 2**grid
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(shape.dtype)
