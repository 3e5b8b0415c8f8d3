"""Tiles: kernels whose accumulators are a tile of the result's minor dimension, kept in the innermost loop.

What is summed is walked outside of that loop: each step reads a contiguous piece of the operand and updates the whole
tile, which stays in the nearest cache. So are reductions of columns, windows over major dimensions, products of
matrices whose right side is row-major, and convolutions whose features (or pixels) are minor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

from xla_core.codegen.llvm.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.contraction import ConvolutionForm, DotForm, ProductSum
from xla_core.codegen.llvm.fused import Binding, FusedIrEmitter
from xla_core.codegen.llvm.index import Digit, Index, merge_digits
from xla_core.codegen.llvm.ir_array import ElementValue
from xla_core.codegen.llvm.ir_module import Value
from xla_core.codegen.llvm.kernel import Hero, KernelBody, Plan
from xla_core.codegen.llvm.partition import Partition, unit_digits
from xla_core.codegen.llvm.reduce_window import WindowForm
from xla_core.codegen.llvm.reductions import Reducer, operand_index
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait

__all__ = ["TILES"]

_TILE = 512  # elements of a tile: a few kilobytes
_LEAST = 4  # minor dimensions below this are not worth a tile
_UNROLL = 4

Step = Callable[[Index, list[Value]], Sequence[Value]]
"""(result index, accumulators) -> accumulators after one step."""

Run = Callable[[Step], None]
"""Applies a step to the whole tile."""


class Accumulation:
    """One instruction whose result a tile accumulates."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        self.f = f
        self.instruction = instruction
        self.dims = next(instruction.shape.leaves()).dimensions

    def start(self) -> list[Value]:
        """The accumulators' first values."""
        raise NotImplementedError

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """Opens the loops over what is accumulated, and runs the steps.

        `prefix` is the result's index but for the tile's digit.
        """
        raise NotImplementedError

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """The elements of the result's leaves."""
        raise NotImplementedError

    def major(self, prefix: Sequence[Digit]) -> Index:
        """The index of all but the minor dimension. Where that one is cut, its major part stands last."""
        rows = math.prod(self.dims[:-1])
        return Index((*self.dims[:-1], math.prod(d.extent for d in prefix) // rows), prefix)


def unrolled(
    f: FusedIrEmitter,
    space: Hashable,
    extent: int,
    run: Run,
    step: Callable[[list[Digit], Index, list[Value]], list[Value]],
) -> None:
    """Runs `step` for every point of a space, several of them in each pass over the tile."""
    context, b = f.context, f.b
    if context.extents(space, extent) != [extent] or extent < 2 * _UNROLL:

        def one(digits: list[Digit], _: list[Value]) -> Sequence[Value]:
            run(lambda index, values: step(digits, index, values))
            return ()

        context.nest(space, extent, one)
        return
    rounds = extent // _UNROLL

    def several(index: Value, _: list[Value]) -> Sequence[Value]:
        base = b.mul(index, b.int_(_UNROLL), "nuw nsw")
        points = [Digit(b.add(base, b.int_(n), "nuw nsw"), extent, b.level, loop=(space, 0)) for n in range(_UNROLL)]

        def all_steps(place: Index, values: list[Value]) -> Sequence[Value]:
            for point in points:
                values = list(step([point], place, values))
            return values

        run(all_steps)
        return ()

    context.loop(b.int_(0), b.int_(rounds), several, name="block")
    for rest in range(rounds * _UNROLL, extent):
        point = Digit(b.int_(rest), extent, 0, loop=(space, 0))
        run(lambda index, values, point=point: step([point], index, values))  # type: ignore[misc]


class ColumnReduction(Accumulation):
    """A reduce that keeps its operand's minor dimension."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        count = len(instruction.operands) // 2
        self.operands, self.inits = instruction.operands[:count], instruction.operands[count:]
        self.reducer = Reducer(f, instruction)

    def start(self) -> list[Value]:
        """See Accumulation."""
        return self.reducer.start()

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """See Accumulation."""
        f, reducer = self.f, self.reducer
        reduced, dims = reducer.reduced, reducer.dimensions

        def step(digits: list[Digit], index: Index, values: list[Value]) -> list[Value]:
            place = operand_index(f, dims, reduced, index, Index([dims[d] for d in reduced], digits))
            return reducer.combine(values, reducer.enter([f.value(o, place) for o in self.operands]))

        unrolled(f, ("reduce", self.instruction), reducer.extent, run, step)

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """See Accumulation."""
        return self.reducer.leave(registers)

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        """Whether the form is right for an instruction."""
        dims = instruction.operand(0).shape.dimensions
        reduced = [d for d in instruction.attribute("dimensions") if dims[d] > 1]
        kept = [d for d in range(len(dims)) if dims[d] > 1 and d not in reduced]
        return bool(reduced) and bool(kept) and kept[-1] > max(reduced)


class Dot(Accumulation):
    """A dot whose right side's free dimension is minor."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form, self.total = DotForm(instruction), ProductSum(f, instruction)

    def start(self) -> list[Value]:
        """See Accumulation."""
        return self.total.zero()

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """See Accumulation."""
        f, form = self.f, self.form

        def step(digits: list[Digit], index: Index, values: list[Value]) -> list[Value]:
            lhs, rhs = form.indices(f, index, Index(form.contracted, digits))
            return self.total.add(values, f.value(form.lhs, lhs), f.value(form.rhs, rhs))

        if form.extent:
            unrolled(f, ("dot", self.instruction), form.extent, run, step)

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """See Accumulation."""
        return [self.total.finish(registers)]

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        """Whether the form is right for an instruction."""
        form = DotForm(instruction)
        return form.extent > 1 and form.rhs_free_is_minor


class Convolution(Accumulation):
    """A convolution, its tile along the result's last dimension."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form, self.total = ConvolutionForm(instruction), ProductSum(f, instruction)

    def start(self) -> list[Value]:
        """See Accumulation."""
        return self.total.zero()

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """See Accumulation."""
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

            def step(digits: list[Digit], _: list[Value]) -> Sequence[Value]:
                tap = merge_digits(b, digits)
                place, fits = None, b.bool_(True)
                if spatial in outputs:
                    place, fits = form.position(f, outputs[spatial], tap, spatial)
                over_taps([*taps, tap], [*places, place], b.and_(inside, fits))
                return ()

            context.nest(("tap", self.instruction, spatial), form.taps[spatial], step, name="tap")

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

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """See Accumulation."""
        return [self.total.finish(registers)]

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        """Whether the form is right for an instruction."""
        return True


class MajorWindow(Accumulation):
    """A reduce-window whose window doesn't cover the minor dimension."""

    def __init__(self, f: FusedIrEmitter, instruction: HloInstruction) -> None:
        super().__init__(f, instruction)
        self.form = WindowForm(instruction)
        self.reducer = Reducer(f, instruction)

    def start(self) -> list[Value]:
        """See Accumulation."""
        return self.reducer.start()

    def walk(self, prefix: Sequence[Digit], run: Run) -> None:
        """See Accumulation."""
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

            def one(digits: list[Digit], _: list[Value]) -> Sequence[Value]:
                tap = merge_digits(b, digits)
                place, fits = form.position(f, dimension, outputs[dimension], tap)
                over([*taps, tap], [*places, place], b.and_(inside, fits))
                return ()

            f.context.nest(("window", self.instruction, dimension), form.window[dimension].size, one, name="window")

        over([], [], b.bool_(True))

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """See Accumulation."""
        return self.reducer.leave(registers)

    @staticmethod
    def fits(instruction: HloInstruction) -> bool:
        """Whether the form is right for an instruction."""
        window = instruction.attribute("window")
        return bool(window) and WindowForm(instruction).is_trivial(len(window) - 1)


_KINDS: dict[str, type[Accumulation]] = {
    "reduce": ColumnReduction,
    "dot": Dot,
    "convolution": Convolution,
    "reduce-window": MajorWindow,
}


def _accumulated(body: KernelBody) -> list[HloInstruction]:
    """What the roots are elementwise functions of, where tiles can accumulate all of it; else nothing."""
    found: dict[HloInstruction, None] = {}
    dims = next(body.roots[0].shape.leaves()).dimensions
    stack, seen = list(body.roots), set(body.roots)
    inputs: set[HloInstruction] = set()
    if body.instruction.opcode != "fusion":
        inputs = set(body.instruction.operands)
    while stack:
        instruction = stack.pop()
        if instruction in inputs or instruction.opcode == "parameter":
            continue
        leaf = next(instruction.shape.leaves(), None)
        if instruction.opcode in _KINDS and leaf is not None and leaf.dimensions == dims:
            found[instruction] = None
            continue
        walks = Trait.ELEMENTWISE in instruction.op.traits or instruction.opcode in ("get-tuple-element", "tuple")
        for operand in instruction.operands if walks and instruction.opcode != "bitcast-convert" else ():
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return list(found)


def _matches(body: KernelBody) -> bool:
    if body.abi.flatten:
        return False
    leaves = [leaf for root in body.roots for leaf in root.shape.leaves()]
    dims = leaves[0].dimensions
    if not dims or dims[-1] < _LEAST or math.prod(dims) == 0:
        return False
    if any(leaf.dimensions != dims or not (leaf.layout is None or leaf.layout.is_row_major) for leaf in leaves):
        return False
    found = _accumulated(body)
    return bool(found) and all(_KINDS[i.opcode].fits(i) for i in found)  # type: ignore[attr-defined]


def _partition(body: KernelBody) -> Partition:
    dims = next(body.roots[0].shape.leaves()).dimensions
    space = ("kernel", 0)
    last = _tile_dimensions(body, dims)
    outer = math.prod(dims[: len(dims) - last])
    extents = body.spaces.setdefault(space, [outer, math.prod(dims[len(dims) - last :])])
    return Partition(space, extents, tile=_TILE)


def _tile_dimensions(body: KernelBody, dims: Sequence[int]) -> int:
    """How many of the last dimensions the tile may run over: those below all reduced ones, for reductions."""
    found = _accumulated(body)
    if any(i.opcode != "reduce" for i in found):
        return 1
    count = len(dims)
    for instruction in found:
        operand_dims = instruction.operand(0).shape.dimensions
        reduced = max(d for d in instruction.attribute("dimensions") if operand_dims[d] > 1)
        count = min(
            count, sum(1 for d in range(reduced + 1, len(operand_dims)) if d not in instruction.attribute("dimensions"))
        )
    return max(count, 1)


def _plan(body: KernelBody) -> Plan:
    partition = _partition(body)
    return Plan(partition.count, 1)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    b, partition = context.builder, _partition(body)
    dims = next(body.roots[0].shape.leaves()).dimensions
    accumulations = [_KINDS[i.opcode](fused, i) for i in _accumulated(body)]
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    prefix, chunk = unit_digits(context, loop.index, partition)
    first, limit = chunk or (b.int_(0), b.int_(partition.extents[-1]))
    last = len(partition.extents) - 1
    starts = [a.start() for a in accumulations]
    space = abi_space(body)
    tiles = [[b.alloca(v.type, partition.chunk, align=64, address_space=space) for v in start] for start in starts]

    def over_tile(visit: Callable[[Index, Value], None]) -> None:
        def one(index: Value, _: list[Value]) -> Sequence[Value]:
            digit = Digit(index, partition.extents[-1], b.level, loop=(partition.space, last))
            visit(Index(dims, [*prefix, digit]), b.sub(index, first, "nuw nsw"))
            return ()

        context.loop(first, limit, one, name="tile", metadata=minor_loop_metadata(partition.chunk))

    def initialize(_: Index, slot: Value) -> None:
        for start, tile in zip(starts, tiles, strict=True):
            for value, memory in zip(start, tile, strict=True):
                b.store(value, b.gep(value.type, memory, slot))

    over_tile(initialize)
    for accumulation, start, tile in zip(accumulations, starts, tiles, strict=True):

        def run(step: Step, start: list[Value] = start, tile: list[Value] = tile) -> None:
            def visit(index: Index, slot: Value) -> None:
                places = [b.gep(v.type, memory, slot) for v, memory in zip(start, tile, strict=True)]
                values = [b.load(v.type, place) for v, place in zip(start, places, strict=True)]
                for value, place in zip(step(index, values), places, strict=True):
                    b.store(value, place)

            over_tile(visit)

        accumulation.walk(prefix, run)

    def store(index: Index, slot: Value) -> None:
        bindings: dict[HloInstruction, Binding | list[Binding]] = dict(body.bindings)
        for accumulation, start, tile in zip(accumulations, starts, tiles, strict=True):
            loaded = [b.load(v.type, b.gep(v.type, memory, slot)) for v, memory in zip(start, tile, strict=True)]
            bindings[accumulation.instruction] = list(accumulation.finish(loaded))
        emitter = FusedIrEmitter(context, bindings, b.level)
        results = iter(body.results)
        values = [value for root in body.roots for value in emitter.values(root, index)]
        for value in values:
            next(results).store(b, index, value)

    over_tile(store)
    context.close_loop(loop)


def abi_space(body: KernelBody) -> int:
    """The address space of stack memory."""
    return body.abi.stack_address_space


TILES = Hero(_matches, _plan, _emit)
