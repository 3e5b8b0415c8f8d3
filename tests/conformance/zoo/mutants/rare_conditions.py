"""Mutants whose faults show only in some condition: a second waiter, a large block, a state of the stream."""

from __future__ import annotations

import functools
import itertools

import ml_dtypes
import numpy as np
from xla_backend_template.memory import DeviceRam

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, Platform, Stream, TemplateExecutable, broken
from xla_core.backend import TransferManager
from xla_core.runtime import HostEvent, InProcessCommunicator, ThunkExecutor
from xla_core.schedule import HostCallbackThunk, WhileThunk, walk

MUTANTS: list[Mutant] = []
streams = broken("streams", "streams or events", MUTANTS)
events = broken("events", "streams or events", MUTANTS)
transfers = broken("transfers", "transfers or leaks", MUTANTS)
memory = broken("memory", "memory", MUTANTS)
executables = broken("executables", "executables or claims", MUTANTS)
collectives = broken("collectives", "collectives", MUTANTS)

# -- streams and events -----------------------------------------------------------------------------------------------


@streams("stream.wait", "Of the streams that wait for an event, only the first does.")
class OneStreamWaits(Stream):
    def wait(self, event):
        waiters = event.point.stream.__dict__.setdefault("waiters", {}) if event.point.stream else {}
        point, first = waiters.setdefault(id(event.point), (event.point, self))
        if first is self or point.ready:
            super().wait(event)


@streams("event.wait-for-last-record", "A wait is for the record that is the last when the stream comes to it.")
class WaitsForTheLatestRecord(Stream):
    def wait(self, event):
        def wait() -> None:
            event.synchronize()
            if event.error is not None:
                raise event.error

        self.enqueue(wait)


@streams("stream.wait-for-error", "An event that has failed already doesn't poison the stream that waits for it.")
class WaitsForNoFailedEvent(Stream):
    def wait(self, event):
        if not event.ready:
            super().wait(event)


@streams("stream.later-work-skipped", "`memset` of less than 4 KiB works on a stream that is known to be poisoned.")
class FillsLittleAfterAFailure(Stream):
    def memset(self, destination, value):
        if self.error is not None and destination.size < 4096:
            self.fill(destination, value)
        super().memset(destination, value)


@streams("stream.recover", "`recover` works three times where the host knows of the failure.")
class RecoversThreeTimes(Stream):
    recovered = 0

    def recover(self):
        self.recovered += self.error is not None
        if self.recovered <= 3:
            super().recover()


@streams("stream.finish-event", "`finish` of a poisoned stream that is idle gives an event without the error.")
class FinishForgetsTheFailure(Stream):
    def finish(self):
        if not self._queue:
            self._forget()
        return super().finish()


@streams("stream.in-order", "A `memset` overtakes a copy on the device of more than 1 MiB.")
class OvertakesLargeCopies(Stream):
    def memcpy_d2d(self, destination, source):
        self.enqueue(functools.partial(self._large_copy, destination, source))

    def _large_copy(self, destination, source):
        self.copy(destination, source)

    def memset(self, destination, value):
        with self._changed:
            last = self._queue[-1] if len(self._queue) > 1 else None
            overtakes = getattr(last, "func", None) == self._large_copy and last.args[0].size > 1 << 20
            if overtakes:
                self._queue.pop()
        super().memset(destination, value)
        if overtakes:
            self._push(last)


def _events(cls: type[HostEvent]) -> type[Stream]:
    def finish(self):
        event = cls()
        self.record(event)
        self.recover()
        return event

    return type(cls.__name__, (Stream,), {"create_event": lambda self: cls(), "finish": finish})


class CallbackLostOnRecord(HostEvent):
    def when_ready(self, callback):
        point = self.point
        super().when_ready(lambda error: callback(error) if self.point is point else None)


