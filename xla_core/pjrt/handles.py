"""Handles: the objects behind the pointers of PJRT's C interface.

A handle is a block of 64-bit words. Word 0 is the vtable that PJRT_Memory needs; the others are slots, each with the
answer to one out-field of PJRT's getters, such as the `device` of `PJRT_Buffer_Device`. A getter in `GETTERS` has no
code of its own: a native function copies its out-fields from the slots of the same names (`native`). Everything else
looks the Python object of a handle up by its address.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from xla_core.errors import InvalidArgumentError
from xla_core.pjrt import abi

_GETTERS_TEXT = """
    Client_PlatformName Client_ProcessIndex Client_PlatformVersion Client_TopologyDescription Client_Devices
    Client_AddressableDevices Client_AddressableMemories
    DeviceDescription_Id DeviceDescription_ProcessIndex DeviceDescription_Attributes DeviceDescription_Kind
    DeviceDescription_DebugString DeviceDescription_ToString
    Device_GetDescription Device_IsAddressable Device_LocalHardwareId Device_AddressableMemories Device_DefaultMemory
    Memory_Id Memory_Kind Memory_Kind_Id Memory_DebugString Memory_ToString Memory_AddressableByDevices
    TopologyDescription_PlatformName TopologyDescription_PlatformVersion TopologyDescription_GetDeviceDescriptions
    TopologyDescription_Attributes TopologyDescription_GetMemorySpaceKindIds
    Executable_Name Executable_NumReplicas Executable_NumPartitions Executable_NumOutputs
    Executable_SizeOfGeneratedCodeInBytes Executable_OutputElementTypes Executable_OutputDimensions
    Executable_OutputMemoryKinds
    LoadedExecutable_AddressableDevices LoadedExecutable_AddressableDeviceLogicalIds
    Buffer_ElementType Buffer_Dimensions Buffer_UnpaddedDimensions Buffer_DynamicDimensionIndices
    Buffer_OnDeviceSizeInBytes Buffer_Device Buffer_Memory Buffer_IsOnCpu Buffer_IsDeleted
"""

GETTERS = tuple(_GETTERS_TEXT.split())
"""The functions whose answers the handle has. Only `is_deleted` of a buffer changes during its life."""


def getter_fields(function: str) -> tuple[str, ...]:
    """Returns the out-fields of a getter: all fields but the base's and the handle itself."""
    return abi.FIELDS[f"{function}_Args"][3:]


def _slots(kind: str) -> dict[str, int]:
    names: dict[str, int] = {}
    for function in GETTERS:
        if function.startswith(f"{kind}_"):
            for field in getter_fields(function):
                names.setdefault(field, len(names) + 1)
    return names


SLOTS = {kind: _slots(kind) for kind in dict.fromkeys(name.partition("_")[0] for name in GETTERS)}
"""kind of handle -> slot -> number of its word."""


def _add_slots(kind: str, names: str) -> None:
    for name in names.split():
        SLOTS[kind][name] = len(SLOTS[kind]) + 1


# Slots that no getter reads, but native code does: `ready_events`, `buffer_pool` and `warm_path`.
_add_slots("Buffer", "is_ready data users holds pool memory_address is_native next_free")
_add_slots("LoadedExecutable", "native_program")


T = TypeVar("T")


