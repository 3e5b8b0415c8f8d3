"""A backend for the queue device, whose driver is a C library (`queue_device.c`). $QUEUE_DEVICE_LIBRARY is its path."""

from __future__ import annotations

from xla_core.backend import BackendSpec, hookimpl

__version__ = "0.1.0"


@hookimpl
def xla_backend() -> BackendSpec:
    """The backend's description."""
    from xla_backend_template.driver_stream import DriverEvent, DriverStream
    from xla_backend_template.executable import TemplateExecutable

    from xla_backend_queue_device.compiler import QueueCompiler
    from xla_backend_queue_device.device import QueueExecutor, QueuePlatform, driver
    from xla_backend_queue_device.kernels import QueueKernel

    return BackendSpec(
        version=__version__,
        contract_versions=((1, 1),),
        platform=QueuePlatform,
        compiler=QueueCompiler,
        executable=TemplateExecutable,
        stream_executor=QueueExecutor,
        stream=DriverStream,
        event=DriverEvent,
        kernel=QueueKernel,
        probe=driver.probe,
        description="a device with queues, driven by a C library",
    )
