"""Mutants that open the device too early, crash or hang while they open it, or describe themselves wrong."""

from __future__ import annotations

import ctypes
import functools
import os
import tempfile
import threading
import time
from collections.abc import Callable

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, Platform, broken, template
from xla_core.backend import Availability, BackendOptions, Requirement

MUTANTS: list[Mutant] = []
says = broken("loading", "loading", MUTANTS)


def spec(name: str, breaks: str, fault: str, **fields) -> None:
    """Adds a mutant whose spec has other fields, or that does something on import."""
    on_import = fields.pop("on_import", None)
    make = functools.partial(template, **fields)
    MUTANTS.append(
        Mutant(name=f"loading/{name}", breaks=breaks, fault=fault, make=make, select="loading", on_import=on_import)
    )


def opens(what: Callable[[], object]) -> Callable[[], Availability]:
    def probe() -> Availability:
        what()
        return Availability(True)

    return probe


def _thread() -> None:
    threading.Thread(target=threading.Event().wait, daemon=True, name="driver").start()


def _file() -> None:
    os.open(tempfile.mkstemp()[1], os.O_RDONLY)  # and never closed


def _raise() -> None:
    raise OSError("no such device")


spec("probe-starts-a-thread", "spec.probe-opens-no-device", "The probe starts a thread.", probe=opens(_thread))
spec("probe-opens-a-file", "spec.probe-opens-no-device", "The probe leaves a file open.", probe=opens(_file))
spec("probe-raises", "spec.probe-raises-nothing", "The probe raises.", probe=opens(_raise))
spec("probe-exits", "spec.probe-raises-nothing", "The probe ends the process.", probe=opens(lambda: os._exit(7)))
spec("probe-hangs", "spec.probe-quick", "The probe hangs.", probe=opens(lambda: time.sleep(1000)))
spec("probe-is-slow", "spec.probe-quick", "The probe takes five seconds.", probe=opens(lambda: time.sleep(5)))
spec("probe-returns-true", "spec.probe", "The probe returns True.", probe=lambda: True)
spec(
    "probe-without-a-hint",
    "requirement.hint",
    "A requirement that isn't met has no hint.",
    probe=lambda: Availability(True, requirements=(Requirement("library", met=False),)),
)
spec("import-starts-a-thread", "hooks.leaves-nothing", "The import starts a thread.", on_import=_thread)
spec("import-opens-a-file", "hooks.touches-no-device", "The import leaves a file open.", on_import=_file)
spec("import-exits", "hooks.spec", "The import raises SystemExit.", on_import=lambda: exec("raise SystemExit(3)"))
spec("import-ends-the-process", "hooks.spec", "The import ends the process.", on_import=lambda: os._exit(5))
spec("no-version", "spec.version", "The version is empty.", version="")
spec("no-description", "spec.description", "The description is empty.", description="")
spec("contract-of-the-future", "spec.contract-versions", "It speaks contract 9.0.", contract_versions=((9, 0),))


class Loose(BackendOptions):
    model_config = {"extra": "allow"}  # noqa: RUF012


class Required(BackendOptions):
    level: int


spec("options-take-anything", "spec.options", "Misspelt options are accepted.", options=Loose)
spec("options-are-required", "spec.options", "An option has no default.", options=Required)


@says("platform.create-executor", "Opening the device ends the process.")
class OpeningExits(Executor):
    def __init__(self, ordinal, memory_bytes):
        os._exit(9)


@says("platform.create-executor", "Opening the device aborts.")
class OpeningAborts(Executor):
    def __init__(self, ordinal, memory_bytes):
        ctypes.CDLL(None).abort()


@says("platform.create-executor", "Opening the device hangs, with the GIL held.")
class OpeningHangs(Executor):
    def __init__(self, ordinal, memory_bytes):
        ctypes.PyDLL(None).sleep(1000)


@says("platform.create-executor", "Opening the second device raises.")
class SecondDeviceFails(Executor):
    def __init__(self, ordinal, memory_bytes):
        if ordinal:
            raise RuntimeError("device 1 is busy")
        super().__init__(ordinal, memory_bytes)


@says("platform.making-touches-no-device", "Making the platform starts a thread.")
class PlatformStartsAThread(Platform):
    def __init__(self):
        super().__init__()
        _thread()


@says("platform.making-touches-no-device", "Making the platform opens its devices.")
class PlatformOpensDevices(Platform):
    def __init__(self):
        super().__init__()
        self.executor(0)


@says("platform.device-count", "Counting the devices leaves a file open.")
class CountingOpensAFile(Platform):
    def visible_device_count(self):
        _file()
        return 2


@says("platform.device-count", "The number of devices grows with each question.")
class CountGrows(Platform):
    count = 1

    def visible_device_count(self):
        self.count += 1
        return self.count


@says("platform.device-count", "There are no devices, though the probe says yes.")
class NoDevices(Platform):
    def visible_device_count(self):
        return 0


@says("platform.ordinals", "All devices have the ordinal 0.")
class OneOrdinal(Platform):
    def create_executor(self, ordinal):
        return super().create_executor(0)


@says("compiler.target-is-data", "Each question gives another target.")
class TargetChanges(Compiler):
    asked = 0

    @property
    def target_config(self):
        self.asked += 1
        return super().target_config.model_copy(update={"name": f"template {self.asked}"})
