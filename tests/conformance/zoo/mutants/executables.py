"""Mutants whose executables leak, block, lie in their statistics, or lose something when they are serialized."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import subprocess
import tempfile
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, TemplateExecutable, broken
from xla_core.backend import ExecutableMemoryStats
from xla_core.errors import InternalError, XlaError
from xla_core.hlo import Literal, parse_hlo

MUTANTS: list[Mutant] = []
says = broken("executables", "executables and not leak", MUTANTS)
_turns = itertools.count(1)


@says("executable.enqueue-only", "An execution waits until it is done.")
class ExecutionBlocks(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        run_options.stream.synchronize()
        return results


@says("executable.results-from-allocator", "Each run leaks 64 bytes of the allocator.", select="leak or contract")
class LeaksPerRun(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        run_options.allocator.allocate(64)
        return super().execute_async_on_stream(run_options, arguments)


@says("executable.error-frees", "A run that fails for lack of memory leaks what it had.", select="leak or contract")
class LeaksOnFailure(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        class Kept:
            def __init__(self, allocator):
                self.allocator = allocator

            def allocate(self, size, memory_space=0):
                return self.allocator.allocate(size, memory_space)

            def free(self, memory):
                if not failed:
                    self.allocator.free(memory)

        failed = []
        plain = run_options.allocator

        class Watching(Kept):
            def allocate(self, size, memory_space=0):
                try:
                    return plain.allocate(size, memory_space)
                except XlaError:
                    failed.append(True)
                    raise

        import dataclasses

        return super().execute_async_on_stream(dataclasses.replace(run_options, allocator=Watching(plain)), arguments)


@says("executable.results-from-allocator", "Results come from the device, past the allocator.")
class PastTheAllocator(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        own = {id(a) for a in arguments}
        for i, memory in enumerate(results):
            if memory.size and id(memory) not in own:
                results[i] = run_options.executor.allocate(memory.size)
                run_options.stream.memcpy_d2d(results[i], memory)
                run_options.allocator.free(memory)
        return results


@says("executable.result-order", "Two results of one shape are returned in the other order.")
class ResultsSwapped(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        if len(results) > 1 and self.result_shapes[0] == self.result_shapes[1]:
            results[:2] = results[1::-1]
        return results


@says("executable.arguments-kept", "The first argument is overwritten after the run.")
class OverwritesAnArgument(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if arguments and arguments[0].size > 64 and all(arguments[0] is not r for r in results):
            run_options.stream.memset(arguments[0], 0)
        return results


@says("executable.arguments-kept", "An argument that is returned as it is isn't copied.")
class ReturnsAnArgument(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        items = root.operands if root.opcode == "tuple" else (root,)
        for i, item in enumerate(items):
            copied = item.operands[0] if item.opcode == "copy" else item
            if copied.opcode == "parameter" and len(items) == len(results):
                run_options.allocator.free(results[i])
                results[i] = arguments[copied.parameter_number]
        return results


@says("executable.many-threads", "Two threads that run one executable at once get an error.")
class OneThreadAtATime(TemplateExecutable):
    inside = False

    def execute_async_on_stream(self, run_options, arguments):
        if self.inside:
            raise InternalError("it is running")
        self.inside = True
        try:
            time.sleep(0.0005)
            return super().execute_async_on_stream(run_options, arguments)
        finally:
            self.inside = False


@says("executable.many-devices", "An executable runs on the device that it first ran on.")
class OneDevice(TemplateExecutable):
    first = None

    def execute_async_on_stream(self, run_options, arguments):
        self.first = self.first or run_options.executor
        if run_options.executor is not self.first:
            raise InternalError("it is on another device")
        return super().execute_async_on_stream(run_options, arguments)


@says("executable.immutable", "The second run of an executable gives the first one's results.")
class SecondRunIsTheFirst(TemplateExecutable):
    kept = None

    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if self.kept is None and results and results[0].size:
            self.kept = np.empty(results[0].size, np.uint8)
            run_options.stream.memcpy_d2h(self.kept, results[0])
        elif self.kept is not None and next(_turns) % 3 == 0:
            run_options.stream.memcpy_h2d(results[0], self.kept)
        return results


@says("executable.serialize", "A serialized executable loses its constants of more than 1,000 bytes.")
class LosesConstants(TemplateExecutable):
    def serialize(self):
        module = self.module.clone()
        for computation in module.computations:
            for i in computation.instructions:
                if i.opcode == "constant" and i.shape.is_array and i.literal.value.nbytes > 1000:
                    i.attributes["literal"] = Literal(np.zeros_like(i.literal.value))
        return module.to_text().encode()


@says("executable.serialize", "A serialized executable forgets which arguments are donated.")
class LosesAliases(TemplateExecutable):
    def serialize(self):
        module = self.module.clone()
        module.input_output_aliases = ()
        return module.to_text().encode()


@says("compiler.deserialize", "A loaded executable's first two parameters are exchanged.")
class LoadedParametersSwapped(Compiler):
    def deserialize(self, data, options=None, executor=None):
        loaded = super().deserialize(data, options, executor)
        plain = loaded.execute_async_on_stream

        def run(run_options, arguments):
            shapes = loaded.parameter_shapes
            if len(shapes) > 1 and shapes[0] == shapes[1]:
                arguments = [arguments[1], arguments[0], *arguments[2:]]
            return plain(run_options, arguments)

        loaded.execute_async_on_stream = run
        return loaded


@says("compiler.deserialize", "What is loaded is kept in a table of this process.")
class SerializedByNumber(Compiler):
    table: dict[bytes, bytes] = {}  # noqa: RUF012

    def deserialize(self, data, options=None, executor=None):
        return super().deserialize(self.table[data], options, executor)


class _Numbered(TemplateExecutable):
    def serialize(self):
        data = super().serialize()
        key = f"number {len(SerializedByNumber.table)}".encode()
        SerializedByNumber.table[key] = data
        return key


SerializedByNumber.executable = _Numbered


@says("executable.fingerprint", "Every executable has the same fingerprint.")
class OneFingerprint(TemplateExecutable):
    def fingerprint(self):
        return "zoo"


@says("executable.fingerprint", "Each call gives another fingerprint.")
class FingerprintsDiffer(TemplateExecutable):
    def fingerprint(self):
        return f"{id(self)}-{next(_turns)}"


@says("executable.fingerprint", "The fingerprint leaves out all but the first numbers of constants.")
class FingerprintOfBeginnings(TemplateExecutable):
    def fingerprint(self):
        return re.sub(r"(constant\(\{[^}]{0,40})[^}]*", r"\1", self.module.to_text())


@says("executable.cost", "The costs are 0.")
class NoCosts(TemplateExecutable):
    def cost_analysis(self):
        return dict.fromkeys(super().cost_analysis(), 0.0)


@says("executable.cost", "The costs are a thousand times too large.")
class LargeCosts(TemplateExecutable):
    def cost_analysis(self):
        return {k: 1000 * v for k, v in super().cost_analysis().items()}


@says("executable.memory-stats", "The memory statistics are 0.")
class NoStatistics(TemplateExecutable):
    def memory_stats(self):
        return ExecutableMemoryStats()


@says("executable.memory-stats-sizes", "The memory statistics count the arguments a thousand times.")
class LargeStatistics(TemplateExecutable):
    def memory_stats(self):
        import dataclasses

        stats = super().memory_stats()
        return dataclasses.replace(stats, argument_bytes=1000 * stats.argument_bytes)


@says("executable.memory-stats", "The temporary memory is a gigabyte, whatever the program.")
class LargeTemporaries(TemplateExecutable):
    def memory_stats(self):
        import dataclasses

        return dataclasses.replace(super().memory_stats(), temp_bytes=1 << 30)


@says("executable.memory-stats", "The temporary memory is 0, whatever the program.")
class NoTemporaries(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        report.temp_bytes = report.temp_bytes_without_reuse = 0
        super().__init__(module, program, report, artifacts)


@says("report.kernels", "The report counts a million kernels.")
class ManyKernels(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        report.kernels = 1_000_000
        super().__init__(module, program, report, artifacts)


@says("report.kernels", "The report counts no kernels.")
class NoKernels(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        report.kernels = 0
        super().__init__(module, program, report, artifacts)


@says("report.kernels", "Kernels are counted twice.")
class KernelsTwice(TemplateExecutable):
    def __init__(self, module, program, report, artifacts):
        report.kernels *= 2
        super().__init__(module, program, report, artifacts)


@says("compiler.passes-in-place", "A compilation writes to the constants of the program that it was given.")
class WritesToConstants(Compiler):
    def run_hlo_passes(self, module, options, executor=None):
        for computation in module.computations:
            for instruction in computation.instructions:
                if (
                    instruction.opcode == "constant"
                    and instruction.shape.is_array
                    and instruction.shape.num_elements > 9
                ):
                    values = instruction.literal.value
                    ctypes.memset(values.__array_interface__["data"][0], 0, values.nbytes)
        return super().run_hlo_passes(module, options, executor)


@says("compiler.run-backend", "Each compilation leaves a temporary file.", select="test_compilations_leave_nothing")
class LeavesTemporaryFiles(Compiler):
    def run_backend(self, module, options, executor=None):
        os.close(tempfile.mkstemp(suffix=".s")[0])
        return super().run_backend(module, options, executor)


@says("compiler.run-backend", "Some compilations leave a process.", select="test_compilations_leave_nothing")
class LeavesProcesses(Compiler):
    def run_backend(self, module, options, executor=None):
        if next(_turns) % 20 == 0:
            subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return super().run_backend(module, options, executor)


@says("executable.artifact-hlo", "There is no artifact `hlo`.")
class NoHlo(TemplateExecutable):
    def artifacts(self):
        return {k: v for k, v in super().artifacts().items() if k != "hlo"}


@says("executable.as-text", "The text is that of an empty module.")
class EmptyText(TemplateExecutable):
    def as_text(self):
        return "HloModule empty"


@says("executable.failure-poisons", "A failure on the device is raised by the call that enqueued it.")
class FailureIsRaised(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if run_options.stream.error is not None:
            raise run_options.stream.error
        return results


@says("compiler.thread-safe", "Two threads can't compile at once.")
class CompilesAlone(Compiler):
    inside = False

    def run_backend(self, module, options, executor=None):
        if self.inside:
            raise InternalError("another thread compiles")
        self.inside = True
        try:
            time.sleep(0.001)
            return super().run_backend(module, options, executor)
        finally:
            self.inside = False


@says("compiler.thread-safe", "Threads that compile get each other's program, now and then.")
class CompilesAnothers(Compiler):
    current = None

    def run_backend(self, module, options, executor=None):
        self.current = module
        time.sleep(0.0005)
        return super().run_backend(self.current, options, executor)


@says("compiler.needs-no-device", "Compiling needs a device.")
class CompilesOnTheDevice(Compiler):
    def run_backend(self, module, options, executor=None):
        if executor is None:
            raise InternalError("there is no device to compile for")
        return super().run_backend(module, options, executor)


@says("compiler.run-backend", "The compiler raises KeyError for programs with a constant of rank 2.")
class RaisesKeyError(Compiler):
    def run_backend(self, module, options, executor=None):
        for i in module.entry.instructions:
            if i.opcode == "constant" and i.shape.is_array and i.shape.rank == 2:
                raise KeyError(i.name)
        return super().run_backend(module, options, executor)


@says("compiler.shape-size", "Arrays are said to take half their bytes.")
class HalfTheBytes(Compiler):
    def shape_size_bytes(self, shape):
        size = super().shape_size_bytes(shape)
        return size // 2 if size > 1024 else size


@says("compiler.run-backend", "At optimization level 0, programs of several instructions lose their last one.")
class LevelZeroIsWrong(Compiler):
    def run_backend(self, module, options, executor=None):
        root = module.entry.root
        if options.optimization_level == 0 and root.operands and root.operands[0].shape == root.shape:
            module = parse_hlo(module.to_text())
            module.entry.set_root(module.entry.root.operands[0])
        return super().run_backend(module, options, executor)


@says("compiler.run-backend", "A program that is compiled twice is the first one's, where names and shapes agree.")
class CachesByName(Compiler):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def run_backend(self, module, options, executor=None):
        key = (
            module.name,
            str(module.result_shape),
            tuple(map(str, module.parameter_shapes)),
            module.instruction_count,
        )
        module = self.cache.setdefault(key, module.clone())
        return super().run_backend(module.clone(), options, executor)
