"""Mutants that break promises which no other mutant breaks: one for each."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import importlib
import threading

from pydantic import BaseModel, ConfigDict

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator
from tests.conformance.zoo.parts import (
    Compiler,
    Executor,
    HloKernel,
    Platform,
    Stream,
    TemplateExecutable,
    broken,
    template,
)
from xla_core.backend import Availability, DeviceFeatures, DeviceMemory, ExecutableMemoryStats, TransferManager
from xla_core.errors import FailedPreconditionError, InternalError
from xla_core.runtime import HostEvent, InProcessCommunicator
from xla_core.target import LayoutRules

MUTANTS: list[Mutant] = []
of_loading = broken("loading", "loading", MUTANTS)
of_transfers = broken("transfers", "transfers", MUTANTS)
of_streams = broken("streams", "streams", MUTANTS)
of_events = broken("events", "events or streams", MUTANTS)
of_executables = broken("executables", "executables and not leak", MUTANTS)
of_collectives = broken("collectives", "collectives", MUTANTS)


def _loading(name, breaks, fault, make, **fields):
    MUTANTS.append(
        Mutant(name=f"loading/{name}", breaks=breaks, fault=fault, make=make, **{"select": "loading", **fields})
    )


# -- loading -----------------------------------------------------------------------------------------------------------


class _Careless(BaseModel):
    """Flags of which a misspelt one is no error."""

    model_config = ConfigDict(extra="allow")


_loading(
    "available-with-a-cause",
    "availability.cause",
    "An available device has a cause why it isn't.",
    lambda: template(probe=lambda: Availability(available=True, cause="the device is warm")),
)
_loading(
    "another-event-class",
    "spec.classes",
    "The spec names another class of events than the streams make.",
    lambda: template(event=_Other),
)
_loading(
    "misspelt-flags",
    "spec.flags",
    "A misspelt flag is no error.",
    lambda: template(flags=_Careless),
)
_loading(
    "imports-llvm",
    "hooks.imports-little",
    "The description of the backend imports a compiler.",
    template,
    on_import=lambda: importlib.import_module("llvmlite.binding"),
)


_loading("returns-nothing", "hooks.entry-point", "The hook of the entry point returns nothing.", lambda: None)


class _Other(HostEvent):
    """Events that no stream makes."""


@of_loading("spec.platform-without-arguments", "The platform is made with the number of its devices.")
class MadeWithACount(Platform):
    def __init__(self, count):
        super().__init__()
        self.count = count


@of_loading("platform.device-count-flag", "The flag of the number of devices is named with its dashes.")
class FlagWithDashes(Platform):
    device_count_flag = "--xla_template_device_count"


@of_loading("platform.create-compiler", "The platform makes no compiler where it has opened a device.")
class CompilerBeforeDevices(Platform):
    def create_compiler(self):
        return None if self._executors else super().create_compiler()


@of_loading("platform.no-such-ordinal", "Ordinals beyond the last device begin again.")
class OrdinalsBeginAgain(Platform):
    def executor(self, ordinal):
        return super().executor(ordinal % self.visible_device_count())


@of_transfers(
    "platform.create-transfer-manager", "The transfer manager is one for a target that doesn't pack elements."
)
class ManagerOfAnotherTarget(Platform):
    def create_transfer_manager(self):
        unpacked = LayoutRules(packed=False)
        return TransferManager(self.compiler.target_config.model_copy(update={"layouts": unpacked}))


@of_executables("platform.close-transfers", "Closing the transfers does nothing.")
class TransfersStayOpen(Platform):
    def close_transfers(self):
        pass


# -- features ----------------------------------------------------------------------------------------------------------


@of_transfers("features.host-addressable", "A device says that the host can address its memory, and gives no view.")
class NoViews(Executor):
    features = DeviceFeatures(host_addressable=True, callbacks_may_enqueue=True)


@of_transfers("features.peer-copies", "A device says that it copies memory of others, and can't.")
class NoPeers(Executor):
    features = DeviceFeatures(peer_copies=True, callbacks_may_enqueue=True)


@of_executables("features.callbacks-may-enqueue", "A device says that callbacks may enqueue, and refuses their work.")
class RefusesCallbacks(Stream):
    inside = threading.local()

    def host_callback(self, callback):
        def call():
            self.inside.callback = True
            try:
                callback()
            finally:
                self.inside.callback = False

        super().host_callback(call)

    def memset(self, destination, value):
        if getattr(self.inside, "callback", False):
            raise InternalError("a callback uses the device")
        super().memset(destination, value)


@of_executables("features.asynchronous-control-flow", "A program with a loop waits before it starts.")
class LoopsWait(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        if any(i.opcode == "while" for c in self.module.computations for i in c.instructions):
            run_options.stream.synchronize()
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("features.works-without", "A program with a loop needs callbacks that may enqueue.")
class NeedsAFeature(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        loops = any(i.opcode == "while" for c in self.module.computations for i in c.instructions)
        if loops and not run_options.executor.features.callbacks_may_enqueue:
            raise InternalError("callbacks can't enqueue")
        return super().execute_async_on_stream(run_options, arguments)


@of_transfers("executor.wrap-memory-none", "Foreign memory that the device can't use is taken for fresh memory.")
class WrapsFreshMemory(Executor):
    def wrap_memory(self, address, size):
        return self.allocate(size)


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
