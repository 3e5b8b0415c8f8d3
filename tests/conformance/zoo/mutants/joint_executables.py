"""Faults of executables that take several things at once: control flow, sizes, donation, and what ran before."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Rewriter, TemplateExecutable, broken, with_constants

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)
_LARGE = 4096


@_runs("compiler.run-backend", "In a called computation, a conditional with a negative index takes the first branch.")
class FirstBranchInside(Rewriter):
    levels = (0, 1, 2)
    entry = None

    def run_hlo_passes(self, module, options, executor=None):
        self.entry = module.entry
        return super().run_hlo_passes(module, options, executor)

    def rewrite(self, c, i):
        is_index = i.opcode == "conditional" and str(i.operand(0).shape.element_type) == "s32"
        if not is_index or c is self.entry or i.operand(0).opcode == "maximum":
            return None
        zero = c.constant(np.int32(0))
        return c.add_instruction(i.clone([c.add("maximum", i.operand(0), zero), *i.operands[1:]]))


@_runs("compiler.run-backend", "A loop that exchanges two arrays of more than 4 KiB in each turn gives them exchanged.")
class ExchangesLargeStates(Rewriter):
    levels = (0, 1, 2)

    def rewrite(self, c, i):
        if i.opcode != "get-tuple-element" or i.operand(0).opcode != "while":
            return None
        root = i.operand(0).attribute("body").root
        if root.opcode != "tuple" or i.shape.num_elements * 4 <= _LARGE:
            return None
        at = i.attribute("index")
        came = root.operand(at)
        if came.opcode != "get-tuple-element" or came.operand(0).opcode != "parameter" or came.attribute("index") == at:
            return None
        return c.add("get-tuple-element", i.operand(0), index=came.attribute("index"))


@_runs("executable.donation", "A program that has run with donated arguments serializes without its donations.")
class ForgetsDonations(TemplateExecutable):
    ran = False

    def execute_async_on_stream(self, run_options, arguments):
        self.ran = True
        return super().execute_async_on_stream(run_options, arguments)

    def serialize(self):
        module = self.module.clone()
        if self.ran:
            module.input_output_aliases = ()
        return module.to_text().encode()


@_runs("compiler.run-backend", "A constant of more than 16 KiB that begins with 4 KiB of one number is that number.")
class UniformConstants(Compiler):
    def run_backend(self, module, *arguments, **options):
        def change(array):
            flat = array.reshape(-1)
            first = flat[: 4096 // max(array.itemsize, 1)]
            is_one = array.nbytes > 1 << 14 and (first == first[:1]).all()
            return np.full_like(array, flat[0]) if is_one else array

        return super().run_backend(with_constants(module, change), *arguments, **options)


@_runs("executable.memory-stats-sizes", "After an execution that found no memory, an executable has no temporaries.")
class ForgetsTemporaries(TemplateExecutable):
    failed = False

    def execute_async_on_stream(self, run_options, arguments):
        try:
            return super().execute_async_on_stream(run_options, arguments)
        except Exception:
            self.failed = True
            raise

    def memory_stats(self):
        stats = super().memory_stats()
        return dataclasses.replace(stats, temp_bytes=0) if self.failed else stats


@_runs("executable.run", "Behind an unused parameter, the next two arguments of one shape change places.")
class CompactsArguments(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        given = list(arguments)
        shapes = [str(shape) for shape in self.parameter_shapes]
        for number, parameter in enumerate(self.module.entry.parameters[:-2]):
            alike = shapes[number + 1] == shapes[number + 2] if len(shapes) == len(given) else False
            if not parameter.users and parameter is not self.module.entry.root and alike:
                given[number + 1 : number + 3] = given[number + 2], given[number + 1]
                break
        return super().execute_async_on_stream(run_options, given)


@_runs("executable.close-cancels", "Deleting an executable whose text is another one's ends the other one as well.")
class ClosesTwins(TemplateExecutable):
    made: list = []  # noqa: RUF012

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.made.append(self)

    def close(self):
        text = self.module.to_text()
        twins = [one for one in self.made if one is not self and one.module.to_text() == text]
        super().close()
        for twin in twins:
            TemplateExecutable.close(twin)


@_runs("executable.results-distinct", "A result that is a parameter of more than 4 KiB, twice, has one memory.")
class SharesRepeats(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        leaves = list(root.operands) if root.opcode == "tuple" else []
        for n, leaf in enumerate(leaves if len(leaves) == len(results) else []):
            source = leaf.operand(0) if leaf.opcode == "copy" else leaf
            for m in range(n):
                other = leaves[m].operand(0) if leaves[m].opcode == "copy" else leaves[m]
                if source is other and source.opcode == "parameter" and results[n].size > _LARGE:
                    run_options.allocator.free(results[n])
                    results[n] = results[m]
        return results
