"""The functions of CUDA's driver that the backend calls, over emulated devices.

They check what the real driver checks: that a context is current, that handles are alive, that memory is allocated,
that a captured stream isn't waited for. What CUDA leaves undefined, such as unloading a module while its kernel runs,
ends the process with an error. A function that isn't here is one that the driver lacks, which cuda-bindings reports.
Statuses are those of CUresult.
"""

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
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import numpy as np
from xla_backend_gpu.driver import Function, LaunchArguments
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import EmulatorFault, Memory

from xla_core.backend import StreamExecutor
from xla_core.errors import XlaError
from xla_core.runtime import HostStream

STARTED = int(os.environ.get("XLA_TEST_CUDA_STARTED", 0))  # the status of cuInit
MEMORY = int(os.environ.get("XLA_TEST_CUDA_MEMORY", 1 << 28))
OK, INVALID_VALUE, OUT_OF_MEMORY, NO_DEVICE, INVALID_DEVICE, INVALID_CONTEXT = 0, 1, 2, 100, 101, 201
INVALID_PTX, INVALID_HANDLE, NOT_FOUND, NOT_READY, ILLEGAL_ADDRESS, LAUNCH_FAILED = 218, 400, 500, 600, 700, 719
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
TEXTS |= {INVALID_PTX: "a PTX JIT compilation failed", INVALID_HANDLE: "invalid resource handle"}
TEXTS |= {ILLEGAL_ADDRESS: "an illegal memory access was encountered", NOT_READY: "device not ready"}

