"""EmulatedDriver: an emulated device in this process. It runs PTX in its own memory, on a thread for each stream.

Short copies, and kernels whose last launch was short, run in the caller's thread where the stream is idle, because
waking the stream's thread would take longer.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from xla_backend_gpu.driver import Driver, Function, LaunchArguments, Places
from xla_backend_gpu.emulator import Counters, EmulatorFault, Memory, warn_of_leaks
from xla_backend_gpu.program import Engine
from xla_core.backend import HostBytes, StreamExecutor
from xla_core.errors import InternalError, XlaError
from xla_core.hlo import HloInstruction
from xla_core.runtime import HostEvent, HostStream
from xla_core.target import DeviceDescription

if TYPE_CHECKING:
    from xla_backend_gpu.cublas.library import CublasLt
    from xla_backend_gpu.cublas.matmul import Matmul
    from xla_backend_gpu.emulator import Access, Module
    from xla_backend_gpu.emulator.stream_order import Clocks, MemoryUses, Operation, StreamOrder


LaunchObserver = Callable[[str, LaunchArguments], "Callable[[Access], None]"]
"""Is called before a launch with the kernel's name, and returns the function to call with each access of memory."""

_ALIGNMENT = 256
_MOST_READY = 8  # launches of a kernel that are kept
_COPY_MICROSECONDS_PER_BYTE = 1e-4  # 10 GB/s


class _Event(HostEvent):
    """An event with the operations that come before it, where the order of streams is looked at."""

    clocks: Clocks | None = None


class _Loaded:
    """The handle of a kernel: its module, and its launches that are ready to run again.

    Attributes:
        lasted: the grid and the block of the last launch, and its microseconds.
    """

    def __init__(self, name: str, module: Module) -> None:
        self.module = module
        self.lasted: tuple[object, float] = (None, float("inf"))
        self._name = name
        self._shared_bytes: int | None = None  # that were checked last
        self._ready: dict[tuple[object, ...], Callable[[], Counters]] = {}

    def microseconds(self, arguments: LaunchArguments) -> float:
        """Estimates a launch. Nobody knows how long the first one takes, which also compiles the kernel."""
        sizes, microseconds = self.lasted
        return microseconds if sizes == (arguments.blocks, arguments.threads) else float("inf")

    def check_shared_bytes(self, size: int) -> None:
        """See `Module.check_shared_bytes`."""
        if size != self._shared_bytes:
            self.module.check_shared_bytes(self._name, size)
            self._shared_bytes = size

    def ready(
        self, arguments: LaunchArguments, memory: Memory, observe: Callable[[Access], None] | None
    ) -> Callable[[], Counters]:
        """Returns the function that runs a launch. Loops launch a kernel with the same arguments again and again."""
        key = (arguments.blocks, arguments.threads, arguments.shared_bytes, arguments.addresses)
        ready = self._ready.get(key) if observe is None else None
        if ready is None:
            sizes = (self._name, arguments.blocks, arguments.threads)
            ready = self.module.ready(*sizes, arguments.addresses, memory, arguments.shared_bytes, observe=observe)
            if observe is None:
                if len(self._ready) == _MOST_READY:
                    self._ready.clear()
                self._ready[key] = ready
        return ready


