"""Blocks of a device's memory, each full of bytes of its own, so that blocks that overlap are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core.backend import DeviceMemory, Stream, StreamExecutor


def sizes_up_to(most: int) -> list[int]:
    """Sizes around each power of two, together at most `most` bytes; the largest is about a fifth of that."""
    sizes: list[int] = []
    for k in range(40):
        for size in ((1 << k) - 1, 1 << k, (1 << k) + 1):
            if size > 0 and sum(sizes) + size <= most:
                sizes.append(size)
    return sizes


class Blocks:
    """Blocks of the device, each with bytes of its own."""

    def __init__(self, executor: StreamExecutor, stream: Stream, random: np.random.Generator, largest: int) -> None:
        self._executor, self._stream, self._random = executor, stream, random
        self._bytes = pattern(largest + (1 << 16), int(random.integers(1 << 30)))
        self._back = np.zeros(largest, np.uint8)
        self.held: dict[DeviceMemory, np.ndarray] = {}

    def add(self, size: int) -> None:
        memory = allocated(self._executor, size)
        if memory.size < size or memory.offset:
            raise Failure(
                f"`allocate` gives at least the size that was asked for: {size} bytes, not {memory!r}.",
                promise="executor.allocate",
            )
        start = int(self._random.integers(1 << 16))
        self.held[memory] = self._bytes[start : start + size]
        self._stream.memcpy_h2d(memory, self.held[memory])

    def remove(self, memory: DeviceMemory) -> None:
        self._stream.synchronize()
        self._executor.deallocate(memory)
        del self.held[memory]

    def check(self) -> None:
        for memory, wanted in self.held.items():
            back = self._back[: wanted.size]
            self._stream.memcpy_d2h(back, memory)
            self._stream.synchronize()
            sentence = f"Blocks of memory are apart, but a block of {back.size} bytes has the bytes of others."
            require_bytes(sentence, back, wanted, "executor.allocate")

    def close(self) -> None:
        self._stream.synchronize()
        for memory in self.held:
            self._executor.deallocate(memory)


def churn(executor: StreamExecutor, random: np.random.Generator, sizes: Sequence[int], rounds: int) -> None:
    """Allocates blocks of all sizes, checks them, and replaces half of them, so many times."""
    stream = executor.create_stream()
    blocks = Blocks(executor, stream, random, max(sizes))
    try:
        for size in random.permutation(sizes).tolist():
            blocks.add(size)
        blocks.check()
        for _ in range(rounds):
            memories = list(blocks.held)
            gone = [memories[i] for i in random.permutation(len(memories))[: len(memories) // 2]]
            freed = [blocks.held[memory].size for memory in gone]
            for memory in gone:
                blocks.remove(memory)
            for size in random.permutation(freed).tolist():
                blocks.add(size)
            blocks.check()
    finally:
        blocks.close()
        stream.close()