ATTRIBUTES = {
    13: 1_000_000,
    16: 132,
    75: 9,
    76: 0,
    36: 2_619_000,
    37: 5120,
    38: 50 << 20,
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
        self._enqueue(queue, work, name, float("inf"))


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
        self.shared = dict[
            str, int
        ]()  # kernel -> the dynamic shared memory that its launches may ask for, where it is set
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
_made: dict[str, Any] = {}


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
    if name not in _made:
        _, signature, _ = functions[name]
        _made[name] = ctypes.CFUNCTYPE(c_int, *signature)(functools.partial(_called, name))
    return ctypes.cast(_made[name], c_void_p).value


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


# -- devices and contexts ----------------------------------------------------------------------------------------------


@function(c_uint, context=False)
def cuInit(flags):
    require(not flags)
    require(devices, NO_DEVICE)
    require(not STARTED, STARTED)


@function(POINTER(c_int), context=False)
def cuDriverGetVersion(version):
    version[0] = 13000


@function(POINTER(c_int), context=False)
def cuDeviceGetCount(count):
    count[0] = len(devices)


@function(POINTER(c_int), c_int, context=False)
def cuDeviceGet(found, ordinal):
    found[0] = device(ordinal).ordinal


@function(c_void_p, c_int, c_int, context=False)
def cuDeviceGetName(name, length, number):
    text = f"stub of CUDA's driver, device {device(number).ordinal}".encode()[: length - 1] + b"\0"
    ctypes.memmove(name, text, len(text))


@function(POINTER(c_int), c_int, c_int, context=False)
def cuDeviceGetAttribute(value, attribute, number):
    device(number)
    require(attribute in ATTRIBUTES)
    value[0] = ATTRIBUTES[attribute]


@function(POINTER(c_void_p), c_int, context=False)
def cuDevicePrimaryCtxRetain(context, number):
    found = device(number)
    found.retained += 1
    context[0] = found.handle


@function(c_int, context=False)
def cuDevicePrimaryCtxRelease(number):
    found = device(number)
    require(found.retained, INVALID_CONTEXT)
    found.retained -= 1
    if not found.retained:
        found.contexts += 1
        found.open()  # the next context is a new one


@function(c_void_p, context=False)
def cuCtxPushCurrent(context):
    found = next((d for d in devices if d.handle == context and d.retained), None)
    require(found is not None, INVALID_CONTEXT)
    state.contexts.append(found)


@function(POINTER(c_void_p), context=False)
def cuCtxPopCurrent(context):
    require(state.contexts, INVALID_CONTEXT)
    context[0] = state.contexts.pop().handle


@function(c_int, POINTER(c_char_p), context=False)
def cuGetErrorString(status, text):
    text[0] = TEXTS.get(status, "an error").encode()


@function(c_int, POINTER(c_char_p), context=False)
def cuGetErrorName(status, text):
    text[0] = f"CUDA_ERROR_{status}".encode()


@function(POINTER(c_int), c_int, c_int, context=False)
def cuDeviceCanAccessPeer(can, one, other):
    can[0] = int(device(one) is not device(other) and (one, other) not in unreachable)


# -- memory ------------------------------------------------------------------------------------------------------------


@function(POINTER(c_size_t), POINTER(c_size_t))
def cuMemGetInfo(free, total):
    pools = [pool for pool in handles.values() if isinstance(pool, Pool) and pool.device is current()]
    used = sum(size for _, size in current().emulated.memory.blocks())
    free[0] = MEMORY - used - sum(pool.kept + sum(pool.freed.values()) for pool in pools)
    total[0] = MEMORY


def _allocate(address: Any, size: int) -> None:
    require(size)
    found = current().emulated.allocate(size)
    require(found is not None, OUT_OF_MEMORY)
    address[0] = found


@function(POINTER(c_uint64), c_size_t)
def cuMemAlloc(address, size):
    _allocate(address, size)


class Pool:
    """A pool of a device's memory.

    Attributes:
        sizes: the allocations, by address.
        freed: bytes whose release is enqueued, by the handle of the stream.
        kept: bytes that are free, and that the process keeps until the pool is trimmed.
    """

    def __init__(self, device: Device) -> None:
        self.device, self.kept = device, 0
        self.sizes, self.freed = dict[int, int](), dict[int, int]()


@function(POINTER(c_uint64), c_size_t, c_void_p, c_void_p)
def cuMemAllocFromPoolAsync(address, size, pool, stream):
    own = take(pool, Pool)
    require(take(stream, Stream).capture is None, CAPTURE_UNSUPPORTED)
    require(own.device is current())
    _allocate(address, size)
    own.sizes[address[0]] = size


@function(c_uint64)
def cuMemFree(address):
    current().emulated.free(address)


@function(c_uint64, c_void_p)
def cuMemFreeAsync(address, stream):
    """Frees the memory at once: a copy or a kernel that still uses it fails."""
    take(stream, Stream)
    pool = next((p for p in handles.values() if isinstance(p, Pool) and address in p.sizes), None)
    require(pool is not None)
    current().emulated.free(address)
    assert pool is not None
    pool.freed[stream] = pool.freed.get(stream, 0) + pool.sizes.pop(address)


@function(POINTER(c_void_p), POINTER(c_int * 4), context=False)
def cuMemPoolCreate(pool, properties):
    allocation, handle_types, location, number = properties[0]
    require((allocation, handle_types, location) == (1, 0, 1))  # memory of a device, which no other process opens
    pool[0] = new(Pool(device(number)))


@function(c_void_p, c_size_t, context=False)
def cuMemPoolTrimTo(pool, size):
    own = take(pool, Pool)
    own.kept = min(own.kept, size)


@function(c_void_p, context=False)
def cuMemPoolDestroy(pool):
    require(not take(pool, Pool).sizes)  # the driver would wait for their release
    del handles[pool]


@function(POINTER(c_void_p), c_size_t, c_uint)
def cuMemHostAlloc(address, size, flags):
    require(size and not flags & ~7)
    memory = (ctypes.c_uint8 * size)()
    host_memory[ctypes.addressof(memory)] = memory
    address[0] = ctypes.addressof(memory)


@function(c_void_p)
def cuMemFreeHost(address):
    require(host_memory.pop(address, None) is not None)


def _pinned(address: int, size: int) -> Any:
    """Returns pinned memory, which asynchronous copies need."""
    start = next((s for s, m in host_memory.items() if s <= address and address + size <= s + len(m)), None)
    require(start is not None)
    return np.frombuffer(host_memory[start], np.uint8)[address - start : address - start + size]


@function(c_uint64, c_void_p, c_size_t, c_void_p)
def cuMemcpyHtoDAsync(target, source, size, stream):
    own, data = take(stream, Stream), _pinned(source, size)
    memory = own.device.emulated.memory
    memory.view(target, size)
    own.enqueue(lambda queue: own.device.emulated.later(queue, lambda: memory.write(target, data), "HtoD"))


@function(c_void_p, c_uint64, c_size_t, c_void_p)
def cuMemcpyDtoHAsync(target, source, size, stream):
    own, data = take(stream, Stream), _pinned(target, size)
    memory = own.device.emulated.memory
    memory.view(source, size)

    def copy() -> None:
        data[...] = memory.view(source, size)

    own.enqueue(lambda queue: own.device.emulated.later(queue, copy, "DtoH"))


@function(c_uint64, c_uint64, c_size_t, c_void_p)
def cuMemcpyDtoDAsync(target, source, size, stream):
    """Addresses say which device has the memory; another device's must be accessible."""
    own = take(stream, Stream)
    to, at = (owner(own.device, address) for address in (target, source))
    to.view(target, size)
    at.view(source, size)
    own.enqueue(lambda queue: own.device.emulated.later(queue, lambda: to.write(target, at.view(source, size)), "D"))


def owner(mine: Device, address: int) -> Memory:
    """Returns the memory that has an address, which a device can access."""
    found = next((d for d in devices if d.emulated.memory.base <= address < d.emulated.memory.base + MEMORY), None)
    require(found is not None and (found is mine or mine.ordinal in found.peers))
    assert found is not None
    return found.emulated.memory


class AccessDescription(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("type", c_int), ("device", c_int), ("flags", c_int))


@function(c_void_p, POINTER(AccessDescription), c_size_t, context=False)
def cuMemPoolSetAccess(pool, grants, count):
    own = take(pool, Pool).device
    for grant in grants[:count]:
        require(grant.type == 1 and grant.flags == 3)  # a device, to read and write
        own.peers.add(device(grant.device).ordinal)


@function(c_uint64, ctypes.c_ubyte, c_size_t, c_void_p)
def cuMemsetD8Async(target, value, size, stream):
    own = take(stream, Stream)
    own.device.emulated.memory.view(target, size)
    own.enqueue(lambda queue: own.device.emulated.fill(queue, target, value, size))


# -- streams and events ------------------------------------------------------------------------------------------------


@function(POINTER(c_void_p), c_uint)
def cuStreamCreate(stream, flags):
    require(flags in (0, 1))
    stream[0] = new(Stream(current()))


@function(c_void_p)
def cuStreamDestroy(stream):
    take(stream, Stream).queue.close()
    del handles[stream]


@function(c_void_p)
def cuStreamSynchronize(stream):
    own = take(stream, Stream)
    require(own.capture is None, CAPTURE_UNSUPPORTED)
    own.queue.synchronize()
    own.device.check()
    for pool in [p for p in handles.values() if isinstance(p, Pool)]:
        pool.kept += pool.freed.pop(stream, 0)


@function(c_void_p, c_void_p, c_uint)
def cuStreamWaitEvent(stream, event, flags):
    own, awaited = take(stream, Stream), take(event, Event)
    require(not flags)
    if awaited.capture is not None:
        capture, known = awaited.capture
        require(own.capture in (None, capture), CAPTURE_INVALIDATED)
        if own.capture is None:
            own.capture, own.captured, own.known = capture, 0, {}
            capture.open.add(own)
        own.see(known)
        own.step()
        return
    require(own.capture is None, CAPTURE_INVALIDATED)
    if awaited.recorded is not None:
        own.queue.wait(awaited.recorded)


@function(POINTER(c_void_p), c_uint)
def cuEventCreate(event, flags):
    require(not flags & ~7)
    event[0] = new(Event(timing=not flags & 2))


@function(c_void_p)
def cuEventDestroy(event):
    take(event, Event).check()
    del handles[event]


@function(c_void_p, c_void_p)
def cuEventRecord(event, stream):
    mark, own = take(event, Event), take(stream, Stream)
    mark.device = own.device
    mark.capture = None if own.capture is None else (own.capture, dict(own.known))
    if own.capture is None:
        if mark.timing:
            own.device.emulated.later(own.queue, mark.reach, "time")
        mark.recorded = own.device.emulated.record(own.queue)


@function(c_void_p)
def cuEventQuery(event):
    mark = take(event, Event)
    mark.check()
    require(mark.capture is None, CAPTURED_EVENT)
    if mark.recorded is None:
        return
    require(mark.recorded.ready, NOT_READY)
    mark.device.check()


@function(POINTER(c_float), c_void_p, c_void_p)
def cuEventElapsedTime(milliseconds, start, end):
    first, last = take(start, Event), take(end, Event)
    require(first.timing and last.timing and first.recorded and last.recorded, INVALID_HANDLE)
    require(first.recorded.ready and last.recorded.ready, NOT_READY)
    milliseconds[0] = 1e3 * (last.time - first.time)


# -- code --------------------------------------------------------------------------------------------------------------


cubins: dict[bytes, str] = {}
"""The PTX of machine code, which the stub can't run. A test enters it here."""

images: list[bytes] = []
"""What was loaded: the first bytes of each image."""


@function(POINTER(c_void_p), c_void_p, c_uint, POINTER(c_int), POINTER(c_void_p))
def cuModuleLoadDataEx(module, image, count, options, values):
    log = {options[i]: values[i] for i in range(count)}
    images.append(ctypes.string_at(image, 4))
    known = [ptx for cubin, ptx in cubins.items() if ctypes.string_at(image, len(cubin)) == cubin]
    try:
        ptx = known[0] if known else ctypes.string_at(image).decode()
        loaded = current().emulated.load(ptx, "fast")
    except (UnicodeDecodeError, XlaError) as error:
        said = str(error).encode()[: log[JIT_ERROR_LOG_BYTES] - 1]
        ctypes.memmove(log[JIT_ERROR_LOG], said + b"\0", len(said) + 1)
        raise Failure(INVALID_PTX) from None
    module[0] = new(Code(loaded))


@function(c_void_p)
def cuModuleUnload(module):
    """The module's kernels go with it. None of them is enqueued."""
    loaded = take(module, Code)
    loaded.check()
    undefined(loaded.running > 0, "a module is unloaded while its kernel runs")
    loaded.loaded = False
    for handle in [h for h, value in handles.items() if isinstance(value, Function) and value.handle is loaded]:
        del handles[handle]
    del handles[module]


@function(POINTER(c_void_p), c_void_p, c_char_p)
def cuModuleGetFunction(found, module, name):
    loaded = take(module, Code)
    require(name.decode() in loaded.kernels, NOT_FOUND)
    found[0] = new(Function(name.decode(), loaded))


@function(c_void_p, c_int, c_int)
def cuFuncSetAttribute(kernel, attribute, value):
    chosen = take(kernel, Function)
    require(attribute == 8)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    require(0 <= value <= ATTRIBUTES[97] - chosen.handle.declared(chosen.name))
    chosen.handle.shared[chosen.name] = value


@function(c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p))
def cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
    own, chosen = take(stream, Stream), take(kernel, Function)
    require(not extra and 0 < bx * by * bz <= 1024 and 0 < gx < 1 << 31 and 0 < gy * gz < 1 << 32)
    code: Code = chosen.handle
    kernel = code.kernels[chosen.name]
    sizes = [parameter.size for parameter in kernel.handle.module.kernels[chosen.name].parameters]
    require(set(sizes) <= {8})
    require(shared <= code.shared.get(chosen.name, (48 << 10) - code.declared(chosen.name)))
    values = tuple(ctypes.cast(parameters[n], POINTER(c_uint64))[0] for n in range(len(sizes)))
    launch = LaunchArguments((gx, gy, gz), (bx, by, bz), shared, values)
    emulated = own.device.emulated

    def run(queue: Any) -> None:
        undefined(not code.loaded, f"{chosen.name} is launched after its module was unloaded")
        code.count(1)
        emulated.launch(queue, kernel, launch)
        emulated.later(queue, lambda: code.count(-1), "counted")

    own.enqueue(run)


