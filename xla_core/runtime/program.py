"""Reading a program in any form that callers may pass: `parse`, `evaluate`, and their parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xla_core import profiler
from xla_core.checks import require_file_name
from xla_core.errors import InvalidArgumentError, SourceLocation, XlaError, snippet
from xla_core.hlo.module import HloModule
from xla_core.hlo.shape import Shape
from xla_core.runtime.host_array import as_host_array
from xla_core.runtime.signature import sizes_of

if TYPE_CHECKING:
    from xla_core.hlo.environment import Environment
    from xla_core.stablehlo import Module, PolymorphicProgram

__all__ = ["evaluate", "is_hlo_text", "lower", "module_for", "parse", "read", "stablehlo_source"]

MAX_KNOWN_ELEMENTS = 1024
"""Elements of an array whose values sizes may follow from."""

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
        file: its name, for locations in errors.
        argument_shapes: for StableHLO whose entry has sizes that only its arguments have (`tensor<?x3xf32>`): a Shape,
            or its sizes, for each argument; None for one that the program declares in full.

    Raises:
        InvalidArgumentError: for a malformed program: where, and what was expected; for dynamic shapes without
            `argument_shapes`; for shapes that don't fit.
        UnimplementedError: for bytecode of a newer format.
    """
    found = read(program, file=file)
    if isinstance(found, HloModule):
        if argument_shapes is not None:
            raise InvalidArgumentError("argument_shapes are for StableHLO; the shapes of HLO are its own")
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
    """Runs a program by the reference evaluator, on one device.

    Args:
        program: what `parse` takes. Dynamic sizes are those of the arrays, or follow from their values.
        arrays: one for every array among the entry's parameters, tuples flattened, of its shape and dtype.
        file: the program's name, for locations in errors.
        environment, max_steps, max_bytes, timeout: as of `xla_core.hlo.EvaluationContext`.

    Returns:
        The arrays of the result, tuples flattened, tokens left out.

    Raises:
        InvalidArgumentError: when number, shape or dtype of the arrays is wrong; what `parse` raises.
        FailedPreconditionError: when it must meet other devices; `xla_core.hlo.evaluate_replicas` runs several.
        DeadlineExceededError, ResourceExhaustedError: when a limit is passed.
    """
    from xla_core.hlo.evaluator import evaluate as evaluate_module

    module = program if isinstance(program, HloModule) else module_for(program, arrays, file)
    return evaluate_module(
        module, *arrays, environment=environment, max_steps=max_steps, max_bytes=max_bytes, timeout=timeout
    )


