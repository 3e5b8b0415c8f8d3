"""Faults of runtimes and native code: what is counted, what two threads share, and what a process has once."""

from __future__ import annotations

import ctypes
import dataclasses
import mmap
import re
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import native_mutant, replaced
from tests.conformance.zoo.parts import Compiler, Executor, Platform, TemplateExecutable, broken
from xla_core.errors import InternalError, ResourceExhaustedError

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)
_loading = broken("loading", "loading or claims or memory or programs", MUTANTS)


# -- executables ------------------------------------------------------------------------------------------------------


@_runs("executable.serialize", "A serialized program has forgotten which parameters are donated.")
class SerializesWithoutDonation(TemplateExecutable):
    def serialize(self):
        head, line, rest = self.module.to_text().partition("\n")
        return (
            re.sub(r", (?:input_output_alias|buffer_donor)=\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", head)
            + line
            + rest
        ).encode()


@_runs("executable.memory-stats-sizes", "The memory statistics leave out arguments that the program doesn't read.")
class ReadArgumentsOnly(TemplateExecutable):
    def memory_stats(self):
        unread = sum(p.shape.byte_size for p in self.module.entry.parameters if not p.user_count and not p.is_root)
        stats = super().memory_stats()
        return dataclasses.replace(stats, argument_bytes=stats.argument_bytes - unread)


@_runs("executable.cost", "The costs count a multiplication and an addition in a product as one operation.")
class CountsThemAsOne(TemplateExecutable):
    def cost_analysis(self):
        costs = dict(super().cost_analysis())
        for computation in self.module.computations:
            for i in computation.instructions:
                if i.opcode == "dot":
                    left = i.operand(0).shape.dimensions
                    steps = int(np.prod([left[d] for d in i.attributes.get("lhs_contracting_dims") or ()], initial=1))
                    costs["flops"] -= steps * int(np.prod(i.shape.dimensions, initial=1))
        return costs


@_runs("executable.donation", "Two results that are one value are returned in one memory.")
class OneMemoryForBoth(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        seen = {}
        for n, leaf in enumerate(root.operands if root.opcode == "tuple" else ()):
            while leaf.opcode == "copy":
                leaf = leaf.operand(0)
            if leaf in seen and len(root.operands) == len(results) and results[n] is not results[seen[leaf]]:
                run_options.allocator.free(results[n])
                results[n] = results[seen[leaf]]
            seen.setdefault(leaf, n)
        return results


@_runs(
    "executable.out-of-memory",
    "An execution overwrites donated arguments before it has all of its memory: where there isn't enough, they are lost.",
    select="executables or programs or memory",
)
class BeginsTooEarly(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except ResourceExhaustedError:
            module = self.module
            for n in {a.parameter_number for a in module.input_output_aliases} | {n for n, _ in module.buffer_donors}:
                run_options.stream.memset(arguments[n], 0)
            raise


@_runs(
    "compiler.run-backend",
    "The compiler keeps the module that it makes code of in itself: of two at once, one gets the other's program.",
    select="executables_threads",
)
class OneModule(Compiler):
    def run_backend(self, module, options, executor=None):
        self.module = module
        time.sleep(0.001)  # the time in which a real one makes code
        return super().run_backend(self.module, options, executor)


# -- loading ----------------------------------------------------------------------------------------------------------

_FLUSH = bytes.fromhex("4883ec080fae1c2481 0c24408000000fae14244883c408c3".replace(" ", ""))


def _flush_denormals() -> None:
    """Sets the bits of MXCSR that take denormal numbers for zero, in this thread."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_FLUSH)
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    ctypes.CFUNCTYPE(None)(place)()


@_loading(
    "platform.create-executor",
    "Opening the device loads a library that was built for fast arithmetic: the process takes denormal numbers for zero.",
)
class FlushesTheProcess(Platform):
    def create_executor(self, ordinal):
        _flush_denormals()
        return super().create_executor(ordinal)


class _Closable(Executor):
    closed = False

    def allocate(self, size, memory_space=0):
        if self.closed:
            raise InternalError("the device was closed")
        return super().allocate(size, memory_space)

    def close(self):
        super().close()
        self.closed = True


_OPEN: dict[int, object] = {}


@_loading(
    "platform.create-executor",
    "A process has one handle of a device: a second client gets that of the first, which closes it for both.",
)
class OneHandle(Platform):
    def create_executor(self, ordinal):
        if ordinal not in _OPEN:
            _OPEN[ordinal] = type("Closable", (_Closable,), {"stream": self.executor_class.stream})(
                ordinal, self.memory_bytes
            )
        return _OPEN[ordinal]


# -- native code ------------------------------------------------------------------------------------------------------


def _aligned(access: re.Match[str]) -> str:
    count = int(access[2])
    return access[1] + str(4 * count if count & (count - 1) == 0 else 4)


_CODE = (
    ("divides-by-one", "A division of integers by zero is a division by one, as the case of zero isn't looked at.", r"= select i1 (%v\d+), i(\d+) -1, i\2 (%v\d+)$", r"= select i1 \1, i\2 \3, i\2 \3", False, "[divide-"),
    ("aligned-vectors", "Vectors are loaded and stored as if each were aligned to its size.", r"((?:load|store) <(\d+) x (?:float|i32)>.*, align )4\b", _aligned, True, "test_ops"),
    ("horizontal-nan", "The last step of a maximum or minimum over a vector, across its lanes, drops NaN.", r"@llvm\.vector\.reduce\.f(maximum|minimum)\.", lambda m: f"@llvm.vector.reduce.f{m[1][:3]}.", True, "[reduce-"),
)  # fmt: skip
MUTANTS += [
    native_mutant(f"driver-{name}", fault, replaced(pattern, text), optimized=optimized, select=select)
    for name, fault, pattern, text, optimized, select in _CODE
]
