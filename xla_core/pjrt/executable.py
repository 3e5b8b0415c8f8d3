"""PJRT_Executable and PJRT_LoadedExecutable: compilation, and the properties of a program."""

from __future__ import annotations

import contextlib
import ctypes
import warnings
import weakref
from collections.abc import Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi, native
from xla_core.pjrt.buffer import TOKEN_NUMBER, TYPE_NUMBERS, pool_of
from xla_core.pjrt.client import PjrtClient
from xla_core.pjrt.compile_options import read_compile_options, write_device_assignment
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.pjrt.native_execute import NativeProgram, is_suitable
from xla_core.pjrt.program import TOKEN_TEXT, Program, Signature, outline, take_small_donations
from xla_core.runtime import StaticExecutable
from xla_core.runtime.programs.program import lower, read
from xla_core.traversal import reachable

_PROGRAM = abi.STRUCTS["Program"]


class PjrtExecutable(Handle):
    """A compiled program, apart from the devices that it is loaded on."""

    kind = "Executable"

    def __init__(self, program: Program) -> None:
        self.program, executable = program, program.executable
        arrays = iter(executable.result_shapes)
        results = [None if text == TOKEN_TEXT else next(arrays) for text in program.signature.results]
        count = len(results)
        numbers = [TOKEN_NUMBER if shape is None else TYPE_NUMBERS[shape.element_type] for shape in results]
        super().__init__(
            executable_name=executable.name,
            num_replicas=executable.num_replicas,
            num_partitions=executable.num_partitions,
            num_outputs=count,
            num_output_types=count,
            output_types=(ctypes.c_int32 * max(1, count))(*numbers),
            dims=abi.int64s(size for shape in results if shape is not None for size in shape.dimensions),
            dim_sizes=abi.int64s(0 if shape is None else shape.rank for shape in results),
            size_in_bytes=executable.memory_stats().generated_code_bytes,
        )
        kinds, sizes = self._texts(program.signature.result_memories)
        self.slots.set(memory_kinds=kinds, memory_kind_sizes=sizes)

    def _texts(self, texts: Sequence[str]) -> tuple[Any, Any]:
        kept = [self.slots.keep(ctypes.create_string_buffer(text.encode())) for text in texts]
        return abi.pointers(map(abi.address_of, kept)), abi.int64s(len(text) - 1 for text in kept)

    def parameter_memories(self) -> tuple[Any, Any]:
        """Returns the arrays of pointers to the kinds of the parameters' memories, and of their sizes."""
        texts = self.program.signature.parameter_memories
        found: tuple[Any, Any] = self.slots.once("parameter_memories", lambda: self._texts(texts))
        return found


class PjrtLoadedExecutable(Handle):
    """A program on its devices."""

    kind = "LoadedExecutable"

    def __init__(self, program: Program, client: PjrtClient) -> None:
        self.program, self.client = program, client
        self.executable = executable = program.executable
        self.devices = [client.device_of(device) for device in executable.devices]
        for kind in program.signature.result_memories:
            self.devices[0].memory_of_kind(kind)  # of an unknown kind, before the program runs
        places = [(r, p) for r in range(executable.num_replicas) for p in range(executable.num_partitions)]
        ids = (ctypes.c_int32 * (2 * len(places)))(*(number for place in places for number in place))
        super().__init__(
            addressable_devices=abi.pointers(device.address for device in self.devices),
            num_addressable_devices=len(self.devices),
            addressable_device_logical_ids=ids,
            num_addressable_device_logical_ids=len(places),
        )
        self.native = self._native_program()
        if self.native is not None:
            self.slots.set(native_program=self.native.address)

    def _native_program(self) -> NativeProgram | None:
        """Returns the data by which native code runs the program without Python, or None if it can't."""
        executable, signature = self.executable, self.program.signature
        if not isinstance(executable, StaticExecutable) or len(self.devices) != 1 or signature.has_tokens:
            return None
        if signature.has_host_results:
            return None
        device = self.devices[0]
        is_addressable = device.memories[0].is_host_addressable
        entry = executable.executable.native_entry() if is_addressable else None
        if entry is None or not is_suitable(entry) or any(s.is_dynamic for s in executable.result_shapes):
            return None
        temporaries = [Shape(ElementType.U8, (size,)) for _, size in entry.temporaries]
        return NativeProgram(
            entry,
            device.address,
            [pool_of(shape, device.memories[0]) for shape in executable.parameter_shapes],
            [pool_of(shape, device.memories[0]) for shape in (*executable.result_shapes, *temporaries)],
            self.program.released,
        )

    def leave_to_python(self) -> None:
        """Makes native code leave later executions to Python."""
        if self.native is not None:
            self.slots.set(native_program=0)

    def destroy(self) -> None:
        if self.native is not None:
            self.native.close()
        super().destroy()


