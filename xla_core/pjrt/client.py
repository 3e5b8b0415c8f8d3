"""PJRT_Client, PJRT_Device, PJRT_DeviceDescription, PJRT_Memory and PJRT_TopologyDescription."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import weakref
from collections.abc import Callable
from typing import Any

import xla_core
from xla_core.errors import InvalidArgumentError
from xla_core.pjrt import abi, native
from xla_core.pjrt.buffer_pool import BufferPools
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.runtime import Buffer, Client, Device
from xla_core.stablehlo.vhlo.versions import CURRENT, MINIMUM

MAIN_MEMORY = "device"
"""JAX's name of the main memory of every device."""

_HOST_KINDS = {"pinned_host": 5, "unpinned_host": 7}
"""The kinds of host memory that JAX names, with their numbers in XLA's layouts. Both are `Device.host_memory`."""


class PjrtMemory(Handle):
    """A kind of memory of one device: a memory space of its own, or the host's.

    Attributes:
        space: its number, as in `TargetConfig.memory_spaces`; 0 in the host's memory.
        pools: the pools of its buffers.
    """

    kind = "Memory"

    def __init__(self, device: PjrtDevice, space: int, name: str, number: int, *, is_on_host: bool) -> None:
        self.device, self.name = device, name
        self.space = 0 if is_on_host else space
        self._is_on_host = is_on_host
        self.is_host_addressable = is_on_host or device.device.executor.features.host_addressable
        self.pools = BufferPools()
        text = f"{name} memory of {device.device!r}"
        super().__init__(
            id=number,
            kind=name,
            kind_id=space,
            debug_string=text,
            to_string=text,
            devices=abi.pointers([device.address]),
            num_devices=1,
        )

    @functools.cached_property
    def storage(self) -> Device:
        """The device of the runtime that has the memory."""
        storage = self.device.device.host_memory if self._is_on_host else self.device.device
        storage.allocator.add_cache(self.pools)
        return storage

    def destroy(self) -> None:
        if "storage" in self.__dict__:
            self.storage.allocator.caches.remove(self.pools)
            self.pools.close()
        super().destroy()


class PjrtDeviceDescription(Handle):
    kind = "DeviceDescription"

    def __init__(self, device: Device, platform: str) -> None:
        description = device.description
        super().__init__(
            id=device.id,
            process_index=0,
            device_kind=description.name,
            debug_string=f"{platform}:{device.id} ({description.name})",
            to_string=f"{platform}:{device.id}",
            num_attributes=len(description.attributes),
        )
        self.slots.set(attributes=abi.named_values(dict(description.attributes), self.slots.keep([])))


class PjrtDevice(Handle):
    """A device of a client, with its memories.

    The main memory is the memory in which the target places an array by default. Layouts may name another memory space
    for some arrays.

    Attributes:
        launches: results that are not ready yet, of executions to which the host gave numbers.
    """

    kind = "Device"

    def __init__(self, device: Device, client: PjrtClient) -> None:
        self.device, self.client = device, client
        self.launches: dict[int, weakref.WeakSet[Buffer]] = {}
        self.description = PjrtDeviceDescription(device, client.name)
        super().__init__(
            device_description=self.description.address, is_addressable=1, local_hardware_id=device.local_ordinal
        )
        spaces = device.platform.compiler.target_config.memory_spaces
        own = {space.number: space.name for space in spaces} | {0: MAIN_MEMORY}
        kinds = {number: name for name, number in _HOST_KINDS.items() if name not in own.values()} | own
        first = device.id * len(kinds)
        self.memories = {
            number: PjrtMemory(self, number, name, first + index, is_on_host=number not in own)
            for index, (number, name) in enumerate(sorted(kinds.items()))
        }
        self.slots.set(
            memories=abi.pointers(memory.address for memory in self.memories.values()),
            num_memories=len(self.memories),
            memory=self.memories[0].address,
        )

    def memory_of_kind(self, kind: str) -> PjrtMemory:
        """Returns the memory of a kind.

        Raises:
            InvalidArgumentError: where the device has none.
        """
        for memory in self.memories.values():
            if memory.name == kind:
                return memory
        known = ", ".join(memory.name for memory in self.memories.values())
        raise InvalidArgumentError(f"{self.device!r} has no memory of the kind {kind!r}", hint=f"it has {known}")

    def destroy(self) -> None:
        for memory in self.memories.values():
            memory.destroy()
        self.description.destroy()
        super().destroy()


class PjrtTopology(Handle):
    """The devices of a client.

    Attributes:
        is_owned: whether the client exists for the topology alone, and is destroyed with it.
    """

    kind = "TopologyDescription"

    def __init__(self, client: PjrtClient) -> None:
        self.client, self.is_owned = client, False
        super().__init__(
            platform_name=client.name,
            platform_version=_platform_version(client.client),
            descriptions=abi.pointers(device.description.address for device in client.devices),
            num_descriptions=len(client.devices),
            memory_space_kind_ids=abi.int64s([0]),
            num_memory_space_kind_ids=1,
        )

    def end(self) -> None:
        """Ends an owned topology, with its client."""
        self.client.destroy()


