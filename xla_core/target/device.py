"""What a device is, in figures."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from xla_core.checked_model import CheckedModel

__all__ = ["CacheLevel", "DeviceDescription", "MemorySpace"]


class CacheLevel(CheckedModel):
    """One level of cache: bytes in all, bytes of a line, how many cores share one."""

    size_bytes: int = Field(ge=0)
    line_bytes: int = Field(default=64, ge=1)
    cores: int = Field(default=1, ge=1)


class MemorySpace(CheckedModel):
    """A kind of memory that layouts name by number: 0 is the device's main memory.

    `addressable` says that kernels may read and write it at any address.
    """

    number: int = Field(ge=0)
    name: str
    size_bytes: int = Field(default=0, ge=0)
    addressable: bool = True


class DeviceDescription(CheckedModel):
    """A device, for people and for cost models (XLA: stream_executor::DeviceDescription). 0 means unknown.

    Attributes:
        name, vendor: of the model ("Acme A1").
        memory_bytes: main memory.
        memory_bandwidth: bytes a second to and from it.
        core_count: units that run kernels at the same time.
        clock_hz: of a core.
        vector_bytes: the width of a vector register.
        lanes: work items that one core runs in lockstep; 1 where that is not how it works.
        caches: from the first level on.
        scratch_bytes: memory of one core that kernels manage themselves.
        peak_flops: floating-point operations a second of the device, by HLO element type ("f32").
        attributes: anything else, as text.
    """

    name: str
    vendor: str = ""
    memory_bytes: int = Field(default=0, ge=0)
    memory_bandwidth: float = Field(default=0.0, ge=0)
    core_count: int = Field(default=1, ge=1)
    clock_hz: float = Field(default=0.0, ge=0)
    vector_bytes: int = Field(default=0, ge=0)
    lanes: int = Field(default=1, ge=1)
    caches: tuple[CacheLevel, ...] = ()
    scratch_bytes: int = Field(default=0, ge=0)
    peak_flops: Mapping[str, float] = Field(default_factory=dict)
    attributes: Mapping[str, str] = Field(default_factory=dict)
