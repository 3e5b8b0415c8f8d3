"""Random modules, and a run of a module that computes names of values instead of values.

`run_functionally` follows the graph; `run_in_memory` follows the schedule and reads and writes the buffers that were
assigned, byte by byte. Where the two differ, something was overwritten too early.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence

import numpy as np

from xla_core.analysis import BufferAssignment
from xla_core.analysis.buffer_assignment import AllocationKind
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape

F4 = Shape.array(ElementType.F32, (4,))
F8 = Shape.array(ElementType.F32, (8,))
S32 = Shape.array(ElementType.S32)
PRED = Shape.array(ElementType.PRED)


def _hash(*parts: object) -> int:
    return zlib.crc32(repr(parts).encode()) + 1


class _Choices:
    """How often each loop runs and which branch is taken, the same in both ways to run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def trips(self) -> int:
        return self._random.randrange(4)

    def branch(self, count: int) -> int:
        return self._random.randrange(count)


def _compute(instruction: HloInstruction, operands: Sequence[list[int]], leaf: int) -> int:
    if instruction.opcode == "constant":
        return _hash("constant", instruction.literal.array.tobytes())
    if instruction.opcode == "copy":
        return operands[0][0]
    return _hash(instruction.opcode, [v for o in operands for v in o], leaf)


def _leaf_range(instruction: HloInstruction) -> tuple[int, int]:
    shapes = instruction.operand(0).shape.tuple_shapes
    first = sum(len(list(s.leaves())) for s in shapes[: instruction.tuple_index])
    return first, first + len(list(shapes[instruction.tuple_index].leaves()))


def run_functionally(module: HloModule, arguments: list[list[int]], seed: int) -> list[int]:
    choices = _Choices(seed)

    def run(computation: HloComputation, arguments: Sequence[list[int]]) -> list[int]:
        values: dict[HloInstruction, list[int]] = dict(zip(computation.parameters, arguments, strict=True))
        # The data that decides a random choice must come in the same order in both runs.
        for i in order(computation):
            operands = [values[o] for o in i.operands]
            match i.opcode:
                case "parameter":
                    pass
                case "tuple":
                    values[i] = [v for o in operands for v in o]
                case "get-tuple-element":
                    values[i] = operands[0][slice(*_leaf_range(i))]
                case "bitcast" | "opt-barrier":
                    values[i] = operands[0]
                case "while":
                    state = operands[0]
                    for _ in range(choices.trips()):
                        run(i.attributes["condition"], [state])
                        state = run(i.attributes["body"], [state])
                    run(i.attributes["condition"], [state])
                    values[i] = state
                case "conditional":
                    branches = branch_computations(i.attributes)
                    taken = choices.branch(len(branches))
                    values[i] = run(branches[taken], [operands[1 + taken]])
                case "call":
                    values[i] = run(i.attributes["to_apply"], operands)
                case _:
                    values[i] = [_compute(i, operands, leaf) for leaf, _ in enumerate(i.shape.leaves())]
        return values[computation.root]

    schedule = module.schedule

    def order(computation: HloComputation) -> Sequence[HloInstruction]:
        return schedule[computation] if schedule is not None else computation.post_order()

    return run(module.entry, arguments)


def run_in_memory(assignment: BufferAssignment, arguments: list[list[int]], seed: int) -> list[int]:
    module, choices = assignment.module, _Choices(seed)
    assert module.schedule is not None
    memory = {a.index: np.zeros(a.size, np.int64) for a in assignment.allocations}
    for allocation in assignment.allocations:
        if allocation.kind is AllocationKind.CONSTANT:
            memory[allocation.index][:] = _compute(allocation.constant, [], 0)
    for parameter, values in zip(module.entry.parameters, arguments, strict=True):
        for place, value in zip(assignment.leaf_slices(parameter), values, strict=True):
            memory[place.allocation.index][:] = value

    def read(instruction: HloInstruction) -> list[int]:
        found = []
        for place in assignment.leaf_slices(instruction):
            data = memory[place.allocation.index][place.offset : place.offset + place.size]
            assert data.min() == data.max(), f"{instruction.name} was overwritten in part"
            found.append(int(data[0]))
        return found

    def run(computation: HloComputation) -> None:
        for i in module.schedule[computation]:
            match i.opcode:
                case "parameter" | "tuple" | "get-tuple-element" | "bitcast" | "opt-barrier" | "constant":
                    pass
                case "while":
                    for _ in range(choices.trips()):
                        run(i.attributes["condition"])
                        run(i.attributes["body"])
                    run(i.attributes["condition"])
                case "conditional":
                    branches = branch_computations(i.attributes)
                    run(branches[choices.branch(len(branches))])
                case "call":
                    run(i.attributes["to_apply"])
                case _:
                    operands = [read(o) for o in i.operands]
                    for leaf, place in enumerate(assignment.leaf_slices(i)):
                        data = memory[place.allocation.index]
                        data[place.offset : place.offset + place.size] = _compute(i, operands, leaf)

    run(module.entry)
    return read(module.entry.root)


