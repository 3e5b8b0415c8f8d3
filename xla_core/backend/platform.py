"""Platform: the devices of one kind, and their compiler. (XLA: stream_executor/platform.h.)"""

from __future__ import annotations

import abc
import threading

from xla_core.backend.compiler import Compiler
from xla_core.backend.stream_executor import StreamExecutor
from xla_core.backend.transfer_manager import TransferManager
from xla_core.checks import wrong_result
from xla_core.errors import InvalidArgumentError
from xla_core.handle import Handle


class Platform(Handle, abc.ABC):
    """The root object of a backend. Making it touches no device; `create_executor` does.

    Attributes:
        name: the entry point's name, set by the registry.
        device_count_flag: the flag of XLA_FLAGS or of XLA_CORE_FLAGS that sets the number of devices; "" where the
            machine determines it.
        exclusive: whether one process at a time can open the devices. In another process, `create_executor` then raises
            an UnavailableError.
    """

    name: str = ""
    device_count_flag: str = ""
    exclusive: bool = False

    def __init__(self) -> None:
        self._executors: dict[int, StreamExecutor] = {}
        self._compiler: Compiler | None = None
        self._transfer_manager: TransferManager | None = None
        self._lock = threading.RLock()

    @abc.abstractmethod
    def visible_device_count(self) -> int:
        """Returns the number of devices now. Their ordinals count from 0."""

    @abc.abstractmethod
    def create_executor(self, ordinal: int) -> StreamExecutor:
        """Opens a device. The core calls this once for each ordinal, from any thread.

        In a forked child of a process that opened the device, it opens it too or raises an XlaError.
        """

    @abc.abstractmethod
    def create_compiler(self) -> Compiler:
        """Makes the compiler for these devices. The core calls this once."""

    # -- what has a default ------------------------------------------------------------------------------------------

    def create_transfer_manager(self) -> TransferManager:
        """Makes the transfer manager. The core calls this once. The default suits dense layouts."""
        return TransferManager(self.compiler.target_config)

    @property
    def compiler(self) -> Compiler:
        """The platform's compiler, which is made on first use."""
        if self._compiler is None:
            with self._lock:
                if self._compiler is None:
                    compiler = self.create_compiler()
                    self._require("create_compiler", compiler, Compiler)
                    self._compiler = compiler
        return self._compiler

    @compiler.setter
    def compiler(self, compiler: Compiler) -> None:
        """Replaces the compiler, for tests of what another one would do."""
        self._compiler = compiler

    @property
    def transfer_manager(self) -> TransferManager:
        """The platform's transfer manager, which is made on first use."""
        if self._transfer_manager is None:
            with self._lock:
                if self._transfer_manager is None:
                    manager = self.create_transfer_manager()
                    self._require("create_transfer_manager", manager, TransferManager)
                    self._transfer_manager = manager
        return self._transfer_manager

    def executor(self, ordinal: int) -> StreamExecutor:
        """Returns the device's executor, which is opened on first use.

        Raises:
            InvalidArgumentError: for an ordinal that doesn't exist.
        """
        with self._lock:
            if ordinal not in self._executors:
                count = self.visible_device_count()
                if not 0 <= ordinal < count:
                    raise InvalidArgumentError(f"platform {self.name} has {count} devices, none with ordinal {ordinal}")
                executor = self.create_executor(ordinal)
                self._require(f"create_executor({ordinal})", executor, StreamExecutor)
                executor.device_name = f"{self.name}:{ordinal}"
                self._executors[ordinal] = executor
            return self._executors[ordinal]

    def _require(self, method: str, made: object, kind: type) -> None:
        if not isinstance(made, kind):
            raise wrong_result(f"{type(self).__name__}.{method}", made, f"a {kind.__name__}")

    def close_transfers(self) -> None:
        """Ends programs that wait for their infeed. Without a transfer manager, no program does."""
        if self._transfer_manager is not None:
            self._transfer_manager.close()

    def close(self) -> None:
        """Closes the open devices."""
        with self._lock:
            while self._executors:
                self._executors.popitem()[1].close()
