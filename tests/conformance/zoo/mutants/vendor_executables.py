"""Mutants with the mistakes of a vendor's first compiler: branches, caches, figures, donations and collectives."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator
from tests.conformance.zoo.parts import Compiler, TemplateExecutable, broken
from xla_core.backend import CompileOptions
from xla_core.hlo import ElementType
from xla_core.runtime import InProcessCommunicator
from xla_core.schedule import ConditionalThunk

MUTANTS: list[Mutant] = []
of_executables = broken("executables", "executables and not leak", MUTANTS)
of_collectives = broken("collectives", "collectives", MUTANTS)


# -- executables -------------------------------------------------------------------------------------------------------


@of_executables(
    "executable.run",
    "A `conditional` whose index is out of range takes the first branch.",
    select="ops or executables or programs",
)
class FirstBranchOutOfRange(Compiler):
    def make_executable(self, module, program, report, artifacts):
        return super().make_executable(module, _with_first_branch(program), report, artifacts)


def _with_first_branch(program):
    """The program with the first branch of each conditional also at the end, which stands for indices out of range."""

    def change(thunk):
        if isinstance(thunk, ConditionalThunk) and not thunk.is_predicate:
            return dataclasses.replace(thunk, branches=(*thunk.branches, thunk.branches[0]))
        return thunk

    return dataclasses.replace(program, thunks=type(program.thunks)(map(change, program.thunks)))


@of_executables(
    "executable.serialize", "Constants of equal shapes that begin alike are one constant once they were read again."
)
class ConstantsThatBeginAlike(Compiler):
    def deserialize(self, data, options=None, executor=None):
        executable = super().deserialize(data, options, executor)
        seen, module = {}, executable.module.clone()
        for computation in module.computations:
            for i in computation.instructions:
                if i.opcode == "constant" and i.shape.is_array and i.shape.rank:
                    array = np.array(i.literal.value)
                    key = (str(i.shape), array.reshape(-1)[:4].tobytes())
                    i.attributes["literal"] = seen.setdefault(key, i.attributes["literal"])
        changed = self.run_backend(module, options or CompileOptions(), executor)
        changed.target_config = executable.target_config
        return changed


@of_executables("executable.memory-stats", "The bytes of aliased results are those of all results.")
class AllIsAliased(TemplateExecutable):
    def memory_stats(self):
        stats = super().memory_stats()
        return dataclasses.replace(stats, alias_bytes=stats.output_bytes)


@of_executables("executable.cost", "Bytes that are accessed are counted in signed numbers of 16 bits.")
class CostsWrap(TemplateExecutable):
    def cost_analysis(self):
        costs = dict(super().cost_analysis())
        costs["bytes accessed"] = float(np.int64(costs["bytes accessed"]).astype(np.int16))
        return costs


@of_executables("executable.run", "Every 256th run of an executable takes its arguments in the other order.")
class RunsInEightBits(TemplateExecutable):
    runs = 0

    def execute_async_on_stream(self, run_options, arguments):
        self.runs += 1
        donates = self.module.input_output_aliases or self.module.buffer_donors
        if self.runs % 256 == 0 and not donates and len(set(map(str, self.parameter_shapes))) == 1:
            arguments = list(reversed(arguments))
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("executable.donation", "A donated argument is read when the run is enqueued, and not in its turn.")
class DonatesAtOnce(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        for alias in self.module.input_output_aliases:
            memory = arguments[alias.parameter_number]
            block = run_options.stream.ram.block(memory.handle)
            kept = block[: memory.size].copy()
            run_options.stream.enqueue(lambda b=block, k=kept: b.__setitem__(slice(0, k.size), k))
        return super().execute_async_on_stream(run_options, arguments)


# -- collectives -------------------------------------------------------------------------------------------------------


@communicator("communicator.in-order", "A device that no other one sends to keeps its operand.", of_collectives)
class KeepsItsOperand(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        pairs = collective.instruction.attributes.get("source_target_pairs")
        if pairs and len(results) == len(operands) == 1:
            targets = {target for _, target in pairs}
            if len(targets) < 2:
                value = np.empty(results[0].size, np.uint8)

                def keep():
                    stream.read(value, results[0])
                    if not value.any():
                        stream.copy(results[0], operands[0])

                stream.enqueue(keep)


@communicator("communicator.in-order", "Maxima of u64 compare signed numbers.", of_collectives)
class SignedMaxima(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        i = collective.instruction
        reducer = i.attributes.get("to_apply")
        is_maximum = reducer is not None and reducer.root.opcode == "maximum"
        if is_maximum and i.operands[0].shape.element_type is ElementType.U64:
            stream.memcpy_d2d(results[0], operands[0])


@communicator("communicator.in-order", "`all-to-all` of more than 1,024 elements exchanges nothing.", of_collectives)
class ExchangesNothing(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if collective.instruction.opcode == "all-to-all":
            for operand, result in zip(operands, results, strict=True):
                if operand.size > 4096:
                    stream.memcpy_d2d(result, operand)
