"""Dataflow and live ranges of values (XLA: xla/hlo/analysis/hlo_dataflow_analysis.h, hlo_live_range.h).

All instructions get a time on one line: a computation that control flow calls is inlined at its call site. Every
array, token or opaque leaf that an instruction defines is an `HloValue`. tuple, get-tuple-element, bitcast,
opt-barrier, call and the parameters of branches define no values; they forward the values of their operands. A
loop-carried leaf has a phi value at the start of the loop, unless the body returns the leaf unchanged: then the initial
value is forwarded.

An `AliasEdge` records that two values must share a buffer: a loop's initial value and its phi, for example.
`buffer_classes` joins such values, and `copy_insertion` inserts a copy where they can't be joined.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.analysis.alias_edge import AliasEdge, EdgeKind
from xla_core.analysis.control_flow import called_twice, control_flow_callees
from xla_core.analysis.hlo_value import BranchPath, HloValue, ShapeIndex, ValueKind
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode

_MAX_DEPTH = 150


class HloDataflowAnalysis:
    """The values of the entry and of all computations that control flow reaches.

    The order of instructions is that of `module.schedule`, else of each computation's post order.

    Attributes:
        values: all values that instructions define.
        edges: the pairs of values that must share a buffer.
        times: when each instruction runs.

    Raises:
        FailedPreconditionError: a computation is called from two places.
        ResourceExhaustedError: control flow is nested too deep.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.values: list[HloValue] = []
        self.edges: list[AliasEdge] = []
        self.times: dict[HloInstruction, int] = {}
        self._schedule = module.schedule
        self._positions: dict[HloInstruction, list[HloValue]] = {}
        self._walked: set[HloComputation] = set()
        self._clock = 0
        self._run()

    # -- asking --------------------------------------------------------------------------------------------------------

    def leaves(self, instruction: HloInstruction) -> list[HloValue]:
        """The value of each leaf of an instruction's shape, left to right."""
        found = self._positions[instruction]
        if any(v.forward is not None for v in found):
            found = self._positions[instruction] = [_resolve(v) for v in found]
        return found

    def value(self, instruction: HloInstruction, index: ShapeIndex = ()) -> HloValue:
        """The value of the leaf at `index`."""
        return self.leaves(instruction)[instruction.shape.leaf_number(index)]

    def __contains__(self, instruction: HloInstruction) -> bool:
        return instruction in self._positions

    # -- the walk ------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        entry = self.module.entry
        parameters = [self._define_all(p, ValueKind.PARAMETER) for p in entry.parameters]
        root = self._walk(entry, parameters, (), 0)
        end = self._tick()
        for value in root:
            _resolve(value).use(end, ())
        self._tick()
        outputs = self._define_all(entry.root, ValueKind.OUTPUT)
        aliased: dict[int, HloValue] = {}
        for alias in self.module.input_output_aliases:
            leaf = entry.root.shape.leaf_number(alias.output_index)
            shape = entry.parameters[alias.parameter_number].shape
            aliased[leaf] = parameters[alias.parameter_number][shape.leaf_number(alias.parameter_index)]
        for leaf, (value, output) in enumerate(zip(root, outputs, strict=True)):
            if leaf in aliased:
                self.edges.append(AliasEdge(EdgeKind.OUTPUT_ALIAS, aliased[leaf], output, entry.root, leaf, entry, 0))
            self.edges.append(AliasEdge(EdgeKind.OUTPUT, value, output, entry.root, leaf, entry, 0))
        self.edges = [dataclasses.replace(e, source=_resolve(e.source), target=_resolve(e.target)) for e in self.edges]
        self.values = [v for v in self.values if v.forward is None]

    def _walk(
        self, computation: HloComputation, arguments: Sequence[list[HloValue]], path: BranchPath, depth: int
    ) -> list[HloValue]:
        if computation in self._walked:
            raise called_twice(computation)
        self._walked.add(computation)
        if depth > _MAX_DEPTH:
            raise ResourceExhaustedError(f"control flow is nested more than {_MAX_DEPTH} deep at {computation.name}")
        schedule = self._schedule
        order = schedule[computation] if schedule is not None and computation in schedule else computation.post_order()
        positions = self._positions
        for parameter, argument in zip(computation.parameters, arguments, strict=True):
            positions[parameter] = argument
        for instruction in order:
            opcode = instruction.opcode
            if opcode == Opcode.PARAMETER:
                continue
            operands = [self.leaves(o) for o in instruction.operands]
            passed = _pass_through(instruction, operands)
            if passed is not None:
                self.times[instruction] = self._tick()
                positions[instruction] = passed
            elif opcode == Opcode.WHILE:
                positions[instruction] = self._while(instruction, operands[0], path, depth)
            elif opcode == Opcode.CONDITIONAL:
                positions[instruction] = self._conditional(instruction, operands, path, depth)
            elif opcode == Opcode.CALL:
                callee = instruction.attribute("to_apply")
                positions[instruction] = self._walk(callee, operands, path, depth + 1)
                self.times[instruction] = self._tick()
            elif instruction.op.result_at is not None:
                self._use_all(operands[0], path)
                self.times[instruction] = self._clock
                place = instruction.operand(0).shape.leaf_number(instruction.op.result_at)
                positions[instruction] = operands[0][place : place + instruction.shape.leaf_count]
            else:
                time = self.times[instruction] = self._tick()
                for operand in operands:
                    for value in operand:
                        value.use(time, path)
                kind = ValueKind.CONSTANT if opcode == Opcode.CONSTANT else ValueKind.INSTRUCTION
                positions[instruction] = self._define_all(instruction, kind)
                if instruction.op.operands_at is not None:
                    self._keep_operands(instruction, operands)
                elif opcode == Opcode.CUSTOM_CALL:
                    self._in_place_custom_call(instruction, operands, depth)
        return self.leaves(computation.root)

    def _while(self, loop: HloInstruction, init: list[HloValue], path: BranchPath, depth: int) -> list[HloValue]:
        condition, body = loop.attribute("condition"), loop.attribute("body")
        self._use_all(init, path)
        self._tick()
        phis = self._define_all(loop, ValueKind.PHI)
        self._use_all(self._walk(condition, [phis], path, depth + 1), path)
        for phi in phis:  # the loop may end after its condition, and the phis are its result then
            phi.use(self._clock, path)
        root = self._walk(body, [phis], path, depth + 1)
        self._use_all(root, path)
        body_end = self._clock
        self.times[loop] = self._tick()
        root = [_resolve(value) for value in root]
        results = self._define_all(loop, ValueKind.RESULT)
        for leaf, (before, phi, value, result) in enumerate(zip(init, phis, root, results, strict=True)):
            if value is phi:
                phi.forward = result.forward = before
                before.use(body_end, path)
                continue
            self.edges.append(AliasEdge(EdgeKind.LOOP_RESULT, phi, result, loop, leaf, body, depth + 1))
            self.edges.append(AliasEdge(EdgeKind.LOOP_ROOT, value, phi, loop, leaf, body, depth + 1))
            assert loop.parent is not None
            self.edges.append(AliasEdge(EdgeKind.LOOP_INIT, before, phi, loop, leaf, loop.parent, depth))
        return [_resolve(value) for value in results]

    def _conditional(
        self, conditional: HloInstruction, operands: list[list[HloValue]], path: BranchPath, depth: int
    ) -> list[HloValue]:
        for operand in operands:
            self._use_all(operand, path, tick=False)
        before = self._tick()
        roots = []
        for branch, argument in zip(control_flow_callees(conditional), operands[1:], strict=True):
            inside = (*path, (before, self._tick()))
            root = self._walk(branch, [argument], inside, depth + 1)
            self._use_all(root, inside)
            roots.append((branch, root))
        self.times[conditional] = self._tick()
        results = self._define_all(conditional, ValueKind.RESULT)
        for branch, root in roots:
            for leaf, (value, result) in enumerate(zip(root, results, strict=True)):
                self.edges.append(AliasEdge(EdgeKind.BRANCH_ROOT, value, result, conditional, leaf, branch, depth + 1))
        return results

    def _in_place_custom_call(self, call: HloInstruction, operands: list[list[HloValue]], depth: int) -> None:
        assert call.parent is not None
        for alias in call.attribute("output_to_operand_aliasing"):
            operand = alias.operand_number
            target = self._positions[call][call.shape.leaf_number(alias.output_index)]
            leaf = call.operand(operand).shape.leaf_number(alias.operand_index)
            source = operands[operand][leaf]
            self.edges.append(AliasEdge(EdgeKind.IN_PLACE, source, target, call, leaf, call.parent, depth, operand))

    def _keep_operands(self, start: HloInstruction, operands: list[list[HloValue]]) -> None:
        """Forwards the operands of a start op to the leaves of its result, so that they live until the done op.

        The other leaves have values of their own, such as the context and the token of a `send`.
        """
        assert start.op.operands_at is not None
        first = start.shape.leaf_number(start.op.operands_at)
        count = start.shape.subshape(start.op.operands_at).leaf_count
        passed = [value for operand in operands for value in operand]
        self._positions[start][first : first + count] = passed[:count]

    # -- small parts ---------------------------------------------------------------------------------------------------

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def _use_all(self, values: Sequence[HloValue], path: BranchPath, *, tick: bool = True) -> None:
        time = self._tick() if tick else self._clock + 1
        for value in values:
            _resolve(value).use(time, path)

    def _define_all(self, instruction: HloInstruction, kind: ValueKind) -> list[HloValue]:
        shape = instruction.shape
        if not shape.is_tuple:
            value = HloValue(len(self.values), kind, instruction, (), shape, self._clock)
            self.values.append(value)
            return [value]
        made = []
        for index, leaf in shape.indexed_leaves():
            made.append(HloValue(len(self.values), kind, instruction, index, leaf, self._clock))
            self.values.append(made[-1])
        return made


def _resolve(value: HloValue) -> HloValue:
    while value.forward is not None:
        value = value.forward
    return value


def _pass_through(instruction: HloInstruction, operands: list[list[HloValue]]) -> list[HloValue] | None:
    """The operands' values that an instruction forwards; None for an instruction that defines values."""
    match instruction.opcode:
        case Opcode.TUPLE:
            return [value for operand in operands for value in operand]
        case Opcode.GET_TUPLE_ELEMENT:
            shapes = instruction.operand(0).shape.tuple_shapes
            if not any(s.is_tuple for s in shapes):
                return [operands[0][instruction.tuple_index]]
            first = instruction.operand(0).shape.leaf_number((instruction.tuple_index,))
            return operands[0][first : first + shapes[instruction.tuple_index].leaf_count]
    return operands[0] if Trait.FORWARDING in instruction.op.traits else None
