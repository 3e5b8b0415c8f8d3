"""Programs and their arguments from files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    import numpy as np

    from xla_core.backend import CompileOptions
    from xla_core.hlo import Shape

__all__ = [
    "SAVED_ARGUMENTS",
    "check_writable",
    "compile_options",
    "file_name",
    "load_arguments",
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


def check_writable(path: Path) -> None:
    """Raises where no file can be made at `path`, so that a long run doesn't end in that."""
    folder = path.parent
    if not folder.is_dir():
        raise NotFoundError(f"cannot write {path}: there is no directory {folder}", hint="make it first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise FailedPreconditionError(f"cannot write {path}", hint="name a file that may be written")


def file_name(path: Path) -> str:
    """The name for locations in errors."""
    return "<stdin>" if str(path) == "-" else str(path)


def compile_options(settings: Sequence[str], **fields: Any) -> CompileOptions:
    """CompileOptions of NAME=VALUE settings, each a field of CompileOptions or else an option of the backend.

    Values are JSON where they can be read as it, else text.
    """
    from pydantic import ValidationError

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
            fields[name] = value
        else:
            backend[name] = value
    try:
        return CompileOptions(**fields, backend=backend)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidArgumentError(
            f"--set {'.'.join(map(str, first['loc']))}: {first['msg']}, not {first['input']!r}"
        ) from error


def load_arguments(paths: Sequence[Path], shapes: Sequence[Shape]) -> list[np.ndarray]:
    """Arrays of .npy files, one each, and of .npz files, all in the file's order.

    numpy's files don't know the types of ml_dtypes: bytes without a type take the parameter's, where the widths agree.
    """
    import numpy as np

    arrays: list[np.ndarray] = []
    for path in paths:
        try:
            loaded = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise InvalidArgumentError(
                f"cannot read the array in {path}: {error}", hint="numpy.save writes it"
            ) from None
        if isinstance(loaded, np.ndarray):
            arrays.append(loaded)
        else:
            with loaded:
                arrays += [loaded[name] for name in loaded.files]
    for index, (array, shape) in enumerate(zip(arrays, shapes, strict=False)):
        if array.dtype.kind == "V" and array.dtype.itemsize == shape.dtype.itemsize:
            arrays[index] = array.view(shape.dtype)
    return arrays


def random_arguments(shapes: Sequence[Shape], seed: int = 0) -> list[np.ndarray]:
    """Arrays for shapes, the same for the same seed: floats uniform in [-1, 1), integers in 0 to 7, pred either."""
    import numpy as np

    random = np.random.default_rng(seed)
    arrays = []
    for shape in shapes:
        element = shape.element_type
        if element.is_complex:
            values = random.uniform(-1, 1, shape.dimensions) + 1j * random.uniform(-1, 1, shape.dimensions)
        elif element.is_floating:
            values = random.uniform(-1, 1, shape.dimensions)
        else:
            largest = 1 if element.bit_width <= 2 else 7
            values = random.integers(0, largest + 1, shape.dimensions)
        arrays.append(np.asarray(values).astype(shape.dtype))
    return arrays


def save_array(path: Path, array: np.ndarray) -> None:
    """Writes a .npy file. Types of ml_dtypes are stored as bytes of their width; `load_arguments` knows."""
    import numpy as np

    np.save(path, _plain(array), allow_pickle=False)


def save_arguments(directory: Path, arrays: Sequence[np.ndarray]) -> None:
    """Writes them all to one file in `directory`, for `xla replay`."""
    import numpy as np

    directory.mkdir(parents=True, exist_ok=True)
    np.savez(directory / SAVED_ARGUMENTS, *map(_plain, arrays))


def _plain(array: np.ndarray) -> np.ndarray:
    import numpy as np

    whole = np.ascontiguousarray(array).reshape(array.shape)
    return whole if array.dtype.isbuiltin == 1 else whole.view(f"V{array.dtype.itemsize}")
