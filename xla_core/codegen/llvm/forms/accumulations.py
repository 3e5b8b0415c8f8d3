"""What tiles accumulate: columns of reductions, products, convolutions and windows."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.elements.contraction import ConvolutionForm, DotForm, ProductSum
from xla_core.codegen.llvm.elements.fused import FusedIrEmitter
from xla_core.codegen.llvm.elements.reduce_window import WindowForm
from xla_core.codegen.llvm.elements.reductions import Reducer, operand_index
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.index import Digit, Index, merge_digits
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

_UNROLL = 4

Step = Callable[[Index, list[Value]], Sequence[Value]]
"""(index of the result, accumulators) -> the accumulators after one step."""

Run = Callable[[Step], None]
"""Applies a step to the whole tile."""


class Accumulation(abc.ABC):
    """An instruction whose result is accumulated in tiles."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        self.f = f
        self.instruction = instruction
        self.dims = next(instruction.shape.leaves()).dimensions

    @abc.abstractmethod
    def start(self) -> list[Value]:
        """Returns the accumulators' first values."""

    @abc.abstractmethod
    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """Opens the loops over the accumulated dimensions, and runs the steps inside.

        `prefix` is the index of the result without the digit of the tile.
        """

    @abc.abstractmethod
    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """Returns the elements of the result's leaves."""

    @staticmethod
    @abc.abstractmethod
    def fits(instruction: HloInstruction) -> bool:
        """Returns whether an instruction can be accumulated in this way."""

    def major(self, prefix: Sequence[Digit]) -> Index:
        """Returns the index without the minor dimension. If that is split, its major part remains as the last digit."""
        rows = math.prod(self.dims[:-1])
        return Index((*self.dims[:-1], math.prod(d.extent for d in prefix) // rows), prefix)


def unrolled(
    f: FusedIrEmitter,
    space: Hashable,
    extent: int,
    run: Run,
    step: Callable[[list[Digit], Index, list[Value]], list[Value]],
) -> None:
    """Runs `step` for every point of a space, several points in each pass over the tile."""
    context, b = f.context, f.b
    if context.extents(space, extent) != [extent] or extent < 2 * _UNROLL:

        def one(digits: list[Digit]) -> None:
            run(lambda index, values: step(digits, index, values))

        context.each_point(space, extent, one)
        return
    rounds = extent // _UNROLL

    def steps(points: Sequence[Digit]) -> Step:
        def all_steps(place: Index, values: list[Value]) -> Sequence[Value]:
            for point in points:
                values = step([point], place, values)
            return values

        return all_steps

    def several(index: Value) -> None:
        base = b.mul(index, b.int_(_UNROLL), "nuw nsw")
        run(steps([Digit(b.add(base, b.int_(n), "nuw nsw"), extent, b.level, loop=(space, 0)) for n in range(_UNROLL)]))

    context.each(b.int_(0), b.int_(rounds), several, name="block")
    for rest in range(rounds * _UNROLL, extent):
        run(steps([Digit(b.int_(rest), extent, 0, loop=(space, 0))]))


class _Reduction(Accumulation):
    """Accumulates by the body of a reduction."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.reducer = Reducer(f, instruction)

    def start(self) -> list[Value]:
        return self.reducer.start()

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        return self.reducer.leave(registers)


class _Product(Accumulation):
    """Accumulates products of two operands' elements."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.total = ProductSum(f, instruction)

    def start(self) -> list[Value]:
        return self.total.zero()

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        return [self.total.finish(registers)]


class ColumnReduction(_Reduction):
    """A reduce that keeps its operand's minor dimension."""

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        f, reducer = self.f, self.reducer
        reduced, dims = reducer.reduced, reducer.dimensions

        def step(digits: list[Digit], index: Index, values: list[Value]) -> list[Value]:
            place = operand_index(f, dims, reduced, index, Index([dims[d] for d in reduced], digits))
            return reducer.combine(values, reducer.enter([f.value(o, place) for o in reducer.operands]))

        unrolled(f, ("reduce", self.instruction), reducer.extent, run, step)

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        dims = instruction.operand(0).shape.dimensions
        reduced = [d for d in instruction.attribute("dimensions") if dims[d] > 1]
        kept = [d for d in range(len(dims)) if dims[d] > 1 and d not in reduced]
        return bool(reduced) and bool(kept) and kept[-1] > max(reduced)


class Dot(_Product):
    """A dot whose right side's free dimension is minor."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form = DotForm(instruction)

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        f, form = self.f, self.form

        def step(digits: list[Digit], index: Index, values: list[Value]) -> list[Value]:
            lhs, rhs = form.indices(f, index, Index(form.contracted, digits))
            return self.total.add(values, f.value(form.lhs, lhs), f.value(form.rhs, rhs))

        if form.extent:
            unrolled(f, ("dot", self.instruction), form.extent, run, step)

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        form = DotForm(instruction)
        return form.extent > 1 and form.rhs_free_is_minor


class Convolution(_Product):
    """A convolution. The tile is along the last dimension of the result."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form = ConvolutionForm(instruction)

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        f, form, b = self.f, self.form, self.f.b
        context, last = f.context, len(self.dims) - 1
        if not form.features or not math.prod(form.taps) or not form.lhs.shape.num_elements:
            return
        before = self.major(prefix)
        outputs = {s: before.component(b, d) for s, d in enumerate(form.labels.output_spatial) if d != last}

        def over_taps(taps: list[Digit], places: list[Digit | None], inside: Value) -> None:
            spatial = len(taps)
            if spatial == len(form.taps):
                context.when(inside, lambda: over_features(taps, places))
                return

            def step(digits: list[Digit]) -> None:
                tap = merge_digits(b, digits)
                place, fits = None, b.bool_(True)
                if spatial in outputs:
                    place, fits = form.position(f, outputs[spatial], tap, spatial)
                over_taps([*taps, tap], [*places, place], b.and_(inside, fits))

            context.each_point(("tap", self.instruction, spatial), form.taps[spatial], step, name="tap")

        def over_features(taps: list[Digit], places: list[Digit | None]) -> None:
            def step(digits: list[Digit], index: Index, values: list[Value]) -> list[Value]:
                feature, inside, found = merge_digits(b, digits), b.bool_(True), []
                for spatial, place in enumerate(places):
                    if place is None:
                        own = index.component(b, last)
                        place, inside = form.position(f, own, taps[spatial], spatial)
                    found.append(place)
                lhs, rhs = form.indices(f, index, found, taps, feature)

                def add() -> list[Value]:
                    return self.total.add(values, f.value(form.lhs, lhs), f.value(form.rhs, rhs))

                return context.choose(inside, add, lambda: values)

            unrolled(f, ("feature", self.instruction), form.features, run, step)

        over_taps([], [], b.bool_(True))

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        return True


class MajorWindow(_Reduction):
    """A reduce-window whose window doesn't cover the minor dimension."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form = WindowForm(instruction)

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        f, form, b = self.f, self.form, self.f.b
        before = self.major(prefix)
        outputs = [before.component(b, d) for d in range(len(self.dims) - 1)]

        def over(taps: list[Digit], places: list[Digit], inside: Value) -> None:
            dimension = len(taps)
            if dimension == len(self.dims) - 1:

                def step(index: Index, values: list[Value]) -> Sequence[Value]:
                    last = index.component(b, dimension)
                    elements = form.elements(f, self.reducer, [*places, last], inside)
                    return self.reducer.combine(values, elements)

                run(step)
                return

            def one(digits: list[Digit]) -> None:
                tap = merge_digits(b, digits)
                place, fits = form.position(f, dimension, outputs[dimension], tap)
                over([*taps, tap], [*places, place], b.and_(inside, fits))

            f.context.each_point(
                ("window", self.instruction, dimension), form.window[dimension].size, one, name="window"
            )

        over([], [], b.bool_(True))

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        window = instruction.attribute("window")
        return bool(window) and WindowForm(instruction).is_trivial(len(window) - 1)


ACCUMULATIONS: dict[Opcode, type[Accumulation]] = {
    Opcode.REDUCE: ColumnReduction,
    Opcode.DOT: Dot,
    Opcode.CONVOLUTION: Convolution,
    Opcode.REDUCE_WINDOW: MajorWindow,
}
