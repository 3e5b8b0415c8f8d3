"""Programs and their arguments from files."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import sys
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, ResourceExhaustedError

if TYPE_CHECKING:
    import numpy as np

    from xla_core.backend import CompileOptions
    from xla_core.hlo import HloModule, Shape

__all__ = [
    "SAVED_ARGUMENTS",
    "check_writable",
    "closed_shapes",
    "compile_options",
    "file_name",
    "load_arguments",
    "make_directory",
    "parse",
    "random_arguments",
    "read_program",
    "save_arguments",
    "save_array",
]

SAVED_ARGUMENTS = "arguments.npz"
"""Where `xla run --dump DIR` leaves the arguments, beside the dumps."""


def read_program(path: Path) -> bytes:
    """The bytes of a program; `-` is stdin."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"cannot read the program {path}: {error.strerror}") from error


def parse(program: bytes, file: str, given: Sequence[str]) -> HloModule:
    """`xla_core.parse`, with the shapes that --shape gives."""
    from xla_core.hlo import HloModule, Shape
    from xla_core.runtime.program import lower, read
    from xla_core.stablehlo import PolymorphicProgram

    found = read(program, file=file)
    if isinstance(found, HloModule):
        if given:
            raise InvalidArgumentError("--shape is for StableHLO; the shapes of HLO are its own")
        return found
    declared = PolymorphicProgram(found)
    if not given and all(Shape.UNBOUNDED not in shape.dimensions for shape in declared.parameters):
        return lower(found)
    return declared.lower(closed_shapes(declared.parameters, given))


def closed_shapes(declared: Sequence[Shape], given: Sequence[str]) -> list[Shape]:
    """The shapes of arguments, those that the program leaves open as --shape gives them."""
    waiting = [_sizes(text) for text in given]
    missing = [(index, shape) for index, shape in enumerate(declared) if shape.is_dynamic][len(given) :]
    if missing:
        examples = ("x".join("4" if n < 0 else str(n) for n in shape.dimensions) for _, shape in missing)
        raise InvalidArgumentError(
            "; ".join(f"argument {index} is {shape}: its sizes are open" for index, shape in missing),
            hint="one --shape for each argument with dynamic dimensions, in order; for example: "
            + " ".join(f"--shape {sizes}" for sizes in examples),
        )
    shapes = []
    for shape in declared:
        if not shape.is_dynamic:
            shapes.append(shape)
            continue
        shapes.append(shape.with_dimensions(waiting.pop(0)))
    if waiting:
        which = "no other leaves its sizes open" if len(waiting) < len(given) else "the program leaves no sizes open"
        raise InvalidArgumentError(
            f"--shape {given[-len(waiting)]} is for no argument: {which}",
            hint="it is for arguments like tensor<?x3xf32>, one for each",
        )
    return shapes


def _sizes(text: str) -> list[int]:
    sizes = text.replace(",", "x").split("x")
    if not all(size.isdecimal() for size in sizes):
        raise InvalidArgumentError(f"--shape {text} is no list of sizes", hint="write --shape 4x3")
    return [int(size) for size in sizes]


