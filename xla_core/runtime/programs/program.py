"""Reads a program in any form that callers may pass: `parse`, `evaluate`, and their parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xla_core import profiler
from xla_core.checks import require_file_name
from xla_core.errors import InvalidArgumentError, SourceLocation, XlaError, snippet
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.programs.signature import sizes_of

if TYPE_CHECKING:
    from xla_core.hlo.evaluation.environment import Environment
    from xla_core.stablehlo import Module, PolymorphicProgram

MAX_KNOWN_ELEMENTS = 1024
"""The most elements of an array from whose values sizes may be computed."""

EXECUTABLE_MAGIC = b"XLACORE\x01"
"""The first bytes of a serialized executable."""

_BYTECODE_MAGIC = b"ML\xefR"
_FILE_NAME = re.compile(r"[^\s%@(){}]{1,1000}\.[A-Za-z]\w{0,9}")
_HLO_TEXT = re.compile(r"\ufeff?(?>\s++|//[^\n]*\n|/\*.*?\*/)*+HloModule\b", re.DOTALL)


def parse(
    program: str | bytes | HloModule,
    *,
    file: str = "",
    argument_shapes: Sequence[Shape | Sequence[int] | None] | None = None,
) -> HloModule:
    """Reads StableHLO text or bytecode, HLO text (told by its first word, `HloModule`), or a serialized HloModuleProto.

    Args:
        program: text; text as UTF-8 bytes; MLIR bytecode (a portable artifact of StableHLO); the bytes of an
            HloModuleProto or HloProto (TensorFlow's `hlo_serialized`); or a module, which is copied.
        file: the program's name, for locations in errors.
        argument_shapes: for StableHLO whose entry has arguments with dynamic shapes (`tensor<?x3xf32>`): a Shape, or
            the sizes, for each argument; None for an argument of static shape.

    Raises:
        InvalidArgumentError: for a malformed program, with the location and what was expected there; for dynamic shapes
            without `argument_shapes`; for shapes that don't fit the program.
        UnimplementedError: for bytecode of a newer format.
    """
    found = read(program, file=file)
    if isinstance(found, HloModule):
        if argument_shapes is not None:
            raise InvalidArgumentError("argument_shapes are only for StableHLO programs; the shapes of HLO are static")
        return found
    from xla_core.stablehlo.shapes.polymorphism import PolymorphicProgram, has_polymorphic_entry

    if argument_shapes is not None:
        polymorphic = PolymorphicProgram(found)
        return polymorphic.lower(_argument_shapes(polymorphic, argument_shapes))
    if has_polymorphic_entry(found):
        _require_shapes(PolymorphicProgram(found))
    return lower(found)


def evaluate(
    program: str | bytes | HloModule,
    *arrays: npt.ArrayLike,
    file: str = "",
    environment: Environment | None = None,
    max_steps: int | None = None,
    max_bytes: int | None = None,
    timeout: float | None = None,
) -> tuple[np.ndarray, ...]:
    """Runs a program with the reference evaluator, on one device.

    Args:
        program: a program as for `parse`. Dynamic sizes are taken from the arrays' shapes and values.
        arrays: an array for each array among the entry's parameters (tuples are flattened), of its shape and dtype.
        file: the program's name, for locations in errors.
        environment, max_steps, max_bytes, timeout: see `xla_core.hlo.EvaluationContext`.

    Returns:
        The arrays of the result; tuples are flattened and tokens left out.

    Raises:
        InvalidArgumentError: if the number, shape or dtype of the arrays is wrong, and as for `parse`.
        FailedPreconditionError: if the program communicates with other devices; `xla_core.hlo.evaluate_replicas` runs
            several devices.
        DeadlineExceededError, ResourceExhaustedError: if a limit is exceeded.
    """
    from xla_core.hlo.evaluator import evaluate as evaluate_module

    module = program if isinstance(program, HloModule) else module_for(program, arrays, file)
    return evaluate_module(
        module, *arrays, environment=environment, max_steps=max_steps, max_bytes=max_bytes, timeout=timeout
    )


def module_for(program: str | bytes, arrays: Sequence[npt.ArrayLike], file: str = "") -> HloModule:
    """Reads a program like `parse`, with the dynamic sizes that the arrays' shapes and values give."""
    found = read(program, file=file)
    if isinstance(found, HloModule):
        return found
    from xla_core.stablehlo.shapes.polymorphism import PolymorphicProgram
    from xla_core.stablehlo.shapes.refine import has_dynamic_types

    if not has_dynamic_types(found):
        return lower(found)
    given = [as_host_array(array) for array in arrays]
    known = {i: a for i, a in enumerate(given) if a.dtype.kind in "biu" and a.size <= MAX_KNOWN_ELEMENTS}
    return PolymorphicProgram(found).lower([Shape.of(a) for a in given], known)


def _argument_shapes(program: PolymorphicProgram, given: Sequence[Shape | Sequence[int] | None]) -> tuple[Shape, ...]:
    """Converts the shapes that a caller gave to Shapes; sizes get the element type that the program declares.

    Raises InvalidArgumentError for invalid shapes, and for None as the shape of an argument with a dynamic shape.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InvalidArgumentError(f"argument_shapes must be a list of shapes, not {type(given).__name__}")
    shapes = []
    for index, shape in enumerate(given):
        declared = program.parameters[index] if index < len(program.parameters) else None
        if isinstance(shape, Shape):
            shapes.append(shape.without_layout())
        elif declared is None:
            shapes.append(Shape.token())  # one too many: the program's own check raises the error
        elif shape is None:
            if declared.is_dynamic:
                raise InvalidArgumentError(f"argument {index} of {program.name} is {declared}: its sizes must be given")
            shapes.append(declared)
        else:
            shapes.append(declared.with_dimensions(sizes_of(shape)))
    return tuple(shapes)


def _require_shapes(program: PolymorphicProgram) -> None:
    unbounded = [
        f"argument {i} is {shape}" for i, shape in enumerate(program.parameters) if Shape.UNBOUNDED in shape.dimensions
    ]
    if unbounded:
        raise InvalidArgumentError(
            f"{program.name} has dynamic shapes: {', '.join(unbounded)}",
            hint="give its shapes: xla_core.parse(program, argument_shapes=[(2, 3), ...]); Client.compile and "
            "xla_core.evaluate take them from the arguments of each call",
        )


def read(program: str | bytes | HloModule, *, file: str = "") -> HloModule | Module:
    """Reads a program like `parse`, but returns StableHLO as a verified StableHLO module."""
    file = require_file_name(file)
    if isinstance(program, HloModule):
        return program.clone()
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        if data.startswith(EXECUTABLE_MAGIC):
            raise InvalidArgumentError(
                "these bytes are a serialized executable, not a program",
                location=SourceLocation(file) if file else None,
                hint="Client.deserialize loads it",
            )
        if data.startswith(_BYTECODE_MAGIC) or _is_hlo_proto(data):
            with profiler.span("parse", "compile", bytes=len(data)):
                return _read_stablehlo(data, file) if data.startswith(_BYTECODE_MAGIC) else _parse_proto(data, file)
        try:
            program = data.decode()
        except UnicodeDecodeError as error:
            from xla_core.stablehlo.table.op_table import PROGRAMS_HINT

            raise InvalidArgumentError(
                "these bytes are neither MLIR bytecode, nor a serialized HloModuleProto, nor UTF-8 text: "
                f"byte {error.start} is {data[error.start]:#04x}",
                location=SourceLocation(file) if file else None,
                hint=f"{PROGRAMS_HINT}; save text as UTF-8; a binary file may be truncated",
            ) from None
    if not isinstance(program, str):
        raise InvalidArgumentError(
            f"{type(program).__name__} is not a program",
            hint="pass StableHLO or HLO text, bytes, or an HloModule; for a StableHLO module, pass the result of "
            "xla_core.stablehlo.lower(module), or of xla_core.stablehlo.write_portable_artifact(module) if it has "
            "dynamic shapes",
        )
    if not program.isascii():
        _check_unicode(program, file)
    program = program.removeprefix("\ufeff")  # the byte order mark
    if not file and _FILE_NAME.fullmatch(program):
        raise InvalidArgumentError(
            f"{program!r} is not a program, but looks like the name of a file",
            hint="pass the content of the file: pathlib.Path(...).read_bytes()",
        )
    if not program.strip():
        raise InvalidArgumentError(
            "the program is empty",
            location=SourceLocation(file) if file else None,
            hint="it needs a function, which is the entry if its name is @main or if no other is public",
        )
    with profiler.span("parse", "compile", characters=len(program)):
        if is_hlo_text(program):
            return _parse_hlo(program, file)
        return _read_stablehlo(program, file)


def _check_unicode(program: str, file: str) -> None:
    """Raises InvalidArgumentError for lone surrogates, except for those that os.fsdecode makes of bytes."""
    try:
        program.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"the program is not valid text: character {error.start} is a lone surrogate, {program[error.start]!a}",
            location=SourceLocation(file) if file else None,
        ) from None


def is_hlo_text(text: str) -> bool:
    """Tells whether a program's first word is `HloModule`, which starts HLO text."""
    return _HLO_TEXT.match(text) is not None


def _is_hlo_proto(data: bytes) -> bool:
    from xla_core.hlo.proto import is_hlo_proto  # text doesn't need it

    return is_hlo_proto(data)


def _parse_proto(data: bytes, file: str) -> HloModule:
    from xla_core.hlo.proto import parse_hlo_proto
    from xla_core.hlo.verifier import verify

    module = parse_hlo_proto(data, file=file)
    verify(module)
    return module


def _parse_hlo(text: str, file: str) -> HloModule:
    from xla_core.hlo.parsing.parser import parse_hlo  # StableHLO doesn't need it
    from xla_core.hlo.verifier import verify

    module = parse_hlo(text, file=file)
    try:
        verify(module)  # the parser doesn't check the shapes
    except XlaError as error:
        location = error.location
        if location is not None and error.snippet is None and location.file == file and location.line:
            line = text.split("\n")[location.line - 1 : location.line]
            error.snippet = snippet(line[0], location.column) if line else None
        raise
    return module


def lower(module: Module, *, entry_shards: bool = False) -> HloModule:
    """Lowers a verified StableHLO module to HLO as `stablehlo.lower`; errors show the line of the program."""
    from xla_core import stablehlo
    from xla_core.stablehlo.shapes.polymorphism import source_lines

    with source_lines(module):
        return stablehlo.lower(module, entry_shards=entry_shards)


def _read_stablehlo(source: str | bytes, file: str) -> Module:
    from xla_core.stablehlo import read  # HLO text doesn't need it

    return read(source, file)
