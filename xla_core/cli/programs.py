"""Reads programs and arguments from files, and makes random arguments."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_core.checks import counted
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, ResourceExhaustedError

if TYPE_CHECKING:
    import numpy as np

    from xla_core.backend import CompileOptions
    from xla_core.hlo import HloModule, Shape

SAVED_ARGUMENTS = "arguments.npz"
"""The file in DIR in which `xla run --dump DIR` stores the arguments."""


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
    from xla_core.runtime.programs.program import lower, read
    from xla_core.stablehlo import PolymorphicProgram

    found = read(program, file=file)
    if isinstance(found, HloModule):
        if given:
            raise InvalidArgumentError("--shape is for StableHLO; HLO text has static shapes")
        return found
    declared = PolymorphicProgram(found)
    if not given and all(Shape.UNBOUNDED not in shape.dimensions for shape in declared.parameters):
        return lower(found)
    return declared.lower(static_shapes(declared.parameters, given))


def static_shapes(declared: Sequence[Shape], given: Sequence[str]) -> list[Shape]:
    """The shapes of the arguments, with the sizes from --shape in place of dynamic dimensions."""
    waiting = [_sizes(text) for text in given]
    missing = [(index, shape) for index, shape in enumerate(declared) if shape.is_dynamic][len(given) :]
    if missing:
        examples = ("x".join("4" if n < 0 else str(n) for n in shape.dimensions) for _, shape in missing)
        raise InvalidArgumentError(
            "; ".join(f"argument {index} is {shape}, which has dynamic dimensions" for index, shape in missing),
            hint="one --shape for each argument with dynamic dimensions, in order; for example: "
            + " ".join(f"--shape {sizes}" for sizes in examples),
        )
    shapes = [shape.with_dimensions(waiting.pop(0)) if shape.is_dynamic else shape for shape in declared]
    if waiting:
        which = "no further argument" if len(waiting) < len(given) else "no argument"
        raise InvalidArgumentError(
            f"--shape {given[-len(waiting)]} is superfluous: {which} has dynamic dimensions",
            hint="give --shape once for each argument such as tensor<?x3xf32>",
        )
    return shapes


def _sizes(text: str) -> list[int]:
    sizes = text.replace(",", "x").split("x")
    if not all(size.isdecimal() for size in sizes):
        raise InvalidArgumentError(f"--shape {text} is not a list of sizes", hint="write sizes such as --shape 4x3")
    return [int(size) for size in sizes]


def check_writable(path: Path) -> None:
    """Raises if no file can be written at `path`. A command checks this before it runs for long."""
    folder = path.parent
    if not folder.is_dir():
        raise NotFoundError(f"cannot write {path}: there is no directory {folder}", hint=f"mkdir -p {folder}")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise FailedPreconditionError(f"cannot write {path}", hint="name a file that you may write")


def make_directory(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise FailedPreconditionError(
            f"{path} is a file, not a directory", hint="name a directory; it is made if it doesn't exist"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedPreconditionError(
            f"cannot make the directory {path}: {error.strerror}", hint="name a directory that you may write"
        ) from error


def file_name(path: Path) -> str:
    return "<stdin>" if str(path) == "-" else str(path)


def compile_options(settings: Sequence[str], **fields: Any) -> CompileOptions:
    """CompileOptions from settings NAME=VALUE. NAME is a field of CompileOptions or else an option of the backend.

    A value is read as JSON, or taken as text if it isn't JSON.
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
        (fields if name in CompileOptions.model_fields else backend)[name] = value
    return CompileOptions(**fields, backend=backend)


def load_arguments(paths: Sequence[Path], shapes: Sequence[Shape]) -> list[np.ndarray]:
    """A program's arguments from files and folders, as `load_arrays` reads them.

    Raises:
        NotFoundError: a file can't be read.
        InvalidArgumentError: as `load_arrays`, or there are too few arrays, or too many.
    """
    arrays = load_arrays(paths, shapes)
    if len(arrays) != len(shapes):
        types = ", ".join(str(shape.without_layout()) for shape in shapes)
        raise InvalidArgumentError(
            f"--input gives {counted(len(arrays), 'array')}, but the program takes {len(shapes)}"
            + (f": {types}" if types else ""),
            hint="give --input for each argument, or leave it out: then the arguments are random",
        )
    return arrays


