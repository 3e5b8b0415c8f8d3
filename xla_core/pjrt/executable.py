"""PJRT_Executable and PJRT_LoadedExecutable: compilation, execution and what a host asks of a program."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import itertools
import json
import warnings
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from xla_core.backend.event import Event
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.pjrt import abi, native
from xla_core.pjrt.buffer import TYPE_NUMBERS, PjrtBuffer, pool_of
from xla_core.pjrt.client import PjrtClient, PjrtDevice
from xla_core.pjrt.compile_options import read_compile_options, write_device_assignment
from xla_core.pjrt.event import event_address
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at, handles_at
from xla_core.pjrt.native_execute import NativeProgram, is_suitable
from xla_core.runtime import Buffer, Client, LoadedExecutable, StaticExecutable
from xla_core.runtime.program import lower, read
from xla_core.stablehlo import Module, TokenType
from xla_core.stablehlo.sharding.entry_shardings import entry_shardings, sharding_text
from xla_core.stablehlo.sharding.shardy import Sharding
from xla_core.traversal import reachable

T = TypeVar("T")

TOKEN_TEXT = "token"
_TOKEN_NUMBER = ElementType.TOKEN.pjrt or 0
_TOKEN_TYPE = "!stablehlo.token"
_PROGRAM = abi.STRUCTS["Program"]
_OPTIONS = abi.STRUCTS["ExecuteOptions"]


@dataclasses.dataclass(frozen=True)
class Signature:
    """What hosts know of parameters and results, and the runtime doesn't: tokens are buffers too, and arrays have
    shardings.

    Attributes:
        parameters, results: for each its sharding as HLO text, or `TOKEN_TEXT`.
    """

    parameters: tuple[str, ...]
    results: tuple[str, ...]

    @staticmethod
    def of(module: HloModule | Module) -> Signature:
        if isinstance(module, HloModule):
            shapes = [leaf for shape in module.parameter_shapes for leaf in shape.leaves()]
            return Signature(_texts(shapes), _texts(module.result_shape.leaves()))
        main = module.functions["main"]
        kind, shardings = main.attributes["function_type"], entry_shardings(module, main)
        return Signature(
            _sharding_texts(kind.inputs, shardings.arguments), _sharding_texts(kind.results, shardings.results)
        )

    @property
    def has_tokens(self) -> bool:
        return TOKEN_TEXT in (*self.parameters, *self.results)

    def array_numbers(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Returns the numbers that parameters have among those that are arrays."""
        if TOKEN_TEXT not in self.parameters:
            return tuple(numbers)
        counts = list(itertools.accumulate(text != TOKEN_TEXT for text in self.parameters))
        return tuple(counts[n] - 1 for n in numbers if n < len(counts) and self.parameters[n] != TOKEN_TEXT)

    def arguments(self, row: Sequence[T]) -> Sequence[T]:
        """Drops the tokens of a list with one item for each parameter."""
        if TOKEN_TEXT not in self.parameters or len(row) != len(self.parameters):
            return row
        return [item for item, text in zip(row, self.parameters, strict=True) if text != TOKEN_TEXT]


def _texts(shapes: Iterable[Shape]) -> tuple[str, ...]:
    return tuple(TOKEN_TEXT if shape.is_token else sharding_text(None) for shape in shapes)


def _sharding_texts(types: Iterable[object], shardings: Iterable[Sharding | None]) -> tuple[str, ...]:
    return tuple(
        TOKEN_TEXT if isinstance(type, TokenType) else sharding_text(sharding)
        for type, sharding in zip(types, shardings, strict=True)
    )


@dataclasses.dataclass(frozen=True)
class Program:
    """What a program is on any device.

    Attributes:
        options: the host's CompileOptionsProto.
    """

    executable: LoadedExecutable
    signature: Signature
    options: bytes

    def serialize(self) -> bytes:
        header = {"parameters": self.signature.parameters, "results": self.signature.results}
        parts = [json.dumps(header).encode(), self.options, self.executable.serialize()]
        return b"".join(len(part).to_bytes(8, "little") + part for part in parts)

    @staticmethod
    def deserialize(client: Client, data: bytes) -> Program:
        """Reads what `serialize` wrote.

        Raises:
            InvalidArgumentError: for other bytes.
        """
        try:
            parts: list[bytes] = []
            while data and len(parts) < 3:
                end = 8 + int.from_bytes(data[:8], "little")
                parts.append(data[8:end])
                data = data[end:]
            header = json.loads(parts[0])
            signature = Signature(tuple(map(str, header["parameters"])), tuple(map(str, header["results"])))
            options, code = parts[1:]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise InvalidArgumentError("these bytes are not a serialized executable of xla-core") from error
        return Program(client.deserialize(code), signature, options)


