"""The state of the stub: its devices, what handles stand for, and how a function is registered and called."""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import os
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Mapping
from ctypes import c_int, c_void_p
from typing import Any

from xla_backend_gpu.driver import Function
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import EmulatorFault

from xla_core.backend import StreamExecutor
from xla_core.errors import XlaError
from xla_core.runtime import HostStream

STARTED = int(os.environ.get("XLA_TEST_CUDA_STARTED", 0))  # the status of cuInit
MEMORY = int(os.environ.get("XLA_TEST_CUDA_MEMORY", 1 << 28))
OK, INVALID_VALUE, OUT_OF_MEMORY, NO_DEVICE, INVALID_DEVICE, INVALID_CONTEXT = 0, 1, 2, 100, 101, 201
INVALID_PTX, INVALID_HANDLE, NOT_FOUND, NOT_READY, ILLEGAL_ADDRESS, LAUNCH_FAILED = 218, 400, 500, 600, 700, 719
NO_BINARY = 209
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, CAPTURE_UNJOINED = 900, 901, 904
CAPTURED_EVENT, UNKNOWN = 907, 999
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6  # CUjit_option
GLOBAL, THREAD_LOCAL, RELAXED = range(3)  # CUstreamCaptureMode

UNSAFE = frozenset(
    {
        "cuMemAlloc",
        "cuMemFree",
        "cuMemFreeAsync",
        "cuMemPoolTrimTo",
        "cuMemHostAlloc",
        "cuMemFreeHost",
        "cuModuleUnload",
    }
    | {"cuStreamSynchronize", "cuEventQuery", "cuModuleLoadDataEx", "cuGraphExecDestroy", "cuEventDestroy"}
)
"""What may invalidate a capture that is not of the mode RELAXED."""

TEXTS = {INVALID_VALUE: "invalid argument", OUT_OF_MEMORY: "out of memory", INVALID_CONTEXT: "invalid device context"}
TEXTS |= {NO_BINARY: "no kernel image is available for execution on the device"}
TEXTS |= {INVALID_PTX: "a PTX JIT compilation failed", INVALID_HANDLE: "invalid resource handle"}
TEXTS |= {ILLEGAL_ADDRESS: "an illegal memory access was encountered", NOT_READY: "device not ready"}

ATTRIBUTES = {
    13: 1_000_000,
    16: 132,
    18: 0,
    75: 9,
    76: 0,
    36: 2_619_000,
    37: 5120,
    38: 50 << 20,
    39: 2048,
    10: 32,
    97: 227 << 10,
    115: 1,
}
"""CU_DEVICE_ATTRIBUTE_...: the clock rate, multiprocessors, the compute capability, and so on."""


class Failure(Exception):
    """The status that a function returns in place of CUDA_SUCCESS."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def require(condition: object, status: int = INVALID_VALUE) -> None:
    if not condition:
        raise Failure(status)


class Emulated(EmulatedDriver):
    """An emulated device that does nothing in a caller's thread, as a GPU."""

    def create_stream(self, executor: StreamExecutor) -> HostStream:
        return HostStream(executor, executor.device_name, inline=False)

    def later(self, queue: HostStream, work: Callable[[], None], name: str) -> None:
        self._enqueue(queue, lambda _: work(), name, float("inf"))


class Device:
    """A device and its primary context, whose handle is a number."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.handle, self.retained = ordinal, 0xC0DE00 + ordinal, 0
        self.contexts = 0  # so many were there before
        self.open()

    def open(self) -> None:
        self.emulated = Emulated(MEMORY)
        self.peers: set[int] = set()  # the other devices that may access this one's memory
        self.emulated.memory.base += self.ordinal << 40
        self.executor: Any = types.SimpleNamespace(device_name=f"stub:{self.ordinal}")  # as far as a stream asks

    def check(self) -> None:
        """Fails as every call does after a sticky status."""
        lost = self.emulated.lost
        if lost is not None:
            raise Failure(ILLEGAL_ADDRESS if isinstance(lost, EmulatorFault) else LAUNCH_FAILED)


class Capture:
    """What is captured: functions of the queue that runs them. Streams join it by waiting for its events."""

    def __init__(self, origin: Stream, mode: int) -> None:
        self.origin, self.nodes, self.open = origin, list[Callable[[Any], None]](), {origin}
        self.mode, self.thread, self.valid = mode, threading.get_ident(), True

    @property
    def joined(self) -> bool:
        """Whether the stream that the capture began on waits for all that was captured on the others."""
        known = self.origin.known
        return all(known.get(stream, 0) >= stream.captured for stream in self.open)

    @property
    def forbids(self) -> bool:
        """Whether this thread may not call what is unsafe during a capture."""
        return self.mode == GLOBAL or (self.mode == THREAD_LOCAL and self.thread == threading.get_ident())


class Stream:
    def __init__(self, device: Device) -> None:
        self.device = device
        self.queue = device.emulated.create_stream(device.executor)
        self.capture: Capture | None = None
        self.captured = 0  # steps, and events that the stream waited for
        self.known: dict[Stream, int] = {}  # the steps of streams that this one waited for

    def see(self, known: dict[Stream, int]) -> None:
        """Lets later steps wait for others."""
        for stream, count in known.items():
            self.known[stream] = max(self.known.get(stream, 0), count)

    def step(self) -> None:
        self.captured += 1
        self.known[self] = self.captured

    def enqueue(self, work: Callable[[Any], None]) -> None:
        """Runs a function of the device's queue, which enqueues work; or keeps it for a graph."""
        if self.capture is not None:
            self.step()
            self.capture.nodes.append(work)
        else:
            work(self.queue)


