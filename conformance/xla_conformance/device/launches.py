"""A small program as one piece of a stream's work: it doubles every element of an array."""

from __future__ import annotations

import dataclasses

import numpy as np

from xla_conformance.bench import WatchedAllocator
from xla_core import parse
from xla_core.backend import CompileOptions, DeviceMemory, Executable, Platform, RunOptions, Stream, StreamExecutor
from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType

_BYTES_OF_EXACT_FLOATS = tuple(range(0x3F, 0x4C))  # each repeated four times is a float of moderate size


@dataclasses.dataclass
class Launcher:
    """Runs "double" on arrays of `size` bytes, on any stream."""

    platform: Platform
    executable: Executable
    donating: Executable
    dtype: np.dtype
    size: int

    def run_options(self, stream: Stream, allocator: WatchedAllocator) -> RunOptions:
        """Options of a run on the allocator's device."""
        executor = allocator.executor
        manager, place = self.platform.transfer_manager, ((executor.ordinal,),)
        return RunOptions(executor, stream, allocator, manager, device_assignment=place)

    def donate(self, stream: Stream, allocator: WatchedAllocator, argument: DeviceMemory) -> DeviceMemory:
        """The same, and the execution may overwrite the argument and may return it."""
        (result,) = self.donating.execute_async_on_stream(self.run_options(stream, allocator), [argument])
        return result

    def launch(self, stream: Stream, allocator: WatchedAllocator, argument: DeviceMemory) -> DeviceMemory:
        """Enqueues one execution and returns the memory of its result."""
        (result,) = self.executable.execute_async_on_stream(self.run_options(stream, allocator), [argument])
        return result

    def expected(self, data: np.ndarray) -> np.ndarray:
        """The bytes of the result for an argument's bytes."""
        values = data[: self.size].view(self.dtype)
        with np.errstate(over="ignore"):
            return np.asarray(values + values).view(np.uint8)

    def argument(self, random: np.random.Generator) -> np.ndarray:
        """Bytes for which the result is exact."""
        count = self.size // self.dtype.itemsize
        return random.integers(-(1 << 20), 1 << 20, count).astype(self.dtype).view(np.uint8)

    def fill_value(self, random: np.random.Generator) -> int:
        """A byte for memset: an array of it is a good argument."""
        return int(random.choice(_BYTES_OF_EXACT_FLOATS))


def make_launcher(
    platform: Platform, executor: StreamExecutor, options: CompileOptions | None = None, size: int = 4096
) -> Launcher | None:
    """Compiles the program for the device; None if the backend can't add integers or floats of 32 bits."""
    for element in (ElementType.S32, ElementType.F32):
        shape = f"{element}[{size // 4}]"
        body = f"\nENTRY e {{\n  x = {shape} parameter(0)\n  ROOT r = {shape} add(x, x)\n}}\n"
        alias = ", input_output_alias={ {}: (0, {}, may-alias) }"
        try:
            plain, donating = (
                platform.compiler.compile(parse(f"HloModule double{more}\n{body}"), options, executor)
                for more in ("", alias)
            )
        except UnimplementedError:
            continue
        return Launcher(platform, plain, donating, np.dtype(element.dtype), size)
    return None