class PjrtExecutable(Handle):
    """A compiled program, apart from the devices that it is loaded on."""

    kind = "Executable"

    def __init__(self, program: Program) -> None:
        self.program, executable = program, program.executable
        arrays = iter(executable.result_shapes)
        results = [None if text == TOKEN_TEXT else next(arrays) for text in program.signature.results]
        count, parameters = len(results), len(program.signature.parameters)
        kinds = self._kinds(max(count, parameters))
        numbers = [_TOKEN_NUMBER if shape is None else TYPE_NUMBERS[shape.element_type] for shape in results]
        super().__init__(
            executable_name=executable.name,
            num_replicas=executable.num_replicas,
            num_partitions=executable.num_partitions,
            num_outputs=count,
            num_output_types=count,
            output_types=(ctypes.c_int32 * max(1, count))(*numbers),
            dims=abi.int64s(size for shape in results if shape is not None for size in shape.dimensions),
            dim_sizes=abi.int64s(0 if shape is None else shape.rank for shape in results),
            num_parameters=parameters,
            memory_kinds=kinds[0],
            memory_kind_sizes=kinds[1],
            size_in_bytes=executable.memory_stats().generated_code_bytes,
        )
        self.slots.keep(kinds)

    @staticmethod
    def _kinds(count: int) -> tuple[Any, Any, Any]:
        text = ctypes.create_string_buffer(b"device")
        return abi.pointers([abi.address_of(text)] * count), abi.int64s([len(text) - 1] * count), text


