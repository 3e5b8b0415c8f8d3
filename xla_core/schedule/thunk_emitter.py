"""Emits thunks from a scheduled module with assigned buffers. This part is common to all backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.analysis import AllocationKind, BufferAllocation, BufferAssignment, BufferSlice, known_trip_count
from xla_core.errors import InternalError
from xla_core.hlo.evaluation.environment import Environment
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import has_side_effect
from xla_core.hlo.ir.extractor import extract_computation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.schedule.thunk import (
    CallThunk,
    CollectiveThunk,
    ConditionalThunk,
    CopyThunk,
    FillThunk,
    HostCallbackThunk,
    InfeedThunk,
    OutfeedThunk,
    RecvThunk,
    SendThunk,
    Thunk,
    ThunkProgram,
    ThunkSequence,
    WhileThunk,
)
from xla_core.target import copies_beginning, copies_bits, keeps_layout

Slices = tuple[BufferSlice, ...]
EmitKernel = Callable[[HloInstruction, Slices, Slices], Thunk | Sequence[Thunk]]

_OF_SEVERAL_DEVICES = frozenset((Trait.COLLECTIVE, Trait.PER_DEVICE))


def is_of_several_devices(instruction: HloInstruction) -> bool:
    """Whether a device runs the instruction by its communicator: a collective, or one of the device's own place."""
    if instruction.opcode in (Opcode.SEND, Opcode.RECV_DONE):
        return not _start(instruction).attribute("is_host_transfer")
    return not _OF_SEVERAL_DEVICES.isdisjoint(instruction.op.traits)


def emit_thunks(
    assignment: BufferAssignment,
    emit_kernel: EmitKernel,
    supports: Callable[[HloInstruction], object] | None = None,
) -> ThunkProgram:
    """Emits the thunks of every instruction in the schedule's order.

    Args:
        assignment: the buffers of a module that has a schedule and flat entry parameters and results.
        emit_kernel: makes the thunks of an instruction that computes, from the slices of the array leaves of its
            operands and of its results. It is never called for control flow, host transfers, collectives and copies
            that keep the layout; it is called for a copy that changes the layout.
        supports: whether the device runs an instruction (`TargetConfig.supports`). Other instructions run on the host,
            by the reference evaluator (`CompileOptions.fallback="host"`). None means that the device runs all of them.
    """
    module = assignment.module
    emitter = _Emitter(assignment, emit_kernel, supports)
    thunks = emitter.sequence(module.entry)
    parameters = tuple(assignment.slice(p).allocation if p.shape.is_array else None for p in module.entry.parameters)
    allocations = list(assignment.allocations)
    reserved = {a.output: a for a in allocations if a.kind is AllocationKind.OUTPUT}
    results = []
    for number, place in enumerate(emitter.slices(module.entry.root)):
        if not _is_the_callers(place, module):
            if place.size:
                raise InternalError(f"a result of {module.name} is in {place.allocation}, which cannot hold results")
            own = reserved.get((number,) if module.result_shape.is_tuple else ())  # of an empty result
            if own is None:
                own = BufferAllocation(len(allocations), 0, AllocationKind.OUTPUT)
                allocations.append(own)
            place = BufferSlice(own, 0, 0)
        results.append(place)
    return ThunkProgram(tuple(allocations), thunks, parameters, tuple(results))


def _is_the_callers(place: BufferSlice, module: HloModule) -> bool:
    """Whether a result may be in this memory: an output's, or a donated parameter's."""
    allocation = place.allocation
    if allocation.kind is AllocationKind.PARAMETER:
        donated = [(a.parameter_number, a.parameter_index) for a in module.input_output_aliases]
        return allocation.parameter in donated
    return allocation.kind is AllocationKind.OUTPUT


