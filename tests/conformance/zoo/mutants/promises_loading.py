"""Mutants that break promises of loading and of features which no other mutant breaks: one for each."""

from __future__ import annotations

import importlib
import threading

from pydantic import BaseModel, ConfigDict

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import (
    Executor,
    HloKernel,
    Platform,
    Stream,
    TemplateExecutable,
    broken,
    template,
)
from xla_core.backend import Availability, DeviceFeatures, TransferManager
from xla_core.errors import InternalError
from xla_core.runtime import HostEvent
from xla_core.target import LayoutRules

MUTANTS: list[Mutant] = []
of_loading = broken("loading", "loading", MUTANTS)
of_transfers = broken("transfers", "transfers", MUTANTS)
of_programs = broken("executables", "test_programs_run", MUTANTS)
of_executables = broken("executables", "executables and not leak", MUTANTS)


def _loading(name, breaks, fault, make, **fields):
    MUTANTS.append(
        Mutant(name=f"loading/{name}", breaks=breaks, fault=fault, make=make, **{"select": "loading", **fields})
    )


# -- loading -----------------------------------------------------------------------------------------------------------


class _Careless(BaseModel):
    """Flags of which a misspelt one is no error."""

    model_config = ConfigDict(extra="allow")


_loading(
    "available-with-a-cause",
    "availability.cause",
    "An available device has a cause why it isn't.",
    lambda: template(probe=lambda: Availability(available=True, cause="the device is warm")),
)
_loading(
    "another-event-class",
    "spec.classes",
    "The spec names another class of events than the streams make.",
    lambda: template(event=_Other),
)
_loading(
    "misspelt-flags",
    "spec.flags",
    "A misspelt flag is no error.",
    lambda: template(flags=_Careless),
)
_loading(
    "imports-llvm",
    "hooks.imports-little",
    "The description of the backend imports a compiler.",
    template,
    on_import=lambda: importlib.import_module("llvmlite.binding"),
)


_loading("returns-nothing", "hooks.entry-point", "The hook of the entry point returns nothing.", lambda: None)


class _Other(HostEvent):
    """Events that no stream makes."""


@of_loading("spec.platform-without-arguments", "The platform is made with the number of its devices.")
class MadeWithACount(Platform):
    def __init__(self, count):
        super().__init__()
        self.count = count


@of_loading("platform.device-count-flag", "The flag of the number of devices is named with its dashes.")
class FlagWithDashes(Platform):
    device_count_flag = "--xla_template_device_count"


@of_loading("platform.exclusive", "Devices that serve one process, by what the platform says, serve a second one too.")
class ServesTwoProcesses(Platform):
    exclusive = True


@of_loading("platform.create-compiler", "The platform makes no compiler where it has opened a device.")
class CompilerBeforeDevices(Platform):
    def create_compiler(self):
        return None if self._executors else super().create_compiler()


@of_loading("platform.no-such-ordinal", "Ordinals beyond the last device begin again.")
class OrdinalsBeginAgain(Platform):
    def executor(self, ordinal):
        return super().executor(ordinal % self.visible_device_count())


@of_transfers(
    "platform.create-transfer-manager", "The transfer manager is one for a target that doesn't pack elements."
)
class ManagerOfAnotherTarget(Platform):
    def create_transfer_manager(self):
        unpacked = LayoutRules(packed=False)
        return TransferManager(self.compiler.target_config.model_copy(update={"layouts": unpacked}))


@of_executables("platform.close-transfers", "Closing the transfers does nothing.")
class TransfersStayOpen(Platform):
    def close_transfers(self):
        pass


@of_programs("executable.equal-runs", "Every second run of a matrix product adds in another order.")
class AddsInAnotherOrder(HloKernel):
    runs = 0

    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if "dot" in self.name:
            self.runs += 1
            stream.executor.ram.block(arguments[-1].handle)[:1] ^= self.runs % 2


# -- features ----------------------------------------------------------------------------------------------------------


@of_transfers("features.host-addressable", "A device says that the host can address its memory, and gives no view.")
class NoViews(Executor):
    features = DeviceFeatures(host_addressable=True, callbacks_may_enqueue=True)


@of_transfers("features.peer-copies", "A device says that it copies memory of others, and can't.")
class NoPeers(Executor):
    features = DeviceFeatures(peer_copies=True, callbacks_may_enqueue=True)


@of_executables("features.callbacks-may-enqueue", "A device says that callbacks may enqueue, and refuses their work.")
class RefusesCallbacks(Stream):
    inside = threading.local()

    def host_callback(self, callback):
        def call():
            self.inside.callback = True
            try:
                callback()
            finally:
                self.inside.callback = False

        super().host_callback(call)

    def memset(self, destination, value):
        if getattr(self.inside, "callback", False):
            raise InternalError("a callback uses the device")
        super().memset(destination, value)


@of_executables("features.asynchronous-control-flow", "A program with a loop waits before it starts.")
class LoopsWait(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        if any(i.opcode == "while" for c in self.module.computations for i in c.instructions):
            run_options.stream.synchronize()
        return super().execute_async_on_stream(run_options, arguments)


@of_executables("features.works-without", "A program with a loop needs callbacks that may enqueue.")
class NeedsAFeature(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        loops = any(i.opcode == "while" for c in self.module.computations for i in c.instructions)
        if loops and not run_options.executor.features.callbacks_may_enqueue:
            raise InternalError("callbacks can't enqueue")
        return super().execute_async_on_stream(run_options, arguments)


@of_transfers("executor.wrap-memory-none", "Foreign memory that the device can't use is taken for fresh memory.")
class WrapsFreshMemory(Executor):
    def wrap_memory(self, address, size):
        return self.allocate(size)
