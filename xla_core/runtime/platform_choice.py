"""Chooses a client's backend and opens its platform."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from xla_core.backend import registry
from xla_core.backend.hooks import BackendSpec
from xla_core.backend.platform import Platform
from xla_core.backend.registry import BackendInfo
from xla_core.errors import NotFoundError, UnavailableError, XlaError


def choose_backend(name: str | None) -> tuple[str, BackendSpec]:
    """Returns the name and spec of a backend: the named one, the one in $XLA_PLATFORM, or the best installed one.

    Raises:
        NotFoundError: where no such backend is installed.
        UnavailableError: where none can be used, with every backend's reason.
    """
    if name:
        return _named(name)
    from_environment = os.environ.get("XLA_PLATFORM")
    if not from_environment:
        return _best()
    try:
        return _named(from_environment)
    except XlaError as error:  # the user may not know that the variable is set
        error.message = f"XLA_PLATFORM is {from_environment!r}: {error.message}"
        raise


def _named(name: str) -> tuple[str, BackendSpec]:
    spec = registry.load_backend(name)
    availability = registry.probe(name, spec)
    if not availability.available:
        raise registry.unavailable_error(name, availability)
    return name, spec


def _best() -> tuple[str, BackendSpec]:
    found = registry.inspect_backends()
    if not found:
        raise NotFoundError("no backend is installed", hint=registry.INSTALL_HINT)
    usable = sorted((info for info in found if info.usable), key=BackendInfo.rank)
    for info in usable:
        if info.spec is not None and _has_device(info.name, info.spec):
            return info.name, info.spec
    causes = "; ".join(f"{info.name}: {info.cause or 'finds no device'}" for info in found)
    raise UnavailableError(f"no installed backend can be used: {causes}", hint="run `xla doctor`")


def _has_device(name: str, spec: BackendSpec) -> bool:
    try:
        return open_platform(name, spec).visible_device_count() > 0
    except XlaError:
        return False


def open_platform(name: str, spec: BackendSpec) -> Platform:
    with opening(name):
        platform = spec.platform()
    platform.name = name
    return platform


@contextlib.contextmanager
def opening(name: str) -> Iterator[None]:
    """Converts what a vendor's driver raises while its devices are opened, except XlaErrors, to UnavailableError."""
    try:
        yield
    except XlaError:
        raise
    except (Exception, SystemExit) as error:  # a vendor's driver may raise anything
        raise UnavailableError(
            f"backend {name!r} cannot open its devices: {type(error).__name__}: {error}",
            hint="the driver raised this; `xla doctor` examines every backend",
        ) from error
