"""Faults of a new chip's package: what its import, its probe and its opening do to the whole process."""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Platform, broken, template

MUTANTS: list[Mutant] = []
_loading = broken("loading", "loading", MUTANTS)


def _on_import(name: str, fault: str, action: Callable[[], object]) -> None:
    given = {"breaks": "hooks.changes-nothing", "make": template, "select": "loading", "on_import": action}
    MUTANTS.append(Mutant(name=f"loading/chip-{name}", fault=fault, **given))


def _on_opening(name: str, fault: str, action: Callable[[], object]) -> None:
    class Opening(Platform):
        def create_executor(self, ordinal):
            action()
            return super().create_executor(ordinal)

    make = functools.partial(template, platform=Opening)
    given = {"breaks": "hooks.changes-nothing", "make": make, "select": "loading"}
    MUTANTS.append(Mutant(name=f"loading/chip-{name}", fault=fault, **given))


def _pin_to_one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _flush_denormals() -> None:
    libm = ctypes.CDLL("libm.so.6")
    environment = ctypes.create_string_buffer(64)
    libm.fegetenv(environment)
    mxcsr = int.from_bytes(environment[28:32], "little") | 0x8040
    environment[28:32] = mxcsr.to_bytes(4, "little")
    libm.fesetenv(environment)


def _time_zone() -> None:
    os.environ["TZ"] = "JST-9"
    time.tzset()
    del os.environ["TZ"]


_on_opening(
    "ignores-children",
    "Opening ignores the ends of child processes.",
    lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
)
_on_opening(
    "no-core-files", "Opening lowers the limit of core files.", lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
)
_on_opening(
    "temporary-folder", "Opening moves the folder of temporary files.", lambda: setattr(tempfile, "tempdir", "/var/tmp")
)
_on_import("flushes-denormals-on-import", "Import makes the thread flush denormal numbers to zero.", _flush_denormals)
_on_import("time-zone", "Import changes the process's time zone, but not the environment.", _time_zone)


@_loading("platform.making-touches-no-device", "Making the compiler opens a device.")
class CompilerOpensADevice(Platform):
    def create_compiler(self):
        self.executor(0)
        return super().create_compiler()


@_loading("platform.device-count", "The number of devices is what is left: opened ones don't count.")
class CountsWhatIsLeft(Platform):
    opened = 0

    def create_executor(self, ordinal):
        self.opened += 1
        return super().create_executor(ordinal)

    def visible_device_count(self):
        return super().visible_device_count() - self.opened