class EmulatedDriver(Driver):
    """An emulated device with `memory_bytes` of memory.

    `cublas_library` is the path of a library with cuBLASLt's functions that computes in the host's memory. NVIDIA's own
    needs a GPU.

    As on a GPU, the device is lost after a fault of a kernel. `lost` names the kernel, the line of PTX and the thread.

    Attributes:
        counters: the counts of all launches with the checked engine.
        observer: observes the launches with the checked engine.
    """

    _order: ClassVar[StreamOrder | None] = None  # of the streams of all devices, from the first checked module on

    def __init__(self, memory_bytes: int, cublas_library: str = "") -> None:
        super().__init__()
        self._cublas_library = cublas_library
        self.memory = Memory(memory_bytes)
        self.counters = Counters()
        self.observer: LaunchObserver | None = None
        self._counting = threading.Lock()
        self._leaks: weakref.finalize[..., EmulatedDriver] | None = None
        self._memory_uses: MemoryUses | None = None
        self._description = DeviceDescription(
            name="emulated GPU",
            vendor="xla-core",
            memory_bytes=memory_bytes,
            lanes=32,
            simulated=True,
        )

    @property
    def description(self) -> DeviceDescription:
        return self._description

    def allocate(self, size: int) -> int | None:
        self.require_alive()
        return self.memory.allocate(size, _ALIGNMENT)

    def free(self, address: int) -> None:
        self.memory.free(address)

    # -- streams -----------------------------------------------------------------------------------------------------

    def create_stream(self, executor: StreamExecutor) -> HostStream:
        return HostStream(executor, f"{executor.device_name} (emulated)")

    def close_stream(self, stream: HostStream) -> None:
        stream.close()
        self._host_waited(stream)

    def name_stream(self, stream: HostStream, name: str) -> None:
        stream.name = f"{name}, on the device"

    def is_idle(self, stream: HostStream) -> bool:
        if not stream.is_idle:
            return False
        self._host_waited(stream)
        return True

    def _host_waited(self, stream: HostStream) -> None:
        if self._order is not None:
            self._order.host_waited(self._order.recorded(stream))

    def recover(self, stream: HostStream) -> None:
        if self.lost is None and stream.error is not None:
            stream.recover()

    def _enqueue(
        self,
        stream: HostStream,
        work: Callable[[Operation | None], None],
        name: str,
        microseconds: float,
        instruction: HloInstruction | None = None,
    ) -> None:
        """Enqueues work, which takes its place in the order of streams, if that is looked at."""
        self.require_alive()
        operation: Operation | None = None
        if self._order is not None:
            operation = self._order.operation(stream, name, instruction.location if instruction is not None else None)
        stream.enqueue(functools.partial(self._run, functools.partial(work, operation)), microseconds, name)

    def _uses(self, operation: Operation | None, address: int, size: int, *, writes: bool) -> None:
        if operation is not None and self._memory_uses is not None:
            self._memory_uses.uses(operation, address, size, writes=writes)

    def _run(self, work: Callable[[], None]) -> None:
        """Runs work in its turn on a stream. After a failure the device is lost."""
        self.require_alive()
        try:
            work()
        except Exception as error:
            lost = error if isinstance(error, XlaError) else InternalError(f"the emulator failed: {error!r}")
            self.lost = self.lost or lost
            raise

    def write(self, stream: HostStream, address: int, source: HostBytes) -> None:
        data = source.copy()

        def copy(operation: Operation | None) -> None:
            self.memory.write(address, data)
            self._uses(operation, address, data.size, writes=True)

        self._enqueue(stream, copy, "copy from the host", _copy_time(source.size))

    def read(self, stream: HostStream, destination: HostBytes, address: int) -> None:
        def copy(operation: Operation | None) -> None:
            destination[...] = self.memory.view(address, destination.size)
            self._uses(operation, address, destination.size, writes=False)

        self._enqueue(stream, copy, "copy to the host", _copy_time(destination.size))
        self.reached(self.record(stream), float("inf"))

    def copy(self, stream: HostStream, destination: int, source: int, size: int) -> None:
        def copy(operation: Operation | None) -> None:
            self.memory.write(destination, self.memory.view(source, size))
            self._uses(operation, source, size, writes=False)
            self._uses(operation, destination, size, writes=True)

        self._enqueue(stream, copy, "copy", _copy_time(size))

    def fill(self, stream: HostStream, address: int, value: int, size: int) -> None:
        def fill(operation: Operation | None) -> None:
            self.memory.view(address, size)[...] = value
            self.memory.mark_initialized(address, size)
            self._uses(operation, address, size, writes=True)

        self._enqueue(stream, fill, "fill", _copy_time(size))

    def launch(self, stream: HostStream, function: Function, arguments: LaunchArguments) -> None:
        instruction = arguments.instruction
        loaded: _Loaded = function.handle
        module = loaded.module
        loaded.check_shared_bytes(arguments.shared_bytes)  # the device outlives a launch that is refused

        def run(operation: Operation | None) -> None:
            observer = self.observer if module.engine == "checked" else None
            observe = observer(function.name, arguments) if observer is not None else None
            uses = self._memory_uses if module.engine == "checked" else None
            used = uses.of_launch(self.memory, observe) if uses is not None else None
            launch = loaded.ready(arguments, self.memory, used or observe)
            started = time.perf_counter()  # the thread's own time takes the system 20 times as long to tell
            try:
                counters = launch()
                if uses is not None and used is not None and operation is not None:
                    uses.launched(operation, used)
            except EmulatorFault as fault:
                raise _with_instruction(fault, instruction) if instruction is not None else fault from None
            with self._counting:
                self.counters += counters
            loaded.lasted = (arguments.blocks, arguments.threads), 1e6 * (time.perf_counter() - started)

        name = instruction.name if instruction is not None else function.name  # equal instructions share a kernel
        self._enqueue(stream, run, name, loaded.microseconds(arguments), instruction)

    def open_blas(self) -> CublasLt | None:
        from xla_backend_gpu.cublas.find import open_library

        return open_library(self._cublas_library) if self._cublas_library else None

    def call_blas(self, stream: HostStream, library: CublasLt, matmul: Matmul, places: Places, name: str) -> None:
        operation = self._order.operation(stream, name) if self._order is not None else None

        def run() -> None:
            self.require_alive()
            views = [self.memory.view(address, size) for address, size in places]
            library.multiply(matmul, [(view.ctypes.data, view.size) for view in views], 0)
            result = len(places) - 1 - bool(matmul.config.workspace_bytes)  # scratch memory follows it
            for number, (address, size) in enumerate(places):
                self._uses(operation, address, size, writes=number >= result)
                if number >= result:
                    self.memory.mark_initialized(address, size)

        self.require_alive()
        stream.enqueue(run, name=name)  # the device outlives what the library refuses

    def close(self) -> None:
        """Closes the device. What is in use may be freed later, but a warning tells what isn't before this is gone."""
        self.close_blas()
        if self._leaks is None:
            self._leaks = weakref.finalize(self, _warn_of_leaks, self._description.name, self.memory)
            self._leaks.atexit = False  # the interpreter's own objects use memory to its end

    # -- events ------------------------------------------------------------------------------------------------------

    def record(self, stream: HostStream) -> _Event:
        event = _Event()
        if self._order is not None:
            event.clocks = self._order.recorded(stream)
        stream.record(event)
        return event

    def wait(self, stream: HostStream, event: _Event) -> None:
        self.require_alive()
        if self._order is not None and event.clocks is not None:
            self._order.waits(stream, event.clocks)
        stream.wait(event)

    def reached(self, event: _Event, seconds: float) -> bool:
        self.require_alive()
        if not event.ready and not (seconds > 0 and event.synchronize(None if seconds == float("inf") else seconds)):
            return False
        if self._order is not None and event.clocks is not None:
            self._order.host_waited(event.clocks)
        if event.error is not None:
            raise event.error
        return True

    # -- code --------------------------------------------------------------------------------------------------------

    def load(self, ptx: str, engine: Engine, cubin: bytes = b"") -> Mapping[str, Function]:
        from xla_backend_gpu.emulator import Module

        if engine == "fast" and importlib.util.find_spec("llvmlite") is None:
            warnings.warn(
                "llvmlite is not installed, so the emulated GPU runs kernels by its checked engine, which takes longer",
                RuntimeWarning,
                stacklevel=2,
            )
            engine = "checked"
        module = Module(ptx, engine=engine)
        if engine == "checked" and self._memory_uses is None:
            from xla_backend_gpu.emulator.stream_order import MemoryUses, StreamOrder

            EmulatedDriver._order = EmulatedDriver._order or StreamOrder()
            self._memory_uses = MemoryUses(EmulatedDriver._order)
            self.memory.when_allocated = self._memory_uses.allocated
        return {name: Function(name, _Loaded(name, module)) for name in module.kernels}


def _warn_of_leaks(device: str, memory: Memory) -> None:
    warn_of_leaks(device, memory.allocations())


def _copy_time(size: int) -> float:
    return size * _COPY_MICROSECONDS_PER_BYTE


def _with_instruction(fault: EmulatorFault, instruction: HloInstruction) -> EmulatorFault:
    """Returns the fault of a kernel with the HLO instruction that it computes there, and the instruction's location."""
    from xla_core.codegen.llvm import instruction_at_line

    inner = instruction_at_line(instruction, fault.location.line if fault.location is not None else 0)
    return fault.replace(
        computes=str(inner) if inner is instruction else f"{inner}` in `{instruction.name}",
        location=inner.location or instruction.location,
    )
