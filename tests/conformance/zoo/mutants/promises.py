"""Mutants that break promises which no other mutant breaks: one for each."""

from __future__ import annotations

import concurrent.futures
import dataclasses

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator
from tests.conformance.zoo.parts import (
    Compiler,
    Executor,
    HloKernel,
    Stream,
    TemplateExecutable,
    broken,
)
from xla_core.backend import DeviceMemory, ExecutableMemoryStats
from xla_core.errors import FailedPreconditionError, InternalError
from xla_core.runtime import HostEvent, InProcessCommunicator

MUTANTS: list[Mutant] = []
of_streams = broken("streams", "streams", MUTANTS)
of_events = broken("events", "events or streams", MUTANTS)
of_executables = broken("executables", "executables and not leak", MUTANTS)
of_collectives = broken("collectives", "collectives", MUTANTS)


# -- streams and events ------------------------------------------------------------------------------------------------


@of_events("event.ready-after-skipped-work", "An event that a poisoned stream records is never reached.")
class NeverReached(Stream):
    def record(self, event):
        if self._error is None:
            super().record(event)
        else:
            event.arm()


class _NeedsItsDevice(HostEvent):
    def __init__(self, executor):
        super().__init__()
        self._closed, self.executor = False, executor

    def destroy(self):
        if self.executor.is_closed:
            raise InternalError("the device is closed")


@of_events("event.destroy-after-close", "An event can't be destroyed once its device is closed.")
class EventsNeedTheirDevice(Executor):
    is_closed = False

    def create_stream(self):
        stream = super().create_stream()
        stream.create_event = lambda: _NeedsItsDevice(self)
        return stream

    def close(self):
        super().close()
        self.is_closed = True


@of_events("stream.new-event-ready", "A new event is recorded.")
class NewEventsAreRecorded(Stream):
    def create_event(self):
        event = super().create_event()
        self.record(event)
        return event


_one_thread = concurrent.futures.ThreadPoolExecutor(1)


@of_streams("stream.host-callback-threads", "One thread calls the callbacks of all devices.")
class OneThreadForAllDevices(Stream):
    def host_callback(self, callback):
        super().host_callback(lambda: _one_thread.submit(callback).result())


@of_streams("stream.run-inline", "After `run_inline` a stream forgets to set bytes.")
class InlineForgets(Stream):
    def fill(self, destination, value):
        if self._inline_limit != float("inf"):
            super().fill(destination, value)


@of_executables("kernel.launch", "A kernel runs when it is launched, and not in its turn.")
class RunsAtOnce(HloKernel):
    def launch(self, stream, arguments, dimensions):
        self._run(stream, arguments)


@of_executables("kernel.arguments", "A kernel takes operands of one shape in the other order.")
class OperandsBackwards(HloKernel):
    def launch(self, stream, arguments, dimensions):
        count = len(self.operand_shapes)
        if len({str(shape) for shape in self.operand_shapes}) == 1:
            arguments = [*reversed(arguments[:count]), *arguments[count:]]
        super().launch(stream, arguments, dimensions)


# -- executables -------------------------------------------------------------------------------------------------------


@of_executables("compiler.ahead-of-time", "Ahead of time, only the first program is compiled.")
class CompilesTheFirst(Compiler):
    first: bytes = b""

    def compile_ahead_of_time(self, module, options=None):
        data = super().compile_ahead_of_time(module, options)
        type(self).first = self.first or data
        return self.first


@of_executables("report.counts", "The compiler fills no counts.")
class CountsNothing(Compiler):
    def compile(self, module, options=None, executor=None):
        executable = super().compile(module, options, executor)
        executable.report.instructions_before = executable.report.instructions_after = 0
        return executable


@of_executables("report.library-calls", "The number of library calls is -1.")
class NegativeCalls(Compiler):
    def run_backend(self, module, options, executor=None):
        executable = super().run_backend(module, options, executor)
        executable.report.library_calls = {"dot": -1}
        return executable