# -- cuBLASLt ----------------------------------------------------------------------------------------------------------


def connect_cublas(path: str) -> ctypes.CDLL:
    """Lets the stub of cuBLASLt at a path use the contexts, the memory and the streams of this driver."""
    library = ctypes.CDLL(path)

    @ctypes.CFUNCTYPE(c_int)
    def has_context():
        return int(bool(state.contexts))

    @ctypes.CFUNCTYPE(c_void_p, c_uint64, c_uint64)
    def translate(address, size):
        memory = next(d.emulated.memory for d in devices if 0 <= address - d.emulated.memory.base < MEMORY)
        return memory.view(address, size).ctypes.data

    @ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
    def enqueue(stream, job):
        try:
            own = take(stream, Stream)
            emulated = own.device.emulated
            run = functools.partial(library.cublaslt_stub_run, c_void_p(job))
            own.enqueue(lambda queue: emulated.later(queue, run, "cuBLASLt"))
        except Failure:
            return 13  # CUBLAS_STATUS_EXECUTION_FAILED
        return OK

    library.cublaslt_stub_set_hooks(has_context, translate, enqueue)
    _made[path] = has_context, translate, enqueue
    return library


# -- graphs ------------------------------------------------------------------------------------------------------------


@function(c_void_p, c_int)
def cuStreamBeginCapture(stream, mode):
    own = take(stream, Stream)
    require(mode in (GLOBAL, THREAD_LOCAL, RELAXED) and own.capture is None, CAPTURE_UNSUPPORTED)
    own.capture, own.captured, own.known = Capture(own, mode), 0, {}


@function(c_void_p, POINTER(c_void_p))
def cuStreamEndCapture(stream, graph):
    own = take(stream, Stream)
    capture = own.capture
    require(capture is not None and capture.origin is own, CAPTURE_UNSUPPORTED)
    for joined in capture.open:
        joined.capture = None
    require(capture.valid, CAPTURE_INVALIDATED)
    require(capture.joined, CAPTURE_UNJOINED)
    graph[0] = new(Graph(capture.nodes, len(capture.open)))


@function(POINTER(c_void_p), c_void_p, c_uint64)
def cuGraphInstantiateWithFlags(executable, graph, flags):
    require(not flags)
    made = take(graph, Graph)
    executable[0] = new(Graph(list(made.nodes), made.streams))


@function(c_void_p, c_void_p)
def cuGraphLaunch(executable, stream):
    own = take(stream, Stream)
    for node in take(executable, Graph).nodes:
        own.enqueue(node)


@function(c_void_p)
def cuGraphDestroy(graph):
    take(graph, Graph).check()
    del handles[graph]


@function(c_void_p)
def cuGraphExecDestroy(executable):
    cuGraphDestroy(executable)
