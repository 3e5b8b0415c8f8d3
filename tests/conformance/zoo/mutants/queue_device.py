"""The faults of the queue device, a backend over a C library (`tests/conformance/queue_device`)."""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
from pathlib import Path

from tests.conformance.queue_device.build import COMPILER, PACKAGE_FOLDER, build_driver
from tests.conformance.zoo.mutant import Mutant
from xla_core.backend import BackendSpec

_RUNTIME = "loading or transfers or streams or events or memory"


def prepare_device(fault: str) -> None:
    """Builds the driver and chooses its fault, "" for none, in variables that the processes of tests inherit."""
    if "QUEUE_DEVICE_LIBRARY" not in os.environ:  # processes that this one starts have it
        os.environ["QUEUE_DEVICE_LIBRARY"] = str(build_driver(Path(tempfile.mkdtemp(prefix="queue-device-"))))
    os.environ["QUEUE_DEVICE_FAULT"] = fault
    if PACKAGE_FOLDER not in sys.path:
        sys.path.insert(0, PACKAGE_FOLDER)


def make_device() -> BackendSpec:
    import xla_backend_queue_device

    return xla_backend_queue_device.xla_backend()


_BREAKS = {
    "open-aborts": ("platform.create-executor", "loading"),
    "open-hangs": ("platform.create-executor", "loading"),
    "overlap": ("executor.allocate", "memory"),
    "free-does-nothing": ("executor.deallocate", "memory"),
    "free-forgets": ("executor.deallocate", "memory"),
    "memory-lies": ("executor.description", "memory or loading"),
    "copy-loses-last-byte": ("stream.h2d", "transfers"),
    "copy-late": ("stream.in-order", "streams or transfers"),
    "reads-block": ("stream.enqueue-never-blocks", "streams"),
    "wait-ignored": ("stream.wait", "streams"),
    "event-loses-error": ("event.first-error", "streams or events"),
    "event-ready-early": ("event.ready-after-work", "streams or events"),
    "event-dies-early": ("event.dropped", "streams or events"),
    "timeout-is-ready": ("event.synchronize-timeout", "streams or events"),
    "never-recovers": ("stream.recover", "streams"),
    "fills-after-failure": ("stream.later-work-skipped", "streams"),
    "fills-seven-bits": ("stream.memset", "streams or transfers"),
    "one-callback-at-a-time": ("stream.host-callbacks-meet", "streams"),
    "thread-left": ("stream.close", "streams"),
    "close-drops-work": ("stream.close", "streams"),
    "add-saturates": ("add:values", "ops"),
    "divides-by-zero": ("divide:values", "ops"),
    "maximum-ignores-nan": ("maximum:values", "ops"),
    "negate-loses-zero": ("negate:values", "ops"),
    "exp-overflows-early": ("exponential:values", "ops"),
    "tanh-overwrites": ("executable.arguments-kept", "test_op[tanh"),
    "counts-in-16-bits": ("add/size", "ops"),
    "lines-not-flushed": ("stream.d2h", "transfers or memory"),
    "copies-aligned": ("stream.h2d", "transfers"),
    "ring-overflows": ("stream.memset", "streams or transfers"),
    "record-counter-wraps": ("stream.record", "streams or events"),
    "wait-in-one-stream": ("stream.wait", "streams"),
    "converts-out-of-range": ("convert:values", "ops"),
    "flushes-denormals": ("multiply:values", "ops"),
    "power-by-logarithm": ("power:values", "ops"),
    "divides-saturating": ("divide:values", "ops"),
    "remainder-floors": ("remainder:values", "ops"),
    "shift-is-cut": ("shift-left:values", "ops"),
    "stride-is-short": ("transpose/size", "ops"),
    "drops-the-tail": ("multiply/size", "ops"),
}
"""What each fault breaks, and which tests are run on it. The device's table of faults says what it is."""

_FAULTS = {
    name.lower().replace("_", "-"): (name, what)
    for name, what in re.findall(r'FAULT\((\w+), "(.+)"\)', (Path(PACKAGE_FOLDER) / "faults.h").read_text())
}

MUTANTS = [
    Mutant(
        name=f"device/{name}",
        breaks=_BREAKS[name][0],
        fault=what,
        make=make_device,
        prepare=functools.partial(prepare_device, variable),
        select=_BREAKS[name][1],
        opcode=re.split("[:/]", _BREAKS[name][0])[0] if _BREAKS[name][1] == "ops" else "",
    )
    for name, (variable, what) in _FAULTS.items()
    if COMPILER is not None
]
