"""Mutants that claim what they can't do, refuse what they claim, or do what they don't claim wrong."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, HloKernel, broken
from xla_core.errors import InternalError, UnimplementedError, XlaError
from xla_core.hlo import ElementType
from xla_core.schedule import CallThunk, ConditionalThunk, HostCallbackThunk, WhileThunk
from xla_core.target import Capabilities

MUTANTS: list[Mutant] = []
says = broken("claims", "claims or loading", MUTANTS)
F32, PRED, S32 = ElementType.F32, ElementType.PRED, ElementType.S32
FEW = (
    Capabilities()
    .with_ops(["add", "subtract", "multiply", "divide", "maximum", "exponential", "compare"], [F32])
    .with_ops(["broadcast", "reshape", "select", "copy"], [F32, PRED, S32])
    .with_ops(["and", "or", "not"], [PRED])
)


class _Few(Compiler):
    target = {"capabilities": FEW}  # noqa: RUF012

    @property
    def target_config(self):
        return Compiler.target_config.fget(self).model_copy(update={"capabilities": FEW})


@says("compiler.run-backend", "It claims few ops, and runs the others wrong instead of refusing them.")
class RefusesNothing(_Few):
    class kernel(HloKernel):
        def launch(self, stream, arguments, dimensions):
            if not FEW.check(self.computation.root):
                for memory in arguments[len(self.operand_shapes) :]:
                    stream.memset(memory, 0)
            else:
                super().launch(stream, arguments, dimensions)


@says("compiler.host-fallback", 'It has no host fallback, though it says so: fallback="host" raises.')
class FallbackRaises(_Few):
    def run_backend(self, module, options, executor=None):
        if options.fallback == "host" and any(not FEW.check(i) for i in module.entry.instructions):
            raise InternalError("not yet")
        return super().run_backend(module, options, executor)


@says("compiler.host-fallback", "What runs on the host is taken from zeros.")
class FallbackIsWrong(Compiler):
    def run_backend(self, module, options, executor=None):
        if options.fallback == "host":
            for computation in module.computations:
                for i in computation.instructions:
                    if i.opcode == "cosine":
                        i.opcode = i.opcode.__class__("sine")
        return super().run_backend(module, options, executor)


@says("compiler.supported-after-passes", "It refuses topk and atan2, which it claims.")
class RefusesWhatItClaims(Compiler):
    def run_backend(self, module, options, executor=None):
        for i in module.entry.instructions:
            if i.opcode in ("topk", "atan2", "sort"):
                raise UnimplementedError(f"this device has no {i.opcode}")
        return super().run_backend(module, options, executor)


@says("compiler.fingerprint", "The compiler's fingerprint changes with each call.")
class FingerprintChanges(Compiler):
    asked = 0

    def fingerprint(self):
        self.asked += 1
        return str(self.asked)


@says("compiler.stages-exist", "It replaces a stage that doesn't exist.")
class StrangeStage(Compiler):
    def hlo_stages(self, options):
        from xla_core.passes import create_pass

        return {"no such stage": create_pass("dce")}


@says("compiler.host-fallback", "After a compilation in which the host may run ops, it may in all later ones.")
class FallbackStays(Compiler):
    stays = False

    def run_hlo_passes(self, module, options, executor=None):
        return super().run_hlo_passes(module, self._given(options), executor)

    def run_backend(self, module, options, executor=None):
        return super().run_backend(module, self._given(options), executor)

    def _given(self, options):
        self.stays = self.stays or options.fallback == "host"
        return options.model_copy(update={"fallback": "host"}) if self.stays else options


# -- what runs on the host ---------------------------------------------------------------------------------------------


def _changed(thunks, change):
    """The thunks, with `change` applied to those that the host runs, also within control flow."""
    return tuple(_changed_thunk(thunk, change) for thunk in thunks)


def _changed_thunk(thunk, change):
    match thunk:
        case HostCallbackThunk():
            return dataclasses.replace(thunk, function=change(thunk.function))
        case WhileThunk():
            condition, body = _changed(thunk.condition, change), _changed(thunk.body, change)
            return dataclasses.replace(thunk, condition=condition, body=body)
        case ConditionalThunk():
            return dataclasses.replace(thunk, branches=tuple(_changed(b, change) for b in thunk.branches))
        case CallThunk():
            return dataclasses.replace(thunk, thunks=_changed(thunk.thunks, change))
    return thunk


class _ChangesTheHost(Compiler):
    def make_executable(self, module, program, report, artifacts):
        program = dataclasses.replace(program, thunks=_changed(program.thunks, self.change))
        return super().make_executable(module, program, report, artifacts)


@says("compiler.host-fallback", "What runs on the host gets the operands of its first run.")
class HostKeepsOperands(_ChangesTheHost):
    def change(self, function):
        first = []

        def run(*arrays):
            first.append([array.copy() for array in arrays])
            return function(*first[0])

        return run


@says("compiler.host-fallback", "What runs on the host gets its operands backwards where their shapes agree.")
class HostSwapsOperands(_ChangesTheHost):
    def change(self, function):
        return lambda *arrays: function(*(arrays[::-1] if len({(a.shape, a.dtype) for a in arrays}) == 1 else arrays))


of_host = broken("claims", "test_claims_host", MUTANTS)


@of_host("compiler.host-fallback", "What runs on the host gives its results backwards where their shapes agree.")
class HostSwapsResults(_ChangesTheHost):
    def change(self, function):
        def run(*arrays):
            made = list(function(*arrays))
            return made[::-1] if len({(a.shape, a.dtype) for a in made}) == 1 else made

        return run


@of_host("compiler.host-fallback", "What runs on the host has one copy of its operands, for all devices.")
class HostSharesOperands(_ChangesTheHost):
    def change(self, function):
        shared = []

        def run(*arrays):
            if not shared:
                shared.extend(np.array(array) for array in arrays)
            for mine, array in zip(shared, arrays, strict=True):
                mine[...] = array
            time.sleep(0.001)  # what else is on its way writes here too
            return function(*shared)

        return run


@says("executable.failure-poisons", "A failure of what runs on the host is lost: its results are the operands.")
class HostForgetsFailures(_ChangesTheHost):
    def change(self, function):
        def run(*arrays):
            try:
                return function(*arrays)
            except XlaError:
                return arrays

        return run