def check_writable(path: Path) -> None:
    """Raises where no file can be made at `path`, so that a long run doesn't end in that."""
    folder = path.parent
    if not folder.is_dir():
        raise NotFoundError(f"cannot write {path}: there is no directory {folder}", hint="make it first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise FailedPreconditionError(f"cannot write {path}", hint="name a file that may be written")


def make_directory(path: Path) -> None:
    """Makes a directory for what a command writes, with those above it. Raises where that can't be done."""
    if path.exists() and not path.is_dir():
        raise FailedPreconditionError(f"{path} is a file", hint="name a directory, which is made where there is none")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedPreconditionError(
            f"cannot make the directory {path}: {error.strerror}", hint="name a directory that may be written"
        ) from error


def file_name(path: Path) -> str:
    """The name for locations in errors."""
    return "<stdin>" if str(path) == "-" else str(path)


def compile_options(settings: Sequence[str], **fields: Any) -> CompileOptions:
    """CompileOptions of NAME=VALUE settings, each a field of CompileOptions or else an option of the backend.

    Values are JSON where they can be read as it, else text.
    """
    from xla_core.backend import CompileOptions

    backend: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidArgumentError(f"--set {setting} has no value", hint="write --set NAME=VALUE")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if name in CompileOptions.model_fields:
            fields[name] = _as_tuple(value) if _is_tuple(CompileOptions.model_fields[name].annotation) else value
        else:
            backend[name] = value
    return CompileOptions(**fields, backend=backend)


def _is_tuple(annotation: Any) -> bool:
    """Whether a field holds a tuple, or a tuple or None."""
    return any(typing.get_origin(kind) is tuple for kind in (annotation, *typing.get_args(annotation)))


def _as_tuple(value: Any) -> Any:
    """`0` is `[0]`, and so is Python's `(0,)`."""
    if isinstance(value, str) and value.startswith("("):
        with contextlib.suppress(ValueError, SyntaxError):
            return ast.literal_eval(value)
    return [value] if type(value) is int else value


def load_arguments(paths: Sequence[Path], shapes: Sequence[Shape]) -> list[np.ndarray]:
    """Arrays of .npy files, one each, and of .npz files, all in the file's order.

    Raises InvalidArgumentError that names the file for what is no array, or not what the program declares.

    numpy's files don't know the types of ml_dtypes: bytes without a type take the parameter's, where the widths agree.
    """
    import numpy as np

    from xla_core.hlo.argument_checks import check_argument
    from xla_core.hlo.shape import Shape
    from xla_core.runtime.host_array import as_host_array

    arrays: list[np.ndarray] = []
    sources: list[Path] = []
    for path in paths:
        try:
            loaded = np.load(path, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                with loaded:
                    found = [loaded[name] for name in loaded.files]
            else:
                found = [loaded]
        except OSError as error:
            raise NotFoundError(f"cannot read the array in {path}: {error.strerror or error}") from error
        except (ValueError, EOFError) as error:
            if not _is_array_file(path):
                raise InvalidArgumentError(
                    f"{path} is no .npy or .npz file",
                    hint="--input takes arrays as numpy.save and numpy.savez write them",
                ) from None
            raise InvalidArgumentError(
                f"cannot read the array in {path}: {error}",
                hint="numpy.save writes it, of numbers: Python's objects can't be passed",
            ) from None
        arrays += found
        sources += [path] * len(found)
    for index, (array, path) in enumerate(zip(arrays, sources, strict=True)):
        if index >= len(shapes):
            break  # one too many, which the call says
        shape = shapes[index].without_layout()
        if array.dtype.kind == "V" and array.dtype.itemsize == shape.dtype.itemsize:
            arrays[index] = array = array.view(shape.dtype)
        try:
            arrays[index] = as_host_array(array)
            check_argument(f"argument {index}", Shape.of(arrays[index]), shape)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{path}: {error.message}", hint=error.hint) from error
    return arrays


def _is_array_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6).startswith((b"\x93NUMPY", b"PK"))


def random_arguments(shapes: Sequence[Shape], seed: int = 0) -> list[np.ndarray]:
    """Arrays for shapes, the same for the same seed: floats uniform in [-1, 1), integers in 0 to 7, pred either."""
    import numpy as np

    random = np.random.default_rng(seed)
    arrays = []
    for index, shape in enumerate(shapes):
        try:
            arrays.append(_random_array(random, shape))
        except (MemoryError, ValueError) as error:  # ValueError: numpy counts no further than 64 bits
            raise ResourceExhaustedError(
                f"there is no memory for argument {index}: {shape.without_layout()} needs {shape.byte_size} bytes",
                hint="give smaller sizes, where the program leaves them open",
            ) from error
    return arrays


def _random_array(random: np.random.Generator, shape: Shape) -> np.ndarray:
    import numpy as np

    element = shape.element_type
    if element.is_complex:
        values = random.uniform(-1, 1, shape.dimensions) + 1j * random.uniform(-1, 1, shape.dimensions)
    elif element.is_floating:
        values = random.uniform(-1, 1, shape.dimensions)
    else:
        largest = 1 if element.bit_width <= 2 else 7
        values = random.integers(0, largest + 1, shape.dimensions)
    return np.asarray(values).astype(shape.dtype)


def save_array(path: Path, array: np.ndarray) -> None:
    """Writes a .npy file. Types of ml_dtypes are stored as bytes of their width; `load_arguments` knows."""
    import numpy as np

    from xla_core.cli.output import writing

    with writing(path):
        np.save(path, _plain(array), allow_pickle=False)


def save_arguments(directory: Path, arrays: Sequence[np.ndarray]) -> None:
    """Writes them all to one file in `directory`, for `xla replay`."""
    import numpy as np

    from xla_core.cli.output import writing

    path = directory / SAVED_ARGUMENTS
    with writing(path):
        directory.mkdir(parents=True, exist_ok=True)
        np.savez(path, *map(_plain, arrays))


def _plain(array: np.ndarray) -> np.ndarray:
    import numpy as np

    whole = np.ascontiguousarray(array).reshape(array.shape)
    return whole if array.dtype.isbuiltin == 1 else whole.view(f"V{array.dtype.itemsize}")
