"""Host calls: runs the instructions of a program that are implemented in Python.

A program's entry returns for each host call and is called again after it. The run's context says which call it is, and
where its operands and results are.

Collectives, feeds and channels run the op table's definitions on views of the program's memory. The reference evaluator
uses the same definitions; here they get the devices, queues and rendezvous of the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from xla_backend_cpu.calling_convention import CONTEXT_WORDS, ContextField
from xla_core.backend import RunOptions
from xla_core.errors import CancelledError, InternalError, XlaError
from xla_core.ffi import FfiCallSite, FfiHandler
from xla_core.hlo import (
    CustomCall,
    Environment,
    EvaluationContext,
    HloInstruction,
    HloModule,
    InPlaceFunction,
    Literal,
    Opcode,
    Shape,
    Trait,
    Value,
    call_attributes,
    find_custom_call,
    flatten_value,
    unflatten_value,
)
from xla_core.runtime import HostEvent, HostStream, InProcessRendezvous, rendezvous_of

_TIMEOUT_NAME = (
    'the backend\'s option collective_timeout: CompileOptions(backend={"collective_timeout": 300}), or --set '
    "collective_timeout=300"
)


_BRIEF_SECONDS = 5e-4
"""How long a run may take, by estimate, for its caller to do it in place of the stream's thread."""

_MOST_ENDED = 8  # runs that are kept for later ones: more begin together only where many wait for a stream


def _viewer(shape: Shape) -> Callable[[int], np.ndarray]:
    """Returns a function that makes a view of the memory at an address, as an array with the shape's layout."""
    dtype, order = shape.dtype, shape.minor_to_major()[::-1]
    if not shape.num_elements:
        return lambda address: np.empty(shape.dimensions, dtype)
    memory, sizes = ctypes.c_char * (shape.num_elements * dtype.itemsize), [shape.dimensions[d] for d in order]
    if order == tuple(range(shape.rank)):
        return lambda address: np.ndarray(sizes, dtype, memoryview(memory.from_address(address)))
    axes = np.argsort(order)
    return lambda address: np.ndarray(sizes, dtype, memoryview(memory.from_address(address))).transpose(axes)


