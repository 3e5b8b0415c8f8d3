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


_FAULTS = {
    "open-aborts": ("platform.create-executor", "Opening the device aborts.", "loading"),
    "open-hangs": ("platform.create-executor", "Opening the device hangs.", "loading"),
    "overlap": ("executor.allocate", "Blocks of more than a megabyte overlap with the next.", "memory"),
    "free-does-nothing": ("executor.deallocate", "The driver never frees.", "memory"),
    "free-forgets": ("executor.deallocate", "One block in twenty isn't freed.", "memory"),
    "memory-lies": ("executor.description", "The driver says a thousand times its memory.", "memory or loading"),
    "copy-loses-last-byte": ("stream.h2d", "Copies of over 64 KiB of an odd size lose their last byte.", "transfers"),
    "copy-late": ("stream.in-order", "One copy in twenty goes before its predecessor.", "streams or transfers"),
    "reads-block": ("stream.enqueue-never-blocks", "Copies from the device block.", "streams"),
    "wait-ignored": ("stream.wait", "A stream doesn't wait for an event.", "streams"),
    "event-loses-error": ("event.first-error", "Events don't carry errors.", "streams or events"),
    "event-ready-early": ("event.ready-after-work", "Events are ready when they are recorded.", "streams or events"),
    "event-dies-early": ("event.dropped", "Dropping an event that isn't reached aborts.", "streams or events"),
    "timeout-is-ready": (
        "event.synchronize-timeout",
        "A wait that times out says that it is ready.",
        "streams or events",
    ),
    "never-recovers": ("stream.recover", "A poisoned stream stays so.", "streams"),
    "fills-after-failure": ("stream.later-work-skipped", "`memset` works on a poisoned stream.", "streams"),
    "fills-seven-bits": ("stream.memset", "`memset` keeps seven bits.", "streams or transfers"),
    "one-callback-at-a-time": ("stream.host-callbacks-meet", "One callback at a time runs.", "streams"),
    "thread-left": ("stream.close", "A stream's thread is never ended.", "streams"),
    "close-drops-work": ("stream.close", "Closing a stream drops its work.", "streams"),
    "add-saturates": ("add:values", "Integers saturate.", "ops"),
    "divides-by-zero": ("divide:values", "An integer divided by 0 is 0.", "ops"),
    "maximum-ignores-nan": ("maximum:values", "`maximum` ignores NaN.", "ops"),
    "negate-loses-zero": ("negate:values", "`negate` of 0 is 0, not -0.", "ops"),
    "exp-overflows-early": ("exponential:values", "`exponential` overflows beyond 88.", "ops"),
    "tanh-overwrites": ("executable.arguments-kept", "`tanh` overwrites its operand.", "test_op[tanh"),
    "counts-in-16-bits": ("add/size", "A counter of elements has 16 bits.", "ops"),
    "lines-not-flushed": (
        "stream.d2h",
        "A read loses the last line of a cache that isn't full.",
        "transfers or memory",
    ),
    "copies-aligned": ("stream.h2d", "Copies to the device have whole words of 4 bytes, or odd sizes.", "transfers"),
    "ring-overflows": ("stream.memset", "Of more than 256 pieces of work, a `memset` is lost.", "streams or transfers"),
    "record-counter-wraps": ("stream.record", "The 256th record of a stream is never reached.", "streams or events"),
    "wait-in-one-stream": ("stream.wait", "A poisoned stream doesn't wait, also behind a recovery.", "streams"),
    "converts-out-of-range": ("convert:values", "Numbers that fit no integer become the smallest one.", "ops"),
    "flushes-denormals": ("multiply:values", "Denormal results are 0.", "ops"),
    "power-by-logarithm": ("power:values", "`power` of a negative number is NaN.", "ops"),
    "divides-saturating": ("divide:values", "The smallest integer divided by -1 is the largest.", "ops"),
    "remainder-floors": ("remainder:values", "`remainder` has the sign of the divisor.", "ops"),
    "shift-is-cut": ("shift-left:values", "Amounts of shifts are taken modulo 32.", "ops"),
    "stride-is-short": ("transpose/size", "A long stride of the outermost dimension is one too long.", "ops"),
    "drops-the-tail": ("multiply/size", "The tail of large arrays isn't computed.", "ops"),
}

MUTANTS = [
    Mutant(
        name=f"device/{name}",
        breaks=breaks,
        fault=fault,
        make=make_device,
        prepare=functools.partial(prepare_device, name),
        select=select,
        opcode=re.split("[:/]", breaks)[0] if select == "ops" else "",
    )
    for name, (breaks, fault, select) in _FAULTS.items()
    if COMPILER is not None
]