class ModuleMaker:
    """A module of random instructions, with loops, conditionals, calls, in-place updates and donation."""

    def __init__(self, rng: random.Random, size: int = 8) -> None:
        self.rng = rng
        self.size = size
        self.module = HloModule("random")
        self.count = 0

    def make(self) -> HloModule:
        shapes = [self.rng.choice([F4, F8, S32]) for _ in range(self.rng.randint(1, 4))]
        entry = self._computation([*shapes], 0, None)
        self.module.add_computation(entry, entry=True)
        self._donate()
        return self.module

    def _donate(self) -> None:
        results = list(enumerate(self.module.entry.root.shape.tuple_shapes))
        self.rng.shuffle(results)
        for parameter in self.module.entry.parameters:
            for place, (index, shape) in enumerate(results):
                if shape == parameter.shape and self.rng.random() < 0.5:
                    self.module.input_output_aliases.append(InputOutputAlias((index,), parameter.parameter_number))
                    del results[place]
                    break

    def _computation(self, parameters: Sequence[Shape], depth: int, results: Sequence[Shape] | None) -> HloComputation:
        self.count += 1
        computation = HloComputation(f"c{self.count}")
        values = []
        for n, shape in enumerate(parameters):
            parameter = computation.parameter(n, shape)
            values += (
                [computation.add("get-tuple-element", parameter, index=k) for k in range(len(shape.tuple_shapes))]
                if shape.is_tuple
                else [parameter]
            )
        for _ in range(self.rng.randint(0, self.size)):
            values += self._instruction(computation, values, depth)
        if results is None:
            results = [self.rng.choice(values).shape for _ in range(self.rng.randint(1, 4))] if values else []
        root = computation.add("tuple", *[self._pick(computation, values, shape) for shape in results])
        computation.set_root(root)
        return computation

    def _pick(self, computation: HloComputation, values: Sequence[HloInstruction], shape: Shape) -> HloInstruction:
        found = [v for v in values if v.shape.compatible(shape)]
        if found and self.rng.random() < 0.95:
            return self.rng.choice(found)
        literal = Literal(np.full(shape.dimensions, self.rng.randrange(5)).astype(shape.dtype))
        return computation.add("constant", shape=shape, literal=literal)

    def _instruction(
        self, computation: HloComputation, values: Sequence[HloInstruction], depth: int
    ) -> list[HloInstruction]:
        kinds = ["add", "negate", "update", "constant", "barrier", "bitcast", "sort", "dot"]
        if depth < 3:
            kinds += ["while", "while", "conditional", "call"]
        shape = self.rng.choice([F4, F8, S32])
        match self.rng.choice(kinds):
            case "add":
                a, b = (self._pick(computation, values, shape) for _ in range(2))
                return [computation.add("add", a, b)]
            case "negate":
                return [computation.add("negate", self._pick(computation, values, shape))]
            case "update":
                a, b = self._pick(computation, values, F8), self._pick(computation, values, F4)
                return [computation.add("dynamic-update-slice", a, b, self._pick(computation, values, S32))]
            case "constant":
                return [self._pick(computation, [], shape)]
            case "barrier":
                return [computation.add("opt-barrier", self._pick(computation, values, shape))]
            case "bitcast":
                other = F4.with_dimensions((2, 2))
                first = computation.add("bitcast", self._pick(computation, values, F4), shape=other)
                return [computation.add("bitcast", first, shape=F4)]
            case "dot":
                return [computation.add("broadcast", self._pick(computation, values, S32), shape=S32, dimensions=())]
            case "sort":
                a, b = self._pick(computation, values, F8), self._pick(computation, values, F8)
                made = computation.add("sort", a, b, dimensions=(0,), is_stable=False, to_apply=self._comparator())
                return [computation.add("get-tuple-element", made, index=k) for k in range(2)]
            case "while":
                return self._while(computation, values, depth)
            case "conditional":
                return self._conditional(computation, values, depth)
            case _:
                operands = [self._pick(computation, values, self.rng.choice([F4, F8])) for _ in range(2)]
                callee = self._computation([o.shape for o in operands], depth + 1, None)
                self.module.add_computation(callee)
                return self._elements(computation, computation.add("call", *operands, to_apply=callee))

    def _comparator(self) -> HloComputation:
        comparator = HloComputation("less")
        scalar = Shape.array(ElementType.F32)
        p = [comparator.parameter(n, scalar) for n in range(4)]
        comparator.add("compare", p[0], p[1], direction="LT")
        return self.module.add_computation(comparator)

    def _state(self, computation: HloComputation, values: Sequence[HloInstruction]) -> HloInstruction:
        shapes = [self.rng.choice([F4, F8, S32]) for _ in range(self.rng.randint(1, 4))]
        return computation.add("tuple", *[self._pick(computation, values, s) for s in shapes])

    def _while(self, computation: HloComputation, values: Sequence[HloInstruction], depth: int) -> list[HloInstruction]:
        state = self._state(computation, values)
        body = self._computation([state.shape], depth + 1, state.shape.tuple_shapes)
        condition = HloComputation(f"condition{self.count}")
        parameter = condition.parameter(0, state.shape)
        elements = self._elements(condition, parameter)
        scalar = self._pick(condition, elements, S32)
        condition.set_root(condition.add("compare", scalar, self._pick(condition, elements, S32), direction="LT"))
        for c in (body, condition):
            self.module.add_computation(c)
        return self._elements(computation, computation.add("while", state, condition=condition, body=body))

    def _conditional(
        self, computation: HloComputation, values: Sequence[HloInstruction], depth: int
    ) -> list[HloInstruction]:
        operands = [self._state(computation, values)]
        operands.append(operands[0] if self.rng.random() < 0.7 else self._state(computation, values))
        first = self._computation([operands[0].shape], depth + 1, None)
        second = self._computation([operands[1].shape], depth + 1, first.root.shape.tuple_shapes)
        for c in (first, second):
            self.module.add_computation(c)
        scalar = self._pick(computation, values, S32)
        predicate = computation.add("compare", scalar, scalar, direction="LT")
        made = computation.add("conditional", predicate, *operands, true_computation=first, false_computation=second)
        return self._elements(computation, made)

    def _elements(self, computation: HloComputation, value: HloInstruction) -> list[HloInstruction]:
        return [computation.add("get-tuple-element", value, index=k) for k in range(len(value.shape.tuple_shapes))]