class _HostCall:
    """One instruction, with the data for its calls looked up in advance."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.instruction = instruction
        operands = [s for o in instruction.operands for s in o.shape.array_leaves()]
        self.shapes = operands + list(instruction.shape.array_leaves())
        self._viewers = list(map(_viewer, self.shapes))
        self._operand_count = len(operands)
        # Collectives and host transfers keep their operands after they return.
        self._copies = not instruction.op.traits.isdisjoint((Trait.COLLECTIVE, Trait.HOST_TRANSFER))
        self._function: Callable[[CustomCall], None] | None = None
        self._call_site: FfiCallSite | None = None
        self._target = ""
        self._attributes: Mapping[str, Any] = {}
        if instruction.opcode == Opcode.CUSTOM_CALL:
            self._target = instruction.attribute("custom_call_target")
            found = find_custom_call(self._target)
            if isinstance(found, FfiHandler):
                self._call_site = found.call_site(instruction)
            elif isinstance(found, InPlaceFunction):
                self._function = found.function
            self._attributes = call_attributes(instruction)
            self._copies = bool(instruction.attribute("output_to_operand_aliasing"))

    def __call__(self, run: HostRun, number: int, table: int) -> None:
        if self._call_site is not None:
            addresses = list((ctypes.c_size_t * len(self.shapes)).from_address(table))
            operands, results = addresses[: self._operand_count], addresses[self._operand_count :]
            ordinal, run_id = run.options.executor.ordinal, run.options.run_id
            self._call_site.run(operands, results, device_ordinal=ordinal, run_id=run_id)
            return
        views = self.views(run, number, table)
        if self._function is not None:
            self._function(views)
        else:
            self._evaluate(run, views.operands, views.results)

    def views(self, run: HostRun, number: int, table: int) -> CustomCall:
        """Returns the call with views of the buffers whose addresses are in the table."""
        places = ctypes.string_at(table, 8 * len(self.shapes))
        known = run.views.get(number)
        if known is None or known[0] != places:  # in a loop the addresses seldom change, so views are reused
            known = run.views[number] = (places, self._at(run, table))
        return known[1]

    def _at(self, run: HostRun, table: int) -> CustomCall:
        addresses = (ctypes.c_void_p * len(self.shapes)).from_address(table)
        arrays = [view(address or 0) for view, address in zip(self._viewers, addresses, strict=True)]
        operands, results = arrays[: self._operand_count], arrays[self._operand_count :]
        for operand in operands:
            operand.flags.writeable = False
        place = (run.options.replica_id, run.options.partition_id)
        return CustomCall(self._target, self._attributes, tuple(operands), tuple(results), *place)

    def _evaluate(self, run: HostRun, operands: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """Evaluates the instruction by its definition in the op table, and writes the results."""
        instruction = self.instruction
        given = iter([np.array(o, order="C") if self._copies else o for o in operands])
        values: list[Value] = [unflatten_value(o.shape, given) for o in instruction.operands]
        with np.errstate(all="ignore"):
            value = run.evaluation.evaluate(instruction, values)
        self.write(value, results)
        run.give_outfeed(instruction)

    def write(self, value: Value, results: Sequence[np.ndarray]) -> None:
        instruction = self.instruction
        arrays = [v for s, v in zip(instruction.shape.leaves(), flatten_value(value), strict=True) if s.is_array]
        for array, result in zip(arrays, results, strict=True):
            if array is None:  # the data of a recv arrives with recv-done
                continue
            if array.shape != result.shape or array.dtype != result.dtype:
                raise InternalError(
                    f"{instruction.name} gave {array.dtype}{list(array.shape)}, expected "
                    f"{result.dtype}{list(result.shape)}"
                )
            result[...] = array


class HostCalls:
    """The host calls of one program."""

    def __init__(self, module: HloModule, names: Sequence[tuple[str, str]], collective_timeout: float) -> None:
        computations = {c.name: {i.name: i for i in c.instructions} for c in module.computations} if names else {}
        self.calls = [_HostCall(computations[computation][name]) for computation, name in names]
        self.collective_timeout = collective_timeout
        self.communicates = any(
            Trait.COLLECTIVE in traits or {Trait.HOST_TRANSFER, Trait.ASYNC} <= traits
            for traits in (c.instruction.op.traits for c in self.calls)
        )
        self.replicas, self.partitions = module.num_replicas, module.num_partitions
        self.evaluation = EvaluationContext(
            Environment(num_replicas=module.num_replicas, num_partitions=module.num_partitions)
        )
        widest = max((len(call.shapes) for call in self.calls), default=0)
        self.context_type = ctypes.c_int32 * (CONTEXT_WORDS + 2 * widest)  # the addresses come after the words
        self.live: set[HostRun] = set()  # the runs in progress, which `cancel` stops
        self._ended: list[HostRun] = []  # their views of memory serve later runs
        self._may_be_brief = all(c.instruction.opcode == Opcode.CUSTOM_CALL for c in self.calls)  # they wait for nobody
        self._seconds = math.inf  # that a run takes, by estimate

    @property
    def is_brief(self) -> bool:
        """Whether runs are so short that the handoff to another thread would be most of their cost."""
        return self._may_be_brief and self._seconds <= _BRIEF_SECONDS

    def begin(self, options: RunOptions) -> HostRun:
        """Returns the state of a run, before the run is enqueued."""
        with contextlib.suppress(IndexError):
            run = self._ended.pop()
            # `cancel` may have seen the run before it ended, and have cancelled it afterwards.
            if run.options is options and not run.context[ContextField.CANCELLED]:
                return run
        return HostRun(self, options)

    def end(self, run: HostRun, seconds: float) -> None:
        """Takes back the state of a run that ended without an error."""
        self._seconds = min(seconds, 2 * self._seconds)  # one run that was kept waiting does not count
        if run.rendezvous is None and len(self._ended) < _MOST_ENDED:
            self._ended.append(run)

    def cancel(self) -> None:
        """Cancels the runs in progress: each stops at its next loop iteration or host call."""
        for run in list(self.live):
            run.context[ContextField.CANCELLED] = 1


class HostRun:
    """One run on one device, and the context manager around its native calls."""

    def __init__(self, program: HostCalls, options: RunOptions) -> None:
        self.program = program
        self.options = options
        self.context = program.context_type(0, options.replica_id, options.partition_id)
        self.address = ctypes.addressof(self.context)
        self.views: dict[int, tuple[bytes, CustomCall]] = {}  # call -> bytes of its table, views
        self.device = (options.replica_id, options.partition_id)
        self.rendezvous: InProcessRendezvous | None = None
        if program.communicates:
            self.rendezvous = rendezvous_of(options, program.collective_timeout, _TIMEOUT_NAME)

    def __enter__(self) -> HostRun:
        self.program.live.add(self)
        self._start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.program.live.discard(self)
        if kind is None:
            self.program.end(self, time.perf_counter() - self._start)

    def report_end(self, stream: HostStream) -> None:
        """Informs devices that wait for this one when the run has ended or failed.

        A run also fails, without starting, if an earlier operation on the stream failed.
        """
        rendezvous = self.rendezvous
        if rendezvous is None:
            return
        event = HostEvent()
        stream.record(event)
        point = event.point
        if not point.on_completion(lambda: rendezvous.end(self.device, point.error)):
            rendezvous.end(self.device, point.error)

    @functools.cached_property
    def evaluation(self) -> EvaluationContext:
        """The context in which the op table's definitions are evaluated."""
        options, program = self.options, self.program
        environment = Environment(
            replica=options.replica_id,
            partition=options.partition_id,
            num_replicas=program.replicas,
            num_partitions=program.partitions,
            next_infeed=self._take_infeed,
        )
        if self.rendezvous is not None:
            environment.rendezvous = self.rendezvous
        return EvaluationContext(environment)

    @property
    def pending(self) -> int:
        """The number, from 1 on, of the host call for which the entry returned; 0 if it returned for another reason."""
        return self.context[ContextField.HOST_CALL]

    def operands(self) -> list[Value]:
        """Copies the operands of the pending call."""
        number = self.pending - 1
        call = self.program.calls[number]
        arrays = iter(
            [np.array(o, order="C") for o in call.views(self, number, self.address + 4 * CONTEXT_WORDS).operands]
        )
        return [unflatten_value(o.shape, arrays) for o in call.instruction.operands]

    def write(self, value: Value) -> None:
        """Writes the results of the pending call."""
        number = self.pending - 1
        call = self.program.calls[number]
        call.write(value, call.views(self, number, self.address + 4 * CONTEXT_WORDS).results)

    def call(self) -> None:
        """Does the host call for which the entry returned.

        Raises:
            XlaError: the call failed. It names the instruction and its location.
        """
        if self.context[ContextField.CANCELLED]:
            raise CancelledError("the execution was cancelled")
        number = self.pending - 1
        call = self.program.calls[number]
        try:
            call(self, number, self.address + 4 * CONTEXT_WORDS)
        except XlaError as error:
            _located(error, call.instruction)
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise
            raise _located(_described(error, call.instruction), call.instruction) from error

    def _take_infeed(self) -> Value:
        return self.options.transfer_manager.infeed(self.options.executor.ordinal).get().value

    def give_outfeed(self, instruction: HloInstruction) -> None:
        """Moves the values that an outfeed wrote to the device's outfeed queue."""
        written = self.evaluation.environment.outfeed
        if written:
            queue = self.options.transfer_manager.outfeed(self.options.executor.ordinal)
            for value in written:
                queue.put(Literal.of_value(value))
            written.clear()


def _described(error: BaseException, instruction: HloInstruction) -> XlaError:
    if instruction.opcode != Opcode.CUSTOM_CALL:
        return InternalError(f"{instruction.opcode} failed with {type(error).__name__}: {error}")
    # The failure is in the user's code, so it is not an internal error.
    return XlaError(
        f"custom call {instruction.attribute('custom_call_target')!r} raised {type(error).__name__}: {error}",
        hint="the function that is registered for it failed; this error's __cause__ has the traceback",
    )


def _located(error: XlaError, instruction: HloInstruction) -> XlaError:
    error.op = error.op or instruction.opcode
    error.location = error.location or instruction.location
    return error
