"""Chooses a client's backend and opens its devices."""

from __future__ import annotations

import os

from xla_core.backend import registry
from xla_core.backend.hooks import BackendSpec
from xla_core.backend.registry import BackendInfo
from xla_core.checks import wrong_argument
from xla_core.errors import NotFoundError, UnavailableError, XlaError
from xla_core.runtime.device import DeviceSet


def open_devices(name: str | None) -> tuple[BackendSpec, DeviceSet]:
    """Opens the devices of a backend: the named one, the one in $XLA_PLATFORM, or the best one whose devices open.

    Raises:
        NotFoundError: where no such backend is installed.
        UnavailableError: where none can be used, with every backend's reason.
    """
    if name:
        return _open_named(name)
    from_environment = os.environ.get("XLA_PLATFORM")
    if not from_environment:
        return _open_best()
    try:
        return _open_named(from_environment)
    except XlaError as error:  # the user may not know that the variable is set
        error.message = f"XLA_PLATFORM is {from_environment!r}: {error.message}"
        raise


def _open_named(name: str) -> tuple[BackendSpec, DeviceSet]:
    spec = registry.load_backend(name)
    availability = registry.probe(name, spec)
    if not availability.available:
        raise registry.unavailable_error(name, availability)
    return open_platform(name, spec)


def _open_best() -> tuple[BackendSpec, DeviceSet]:
    found = registry.inspect_backends()
    if not found:
        raise NotFoundError("no backend is installed", hint=registry.INSTALL_HINT)
    causes = {info.name: info.cause for info in found}
    for info in sorted((info for info in found if info.usable), key=BackendInfo.rank):
        assert info.spec is not None  # it is usable
        try:
            return open_platform(info.name, info.spec)
        except XlaError as error:
            causes[info.name] = error.message
    told = "; ".join(f"{name}: {cause}" for name, cause in causes.items())
    raise UnavailableError(f"no installed backend can be used: {told}", hint="run `xla doctor`")


def open_platform(name: str, spec: BackendSpec) -> tuple[BackendSpec, DeviceSet]:
    """Opens a platform's devices. What a vendor's driver raises, except XlaErrors, becomes an UnavailableError."""
    try:
        platform = spec.platform()
        platform.name = name
        count = platform.visible_device_count()
        if not isinstance(count, int) or count < 0:
            raise wrong_argument(f"the result of {spec.platform.__name__}.visible_device_count", count, "a count")
        if count == 0:
            raise UnavailableError(f"backend {name!r} finds no device", hint="run `xla doctor`")
        return spec, DeviceSet(platform, spec.version, count)
    except XlaError:
        raise
    except (Exception, SystemExit) as error:  # a vendor's driver may raise anything
        raise UnavailableError(
            f"backend {name!r} cannot open its devices: {type(error).__name__}: {error}",
            hint="the backend's own code or its driver raised this; `xla doctor` examines every backend",
        ) from error