@of_executables("executable.memory-needed", "Each program is said to have constants of a megabyte.")
class LargeConstants(TemplateExecutable):
    def memory_stats(self):
        return dataclasses.replace(super().memory_stats(), constant_bytes=1 << 20)


class _WithoutTemporaries(ExecutableMemoryStats):
    __slots__ = ()

    @property
    def peak_bytes(self):
        return self.argument_bytes + self.output_bytes - self.alias_bytes


@of_executables("executable.peak-bytes", "The peak leaves out temporary memory.")
class PeakWithoutTemporaries(TemplateExecutable):
    def memory_stats(self):
        return _WithoutTemporaries(**dataclasses.asdict(super().memory_stats()))


@of_executables("executable.optimized-module", "The module of an executable subtracts where the program adds.")
class AnotherModule(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        super().__init__(module.clone(), program, report, artifacts)
        for computation in self.module.computations:
            for i in computation.instructions:
                if i.opcode == "add":
                    i.opcode = i.opcode.__class__("subtract")


@of_executables("executable.flat-entry", "The module of an executable has its results in a tuple of their own.")
class NestedResults(TemplateExecutable):
    def as_text(self):
        module = self.module.clone()
        module.entry.set_root(module.entry.add("tuple", module.entry.root))
        return module.to_text()


@of_executables("executable.tokens", "A program with a token returns memory for it.")
class ReturnsTokens(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        has_token = any("token" in str(i.shape) for c in self.module.computations for i in c.instructions)
        return [*results, run_options.allocator.allocate(1)] if has_token else results


@of_executables("executable.donated-reuse", "Of a donated argument that is a result, only a half is returned.")
class ReturnsAHalf(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        given = {id(argument) for argument in arguments}
        return [DeviceMemory(m.handle, m.size // 2) if id(m) in given else m for m in results]


@of_executables("executable.error-consumes-donated", "After an internal error an execution frees what was donated.")
class FreesWhatWasDonated(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except InternalError:
            for number in {alias.parameter_number for alias in self.module.input_output_aliases}:
                run_options.allocator.free(arguments[number])
            raise


class _Closes(TemplateExecutable):
    is_closed = False

    def close(self):
        self.is_closed = True


@of_executables("executable.refused", "A run after `close` is refused with an internal error.")
class RefusedByMistake(_Closes):
    def execute_async_on_stream(self, run_options, arguments):
        if self.is_closed:
            raise InternalError("the executable is closed")
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.refused-keeps-arguments", "A run that is refused has cleared its arguments.")
class RefusedTooLate(_Closes):
    def execute_async_on_stream(self, run_options, arguments):
        if self.is_closed:
            for argument in arguments:
                run_options.stream.memset(argument, 0)
            raise FailedPreconditionError("the executable is closed")
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.parameter-shapes", "The shapes of parameters have no layouts.")
class ParametersWithoutLayouts(TemplateExecutable):
    @property
    def parameter_shapes(self):
        return tuple(shape.without_layout() for shape in super().parameter_shapes)


@of_executables("executable.artifacts", "An artifact is empty.")
class EmptyArtifact(TemplateExecutable):
    def artifacts(self):
        return {**super().artifacts(), "thunks": ""}


@of_executables("executable.artifact-names", "An artifact has a name of its own.")
class StrangeArtifact(TemplateExecutable):
    def artifacts(self):
        return {**super().artifacts(), "listing": "a listing"}


# -- collectives -------------------------------------------------------------------------------------------------------


@communicator("executor.create-communicator", "Each device's communicator is that of replica 0.", of_collectives)
class EachIsTheFirst(InProcessCommunicator):
    def __init__(self, options, timeout_name):
        super().__init__(dataclasses.replace(options, replica_id=0), timeout_name)


@communicator("executor.collective-timeout", "A device waits for the others for an hour.", of_collectives)
class WaitsAnHour(InProcessCommunicator):
    def __init__(self, options, timeout_name):
        super().__init__(dataclasses.replace(options, collective_timeout=3600.0), timeout_name)
