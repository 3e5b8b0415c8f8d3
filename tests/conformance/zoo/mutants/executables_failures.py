"""Faults of executables that show after a failed run, in a program that was read again, or in branches of loops."""

from __future__ import annotations

import dataclasses

import numpy as np
from xla_backend_template.executable import TemplateExecutable

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, broken, rewriter, with_constants
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo import parse_hlo

MUTANTS: list[Mutant] = []
_executables = broken("executables", "executables_failures or executables_serialization", MUTANTS)


@_executables("executable.memory-stats", "A run that finds no memory makes the temporaries of later figures larger.")
class CountsFailedRuns(TemplateExecutable):
    failed = 0

    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except ResourceExhaustedError:
            self.failed += 1
            raise

    def memory_stats(self):
        made = super().memory_stats()
        return dataclasses.replace(made, temp_bytes=made.temp_bytes + 64 * self.failed)


@_executables("executable.immutable", "After a run behind a failure an executable has the fingerprint of a new one.")
class NewAfterFailures(TemplateExecutable):
    failed = False

    def execute_async_on_stream(self, run_options, arguments):
        self.failed |= run_options.stream.error is not None
        return super().execute_async_on_stream(run_options, arguments)

    def fingerprint(self):
        return super().fingerprint() + "again" * self.failed


@_executables(
    "executable.results-from-allocator",
    "A run after one that found no memory, of any thread, has that one's allocator.",
)
class KeepsTheAllocator(TemplateExecutable):
    kept = None

    def execute_async_on_stream(self, run_options, arguments):
        kept, self.kept = self.kept, None
        options = run_options if kept is None else dataclasses.replace(run_options, allocator=kept)
        try:
            return super().execute_async_on_stream(options, arguments)
        except ResourceExhaustedError:
            self.kept = run_options.allocator
            raise


@_executables("compiler.deserialize", "A program that was read again says that it costs nothing.")
class ForgetsCosts(Compiler):
    def deserialize(self, data, options=None, executor=None):
        made = super().deserialize(data, options, executor)
        made.cost_analysis = lambda: {"flops": 0.0, "transcendentals": 0.0, "bytes accessed": 0.0}
        return made


@broken("executables", "megabytes_of_constants", MUTANTS)(
    "executable.serialize", "A constant that was read again has a mebibyte of its bytes.", profile="full"
)
class KeepsAMebibyte(Compiler):
    def deserialize(self, data, options=None, executor=None):
        def cut(array):
            array.reshape(-1)[(1 << 20) // array.dtype.itemsize :] = 0
            return array

        text = with_constants(parse_hlo(data.decode()), cut).to_text()
        return super().deserialize(text.encode(), options, executor)


@broken("executables", "executables_effects", MUTANTS)(
    "compiler.deserialize", "In a program that was read again, effects of which nothing is read are left out."
)
class ForgetsEffects(Compiler):
    def deserialize(self, data, options=None, executor=None):
        module = parse_hlo(data.decode())
        for computation in module.computations:
            for i in [i for i in computation.instructions if i.opcode in ("outfeed", "custom-call")]:
                if i.user_count == 0 and i is not computation.root:
                    i.control_predecessors = []
                    computation.remove(i)
        return super().deserialize(module.to_text().encode(), options, executor)


@rewriter("executables_effects", MUTANTS)("A conditional of four branches with effects takes the third for the last.")
def takes_the_third_branch(c, i):
    if i.opcode != "conditional" or len(i.operands) != 5:
        return None
    two = c.constant(np.int32(2))
    return c.add_instruction(i.clone([c.add("minimum", i.operand(0), two), *i.operands[1:]]))


@rewriter("dynamic_sizes", MUTANTS)("A dimension of dynamic size has all elements that there is room for.")
def ignores_sizes(c, i):
    if i.opcode != "set-dimension-size":
        return None
    rows = c.constant(np.int32(i.shape.dimensions[i.attribute("dimensions")[0]]))
    return c.add_instruction(i.clone([i.operand(0), rows])) if i.operand(1).opcode != "constant" else None
