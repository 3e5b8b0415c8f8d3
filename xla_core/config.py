"""Flags and environment variables.

    XLA_FLAGS        is shared by every XLA in the process: only the flags in `XlaFlags` are read
    XLA_CORE_FLAGS   has the flags of xla-core and its plugins; an unknown flag is an error
    XLA_PLATFORM     names the backend of `Client()`

They are read when they are needed, not at import, so that a program can set them first. A plugin declares its flags as
a pydantic model (`BackendSpec.flags`); `register_flags` makes them known, `plugin_flags` reads them.
"""

from __future__ import annotations

import contextvars
import difflib
import functools
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from xla_core.checked_model import wrong_value
from xla_core.errors import InvalidArgumentError

__all__ = [
    "CoreFlags",
    "XlaFlags",
    "core_flags",
    "find_flags_with",
    "flag_variable",
    "misspelled_xla_flags",
    "plugin_flags",
    "register_flags",
    "unregister_flags",
    "xla_flags",
]

F = TypeVar("F", bound=BaseModel)


class XlaFlags(BaseModel):
    """XLA's own flags that have the same meaning here. (XLA: xla/debug_options_flags.cc.)

    Attributes:
        xla_dump_to: a directory; dumps go into DIR/xla_core/.
        xla_dump_hlo_pass_re: a regular expression: dumps the module before and after each pass with a matching name.
            Without it, the module is dumped before and after all passes.
        xla_dump_hlo_module_re: a regular expression: dumps only modules with a matching name.
        xla_dump_hlo_as_text: has no effect, because dumps are always HLO text.
        xla_dump_large_constants: prints large constants; text without them can't be read back.
        xla_force_host_platform_device_count: the number of virtual devices of a host platform.
        xla_cpu_max_isa: the newest instruction set that a host platform's code may use: SSE4_2, AVX, AVX2, AVX512...
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    xla_dump_to: str = ""
    xla_dump_hlo_pass_re: str = ""
    xla_dump_hlo_module_re: str = ""
    xla_dump_hlo_as_text: bool = True
    xla_dump_large_constants: bool = False
    xla_force_host_platform_device_count: int = Field(default=1, ge=1, le=4096)
    xla_cpu_max_isa: str = ""


class CoreFlags(BaseModel):
    """The core's own flags.

    Attributes:
        xla_core_verify_passes: run the verifier after every pass.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    xla_core_verify_passes: bool = False


_schemas: dict[str, type[BaseModel]] = {"xla_core": CoreFlags}
_finders: list[Callable[[], None]] = []
_looking = contextvars.ContextVar("looking", default=False)


def register_flags(owner: str, schema: type[BaseModel]) -> None:
    """Registers a plugin's flags for XLA_CORE_FLAGS. `owner` is the plugin's name.

    Raises:
        InvalidArgumentError: where another owner has a flag of the same name.
    """
    for other, known in _schemas.items():
        clash = sorted(set(known.model_fields) & set(schema.model_fields))
        if clash and other != owner:
            raise InvalidArgumentError(
                f"flag --{clash[0]} of {owner} belongs to {other} already", hint=f"name flags after {owner}"
            )
    _schemas[owner] = schema
    _core_values.cache_clear()


def unregister_flags(owner: str) -> None:
    """Makes a plugin's flags unknown again."""
    _schemas.pop(owner, None)
    _core_values.cache_clear()


def find_flags_with(finder: Callable[[], None]) -> None:
    """Registers `finder`, which is called before a flag is reported as unknown.

    A finder registers flags that may exist, for example those of plugins that are not loaded yet.
    """
    _finders.append(finder)


def xla_flags() -> XlaFlags:
    """Returns the known flags of XLA_FLAGS."""
    return _xla_flags(os.environ.get("XLA_FLAGS", ""))


def flag_variable(flag: str) -> str:
    """Returns the environment variable that sets a flag: XLA_FLAGS for XLA's own, else XLA_CORE_FLAGS."""
    return "XLA_FLAGS" if flag in XlaFlags.model_fields else "XLA_CORE_FLAGS"


def misspelled_xla_flags() -> dict[str, str]:
    """Returns flags of XLA_FLAGS that are probably misspelled: unknown name -> the similar flag that is read here.

    XLA has many flags that xla-core ignores, so only names very close to one of `XlaFlags` are reported.
    """
    known = list(XlaFlags.model_fields)
    unread = [name for name in _split(os.environ.get("XLA_FLAGS", ""), "XLA_FLAGS") if name not in known]
    near = {name: difflib.get_close_matches(name, known, 1, cutoff=0.88) for name in unread}
    return {name: found[0] for name, found in near.items() if found}


def core_flags() -> CoreFlags:
    """Returns the core's flags of XLA_CORE_FLAGS.

    Raises:
        InvalidArgumentError: for a flag that nobody has registered.
    """
    return plugin_flags("xla_core", CoreFlags)


def plugin_flags(owner: str, schema: type[F]) -> F:
    """Returns a plugin's flags of XLA_CORE_FLAGS, with defaults for the others."""
    if _schemas.get(owner) is not schema:
        register_flags(owner, schema)
    text = os.environ.get("XLA_CORE_FLAGS", "")
    # A plugin that is being loaded reads its own flags; others' flags are not checked then.
    values = _split(text, "XLA_CORE_FLAGS") if _looking.get() else _core_values(text)
    return _validate(schema, {key: value for key, value in values.items() if key in schema.model_fields})


@functools.lru_cache(maxsize=16)
def _xla_flags(text: str) -> XlaFlags:
    values = {key: value for key, value in _split(text, "XLA_FLAGS").items() if key in XlaFlags.model_fields}
    return _validate(XlaFlags, values)


@functools.lru_cache(maxsize=16)
def _core_values(text: str) -> dict[str, Any]:
    values = _split(text, "XLA_CORE_FLAGS")
    if not values.keys() <= _known():
        _look()
    known = sorted(_known())
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1, cutoff=0.4)
            raise InvalidArgumentError(
                f"unknown flag --{key} in XLA_CORE_FLAGS",
                hint=f"did you mean --{near[0]}?" if near else f"known flags: {', '.join(known)}",
            )
    return values


def _known() -> set[str]:
    return {name for schema in _schemas.values() for name in schema.model_fields}


def _look() -> None:
    token = _looking.set(True)
    try:
        for finder in _finders:
            finder()
    finally:
        _looking.reset(token)


def _split(text: str, variable: str) -> dict[str, str]:
    """Parses `--a=1 --b` to {"a": "1", "b": "true"}. Text without a leading dash names a file of flags, as in XLA."""
    text = text.strip()
    if text and not text.startswith("-"):
        try:
            text = Path(text).read_text()
        except OSError as error:
            raise InvalidArgumentError(
                f"{variable} names no readable file of flags: {error}", hint="flags start with --"
            ) from None
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidArgumentError(f"{variable} cannot be read: {error}") from None
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        values[name] = value if equals else "true"
    return values


def _validate(schema: type[F], values: dict[str, Any]) -> F:
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise wrong_value(error, schema, values, lambda name: f"flag --{name}") from None
