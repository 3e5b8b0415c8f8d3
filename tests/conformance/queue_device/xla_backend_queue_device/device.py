"""The driver, the devices that it opens, and the platform that they make up."""

from __future__ import annotations

import os
from pathlib import Path

from xla_backend_template.c_driver import CDriver
from xla_backend_template.driver_executor import DriverExecutor

from xla_core.backend import Compiler, Platform, StreamExecutor
from xla_core.target import DeviceDescription

driver = CDriver(Path(os.environ.get("QUEUE_DEVICE_LIBRARY", "libqueue_device.so")), prefix="qd_")


class QueueExecutor(DriverExecutor):
    """One device."""

    driver = driver
    memory_bytes = 128 << 20

    @property
    def description(self) -> DeviceDescription:
        return DeviceDescription(name="queue device", vendor="xla-core", memory_bytes=self.memory_bytes)


class QueuePlatform(Platform):
    """The devices of this machine."""

    def visible_device_count(self) -> int:
        return 2

    def create_executor(self, ordinal: int) -> StreamExecutor:
        return QueueExecutor(ordinal)

    def create_compiler(self) -> Compiler:
        from xla_backend_queue_device.compiler import QueueCompiler

        return QueueCompiler()