def _program(args: Any) -> tuple[bytes, str]:
    program = _PROGRAM.from_address(args.program)
    return abi.bytes_at(program.code, program.code_size), abi.text_at(program.format, program.format_size)


def compile_program(client: PjrtClient, args: Any) -> Program:
    """Compiles the program that a host gives to `Client_Compile` or `Compile`."""
    # Deferred, because hosts that only load programs need no passes.
    from xla_core.passes.legalization.unmet import WHAT_TO_ADD, NeedsFallbackError

    code, form = _program(args)
    if form not in ("mlir", "hlo"):
        raise UnimplementedError(f"programs in the format {form!r} are not supported", hint='use "mlir" or "hlo"')
    data = abi.bytes_at(args.compile_options, args.compile_options_size)
    options = read_compile_options(data)
    module = read(code)
    signature = Signature.of(module)  # before lowering, which drops the tokens
    is_sharded = options.num_partitions != 1
    hlo = module if isinstance(module, HloModule) else lower(module, entry_shards=is_sharded)
    released: tuple[int, ...] = ()
    if is_sharded:
        _warn_of_gathers(hlo)
    elif client.devices[0].memories[0].is_host_addressable:
        released = take_small_donations(hlo)
    try:
        executable = client.client.compile(hlo, options)
    except NeedsFallbackError as error:
        error.hint = f'{WHAT_TO_ADD}, or compile without xla_core_fallback="none", so that the host runs them'
        raise
    return Program(executable, signature, data, released)


@implements("Client_Compile")
def _compile(args: Any) -> None:
    client = handle_at(args.client, PjrtClient)
    args.executable = PjrtLoadedExecutable(compile_program(client, args), client).address


def _warn_of_gathers(hlo: HloModule) -> None:
    """Warns once a process if a program computes on whole arrays although each device has a shard of them."""
    global _has_warned
    if _has_warned:
        return
    live = reachable([hlo.entry.root], lambda instruction: instruction.operands)
    gathers = [instruction for instruction in live if instruction.opcode == Opcode.ALL_GATHER]
    if not any(gather.operand(0).opcode == Opcode.PARAMETER for gather in gathers):
        return
    _has_warned = True
    locations = [user.location for gather in gathers for user in gather.users]
    places = [location for location in locations if location not in (None, SourceLocation())]
    place = f", as at {places[0]}" if places else ""
    with contextlib.suppress(RuntimeWarning):  # where warnings are errors, the program still compiles
        warnings.warn(
            f"{hlo.name} computes with whole arrays on every device{place}, because xla-core does not partition "
            "programs; jax.shard_map runs on the shards alone",
            RuntimeWarning,
            stacklevel=2,
        )


_has_warned = False


@implements("LoadedExecutable_GetExecutable")
def _get_executable(args: Any) -> None:
    loaded = handle_at(args.loaded_executable, PjrtLoadedExecutable)
    args.executable = PjrtExecutable(loaded.program).address


@implements("LoadedExecutable_GetDeviceAssignment")
def _get_device_assignment(args: Any) -> None:
    loaded = handle_at(args.executable, PjrtLoadedExecutable)
    ids = [device.device.id for device in loaded.devices]
    width = loaded.executable.num_partitions
    rows = tuple(tuple(ids[start : start + width]) for start in range(0, len(ids), width))
    address, size = loaded.slots.text("assignment", lambda: write_device_assignment(rows))
    args.serialized_bytes, args.serialized_bytes_size = address, size
    args.serialized_device_assignment, args.serialized_device_assignment_deleter = None, native.common().nothing


