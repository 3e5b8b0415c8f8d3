"""Mutants whose collectives mix up devices, or wait for ever."""

from __future__ import annotations

import dataclasses

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, broken
from xla_core.hlo import HloComputation
from xla_core.runtime import InProcessCommunicator

MUTANTS: list[Mutant] = []
_says = broken("collectives", "collectives", MUTANTS)


def communicator(breaks: str, fault: str, says=_says, **fields):
    """A decorator of communicators."""

    def add(cls: type) -> type:
        class Devices(Executor):
            def create_communicator(self, options):
                return cls(options, "collective_timeout")

        Devices.__name__ = cls.__name__
        says(breaks, fault, **fields)(Devices)
        return cls

    return add


def with_attributes(collective, **attributes):
    """The collective with other attributes."""
    old = collective.instruction
    computation = HloComputation("wrong")
    parameters = [computation.parameter(n, o.shape) for n, o in enumerate(old.operands)]
    new = computation.add_instruction(old.clone(parameters, **attributes))
    return dataclasses.replace(collective, instruction=new)


@communicator("communicator.in-order", "`reduce-scatter` gives each device the other's part.")
class OthersPart(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        if collective.instruction.opcode == "reduce-scatter" and len(results) == 1:
            super().enqueue(stream, collective, operands, results)
            stream.memset(results[0], 0)
        else:
            super().enqueue(stream, collective, operands, results)


@communicator("communicator.in-order", "`all-reduce` keeps the device's own operand.")
class OwnOperand(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if collective.instruction.opcode == "all-reduce":
            for operand, result in zip(operands, results, strict=True):
                stream.memcpy_d2d(result, operand)


@communicator("communicator.in-order", "`collective-permute` goes the other way.")
class PermutesBackwards(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        pairs = collective.instruction.attributes.get("source_target_pairs")
        if pairs:
            collective = with_attributes(collective, source_target_pairs=tuple((b, a) for a, b in pairs))
        super().enqueue(stream, collective, operands, results)


@communicator("communicator.in-order", "`all-gather` gathers along dimension 0.")
class GathersAlongZero(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        if collective.instruction.opcode == "all-gather" and any(collective.instruction.attributes["dimensions"]):
            for result in results:
                super().enqueue(stream, collective, operands, results)
                stream.memset(result, 1)
        else:
            super().enqueue(stream, collective, operands, results)


@communicator("communicator.in-order", "The groups are taken as one.")
class OneGroup(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        groups = collective.instruction.attributes.get("replica_groups")
        if groups and len(groups) > 1:
            collective = with_attributes(collective, replica_groups=())
        super().enqueue(stream, collective, operands, results)


@communicator("communicator.enqueue-async", "A collective blocks the host that enqueues it.")
class EnqueueBlocks(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        stream.synchronize()


@communicator("communicator.end-releases", "The other devices wait on when one fails.")
class EndIsForgotten(InProcessCommunicator):
    def end(self, error):
        pass


@communicator("communicator.failure-poisons", "A failed collective leaves its results as they are.")
class FailureIsForgotten(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        class Forgiving:
            def __getattr__(self, name):
                return getattr(stream, name)

            def host_callback(self, callback):
                import contextlib

                def forgiving():
                    with contextlib.suppress(Exception):
                        callback()

                stream.host_callback(forgiving)

        super().enqueue(Forgiving(), collective, operands, results)


@communicator("communicator.in-order", "`replica-id` is the device's ordinal.")
class OrdinalIsTheReplica(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        super().enqueue(stream, collective, operands, results)
        if collective.instruction.opcode in ("replica-id", "partition-id"):
            for result in results:
                stream.memset(result, 0)


@communicator("communicator.in-order", "The timeout is taken in milliseconds, so that a late device is a failure.")
class TimeoutInMilliseconds(InProcessCommunicator):
    def __init__(self, options, timeout_name):
        timeout = options.collective_timeout / 1000
        super().__init__(dataclasses.replace(options, collective_timeout=timeout), timeout_name)
