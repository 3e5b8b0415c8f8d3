"""A plugin as it was written for version 1.1 of the contract. Never changed: later cores of major 1 must run it.

Its streams and events are its own, as those of a vendor with a driver are; its memory has no address and no slices.
`Driver` counts what the driver keeps. Programs are run by the evaluator.
"""

from __future__ import annotations

import queue
import threading
import weakref
from typing import ClassVar

import numpy as np

from xla_core.backend import (
    BackendSpec,
    Compiler,
    DeviceFeatures,
    DeviceMemory,
    Event,
    Executable,
    Platform,
    Stream,
    StreamExecutor,
    hookimpl,
)
from xla_core.errors import InternalError, XlaError
from xla_core.hlo import evaluate
from xla_core.target import Capabilities, DeviceDescription, TargetConfig, from_device_layout, to_device_layout


class Driver:
    events = 0
    used_after_close = 0
    blocks: ClassVar[dict[int, np.ndarray]] = {}
    number = 0


class Record:
    def __init__(self):
        self.done = threading.Event()
        self.error = None

    def finish(self, error):
        self.error = error
        self.done.set()


class DriverEvent(Event):
    def __init__(self):
        Driver.events += 1
        self._open = True
        self.last = Record()
        self.last.done.set()

    def arm(self):
        self._check()
        self.last = Record()
        return self.last

    def _check(self):
        if not self._open:
            Driver.used_after_close += 1

    @property
    def ready(self):
        self._check()
        return self.last.done.is_set()

    @property
    def error(self):
        self._check()
        return self.last.error

    def synchronize(self, timeout=None):
        self._check()
        return self.last.done.wait(timeout)

    def close(self):
        if self._open:
            self._open = False
            Driver.events -= 1


class DriverStream(Stream):
    def __init__(self):
        self._queue: queue.SimpleQueue = queue.SimpleQueue()
        self._error: XlaError | None = None
        threading.Thread(target=_work, args=(weakref.ref(self), self._queue), daemon=True).start()

    def do(self, work, always=False):
        self._queue.put((work, always))

    def run(self, work, always):
        if self._error is None or always:
            try:
                work()
            except XlaError as error:
                self._error = error
            except Exception as error:
                self._error = InternalError(f"work failed with {type(error).__name__}: {error}")
                self._error.__cause__ = error

    def memcpy_h2d(self, destination, source):
        self.do(lambda: _write(destination, source))

    def memcpy_d2h(self, destination, source):
        def copy():
            destination[:] = Driver.blocks[source.handle][: destination.size]

        self.do(copy)

    def memcpy_d2d(self, destination, source):
        self.do(lambda: _write(destination, Driver.blocks[source.handle][: min(destination.size, source.size)]))

    def memset(self, destination, value):
        self.do(lambda: Driver.blocks[destination.handle].fill(value))

    def record(self, event):
        last = event.arm()
        self.do(lambda: last.finish(self._error), always=True)

    def wait(self, event):
        last = event.last

        def wait_for_it():
            last.done.wait()
            if last.error is not None:
                raise last.error

        self.do(wait_for_it)

    def host_callback(self, callback):
        self.do(callback)

    def synchronize(self):
        event = self.create_event()
        self.record(event)
        event.synchronize()

    @property
    def error(self):
        return self._error

    def recover(self):
        self.do(self._forget, always=True)

    def _forget(self):
        self._error = None

    def create_event(self):
        return DriverEvent()

    def close(self):
        self.synchronize()
        self._queue.put(None)


def _work(stream, queue):
    while (item := queue.get()) is not None:
        alive = stream()
        if alive is None:
            return
        alive.run(*item)
        del item, alive


def _write(destination, data):
    Driver.blocks[destination.handle][: data.size] = data


class DriverExecutor(StreamExecutor):
    features = DeviceFeatures(callbacks_may_enqueue=True)

    @property
    def description(self):
        return DeviceDescription(name="driver")

    def allocate(self, size, memory_space=0):
        Driver.number += 1
        Driver.blocks[Driver.number] = np.empty(size, np.uint8)
        return DeviceMemory(Driver.number, size, memory_space=memory_space)

    def deallocate(self, memory):
        del Driver.blocks[memory.handle]

    def create_stream(self):
        return DriverStream()

    def create_event(self):
        return DriverEvent()


class DriverExecutable(Executable):
    def execute_async_on_stream(self, run_options, arguments):
        results = [run_options.allocator.allocate(shape.byte_size) for shape in self.result_shapes]

        def run():
            given = [
                from_device_layout(Driver.blocks[m.handle], s).copy()
                for m, s in zip(arguments, self.parameter_shapes, strict=True)
            ]
            for memory, shape, value in zip(results, self.result_shapes, evaluate(self.module, *given), strict=True):
                _write(memory, to_device_layout(value, shape))

        run_options.stream.do(run)
        return results


class DriverCompiler(Compiler):
    @property
    def target_config(self):
        return TargetConfig(name="driver", capabilities=Capabilities.all_of())

    def run_hlo_passes(self, module, options, executor=None):
        return module

    def run_backend(self, module, options, executor=None):
        return DriverExecutable(module)


class DriverPlatform(Platform):
    def visible_device_count(self):
        return 2

    def create_executor(self, ordinal):
        return DriverExecutor(ordinal)

    def create_compiler(self):
        return DriverCompiler()


@hookimpl
def xla_backend():
    return BackendSpec(
        version="1.0",
        contract_versions=((1, 1),),
        platform=DriverPlatform,
        compiler=DriverCompiler,
        executable=DriverExecutable,
        stream_executor=DriverExecutor,
        stream=DriverStream,
        event=DriverEvent,
    )
