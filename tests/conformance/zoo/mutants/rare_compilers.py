"""Mutants with the mistakes that compilers make now and then: executables, claims, collectives, loading and code."""

from __future__ import annotations

import ctypes
import dataclasses
import resource
import threading

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator, with_attributes
from tests.conformance.zoo.native_code import native_mutant, replaced
from tests.conformance.zoo.parts import (
    Compiler,
    Executor,
    Platform,
    TemplateExecutable,
    broken,
    template,
    with_constants,
)
from xla_core.backend import Availability, CompileOptions
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo import ElementType
from xla_core.runtime import InProcessCommunicator
from xla_core.target import Unsupported

MUTANTS: list[Mutant] = []
of_executables = broken("executables", "executables and not leak", MUTANTS)
of_claims = broken("claims", "claims or loading", MUTANTS)
of_collectives = broken("collectives", "collectives", MUTANTS)
of_loading = broken("loading", "loading", MUTANTS)


# -- executables -------------------------------------------------------------------------------------------------------


@of_executables("executable.serialize", "A serialized infinity is the largest number.")
class SerializesNoInfinity(TemplateExecutable):
    def serialize(self):
        def change(array):
            if array.dtype not in (np.float32, np.float64):
                return array
            return np.nan_to_num(array, nan=np.nan)

        return with_constants(self.module, change).to_text().encode()


@of_executables("executable.serialize", "A serialized -0 is 0.")
class SerializesNoMinusZero(TemplateExecutable):
    def serialize(self):
        def change(array):
            return array + array.dtype.type(0) if array.dtype in (np.float32, np.float64) else array

        return with_constants(self.module, change).to_text().encode()


@of_executables(
    "executable.fingerprint", "The fingerprint leaves out the values of constants of more than 10 elements."
)
class FingerprintWithoutConstants(TemplateExecutable):
    def fingerprint(self):
        def change(array):
            return array if array.size <= 10 else np.zeros_like(array)

        return str(hash(with_constants(self.module, change).to_text()))


