"""Execute in Python: every execution that native code leaves to it (`native_execute`)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Collection, Sequence
from typing import Any

from xla_core.backend.event import Event
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi
from xla_core.pjrt.buffer import TOKEN_NUMBER, PjrtBuffer, copy_to
from xla_core.pjrt.client import PjrtDevice
from xla_core.pjrt.event import event_address
from xla_core.pjrt.executable import PjrtLoadedExecutable
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import handle_at, handles_at
from xla_core.pjrt.launches import remember_launch
from xla_core.pjrt.program import TOKEN_TEXT, Signature
from xla_core.runtime import Buffer

_OPTIONS = abi.STRUCTS["ExecuteOptions"]


@implements("LoadedExecutable_Execute")
def _execute(args: Any) -> None:
    loaded = handle_at(args.executable, PjrtLoadedExecutable)
    options = _OPTIONS.from_address(args.options)
    kept: tuple[int, ...] = ()
    if options.num_non_donatable_input_indices:
        kept = abi.integers_at(options.non_donatable_input_indices, options.num_non_donatable_input_indices)
    if options.num_send_ops or options.num_recv_ops:
        raise UnimplementedError("send and receive callbacks of the host are not supported")
    rows = [
        handles_at(abi.pointers_at(row, args.num_args), PjrtBuffer)
        for row in abi.pointers_at(args.argument_lists, args.num_devices)
    ]
    devices = _devices(loaded, args.execute_device, len(rows))
    ends: list[Event] = []
    kept_arrays = loaded.program.signature.array_numbers(kept)
    released = set(loaded.program.released).difference(kept_arrays)
    donated = set(loaded.executable.donated_parameters).difference(kept_arrays) | released
    for row in rows:
        arguments = loaded.program.signature.arguments(row)
        _check_released_once(arguments, released)
        for index in donated.intersection(range(len(arguments))):
            arguments[index].withdraw()
    try:
        if loaded.native is not None and loaded.native.needs_idle_device:
            loaded.native.refill()  # before this run, because the run may keep the device at work too
        results = _run(loaded, [[handle.buffer for handle in row] for row in rows], kept, ends)
        for row in rows:
            arguments = loaded.program.signature.arguments(row)
            for index in released:
                arguments[index].buffer.donate_to(loaded.executable.name)
    finally:
        for handle in itertools.chain(*rows):
            handle.publish()
            if donated:
                handle.mark_deleted()
    if loaded.native is not None:
        loaded.native.refill()
    lists = abi.pointers_at(args.output_lists, len(rows))
    for device, made, end, address in zip(devices, results, ends, lists, strict=True):
        remember_launch(device, options.launch_id, made)
        handles: list[Any] = [handle.address for handle in _result_handles(loaded.program.signature, made, device, end)]
        if handles:
            (ctypes.c_size_t * len(handles)).from_address(address)[:] = handles
    if args.device_complete_events:
        events: list[Any] = [event_address(end) for end in ends]
        (ctypes.c_size_t * len(rows)).from_address(args.device_complete_events)[:] = events


def _check_released_once(arguments: Sequence[PjrtBuffer], released: Collection[int]) -> None:
    for index in released:
        if sum(argument is arguments[index] for argument in arguments) > 1:
            raise InvalidArgumentError(
                f"the donated argument {index} is passed more than once", hint="donate it only once, or pass a copy"
            )


def _run(
    loaded: PjrtLoadedExecutable, rows: Sequence[Sequence[Buffer]], kept: tuple[int, ...], ends: list[Event]
) -> Sequence[Sequence[Buffer]]:
    kept = loaded.program.signature.array_numbers(kept)
    arguments = [loaded.program.signature.arguments(row) for row in rows]
    if len(arguments) == 1:
        return [loaded.executable.execute(arguments[0], non_donatable=kept, ends=ends)]
    return loaded.executable.execute_sharded(arguments, non_donatable=kept, ends=ends)


def _result_handles(
    signature: Signature, results: Sequence[Buffer], device: PjrtDevice, end: Event
) -> list[PjrtBuffer]:
    if TOKEN_TEXT not in signature.results and not signature.has_host_results:
        return [PjrtBuffer(buffer, device.memories[0]) for buffer in results]
    arrays = iter(results)
    return [
        _token(device, end) if text == TOKEN_TEXT else _result(next(arrays), device, kind)
        for text, kind in zip(signature.results, signature.result_memories, strict=True)
    ]


def _result(buffer: Buffer, device: PjrtDevice, kind: str) -> PjrtBuffer:
    """Moves a result to the kind of memory that the program names. A run leaves its results in the main memory."""
    memory = device.memory_of_kind(kind)
    return PjrtBuffer(buffer if memory is device.memories[0] else copy_to(buffer, memory), memory)


def _token(device: PjrtDevice, end: Event) -> PjrtBuffer:
    """Makes the buffer of a token: an empty array that is ready when the execution has ended."""
    buffer = Buffer.of_undefined(device.device, Shape(ElementType.PRED, (0,)))
    buffer.define(end)
    handle = PjrtBuffer(buffer, device.memories[0])
    handle.slots.set(type=TOKEN_NUMBER, num_dims=0)
    return handle


def _devices(loaded: PjrtLoadedExecutable, wanted: int | None, rows: int) -> list[PjrtDevice]:
    if wanted and handle_at(wanted, PjrtDevice) not in loaded.devices:
        raise UnimplementedError(
            f"{loaded.executable.name} runs on {loaded.devices[0].device!r}, not on "
            f"{handle_at(wanted, PjrtDevice).device!r}"
        )
    if rows != len(loaded.devices):
        raise InvalidArgumentError(f"{loaded.executable.name} runs on {len(loaded.devices)} devices, not {rows}")
    return loaded.devices
