"""The platform: NVIDIA's GPUs where there is a driver, else emulated devices."""

from __future__ import annotations

import functools

from pydantic import BaseModel, ConfigDict, Field

from xla_backend_gpu.availability import cuda_missing
from xla_backend_gpu.compiler import DEFAULT_PROCESSOR, GpuCompiler
from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.driver import Driver
from xla_core.backend import Compiler, Platform, StreamExecutor
from xla_core.config import plugin_flags


class GpuFlags(BaseModel):
    """Flags in XLA_CORE_FLAGS: whether to emulate devices despite a GPU, their number, and their memory.

    `xla_gpu_cublas_library` is the path of a library with cuBLASLt's functions, in place of the installed one. Emulated
    devices use one only if it is named here: it must compute in the host's memory.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    xla_gpu_emulate: bool = False
    xla_gpu_emulated_device_count: int = Field(default=1, ge=1, le=1024)
    xla_gpu_emulated_memory_bytes: int = Field(default=1 << 30, ge=1 << 16)
    xla_gpu_cublas_library: str = ""


class GpuPlatform(Platform):
    """The devices of this process."""

    device_count_flag = "xla_gpu_emulated_device_count"

    @functools.cached_property
    def _flags(self) -> GpuFlags:
        return plugin_flags("gpu", GpuFlags)

    @functools.cached_property
    def _gpus(self) -> int:
        """Returns the number of GPUs to use, which is 0 if devices are emulated."""
        if self._flags.xla_gpu_emulate or cuda_missing():
            return 0
        from xla_backend_gpu.cuda_calls import count_devices

        return count_devices()

    def visible_device_count(self) -> int:
        return self._gpus or self._flags.xla_gpu_emulated_device_count

    def create_executor(self, ordinal: int) -> StreamExecutor:
        driver: Driver
        if self._gpus:
            from xla_backend_gpu.cuda_driver import CudaDriver

            driver = CudaDriver(ordinal, self._flags.xla_gpu_cublas_library)
        else:
            from xla_backend_gpu.emulated_driver import EmulatedDriver

            flags = self._flags
            driver = EmulatedDriver(flags.xla_gpu_emulated_memory_bytes, flags.xla_gpu_cublas_library)
        return GpuExecutor(ordinal, driver)

    def create_compiler(self) -> Compiler:
        if not self._gpus:
            return GpuCompiler(DEFAULT_PROCESSOR)
        from xla_backend_gpu.cuda_calls import processor_of

        return GpuCompiler(processor_of(0))
