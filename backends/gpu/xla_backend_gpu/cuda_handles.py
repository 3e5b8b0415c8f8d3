"""Handles of CUDA's driver that live for as long as Python objects: events, graphs and modules.

Python runs finalizers on any thread and at any time, also while a stream is captured, or after the device is closed. So
a finalizer only notes that a handle is no longer needed. The driver destroys it later, in the device's context.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any, ClassVar

from cuda.bindings import driver as cuda

from xla_core.errors import XlaError

Call = Callable[..., Any]
"""Calls a function of the driver, by name, and raises the error of its status."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Dropped:
    """A handle without owner: the function that destroys it, and the streams whose work may use it."""

    destroy: str
    handle: Any
    streams: frozenset[int]


class Owner:
    """The owner of a handle. The handle is destroyed some time after the last reference to its owner is dropped.

    `streams` are those whose work may use the handle.
    """

    __slots__ = ("_dropped", "handle")
    destroy: ClassVar[str]
    streams: Collection[int] = ()

    def __init__(self, handle: Any, dropped: deque[_Dropped]) -> None:
        self.handle = handle
        self._dropped = dropped

    def __del__(self) -> None:
        self._dropped.append(_Dropped(self.destroy, self.handle, frozenset(self.streams)))


class CudaEvent(Owner):
    """An event of the driver."""

    __slots__ = ()
    destroy = "cuEventDestroy"


class CudaModule(Owner):
    """A module that a device has loaded.

    Attributes:
        streams: the streams on which kernels of the module were launched.
    """

    __slots__ = ("streams",)
    destroy = "cuModuleUnload"

    def __init__(self, handle: Any, dropped: deque[_Dropped]) -> None:
        super().__init__(handle, dropped)
        self.streams: set[int] = set()


@dataclasses.dataclass(eq=False, slots=True)
class CudaFunction:
    """The driver's handle of a kernel, its module, and the shared memory that its launches may ask for, if set."""

    handle: Any
    module: CudaModule
    shared_bytes: int = 0


class CudaGraph(Owner):
    """An executable graph. The driver lets it finish if it is destroyed while it runs.

    Attributes:
        names: its last kernels.
        modules: the modules of its kernels.
    """

    __slots__ = ("modules", "names")
    destroy = "cuGraphExecDestroy"

    def __init__(
        self, handle: Any, dropped: deque[_Dropped], names: Iterable[str], modules: Iterable[CudaModule]
    ) -> None:
        super().__init__(handle, dropped)
        self.names, self.modules = tuple(names), frozenset(modules)


class Handles:
    """The handles of one device. None of them lives longer than the device's context, which is current in all calls."""

    def __init__(self) -> None:
        self._live = set[tuple[str, int]]()
        self._dropped = deque[_Dropped]()
        self._in_use = deque[tuple[_Dropped, list[CudaEvent]]]()  # modules, with events after their last kernels

    def event(self, call: Call, *, timing: bool = False) -> CudaEvent:
        """Creates an event. `timing` is whether the device notes the time at which the event is reached."""
        flags = cuda.CUevent_flags.CU_EVENT_DEFAULT if timing else cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING
        return CudaEvent(self._added(CudaEvent, call("cuEventCreate", flags)), self._dropped)

    def module(self, handle: Any) -> CudaModule:
        return CudaModule(self._added(CudaModule, handle), self._dropped)

    def graph(self, handle: Any, names: Iterable[str], modules: Iterable[CudaModule]) -> CudaGraph:
        return CudaGraph(self._added(CudaGraph, handle), self._dropped, names, modules)

    def _added(self, kind: type[Owner], handle: Any) -> Any:
        self._live.add((kind.destroy, int(handle)))
        return handle

    def release(self, call: Call, streams: Collection[int]) -> None:
        """Destroys what has lost its owner. Modules are unloaded once their kernels have run.

        Args:
            call: calls the driver.
            streams: the streams that are open. Those that were closed have no work.
        """
        while self._dropped:
            with contextlib.suppress(IndexError):  # another thread took it
                dropped = self._dropped.popleft()
                marks = [self._mark(call, stream) for stream in dropped.streams if stream in streams]
                self._in_use.append((dropped, marks))
        for _ in range(len(self._in_use)):
            with contextlib.suppress(IndexError):
                dropped, marks = self._in_use.popleft()
                if all(cuda.cuEventQuery(mark.handle)[0] == cuda.CUresult.CUDA_SUCCESS for mark in marks):
                    self._destroy(call, dropped.destroy, dropped.handle)
                else:
                    self._in_use.append((dropped, marks))

    def _mark(self, call: Call, stream: int) -> CudaEvent:
        mark = self.event(call)
        call("cuEventRecord", mark.handle, stream)
        return mark

    def close(self, call: Call) -> None:
        """Destroys all handles, also those that have owners. All work is done, and no other thread makes handles."""
        for destroy, handle in tuple(self._live):
            self._destroy(call, destroy, handle)

    def _destroy(self, call: Call, destroy: str, handle: Any) -> None:
        self._live.discard((destroy, int(handle)))
        with contextlib.suppress(XlaError):  # after a fault, it was destroyed with the context
            call(destroy, handle)