@implements("Executable_OptimizedProgram")
def _optimized_program(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    program = _PROGRAM.from_address(args.program)
    address, size = handle.slots.text("outline", lambda: outline(handle.program).encode())
    form, _ = handle.slots.text("format", lambda: b"mlir")
    program.format, program.format_size = form, len("mlir")
    if program.code:
        if program.code_size < size:
            raise InvalidArgumentError(f"the program needs {size} bytes, and {program.code_size} are given")
        ctypes.memmove(program.code, address, size)
    program.code_size = size


_programs: weakref.WeakValueDictionary[bytes, Program] = weakref.WeakValueDictionary()


def program_text(fingerprint: bytes) -> str | None:
    """Returns the optimized HLO of a live program whose fingerprint a host has asked for, else None.

    PJRT's own functions return the outline instead, because a host reads the text of every program that it compiles.
    """
    program = _programs.get(fingerprint)
    return None if program is None else program.executable.as_text()


@implements("Executable_Fingerprint")
def _fingerprint(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    fingerprint = handle.program.executable.fingerprint().encode()
    _programs[fingerprint] = handle.program
    address, size = handle.slots.text("fingerprint", lambda: fingerprint)
    args.executable_fingerprint, args.executable_fingerprint_size = address, size


@implements("LoadedExecutable_Fingerprint")
def _loaded_fingerprint(args: Any) -> None:
    raise UnimplementedError("ask the PJRT_Executable for its fingerprint")


@implements("Executable_ParameterMemoryKinds")
def _parameter_memory_kinds(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    kinds, sizes = handle.parameter_memories()
    args.memory_kinds, args.memory_kind_sizes = abi.address_of(kinds), abi.address_of(sizes)
    args.num_parameters = len(handle.program.signature.parameters)


@implements("Executable_GetCostAnalysis")
def _cost_analysis(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    costs = {name: float(value) for name, value in handle.program.executable.cost_analysis().items()}
    array = handle.slots.once("costs", lambda: abi.named_values(costs, handle.slots.keep([])))
    args.properties, args.num_properties = abi.address_of(array), len(costs)


@implements("Executable_GetCompiledMemoryStats")
def _memory_stats(args: Any) -> None:
    stats = handle_at(args.executable, PjrtExecutable).program.executable.memory_stats()
    for name in abi.FIELDS["Executable_GetCompiledMemoryStats_Args"][3:]:
        setattr(args, name, 0)
    args.generated_code_size_in_bytes = stats.generated_code_bytes
    args.argument_size_in_bytes = stats.argument_bytes
    args.output_size_in_bytes = stats.output_bytes
    args.alias_size_in_bytes = stats.alias_bytes
    args.temp_size_in_bytes = stats.temp_bytes
    args.peak_memory_in_bytes = stats.peak_bytes
    args.total_size_in_bytes = args.total_allocation_bytes = stats.peak_bytes


@implements("Executable_Serialize")
def _serialize(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    args.serialized_bytes, args.serialized_bytes_size = handle.slots.text("serialized", handle.program.serialize)
    args.serialized_executable, args.serialized_executable_deleter = None, native.common().nothing


@implements("Executable_DeserializeAndLoad")
def _deserialize_and_load(args: Any) -> None:
    client = handle_at(args.client, PjrtClient)
    data = abi.bytes_at(args.serialized_executable, args.serialized_executable_size)
    overriding = abi.bytes_at(
        args.overridden_serialized_compile_options, args.overridden_serialized_compile_options_size
    )
    program = Program.deserialize(client.client, data, overriding)
    args.loaded_executable = PjrtLoadedExecutable(program, client).address


@implements("Executable_GetCompileOptions")
def _compile_options(args: Any) -> None:
    handle = handle_at(args.executable, PjrtExecutable)
    args.serialized_bytes, args.serialized_bytes_size = handle.slots.text("options", lambda: handle.program.options)
    args.serialized_compile_options, args.serialized_compile_options_deleter = None, native.common().nothing


@implements("LoadedExecutable_Delete")
def _loaded_delete(args: Any) -> None:
    loaded = handle_at(args.executable, PjrtLoadedExecutable)
    loaded.leave_to_python()
    loaded.executable.delete()


@implements("LoadedExecutable_IsDeleted")
def _loaded_is_deleted(args: Any) -> None:
    args.is_deleted = handle_at(args.executable, PjrtLoadedExecutable).executable.is_deleted()


@implements("LoadedExecutable_Destroy")
def _loaded_destroy(args: Any) -> None:
    handle_at(args.executable, PjrtLoadedExecutable).destroy()


@implements("Executable_Destroy")
def _executable_destroy(args: Any) -> None:
    handle_at(args.executable, PjrtExecutable).destroy()
