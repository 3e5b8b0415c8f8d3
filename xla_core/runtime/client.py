"""Client: the devices of one platform, and the operations on them."""

from __future__ import annotations

import dataclasses
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.backend.executable import Executable
from xla_core.backend.platform import Platform
from xla_core.checks import counted, require
from xla_core.compile_options import CompileOptions
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.handle import Handle
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import Device
from xla_core.runtime.executables import compilation
from xla_core.runtime.executables.loaded_executable import LoadedExecutable
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.platform_choice import open_devices
from xla_core.runtime.shape_cache import intern_shape

if TYPE_CHECKING:
    from xla_core.runtime.buffers.buffer_writer import BufferWriter

_SHAPES = 8192  # shapes of arrays for which a client caches the device's shape


class Client(Handle):
    """The devices of one platform.

    `close` closes the devices. Where a client is dropped without it, they are closed in the background once all its
    buffers, arrays over their memory and executables are gone, too.

    Args:
        platform: a backend's name. None takes $XLA_PLATFORM, else the installed backend of the highest priority that
            loads and whose devices open.

    Raises:
        NotFoundError: for an unknown name, or where no backend is installed.
        UnavailableError: for a backend that can't be used on this machine.
        XlaError: what `load_backend` raises for a broken backend.
    """

    def __init__(self, platform: str | None = None) -> None:
        require("platform", platform, (str, type(None)), "a backend's name or None")
        self._spec, self._devices = open_devices(platform)
        self.platform: Platform = self._devices.platform
        self._device_shapes: dict[tuple[np.dtype, tuple[int, ...]], Shape] = {}
        self.devices: tuple[Device, ...] = self._devices.devices

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
        """Compiles a program for this client's devices. Ctrl-C ends the compilation and leaves the client usable.

        Args:
            program: StableHLO or HLO text or bytes (see `xla_core.parse`), or an HloModule, which is not changed.
            options: the options of the compilation; by default `CompileOptions()`.
            file: the program's name, for locations in errors.

        Raises:
            InvalidArgumentError: for an invalid program or invalid options.
            UnimplementedError: for ops that the target doesn't support, with the location of each.
        """
        self._devices.require_alive()
        return compilation.Compilation(self._devices, self._spec.options, options).compile(program, file)

    def load(self, executable: Executable) -> LoadedExecutable:
        """Loads an executable that this client's compiler made, for example by `Compiler.run_backend`.

        Raises:
            InvalidArgumentError: for a program that needs more devices than this client has.
        """
        self._devices.require_alive()
        require("executable", executable, Executable, "an Executable")
        return compilation.load(self._devices, executable)

    def deserialize(
        self, data: bytes, *, device_assignment: tuple[tuple[int, ...], ...] | None = None
    ) -> LoadedExecutable:
        """Loads an executable from the bytes that `LoadedExecutable.serialize` returned.

        It runs on the devices of `device_assignment`, as in `CompileOptions`; by default on those that it was made for.

        The bytes contain native code, which will run in this process: load only bytes from a source that you trust.
        Their fingerprint detects damage, but doesn't tell who made them.

        Raises:
            InvalidArgumentError: for other bytes.
            FailedPreconditionError: for an executable of another backend, version or target, with the reason.
        """
        self._devices.require_alive()
        return compilation.deserialize(self._devices, self._spec.options, data, device_assignment)

    # -- arrays ------------------------------------------------------------------------------------------------------

    def buffer_from_host(
        self, array: Any, device: Device | int | str | None = None, *, memory_space: int = 0, immutable: bool = False
    ) -> Buffer:
        """Copies `array` to a device. The array may be changed once this returns, unless it is `immutable`.

        Takes numpy arrays of any strides and byte order, DLPack objects on the host, objects with `__array__`, nested
        lists and numbers.

        Args:
            device: a device, its number or its name ("cpu:1"); by default the first device.
            memory_space: the number of one of the target's memory spaces.
            immutable: promises that nobody changes the array as long as the buffer, or an array that shares its memory,
                lives. A device that can address host memory then uses the array without a copy, if the array has the
                alignment and layout that the device needs.

        Raises:
            InvalidArgumentError: for a dtype that has no element type.
        """
        self._devices.require_alive()
        device = self._devices.find(device)
        if array.__class__ is Buffer:
            array.require_memory()
            array = array.to_numpy()
        host = as_host_array(array)
        key = (host.dtype, host.shape)
        shape = self._device_shapes.get(key)
        if shape is None:
            shape = intern_shape(self.platform.transfer_manager.device_shape(Shape.of(host)))
            if len(self._device_shapes) >= _SHAPES:
                self._device_shapes.clear()
            self._device_shapes[key] = shape
        if memory_space:
            shape = self._in_space(shape, memory_space)
        return Buffer.from_host(host, device, shape, immutable=immutable)

    def buffer_from_dlpack(self, tensor: Any, device: Device | int | str | None = None) -> Buffer:
        """Makes a buffer over the memory of another library's tensor, without a copy.

        The buffer keeps the tensor alive. Nobody may write to the tensor as long as the buffer lives.

        Raises:
            InvalidArgumentError: for a tensor that is not in the device's memory, has gaps between its elements, lacks
                the target's alignment, or is a read-only numpy array. `buffer_from_host` copies such a tensor if it is
                on the host.
        """
        from xla_core.runtime.buffers import dlpack  # imported here because it loads ctypes

        self._devices.require_alive()
        device = self._devices.find(device)
        if not hasattr(tensor, "__dlpack__"):
            raise InvalidArgumentError(f"a {type(tensor).__name__} has no __dlpack__", hint="use buffer_from_host")
        hint = "Client.buffer_from_host copies arrays of the host"
        try:
            capsule = tensor.__dlpack__()
        except XlaError:
            raise
        except Exception as error:  # a library raises what it likes; numpy raises BufferError for a read-only array
            raise InvalidArgumentError(
                f"this {type(tensor).__name__} gives no DLPack tensor: {error}", hint=hint
            ) from error
        foreign = dlpack.ForeignTensor(capsule)
        shape = self.platform.transfer_manager.device_shape(Shape(foreign.element_type, foreign.dimensions))
        alignment = self.platform.compiler.target_config.alignment.allocation
        if device.executor.dlpack_device_type != foreign.device[0]:
            reason = f"it is on DLPack device {foreign.device}"
        elif foreign.address % alignment:
            reason = f"its address {foreign.address:#x} is not a multiple of {alignment}, the alignment of the target"
        else:
            buffer = Buffer.of_foreign_memory(foreign.address, device, shape, foreign)
            if buffer is not None:
                return buffer
            reason = f"{shape} is empty or not row-major on the device, or the device can't address the memory"
        raise InvalidArgumentError(
            f"{device} can't use the memory of this {type(tensor).__name__}: {reason}", hint=hint
        )

    def buffer_writer(self, shape: Shape, device: Device | int | str | None = None) -> BufferWriter:
        """Makes a writer for an array on a device whose bytes the caller has in parts."""
        from xla_core.runtime.buffers.buffer_writer import BufferWriter  # few callers need it

        self._devices.require_alive()
        return BufferWriter(self._devices.find(device), self.platform.transfer_manager.device_shape(shape))

    def error_buffer(self, error: XlaError, shape: Shape, device: Device | int | str | None = None) -> Buffer:
        """Makes a buffer for an array that could not be computed.

        Reading it raises `error`, and so does reading the results of a program that takes it as an argument.
        """
        self._devices.require_alive()
        require("error", error, XlaError, "an XlaError")
        shape = self.platform.transfer_manager.device_shape(shape)
        return Buffer.of_error(error, self._devices.find(device), shape)

    def _in_space(self, shape: Shape, number: int) -> Shape:
        spaces = self.platform.compiler.target_config.memory_spaces
        if number not in [space.number for space in spaces]:
            known = ", ".join(f"{space.number} ({space.name})" for space in spaces)
            raise InvalidArgumentError(f"{self.platform_name} has no memory space {number}", hint=f"it has {known}")
        layout = shape.with_default_layout().layout
        assert layout is not None
        return shape.with_layout(dataclasses.replace(layout, memory_space=number))

    # -- infeed and outfeed ------------------------------------------------------------------------------------------

    def transfer_to_infeed(self, value: Any, device: Device | int | str | None = None) -> None:
        """Queues a value for one infeed op of a program on the device: an array, or a tuple of arrays.

        An array may stand for a tuple of one array. A program that takes a value of the wrong shape fails.
        """
        self._devices.find(device).transfer_to_infeed(value)

    def transfer_from_outfeed(self, device: Device | int | str | None = None, timeout: float | None = None) -> Any:
        """Waits for a value from a program's outfeed and returns the oldest one: an array or a tuple of arrays.

        Raises:
            DeadlineExceededError: where none arrives within `timeout` seconds.
        """
        return self._devices.find(device).transfer_from_outfeed(timeout)

    # -- life --------------------------------------------------------------------------------------------------------

    def synchronize(self) -> None:
        """Waits for all work that was enqueued on all devices."""
        for device in self.devices:
            device.synchronize()

    def close(self) -> None:
        """Waits for the enqueued work and closes the devices. Any later use raises FailedPreconditionError.

        To end an endless program, call its executable's `delete()` first.
        """
        self._devices.close(FailedPreconditionError("this client is closed", hint="make a new Client"))

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self.platform_name}: {counted(len(self.devices), 'device')}>"