class PjrtLoadedExecutable(Handle):
    """A program on its devices."""

    kind = "LoadedExecutable"

    def __init__(self, program: Program, client: PjrtClient) -> None:
        self.program, self.client = program, client
        self.executable = executable = program.executable
        self.devices = [client.device_of(device) for device in executable.devices]
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
        """Returns what native code needs to run the program without Python, if it can."""
        executable, signature = self.executable, self.program.signature
        if not isinstance(executable, StaticExecutable) or len(self.devices) != 1 or signature.has_tokens:
            return None
        device = self.devices[0]
        entry = executable.executable.native_entry() if device.is_host_addressable else None
        if entry is None or not is_suitable(entry) or any(s.is_dynamic for s in executable.result_shapes):
            return None
        temporaries = [Shape(ElementType.U8, (size,)) for _, size in entry.temporaries]
        return NativeProgram(
            entry,
            device.address,
            [pool_of(shape, device) for shape in executable.parameter_shapes],
            [pool_of(shape, device) for shape in (*executable.result_shapes, *temporaries)],
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


@implements("Client_Compile")
def _compile(args: Any) -> None:
    client = handle_at(args.client, PjrtClient)
    code, form = _program(args)
    if form not in ("mlir", "hlo"):
        raise UnimplementedError(f"programs in the format {form!r} are not supported", hint='use "mlir" or "hlo"')
    data = abi.bytes_at(args.compile_options, args.compile_options_size)
    options = read_compile_options(data)
    module = read(code)
    signature = Signature.of(module)  # before lowering, which drops the tokens
    is_sharded = options.num_partitions != 1
    hlo = module if isinstance(module, HloModule) else lower(module, entry_shards=is_sharded)
    if is_sharded:
        _warn_of_gathers(hlo)
    args.executable = PjrtLoadedExecutable(
        Program(client.client.compile(hlo, options), signature, data), client
    ).address


def _warn_of_gathers(hlo: HloModule) -> None:
    """Warns once a process if a program needs whole arrays of which each device has a shard."""
    global _has_warned
    if _has_warned:
        return
    live = reachable([hlo.entry.root], lambda instruction: instruction.operands)
    gathers = [instruction for instruction in live if instruction.opcode == Opcode.ALL_GATHER]
    if not any(gather.operand(0).opcode == Opcode.PARAMETER for gather in gathers):
        return
    _has_warned = True
    with contextlib.suppress(RuntimeWarning):  # where warnings are errors, the program still compiles
        warnings.warn(
            f"{hlo.name} computes with whole arrays on every device, because xla-core does not partition programs; "
            "jax.shard_map runs on the shards alone",
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


# -- execution ---------------------------------------------------------------------------------------------------------


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
    donated = set(loaded.executable.donated_parameters).difference(loaded.program.signature.array_numbers(kept))
    for row in rows:
        arguments = loaded.program.signature.arguments(row)
        for index in donated.intersection(range(len(arguments))):
            arguments[index].withdraw()
    try:
        results = _run(loaded, [[handle.buffer for handle in row] for row in rows], kept, ends)
    finally:
        for handle in itertools.chain(*rows):
            handle.publish()
            if donated:
                handle.mark_deleted()
    if loaded.native is not None:
        loaded.native.refill()
    lists = abi.pointers_at(args.output_lists, len(rows))
    for device, made, end, address in zip(devices, results, ends, lists, strict=True):
        handles: list[Any] = [handle.address for handle in _result_handles(loaded.program.signature, made, device, end)]
        if handles:
            (ctypes.c_size_t * len(handles)).from_address(address)[:] = handles
    if args.device_complete_events:
        events: list[Any] = [event_address(end) for end in ends]
        (ctypes.c_size_t * len(rows)).from_address(args.device_complete_events)[:] = events


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
    if TOKEN_TEXT not in signature.results:
        return [PjrtBuffer(buffer, device) for buffer in results]
    arrays = iter(results)
    return [
        _token(device, end) if text == TOKEN_TEXT else PjrtBuffer(next(arrays), device) for text in signature.results
    ]


def _token(device: PjrtDevice, end: Event) -> PjrtBuffer:
    """Makes the buffer of a token: an empty array that is ready when the execution has ended."""
    buffer = Buffer.of_undefined(device.device, Shape(ElementType.PRED, (0,)))
    buffer.define(end)
    handle = PjrtBuffer(buffer, device)
    handle.slots.set(type=_TOKEN_NUMBER, num_dims=0)
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


# -- what a host asks --------------------------------------------------------------------------------------------------


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


def outline(program: Program) -> str:
    """Writes a StableHLO module with the program's parameters and results, and zeros in place of its instructions.

    Hosts read types and shardings from it.
    """
    executable = program.executable
    parameters, results = iter(executable.parameter_shapes), iter(executable.result_shapes)
    arguments = [
        _TOKEN_TYPE if text == TOKEN_TEXT else _mlir_type(next(parameters)) for text in program.signature.parameters
    ]
    types, body = [], []
    for number, text in enumerate(program.signature.results):
        if text == TOKEN_TEXT:
            types.append(_TOKEN_TYPE)
            body.append(f"    %{number} = stablehlo.create_token : {_TOKEN_TYPE}")
        else:
            shape = next(results)
            types.append(_mlir_type(shape))
            body.append(f"    %{number} = stablehlo.constant dense<{_zero(shape.element_type)}> : {types[-1]}")
    values = ", ".join(f"%{number}" for number in range(len(types)))
    body.append(f"    return {values} : {', '.join(types)}" if types else "    return")
    attributes = [
        f"mhlo.num_replicas = {executable.num_replicas} : i32",
        f"mhlo.num_partitions = {executable.num_partitions} : i32",
    ]
    attributes += _layouts(program)
    if executable.num_partitions > 1:
        given = [_sharding(text) for text in program.signature.parameters]
        made = [_sharding(text) for text in program.signature.results] or ["{{replicated}}"]  # of an empty tuple
        output = made[0] if len(made) == 1 else f"{{{', '.join(made)}}}"
        attributes.append(f"mhlo.spmd_parameters_shardings = [{', '.join(map(json.dumps, given))}]")
        attributes.append(f"mhlo.spmd_output_sharding = {json.dumps(output)}")
    name = "".join(c if c.isalnum() or c in "_.$" else "_" for c in executable.name) or "main"
    signature = ", ".join(f"%arg{number}: {kind}" for number, kind in enumerate(arguments))
    head = [
        f"module @{name} attributes {{{', '.join(attributes)}}} {{",
        f"  func.func public @main({signature}) -> ({', '.join(types)}) {{",
    ]
    return "\n".join([*head, *body, "  }", "}"])


def _layouts(program: Program) -> list[str]:
    """Writes the orders of dimensions of parameters and results, unless all are row-major."""
    parts = []
    for name, texts, shapes in (
        ("parameter_layouts", program.signature.parameters, program.executable.parameter_shapes),
        ("result_layout", program.signature.results, program.executable.result_shapes),
    ):
        known = iter(shapes)
        orders = [() if text == TOKEN_TEXT else next(known).minor_to_major() for text in texts]
        tensors = ", ".join(f"dense<{list(order)}> : tensor<{len(order)}xindex>" for order in orders)
        parts.append(f"mhlo.xla_entry_computation_{name} = [{tensors}]")
    arrays = (*program.executable.parameter_shapes, *program.executable.result_shapes)
    is_row_major = all(shape.minor_to_major() == tuple(range(shape.rank))[::-1] for shape in arrays)
    return [] if is_row_major else parts


def _sharding(text: str) -> str:
    return sharding_text(None) if text == TOKEN_TEXT else text


def _zero(element_type: ElementType) -> str:
    if element_type is ElementType.PRED:
        return "false"
    if element_type.is_complex:
        return "(0.0, 0.0)"
    return "0.0" if element_type.is_floating else "0"


def _mlir_type(shape: Shape) -> str:
    sizes = "".join(f"{size}x" for size in shape.dimensions)
    return f"tensor<{sizes}{shape.element_type.mlir_name}>"


_programs: weakref.WeakValueDictionary[bytes, Program] = weakref.WeakValueDictionary()


def program_text(fingerprint: bytes) -> str | None:
    """Returns the optimized HLO of a live program whose fingerprint a host has asked for, else None.

    A host gets the outline from PJRT's own functions, because it reads that of every program that it compiles.
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
    program = Program.deserialize(client.client, data)
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
