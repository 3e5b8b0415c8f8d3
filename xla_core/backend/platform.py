"""Platform: the devices of one kind, and what compiles for them. (XLA: stream_executor/platform.h.)"""

from __future__ import annotations

import abc
import threading
from functools import cached_property

from xla_core.backend.compiler import Compiler
from xla_core.backend.stream_executor import StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.errors import InvalidArgumentError

__all__ = ["Platform"]


class Platform(abc.ABC):
    """The root of a backend. Making one touches no device; `create_executor` does.

    Attributes:
        name: the entry point's name, set by the registry.
        device_count_flag: the flag of XLA_FLAGS that says how many devices there are; "" where the machine does.
    """

    name: str = ""
    device_count_flag: str = ""

    def __init__(self) -> None:
        self._executors: dict[int, StreamExecutor] = {}
        self._lock = threading.Lock()

    @abc.abstractmethod
    def visible_device_count(self) -> int:
        """How many devices there are now; ordinals are 0 to this less one."""

    @abc.abstractmethod
    def create_executor(self, ordinal: int) -> StreamExecutor:
        """Opens a device. Called once for each ordinal."""

    @abc.abstractmethod
    def create_compiler(self) -> Compiler:
        """The compiler for these devices. Called once."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def create_transfer_manager(self) -> TransferManager:
        """What moves literals. Called once. The default suits dense layouts."""
        return TransferManager(self.compiler.target_config)

    @cached_property
    def compiler(self) -> Compiler:
        return self.create_compiler()

    @cached_property
    def transfer_manager(self) -> TransferManager:
        return self.create_transfer_manager()

    def executor(self, ordinal: int) -> StreamExecutor:
        """The device's executor, opened on first use. Raises InvalidArgumentError for an ordinal that isn't there."""
        with self._lock:
            if ordinal not in self._executors:
                count = self.visible_device_count()
                if not 0 <= ordinal < count:
                    raise InvalidArgumentError(f"platform {self.name} has {count} devices, none with ordinal {ordinal}")
                self._executors[ordinal] = self.create_executor(ordinal)
            return self._executors[ordinal]

    def close(self) -> None:
        """Closes the executors that were opened."""
        with self._lock:
            while self._executors:
                self._executors.popitem()[1].close()
