"""Kernels: functions in a module of PTX, which a device loads before it launches one of them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from xla_backend_gpu.driver import Driver
from xla_backend_gpu.program import Engine
from xla_backend_gpu.work_stream import WorkStream
from xla_core.backend import DeviceMemory, Kernel, Stream
from xla_core.errors import InternalError
from xla_core.hlo import HloInstruction
from xla_core.schedule import LaunchDimensions


class DeviceCode:
    """A module of PTX, and its kernels as each device has loaded them. See `Driver.load` for the arguments."""

    def __init__(self, ptx: str, engine: Engine, cubin: bytes = b"") -> None:
        self.ptx = ptx
        self.engine = engine
        self.cubin = cubin
        self._lock = threading.Lock()
        self._loaded: weakref.WeakKeyDictionary[Driver, dict[str, Any]] = weakref.WeakKeyDictionary()

    def is_loaded(self, driver: Driver) -> bool:
        return driver in self._loaded

    def load(self, driver: Driver) -> Mapping[str, Any]:
        """Loads the module if the device hasn't. Returns the driver's handles of its kernels.

        Raises:
            XlaError: the device can't run the PTX.
        """
        functions = self._loaded.get(driver)
        if functions is None:
            with self._lock:
                functions = self._loaded.get(driver)
                if functions is None:
                    functions = self._loaded[driver] = dict(driver.load(self.ptx, self.engine, self.cubin))
        return functions

    def function(self, driver: Driver, name: str) -> Any:
        """Returns the driver's handle of a kernel."""
        functions = self.load(driver)
        if name not in functions:
            raise InternalError(f"the PTX of the program has no kernel {name}")
        return functions[name]


class GpuKernel(Kernel):
    """One kernel. Its arguments are the addresses of the operands, of the results, and of the scratch memory.

    Attributes:
        instruction: the instruction that it computes, which the errors of its launches name.
    """

    def __init__(self, code: DeviceCode, name: str, instruction: HloInstruction | None = None) -> None:
        self.code = code
        self.name = name
        self.instruction = instruction

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        if not isinstance(stream, WorkStream):
            raise InternalError(f"{self.name} can run only on a stream of a GPU, not on a {type(stream).__name__}")
        stream.launch(self, arguments, dimensions)
