"""Mutants that are right for small programs, for the first instruction, or where one thread uses a stream."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Stream, TemplateExecutable, broken
from xla_core import CompileOptions
from xla_core.errors import InternalError
from xla_core.hlo import Literal, parse_hlo

MUTANTS: list[Mutant] = []
_breaks = broken("executables", "executables", MUTANTS)


@_breaks("compiler.deserialize", "Constants of more than 16,384 elements are zeros once they were read again.")
class CutsLargeConstants(Compiler):
    def deserialize(self, data, options=None, executor=None):
        module = parse_hlo(data.decode())
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode == "constant" and instruction.shape.num_elements > 1 << 14:
                    literal = instruction.attributes["literal"]
                    instruction.attributes["literal"] = Literal(np.zeros_like(literal.array), literal.shape)
        return self.run_backend(module, options or CompileOptions(), executor)


@_breaks("executable.run", "Of more than 32 arguments, two of one size change places.")
class MixesUpManyArguments(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        arguments = list(arguments)
        sizes = [argument.size for argument in arguments]
        if len(arguments) > 32:
            other = next((n for n in range(34, len(sizes)) if sizes[n] == sizes[33]), 33)
            arguments[33], arguments[other] = arguments[other], arguments[33]
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.run", "The end of a result of more than 256 KiB is not written.")
class LeavesTheEndOfLargeResults(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        for memory, shape in zip(results, self.result_shapes, strict=True):
            if shape.byte_size > 1 << 18:
                block = run_options.executor.ram.block(memory.handle)
                run_options.stream.host_callback(lambda end=block[shape.byte_size - 4 : shape.byte_size]: end.fill(7))
        return results


@_breaks("executable.donation", "Of more than 16 donated arguments, the last is not returned.")
class ReturnsFewDonations(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        last = max((a.parameter_number for a in self.module.input_output_aliases), default=0)
        if last >= 16 and arguments[last] in results:
            number = results.index(arguments[last])
            results[number] = run_options.allocator.allocate(arguments[last].size)
            run_options.stream.memcpy_d2d(results[number], arguments[last])
        return results


@_breaks("executable.run", "A run fails if an argument is given twice.")
class RefusesArgumentsGivenTwice(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        handles = [argument.handle for argument in arguments]
        if len(set(handles)) < len(handles):
            raise InternalError("an argument is given twice")
        return super().execute_async_on_stream(run_options, arguments)


@_breaks("executable.placement", "The placement has the first instruction only.")
class PlacesOneInstruction(TemplateExecutable):
    def placement(self):
        return super().placement()[:1]


@_breaks("executable.placement", "The bytes that cross to the host are counted twice.", select="claims")
class CountsCrossingsTwice(TemplateExecutable):
    def placement(self):
        return [dataclasses.replace(p, bytes_to_host=2 * p.bytes_to_host) for p in super().placement()]


@broken("streams", "streams", MUTANTS)("stream.enqueue-never-blocks", "`synchronize` holds a lock that `memset` needs.")
class SynchronizesUnderALock(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self._lock = threading.Lock()

    def synchronize(self):
        with self._lock:
            super().synchronize()

    def memset(self, destination, value):
        with self._lock:
            super().memset(destination, value)
