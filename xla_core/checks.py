"""What callers pass, where Python would find out late or never: one error that says what is expected."""

from __future__ import annotations

import numbers
import os
import reprlib
from typing import Any

from xla_core.errors import InvalidArgumentError

__all__ = ["require", "require_file_name", "require_limit", "wrong_argument"]


def require(what: str, value: Any, kind: type | tuple[type, ...], expected: str, *, hint: str | None = None) -> None:
    """Raises InvalidArgumentError for a value that is no instance of `kind`, which `expected` says in words."""
    if not isinstance(value, kind):
        raise wrong_argument(what, value, expected, hint=hint)


def require_limit(what: str, value: Any, unit: str) -> None:
    """For a time, a number of bytes or of steps: a number that is not negative, or None for no limit."""
    if value is not None and not (isinstance(value, numbers.Real) and float(value) >= 0):
        raise wrong_argument(what, value, f"a number of {unit}, not below 0, or None")


def require_file_name(value: Any) -> str:
    """The name of a program, for locations: text, or a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong_argument("file", value, "the program's name, for locations in errors")
    return os.fspath(value)


def wrong_argument(what: str, value: Any, expected: str, *, hint: str | None = None) -> InvalidArgumentError:
    """The error for a value; numbers and short texts are shown, anything else by its type."""
    plain = value is None or isinstance(value, (bool, int, float, str, bytes))
    given = reprlib.repr(value) if plain else f"of type {type(value).__name__}"
    return InvalidArgumentError(f"{what} must be {expected}, not {given}", hint=hint)