class OfContext:
    """What belongs to the current context, and goes with it."""

    def __init__(self) -> None:
        self.owner, self.context = current(), current().contexts

    def check(self) -> None:
        """Fails where CUDA would use memory of a context that is gone."""
        alive = self.owner.retained and self.owner.contexts == self.context
        undefined(not alive, f"a {type(self).__name__} is used after its context was given back")


class Event(OfContext):
    def __init__(self, timing: bool) -> None:
        super().__init__()
        self.timing = timing
        self.time = 0.0  # when it was reached
        self.recorded: Any = None
        self.device: Device | None = None
        self.capture: tuple[Capture, dict[Stream, int]] | None = None

    def reach(self) -> None:
        self.time = time.perf_counter()


class Graph(OfContext):
    """What was captured, and on how many streams."""

    def __init__(self, nodes: list[Callable[[Any], None]], streams: int) -> None:
        super().__init__()
        self.nodes, self.streams = nodes, streams


class Code(OfContext):
    """A module. `running` is the number of its kernels that are enqueued."""

    def __init__(self, kernels: Mapping[str, Function]) -> None:
        super().__init__()
        self.kernels, self.running, self.loaded = kernels, 0, True
        self.shared: dict[
            str, int
        ] = {}  # the dynamic shared memory that launches of a kernel may ask for, if it is set
        self.counting = threading.Lock()

    def declared(self, kernel: str) -> int:
        return self.kernels[kernel].handle.module.kernels[kernel].shared_bytes

    def count(self, change: int) -> None:
        with self.counting:
            self.running += change


class State(threading.local):
    """The contexts of a thread; the last one is current."""

    def __init__(self) -> None:
        self.contexts: list[Device] = []


devices = [Device(n) for n in range(int(os.environ.get("XLA_TEST_CUDA_DEVICES", "1")))]
state = State()
handles: dict[int, Any] = {}
host_memory: dict[int, Any] = {}
functions: dict[str, tuple[Callable[..., None], tuple[Any, ...], bool]] = {}
calls: dict[str, int] = {}
"""How often each function was called."""
failing: dict[str, int] = {}
"""Functions that return a status, as the test wants it."""
unreachable: set[tuple[int, int]] = set()
"""Pairs of devices, the first of which can't access the memory of the second."""
faults: list[str] = []
"""What the process did that CUDA leaves undefined."""
_numbers = itertools.count(0x10, 0x10)
made: dict[str, Any] = {}


def function(*signature: Any, context: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers a function of the driver, which raises its status. With `context`, one must be current and alive."""

    def register(implementation: Callable[..., None]) -> Callable[..., None]:
        functions[implementation.__name__] = implementation, signature, context
        return implementation

    return register


def address_of(name: str) -> int | None:
    """Returns the address of a function as C calls it, or None."""
    if name not in functions:
        return None
    if name not in made:
        _, signature, _ = functions[name]
        made[name] = ctypes.CFUNCTYPE(c_int, *signature)(functools.partial(_called, name))
    return ctypes.cast(made[name], c_void_p).value


def _called(name: str, *arguments: Any) -> int:
    calls[name] = calls.get(name, 0) + 1
    implementation, _, context = functions[name]
    try:
        if context:
            require(state.contexts, INVALID_CONTEXT)
            current().check()
        if name in UNSAFE:
            _check_captures()
        if name in failing:
            raise Failure(failing[name])
        implementation(*arguments)
    except Failure as failure:
        return failure.status
    except XlaError:  # the emulated memory refuses an address
        return INVALID_VALUE
    except Exception:
        traceback.print_exc()
        return UNKNOWN
    return OK


def _check_captures() -> None:
    captures = {s.capture for s in list(handles.values()) if isinstance(s, Stream) and s.capture is not None}
    forbidding = [capture for capture in captures if capture.forbids]
    for capture in forbidding:
        capture.valid = False
    require(not forbidding, CAPTURE_UNSUPPORTED)


def undefined(happened: bool, what: str) -> None:
    """Notes what a process did if CUDA leaves it undefined. The call fails, and the process ends with an error."""
    if happened:
        faults.append(what)
        raise Failure(UNKNOWN)


@atexit.register
def _report() -> None:
    if faults:
        print("undefined in CUDA:", *faults, sep="\n  ", file=sys.stderr, flush=True)
        os._exit(70)


def current() -> Device:
    return state.contexts[-1]


def new(value: Any) -> int:
    handle = next(_numbers)
    handles[handle] = value
    return handle


def take(handle: int | None, kind: type) -> Any:
    """Returns what a handle stands for, which is alive and of a kind."""
    found = handles.get(handle or 0)
    require(isinstance(found, kind), INVALID_HANDLE)
    return found


def device(number: int) -> Device:
    require(0 <= number < len(devices), INVALID_DEVICE)
    return devices[number]
