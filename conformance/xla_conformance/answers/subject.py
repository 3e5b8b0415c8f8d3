"""Subject: an object of each class of the contract, which are asked."""

from __future__ import annotations

from types import TracebackType

import numpy as np

from xla_conformance.bench import compiled
from xla_conformance.device.memories import allocated
from xla_conformance.programs.family import FAMILY
from xla_core import Client, CompileOptions
from xla_core.backend import Executable, StreamExecutor, TransferManager
from xla_core.hlo import ElementType, Shape

BYTES = 1024
PROGRAM = next(p for p in FAMILY if p.name == "temporaries")


class Subject:
    """A device of a client, a stream, an event and memory of its own, and a compiled program."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.platform = client.platform
        self.options = CompileOptions()
        self.compiler = self.platform.compiler
        self.manager: TransferManager = self.platform.transfer_manager
        self.executor: StreamExecutor = self.platform.executor(0)
        self.executable: Executable = compiled(client, PROGRAM).executable
        self.stream = self.executor.create_stream()
        self.event = self.stream.create_event()
        self.memory, self.other_memory = (allocated(self.executor, BYTES) for _ in range(2))
        held = self.compiler.target_config.capabilities.held_types
        sizes: tuple[tuple[int, ...], ...] = ((), (3,), (5, 7), (2, 3, 4), (0, 4), (1025,))
        types = (ElementType.F32, ElementType.S8, ElementType.PRED, ElementType.BF16, ElementType.S64)
        self.shapes = [Shape(element, size) for element in types if element in held for size in sizes]

    def arrays(self) -> list[np.ndarray]:
        """An array of each shape, whose bytes differ."""
        return [(np.arange(s.num_elements) % 2).reshape(s.dimensions).astype(s.dtype) for s in self.shapes]

    def __enter__(self) -> Subject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.synchronize()
        self.event.close()
        self.stream.close()
        for memory in (self.memory, self.other_memory):
            self.executor.deallocate(memory)
