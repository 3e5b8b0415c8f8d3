"""A program apart from its devices: its code, its signature, and the outline of it that hosts read."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt.client import MAIN_MEMORY
from xla_core.pjrt.compile_options import read_compile_options
from xla_core.runtime import Client, LoadedExecutable
from xla_core.runtime.shape_cache import row_major_bytes
from xla_core.spmd import Sharding
from xla_core.spmd.sharding import sharding_text
from xla_core.stablehlo import Module, TokenType
from xla_core.stablehlo.ir import Op
from xla_core.stablehlo.sharding.entry_shardings import entry_shardings

T = TypeVar("T")

TOKEN_TEXT = "token"
_TOKEN_TYPE = "!stablehlo.token"


@dataclasses.dataclass(frozen=True)
class Signature:
    """Properties of parameters and results that hosts need and the runtime doesn't: tokens, which are buffers for
    hosts, shardings, and kinds of memory.

    Attributes:
        parameters, results: for each its sharding as HLO text, or `TOKEN_TEXT`.
        parameter_memories, result_memories: for each the kind of its memory.
    """

    parameters: tuple[str, ...]
    results: tuple[str, ...]
    parameter_memories: tuple[str, ...]
    result_memories: tuple[str, ...]

    @staticmethod
    def of(module: HloModule | Module) -> Signature:
        if isinstance(module, HloModule):
            shapes = [leaf for shape in module.parameter_shapes for leaf in shape.leaves()]
            results = list(module.result_shape.leaves())
            kinds = ((MAIN_MEMORY,) * len(shapes), (MAIN_MEMORY,) * len(results))
            return Signature(_texts(shapes), _texts(results), *kinds)
        main = module.functions["main"]
        kind, shardings = main.attributes["function_type"], entry_shardings(module, main)
        return Signature(
            _sharding_texts(kind.inputs, shardings.arguments),
            _sharding_texts(kind.results, shardings.results),
            _memory_kinds(main, "arg_attrs", len(kind.inputs)),
            _memory_kinds(main, "res_attrs", len(kind.results)),
        )

    @property
    def has_tokens(self) -> bool:
        return TOKEN_TEXT in (*self.parameters, *self.results)

    @property
    def has_host_results(self) -> bool:
        return any(kind != MAIN_MEMORY for kind in self.result_memories)

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


def _memory_kinds(main: Op, name: str, count: int) -> tuple[str, ...]:
    attributes: Any = main.attributes.get(name) or ({},) * count
    return tuple(str((given or {}).get("mhlo.memory_kind", MAIN_MEMORY)) for given in attributes)


def _texts(shapes: Iterable[Shape]) -> tuple[str, ...]:
    return tuple(TOKEN_TEXT if shape.is_token else sharding_text(None) for shape in shapes)


def _sharding_texts(types: Iterable[object], shardings: Iterable[Sharding | None]) -> tuple[str, ...]:
    return tuple(
        TOKEN_TEXT if isinstance(type, TokenType) else sharding_text(sharding)
        for type, sharding in zip(types, shardings, strict=True)
    )


@dataclasses.dataclass(frozen=True)
class Program:
    """A program apart from its devices.

    Attributes:
        options: the host's CompileOptionsProto.
        released: the donated parameters whose memory no result takes (`take_small_donations`).
    """

    executable: LoadedExecutable
    signature: Signature
    options: bytes
    released: tuple[int, ...] = ()

    def serialize(self) -> bytes:
        header = dataclasses.asdict(self.signature) | {"released": self.released}
        parts = [json.dumps(header).encode(), self.options, self.executable.serialize()]
        return b"".join(len(part).to_bytes(8, "little") + part for part in parts)

    @staticmethod
    def deserialize(client: Client, data: bytes, overriding: bytes = b"") -> Program:
        """Reads the bytes that `serialize` wrote.

        Args:
            overriding: the CompileOptionsProto that replaces the program's own; its devices are taken.

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
            signature = Signature(*(tuple(map(str, header[field.name])) for field in dataclasses.fields(Signature)))
            released = tuple(map(int, header["released"]))
            options, code = parts[1:]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise InvalidArgumentError("these bytes are not a serialized executable of xla-core") from error
        assignment = read_compile_options(overriding).device_assignment if overriding else None
        executable = client.deserialize(code, device_assignment=assignment)
        return Program(executable, signature, overriding or options, released)


_IN_PLACE_BYTES = 1 << 16  # for smaller arrays, reusing a donated parameter's memory is not worth a call of Python


def take_small_donations(hlo: HloModule) -> tuple[int, ...]:
    """Removes the aliases of results with donated parameters if these are small, and returns the parameters' numbers.

    The program then runs in native code. For hosts, the arguments are donated all the same.
    """
    numbers = tuple(sorted({alias.parameter_number for alias in hlo.input_output_aliases}))
    size = sum(row_major_bytes(hlo.parameter_shapes[number]) or _IN_PLACE_BYTES for number in numbers)
    must = any(alias.must_alias for alias in hlo.input_output_aliases)
    if must or hlo.buffer_donors or size > _IN_PLACE_BYTES:
        return ()
    hlo.input_output_aliases.clear()
    return numbers


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