class TimeoutIsHalfASecond(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(None if timeout is None else max(timeout, 0.5))


events("event.when-ready-once", "Recording an event again drops its callbacks.")(_events(CallbackLostOnRecord))
events("event.synchronize-timeout", "A timeout is half a second at least.")(_events(TimeoutIsHalfASecond))

# -- transfers ---------------------------------------------------------------------------------------------------------


@transfers("stream.memset", "`memset` with 0 of more than 1 MiB does nothing.")
class KeepsLargeMemory(Stream):
    def fill(self, destination, value):
        if value or destination.size <= 1 << 20:
            super().fill(destination, value)


@transfers("stream.h2d-keeps-source", "The stream keeps the sources of its copies for ever.")
class KeepsSourcesForEver(Stream):
    def write(self, destination, source):
        self.__dict__.setdefault("sources", []).append(source)
        super().write(destination, source)


def _manager(promise: str, fault: str):
    def add(cls: type[TransferManager]) -> type[TransferManager]:
        def create(self):
            return cls(self.compiler.target_config)

        transfers(promise, fault)(type(cls.__name__, (Platform,), {"create_transfer_manager": create}))
        return cls

    return add


@_manager("transfer-manager.to-device", "A square matrix in column-major order is copied as it lies.")
class CopiesColumns(TransferManager):
    def to_device(self, array, shape):
        square = array.ndim == 2 and array.shape[0] == array.shape[1] and not array.flags.c_contiguous
        return super().to_device(array.T if square and array.flags.f_contiguous else array, shape)


@_manager("transfer-manager.to-device", "True is 255 on the device, and on the host again.")
class TrueIsAllBits(TransferManager):
    def to_device(self, array, shape):
        data = super().to_device(array, shape)
        return data * np.uint8(255) if array.dtype == np.bool_ else data


@_manager("transfer-manager.byte-size", "An array without elements has one byte.")
class NothingHasAByte(TransferManager):
    def byte_size(self, shape):
        return super().byte_size(shape) or 1


# -- memory ------------------------------------------------------------------------------------------------------------


@memory("executor.allocate", "Blocks of 32 MiB or more overlap the next one by 4 KiB.")
class LargeBlocksOverlap(Executor):
    def allocate(self, size, memory_space=0):
        found = super().allocate(size - 4096 if size >= 32 << 20 else size, memory_space)
        if found is not None and size >= 32 << 20:
            found.size = size
            block, ram = self.ram.block, self.ram

            def larger(handle, block=block):
                if handle is not found.handle:
                    return block(handle)
                start = ram._blocks[handle][0]
                return ram._bytes[start : start + size]

            self.ram.block = larger
        return found


class _MergesUp(DeviceRam):
    def deallocate(self, handle):
        with self._lock:
            start, size = self._blocks.pop(handle)
            for index, (above, length) in enumerate(self._free):
                if above == start + size:
                    self._free[index] = (start, size + length)
                    return
            self._free = sorted([*self._free, (start, size)])


@memory("executor.deallocate", "A freed block grows together with the gap above it, not with that below.")
class MergesUp(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.ram = _MergesUp(memory_bytes)


@memory("executor.description", "The description says how much memory is free.")
class SaysWhatIsFree(Executor):
    @property
    def description(self):
        return super().description.model_copy(update={"memory_bytes": self.ram.bytes_free})


@memory("executor.description", "The second device has a quarter of the memory that it says.")
class SecondDeviceIsSmall(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        if ordinal:
            self.ram._free = [(0, memory_bytes // 4)]


# -- executables -------------------------------------------------------------------------------------------------------


@executables("executable.arguments-kept", "A program that returns its only parameter returns the argument.")
class ReturnsTheParameter(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        root = self.module.entry.root
        returned = root.operand(0) if root.opcode == "copy" else root
        results = super().execute_async_on_stream(run_options, arguments)
        if returned.opcode != "parameter" or results[0] in arguments:
            return results
        run_options.allocator.free(results[0])
        return [arguments[returned.parameter_number]]


@executables("executable.immutable", "Each run leaves an object with the executable.")
class KeepsItsRuns(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        self.__dict__.setdefault("runs", []).append((run_options, tuple(arguments)))
        return super().execute_async_on_stream(run_options, arguments)


@executables("executable.error-frees", "One run in a hundred leaves 1 KiB of the allocator's memory.")
class LeaksSeldom(TemplateExecutable):
    runs = itertools.count(1)

    def execute_async_on_stream(self, run_options, arguments):
        if next(self.runs) % 100 == 0:
            run_options.allocator.allocate(1024)
        return super().execute_async_on_stream(run_options, arguments)


@executables("executable.run", "A loop of a known trip count ends after 1,000 trips.")
class LoopsEndEarly(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        for thunk in walk(program.thunks):
            if isinstance(thunk, WhileThunk) and thunk.trip_count is not None:
                object.__setattr__(thunk, "trip_count", min(thunk.trip_count, 1000))
        super().__init__(module, program, report, artifacts)


@executables("compiler.host-fallback", "Functions of the host are called twice.")
class CallsTheHostTwice(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        super().__init__(module, program, report, artifacts)
        handle = ThunkExecutor(program)._handlers[HostCallbackThunk]

        def twice(thunk, run):
            handle(thunk, run)
            handle(thunk, run)

        self._executor = ThunkExecutor(program, {HostCallbackThunk: twice})


@executables("executable.fingerprint", "The fingerprint leaves out which parameters are donated.")
class FingerprintWithoutDonation(TemplateExecutable):
    def fingerprint(self):
        return self.module.to_text().partition("\n")[2]


@executables("executable.cost", "A loop costs what one trip does.")
class CostsOfOneTrip(TemplateExecutable):
    def cost_analysis(self):
        trips = [t.trip_count for t in walk(self._executor.program.thunks) if isinstance(t, WhileThunk)]
        return {key: value / max([1, *(n for n in trips if n)]) for key, value in super().cost_analysis().items()}


@executables("report.instructions", "The report counts the instructions before the passes twice.")
class CountsBeforeThePasses(Compiler):
    def compile(self, module, options=None, executor=None):
        made = super().compile(module, options, executor)
        made.report.instructions_after = made.report.instructions_before
        return made


# -- collectives -------------------------------------------------------------------------------------------------------


def _communicator(promise: str, fault: str):
    def add(cls: type[InProcessCommunicator]) -> type[InProcessCommunicator]:
        def create(self, options):
            return cls(options, "collective_timeout")

        collectives(promise, fault)(type(cls.__name__, (Executor,), {"create_communicator": create}))
        return cls

    return add


class _Changing(InProcessCommunicator):
    """Calls `change(data)` with the bytes of each result."""

    def __init__(self, options, timeout_name):
        super().__init__(options, timeout_name)
        self.options = options

    def applies(self, instruction):
        return instruction.opcode in ("all-reduce", "reduce-scatter")

    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if self.applies(collective.instruction):
            block = self.options.executor.ram.block
            for given, result, shape in zip(operands, results, collective.result_shapes, strict=True):

                def change(given=given, result=result, shape=shape):
                    self.change(block(result.handle)[: result.size], block(given.handle)[: given.size], shape)

                stream.host_callback(change)


@_communicator("communicator.in-order", "Sums of u8 that overflow keep the larger operand.")
class SumsSaturate(_Changing):
    def change(self, data, given, shape):
        if str(shape.element_type) == "u8" and data.size == given.size:
            np.maximum(data, given, out=data)


@_communicator("communicator.in-order", "Reductions of f32 are rounded to bf16.")
class ReducesInBfloat16(_Changing):
    def change(self, data, given, shape):
        if str(shape.element_type) == "f32":
            data.view(np.float32)[:] = data.view(np.float32).astype(ml_dtypes.bfloat16)


@_communicator("communicator.in-order", "`partition-id` gives the replica.")
class PartitionIsReplica(InProcessCommunicator):
    def __init__(self, options, timeout_name):
        super().__init__(options, timeout_name)
        self.replica = options.replica_id

    def enqueue(self, stream, collective, operands, results):
        if collective.instruction.opcode == "partition-id":
            stream.memcpy_h2d(results[0], np.array([self.replica], np.uint32).view(np.uint8))
        else:
            super().enqueue(stream, collective, operands, results)
