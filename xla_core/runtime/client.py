"""Client: the devices of one platform, and everything that is done with them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from xla_core import profiler
from xla_core.backend.platform import Platform
from xla_core.checks import require, require_limit, wrong_argument
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from xla_core.hlo.entry import flatten_entry, set_donation
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule
from xla_core.hlo.shape import Shape
from xla_core.runtime import serialization
from xla_core.runtime.buffer import Buffer, intern_shape
from xla_core.runtime.device import Device
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.host_event import ready_event
from xla_core.runtime.interruptible import run_interruptible
from xla_core.runtime.loaded_executable import LoadedExecutable
from xla_core.runtime.platform_choice import choose_backend, open_platform, opening
from xla_core.runtime.program import lower, read, stablehlo_source
from xla_core.runtime.static_executable import StaticExecutable

if TYPE_CHECKING:
    from xla_core.runtime.dynamic_executable import DynamicExecutable
    from xla_core.stablehlo import Module

__all__ = ["Client"]


class Client:
    """The devices of one platform.

    Args:
        platform: a backend's name. None takes $XLA_PLATFORM, else the installed backend of the highest priority that
            loads and finds a device.

    Raises NotFoundError for an unknown name or where no backend is installed, UnavailableError for a backend that
    can't be used on this machine, and what `load_backend` raises for a broken one.
    """

    def __init__(self, platform: str | None = None) -> None:
        require("platform", platform, (str, type(None)), "a backend's name or None")
        name, spec = choose_backend(platform)
        self._spec = spec
        self.platform: Platform = open_platform(name, spec)
        with opening(name):
            count = self.platform.visible_device_count()
        if count < 1:
            raise UnavailableError(f"backend {name!r} finds no device", hint="run `xla doctor`")
        self.launch_lock = threading.RLock()  # held while a sharded run is enqueued on all its devices
        self._sizes: dict[int, int] = {}
        self._device_shapes: dict[tuple[np.dtype, tuple[int, ...]], Shape] = {}
        with opening(name):
            self.devices: tuple[Device, ...] = tuple(Device(self, self.platform, i, i) for i in range(count))

    @property
    def platform_name(self) -> str:
        return self.platform.name

    @property
    def backend_version(self) -> str:
        return self._spec.version

    # -- programs ----------------------------------------------------------------------------------------------------

    def compile(
        self, program: str | bytes | HloModule, options: CompileOptions | None = None, *, file: str = ""
    ) -> LoadedExecutable:
        """Compiles for this client's devices. Ctrl-C ends it, and leaves the client usable.

        Args:
            program: StableHLO or HLO text, or an HloModule (which is left as it is).
            file: its name, for locations in errors.

        Raises InvalidArgumentError for a wrong program or wrong options, UnimplementedError for what the target can't
        do: every such op with its location.
        """
        self._alive()
        options = self._checked_options(options)
        return run_interruptible(lambda: self._compile(program, options, file), "xla compile")

    def _compile(self, program: str | bytes | HloModule, options: CompileOptions, file: str) -> LoadedExecutable:
        found = read(program, file=file)
        source = stablehlo_source(program)
        if isinstance(found, HloModule):
            if options.static_arguments:
                raise InvalidArgumentError("static_arguments are for StableHLO; HLO's sizes follow from nothing")
            if any(shape.is_dynamic for shape in found.parameter_shapes):
                return self._dynamic(found, found.to_text(), options)
            return self._dumped(lambda: found, options, found.name, source)
        from xla_core.stablehlo.shapes import polymorphism  # deferred: those who run HLO need none of it

        if options.static_arguments or polymorphism.has_polymorphic_entry(found):
            return self._dynamic(found, source or "", options)
        module = lower(found)
        return self._dumped(lambda: module, options, module.name, source)

    def _dynamic(self, module: Module | HloModule, source: str | bytes, options: CompileOptions) -> DynamicExecutable:
        from xla_core.runtime.bounded_module import BoundedModule
        from xla_core.runtime.dynamic_executable import DynamicExecutable
        from xla_core.stablehlo import PolymorphicProgram

        program = BoundedModule(module) if isinstance(module, HloModule) else PolymorphicProgram(module)
        return DynamicExecutable(self, program, source, options)

    def _specialize(
        self, lower: Callable[[], HloModule], options: CompileOptions, name: str, source: str | bytes
    ) -> StaticExecutable:
        """Compiles what `lower` makes of a program of open sizes."""
        self._alive()
        return run_interruptible(lambda: self._dumped(lower, options, name, source), "xla compile")

    def _dumped(
        self, lower: Callable[[], HloModule], options: CompileOptions, name: str, source: str | bytes | None
    ) -> StaticExecutable:
        from xla_core.passes.dump import ModuleDump  # deferred: those who only run programs need no passes

        with ModuleDump.of_compilation(options.name or name, options.dump_to) as dump:
            if dump is not None and source is not None:
                dump.write("stablehlo.mlir", source)
            return self._compile_module(lower(), options)

    def _compile_module(self, module: HloModule, options: CompileOptions) -> StaticExecutable:
        from xla_core.hlo.verifier import verify_collectives  # deferred: those who only run programs need none

        module.num_replicas = options.num_replicas or module.num_replicas
        module.num_partitions = options.num_partitions or module.num_partitions
        verify_collectives(module, module.num_replicas, module.num_partitions)
        assignment = self._device_assignment(module.num_replicas, module.num_partitions, options.device_assignment)
        module.entry_layouts_fixed |= options.use_entry_layouts
        flatten_entry(module)
        if options.donate is not None:
            set_donation(module, options.donate)
        name = options.name or module.name
        module.name = name
        with profiler.span(f"compile {name}", "compile"):
            executor = self.devices[assignment[0][0]].executor
            executable = self.platform.compiler.compile(module, options, executor)
        return StaticExecutable(self, executable, options, name)

    def deserialize(self, data: bytes) -> LoadedExecutable:
        """What `LoadedExecutable.serialize` was called on.

        Raises InvalidArgumentError for anything but such bytes, FailedPreconditionError for those of another backend,
        version or target, with the reason.
        """
        self._alive()
        header, payload = serialization.unpack(data, self.platform, self.backend_version)
        dynamic = serialization.unpack_dynamic(header, payload)
        if dynamic is not None:
            source, compiled = dynamic
            options = self._checked_options(header.options)
            made = self._dynamic(read(source), source, options.model_copy(update={"name": header.name}))
            for signature, part in compiled:
                made.restore(signature, self._load(*serialization.unpack(part, self.platform, self.backend_version)))
            return made
        return self._load(header, payload)

    def _load(self, header: serialization.Header, payload: bytes) -> StaticExecutable:
        options = self._checked_options(header.options)
        executable = run_interruptible(
            lambda: self.platform.compiler.deserialize(payload, options, self.devices[0].executor), "xla deserialize"
        )
        return StaticExecutable(self, executable, options, header.name)

    def _checked_options(self, options: CompileOptions | None) -> CompileOptions:
        options = options if options is not None else CompileOptions()
        if not isinstance(options, CompileOptions):
            raise InvalidArgumentError(f"options must be CompileOptions, not {type(options).__name__}")
        model = self._spec.options
        if isinstance(options.backend, model):
            return options
        given = options.backend.model_dump() if isinstance(options.backend, BaseModel) else options.backend
        if not isinstance(given, Mapping):
            raise InvalidArgumentError(
                f"CompileOptions.backend must be {model.__name__} or a mapping, not {type(given).__name__}"
            )
        return options.model_copy(update={"backend": model(**given)})

    def _device_assignment(
        self, replicas: int, partitions: int, wanted: tuple[tuple[int, ...], ...] | None
    ) -> tuple[tuple[int, ...], ...]:
        if replicas < 1 or partitions < 1:
            raise InvalidArgumentError(f"a program runs on 1 device at least, not on {replicas} x {partitions}")
        if replicas * partitions > len(self.devices):
            flag = self.platform.device_count_flag
            raise InvalidArgumentError(
                f"the program needs {replicas} x {partitions} devices, {self.platform_name} has {len(self.devices)}",
                hint=f"set XLA_FLAGS=--{flag}={replicas * partitions} before the client is made" if flag else None,
            )
        if wanted is None:
            return tuple(tuple(range(r * partitions, (r + 1) * partitions)) for r in range(replicas))
        ids = [id for row in wanted for id in row]
        if (len(wanted), len(wanted[0]) if wanted else 0) != (replicas, partitions):
            raise InvalidArgumentError(
                f"device_assignment {wanted} is not {replicas} replicas x {partitions} partitions"
            )
        if len(set(ids)) != len(ids) or not all(0 <= id < len(self.devices) for id in ids):
            raise InvalidArgumentError(
                f"device_assignment {wanted} must name different devices below {len(self.devices)}"
            )
        return wanted

    # -- arrays ------------------------------------------------------------------------------------------------------

    def buffer_from_host(self, array: Any, device: Device | int | str | None = None) -> Buffer:
        """A copy of `array` on a device: the first by default; its number or its name ("cpu:1") stand for it. The array
        may be changed as soon as this returns.

        Takes numpy arrays of any strides and byte order, DLPack objects on the host, objects with `__array__`, nested
        lists and numbers. Raises InvalidArgumentError for a dtype that has no element type.
        """
        self._alive()
        device = self._device(device)
        if array.__class__ is Buffer:
            array._require()
            array = array.to_numpy()
        host = as_host_array(array)
        key = (host.dtype, host.shape)
        shape = self._device_shapes.get(key)
        if shape is None:
            shape = intern_shape(self.platform.transfer_manager.device_shape(Shape.of(host)))
            self._device_shapes[key] = shape
        return self._to_device(host, device, shape)

    def _to_device(self, array: np.ndarray, device: Device, shape: Shape) -> Buffer:
        """Puts `array` (native, of `shape`'s dtype and dimensions) on the device in `shape`'s layout."""
        if device.dead is not None:
            raise device.dead.with_traceback(None)
        if profiler._active is not None:
            with profiler.span("host to device", "transfer", bytes=array.nbytes):
                return self._upload(array, device, shape)
        return self._upload(array, device, shape)

    def _upload(self, array: np.ndarray, device: Device, shape: Shape) -> Buffer:
        shape = intern_shape(shape)
        manager = self.platform.transfer_manager
        stream = device.h2d_stream
        size = self._sizes.get(id(shape))  # interned shapes live for ever
        if size is None:
            size = self._sizes[id(shape)] = manager.byte_size(shape)
        with device.lock:
            memory = device.allocator.allocate(size)
            # Pooled memory comes in the compute stream's order: its last reader there may still be at work.
            free = device.compute_stream.finish()
            if free is not _READY:
                stream.wait(free)
            try:
                manager.transfer_to_device_async(stream, array, memory, shape)
            except BaseException:
                device.allocator.free_after(memory, [stream.finish()])
                raise
            done = stream.finish()
        if done is _READY:
            return Buffer(device, memory, shape, None)
        buffer = Buffer(device, memory, shape, done)
        buffer._pending = [done]
        return buffer

    # -- infeed and outfeed ------------------------------------------------------------------------------------------

    def transfer_to_infeed(self, value: Any, device: Device | int | str | None = None) -> None:
        """Queues what one infeed op of a program on a device takes: an array, or a tuple of arrays.

        An array stands for a tuple of one too. A value that doesn't fit fails the program that takes it.
        """
        self._alive()
        self.platform.transfer_manager.infeed(self._device(device).local_ordinal).put(_literal(value))

    def transfer_from_outfeed(self, device: Device | int | str | None = None, timeout: float | None = None) -> Any:
        """The oldest value that a program's outfeed wrote, waited for (`timeout` in seconds): an array or a tuple of
        them. Raises DeadlineExceededError where none came in time.
        """
        self._alive()
        require_limit("timeout", timeout, "seconds")
        return _arrays(self.platform.transfer_manager.outfeed(self._device(device).local_ordinal).get(timeout))

    def _device(self, wanted: Device | int | str | None) -> Device:
        """A device of this client as a caller says it: itself, its number, its name; None is the first."""
        if wanted is None:
            return self.devices[0]
        if isinstance(wanted, Device):
            if wanted.client is not self:
                raise InvalidArgumentError(f"{wanted!r} is not a device of this client")
            return wanted
        names = {f"{self.platform_name}:{device.id}": device for device in self.devices}
        if isinstance(wanted, str) and wanted in names:
            return names[wanted]
        if type(wanted) is int and 0 <= wanted < len(self.devices):
            return self.devices[wanted]
        known = ", ".join([*names][:8]) + (", ..." if len(names) > 8 else "")
        raise wrong_argument("device", wanted, "a Device, its number or its name", hint=f"this client has {known}")

    # -- life --------------------------------------------------------------------------------------------------------

    def synchronize(self) -> None:
        """Waits for everything that was enqueued on all devices."""
        for device in self.devices:
            device.synchronize()

    def close(self) -> None:
        """Finishes what was enqueued and gives the devices back. Any later use is an error that says so."""
        error = FailedPreconditionError("this client is closed", hint="make a new Client")
        already = all(device.dead is not None for device in self.devices)
        if not already:
            self.platform.transfer_manager.close()  # a program that waits for an infeed would wait for ever
        for device in self.devices:
            device.close(error)
        if not already:
            self.platform.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _alive(self) -> None:
        dead = self.devices[0].dead
        if dead is not None:
            raise dead.with_traceback(None)

    def __repr__(self) -> str:
        return f"<Client {self.platform_name}: {len(self.devices)} devices>"


_READY = ready_event()


def _literal(value: Any) -> Literal:
    if isinstance(value, Literal):
        return value
    if isinstance(value, tuple):
        return Literal([_literal(v) for v in value])
    return Literal(np.array(as_host_array(value)))


def _arrays(literal: Literal) -> Any:
    return tuple(_arrays(e) for e in literal.elements) if literal.shape.is_tuple else literal.array