class Slots:
    """The block of words of one handle."""

    __slots__ = ("_kept", "_made", "_numbers", "words")

    def __init__(self, kind: str) -> None:
        self._numbers = SLOTS.get(kind, {})
        self.words = (ctypes.c_uint64 * (len(self._numbers) + 1))()
        self._kept: list[Any] = []
        self._made: dict[str, Any] = {}

    def copy(self, words: Any = None) -> Slots:
        """Returns slots of the same values, which keep the same objects alive.

        Args:
            words: the block of the new slots, which has its values already; by default a copy.
        """
        new = Slots.__new__(Slots)
        new._numbers, new._kept, new._made = self._numbers, [self], {}
        new.words = type(self.words).from_buffer_copy(self.words) if words is None else words
        return new

    def __getitem__(self, name: str) -> int:
        return int(self.words[self._numbers[name]])

    def address_of(self, name: str) -> int:
        return ctypes.addressof(self.words) + 8 * self._numbers[name]

    def set(self, **values: int | str | Any) -> None:
        """Sets slots: an int is the value; a str sets also NAME_size; a ctypes array is set by its address."""
        for name, value in values.items():
            if isinstance(value, str):
                text = self.keep(ctypes.create_string_buffer(value.encode()))
                self.words[self._numbers[f"{name}_size"]] = len(text) - 1
                value = ctypes.addressof(text)
            elif not isinstance(value, int):
                value = ctypes.addressof(self.keep(value))
            self.words[self._numbers[name]] = value & 0xFFFFFFFFFFFFFFFF

    def keep(self, value: Any) -> Any:
        """Keeps an object to which the host has a pointer as long as the handle lives, and returns the object."""
        self._kept.append(value)
        return value

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Makes a value of this name when a host first asks for it, and keeps it like `keep`."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def text(self, name: str, make: Callable[[], bytes]) -> tuple[int, int]:
        """Returns the address and size of a text that is made `once`."""

        def make_buffer() -> Any:
            data = make()
            return ctypes.create_string_buffer(data, max(1, len(data))), len(data)

        kept, size = self.once(name, make_buffer)
        return ctypes.addressof(kept), size


class Handle:
    """An object that a host of PJRT holds by pointer. It lives until its Destroy function is called.

    Args:
        slots: the handle's own block; by default a new one.
        values: slots to set, as in `Slots.set`.

    Attributes:
        address: the pointer.
    """

    kind: ClassVar[str]

    def __init__(self, slots: Slots | None = None, /, **values: int | str | Any) -> None:
        self.slots = slots or Slots(self.kind)
        self.slots.set(**values)
        self.address = ctypes.addressof(self.slots.words)
        _handles[self.address] = self

    def destroy(self) -> None:
        """Ends the handle. The object is freed when nobody uses it any longer."""
        _handles.pop(self.address, None)


class NativeHandle(Protocol):
    """A handle that native code gives to hosts. It has no Python object until something in Python needs one."""

    def is_live(self) -> bool:
        """Tells whether a host has it."""

    def make_object(self) -> Handle:
        """Makes its Python object."""


def keep_for_ever(value: T) -> T:
    """Keeps an object until the process ends, because hosts call it even after Python's interpreter has ended."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value


_handles: dict[int, Handle] = keep_for_ever({})
native_handles: dict[int, NativeHandle] = keep_for_ever({})
"""The handles without a Python object, by address."""
_making = threading.RLock()  # held while the object of a native handle is made

H = TypeVar("H", bound=Handle)


def handles_at(addresses: Sequence[int], kind: type[H]) -> list[H]:
    """Returns the objects of several pointers, as `handle_at`."""
    found = [handle for address in addresses if isinstance(handle := _handles.get(address), kind)]
    return found if len(found) == len(addresses) else [handle_at(address, kind) for address in addresses]


def live_handles() -> int:
    """Returns the number of handles that hosts have and have not destroyed."""
    return len(_handles) + sum(handle.is_live() for handle in list(native_handles.values()))


def handle_at(address: int | None, kind: type[H]) -> H:
    """Returns the object that a host's pointer stands for.

    Raises:
        InvalidArgumentError: for a pointer that is null, was destroyed, or belongs to something else.
    """
    handle = _handles.get(address or 0)
    if handle is None and address in native_handles:
        handle = _object_of(address)
    if not isinstance(handle, kind):
        what = "null" if not address else f"{address:#x}, which is no live {kind.kind}"
        raise InvalidArgumentError(f"the pointer to a PJRT_{kind.kind} is {what}")
    return handle


def _object_of(address: int) -> Handle | None:
    with _making:
        native = native_handles.get(address)
        if native is not None and native.is_live():
            native.make_object()
            native_handles.pop(address, None)
        return _handles.get(address)
