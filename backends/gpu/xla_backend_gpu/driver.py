"""Driver: the operations of a device that the backend uses. CUDA's driver and the emulator implement it."""

from __future__ import annotations

import abc
import dataclasses
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_backend_gpu.program import Engine
from xla_core.backend import HostBytes, StreamExecutor
from xla_core.errors import FailedPreconditionError, UnavailableError, UnimplementedError, XlaError
from xla_core.hlo import HloInstruction
from xla_core.target import DeviceDescription

if TYPE_CHECKING:
    from xla_backend_gpu.cublas.library import CublasLt
    from xla_backend_gpu.cublas.matmul import Matmul

Places = Sequence[tuple[int, int]]
"""Addresses and sizes in bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchArguments:
    """A launch: blocks, threads of a block, bytes of dynamic shared memory, and the addresses of buffers.

    `instruction` is the instruction that the kernel computes, for errors.
    """

    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]
    shared_bytes: int
    addresses: tuple[int, ...]
    instruction: HloInstruction | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """A kernel that a device has loaded: its name, and the driver's handle of it."""

    name: str
    handle: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A step of a graph.

    Attributes:
        enqueue: enqueues kernels, copies, fills or events on the stream that it takes.
        branch: the number of the stream, from 0. Events order the steps of different streams, and in the end stream 0
            waits for the others.
    """

    enqueue: Callable[[Any], None]
    branch: int = 0


class Driver(abc.ABC):
    """A device. Each driver has its own types of streams and events.

    Streams are in-order queues on the device. The methods that take a stream enqueue work there and return, and may be
    called from any thread. A method raises an XlaError for its own failure, and for an earlier one that the device has
    reported since. After a failure that the device doesn't recover from, `lost` is that failure, and every method but
    `free` raises it.

    Attributes:
        has_graphs: whether `launch_graph` is faster than enqueueing the work of the graph again.
        has_peers: whether `copy` takes memory of the platform's other devices.
        recovery: what a user can do when the device is lost.
        fork_recovery: what a user can do in the child process of a fork.
    """

    has_graphs = False
    has_peers = False
    recovery = "make a new xla_core.Client, which opens the device again"
    fork_recovery = "make a new xla_core.Client in the child process"

    def __init__(self) -> None:
        self.lost: XlaError | None = None
        self._blas: list[CublasLt | None] = []  # what `open_blas` has returned, if it was called
        self._opening = threading.Lock()
        self._warned = False
        _drivers.add(self)

    @property
    @abc.abstractmethod
    def description(self) -> DeviceDescription:
        """Describes the device."""

    # -- memory ------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def allocate(self, size: int) -> int | None:
        """Returns the address of new memory, aligned to 256 bytes, or None if there isn't enough."""

    @abc.abstractmethod
    def free(self, address: int) -> None:
        """Frees memory that no enqueued work uses any longer."""

    # -- streams -----------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def create_stream(self, executor: StreamExecutor) -> Any:
        """Creates a stream. Error messages name the device of `executor`."""

    def name_stream(self, stream: Any, name: str) -> None:  # noqa: B027  (a GPU's streams have no rows in a profile)
        """Names a stream's row in a profile."""

    def is_idle(self, stream: Any) -> bool:
        """Whether a stream's work is known to be done, so that a short `read` takes no longer than its copy."""
        return False

    def recover(self, stream: Any) -> None:  # noqa: B027  (only an emulated device computes in a caller's thread)
        """Lets a stream go on after Ctrl-C has interrupted its work in a caller's thread."""

    @abc.abstractmethod
    def close_stream(self, stream: Any) -> None:
        """Frees a stream. Its work must be done."""

    @abc.abstractmethod
    def write(self, stream: Any, address: int, source: HostBytes) -> None:
        """Enqueues a copy from the host. The caller may change `source` when this returns."""

    @abc.abstractmethod
    def read(self, stream: Any, destination: HostBytes, address: int) -> None:
        """Copies to the host, after the stream's earlier work. It returns when `destination` is filled."""

    @abc.abstractmethod
    def copy(self, stream: Any, destination: int, source: int, size: int) -> None:
        """Enqueues a copy within the device."""

    @abc.abstractmethod
    def fill(self, stream: Any, address: int, value: int, size: int) -> None:
        """Enqueues setting bytes to `value`."""

    @abc.abstractmethod
    def launch(self, stream: Any, function: Function, arguments: LaunchArguments) -> None:
        """Enqueues a kernel."""

    @property
    def blas(self) -> CublasLt | None:
        """The library that multiplies matrices on this device; None if there is none. It is opened on first use."""
        with self._opening:
            if not self._blas:
                self._blas.append(self.open_blas())
            return self._blas[0]

    @property
    def has_opened_blas(self) -> bool:
        """Whether `blas` is known, so that it takes no time."""
        return bool(self._blas)

    def open_blas(self) -> CublasLt | None:
        """Opens cuBLASLt for this device, or returns None if it is not there."""
        return None

    def close_blas(self) -> None:
        """Closes the library, if it was opened."""
        with self._opening:
            for library in self._blas:
                if library is not None:
                    library.close()
            self._blas.clear()

    def multiply(self, stream: Any, matmul: Matmul, places: Places, name: str) -> None:
        """Enqueues a product of the library `blas`. `places` are those of `CublasLt.multiply`.

        Args:
            stream, matmul, places: what to enqueue, and where.
            name: the instruction's, for errors.
        """
        from xla_backend_gpu.cublas.find import missing

        library = self.blas
        if library is None:
            raise missing(name)
        self.call_blas(stream, library, matmul, places, name)

    def workspace(self, matmul: Matmul) -> int | None:
        """Returns the bytes of scratch memory that a product of `blas` needs, or None if it doesn't compute it.

        Warns once of a library that fails; programs have kernels of our own then.
        """
        library = self.blas
        if library is None:
            return None
        try:
            return self.ask_blas(library, matmul)
        except XlaError as error:
            self.require_alive()
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"products don't use cuBLASLt, which fails: {error.message}", RuntimeWarning, stacklevel=2
                )
            return None

    def ask_blas(self, library: CublasLt, matmul: Matmul) -> int | None:
        """Returns what `CublasLt.workspace` does."""
        return library.workspace(matmul)

    @abc.abstractmethod
    def call_blas(self, stream: Any, library: CublasLt, matmul: Matmul, places: Places, name: str) -> None:
        """See `multiply`."""

    def capture(self, work: Sequence[Step]) -> Any:
        """Returns a graph of steps. Their kernels are loaded. It is freed when its last reference is dropped."""
        return tuple(work)

    def launch_graph(self, stream: Any, graph: Any) -> None:
        """Enqueues the work of a graph."""
        for step in graph:
            step.enqueue(stream)

    def seconds(self, work: Sequence[Callable[[Any], None]]) -> float:
        """Returns how long the device takes for kernels, copies and fills that it runs one after another.

        Args:
            work: functions that enqueue it on the stream that they take.

        Raises:
            UnimplementedError: the device has no clock.
        """
        raise UnimplementedError(f"{self.description.name} has no clock")

    # -- events ------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def record(self, stream: Any) -> Any:
        """Enqueues a new event, and returns it. It is freed when its last reference is dropped."""

    @abc.abstractmethod
    def wait(self, stream: Any, event: Any) -> None:
        """Makes the stream's later work wait for an event of any device of this platform."""

    @abc.abstractmethod
    def reached(self, event: Any, seconds: float) -> bool:
        """Tells whether the work before an event is done. Waits for it for at most `seconds`."""

    # -- code --------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def load(self, ptx: str, engine: Engine, cubin: bytes = b"") -> Mapping[str, Function]:
        """Loads a module of PTX; returns its kernels by name.

        Args:
            ptx: the module.
            engine: how an emulated device runs the kernels.
            cubin: the module's machine code for the processor that the PTX names, or b"". A GPU of another processor
                compiles the PTX.
        """

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Releases the device."""

    # -- failures ----------------------------------------------------------------------------------------------------

    def loss(self) -> XlaError | None:
        """Returns the error of requests that come after the loss of the device, or None if it is not lost.

        It is not for work on streams, which may fail before `lost` is set.
        """
        if self.lost is None or isinstance(self.lost, FailedPreconditionError):  # a fork's error explains itself
            return self.lost
        loss = UnavailableError(
            f"the device is lost since an earlier failure: {self.lost.message}",
            location=self.lost.location,
            hint=self.recovery,
        )
        loss.__cause__ = self.lost
        return loss

    def require_alive(self) -> None:
        """Raises `lost`, if the device is lost."""
        if self.lost is not None:
            raise self.lost.with_traceback(None)


_drivers: weakref.WeakSet[Driver] = weakref.WeakSet()


def _after_fork() -> None:
    for driver in list(_drivers):
        driver._opening = threading.Lock()  # another thread of the parent may have held it
        driver.lost = FailedPreconditionError(
            "this device was opened before a fork, and belongs to the parent process",
            hint=driver.fork_recovery,
        )


os.register_at_fork(after_in_child=_after_fork)
