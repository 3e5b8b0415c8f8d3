"""Checks arguments of public functions, so that a wrong type is reported early and says what is expected."""

from __future__ import annotations

import difflib
import numbers
import os
import reprlib
from collections.abc import Iterable
from typing import Any, NoReturn

from xla_core.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError


def counted(count: int, noun: str) -> str:
    """Returns "1 device", "2 devices"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str], count: int = 3, cutoff: float = 0.6) -> str | None:
    """Returns a hint with the `count` known names most similar to `name`, or None. It is None for a long name too."""
    near = difflib.get_close_matches(name, list(known), 3, cutoff) if len(name) <= 100 else []
    near.sort(key=lambda other: sorted(other) != sorted(name))  # letters in another order are the likeliest mistake
    return f"did you mean {', '.join(near[:count])}?" if near else None


def matplotlib_is_missing() -> UnavailableError:
    """Returns the error that matplotlib is not installed."""
    return UnavailableError("pictures need matplotlib, which is not installed", hint="pip install 'xla-core[pictures]'")


def refuse_pickle(thing: object) -> NoReturn:
    """Raises InvalidArgumentError for a part of an HLO module, which can't be pickled."""
    hint = "send module.to_text(), which xla_core.parse reads"
    raise InvalidArgumentError(f"{type(thing).__name__} can't be pickled", hint=hint)


def require(what: str, value: Any, kind: type | tuple[type, ...], expected: str, *, hint: str | None = None) -> None:
    """Raises InvalidArgumentError for a value that is no instance of `kind`; `expected` describes the kind in words."""
    if not isinstance(value, kind):
        raise wrong_argument(what, value, expected, hint=hint)


def require_limit(what: str, value: Any, unit: str) -> None:
    """Checks a limit of time, bytes or steps: a number that is not negative, or None for no limit."""
    if value is not None and not (isinstance(value, numbers.Real) and float(value) >= 0):
        raise wrong_argument(what, value, f"a number of {unit}, not below 0, or None")


def require_file_name(value: Any) -> str:
    """Returns the file name of a program, which locations in errors show. It may be a str or a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong_argument("file", value, "the program's name, for locations in errors")
    return os.fspath(value)


def wrong_argument(what: str, value: Any, expected: str, *, hint: str | None = None) -> InvalidArgumentError:
    """Returns the error for a wrong argument. It shows numbers and short texts, and only the type of other values."""
    return InvalidArgumentError(_must_be(what, value, expected), hint=hint)


def wrong_result(method: str, value: Any, expected: str) -> FailedPreconditionError:
    """Returns the error for a wrong result of a backend's method, which the user's arguments can't change."""
    hint = "this is a mistake in the backend's code"
    return FailedPreconditionError(_must_be(f"the result of {method}", value, expected), hint=hint)


def _must_be(what: str, value: Any, expected: str) -> str:
    plain = value is None or isinstance(value, (bool, int, float, str, bytes))
    given = reprlib.repr(value) if plain else f"of type {type(value).__name__}"
    return f"{what} must be {expected}, not {given}"