def module_for(program: str | bytes, arrays: Sequence[npt.ArrayLike], file: str = "") -> HloModule:
    """As `parse`; dynamic sizes are those of the arrays, or follow from their values."""
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
    """The shapes that a caller gave, as Shapes: sizes take the element type that the program declares.

    Raises InvalidArgumentError where that can't be done, or None stands for an argument with a dynamic shape.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InvalidArgumentError(f"argument_shapes must be a list of shapes, not {type(given).__name__}")
    shapes = []
    for index, shape in enumerate(given):
        declared = program.parameters[index] if index < len(program.parameters) else None
        if isinstance(shape, Shape):
            shapes.append(shape.without_layout())
        elif declared is None:
            shapes.append(Shape.token())  # one too many: the program's own check says so
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
            hint="say what they are: xla_core.parse(program, argument_shapes=[(2, 3), ...]); Client.compile and "
            "xla_core.evaluate take them from the arguments of each call",
        )


def read(program: str | bytes | HloModule, *, file: str = "") -> HloModule | Module:
    """As `parse`, but StableHLO stays what it is: read and verified."""
    file = require_file_name(file)
    if isinstance(program, HloModule):
        return program.clone()
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        if data.startswith(_BYTECODE_MAGIC):
            with profiler.span("parse", "compile", bytes=len(data)):
                return _read_stablehlo(data, file)
        if _is_hlo_proto(data):
            with profiler.span("parse", "compile", bytes=len(data)):
                return _parse_proto(data, file)
        try:
            program = data.decode()
        except UnicodeDecodeError as error:
            from xla_core.stablehlo.table.op_table import PROGRAMS_HINT

            raise InvalidArgumentError(
                "these bytes are neither MLIR bytecode, nor a serialized HloModuleProto, nor UTF-8 text: "
                f"byte {error.start} is {data[error.start]:#04x}",
                location=SourceLocation(file) if file else None,
                hint=f"{PROGRAMS_HINT}; save text as UTF-8",
            ) from None
    if not isinstance(program, str):
        raise InvalidArgumentError(f"{type(program).__name__} is not a program", hint=_program_hint(program))
    if not program.isascii():
        _check_unicode(program, file)
    program = program.removeprefix("\ufeff")  # the mark that editors put before UTF-8
    if not file and _FILE_NAME.fullmatch(program):
        raise InvalidArgumentError(
            f"{program!r} is no program, but looks like the name of a file",
            hint="pass what the file holds: pathlib.Path(...).read_bytes()",
        )
    if not program.strip():
        raise InvalidArgumentError(
            "the program is empty", location=SourceLocation(file) if file else None, hint="it needs a function @main"
        )
    with profiler.span("parse", "compile", characters=len(program)):
        if is_hlo_text(program):
            return _parse_hlo(program, file)
        return _read_stablehlo(program, file)


def _program_hint(given: object) -> str:
    """A hint for a value that is not a program: what to pass instead."""
    from xla_core.stablehlo import Module, PolymorphicProgram
    from xla_core.stablehlo.shapes.refine import has_dynamic_types

    if isinstance(given, PolymorphicProgram):
        return (
            "pass what its method lower(shapes) makes for one set of sizes; or for all of them, the bytes that "
            "xla_core.stablehlo.write_portable_artifact(module) makes of its module"
        )
    if not isinstance(given, Module):
        return "pass StableHLO or HLO text, bytes, or an HloModule"
    if has_dynamic_types(given):
        return "it has dynamic shapes: pass the bytes that xla_core.stablehlo.write_portable_artifact(module) makes"
    return "pass the HloModule that xla_core.stablehlo.lower(module) makes of it"


def _check_unicode(program: str, file: str) -> None:
    """Refuses lone surrogates, but for those by which os.fsdecode represents bytes."""
    try:
        program.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"the program is no text: character {error.start} is a lone surrogate, {program[error.start]!a}",
            location=SourceLocation(file) if file else None,
        ) from None


def is_hlo_text(text: str) -> bool:
    """Whether a program's first word is HLO text's, `HloModule`."""
    return _HLO_TEXT.match(text) is not None


def stablehlo_source(program: str | bytes | HloModule) -> str | bytes | None:
    """StableHLO as it was given, text or bytecode; None for HLO."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        data = bytes(program)
        if data.startswith(_BYTECODE_MAGIC):
            return data
        return None if _is_hlo_proto(data) or is_hlo_text(data.decode()) else data
    return program if isinstance(program, str) and not is_hlo_text(program) else None


def _is_hlo_proto(data: bytes) -> bool:
    from xla_core.hlo.proto import is_hlo_proto  # text is read without it

    return is_hlo_proto(data)


def _parse_proto(data: bytes, file: str) -> HloModule:
    from xla_core.hlo.proto import parse_hlo_proto
    from xla_core.hlo.verifier import verify

    module = parse_hlo_proto(data, file=file)
    verify(module)
    return module


def _parse_hlo(text: str, file: str) -> HloModule:
    from xla_core.hlo.parser import parse_hlo  # each reader only for its own texts
    from xla_core.hlo.verifier import verify

    module = parse_hlo(text, file=file)
    try:
        verify(module)  # the reader takes shapes as they are written
    except XlaError as error:
        if error.location is None:
            _find_line(error, text, file)
        elif error.snippet is None and error.location.file == file and error.location.line:
            line = text.split("\n")[error.location.line - 1 : error.location.line]
            error.snippet = snippet(line[0], error.location.column) if line else None
        raise
    return module


def _find_line(error: XlaError, text: str, file: str) -> None:
    """Gives a verifier's error the location of the instruction that it names, found in the text by its name."""
    from xla_core.hlo.text.cursor import Cursor

    name = re.match(r"([^\s:]+)(?: = |: )", error.message)
    definition = name and re.search(rf"(?<![\w.$-]){re.escape(name[1])}\s*=\s", text)
    if definition:
        place = Cursor(text, file).error("", position=definition.start())
        error.location, error.snippet = place.location, place.snippet


def lower(module: Module) -> HloModule:
    """The HLO of a verified StableHLO module; errors show the line."""
    from xla_core import stablehlo
    from xla_core.stablehlo.shapes.polymorphism import source_lines

    with source_lines(module):
        return stablehlo.lower(module)


def _read_stablehlo(source: str | bytes, file: str) -> Module:
    from xla_core.stablehlo import read  # HLO text needs none of it

    return read(source, file)