class _Emitter:
    def __init__(
        self,
        assignment: BufferAssignment,
        emit_kernel: EmitKernel,
        supports: Callable[[HloInstruction], object] | None,
    ) -> None:
        self._assignment = assignment
        self._emit_kernel = emit_kernel
        self._supports = supports
        self._environment = Environment()
        schedule = assignment.module.schedule
        self._schedule = schedule if schedule is not None else {}

    def sequence(self, computation: HloComputation) -> ThunkSequence:
        order = self._schedule.get(computation) or computation.post_order()
        return tuple(thunk for instruction in order for thunk in self._emit(instruction))

    def slices(self, instruction: HloInstruction) -> Slices:
        """Returns the slices of the array leaves of a result."""
        leaves = zip(instruction.shape.leaves(), self._assignment.leaf_slices(instruction), strict=True)
        return tuple(place for shape, place in leaves if shape.is_array)

    def _emit(self, instruction: HloInstruction) -> Sequence[Thunk]:
        name, opcode, traits = instruction.name, instruction.opcode, instruction.op.traits
        if Trait.NOP in traits:
            return ()
        if opcode == Opcode.WHILE:
            condition: HloComputation = instruction.attribute("condition")
            body: HloComputation = instruction.attribute("body")
            predicate = self._assignment.slice(condition.root)
            return (
                WhileThunk(name, predicate, self.sequence(condition), self.sequence(body), _trip_count(instruction)),
            )
        if opcode == Opcode.CONDITIONAL:
            index = instruction.operand(0)
            branches = tuple(self.sequence(c) for c in branch_computations(instruction.attributes))
            is_predicate = index.shape.element_type.value == "pred"
            return (ConditionalThunk(name, self._assignment.slice(index), branches, is_predicate),)
        if opcode == Opcode.CALL:
            return (CallThunk(name, self.sequence(instruction.attribute("to_apply"))),)
        operands = tuple(place for operand in instruction.operands for place in self.slices(operand))
        results = self.slices(instruction)
        if copies_bits(instruction) or (opcode == Opcode.COPY and keeps_layout(instruction)):
            pairs = zip(operands, results, strict=True)
            return tuple(CopyThunk(name, a, b) for a, b in pairs if a != b)
        if copies_beginning(instruction):
            return _copy_of_beginning(name, operands[0], results[0])
        if Trait.HOST_TRANSFER in traits:
            return self._transfer(instruction, operands, results)
        if is_of_several_devices(instruction):
            return (CollectiveThunk(name, instruction, operands, results),)
        if self._supports is not None and not self._supports(instruction):
            return (host_thunk(instruction, operands, results, self._environment),)
        made = self._emit_kernel(instruction, operands, results)
        return (made,) if isinstance(made, Thunk) else made

    def _transfer(self, instruction: HloInstruction, operands: Slices, results: Slices) -> Sequence[Thunk]:
        """Emits a send at its start, and a receive at its done op."""
        name, shapes = instruction.name, instruction.shape.array_leaves()
        match instruction.opcode:
            case Opcode.SEND | Opcode.RECV_DONE if is_of_several_devices(instruction):
                return (CollectiveThunk(name, instruction, operands, results),)
            case Opcode.INFEED:
                return (InfeedThunk(name, results, shapes),)
            case Opcode.OUTFEED:
                value = instruction.operand(0)
                return (OutfeedThunk(name, self.slices(value), value.shape),)
            case Opcode.SEND:
                value = instruction.operand(0)
                leaves = zip(self.slices(value), value.shape.array_leaves(), strict=True)
                return tuple(SendThunk(name, place, shape, *_channel(instruction)) for place, shape in leaves)
            case Opcode.RECV_DONE:
                leaves = zip(results, shapes, strict=True)
                return tuple(RecvThunk(name, place, shape, *_channel(instruction)) for place, shape in leaves)
        return ()


def _copy_of_beginning(name: str, source: BufferSlice, destination: BufferSlice) -> Sequence[Thunk]:
    copy = CopyThunk(name, source, destination)
    return (FillThunk(name, destination), copy) if source.size < destination.size else (copy,)


def _start(transfer: HloInstruction) -> HloInstruction:
    """Returns the send itself, or the recv of a recv-done."""
    return transfer.operand(0) if transfer.operand(0).opcode == Opcode.RECV else transfer


def _channel(transfer: HloInstruction) -> tuple[int, dict[str, Any]]:
    start = _start(transfer)
    return start.attribute("channel_id") or 0, dict(start.attributes)


def host_thunk(
    instruction: HloInstruction, operands: Slices, results: Slices, environment: Environment | None = None
) -> HostCallbackThunk:
    """Makes a thunk that runs one instruction on the host, by the reference evaluator.

    `environment` has the state of random numbers, which the instructions of a program share.
    """
    computation = extract_computation(instruction)
    context = EvaluationContext(environment)  # caches its plan of the computation
    shapes = tuple(s.with_default_layout() for o in instruction.operands for s in o.shape.array_leaves())
    result_shapes = tuple(s.with_default_layout() for s in instruction.shape.array_leaves())

    def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        return evaluate_computation(computation, arrays, context)

    return HostCallbackThunk(instruction.name, run, operands, shapes, results, result_shapes)


def _trip_count(instruction: HloInstruction) -> int | None:
    """Returns how often the body runs, or None if that is not known or the condition has effects, so must run."""
    if any(has_side_effect(i) for i in instruction.attribute("condition").instructions):
        return None
    return known_trip_count(instruction)