def load_arrays(paths: Sequence[Path], shapes: Sequence[Shape] = ()) -> list[np.ndarray]:
    """The arrays of .npy files, one in each, of .npz files, in the order of the file, and of folders.

    A folder holds argument_0.npy, argument_1.npy and so on, as `xla conform` writes those of a failure, or the
    arguments.npz that `xla bisect --output` writes.

    numpy's files don't store the types of ml_dtypes but bytes of the same width; these get the type of the shape in the
    array's place, if there is one.

    Raises:
        NotFoundError: a file can't be read.
        InvalidArgumentError: a file has no array, or one that doesn't fit its shape, and the message names it.
    """
    import numpy as np

    from xla_core.hlo.evaluation.argument_checks import check_argument
    from xla_core.hlo.values.shape import Shape
    from xla_core.runtime.host_array import as_host_array

    arrays: list[np.ndarray] = []
    sources: list[Path] = []
    for path in [file for given in paths for file in _argument_files(given)]:
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
                    f"{path} is not a .npy or .npz file",
                    hint="write arrays with numpy.save or numpy.savez",
                ) from None
            raise InvalidArgumentError(
                f"cannot read the array in {path}: {error}",
                hint="write an array of numbers with numpy.save; Python objects can't be passed",
            ) from None
        arrays += found
        sources += [path] * len(found)
    for index, (array, path, parameter) in enumerate(zip(arrays, sources, shapes, strict=False)):
        shape = parameter.without_layout()
        if array.dtype.kind == "V" and array.dtype.itemsize == shape.dtype.itemsize:
            arrays[index] = array = array.view(shape.dtype)
        try:
            arrays[index] = as_host_array(array)
            check_argument(f"argument {index}", Shape.of(arrays[index]), shape)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{path}: {error.message}", hint=error.hint) from error
    return arrays


def _argument_files(path: Path) -> list[Path]:
    """The files of a folder, in the order of the arguments; a file itself."""
    if not path.is_dir():
        return [path]
    numbered = [path / f"argument_{number}.npy" for number in range(len(list(path.glob("argument_*.npy"))))]
    if not numbered and not (path / SAVED_ARGUMENTS).exists():
        raise NotFoundError(f"the folder {path} has neither argument_0.npy nor {SAVED_ARGUMENTS}")
    return numbered or [path / SAVED_ARGUMENTS]


def _is_array_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6).startswith((b"\x93NUMPY", b"PK"))


def arguments_for(module: HloModule | None, shapes: Sequence[Shape], seed: int) -> list[np.ndarray]:
    """Random arguments of a program, the same for the same seed: integers of any size where the program allows them.

    Of a program that isn't known, no array may have them.
    """
    from xla_core.analysis.free_integers import free_integers

    return random_arguments(shapes, seed, wide=free_integers(module) if module is not None else ())


def random_arguments(shapes: Sequence[Shape], seed: int = 0, wide: Collection[int] = ()) -> list[np.ndarray]:
    """Random arrays, the same for the same seed: floats are uniform in [-1, 1), integers in 0 to 7.

    Args:
        wide: the numbers of the arrays that have, among small integers of both signs, those of every size.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    arrays = []
    for index, shape in enumerate(shapes):
        try:
            arrays.append(_wide_integers(random, shape) if index in wide else _random_array(random, shape))
        except (MemoryError, ValueError) as error:  # numpy raises ValueError for sizes beyond 64 bits
            raise ResourceExhaustedError(
                f"out of memory for argument {index}: {shape.without_layout()} needs {shape.byte_size} bytes",
                hint="give smaller sizes with --shape if the program has dynamic dimensions",
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


def _wide_integers(random: np.random.Generator, shape: Shape) -> np.ndarray:
    """Small integers, and among each four one that is at an end of the range, about a power of two, or any at all."""
    import numpy as np

    element = shape.element_type
    low, high = element.integer_range
    dtype = np.int64 if element.is_signed else np.uint64
    powers = [sign * (1 << bit) + step for bit in range(element.bit_width) for sign in (1, -1) for step in (-1, 0, 1)]
    near = np.array([n for n in powers if low <= n <= high], dtype)
    ends = random.choice(np.array([low, low + 1, high - 1, high], dtype), len(near))
    special = np.concatenate([ends, near, random.integers(low, high, len(near), dtype, endpoint=True)])
    values = random.integers(max(-8, low), min(8, high), shape.dimensions, dtype, endpoint=True)
    is_special = random.random(shape.dimensions) < 0.25
    return np.where(is_special, random.choice(special, shape.dimensions), values).astype(shape.dtype)


def save_array(path: Path, array: np.ndarray) -> None:
    """Writes a .npy file. Types of ml_dtypes become bytes of the same width, which `load_arguments` reads."""
    import numpy as np

    from xla_core.cli.output import writing

    with writing(path):
        np.save(path, _plain(array), allow_pickle=False)


def save_arguments(directory: Path, arrays: Sequence[np.ndarray]) -> None:
    """Writes all arrays to one file in `directory`, for `xla replay`."""
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
