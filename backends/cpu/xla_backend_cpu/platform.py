"""CpuPlatform: presents the host as one device, or as several virtual devices."""

from __future__ import annotations

from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.executor import CpuExecutor, describe_host
from xla_backend_cpu.host import architecture
from xla_core.backend import Compiler, Platform, StreamExecutor
from xla_core.config import xla_flags


class CpuPlatform(Platform):
    """The host's devices.

    `--xla_force_host_platform_device_count=N` in XLA_FLAGS makes N devices, which share memory and threads.
    """

    device_count_flag = "xla_force_host_platform_device_count"

    def visible_device_count(self) -> int:
        return xla_flags().xla_force_host_platform_device_count

    def create_executor(self, ordinal: int) -> StreamExecutor:
        """A device of the processor that the platform's compiler compiles for."""
        compiler = self.compiler
        if not isinstance(compiler, CpuCompiler):
            return CpuExecutor(ordinal)
        return CpuExecutor(ordinal, describe_host(compiler.cpu, architecture(compiler.triple)))

    def create_compiler(self) -> Compiler:
        return CpuCompiler()
