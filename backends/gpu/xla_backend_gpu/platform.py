"""The platform: NVIDIA's GPUs where there is a driver, else emulated devices."""

from __future__ import annotations

import functools

from xla_backend_gpu.availability import count_gpus
from xla_backend_gpu.compiler import GpuCompiler
from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.driver import Driver
from xla_backend_gpu.flags import GpuFlags
from xla_core.backend import Compiler, Platform, StreamExecutor
from xla_core.config import plugin_flags


class GpuPlatform(Platform):
    """The devices of this process."""

    device_count_flag = "xla_gpu_emulated_device_count"

    @functools.cached_property
    def _flags(self) -> GpuFlags:
        return plugin_flags("gpu", GpuFlags)

    @functools.cached_property
    def _gpus(self) -> int:
        """Returns the number of GPUs to use, which is 0 if devices are emulated."""
        return count_gpus()

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
            return GpuCompiler()
        from xla_backend_gpu.cuda_calls import chip_of

        return GpuCompiler(chip=chip_of(0))