@of_executables("executable.result-order", "More than ten results are in the order of their numbers as texts.")
class ResultsAsTexts(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        shapes = self.result_shapes
        order = sorted(range(len(results)), key=str)
        return [results[n] for n in order] if len({str(shape) for shape in shapes}) == 1 else results


@of_executables("executable.run", "The first run runs twice, to choose its kernels.")
class TunesOnTheFirstRun(TemplateExecutable):
    tuned = False

    def execute_async_on_stream(self, run_options, arguments):
        donates = self.module.input_output_aliases or self.module.buffer_donors
        if not self.tuned and not donates:
            self.tuned = True
            for memory in super().execute_async_on_stream(run_options, arguments):
                run_options.allocator.free(memory)
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.run", "Behind an empty argument, two arguments of one size change places.")
class EmptyArgumentsShift(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        shapes = self.parameter_shapes
        empty = next((n for n, shape in enumerate(shapes) if shape.num_elements == 0), len(shapes))
        if shapes[empty + 1 : empty + 2] == shapes[empty + 2 : empty + 3] and len(shapes) > empty + 2:
            arguments = list(arguments)
            arguments[empty + 1 : empty + 3] = arguments[empty + 2], arguments[empty + 1]
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.donation", "Results in donated arguments are in the order of the arguments.")
class AliasesInOrder(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        given = [id(argument) for argument in arguments]
        places = [n for n, memory in enumerate(results) if id(memory) in given]
        kept = sorted((results[n] for n in places), key=lambda memory: given.index(id(memory)))
        if len({self.result_shapes[n] for n in places}) == 1:
            for place, memory in zip(places, kept, strict=True):
                results[place] = memory
        return results


@of_executables("executable.memory-stats-sizes", "Scalars count as arguments of no bytes.")
class ScalarsAreFree(TemplateExecutable):
    def memory_stats(self):
        stats = super().memory_stats()
        scalars = sum(shape.element_type.byte_width for shape in self.parameter_shapes if shape.rank == 0)
        return dataclasses.replace(stats, argument_bytes=stats.argument_bytes - scalars)


@of_executables("compiler.run-backend", "A program is compiled once, whatever the options of the next time are.")
class CachesAcrossOptions(Compiler):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def run_backend(self, module, options, executor=None):
        key = module.to_text()
        if key not in self.cache:
            self.cache[key] = super().run_backend(module, options, executor)
        return self.cache[key]


@of_executables(
    "compiler.deserialize",
    "A loaded executable is compiled with the default options.",
    select="(executables and not leak) or claims",
)
class LoadsWithoutOptions(Compiler):
    def make_kernel(self, instruction, environment):
        answer = self.target_config.supports(instruction)
        if isinstance(answer, Unsupported):  # the host runs it, if the options say so
            raise UnimplementedError(f"there is no kernel: {answer}")
        return super().make_kernel(instruction, environment)

    def deserialize(self, data, options=None, executor=None):
        return super().deserialize(data, CompileOptions(), executor)


@of_executables(
    "compiler.run-backend", "After 300 compilations the compiler has no handle left.", select="executables or ops"
)
class CompilesThreeHundred(Compiler):
    count = 0

    def run_backend(self, module, options, executor=None):
        self.count += 1
        if self.count > 300:
            raise InternalError("no handle is left")
        return super().run_backend(module, options, executor)


# -- claims ------------------------------------------------------------------------------------------------------------


class _Asked(Compiler):
    """The claims depend on `refuses`, a constraint on every op."""

    asked = 0

    @property
    def target_config(self):
        plain = Compiler.target_config.fget(self)
        return plain.model_copy(update={"capabilities": plain.capabilities.with_constraint("*", self.refuses)})


@of_claims("compiler.target-is-data", "Each 40th question whether `tanh` is supported is answered with no.")
class AnswersDiffer(_Asked):
    def refuses(self, instruction):
        if instruction.opcode != "tanh":
            return None
        type(self).asked += 1
        return "tables are full" if self.asked % 40 == 0 else None


@of_claims("compiler.target-is-data", "The answer for scalars of s64 raises KeyError.")
class AnswersRaise(_Asked):
    def refuses(self, instruction):
        if instruction.shape.is_array and instruction.shape.rank == 0:
            {ElementType.S64: 1}.get(instruction.shape.element_type) and {}["s64"]
        return


@of_claims("compiler.target-is-data", "After the first compilation the target claims no `sort` any longer.")
class ClaimsShrink(Compiler):
    compiled = False

    @property
    def target_config(self):
        plain = Compiler.target_config.fget(self)
        if not self.compiled:
            return plain
        return plain.model_copy(update={"capabilities": plain.capabilities.without_ops("sort")})

    def run_backend(self, module, options, executor=None):
        type(self).compiled = True
        return super().run_backend(module, options, executor)


# -- collectives -------------------------------------------------------------------------------------------------------


@communicator("communicator.in-order", "Devices of a group are taken in the order of their numbers.", of_collectives)
class SortsGroups(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        groups = collective.instruction.attributes.get("replica_groups")
        if groups and all(isinstance(group, (tuple, list)) for group in groups):
            collective = with_attributes(collective, replica_groups=tuple(tuple(sorted(g)) for g in groups))
        super().enqueue(stream, collective, operands, results)


@communicator("communicator.in-order", "Of several operands only the first is exchanged.", of_collectives)
class FirstOperandOnly(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        for operand, result in list(zip(operands, results, strict=False))[1:]:
            stream.memcpy_d2d(result, operand)


@communicator("communicator.in-order", "Of results beyond 64 KiB the last piece is left out.", of_collectives)
class LastPieceIsLost(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)

        def cut():
            for result in results:
                if result.size > 1 << 16:
                    stream.ram.block(result.handle)[result.size // 65536 * 65536 : result.size] = 0

        stream.enqueue(cut)


@communicator("communicator.in-order", "Executions at the same time take each other's values.", of_collectives)
class RunsAreOne(InProcessCommunicator):
    def __init__(self, options, timeout_name):
        super().__init__(dataclasses.replace(options, run_id=bool(options.run_id)), timeout_name)


# -- loading -----------------------------------------------------------------------------------------------------------

_probes = [0]


def _probe():
    _probes[0] += 1
    return Availability(available=_probes[0] < 2, cause="" if _probes[0] < 2 else "the device is in use")


MUTANTS.append(
    Mutant(
        name="loading/probe-answers-once",
        breaks="spec.probe",
        fault="The second question of a process finds no device.",
        make=lambda: template(probe=_probe),
        select="loading",
    )
)


@of_loading("platform.create-executor", "A process opens each device once; a second client gets none.")
class OpensOnce(Platform):
    opened: set[int] = set()  # noqa: RUF012

    def create_executor(self, ordinal):
        if ordinal in self.opened:
            raise InternalError("the device is in use")
        self.opened.add(ordinal)
        return super().create_executor(ordinal)


@of_loading("hooks.changes-nothing", "Opening a device makes threads of the caller flush denormal numbers.")
class FlushesDenormals(Platform):
    def create_executor(self, ordinal):
        libm = ctypes.CDLL("libm.so.6")
        environment = (ctypes.c_uint32 * 8)()
        libm.fegetenv(environment)
        environment[7] |= 0x8040  # MXCSR of x86
        libm.fesetenv(environment)
        return super().create_executor(ordinal)


@of_loading("hooks.changes-nothing", "Opening a device limits the number of open files.")
class LimitsFiles(Platform):
    def create_executor(self, ordinal):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
        return super().create_executor(ordinal)


@of_loading("hooks.changes-nothing", "Opening a device changes the stack size of new threads.")
class ShortStacks(Platform):
    def create_executor(self, ordinal):
        threading.stack_size(1 << 18)
        return super().create_executor(ordinal)


@of_loading("executor.close", "A device that was closed can't be opened again.")
class ClosedForEver(Executor):
    closed: set[int] = set()  # noqa: RUF012

    def __init__(self, ordinal, memory_bytes):
        if ordinal in self.closed:
            raise InternalError("the device is lost")
        super().__init__(ordinal, memory_bytes)

    def close(self):
        super().close()
        self.closed.add(self.ordinal)


# -- code --------------------------------------------------------------------------------------------------------------

_FLOAT = r"(?:half|bfloat|float|double)"

MUTANTS += [
    native_mutant(
        "negation-subtracts",
        "`fneg` is a subtraction from 0.",
        replaced(rf"= fneg(?: \w+)* ({_FLOAT}) (\S+)$", r"= fsub \1 0.0, \2"),
    ),
    native_mutant(
        "large-conversion-is-zero",
        "A conversion to integers gives 0 for numbers above the range.",
        replaced(rf"= fcmp oge ({_FLOAT}) (\S+), 0x4[0-9A-F]E0000000000000$", r"= fcmp false \1 \2, 0.0"),
        select="[convert-",
    ),
    native_mutant(
        "zeros-of-zero",
        "Counting the zeros of 0 gives anything.",
        replaced(r"(call i\d+ @llvm\.ct[lt]z\.i\d+\(.*, i1) (?:false|0)\)", r"\1 true)"),
        select="[count-leading-zeros-",
    ),
    native_mutant(
        "index-16-bits",
        "Scalars are loaded from places counted in 16 bits.",
        replaced(
            r"^  (%v\d+) = getelementptr inbounds (\w+), ptr (\S+), i64 (%v\d+)$",
            r"  \1.t = trunc i64 \4 to i16\n  \1.z = zext i16 \1.t to i64\n"
            r"  \1 = getelementptr inbounds \2, ptr \3, i64 \1.z",
        ),
        select="[negate- or [reverse- or [gather-",
    ),
    native_mutant(
        "nothing-is-unordered",
        "Nothing is unordered.",
        replaced(r"= fcmp uno ", "= fcmp false "),
        select="[compare- or [maximum- or [convert-",
    ),
    native_mutant(
        "remainder-positive",
        "`frem` loses the sign.",
        replaced(
            rf"^  (%v\d+) = frem ({_FLOAT}) (.*)$",
            r"  \1.r = frem \2 \3\n  \1.n = fsub \2 0.0, \1.r\n  \1.c = fcmp olt \2 \1.r, 0.0\n"
            r"  \1 = select i1 \1.c, \2 \1.n, \2 \1.r",
        ),
        select="[remainder-",
    ),
]
