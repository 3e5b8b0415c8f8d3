"""Native functions that JAX programs call by `jax.ffi.ffi_call`.

A target that is registered for one of our platforms is available on every backend, because all backends run its handler
on the host. A target that is registered for JAX's `cpu` alone runs on our platforms too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.ffi import FfiHandler, register_ffi_handler, register_ffi_type
from xla_core.hlo import add_custom_call_finder

_UNTYPED, _TYPED = 0, 1  # versions of `jax.ffi.register_ffi_target`
_JAX_CPU = "Host"  # XLA's name of JAX's `cpu`
_PYTHON_CALLBACK = re.compile(r"xla_\w+_python_cpu_callback")
"""Targets whose handlers need data that only the client of JAX's CPU passes, to find the Python function."""


def register_handlers(name: str) -> None:
    """Registers with xla_core what programs registered, and will register, with JAX for our platform."""
    from jaxlib import xla_client

    add_custom_call_finder(_handler_of_jax_cpu)
    xla_client.register_custom_type_handler(name, _register_type)
    xla_client.register_custom_call_handler(name, _register)


def _register(target: str, function: Any, platform: str, api_version: int = _UNTYPED, traits: Any = None) -> None:
    if api_version != _TYPED:
        raise UnimplementedError(
            f"custom call {target!r} has api_version={api_version}, and {platform} calls typed functions alone",
            hint="write the function with XLA's FFI (xla/ffi/api/ffi.h) and register it with api_version=1",
        )
    register_ffi_handler(target, function)


def _register_type(name: str, registration: Any) -> None:
    if not isinstance(registration, Mapping) or "type_id" not in registration:
        raise InvalidArgumentError(f"the type {name!r} must be registered with a dictionary that has a type_id")
    register_ffi_type(name, registration["type_id"], registration.get("type_info"))


def _handler_of_jax_cpu(target: str) -> FfiHandler | None:
    if _PYTHON_CALLBACK.fullmatch(target):
        return None
    for name, function in _registered_for_jax_cpu():
        if name == target:
            return _made(target, tuple(function.items()) if isinstance(function, Mapping) else function)
    return None


@functools.cache
def _made(target: str, function: Any) -> FfiHandler:
    return FfiHandler(target, dict(function) if isinstance(function, tuple) else function)


def _registered_for_jax_cpu() -> Iterator[tuple[str, Any]]:
    """Yields (target, functions): first the registered ones, then those queued until JAX's CPU client opens."""
    from jaxlib import xla_client

    yield from xla_client.custom_call_targets(_JAX_CPU).items()
    for name, function, version, _ in xla_client._custom_callback.get(_JAX_CPU, ()):
        if version == _TYPED:
            yield name, function
