"""Mutants with the mistakes of a compiler's port: caches, command buffers, serialized fields and control flow."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, TemplateExecutable, broken, with_constants
from xla_core.errors import InternalError, XlaError
from xla_core.schedule import ConditionalThunk, WhileThunk

MUTANTS: list[Mutant] = []
of_executables = broken("executables", "executables and not leak", MUTANTS)
_PROGRAMS = "executables or ops or programs"


@of_executables("executable.memory-stats", "The memory statistics are those of the program that was compiled last.")
class FiguresOfTheLast(TemplateExecutable):
    last = None

    def __init__(self, module, program, report, artifacts):
        super().__init__(module, program, report, artifacts)
        FiguresOfTheLast.last = self

    def memory_stats(self):
        return super(FiguresOfTheLast, FiguresOfTheLast.last).memory_stats()


@of_executables("executable.serialize", "Serialized numbers of u64 are signed.")
class SerializesSignedNumbers(TemplateExecutable):
    def serialize(self):
        def change(array):
            return np.minimum(array, np.uint64((1 << 63) - 1)) if array.dtype == np.uint64 else array

        return with_constants(self.module, change).to_text().encode()


@of_executables("executable.serialize", "A serialized scalar constant that stands twice is one of the first kind.")
class OneScalarForAll(TemplateExecutable):
    def serialize(self):
        seen = {}

        def change(array):
            return seen.setdefault(str(array.dtype), array) if array.ndim == 0 else array

        return with_constants(self.module, change).to_text().encode()


@of_executables("executable.run", "A loop runs its body before the first test.", select=_PROGRAMS)
class LoopsRunOnce(Compiler):
    def make_executable(self, module, program, report, artifacts):
        def change(thunk):
            if isinstance(thunk, WhileThunk) and thunk.trip_count is None:
                return type(program.thunks)([*thunk.body, thunk])
            return type(program.thunks)([thunk])

        changed = [t for thunk in program.thunks for t in change(thunk)]
        wrong = dataclasses.replace(program, thunks=type(program.thunks)(changed))
        return super().make_executable(module, wrong, report, artifacts)


@of_executables("executable.run", "A `conditional` of more than two branches runs the last but one for the last.",
                select=_PROGRAMS)  # fmt: skip
class LastButOneBranch(Compiler):
    def make_executable(self, module, program, report, artifacts):
        def change(thunk):
            if isinstance(thunk, ConditionalThunk) and len(thunk.branches) > 2:
                return dataclasses.replace(thunk, branches=(*thunk.branches[:-1], thunk.branches[-2]))
            return thunk

        wrong = dataclasses.replace(program, thunks=type(program.thunks)(map(change, program.thunks)))
        return super().make_executable(module, wrong, report, artifacts)


@of_executables("compiler.run-backend", "A cache of programs leaves out which arguments are donated.")
class CachesWithoutDonation(Compiler):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def run_backend(self, module, options, executor=None):
        key = (module.to_text().partition("\n")[2], options.model_dump_json())
        if key not in self.cache:
            self.cache[key] = super().run_backend(module, options, executor)
        return self.cache[key]


@of_executables("executable.enqueue-only", "A program of more than 16 instructions is flushed, which waits for it.")
class FlushesLongPrograms(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if len(self.module.entry.instructions) > 16:
            run_options.stream.synchronize()
        return results


@of_executables("executable.run", "The 65th argument is the first one again, where their shapes agree.")
class SixtyFourArguments(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        shapes = self.parameter_shapes
        if len(arguments) > 64 and shapes[64] == shapes[0]:
            arguments = [*arguments[:64], arguments[0], *arguments[65:]]
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.fingerprint", "The fingerprint leaves out the attributes of instructions.")
class FingerprintWithoutAttributes(TemplateExecutable):
    def fingerprint(self):
        said = [(str(i.opcode), str(i.shape)) for c in self.module.computations for i in c.instructions]
        return str(hash(tuple(said)))


@of_executables(
    "compiler.run-backend", "The compilation behind one that failed fails too.", select="executables or claims"
)
class FailsTwice(Compiler):
    failed = False

    def compile(self, module, options=None, executor=None):
        if self.failed:
            self.failed = False
            raise InternalError("the compiler has an open error")
        try:
            return super().compile(module, options, executor)
        except XlaError:
            self.failed = True
            raise


@of_executables("executable.many-devices", "A program that ran on the second device stays there.")
class StaysOnTheSecond(TemplateExecutable):
    stays = None

    def execute_async_on_stream(self, run_options, arguments):
        if run_options.executor.ordinal == 1:
            self.stays = run_options.stream
        elif self.stays is not None:
            run_options = dataclasses.replace(run_options, stream=self.stays)
        return super().execute_async_on_stream(run_options, arguments)