class PjrtClient(Handle):
    """A host's client: an `xla_core.Client` with its devices."""

    kind = "Client"

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        super().__init__(platform_name=name, platform_version=_platform_version(client), process_index=0)
        self.devices = [PjrtDevice(device, self) for device in client.devices]
        self._of_device = {id(device.device): device for device in self.devices}
        self.topology = PjrtTopology(self)
        memories = [memory for device in self.devices for memory in device.memories.values()]
        devices = abi.pointers(device.address for device in self.devices)
        self.slots.set(
            topology=self.topology.address,
            devices=devices,
            num_devices=len(self.devices),
            addressable_devices=devices,
            num_addressable_devices=len(self.devices),
            addressable_memories=abi.pointers(memory.address for memory in memories),
            num_addressable_memories=len(memories),
        )

    def device_of(self, device: Device) -> PjrtDevice:
        return self._of_device[id(device)]

    def destroy(self) -> None:
        for device in self.devices:
            device.destroy()
        self.topology.destroy()
        super().destroy()
        self.client.close()  # so that this process or another one can open the devices again


def _platform_version(client: Client) -> str:
    """Names all that compiled programs depend on, because hosts use it as a part of the keys of their caches."""
    compiler = client.platform.compiler
    target = hashlib.sha256(f"{compiler.target_config.fingerprint()} {compiler.fingerprint()}".encode()).hexdigest()
    backend = f"{client.platform_name} {client.backend_version}"
    return f"xla-core {xla_core.__version__}; {backend}; target {target[:16]}"


def memory_at(device: int | None, memory: int | None) -> PjrtMemory:
    """Returns the memory that a host names by a pointer, or the main memory of the device where that is null."""
    return handle_at(memory, PjrtMemory) if memory else handle_at(device, PjrtDevice).memories[0]


@implements("Plugin_Initialize")
def _plugin_initialize(args: Any) -> None:
    pass


_attributes: list[Any] = []


@implements("Plugin_Attributes")
def _plugin_attributes(args: Any) -> None:
    values = {
        "stablehlo_current_version": (*CURRENT[:2], 0),
        "stablehlo_minimum_version": (*MINIMUM[:2], 0),
        "xla_version": 2,
    }
    if not _attributes:
        abi.named_values(values, _attributes)
    args.attributes, args.num_attributes = abi.address_of(_attributes[0]), len(values)


@implements("Client_Destroy")
def _client_destroy(args: Any) -> None:
    handle_at(args.client, PjrtClient).destroy()


@implements("Client_LookupDevice")
def _client_lookup_device(args: Any) -> None:
    args.device = _device(args.client, args.id, lambda device: device.id).address


@implements("Client_LookupAddressableDevice")
def _client_lookup_addressable_device(args: Any) -> None:
    args.addressable_device = _device(args.client, args.local_hardware_id, lambda device: device.local_ordinal).address


def _device(client: int | None, number: int, number_of: Callable[[Device], int]) -> PjrtDevice:
    devices = handle_at(client, PjrtClient).devices
    for device in devices:
        if number_of(device.device) == number:
            return device
    raise InvalidArgumentError(f"there is no device {number} among {len(devices)}")


@implements("Client_DefaultDeviceAssignment")
def _client_default_device_assignment(args: Any) -> None:
    count = args.num_replicas * args.num_partitions
    have = len(handle_at(args.client, PjrtClient).devices)
    if not 0 < count <= min(have, args.default_assignment_size):
        raise InvalidArgumentError(f"{args.num_replicas} x {args.num_partitions} devices are wanted of {have}")
    (ctypes.c_int32 * count).from_address(args.default_assignment)[:] = range(count)


@implements("Client_UpdateGlobalProcessInfo")
def _client_update_global_process_info(args: Any) -> None:
    pass  # there is one process


@implements("Device_MemoryStats")
def _device_memory_stats(args: Any) -> None:
    device = handle_at(args.device, PjrtDevice)
    stats = device.device.memory_stats()
    shared = len(device.client.devices) if device.memories[0].is_host_addressable else 1
    for name in abi.FIELDS["Device_MemoryStats_Args"][3:]:  # hosts don't clear the structure
        setattr(args, name, 0)
    args.bytes_in_use = stats.bytes_in_use
    for name, value in (
        ("num_allocs", stats.allocations),
        ("bytes_limit", stats.bytes_limit),
        ("bytes_reservable_limit", stats.bytes_limit and stats.bytes_limit // shared),  # devices of a host share it
        ("bytes_reserved", stats.bytes_reserved),
        ("peak_bytes_reserved", stats.peak_bytes_reserved),
        ("pool_bytes", stats.bytes_pooled),
    ):
        if value is not None:
            setattr(args, name, value)
            setattr(args, f"{name}_is_set", True)


@implements("Device_GetAttributes")
def _device_get_attributes(args: Any) -> None:
    args.attributes, args.num_attributes = None, 0  # these values are constant: see PjrtDeviceDescription
    args.device_attributes, args.attributes_deleter = None, native.common().nothing
