"""Figures that describe a device."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.sizes import ceil_div


class CacheLevel(CheckedModel):
    """One level of cache.

    Attributes:
        size_bytes: its size.
        line_bytes: the size of a cache line.
        cores: how many cores share it.
        ways: how many lines each of its sets holds; 0 if any line may hold any address.
    """

    size_bytes: int = Field(ge=0)
    line_bytes: int = Field(default=64, ge=1)
    cores: int = Field(default=1, ge=1)
    ways: int = Field(default=0, ge=0)

    def occupancy(self, pieces: int, piece_bytes: int, stride: int) -> float:
        """Returns how full the cache's sets become if pieces of memory that are `stride` bytes apart are kept in it.

        Only the sets that the pieces map to count. At 1 these are full, and beyond 1 the pieces displace one another.
        Pieces that are a large power of two apart map to few sets.
        """
        lines = max(min(ceil_div(piece_bytes, self.line_bytes), stride // self.line_bytes), 1)
        pieces = min(pieces, ceil_div(pieces * stride, self.line_bytes))
        capacity = max(self.size_bytes // self.line_bytes, 1)
        if not self.ways:
            return pieces * lines / capacity
        sets = max(capacity // self.ways, 1)
        span = sets * self.line_bytes  # addresses that are this far apart map to the same set
        starts = min(pieces, span // math.gcd(stride, span))
        return pieces * lines / (min(starts * lines, sets) * self.ways)


class MemorySpace(CheckedModel):
    """A kind of memory, which layouts name by number; 0 is the device's main memory.

    Attributes:
        size_bytes: its size, for users; 0 means unknown. The core does not plan by it: where a space is full,
            `StreamExecutor.allocate` returns None.
    """

    number: int = Field(ge=0)
    name: str
    size_bytes: int = Field(default=0, ge=0)


class DeviceDescription(CheckedModel):
    """A device, for users and for cost models (XLA: stream_executor::DeviceDescription). 0 means unknown.

    Attributes:
        name, vendor: the device's model ("Acme A1") and who makes it.
        memory_bytes: size of the main memory.
        memory_bandwidth: bytes per second between the device and its main memory.
        core_count: number of cores that run kernels at the same time.
        clock_hz: clock rate of a core.
        vector_bytes: width of a vector register.
        lanes: number of work items that one core runs in lockstep; 1 on a device without lockstep execution.
        caches: the levels of cache, from the first on.
        scratch_bytes: memory of one core that kernels manage themselves (shared memory of a GPU, for example).
        peak_flops: HLO element type ("f32") -> floating-point operations per second of the device.
        simulated: whether software stands in for the device. Reports of conformance say so.
        attributes: further properties, as text.
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
    simulated: bool = False
    attributes: Mapping[str, str] = Field(default_factory=dict)
