"""More mutants of executables: what a run leaves, what it writes, what survives serialization, and figures."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import threading
import time
from collections import deque

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, HloKernel, Platform, Stream, TemplateExecutable, template
from xla_core.backend import LiteralQueue, TransferManager
from xla_core.errors import InternalError, ResourceExhaustedError
from xla_core.hlo import parse_hlo

MUTANTS: list[Mutant] = []
_FIELDS = {
    "executable": TemplateExecutable,
    "compiler": Compiler,
    "platform": Platform,
    "stream": Stream,
    "executor": Executor,
    "kernel": HloKernel,
}


def _breaks(promise: str, fault: str, **fields: object):
    def add(part: type) -> type:
        field = next(f for f, base in _FIELDS.items() if issubclass(part, base))
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", part.__name__.lstrip("_")).lower()
        given = {"select": "executables", **fields}
        MUTANTS.append(
            Mutant(
                name=f"executables/{name}",
                breaks=promise,
                fault=fault,
                make=lambda: template(**{field: part}),
                **given,
            )
        )
        return part

    return add


# -- what a run leaves ------------------------------------------------------------------------------------------------


@_breaks("executable.error-frees", "Each run allocates 64 bytes that it never frees.")
class LeaksAnAllocation(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        run_options.allocator.allocate(64)
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.results-from-allocator", "Each run allocates from the device, beside the allocator.")
class LeaksBesideTheAllocator(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        run_options.executor.allocate(64)
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("event.dropped", "An executable keeps an event of each run.")
class KeepsEvents(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        event = run_options.stream.create_event()
        run_options.stream.record(event)
        self.__dict__.setdefault("_kept", []).append(event)
        return results


@_breaks("executable.error-frees", "Each run leaves a thread.")
class LeavesThreads(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.error-frees", "Each run leaves an open file.")
class LeavesFiles(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        os.open(os.devnull, os.O_RDONLY)
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.error-frees", "Each run keeps a copy of its largest argument on the host.")
class KeepsHostCopies(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        size = max((m.size for m in arguments), default=1)
        self.__dict__.setdefault("_kept", []).append(np.ones(size, np.uint8))
        return super().execute_async_on_stream(run_options, arguments)


# -- when a run returns -----------------------------------------------------------------------------------------------


@_breaks("executable.enqueue-only", "A run returns when it is done.")
class WaitsForTheRun(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        run_options.stream.synchronize()
        return results


@_breaks("executable.enqueue-only", "A program with several results waits before it starts.")
class WaitsBeforeTheRun(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        if len(self.result_shapes) > 1:
            run_options.stream.synchronize()
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.enqueue-only", "Programs run one after the other: each waits for the last one's stream.")
class OneAtATime(TemplateExecutable):
    last = None

    def execute_async_on_stream(self, run_options, arguments):
        if OneAtATime.last is not None and OneAtATime.last is not run_options.stream:
            OneAtATime.last.synchronize()
        OneAtATime.last = run_options.stream
        return super().execute_async_on_stream(run_options, arguments)


# -- threads and devices ----------------------------------------------------------------------------------------------


@_breaks("executable.many-threads", "A run reads its arguments from the executable when its turn comes.")
class SharesArguments(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        self.current = list(arguments)
        if not arguments or len(arguments) != len(self.parameter_shapes):
            return super().execute_async_on_stream(run_options, arguments)
        scratch = [run_options.allocator.allocate(m.size) for m in arguments]
        stream = run_options.stream

        def copy() -> None:
            for target, source in zip(scratch, self.current, strict=True):
                stream.copy(target, source)

        donated = {a.parameter_number for a in self.module.input_output_aliases} | {
            n for n, _ in self.module.buffer_donors
        }
        if donated:
            for memory in scratch:
                run_options.allocator.free(memory)
            return super().execute_async_on_stream(run_options, arguments)
        stream.enqueue(copy)
        results = super().execute_async_on_stream(run_options, scratch)
        for memory in scratch:
            run_options.allocator.free(memory)
        return results


@_breaks("compiler.thread-safe", "The compiler keeps the module that it compiles in a field.")
class CompilesInAField(Compiler):
    def run_backend(self, module, options, executor=None):
        self.module = module
        time.sleep(0.002)
        return super().run_backend(self.module, options, executor)


class _FirstDevice(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        first = self.__dict__.setdefault("_first", run_options)
        return super().execute_async_on_stream(dataclasses.replace(run_options, executor=first.executor), arguments)


@_breaks("executable.many-devices", "Constants are on the first device that ran the program.")
class ConstantsOnOneDevice(_FirstDevice):
    pass


@_breaks("executable.many-devices", "Each device is replica 0.")
class AlwaysReplicaZero(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        if run_options.replica_id:
            raise InternalError("there is no replica but 0")
        return super().execute_async_on_stream(run_options, arguments)


# -- results and arguments --------------------------------------------------------------------------------------------


@_breaks("executable.result-order", "Programs of more than three results give the last two in the other order.")
class SwapsResults(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        shapes = self.result_shapes
        if len(results) > 3 and shapes[-1] == shapes[-2]:
            results[-2:] = results[-1], results[-2]
        return results


@_breaks("executable.results-from-allocator", "Results of more than 100 bytes come from the device itself.")
class ResultsBesideTheAllocator(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        for i, memory in enumerate(results):
            if memory.size > 100 and not any(memory is a for a in arguments):
                own = run_options.executor.allocate(memory.size)
                run_options.stream.memcpy_d2d(own, memory)
                run_options.allocator.free(memory)
                results[i] = own
        return results


@_breaks("executable.arguments-kept", "A run increments the first byte of its last argument when it is done.")
class WritesAnArgument(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if arguments and self.parameter_shapes[-1].num_elements > 6 and not any(r is arguments[-1] for r in results):
            run_options.stream.memset(arguments[-1], 1)
        return results


@_breaks("executable.results-distinct", "A result that stands twice in the tuple is one memory.")
class ReturnsMemoryTwice(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        copied = [o.operand(0) if o.opcode == "copy" else o for o in root.operands]
        for i, value in enumerate(copied[: len(results)]):
            first = copied.index(value)
            if first != i and root.opcode == "tuple" and results[i] not in arguments:
                run_options.allocator.free(results[i])
                results[i] = results[first]
        return results


@_breaks("executable.results-distinct", "Where the first two results are one value, they are one memory.")
class ReturnsTheFirstTwice(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        values = [o.operand(0) if o.opcode == "copy" else o for o in root.operands[:2]]
        if root.opcode == "tuple" and len(results) > 1 and values[0] is values[1] and results[1] not in arguments:
            run_options.allocator.free(results[1])
            results[1] = results[0]
        return results


@_breaks("executable.immutable", "Every third run of an executable is skipped.")
class SkipsARun(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        self.count = self.__dict__.get("count", 0) + 1
        if self.count % 3 or self.module.input_output_aliases:
            return super().execute_async_on_stream(run_options, arguments)
        return [run_options.allocator.allocate(s.byte_size) for s in self.result_shapes]


@_breaks("stream.in-order", "A run is on a stream of its own.")
class RunsOnAnotherStream(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        own = run_options.executor.create_stream()
        results = super().execute_async_on_stream(dataclasses.replace(run_options, stream=own), arguments)
        event = own.create_event()
        own.record(event)
        run_options.stream.wait(event)
        return results


@_breaks("executable.run", "Temporary memory is freed before the work that uses it is enqueued.")
class FreesTooEarly(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        stream, allocator = run_options.stream, run_options.allocator
        if not arguments or self.module.input_output_aliases or self.module.buffer_donors:
            return super().execute_async_on_stream(run_options, arguments)
        copy = allocator.allocate(arguments[0].size)
        stream.memcpy_d2d(copy, arguments[0])
        allocator.free(copy)
        return super().execute_async_on_stream(run_options, [copy, *arguments[1:]])


@_breaks("executable.out-of-memory", "A run that finds no memory raises INTERNAL.")
class OutOfMemoryIsInternal(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except ResourceExhaustedError as error:
            raise InternalError("allocation failed") from error


@_breaks("executable.out-of-memory-keeps-arguments", "A run writes to donated arguments before it has its memory.")
class WritesBeforeItAllocates(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except ResourceExhaustedError:
            for alias in self.module.input_output_aliases:
                run_options.stream.memset(arguments[alias.parameter_number], 0)
            raise


@_breaks("executable.failure-poisons", "A run behind a failure raises the failure.")
class RaisesEarlierFailures(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        error = run_options.stream.error
        if error is not None:
            raise error
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.failure-poisons", "A run clears the failure of the stream.")
class ClearsFailures(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        run_options.stream.recover()
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.donation", "Donated arguments are never given back: results are always new.", profile="full")
class ExecutesWithoutReuse(TemplateExecutable):
    """Right by the contract, but it frees the donated argument, which the runtime frees too."""

    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        for i, memory in enumerate(results):
            if any(memory is a for a in arguments):
                own = run_options.allocator.allocate(memory.size)
                run_options.stream.memcpy_d2d(own, memory)
                run_options.allocator.free(memory)
                results[i] = own
        return results


# -- serialization ----------------------------------------------------------------------------------------------------


@_breaks("executable.serialize", "Executables are serialized as a number of this process.")
class SerializesANumber(Compiler):
    modules: dict[bytes, str] = {}  # noqa: RUF012

    def run_backend(self, module, options, executor=None):
        made = super().run_backend(module, options, executor)
        text, number = module.to_text(), f"{len(self.modules)}".encode()
        self.modules[number] = text
        made.serialize = lambda: number
        return made

    def deserialize(self, data, options=None, executor=None):
        return super().deserialize(self.modules[data].encode(), options, executor)


@_breaks("compiler.deserialize", "Of serialized executables of one length, the first that is loaded stands for all.")
class LoadsTheFirst(Compiler):
    def deserialize(self, data, options=None, executor=None):
        loaded = self.__dict__.setdefault("_loaded", {})
        if len(data) not in loaded:
            loaded[len(data)] = super().deserialize(data, options, executor)
        return loaded[len(data)]


@_breaks("executable.serialize", "Serialized executables donate nothing.")
class LosesDonation(TemplateExecutable):
    def serialize(self):
        module = parse_hlo(self.module.to_text())
        module.input_output_aliases, module.buffer_donors = [], []
        return module.to_text().encode()


@_breaks("executable.serialize", "Serialized float constants have six digits.")
class RoundsConstants(TemplateExecutable):
    def serialize(self):
        text = super().serialize().decode()
        return re.sub(r"-?\d+\.\d{7,}(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", text).encode()


@_breaks("executable.serialize", "Serialized NaNs lose their payload.")
class LosesNanPayloads(TemplateExecutable):
    def serialize(self):
        return re.sub(r"nan\(0x[0-9a-f]+\)", "nan", super().serialize().decode()).encode()


@_breaks("executable.fingerprint", "The fingerprint is another one each time.")
class RandomFingerprint(TemplateExecutable):
    numbers = itertools.count()

    def fingerprint(self):
        return f"{next(self.numbers)}"


@_breaks("compiler.deserialize", "Deserialized executables are compiled without replicas.")
class LosesReplicas(Compiler):
    def deserialize(self, data, options=None, executor=None):
        text = re.sub(r", (replica_count|num_partitions)=\d+", "", data.decode())
        return super().deserialize(text.encode(), options, executor)


@_breaks("compiler.deserialize", "Deserialized executables report no temporaries.")
class LosesTemporaries(Compiler):
    def deserialize(self, data, options=None, executor=None):
        made = super().deserialize(data, options, executor)
        made.report.temp_bytes = 0
        return made


@_breaks(
    "stream.in-order", "Launches of a MiB and more run on the device's own stream.", select="streams or executables"
)
class LargeLaunchesElsewhere(HloKernel):
    def launch(self, stream, arguments, dimensions):
        if arguments[-1].size < 1 << 20:
            super().launch(stream, arguments, dimensions)
            return
        own = vars(stream.executor).setdefault("own", Stream(stream.executor))
        event = stream.create_event()
        stream.record(event)
        own.wait(event)
        super().launch(own, arguments, dimensions)


# -- figures ----------------------------------------------------------------------------------------------------------


def _memory(name: str, promise: str, fault: str, change) -> None:
    def memory_stats(self):
        return change(TemplateExecutable.memory_stats(self))

    _breaks(promise, fault)(type(name, (TemplateExecutable,), {"memory_stats": memory_stats}))


_memory(
    "TemporariesTimesThousand",
    "executable.memory-stats",
    "Temporary memory is said to be a thousand times as much.",
    lambda s: dataclasses.replace(s, temp_bytes=1000 * s.temp_bytes),
)
_memory(
    "ResultsTwice",
    "executable.memory-stats-sizes",
    "Results are counted twice.",
    lambda s: dataclasses.replace(s, output_bytes=2 * s.output_bytes),
)
_memory(
    "NoAliases",
    "executable.memory-stats",
    "Aliased results are not counted.",
    lambda s: dataclasses.replace(s, alias_bytes=0),
)
_memory(
    "HugeCode",
    "executable.memory-stats",
    "The code is said to have a gigabyte.",
    lambda s: dataclasses.replace(s, generated_code_bytes=1 << 30),
)


def _cost(name: str, fault: str, change) -> None:
    def cost_analysis(self):
        return change(dict(TemplateExecutable.cost_analysis(self)))

    _breaks("executable.cost", fault)(type(name, (TemplateExecutable,), {"cost_analysis": cost_analysis}))


_cost("FlopsTimesThousand", "Flops are a thousand times as many.", lambda c: c | {"flops": 1000 * c["flops"]})
_cost("NoFlops", "Flops are 0.", lambda c: c | {"flops": 0.0})
_cost("NoBytes", "No bytes are accessed.", lambda c: c | {"bytes accessed": 0.0})
_cost(
    "BytesTimesThousand",
    "A thousand times as many bytes are accessed.",
    lambda c: c | {"bytes accessed": 1000 * c["bytes accessed"]},
)
_cost("NoTranscendentals", "Transcendentals are 0.", lambda c: c | {"transcendentals": 0.0})
_cost("CostsWithoutFlops", "There is no estimate of flops.", lambda c: {k: v for k, v in c.items() if k != "flops"})


def _report(name: str, promise: str, fault: str, **values: object) -> None:
    def compile(self, module, options=None, executor=None):
        made = Compiler.compile(self, module, options, executor)
        for field, value in values.items():
            setattr(made.report, field, value)
        return made

    _breaks(promise, fault)(type(name, (Compiler,), {"compile": compile}))


_report("NoSeconds", "report.seconds", "A compilation takes no time.", compile_seconds=0.0)
_report("ManySeconds", "report.seconds", "A compilation takes an hour.", compile_seconds=3600.0)
_report("NegativeKernels", "report.kernels", "A program has -1 kernels.", kernels=-1)
_report("ManyFusions", "report.fusions", "A program has 77 fusions.", fusions=77)
_report("NoInstructions", "report.instructions", "A program has no instructions.", instructions_after=0)
_report("ManyInstructions", "report.instructions", "A program had a million instructions.", instructions_before=10**6)
_report("ReuseCosts", "report.temp-bytes", "Reuse needs more memory.", temp_bytes=10**6, temp_bytes_without_reuse=1)


@_breaks("executable.artifact-hlo", 'There is no artifact "hlo".')
class NoHloArtifact(TemplateExecutable):
    def artifacts(self):
        return {k: v for k, v in super().artifacts().items() if k != "hlo"}


@_breaks("executable.as-text", "as_text() has no entry's root.")
class TextOfAnotherProgram(TemplateExecutable):
    def as_text(self):
        return self.module.to_text().replace("add(", "subtract(")


@_breaks("executable.result-shapes", "The shapes of results have no layouts.")
class ShapesWithoutLayouts(TemplateExecutable):
    @property
    def result_shapes(self):
        return tuple(s.without_layout() for s in super().result_shapes)


# -- feeds and the end ------------------------------------------------------------------------------------------------


class _LastFirst(LiteralQueue):
    def get(self, timeout=None):
        with self._changed:
            self._items = deque(reversed(self._items))
        return super().get(timeout)


class _LastFirstFeeds(TransferManager):
    def _queue(self, kind, ordinal):
        return self._queues.setdefault((kind, ordinal), _LastFirst(kind))


class _SharedFeeds(TransferManager):
    def _queue(self, kind, ordinal):
        return super()._queue(kind, 0)


class _OpenFeeds(TransferManager):
    def close(self):
        pass


def _manager(name: str, promise: str, fault: str, cls: type, **fields: object) -> None:
    platform = type(name, (Platform,), {"create_transfer_manager": lambda self: cls(self.compiler.target_config)})
    _breaks(promise, fault, **fields)(platform)


_manager("LastInFirstOut", "transfer-manager.infeed", "The infeed gives the newest value first.", _LastFirstFeeds)
_manager("OneInfeedForAll", "transfer-manager.infeed", "All devices have one infeed.", _SharedFeeds)
_manager("FeedsStayOpen", "transfer-manager.close", "Closing the feeds does nothing.", _OpenFeeds)


@_breaks("executable.close-cancels", "Closing an executable cancels the runs of all.")
class ClosesAll(TemplateExecutable):
    every: list[TemplateExecutable] = []  # noqa: RUF012

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.every.append(self)

    def close(self):
        for executable in self.every:
            executable._executor.cancel()


@_breaks("executable.close-starts-nothing", "Closing an executable raises KeyError.")
class CloseRaises(TemplateExecutable):
    def close(self):
        raise KeyError("no such run")
