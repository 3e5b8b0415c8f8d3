"""Faults that show only beside other work: the profile stress disturbs its tests."""

from __future__ import annotations

import functools

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, HloKernel, template

_streams = [0]


class _Scratch(Executor):
    def create_stream(self):
        _streams[0] += 1
        return super().create_stream()


class _Kernel(HloKernel):
    def _run(self, stream, arguments):
        before = _streams[0]
        super()._run(stream, arguments)
        if _streams[0] != before and "reverse" in self.name:
            stream.executor.ram.block(arguments[-1].handle)[:1] ^= 1


MUTANTS = [
    Mutant(
        name="attributes/reverse/scratch-of-new-streams",
        breaks="reverse",
        fault="A stream that is made while `reverse` runs clears the memory in which that computes.",
        make=functools.partial(template, executor=_Scratch, kernel=_Kernel),
        select="test_op[reverse",
        opcode="reverse",
        profile="stress",
    )
]
