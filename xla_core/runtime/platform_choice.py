"""Chooses a client's backend and opens its devices."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from xla_core.backend import registry
from xla_core.backend.hooks import BackendSpec
from xla_core.backend.registry import BackendInfo
from xla_core.checks import wrong_result
from xla_core.errors import NotFoundError, UnavailableError, XlaError
from xla_core.runtime.device import DeviceSet
from xla_core.runtime.open_devices import wait_until_opening


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
    broken = {info.name: info.cause for info in found if info.error is not None and not info.declines}
    for info in sorted((info for info in found if info.usable), key=BackendInfo.rank):
        assert info.spec is not None  # it is usable
        try:
            opened = open_platform(info.name, info.spec)
        except XlaError as error:
            causes[info.name] = error.message
            if not isinstance(error, UnavailableError) or error.__cause__ is not None:  # else it has no device
                broken[info.name] = error.message
        else:
            _warn_of_broken(broken, info.name)
            return opened
    told = "; ".join(f"{name}: {cause}" for name, cause in causes.items())
    raise UnavailableError(f"no installed backend can be used: {told}", hint="run `xla doctor`")


def _warn_of_broken(broken: Mapping[str, str], chosen: str) -> None:
    """Warns that the chosen backend may not be the one that the user expects, since others are broken."""
    if broken:
        told = "; ".join(f"{name}: {cause}" for name, cause in broken.items())
        message = f"programs run on backend {chosen!r}; other installed backends are broken, see `xla doctor`: {told}"
        warnings.warn(message, RuntimeWarning, stacklevel=5)


def open_platform(name: str, spec: BackendSpec) -> tuple[BackendSpec, DeviceSet]:
    """Opens a platform's devices. Exceptions of a vendor's driver, except XlaErrors, become an UnavailableError."""
    wait_until_opening()
    try:
        platform = spec.platform()
        platform.name = name
        count = platform.visible_device_count()
        if not isinstance(count, int) or count < 0:
            raise wrong_result(f"{spec.platform.__name__}.visible_device_count", count, "a count")
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
