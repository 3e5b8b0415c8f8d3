"""The flags of the GPU backend in XLA_CORE_FLAGS."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


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
