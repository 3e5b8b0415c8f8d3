"""A backend for the queue device, whose driver is a C library (`queue_device.c`). $QUEUE_DEVICE_LIBRARY is its path."""

from __future__ import annotations

import os
from pathlib import Path

from xla_core.backend import Availability, BackendSpec, Requirement, hookimpl

__version__ = "0.1.0"
LIBRARY = "QUEUE_DEVICE_LIBRARY"


def probe() -> Availability:
    """Whether the driver is installed. It is not loaded."""
    path = os.environ.get(LIBRARY, "")
    return Availability.of(
        Requirement(
            "driver", met=bool(path) and Path(path).exists(), detail=f"no file {path!r}", hint=f"set ${LIBRARY}"
        )
    )


@hookimpl
def xla_backend() -> BackendSpec:
    """The backend's description."""
    from xla_backend_queue_device.compiler import QueueCompiler, QueueExecutable
    from xla_backend_queue_device.executor import QueueExecutor, QueuePlatform
    from xla_backend_queue_device.kernels import QueueKernel
    from xla_backend_queue_device.stream import QueueEvent, QueueStream

    return BackendSpec(
        version=__version__,
        contract_versions=((1, 1),),
        platform=QueuePlatform,
        compiler=QueueCompiler,
        executable=QueueExecutable,
        stream_executor=QueueExecutor,
        stream=QueueStream,
        event=QueueEvent,
        kernel=QueueKernel,
        probe=probe,
        description="a device with queues, driven by a C library",
    )
