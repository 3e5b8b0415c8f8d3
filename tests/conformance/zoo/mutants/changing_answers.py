"""Faults of figures and states: they change with what was done before, or say something else than another one."""

from __future__ import annotations

import dataclasses
import weakref

from xla_backend_template.executable import TemplateExecutable

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, Stream, broken

MUTANTS: list[Mutant] = []
_says = broken("claims", "claims_answers", MUTANTS)
_streams = broken("events", "claims_answers", MUTANTS)


@_says("executor.description", "The clock rate of the description is that of now, which grows with the open streams.")
class RisingClock(Executor):
    opened = 0

    @property
    def description(self):
        return super().description.model_copy(update={"clock_hz": 1e9 + 1e8 * self.opened})

    def create_stream(self):
        self.opened += 1
        return super().create_stream()


@_says("executable.memory-stats", "The temporaries of the statistics are those of the last run, if there was one.")
class TemporariesOfTheRun(TemplateExecutable):
    ran = False

    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        self.ran = True
        return results

    def memory_stats(self):
        stats = super().memory_stats()
        return dataclasses.replace(stats, temp_bytes=stats.temp_bytes + 256) if self.ran else stats


@_says("executor.dlpack-device-type", "The device has a type for DLPack, but no addresses.")
class TypeWithoutAddresses(Executor):
    dlpack_device_type = 1

    def address(self, memory):
        return None


@_says(
    "transfer-manager.byte-size", "The transfer manager's sizes are rounded up to 64 bytes, and the compiler's aren't."
)
class RoundedSizes(Compiler):
    def shape_size_bytes(self, shape):
        return -(-super().shape_size_bytes(shape) // 64) * 64


_COSTS: dict[str, dict[str, float]] = {}


@_says("executable.cost", "The costs of an executable are kept by the module's name.")
class CostsByName(TemplateExecutable):
    def cost_analysis(self):
        return _COSTS.setdefault(self.module.name, dict(super().cost_analysis()))


@_says("executable.fingerprint", "The fingerprint has the number of runs in it.")
class FingerprintOfRuns(TemplateExecutable):
    runs = 0

    def execute_async_on_stream(self, run_options, arguments):
        self.runs += 1
        return super().execute_async_on_stream(run_options, arguments)

    def fingerprint(self):
        return f"{super().fingerprint()}{self.runs}"


@_says("executable.placement", "The placement is an iterator's, which is empty when it is asked for again.")
class PlacementOnce(TemplateExecutable):
    asked = False

    def placement(self):
        found = () if self.asked else super().placement()
        self.asked = True
        return found


_OPEN: weakref.WeakSet[Stream] = weakref.WeakSet()


@_streams("stream.error", "A stream that works has the failure of another one, as long as that one hasn't recovered.")
class SharesFailures(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        _OPEN.add(self)

    @property
    def error(self):
        own = [super().error, *(Stream.error.fget(other) for other in list(_OPEN) if other is not self)]
        return next((error for error in own if error is not None), None)
